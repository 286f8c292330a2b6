//! A light show as cells: timelines with keyframes, samplers, bindings, fixtures, and universes of DMX, frame by frame. It
//! tells what each frame costs and which cells are hot, and is what the profiling recipes run.
//!
//! [`rig`] and [`desk`] make up the show from a seed, [`storm`] has its cells, [`check`] computes the same without cells,
//! [`play`] runs the frames, [`show`] and [`page`] tell what was found. `--help` tells how to choose.

mod check;
mod desk;
mod dmx;
mod findings;
mod flame;
mod markup;
mod monitor;
mod options;
mod page;
mod parts;
mod play;
mod random;
mod rig;
mod show;
mod storm;
mod tables;
mod track;
mod words;

use std::error::Error;
use std::fs;
use std::io::{self, BufRead, BufWriter, ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hyphae::FrameReport;

use crate::findings::{Built, Findings};
use crate::options::Options;
use crate::play::Player;

fn main() -> ExitCode {
    let options = match options::from_env() {
        Ok(options) => options,
        Err(code) => return code,
    };
    let mut out: Box<dyn Write> = match options.quiet {
        true => Box::new(io::sink()),
        false => Box::new(BufWriter::new(io::stdout().lock())),
    };
    let done = run(&options, &mut *out);
    // What was done before an error is shown before it.
    let flushed = out.flush().map_err(Into::into);
    hyphae::arena::assert_no_live();
    match done.and(flushed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_broken_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("frame_storm: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Builds, plays, tells.
fn run(options: &Options, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    hyphae::set_timing(options.timing);
    let mut player = Player::new(options);
    let built = Built::look(&player);
    show::built(out, options, &built)?;
    out.flush()?;
    let record = match options.frames {
        Some(_) => player.play(options, |_, _| false)?,
        None => player.play(options, until_enter(out)?)?,
    };
    let findings = Findings::gather(options, built, &player, record);
    show::findings(out, &findings)?;
    if options.pass {
        show::pass(out, &player.pass())?;
    }
    write_files(&findings, &mut player, out)
}

/// Frames between two lines of a run without an end.
const PROGRESS: u64 = 300;

/// Stops when Enter is pressed; the end of the input is no Enter. Tells meanwhile how it goes.
fn until_enter(out: &mut dyn Write) -> io::Result<impl FnMut(&Player, &FrameReport) -> bool> {
    writeln!(out, "\nuntil Enter is pressed:")?;
    out.flush()?;
    let pressed = Arc::new(AtomicBool::new(false));
    let press = pressed.clone();
    std::thread::spawn(move || {
        let read = io::stdin().lock().read_line(&mut String::new());
        press.store(read.is_ok_and(|bytes| bytes > 0), Ordering::Relaxed);
    });
    Ok(move |player: &Player, _: &FrameReport| {
        let stats = player.stats();
        let told = if stats.frames().is_multiple_of(PROGRESS) {
            show::progress(out, stats)
        } else {
            Ok(())
        };
        told.is_err() || pressed.load(Ordering::Relaxed)
    })
}

/// Writes the flame graph and the page, where they are asked for.
fn write_files(
    findings: &Findings,
    player: &mut Player,
    out: &mut dyn Write,
) -> Result<(), Box<dyn Error>> {
    let Options { report, flame, .. } = &findings.options;
    if report.is_none() && flame.is_none() {
        return Ok(());
    }
    writeln!(out)?;
    let graph = flame::record(player)?;
    if let (Some(file), Some(graph)) = (flame, &graph) {
        write(file, graph, out)?;
    }
    if let Some(file) = report {
        write(file, &page::page(findings, graph.as_deref()), out)?;
    }
    Ok(())
}

fn write(file: &Path, text: &str, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let name = file.display();
    fs::write(file, text).map_err(|error| format!("cannot write {name}: {error}"))?;
    Ok(writeln!(out, "written: {name}")?)
}

/// Whether the reader of the output has gone, which is no fault: `frame_storm | head`.
fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
