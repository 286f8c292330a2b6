//! What observing costs: `costs SHAPE MODE WAVES REPEATS` runs waves through a shape and prints the least nanoseconds a
//! wave, and the cells that are computed in it. `costs.py` runs it in builds with and without features, and under valgrind.
//!
//! Shapes: `chain`, 1000 maps one after the other; `fan`, 1000 maps of one cell with a subscriber each; `storm`, the frame
//! of a show from the benches. Modes: `plain`; `times` and `sixteenth` (times of all waves, or of one in 16); `folded`,
//! under a `FoldedLayer`.

use std::hint::black_box;
use std::time::Instant;

use hyphae::{Cell, Pipeline, SubscriptionGuard, arena};

#[path = "../../benches/shapes/mod.rs"]
#[allow(dead_code, reason = "one of them is enough")]
mod shapes;

const CELLS: usize = 1000;

fn listen<M>(cell: &Cell<u64, M>) -> SubscriptionGuard {
    cell.watch(|value| {
        black_box(value);
    })
}

fn chain(input: &Cell<u64>) -> Vec<SubscriptionGuard> {
    let mut cell = input.clone().lock();
    for _ in 0..CELLS {
        cell = (&cell).map(|v| v.wrapping_add(1)).materialize();
    }
    vec![listen(&cell)]
}

fn fan(input: &Cell<u64>) -> Vec<SubscriptionGuard> {
    let cell = || input.map(|v| v.wrapping_add(1)).materialize();
    (0..CELLS).map(|_| listen(&cell())).collect()
}

/// Makes a shape; gives its step.
fn step_of(shape: &str) -> Box<dyn Fn(u64)> {
    let input = Cell::new(0);
    let kept = match shape {
        "chain" => chain(&input),
        "fan" => fan(&input),
        "storm" => {
            let storm = shapes::storm().observed();
            return Box::new(move |value| storm.step(value));
        }
        _ => panic!("no such shape: {shape}"),
    };
    Box::new(move |value| {
        let _ = &kept;
        input.set(value);
    })
}

fn observe(mode: &str) {
    match mode {
        "plain" => {}
        #[cfg(feature = "trace")]
        "times" => hyphae::set_timing(hyphae::Timing::EveryWave),
        #[cfg(feature = "trace")]
        "sixteenth" => hyphae::set_timing(hyphae::Timing::OneWaveIn(16)),
        #[cfg(feature = "flame")]
        "folded" => hyphae::FoldedLayer::new().0.install().expect("nobody else listens"),
        _ => panic!("no such mode in this build: {mode}"),
    }
}

/// What valgrind counts.
#[inline(never)]
fn measured(step: &dyn Fn(u64), waves: u64) {
    (0..waves).for_each(step);
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [shape, mode, waves, repeats] = &args[..] else { panic!("SHAPE MODE WAVES REPEATS") };
    let (waves, repeats): (u64, u32) = (waves.parse().unwrap(), repeats.parse().unwrap());
    let step = step_of(shape);
    observe(mode);
    // Clocks are set up, columns and labels are made.
    (0..16).for_each(&step);
    let computed = arena::totals().recomputations;
    step(16);
    let computed = arena::totals().recomputations - computed;
    let run = |_| {
        let start = Instant::now();
        measured(&*step, waves);
        start.elapsed().as_nanos() as u64 / waves
    };
    println!("{} {computed}", (0..repeats).map(run).min().unwrap_or(0));
}
