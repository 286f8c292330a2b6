//! The example `frame_storm`: its cells against a plain computation, its page, and the program itself.
//!
//! Its modules are taken in here, where `crate::` means the same to them, with the unit tests that stand in them.

// What only the example's `main` uses is unused here.
#![allow(dead_code)]

#[path = "../../examples/frame_storm/check.rs"]
mod check;
#[path = "../../examples/frame_storm/desk.rs"]
mod desk;
#[path = "../../examples/frame_storm/dmx.rs"]
mod dmx;
#[path = "../../examples/frame_storm/findings.rs"]
mod findings;
#[path = "../../examples/frame_storm/flame.rs"]
mod flame;
#[path = "../../examples/frame_storm/markup.rs"]
mod markup;
#[path = "../../examples/frame_storm/monitor.rs"]
mod monitor;
#[path = "../../examples/frame_storm/options.rs"]
mod options;
#[path = "../../examples/frame_storm/page.rs"]
mod page;
#[path = "../../examples/frame_storm/parts.rs"]
mod parts;
#[path = "../../examples/frame_storm/play.rs"]
mod play;
#[path = "../../examples/frame_storm/random.rs"]
mod random;
#[path = "../../examples/frame_storm/rig.rs"]
mod rig;
#[path = "../../examples/frame_storm/show.rs"]
mod show;
#[path = "../../examples/frame_storm/storm.rs"]
mod storm;
#[path = "../../examples/frame_storm/tables.rs"]
mod tables;
#[path = "../../examples/frame_storm/track.rs"]
mod track;
#[path = "../../examples/frame_storm/words.rs"]
mod words;

mod answers;
mod elements;
mod pages;
mod program;

use findings::{Built, Findings};
use options::{Options, Pace};
use play::Player;

/// A short run, as fast as it can be.
fn options(cells: usize, frames: u64) -> Options {
    Options { cells, frames: Some(frames), pace: Pace::Fast, ..Options::default() }
}

/// Plays and gathers.
fn played(options: &Options) -> (Player, Findings) {
    hyphae::set_timing(options.timing);
    let mut player = Player::new(options);
    let built = Built::look(&player);
    let record = player.play(options, |_, _| false).unwrap();
    let findings = Findings::gather(options, built, &player, record);
    (player, findings)
}
