//! Ticks that call a closure.

use std::cell::{Cell as Flag, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;

use hyphae::{
    Cell, Clock, IntervalTickSource, ManualClock, Pipeline, Tick, TickGuard, TickSource, timers,
};

type Ticks = Rc<RefCell<Vec<Tick>>>;

fn every(ns: u64) -> IntervalTickSource {
    IntervalTickSource::new(Duration::from_nanos(ns))
}

fn record(source: &impl TickSource) -> (Ticks, TickGuard) {
    let ticks = Ticks::default();
    let log = ticks.clone();
    (ticks, source.on_tick(Box::new(move |tick| log.borrow_mut().push(tick))))
}

fn tick(index: u64, clock_nanos: u64) -> Tick {
    Tick { index, clock_nanos, absolute_nanos: None }
}

fn clock_at(at_ns: u64) -> ManualClock {
    let clock = ManualClock::at(at_ns);
    timers::set_clock(clock.clone());
    clock
}

#[test]
fn ticks_keep_their_phase_and_missed_ones_are_not_made_up_for() {
    let clock = clock_at(7);
    let source = every(10).precise();
    let (ticks, guard) = record(&source);
    timers::advance_to(&clock, 27);
    assert_eq!(*ticks.borrow(), [tick(1, 17), tick(2, 27)]);
    let (late, _late_guard) = record(&source);
    clock.set(58);
    timers::poll();
    assert_eq!(ticks.borrow()[2..], [tick(5, 57)]);
    assert_eq!(*late.borrow(), [tick(3, 57)], "each listener counts from its own start");
    drop(guard);
    timers::advance_to(&clock, 70);
    assert_eq!((ticks.borrow().len(), late.borrow().len()), (3, 2));
}

/// A clock that is ahead of another, and knows the network's time.
struct Ahead(ManualClock);

impl Clock for Ahead {
    fn now_nanos(&self) -> u64 {
        self.0.now_nanos() + 1
    }

    fn to_absolute_nanos(&self, clock_nanos: u64) -> Option<u64> {
        Some(clock_nanos + 1_000)
    }
}

#[test]
fn another_clock_says_what_a_tick_tells() {
    let clock = clock_at(0);
    let (ticks, _guard) = record(&every(10).with_clock(Ahead(clock.clone())));
    timers::advance_to(&clock, 10);
    let expected = Tick { index: 1, clock_nanos: 11, absolute_nanos: Some(1_011) };
    assert_eq!(*ticks.borrow(), [expected]);
}

#[test]
fn a_listener_may_stop_itself_or_panic() {
    let clock = clock_at(0);
    let (guard, calls) = (Rc::new(RefCell::new(None)), Rc::new(Flag::new(0)));
    let (own, count) = (guard.clone(), calls.clone());
    let stops = every(10).on_tick(Box::new(move |_| {
        count.set(count.get() + 1);
        drop(own.take());
    }));
    guard.replace(Some(stops));
    let panics = Rc::new(Flag::new(0));
    let count = panics.clone();
    let _guard = every(10).on_tick(Box::new(move |_| {
        count.set(count.get() + 1);
        panic!("no tick");
    }));
    for at_ns in [10, 20] {
        let polled = catch_unwind(AssertUnwindSafe(|| timers::advance_to(&clock, at_ns)));
        assert!(polled.is_err());
    }
    assert_eq!((calls.get(), panics.get()), (1, 2));
}

#[test]
fn what_a_listener_writes_is_one_wave() {
    let clock = clock_at(0);
    let (a, b) = (Cell::new(0), Cell::new(0));
    let runs = Rc::new(Flag::new(0));
    let count = runs.clone();
    let sum = a.join(&b).map(move |(a, b)| {
        count.set(count.get() + 1);
        a + b
    });
    let sum = sum.materialize();
    let _guard = every(10).on_tick(Box::new(move |tick| {
        a.set(tick.index);
        b.set(tick.index);
    }));
    timers::advance_to(&clock, 20);
    assert_eq!((sum.get(), runs.get()), (4, 3));
}

/// A source that is driven by hand, as by a display.
#[derive(Default)]
struct Display(Rc<RefCell<Option<Box<dyn FnMut(Tick)>>>>);

struct Unplug(Rc<RefCell<Option<Box<dyn FnMut(Tick)>>>>);

impl Drop for Unplug {
    fn drop(&mut self) {
        self.0.take();
    }
}

impl TickSource for Display {
    fn on_tick(&self, f: Box<dyn FnMut(Tick)>) -> TickGuard {
        self.0.replace(Some(f));
        TickGuard::new(Unplug(self.0.clone()))
    }
}

#[test]
fn a_source_of_ones_own() {
    let display = Display::default();
    let (ticks, guard) = record(&display);
    let refresh = |index| display.0.borrow_mut().iter_mut().for_each(|f| f(tick(index, index)));
    refresh(1);
    drop(guard);
    refresh(2);
    assert_eq!(*ticks.borrow(), [tick(1, 1)]);
}

#[test]
#[should_panic(expected = "at least 1 ns")]
fn a_period_of_nothing_is_refused() {
    drop(every(0));
}
