//! An application that forwards the feature `profiling` of hyphae. It works the same with and without; with it, it sees
//! counters and spans, and a profiler sees a frame for each type of value.

use hyphae::{Cell, Pipeline};

/// Three types of one layout, and closures that compile to the same code.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Meters(i64);
#[derive(Clone, Copy, PartialEq, Debug)]
struct Seconds(i64);
#[derive(Clone, Copy, PartialEq, Debug)]
struct Notes(i64);

/// The work: 4 cells; 3 turns and 4 emits for each set.
fn work() {
    let input = Cell::new(1_i64).with_name("input");
    let meters = (&input).map(|v| Meters(v + 1)).materialize().with_name("meters");
    let seconds = (&input).map(|v| Seconds(v + 1)).materialize().with_name("seconds");
    let notes = (&input).map(|v| Notes(v + 1)).materialize().with_name("notes");
    let _guards = (meters.watch(|_| ()), seconds.watch(|_| ()), notes.watch(|_| ()));
    (2..=4).for_each(|v| input.set(v));
    assert_eq!((meters.get(), seconds.get(), notes.get()), (Meters(5), Seconds(5), Notes(5)));
    #[cfg(feature = "profiling")]
    profiled::check_counters();
}

#[cfg(feature = "profiling")]
mod profiled;

fn main() {
    #[cfg(feature = "profiling")]
    profiled::check();
    work();
    println!("forwarding: {}", if cfg!(feature = "profiling") { "profiled" } else { "plain" });
}
