//! What a report counts, on graphs that were counted by hand.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use hyphae::{Cell, FrameLoop, FrameReport, Pipeline, Source, batch, combine, no_coalesce, timers};

use crate::loop_at;

/// Computed, emits, re-fires, waves, rounds, levels, widest level.
type Counts = (u64, u64, u64, u64, u64, u32, u32);

fn counts(report: FrameReport) -> Counts {
    (
        report.cells_computed,
        report.emits,
        report.refires,
        report.waves,
        report.rounds,
        report.levels.expect("it was asked for"),
        report.widest_level.expect("it was asked for"),
    )
}

/// A loop that tells levels.
fn leveled() -> FrameLoop {
    loop_at(0).1.with_levels(true)
}

#[test]
fn timers_that_are_due_join_the_frame() {
    let (clock, mut frames) = loop_at(0);
    timers::set_clock(clock.clone());
    let source = no_coalesce(|| Cell::new(0));
    let delayed = source.delay(Duration::from_nanos(500));
    let both = combine((&delayed, &source), |(delayed, source)| (*delayed, *source));
    let seen = Rc::new(RefCell::new(vec![]));
    let log = seen.clone();
    let guard = both.watch_changes(move |both| log.borrow_mut().push(*both));
    batch(|| (1..=3).for_each(|n| source.set(n)));
    seen.take();
    clock.set(400);
    assert_eq!(frames.frame(|_| ()).waves, 1);
    assert!(seen.borrow().is_empty());
    clock.set(1000);
    let report = frames.frame(|_| source.set(4));
    assert_eq!((report.waves, report.rounds), (1, 3), "each delayed value in a round of its own");
    assert_eq!(*seen.borrow(), [(1, 4), (2, 4), (3, 4)]);
    assert_eq!(timers::waiting(), 1, "the value of this frame waits");
    drop(guard);
}

#[test]
fn a_diamond() {
    let a = Cell::new(1);
    let (b, c) = ((&a).map(|v| v + 1).materialize(), (&a).map(|v| v * 2).materialize());
    let d = combine((&b, &c), |(b, c)| b + c);
    let mut frames = leveled();
    assert_eq!(counts(frames.frame(|_| a.set(5))), (3, 4, 0, 1, 1, 2, 2));
    assert_eq!(d.get(), 16);
    // No frame before has to do with this one.
    assert_eq!(counts(frames.frame(|_| a.set(5))), (3, 4, 0, 1, 1, 2, 2));
    assert_eq!(counts(frames.frame(|_| ())), (0, 0, 0, 1, 1, 0, 0));
}

/// What happens between frames is not theirs.
#[test]
fn writes_outside_of_frames_are_not_counted() {
    let a = Cell::new(1);
    let _b = (&a).map(|v| v + 1).materialize();
    let mut frames = leveled();
    frames.frame(|_| a.set(2));
    a.set(3);
    hyphae::batch(|| a.set(4));
    assert_eq!(counts(frames.frame(|_| a.set(5))), (1, 2, 0, 1, 1, 1, 1));
}

/// Written thrice in one round, it has changed once.
#[test]
fn writes_of_one_cell_are_one_emit() {
    let a = Cell::new(1);
    let b = (&a).map(|v| v + 1).materialize();
    let mut frames = leveled();
    let report = frames.frame(|_| (2..5).for_each(|v| a.set(v)));
    assert_eq!(counts(report), (1, 2, 0, 1, 1, 1, 1));
    // A read in between computes; the rest of the wave is still the same round.
    let report = frames.frame(|_| {
        a.set(7);
        b.get();
        a.set(8);
    });
    assert_eq!(counts(report), (2, 2, 0, 1, 1, 1, 1));
}

/// A subscriber writes the source again: all emit a second time.
#[test]
fn feedback_is_told_as_refires() {
    let a = Cell::new(0);
    let b = (&a).map(|v| v + 1).materialize();
    let c = (&b).map(|v| v * 2).materialize();
    let _guard = c.watch_changes({
        let a = a.clone();
        move |&v| {
            if v < 10 {
                a.set(100);
            }
        }
    });
    let mut frames = leveled();
    assert_eq!(counts(frames.frame(|_| a.set(1))), (4, 6, 3, 2, 2, 2, 1));
    assert_eq!(counts(frames.frame(|_| a.set(50))), (2, 3, 0, 1, 1, 2, 1));
}

#[test]
fn what_is_cut_off_is_computed_but_does_not_emit() {
    let a = Cell::new(0);
    let parity = (&a).map(|v| v % 2).deduped().materialize();
    let _after = parity.map(|v| v + 1).materialize();
    let mut frames = leveled();
    assert_eq!(counts(frames.frame(|_| a.set(2))), (1, 1, 0, 1, 1, 1, 1));
    assert_eq!(counts(frames.frame(|_| a.set(3))), (2, 3, 0, 1, 1, 2, 1));
}

/// The comparison of a source with a cut-off is a turn, on no level.
#[test]
fn a_source_that_compares() {
    let a = Cell::with_cutoff(0, i32::eq);
    let _b = (&a).map(|v| v + 1).materialize();
    let mut frames = leveled();
    assert_eq!(counts(frames.frame(|_| a.set(0))), (1, 0, 0, 1, 1, 0, 0));
    assert_eq!(counts(frames.frame(|_| a.set(1))), (2, 2, 0, 1, 1, 1, 1));
}

/// Each event has a round of its own, and a change in each.
#[test]
fn events_are_rounds() {
    let source = Source::new();
    let sum = source.clone().scan(0, |sum, v: &i32| sum + v).materialize();
    let mut frames = leveled();
    let report = frames.frame(|_| [1, 2, 3].into_iter().for_each(|v| source.emit(v)));
    assert_eq!(counts(report), (3, 6, 4, 1, 3, 1, 1));
    assert_eq!(sum.get(), Some(6));
}

#[test]
fn an_end_is_an_emit() {
    let a = Cell::new(0);
    let _b = (&a).map(|v| v + 1).materialize();
    let mut frames = leveled();
    assert_eq!(counts(frames.frame(|_| a.complete())), (1, 2, 0, 1, 1, 1, 1));
    assert_eq!(counts(frames.frame(|_| a.set(1))), (0, 0, 0, 1, 1, 0, 0));
}

/// A tree of four leaves, of which two are written: only what was computed has a level.
#[test]
fn levels_are_those_of_what_was_computed() {
    let leaves: Vec<Cell<i32>> = (0..4).map(Cell::new).collect();
    let left = combine((&leaves[0], &leaves[1]), |(a, b)| a + b);
    let right = combine((&leaves[2], &leaves[3]), |(a, b)| a + b);
    let deeper = (&right).map(|v| v + 1).materialize();
    let _root = combine((&left, &deeper), |(a, b)| a + b);
    let mut frames = leveled();
    let all = frames.frame(|_| leaves.iter().for_each(|leaf| leaf.set(1)));
    assert_eq!(counts(all), (4, 8, 0, 1, 1, 3, 2));
    assert_eq!(counts(frames.frame(|_| leaves[0].set(2))), (2, 3, 0, 1, 1, 2, 1));
    assert_eq!(counts(frames.frame(|_| leaves[3].set(2))), (3, 4, 0, 1, 1, 3, 1));
}

/// An input that a closure has begun to read in this very turn counts for its level.
#[test]
fn levels_follow_edges_that_come_in_the_wave() {
    let which = Cell::new(false);
    let a = Cell::new(0);
    let b = (&a).map(|v| v + 1).materialize();
    let c = (&b).map(|v| v + 1).materialize();
    let shown = Cell::computed({
        let (which, c) = (which.clone(), c.clone());
        move || if which.get() { c.get() } else { 0 }
    });
    let mut frames = leveled();
    let report = frames.frame(|_| {
        which.set(true);
        a.set(1);
    });
    assert_eq!((shown.get(), report.levels, report.widest_level), (3, Some(3), Some(1)));
    assert_eq!((report.cells_computed, report.emits), (3, 5));
}

/// A cell that lives where one that has emitted lived has not emitted before.
#[test]
fn a_later_tenant_is_no_refire() {
    let mut frames = leveled();
    let report = frames.frame(|_| {
        for _ in 0..3 {
            let cell = Cell::new(0);
            cell.set(1);
        }
    });
    assert_eq!((report.emits, report.refires), (3, 0));
}

/// Cells that a frame makes are there at once; making them is no emit.
#[test]
fn cells_made_in_a_frame() {
    let a = Cell::new(0);
    let kept = RefCell::new(Vec::new());
    let mut frames = leveled();
    let report = frames.frame(|_| {
        a.set(1);
        kept.borrow_mut().push((&a).map(|v| v + 1).materialize());
        a.set(2);
    });
    assert_eq!(counts(report), (1, 2, 0, 1, 1, 1, 1));
    assert_eq!(kept.borrow()[0].get(), 3);
}

/// Nothing is walked unless asked for.
#[test]
fn levels_are_told_on_request_only() {
    let a = Cell::new(0);
    let _b = (&a).map(|v| v + 1).materialize();
    let (_, mut frames) = loop_at(0);
    let report = frames.frame(|_| a.set(1));
    assert_eq!((report.levels, report.widest_level), (None, None));
    assert_eq!((report.cells_computed, report.emits), (1, 2));
    let mut frames = frames.with_levels(true);
    assert_eq!(frames.frame(|_| a.set(1)).levels, Some(1));
}

/// A group of writes in a callback is one wave.
#[test]
fn a_batch_in_a_callback_is_one_wave() {
    let (a, b, c) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let sum = combine((&b, &c), |(b, c)| b + c);
    let seen = Rc::new(RefCell::new(Vec::new()));
    let _guards = (
        a.watch_changes({
            let (b, c) = (b.clone(), c.clone());
            move |&v| {
                hyphae::batch(|| {
                    b.set(v);
                    c.set(v);
                });
            }
        }),
        sum.watch_changes({
            let seen = seen.clone();
            move |&v| seen.borrow_mut().push(v)
        }),
    );
    let mut frames = leveled();
    assert_eq!(counts(frames.frame(|_| a.set(4))), (1, 4, 0, 2, 2, 1, 1));
    assert_eq!(*seen.borrow(), [8]);
}
