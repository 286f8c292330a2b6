//! The frame loop on a clock that is moved by hand: every time to the nanosecond, every count by hand.

mod counts;
mod faults;
mod grid;
#[cfg(feature = "profiling")]
mod spans;
mod stats;
mod times;
mod waits;

use std::time::Duration;

use hyphae::{Cell, CellImmutable, FrameLoop, ManualClock, Pipeline};

/// Nanoseconds as a duration.
fn ns(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

/// A clock that reads `at`, and a loop with a frame each 1000 ns on it.
fn loop_at(at: u64) -> (ManualClock, FrameLoop) {
    let clock = ManualClock::at(at);
    (clock.clone(), FrameLoop::with_period(ns(1000)).with_clock(clock))
}

/// A cell that is one more than another, and takes `nanos` to compute by the clock.
fn slow(of: &Cell<u64>, clock: &ManualClock, nanos: u64) -> Cell<u64, CellImmutable> {
    let clock = clock.clone();
    let map = of.map(move |v| {
        clock.advance(ns(nanos));
        v + 1
    });
    map.materialize()
}
