//! Three graphs of which the costs are known, for comparing what counters, spans and samples say of them:
//! `capture_workloads WORKLOAD counters|spans|plain WAVES`, where WORKLOAD is the part that is to be the hottest.
//!
//! Each graph has one heavy closure, one cell with many subscribers and one deep chain; the hottest takes three fifths of
//! the work, the others a fifth each. A part's cells have its name, and its closures are made in the function of its name.
//! `counters` and `spans` print a line for each of [`REPEATS`] short runs of WAVES waves: each part's nanoseconds. `plain`
//! runs as many waves for a sampling profiler. `capture.py` compares.

use std::hint::black_box;

use hyphae::{
    Cell, Folded, FoldedLayer, Pipeline, SubscriptionGuard, Timing, hot_traced_cells, reset_trace,
    set_timing,
};

/// Runs: each part had one in which nothing else took the processor away.
const REPEATS: u32 = 150;

/// Loops of work in a wave.
const LOOPS: u32 = 120_000;

const SUBSCRIBERS: u32 = 60;
const DEPTH: u32 = 30;

const PARTS: [&str; 3] = ["heavy", "wide", "deep"];

/// Work of so many loops.
#[inline(never)]
fn spend(loops: u32, seed: f64) -> f64 {
    (0..loops).fold(seed, |sum, step| black_box(sum * 0.5 + f64::from(step)))
}

/// A part's work in a wave.
fn loops(part: &str, hottest: &str) -> u32 {
    if part == hottest { LOOPS / 5 * 3 } else { LOOPS / 5 }
}

/// One closure that does it all.
fn heavy(input: &Cell<f64>, loops: u32) -> Vec<SubscriptionGuard> {
    let cell = input.map(move |v| spend(loops, *v)).materialize().with_name("heavy");
    vec![cell.watch(drop_value)]
}

fn drop_value(value: &f64) {
    let _ = black_box(*value);
}

/// Many subscribers of one cell.
fn wide(input: &Cell<f64>, loops: u32) -> Vec<SubscriptionGuard> {
    let cell = input.map(|v| *v).materialize().with_name("wide");
    let listener = || cell.watch(move |v| drop_value(&spend(loops / SUBSCRIBERS, *v)));
    (0..SUBSCRIBERS).map(|_| listener()).collect()
}

/// Many cells, one after the other.
fn deep(input: &Cell<f64>, loops: u32) -> Vec<SubscriptionGuard> {
    let mut cell = input.clone().lock();
    for _ in 0..DEPTH {
        cell = (&cell).map(move |v| spend(loops / DEPTH, *v)).materialize().with_name("deep");
    }
    vec![cell.watch(drop_value)]
}

fn run(input: &Cell<f64>, waves: u32) {
    (0..waves).for_each(|step| input.set(f64::from(step)));
}

/// Prints each part's time.
fn print(of: impl Fn(&str) -> u64) {
    let times = PARTS.map(|part| format!("{part}={}", of(part)));
    println!("{}", times.join(" "));
}

fn counters(input: &Cell<f64>, waves: u32) {
    set_timing(Timing::EveryWave);
    for _ in 0..REPEATS {
        reset_trace();
        run(input, waves);
        let cells = hot_traced_cells();
        print(|part| {
            let ours = cells.iter().filter(|cell| cell.name.as_deref() == Some(part));
            ours.map(|cell| cell.total_notify_time_ns).sum()
        });
    }
}

fn spans(input: &Cell<f64>, waves: u32) {
    let (layer, folded) = FoldedLayer::new();
    layer.install().expect("nobody else listens");
    for _ in 0..REPEATS {
        folded.reset();
        run(input, waves);
        print(|part| self_time(&folded, part));
    }
}

/// The time of all spans that name a cell so.
fn self_time(folded: &Folded, part: &str) -> u64 {
    let label = format!("[{part}]");
    let names = |frame: Option<&str>| frame.is_some_and(|frame| frame.ends_with(&label));
    folded.stacks().filter(|stack| names(stack.frames().last())).map(|stack| stack.self_ns).sum()
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [hottest, mode, waves] = &args[..] else { panic!("WORKLOAD MODE WAVES") };
    assert!(PARTS.contains(&hottest.as_str()), "no such part: {hottest}");
    let waves = waves.parse().expect("WAVES");
    let input = Cell::new(0.0).with_name("input");
    let parts = [heavy, wide, deep].into_iter().zip(PARTS);
    let _kept: Vec<_> = parts.flat_map(|(make, part)| make(&input, loops(part, hottest))).collect();
    match mode.as_str() {
        "counters" => counters(&input, waves),
        "spans" => spans(&input, waves),
        "plain" => run(&input, waves * REPEATS),
        _ => panic!("no such mode: {mode}"),
    }
}
