//! Driving the timers: order, batches, panics, callbacks, clocks that jump or are changed.

use std::cell::{Cell as Count, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;

use hyphae::{Cell, Clock, Error, ManualClock, MonotonicClock, Reentry, interval, timers};

type Log = Rc<RefCell<Vec<&'static str>>>;

fn after(ms: u64, log: &Log, name: &'static str) -> timers::Timer {
    let log = log.clone();
    timers::after(Duration::from_millis(ms), move || log.borrow_mut().push(name))
}

fn manual() -> ManualClock {
    let clock = ManualClock::new();
    timers::set_clock(clock.clone());
    clock
}

#[test]
fn by_deadline_then_in_the_order_of_setting() {
    let (clock, log) = (manual(), Log::default());
    let late = after(3, &log, "late");
    let (first, second) = (after(2, &log, "first"), after(2, &log, "second"));
    let gone = after(1, &log, "cancelled");
    drop(gone);
    after(4, &log, "detached").detach();
    clock.advance(Duration::from_millis(10));
    assert_eq!(timers::poll(), 4);
    assert_eq!(*log.borrow(), ["first", "second", "late", "detached"]);
    assert!(!late.is_waiting() && !first.is_waiting() && !second.is_waiting());
    assert_eq!((timers::poll(), timers::next_deadline_ns()), (0, None));
}

#[test]
fn what_is_due_together_is_one_batch() {
    let clock = manual();
    let (a, b) = (Cell::new(0), Cell::new(0));
    let both = a.join(&b);
    let seen = Rc::new(RefCell::new(vec![]));
    let log = seen.clone();
    let guard = both.watch_changes(move |both| log.borrow_mut().push(*both));
    let set = |cell: &Cell<i32>, ms, value| {
        let cell = cell.clone();
        timers::after(Duration::from_millis(ms), move || cell.set(value))
    };
    let set = [set(&a, 1, 1), set(&b, 1, 1), set(&a, 2, 2)];
    clock.advance(Duration::from_millis(5));
    assert_eq!(timers::poll(), 3);
    assert_eq!(*seen.borrow(), [(1, 1), (2, 1)]);
    drop((guard, set));
}

#[test]
fn a_timer_may_set_timers_and_ends() {
    let (clock, count) = (manual(), Rc::new(Count::new(0)));
    fn again(count: &Rc<Count<u32>>) {
        let next = count.clone();
        let set = timers::after(Duration::ZERO, move || {
            next.set(next.get() + 1);
            again(&next);
        });
        set.detach();
    }
    again(&count);
    assert_eq!((timers::poll(), count.get()), (1, 1), "the next is due a nanosecond later");
    assert_eq!(timers::poll(), 0);
    timers::advance_to(&clock, 5);
    assert_eq!(count.get(), 6);
}

#[test]
fn a_panic_leaves_the_others_for_later() {
    let (clock, log) = (manual(), Log::default());
    let bad = timers::after(Duration::from_millis(1), || panic!("timer"));
    let good = after(1, &log, "good");
    clock.advance(Duration::from_millis(1));
    assert!(catch_unwind(AssertUnwindSafe(timers::poll)).is_err());
    assert!(log.borrow().is_empty() && good.is_waiting());
    assert_eq!(timers::poll(), 1);
    assert_eq!(*log.borrow(), ["good"]);
    drop(bad);
}

#[test]
fn driving_in_a_callback_is_an_error() {
    let clock = manual();
    let cell = Cell::new(0);
    let seen = Rc::new(RefCell::new(vec![]));
    let log = seen.clone();
    let guard = cell.watch(move |_| {
        if let Err(Error::Reentrant { call: Reentry::Timers, .. }) = timers::try_poll() {
            log.borrow_mut().push("refused");
        }
    });
    let inside = timers::after(Duration::from_millis(1), || assert!(timers::try_poll().is_err()));
    timers::advance_to(&clock, 1_000_000);
    assert_eq!(*seen.borrow(), ["refused"]);
    assert!(!inside.is_waiting());
    let text = hyphae::batch(|| timers::try_poll()).expect_err("in a batch").to_string();
    assert!(text.contains("clocks.rs") && text.contains("own loop"), "{text}");
    drop(guard);
}

#[test]
fn a_jump_of_the_clock_brings_no_burst_and_keeps_the_phase() {
    let clock = manual();
    let ticks = interval(Duration::from_millis(10));
    let seen = Rc::new(RefCell::new(vec![]));
    let log = seen.clone();
    let guard = ticks.watch(move |tick| log.borrow_mut().push(*tick));
    timers::advance_to(&clock, 21_000_000);
    clock.advance(Duration::from_secs(3600));
    assert_eq!(timers::poll(), 1);
    assert_eq!(timers::next_deadline_ns(), Some(3_600_030_000_000));
    timers::advance_to(&clock, 3_600_030_000_000);
    assert_eq!(*seen.borrow(), [0, 1, 2, 360_002, 360_003]);
    drop(guard);
}

#[test]
fn another_clock_keeps_the_time_that_is_left() {
    let (clock, log) = (manual(), Log::default());
    let timer = after(10, &log, "rung");
    clock.advance(Duration::from_millis(4));
    let other = ManualClock::at(1_000_000_000);
    timers::set_clock(other.clone());
    assert_eq!(timers::next_deadline_ns(), Some(1_006_000_000));
    timers::advance_to(&other, 1_006_000_000);
    assert_eq!(*log.borrow(), ["rung"]);
    drop(timer);
}

#[test]
fn running_for_a_time_sleeps_on_a_real_clock_and_moves_a_manual_one() {
    let log = Log::default();
    let (start, timer) = (MonotonicClock::new().now_nanos(), after(1, &log, "real"));
    timers::run_for(Duration::from_millis(2));
    assert_eq!(*log.borrow(), ["real"]);
    assert!(MonotonicClock::new().now_nanos() >= start + 2_000_000);
    let clock = manual();
    let manual = after(3_600_000, &log, "manual");
    timers::run_for(Duration::from_secs(7200));
    assert_eq!((log.borrow().len(), clock.now_nanos()), (2, 7_200_000_000_000));
    drop((timer, manual));
}
