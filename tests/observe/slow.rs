//! Alerts about subscribers that take too long.

use std::time::Duration;

use hyphae::{Cell, Pipeline, SubscriptionId, Timing, set_timing};

use crate::support::{Log, Slot, caught};
use crate::tools::{Hand, times};

/// Alerts of a cell: which subscription, how long.
type Alerts = Log<(Option<SubscriptionId>, u64)>;

const LIMIT: u64 = 2_000;

fn alerts<M>(cell: &Cell<u64, M>) -> Alerts {
    let log = Alerts::new();
    cell.on_slow_subscriber(Duration::from_nanos(LIMIT), {
        let log = log.clone();
        move |alert| {
            assert_eq!(alert.threshold_ns, LIMIT);
            log.push((alert.subscriber_id, alert.duration_ns));
        }
    });
    log
}

#[test]
fn only_what_takes_longer_than_the_limit() {
    let hand = Hand::new();
    let cell = Cell::new(5_000);
    let guard = cell.watch(hand.call_for());
    let log = alerts(&cell);
    let _quick = cell.watch(hand.call(LIMIT));
    for ns in [0, LIMIT - 1, LIMIT, LIMIT + 1, 0, 9_000] {
        cell.set(ns);
    }
    let id = guard.id();
    assert!(id.is_some());
    log.check(&[(id, LIMIT + 1), (id, 9_000)]);
}

/// The alert comes right after the slow call, before the next subscriber has its own.
#[test]
fn right_after_the_call() {
    let hand = Hand::new();
    let (cell, log) = (Cell::new(0_u64), Log::new());
    let note = |what: &'static str| {
        let log = log.clone();
        move || log.push(what)
    };
    let (hand, first, second, alert) = (hand.clone(), note("first"), note("second"), note("alert"));
    let _guards = [
        cell.watch_changes(move |ns| {
            hand.work(*ns);
            first();
        }),
        cell.watch_changes(move |_| second()),
    ];
    cell.on_slow_subscriber(Duration::from_nanos(LIMIT), move |_| alert());
    cell.set(LIMIT + 1);
    log.check(&["first", "alert", "second"]);
}

#[test]
fn the_last_registration_wins() {
    let hand = Hand::new();
    let cell = Cell::new(0_u64);
    let _guard = cell.watch(hand.call_for());
    let first = alerts(&cell);
    let count = crate::support::Count::new();
    cell.on_slow_subscriber(Duration::from_nanos(100), {
        let count = count.clone();
        move |_| count.up()
    });
    cell.set(LIMIT + 1);
    cell.set(101);
    cell.set(100);
    assert_eq!((first.len(), count.get()), (0, 2));
}

/// The first call, with the value that is there, is not measured.
#[test]
fn the_first_call_is_no_matter() {
    let hand = Hand::new();
    let cell = Cell::new(9_000);
    let log = alerts(&cell);
    let _guard = cell.watch(hand.call_for());
    assert_eq!((log.len(), times(&cell)), (0, [0; 4]));
}

#[test]
fn derived_cells_and_ends() {
    let hand = Hand::new();
    let cell = Cell::new(0_u64);
    let derived = (&cell).map(|v| v * 2).materialize();
    let log = alerts(&derived);
    let guard = derived.subscribe_changes(hand.hear(LIMIT + 7));
    cell.set(1);
    cell.complete();
    log.check(&[(guard.id(), LIMIT + 7), (guard.id(), LIMIT + 7)]);
}

#[test]
fn a_subscriber_that_panics_is_slow_all_the_same() {
    let hand = Hand::new();
    let cell = Cell::new(0_u64);
    let guard = cell.watch_changes({
        let hand = hand.clone();
        move |ns| {
            hand.work(*ns);
            panic!("after a long time");
        }
    });
    let log = alerts(&cell);
    assert_eq!(caught(|| cell.set(8_000)).as_deref(), Some("after a long time"));
    log.check(&[(guard.id(), 8_000)]);
}

/// The panic of an alert reaches the caller of the write, after everybody was called.
#[test]
fn an_alert_that_panics() {
    let hand = Hand::new();
    let (cell, log) = (Cell::new(0_u64), Log::new());
    let _guards = (cell.watch(hand.call_for()), log.on(&cell));
    cell.on_slow_subscriber(Duration::from_nanos(LIMIT), |_| panic!("enough"));
    assert_eq!(caught(|| cell.set(3_000)).as_deref(), Some("enough"));
    log.check(&[0, 3_000]);
    assert_eq!(caught(|| cell.set(1)), None);
    assert_eq!(caught(|| cell.set(3_000)).as_deref(), Some("enough"), "and again");
}

/// The time of an alert is nobody's.
#[test]
fn an_alert_that_takes_long_is_not_the_next_subscriber_s() {
    let hand = Hand::timing_all();
    let cell = Cell::new(0_u64);
    let _guards = [cell.watch_changes(hand.call_for()), cell.watch_changes(hand.call(1))];
    let log = Log::new();
    cell.on_slow_subscriber(Duration::from_nanos(LIMIT), {
        let log = log.clone();
        move |alert| {
            hand.work(1_000_000);
            log.push(alert.duration_ns);
        }
    });
    cell.set(LIMIT + 1);
    log.check(&[LIMIT + 1]);
    assert_eq!(times(&cell), [0, LIMIT + 2, LIMIT + 2, LIMIT + 1]);
}

#[test]
fn a_subscriber_that_ends_itself_has_no_id_any_more() {
    let hand = Hand::new();
    let (cell, own) = (Cell::new(0_u64), Slot::new());
    let log = alerts(&cell);
    own.put(cell.watch_changes({
        let own = own.clone();
        move |ns| {
            hand.work(*ns);
            own.take();
        }
    }));
    cell.set(7_000);
    cell.set(7_000);
    log.check(&[(None, 7_000)]);
}

/// Nor has one that put another in its place: that one was not called.
#[test]
fn a_subscriber_that_replaces_itself_is_not_taken_for_the_new_one() {
    let hand = Hand::new();
    let (cell, own) = (Cell::new(0_u64), Slot::new());
    let log = alerts(&cell);
    let replace = {
        let (own, cell) = (own.clone(), cell.downgrade());
        move |ns: &u64| {
            hand.work(*ns);
            own.take();
            own.put(cell.upgrade().expect("the test holds it").watch_changes(|_| ()));
        }
    };
    own.put(cell.watch_changes(replace));
    cell.set(7_000);
    cell.set(7_000);
    log.check(&[(None, 7_000)]);
    own.take();
}

/// A callback may let its cell go; there is nobody to tell then.
#[test]
fn a_cell_that_dies_in_a_slow_call() {
    let hand = Hand::new();
    let (cell, own) = (Cell::new(0_u64), Slot::new());
    let (weak, log) = (cell.downgrade(), alerts(&cell));
    let guard = cell.watch_changes({
        let own = own.clone();
        move |ns| {
            hand.work(*ns);
            own.take();
        }
    });
    own.put((cell.clone(), guard));
    let writer = cell;
    writer.set(7_000);
    log.check(&[(None, 7_000)]);
    drop(writer);
    assert!(weak.upgrade().is_none());
}

/// What an alert holds goes with its cell.
#[test]
fn an_alert_is_dropped_with_its_cell_or_its_successor() {
    let (cell, dropped) = (Cell::new(0_u64), crate::support::Count::new());
    let holding = || {
        let token = dropped.token();
        move |_| {
            let _held = &token;
        }
    };
    cell.on_slow_subscriber(Duration::ZERO, holding());
    assert_eq!(dropped.get(), 0);
    cell.on_slow_subscriber(Duration::ZERO, holding());
    assert_eq!(dropped.get(), 1);
    drop(cell);
    assert_eq!(dropped.get(), 2);
}

/// An alert may call anything: write the cell, register another alert, unsubscribe the slow one.
#[test]
fn an_alert_may_call_the_library() {
    let hand = Hand::new();
    let (cell, guard) = (Cell::new(0_u64), Slot::new());
    let log = Log::new();
    guard.put(cell.watch_changes(hand.call_for()));
    let _values = log.on(&cell);
    cell.on_slow_subscriber(Duration::from_nanos(LIMIT), {
        let (cell, guard) = (cell.downgrade(), guard.clone());
        move |alert| {
            let cell = cell.upgrade().expect("the test holds it");
            cell.set(1);
            alert.subscriber_id.expect("it lives").unsubscribe();
            cell.on_slow_subscriber(Duration::ZERO, |_| panic!("nobody is slow any more"));
            drop(guard.take());
        }
    });
    cell.set(5_000);
    log.check(&[0, 5_000, 1]);
    assert_eq!(cell.callbacks(), 1);
}

/// Timed waves and alerts measure the same calls.
#[test]
fn alerts_beside_timed_waves() {
    let hand = Hand::new();
    let cell = Cell::new(0_u64);
    let _guard = cell.watch_changes(hand.call_for());
    let log = alerts(&cell);
    for timing in [Timing::Off, Timing::EveryWave, Timing::OneWaveIn(2), Timing::Off] {
        set_timing(timing);
        cell.set(3_000);
    }
    assert_eq!(log.take().iter().map(|alert| alert.1).collect::<Vec<_>>(), [3_000; 4]);
    assert_eq!(times(&cell), [0, 12_000, 3_000, 3_000]);
}
