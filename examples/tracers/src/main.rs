//! The storm of `examples/frame_storm` under a layer that listens to the spans of hyphae:
//! `tracers LAYER OUT [frame_storm's options]`.
//!
//! An application does what [`layers`] does: it makes the layer, puts it on a registry with the filter `hyphae=trace`,
//! and drops the guard at its end. A crate of its own, so that the library depends on none of them.

// The program tells less of the storm than the example does.
#![allow(dead_code)]

mod layers;

#[path = "../../frame_storm/check.rs"]
mod check;
#[path = "../../frame_storm/desk.rs"]
mod desk;
#[path = "../../frame_storm/dmx.rs"]
mod dmx;
#[path = "../../frame_storm/monitor.rs"]
mod monitor;
#[path = "../../frame_storm/options.rs"]
mod options;
#[path = "../../frame_storm/parts.rs"]
mod parts;
#[path = "../../frame_storm/play.rs"]
mod play;
#[path = "../../frame_storm/random.rs"]
mod random;
#[path = "../../frame_storm/rig.rs"]
mod rig;
#[path = "../../frame_storm/storm.rs"]
mod storm;
#[path = "../../frame_storm/track.rs"]
mod track;

use std::error::Error;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hyphae::Timing;

use crate::options::{Command, Options};
use crate::play::Player;

const USAGE: &str = "usage: tracers flame|folded|chrome|tracy|none OUT [frame_storm's options]";

fn main() -> ExitCode {
    match run(std::env::args_os().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tracers: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(mut args: impl Iterator<Item = OsString>) -> Result<(), Box<dyn Error>> {
    let (Some(layer), Some(out)) = (args.next(), args.next()) else { return Err(USAGE.into()) };
    let options = match options::parse(args)? {
        Command::Run(options) => Options { timing: Timing::Off, ..options },
        Command::Help => {
            println!("{USAGE}\n\n{}", options::HELP);
            return Ok(());
        }
    };
    // Built before anyone listens: the graph is about frames.
    let mut player = Player::new(&options);
    let layer = layer.to_string_lossy();
    let listening = layers::listen(&layer, &PathBuf::from(out))?;
    play(&mut player, &options)?;
    drop(player);
    listening.finish()?;
    Ok(())
}

fn play(player: &mut Player, options: &Options) -> Result<(), Box<dyn Error>> {
    let pressed = Arc::new(AtomicBool::new(false));
    if options.frames.is_none() {
        let press = pressed.clone();
        std::thread::spawn(move || {
            let read = io::stdin().read_line(&mut String::new());
            press.store(read.is_ok_and(|bytes| bytes > 0), Ordering::Relaxed);
        });
    }
    player.play(options, |_, _| pressed.load(Ordering::Relaxed))?;
    if !options.quiet {
        println!("{}", player.stats());
    }
    Ok(())
}
