//! What a report says of time.

use hyphae::{Cell, CellImmutable, Clock, Frame, FrameLoop, SubscriptionGuard};

use crate::{loop_at, ns, slow};
use hyphae::ManualClock;

/// A source, a cell that takes 30 ns to compute, and a subscriber that takes 5 ns.
fn chain(clock: &ManualClock) -> (Cell<u64>, Cell<u64, CellImmutable>, SubscriptionGuard) {
    let source = Cell::new(0);
    let derived = slow(&source, clock, 30);
    let guard = derived.subscribe_changes({
        let clock = clock.clone();
        move |_| clock.advance(ns(5))
    });
    (source, derived, guard)
}

#[test]
fn the_parts_of_a_frame_are_told_apart() {
    let (clock, mut frames) = loop_at(0);
    let (source, derived, _guard) = chain(&clock);
    let start = clock.now_nanos();
    let report = frames.frame(|frame| {
        assert_eq!((frame.index, frame.boundary_ns, frame.start_ns), (0, start, start));
        source.set(1);
        clock.advance(ns(7));
    });
    assert_eq!(derived.get(), 2);
    assert_eq!((report.index, report.boundary_ns, report.start_ns), (0, start, start));
    assert_eq!((report.settle_ns, report.delivery_ns, report.fanout_ns), (30, 5, 35));
    assert_eq!((report.total_ns, report.jitter_ns), (42, Some(37)));
    assert_eq!((report.lateness_ns, report.skipped), (0, 0));
}

/// What is computed for a read in the batch counts as settling; the first fan-out is after the batch all the same.
#[test]
fn a_read_in_the_batch_settles() {
    let (clock, mut frames) = loop_at(0);
    let (source, derived, _guard) = chain(&clock);
    let report = frames.frame(|_| {
        source.set(1);
        assert_eq!(derived.get(), 2);
        clock.advance(ns(7));
        assert_eq!(derived.get(), 2);
        source.set(2);
        assert_eq!(derived.get(), 3);
    });
    assert_eq!((report.settle_ns, report.delivery_ns, report.total_ns), (60, 5, 72));
    assert_eq!(report.jitter_ns, Some(67));
}

/// The waves of what callbacks write are part of the frame; the jitter is that of the first.
#[test]
fn the_waves_that_follow_belong_to_the_frame() {
    let (clock, mut frames) = loop_at(0);
    let (source, _derived, _guard) = chain(&clock);
    let trigger = Cell::new(0_u64);
    let writes = source.clone();
    let _acts = trigger.subscribe_changes({
        let clock = clock.clone();
        move |_| {
            clock.advance(ns(1));
            writes.set(writes.get() + 1);
            writes.set(writes.get() + 2);
        }
    });
    let report = frames.frame(|_| {
        trigger.set(1);
        clock.advance(ns(100));
    });
    assert_eq!((report.waves, report.rounds), (3, 3));
    assert_eq!((report.settle_ns, report.delivery_ns, report.fanout_ns), (60, 1 + 5 + 5, 71));
    assert_eq!((report.jitter_ns, report.total_ns), (Some(100), 171));
}

/// In a wave without changes nothing fans out.
#[test]
fn a_frame_without_changes_has_no_jitter() {
    let (clock, mut frames) = loop_at(50);
    let (_source, derived, _guard) = chain(&clock);
    let report = frames.frame(|_| {
        derived.get();
        clock.advance(ns(9));
    });
    assert_eq!(report.jitter_ns, None);
    assert_eq!((report.settle_ns, report.delivery_ns, report.total_ns), (0, 0, 9));
    assert_eq!((report.cells_computed, report.emits, report.refires), (0, 0, 0));
    assert_eq!((report.waves, report.rounds, report.levels), (1, 1, None));
}

/// Jitter is told of a cell that nobody has subscribed to, too: its change has fanned out to its dependents.
#[test]
fn a_change_that_nobody_hears_of_has_jitter() {
    let (clock, mut frames) = loop_at(0);
    let source = Cell::new(0);
    let report = frames.frame(|_| source.set(1));
    assert_eq!(report.jitter_ns, Some(0));
    clock.set(990);
    assert_eq!(frames.frame(|_| source.set(2)).jitter_ns, Some(-10));
    clock.set(2_400);
    assert_eq!(frames.frame(|_| source.set(3)).jitter_ns, Some(400));
}

#[test]
fn jitter_is_early_late_or_on_time() {
    let (clock, mut frames) = loop_at(0);
    let (source, _derived, _guard) = chain(&clock);
    let mut at = |now: u64, boundary: u64| {
        clock.set(now);
        let report = frames.frame_at(boundary, |_| source.set(now));
        (report.lateness_ns, report.jitter_ns.expect("it has changed something"))
    };
    assert_eq!(at(10_000, 10_000), (0, 30));
    assert_eq!(at(20_000, 20_100), (-100, -70));
    assert_eq!(at(30_000, 29_900), (100, 130));
    assert_eq!(at(40_000, 40_030), (-30, 0));
}

#[test]
fn a_frame_is_over_budget_when_all_of_it_takes_longer() {
    let (clock, frames) = loop_at(0);
    let mut frames = frames.with_budget(ns(40));
    let (source, _derived, _guard) = chain(&clock);
    let mut took = |nanos| {
        let report = frames.frame(|frame| {
            source.set(frame.index);
            clock.advance(ns(nanos));
        });
        (report.total_ns, report.budget_ns, report.over_budget)
    };
    assert_eq!(took(5), (40, 40, false));
    assert_eq!(took(6), (41, 40, true));
    assert_eq!(frames.stats().frames_over_budget(), 1);
}

#[test]
fn the_budget_is_the_period_if_nothing_is_said() {
    let took = |frames: FrameLoop, nanos| {
        let clock = ManualClock::new();
        let mut frames = frames.with_clock(clock.clone());
        let report = frames.frame(|_| clock.advance(ns(nanos)));
        (report.budget_ns, report.over_budget)
    };
    assert_eq!(took(FrameLoop::new(60), 16_666_667), (16_666_667, false));
    assert_eq!(took(FrameLoop::new(60), 16_666_668), (16_666_667, true));
    assert_eq!(took(FrameLoop::with_period(ns(100)), 101), (100, true));
}

/// A clock that follows one which other machines know.
struct Disciplined(ManualClock);

impl Clock for Disciplined {
    fn now_nanos(&self) -> u64 {
        self.0.now_nanos()
    }

    fn to_absolute_nanos(&self, clock_nanos: u64) -> Option<u64> {
        Some(clock_nanos + 1_000_000)
    }
}

#[test]
fn a_frame_knows_what_its_clock_knows() {
    let clock = ManualClock::at(70);
    let mut seen = Vec::new();
    let mut frames = FrameLoop::with_period(ns(10)).with_clock(Disciplined(clock.clone()));
    frames.frame(|frame| seen.push(frame.absolute_ns));
    clock.set(85);
    frames.frame(|frame: &Frame| {
        seen.push(frame.absolute_ns);
        assert_eq!(frame.lateness_ns(), 5);
    });
    assert_eq!(seen, [Some(1_000_070), Some(1_000_080)]);
    assert_eq!(frames.clock().now_nanos(), 85);
}

#[test]
fn a_frame_is_told_what_the_one_before_has_cost() {
    let (clock, mut frames) = loop_at(0);
    let (source, _derived, _guard) = chain(&clock);
    let first = frames.frame(|frame| {
        assert_eq!(frame.previous, None);
        source.set(1);
    });
    frames.frame(|frame| assert_eq!(frame.previous, Some(first)));
}

#[test]
fn a_report_is_one_line_of_text() {
    let (clock, frames) = loop_at(0);
    let mut frames = frames.with_levels(true).with_budget(ns(10));
    let (source, _derived, _guard) = chain(&clock);
    frames.frame(|_| source.set(1));
    clock.set(3_250);
    let text = frames.frame(|_| source.set(1)).to_string();
    assert_eq!(
        text,
        "frame 3 due at 3030 ns: late by 220 ns (2 skipped), fan-out 35 ns (settle 30 ns, delivery 5 ns), \
         jitter 250 ns, 1 cells computed, 2 emits, 1 waves, 1 levels (widest 1), total 35 ns OVER BUDGET of 10 ns"
    );
    let text = frames.frame_at(13_000_000, |_| ()).to_string();
    assert_eq!(
        text,
        "frame 4 due at 13.000 ms: early by 12.997 ms, fan-out 0 ns (settle 0 ns, delivery 0 ns), \
         0 cells computed, 0 emits, 1 waves, 0 levels (widest 0), total 0 ns"
    );
}
