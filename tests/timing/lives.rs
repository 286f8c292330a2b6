//! Timers and the lives of their cells; waves that hold values from operators that wait.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use hyphae::{
    Cell, Edges, IntervalTick, ManualClock, Pipeline, Signal, batch, from_iter_with_delay,
    interval, interval_source, interval_source_with_elapsed, interval_with_elapsed, no_coalesce,
    timers,
};

const MS: u64 = 1_000_000;

fn manual() -> ManualClock {
    let clock = ManualClock::new();
    timers::set_clock(clock.clone());
    clock
}

#[test]
fn a_timer_goes_with_its_cell_also_when_that_is_disposed_of() {
    let clock = manual();
    let source = Cell::new(0);
    let (delayed, ticks) =
        (source.delay(Duration::from_millis(5)), interval(Duration::from_millis(2)));
    source.set(1);
    assert_eq!(timers::next_deadline_ns(), Some(2 * MS));
    drop(ticks);
    assert_eq!(timers::next_deadline_ns(), Some(5 * MS));
    let after = (&delayed).map(|n| n + 1).materialize();
    delayed.dispose();
    assert_eq!(timers::next_deadline_ns(), None);
    timers::advance_to(&clock, 10 * MS);
    assert!(after.is_complete());
}

#[test]
fn what_passes_at_once_is_part_of_the_same_wave() {
    let clock = manual();
    let source = Cell::new(0);
    let throttled = source.throttle(Duration::from_millis(10));
    let both = source.join(&throttled);
    let seen = Rc::new(RefCell::new(vec![]));
    let log = seen.clone();
    let guard = both.watch_changes(move |both| log.borrow_mut().push(*both));
    source.set(1);
    source.set(2);
    timers::advance_to(&clock, 10 * MS);
    source.set(3);
    assert_eq!(*seen.borrow(), [(1, 1), (2, 1), (3, 3)]);
    drop(guard);
}

#[test]
fn a_delay_keeps_each_event_of_a_batch() {
    let clock = manual();
    let source = no_coalesce(|| Cell::new(0));
    let delayed = source.delay(Duration::from_millis(1));
    let sums = (&delayed).scan(0, |sum, n| sum + n).materialize();
    batch(|| (1..=3).for_each(|n| source.set(n)));
    timers::advance_to(&clock, MS);
    assert_eq!((delayed.get(), sums.get()), (3, 6));
}

#[test]
fn construction_opens_no_pause_and_gives_the_first_value_once() {
    let clock = manual();
    let source = Cell::new(7);
    let cells = [
        source.throttle(Duration::from_millis(5)),
        source.debounce(Duration::from_millis(5)),
        source.delay(Duration::from_millis(5)),
        source.audit(Duration::from_millis(5)),
    ];
    let seen = Rc::new(RefCell::new(vec![]));
    let guards: Vec<_> = cells
        .iter()
        .map(|cell| {
            let log = seen.clone();
            cell.watch_changes(move |n| log.borrow_mut().push(*n))
        })
        .collect();
    timers::advance_to(&clock, 20 * MS);
    assert!(seen.borrow().is_empty());
    source.set(8);
    assert_eq!(*seen.borrow(), [8], "the throttle's");
    timers::advance_to(&clock, 40 * MS);
    assert_eq!(*seen.borrow(), [8; 4]);
    drop(guards);
}

#[test]
fn an_ended_input_and_a_late_one() {
    let clock = manual();
    let source = Cell::new(1);
    source.complete();
    let (delayed, debounced) =
        (source.delay(Duration::from_millis(5)), source.debounce(Duration::from_millis(5)));
    assert!(debounced.is_complete() && !delayed.is_complete());
    timers::advance_to(&clock, 5 * MS);
    assert!(delayed.is_complete());
    let failed = Cell::new(1);
    failed.fail("gone");
    assert!(failed.delay(Duration::from_millis(5)).is_error());
}

#[test]
fn series_of_values() {
    let clock = manual();
    let elapsed = interval_with_elapsed(Duration::from_millis(3));
    let items = from_iter_with_delay(1..=3, Duration::from_millis(2)).expect("there are items");
    assert!(from_iter_with_delay(Vec::<u8>::new(), Duration::from_millis(2)).is_none());
    let seen = Rc::new(RefCell::new(vec![]));
    let log = seen.clone();
    let guard = items.watch(move |n| log.borrow_mut().push((timers::now_ns() / MS, *n)));
    timers::advance_to(&clock, 4 * MS);
    assert_eq!(*seen.borrow(), [(0, 1), (2, 2), (4, 3)]);
    assert!(items.is_complete());
    assert_eq!(elapsed.get(), IntervalTick { tick: 1, elapsed: Duration::from_millis(3) });
    drop((guard, items, elapsed));
    assert_eq!(timers::next_deadline_ns(), None);
}

#[test]
fn a_source_that_ticks_keeps_its_phase_and_ends_with_its_handles() {
    let clock = manual();
    let ticks = interval_source_with_elapsed(Duration::from_millis(3)).with_name("ticks");
    let seen = Rc::new(RefCell::new(vec![]));
    let log = seen.clone();
    let guard = ticks.subscribe(move |signal| {
        if let Signal::Value(tick) = signal {
            log.borrow_mut().push((tick.tick, tick.elapsed.as_millis()));
        }
    });
    timers::advance_to(&clock, 7 * MS);
    clock.set(100 * MS);
    assert_eq!((timers::poll(), timers::next_deadline_ns()), (1, Some(102 * MS)));
    assert_eq!(*seen.borrow(), [(1, 3), (2, 6), (33, 100)]);
    let ended = interval_source(Duration::from_millis(1));
    ended.complete();
    timers::advance_to(&clock, 102 * MS);
    assert_eq!((seen.borrow().len(), timers::waiting()), (4, 1), "the one that has ended stopped");
    drop((guard, ticks));
    assert_eq!(timers::waiting(), 0);
}

#[test]
#[should_panic(expected = "at least 1 ns")]
fn an_interval_needs_a_period() {
    drop(interval(Duration::ZERO));
}

/// What is due is given before what comes with it, and that before the end.
#[test]
fn a_flush_a_value_and_a_completion_in_one_batch() {
    let source = Cell::new(0);
    let (shown, waiting) = source.debounce_with(Duration::from_millis(1), Edges::Trailing);
    let told = Rc::new(RefCell::new(vec![]));
    let log = told.clone();
    let _guard = shown.subscribe_changes(move |signal| {
        log.borrow_mut().push(match signal {
            Signal::Value(value) => Some(**value),
            _ => None,
        });
    });
    source.set(1);
    batch(|| {
        waiting.flush();
        source.set(2);
        source.complete();
    });
    assert_eq!(*told.borrow(), [Some(1), Some(2), None]);
    assert_eq!(timers::waiting(), 0);
}

/// Feedback through an operator that waits for nothing takes a nanosecond a turn, so that driving the timers comes to an end.
#[test]
fn feedback_through_a_wait_of_nothing_comes_back_later() {
    let clock = manual();
    let source = Cell::new(0);
    let delayed = source.delay(Duration::ZERO);
    let again = source.clone();
    let _guard = delayed.watch_changes(move |n| again.set(n + 1));
    source.set(1);
    assert_eq!((delayed.get(), timers::poll(), delayed.get()), (0, 1, 1));
    assert_eq!((timers::poll(), timers::next_deadline_ns()), (0, Some(1)));
    timers::advance_to(&clock, 5);
    assert_eq!(delayed.get(), 6);
}
