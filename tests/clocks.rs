//! Clocks, which are there without any feature.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use hyphae::{Clock, Error, ManualClock, MonotonicClock};

#[test]
fn a_manual_clock_stands_still_until_it_is_moved() {
    let clock = ManualClock::new();
    assert_eq!((clock.now_nanos(), clock.now_nanos()), (0, 0));
    clock.advance(Duration::from_nanos(7));
    clock.advance(Duration::ZERO);
    clock.set(7);
    assert_eq!(clock.now_nanos(), 7);
    clock.set(1_000);
    assert_eq!((clock.now_nanos(), clock.to_absolute_nanos(5)), (1_000, None));
}

#[test]
fn clones_are_the_same_clock() {
    let clock = ManualClock::at(100);
    let copy = clock.clone();
    copy.advance(Duration::from_micros(1));
    assert_eq!(clock.now_nanos(), 1_100);
    assert_eq!(ManualClock::at(100).now_nanos(), 100, "another one");
}

#[test]
fn a_manual_clock_refuses_to_go_back() {
    let clock = ManualClock::at(50);
    let error = clock.try_set(49).expect_err("it would go back");
    assert_eq!(error, Error::ClockBackwards { now_ns: 50, to_ns: 49 });
    assert_eq!(clock.now_nanos(), 50);
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| clock.set(0)));
    let payload = panic.expect_err("it would go back");
    let text = payload.downcast_ref::<String>().expect("a text");
    assert_eq!(text, &Error::ClockBackwards { now_ns: 50, to_ns: 0 }.to_string());
    assert!(text.contains("50 ns") && text.contains("0 ns"), "{text}");
    assert_eq!(clock.try_set(50), Ok(()));
}

#[test]
fn a_manual_clock_stops_at_its_end() {
    let clock = ManualClock::at(u64::MAX - 1);
    clock.advance(Duration::from_secs(1));
    assert_eq!(clock.now_nanos(), u64::MAX);
    clock.advance(Duration::MAX);
    assert_eq!(clock.now_nanos(), u64::MAX);
}

#[test]
fn sleeping_moves_a_manual_clock_forwards_only() {
    let clock = ManualClock::at(10);
    clock.sleep_until(30);
    clock.sleep_until(20);
    assert_eq!(clock.now_nanos(), 30);
}

/// Through a pointer, sleeping is that of the clock: the default of the trait would never return here.
#[test]
fn pointers_to_clocks_are_clocks() {
    let clock = ManualClock::new();
    let pointers: [Box<dyn Clock>; 3] = [
        Box::new(Rc::new(clock.clone())),
        Box::new(Box::new(clock.clone()) as Box<dyn Clock>),
        Box::new(Rc::new(clock.clone()) as Rc<dyn Clock>),
    ];
    for (pointer, until) in pointers.iter().zip([5, 6, 7]) {
        pointer.sleep_until(until);
        assert_eq!((pointer.now_nanos(), clock.now_nanos()), (until, until));
    }
    let shared: Arc<dyn Clock + Send + Sync> = Arc::new(MonotonicClock::new());
    assert!(shared.now_nanos() <= shared.now_nanos());
}

/// Readings of the monotonic clock compare between its copies and between threads.
#[test]
fn the_monotonic_clock_is_one() {
    let first = MonotonicClock::new().now_nanos();
    let second = std::thread::spawn(|| MonotonicClock::default().now_nanos());
    let second = second.join().expect("the thread ends");
    let third = MonotonicClock::new().now_nanos();
    assert!(first <= second && second <= third);
    assert_eq!(MonotonicClock::new().to_absolute_nanos(third), None);
}

#[test]
fn sleeping_lasts_until_the_time_is_reached() {
    let clock = MonotonicClock::new();
    let until = clock.now_nanos() + 1_000;
    clock.sleep_until(until);
    assert!(clock.now_nanos() >= until);
    clock.sleep_until(0);
}
