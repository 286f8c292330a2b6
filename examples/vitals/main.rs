//! A live monitor of the machine it runs on, with all it shows derived by cells.
//!
//! Reads the counters of Linux below `/proc` at a chosen rate (`--help` tells how to choose), or a
//! recording of them. [`panel`] has the cells that are always there, [`parts`] those of the view
//! that is chosen, [`screen`] the subscribers that write; here is the loop between them.

mod alarm;
mod args;
mod frame;
mod gauge;
mod input;
mod measure;
mod page;
mod panel;
mod parse;
mod parts;
mod proc;
mod reading;
mod record;
mod rows;
mod screen;
mod summary;
mod text;
mod verdict;
mod view;
mod words;

use std::error::Error;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;

use hyphae::Cell;

use crate::input::Input;
use crate::page::Page;
use crate::panel::Panel;
use crate::screen::Screen;
use crate::summary::{Tally, summary};
use crate::view::View;

fn main() -> ExitCode {
    let args = match args::from_env() {
        Ok(args) => args,
        Err(code) => return code,
    };
    let input = Input::open(&args, Path::new(proc::ROOT));
    let done = input.and_then(|input| run(input, args.view, &Page::stdout()));
    hyphae::arena::assert_no_live();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_broken_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("vitals: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Shows all frames, then the summary; after an error the summary is of the frames before it.
fn run(mut input: Input, view: View, page: &Page) -> Result<(), Box<dyn Error>> {
    page.line(&input.title);
    let first = input.frames.next().ok_or("there are no frames")??;
    let view = Cell::new(view).with_name("view");
    let panel = Rc::new(Panel::new(&first, &view));
    let screen = Screen::of(&panel, page);
    let mut tally = Tally::default();
    tally.count();
    let watched = input.frames.try_for_each(|frame| {
        panel.tick(&frame?);
        tally.count();
        Ok(page.check()?)
    });
    let lines = summary(&panel, tally, input.clock_ticks);
    lines.iter().for_each(|line| page.line(line));
    drop(screen);
    input.hint.iter().for_each(|hint| page.line(hint));
    watched.and_then(|()| Ok(page.check()?))
}

/// Whether the reader of the output has gone, which is no fault: `vitals | head`.
fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
