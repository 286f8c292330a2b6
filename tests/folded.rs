//! `FoldedLayer`: where time goes, by stack of spans and by cell, to the nanosecond on a clock of the tests' own.
#![cfg(feature = "flame")]

#[path = "folded/labels.rs"]
mod labels;
#[path = "folded/order.rs"]
mod order;
#[path = "folded/output.rs"]
mod output;
#[path = "folded/threads.rs"]
mod threads;

use std::cell::Cell;
use std::fmt::Display;

use hyphae::{Folded, FoldedError, FoldedLayer};
use tracing::span::EnteredSpan;
use tracing::subscriber::DefaultGuard;
use tracing::{Span, trace_span};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::prelude::*;

thread_local! {
    static NOW: Cell<u64> = const { Cell::new(0) };
}

fn now() -> u64 {
    NOW.get()
}

/// Lets time pass on this thread.
fn pass(ns: u64) {
    NOW.set(NOW.get() + ns);
}

/// Records this thread's spans while the guard lives.
fn record_as(options: impl FnOnce(FoldedLayer) -> FoldedLayer) -> (DefaultGuard, Folded) {
    let (layer, folded) = FoldedLayer::with_clock(now);
    (tracing_subscriber::registry().with(options(layer)).set_default(), folded)
}

fn record() -> (DefaultGuard, Folded) {
    record_as(|layer| layer)
}

fn frame(index: u64) -> Span {
    trace_span!(target: "hyphae", "hyphae.frame", index, boundary = index * 16_666_667)
}

fn wave(width: u64) -> Span {
    let empty = tracing::field::Empty;
    trace_span!(target: "hyphae", "hyphae.wave", width, levels = empty, widest = empty, emits = empty)
}

fn compute(operator: &str, name: &str, id: impl Display) -> Span {
    trace_span!(target: "hyphae", "hyphae.compute", operator, name, id = %id)
}

fn fanout(name: &str) -> Span {
    fanout_of(7, name)
}

fn fanout_of(id: impl Display, name: &str) -> Span {
    trace_span!(target: "hyphae", "hyphae.fanout", id = %id, name)
}

/// Enters the span for `ns`.
fn busy(span: Span, ns: u64) {
    span.in_scope(|| pass(ns));
}

fn lines(folded: &Folded) -> Vec<String> {
    folded.to_string().lines().map(str::to_owned).collect()
}

#[test]
fn a_span_has_its_own_time_only() {
    let (_guard, folded) = record();
    frame(1).in_scope(|| {
        pass(1_000);
        wave(2).in_scope(|| {
            pass(200);
            busy(compute("map", "total", 1), 40);
            pass(3);
            fanout("total").in_scope(|| {
                pass(5);
                busy(fanout("inner"), 600);
                pass(7);
            });
        });
        pass(9_000);
    });
    let expected = [
        "hyphae.frame 10000",
        "hyphae.frame;hyphae.wave 203",
        "hyphae.frame;hyphae.wave;hyphae.fanout [total] 12",
        "hyphae.frame;hyphae.wave;hyphae.fanout [total];hyphae.fanout [inner] 600",
        "hyphae.frame;hyphae.wave;map [total] 40",
    ];
    assert_eq!(lines(&folded), expected);
    assert_eq!(folded.total_ns(), now());
}

/// Field report TR-5: three cells that take 2, 4 and 6 ms, with 50 ms between the writes.
#[test]
fn idle_time_belongs_to_no_cell() {
    let (_guard, folded) = record();
    for _ in 0..3 {
        busy(fanout("a"), 2_000_000);
        busy(fanout("b"), 4_000_000);
        busy(fanout("c"), 6_000_000);
        pass(50_000_000);
    }
    let expected =
        ["hyphae.fanout [a] 6000000", "hyphae.fanout [b] 12000000", "hyphae.fanout [c] 18000000"];
    assert_eq!(lines(&folded), expected);
    assert_eq!(folded.total_ns(), 36_000_000, "busy time, not wall time");
    assert_eq!(now(), 186_000_000);
}

#[test]
fn frames_and_waves_are_one_line_each() {
    let (_guard, folded) = record();
    for index in 0..100 {
        frame(index).in_scope(|| {
            pass(1);
            wave(index % 7).in_scope(|| {
                Span::current().record("levels", index);
                pass(2);
            });
        });
    }
    let stacks: Vec<_> = folded.stacks().collect();
    let sums: Vec<_> = stacks.iter().map(|s| (s.path.as_str(), s.self_ns, s.count)).collect();
    assert_eq!(sums, [("hyphae.frame", 100, 100), ("hyphae.frame;hyphae.wave", 200, 100)]);
    assert_eq!(stacks[1].frames().collect::<Vec<_>>(), ["hyphae.frame", "hyphae.wave"]);
}

#[test]
fn a_result_is_taken_at_any_time_and_from_zero_again() {
    let (_guard, folded) = record();
    let outer = wave(1).entered();
    pass(10);
    let inner = fanout("price").entered();
    pass(5);
    assert_eq!(lines(&folded), ["hyphae.wave 10", "hyphae.wave;hyphae.fanout [price] 5"]);
    pass(1);
    folded.clone().reset();
    assert_eq!((folded.total_ns(), folded.to_string()), (0, String::new()));
    pass(30);
    drop(inner);
    pass(4);
    drop(outer);
    pass(1_000);
    busy(wave(1), 100);
    assert_eq!(lines(&folded), ["hyphae.wave 104", "hyphae.wave;hyphae.fanout [price] 30"]);
    assert_eq!(folded.stacks().map(|s| s.count).collect::<Vec<_>>(), [1, 0], "entered since");
}

#[test]
fn other_targets_are_taken_on_demand() {
    let work = || {
        let _own = trace_span!(target: "app", "load  scene 5", name = "not a cell").entered();
        pass(1);
        fanout("price").in_scope(|| {
            pass(10);
            busy(trace_span!(target: "app", "request", id = 3), 100);
        });
        tracing::trace!(target: "hyphae", "an event is no span");
    };
    let (guard, folded) = record();
    work();
    assert_eq!(lines(&folded), ["hyphae.fanout [price] 110"], "the time stays with ours");
    drop(guard);
    let (_guard, folded) = record_as(|layer| layer.with_other_targets(true));
    work();
    let price = "load__scene_5;hyphae.fanout [price]";
    let expected =
        ["load__scene_5 1".into(), format!("{price} 10"), format!("{price};request 100")];
    assert_eq!(lines(&folded), expected);
}

#[test]
fn filters_of_the_program_decide_what_is_seen() {
    let work = || {
        busy(fanout("price"), 5);
        busy(trace_span!(target: "other", "noise"), 7);
    };
    let filtered = |level: LevelFilter| {
        let (layer, folded) = FoldedLayer::with_clock(now);
        let targets = Targets::new().with_target("hyphae", level);
        let layer = layer.with_other_targets(true);
        let _guard = tracing_subscriber::registry().with(targets).with(layer).set_default();
        work();
        folded
    };
    assert_eq!(lines(&filtered(LevelFilter::TRACE)), ["hyphae.fanout [price] 5"]);
    let none = filtered(LevelFilter::INFO);
    let error = none.write_to(Vec::new()).expect_err("there is nothing");
    assert!(matches!(error, FoldedError::Empty));
    assert!(error.to_string().contains("`hyphae=trace`"), "{error}");
    // A filter of the layer's own.
    let (layer, folded) = FoldedLayer::with_clock(now);
    let filter = Targets::new().with_target("other", LevelFilter::TRACE);
    let layer = layer.with_other_targets(true).with_filter(filter);
    let _guard = tracing_subscriber::registry().with(layer).set_default();
    work();
    assert_eq!(lines(&folded), ["noise 7"]);
}

#[test]
fn the_systems_clock_moves_on() {
    let (layer, folded) = FoldedLayer::new();
    let _guard = tracing_subscriber::registry().with(layer).set_default();
    let span: EnteredSpan = fanout("price").entered();
    while folded.total_ns() == 0 {
        std::hint::spin_loop();
    }
    drop(span);
    assert_eq!(folded.stacks().map(|s| s.path).collect::<Vec<_>>(), ["hyphae.fanout [price]"]);
}
