//! Three known workloads, each measured twice: by the counters of cells and by spans that are folded. The hottest cell is
//! the same, and its share of all time, and each other's, agree within 5 points.
//!
//! The one place where times are compared. Closures are busy for so long that what a span costs does not matter. Something
//! else may take the processor away: of many waves the one that took the least time counts, and there are several tries.
#![cfg(feature = "flame")]

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hyphae::{
    Cell, CellImmutable, FoldedLayer, Pipeline, SubscriptionGuard, Timing, hot_traced_cells,
    reset_trace, set_timing,
};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

const TRIES: usize = 5;
/// Waves of each measurement.
const WAVES: u64 = 30;
/// Shares may differ by so much.
const POINTS: f64 = 0.05;

fn busy(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

type Derived = Cell<u64, CellImmutable>;

/// A derived cell whose closure is busy for so many microseconds.
fn working<M>(on: &Cell<u64, M>, us: u64, name: &str) -> Derived {
    let time = Duration::from_micros(us);
    let closure = move |v: &u64| {
        busy(time);
        v + 1
    };
    on.clone().map(closure).materialize().with_name(name)
}

/// A callback that is busy for so many microseconds.
fn called<M>(on: &Cell<u64, M>, us: u64) -> SubscriptionGuard {
    let time = Duration::from_micros(us);
    on.watch_changes(move |_| busy(time))
}

/// A graph: its input, the name of its hottest cell, that cell's share, and what keeps it.
struct Workload {
    input: Cell<u64>,
    hottest: &'static str,
    share: f64,
    _kept: (Vec<Derived>, Vec<SubscriptionGuard>),
}

fn input() -> Cell<u64> {
    Cell::new(0).with_name("input")
}

/// One closure takes two thirds of all time.
fn heavy_closure() -> Workload {
    let input = input();
    let mut cells: Vec<_> = (0..10).map(|i| working(&input, 100, &format!("light {i}"))).collect();
    cells.push(working(&input, 2_000, "heavy"));
    Workload { input, hottest: "heavy", share: 2.0 / 3.0, _kept: (cells, vec![]) }
}

/// A cell with two hundred subscribers, beside cells with one slow subscriber each.
fn wide_fan() -> Workload {
    let input = input();
    let fan = input.clone().map(|v| *v).materialize().with_name("fan");
    let mut guards: Vec<_> = (0..200).map(|_| called(&fan, 10)).collect();
    let mut cells = vec![fan];
    for i in 0..5 {
        let beside = input.clone().map(|v| *v).materialize().with_name(format!("beside {i}"));
        guards.push(called(&beside, 300));
        cells.push(beside);
    }
    Workload { input, hottest: "fan", share: 2.0 / 3.5, _kept: (cells, guards) }
}

/// A chain of forty, the last but one of which is the hottest, in its closure and in its subscriber.
fn deep_chain() -> Workload {
    let input = input();
    let mut cells: Vec<Derived> = Vec::new();
    let mut above = input.clone().lock();
    for i in 0..40 {
        let (us, name) = if i == 38 { (900, "deep".to_owned()) } else { (50, format!("step {i}")) };
        above = working(&above, us, &name);
        cells.push(above.clone());
    }
    let guards = vec![called(&cells[38], 300), called(&cells[39], 50)];
    let all = 900.0 + 300.0 + 39.0 * 50.0 + 50.0;
    Workload { input, hottest: "deep", share: 1_200.0 / all, _kept: (cells, guards) }
}

type Shares = BTreeMap<String, f64>;

fn shares(times: BTreeMap<String, u64>) -> Shares {
    let all: u64 = times.values().sum();
    times.into_iter().map(|(name, time)| (name, time as f64 / all as f64)).collect()
}

/// Of many waves, the one that took least.
fn best(waves: impl Iterator<Item = (String, BTreeMap<String, u64>)>) -> (String, Shares) {
    let (hottest, times) = waves.min_by_key(|wave| wave.1.values().sum::<u64>()).expect("waves");
    (hottest, shares(times))
}

/// Turns and calls of each cell in one wave, by the counters.
fn by_counters(load: &Workload) -> (String, Shares) {
    set_timing(Timing::EveryWave);
    let measured = best((0..WAVES).map(|v| {
        reset_trace();
        load.input.set(v);
        let hot = hot_traced_cells().by_time();
        let times = hot.iter().map(|cell| (cell.display_name(), cell.total_notify_time_ns));
        (hot[0].display_name(), times.collect())
    }));
    set_timing(Timing::Off);
    measured
}

/// Turns and fan-outs of each cell in one wave, by the self time of its spans.
fn by_spans(load: &Workload) -> (String, Shares) {
    let (layer, folded) = FoldedLayer::new();
    let _listens = tracing_subscriber::registry().with(layer).set_default();
    best((0..WAVES).map(|v| {
        folded.reset();
        load.input.set(v);
        let mut times = BTreeMap::new();
        for stack in folded.stacks() {
            let frame = stack.frames().next_back().expect("a stack has frames");
            if let Some((_, name)) = frame.split_once(" [") {
                *times.entry(name.trim_end_matches(']').to_owned()).or_insert(0) += stack.self_ns;
            }
        }
        (times.iter().max_by_key(|time| time.1).expect("there are cells").0.clone(), times)
    }))
}

/// The greatest difference of any cell's share between two measurements; one that has no share has 0.
fn difference(a: &Shares, b: &Shares) -> f64 {
    let share = |of: &Shares, name: &str| of.get(name).copied().unwrap_or(0.0);
    let names = a.keys().chain(b.keys());
    names.map(|name| (share(a, name) - share(b, name)).abs()).fold(0.0, f64::max)
}

/// One at a time, so that the workloads do not disturb each other.
static ALONE: Mutex<()> = Mutex::new(());

fn check(load: &Workload) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut told = Vec::new();
    for _ in 0..TRIES {
        let (counted, spanned) = (by_counters(load), by_spans(load));
        let apart = difference(&counted.1, &spanned.1);
        let share = counted.1.get(load.hottest).copied().unwrap_or(0.0);
        let agree = counted.0 == load.hottest && spanned.0 == load.hottest && apart <= POINTS;
        told.push(format!("{} ({share:.3}) and {}, {apart:.3} apart", counted.0, spanned.0));
        if agree && (share - load.share).abs() <= POINTS {
            return;
        }
    }
    panic!("{} at {:.3} expected; {told:#?}", load.hottest, load.share);
}

#[test]
fn one_heavy_closure() {
    check(&heavy_closure());
}

#[test]
fn one_wide_fan() {
    check(&wide_fan());
}

#[test]
fn one_hot_deep_chain() {
    check(&deep_chain());
}

/// The comparison can fail.
#[test]
fn the_difference_is_that_of_any_cell() {
    let of = |times: &[(&str, u64)]| {
        shares(times.iter().map(|&(name, time)| (name.to_owned(), time)).collect())
    };
    let (a, b) = (of(&[("a", 60), ("b", 40)]), of(&[("a", 50), ("b", 40), ("c", 10)]));
    assert!((difference(&a, &b) - 0.1).abs() < 1e-9);
    assert!((difference(&b, &a) - 0.1).abs() < 1e-9);
    assert_eq!(difference(&a, &a), 0.0);
}
