//! Metrics of one cell, as hyphae 1.3.3 has them.

use std::time::Duration;

use hyphae::{Cell, Pipeline, Timing, batch, set_timing};

use crate::tools::{Hand, times};

/// What the older crate's own test of metrics goes through, on a clock of the test's own.
#[test]
fn as_in_1_3_3() {
    let hand = Hand::new();
    let cell = Cell::with_metrics(0_u64);
    let metrics = cell.metrics().expect("every cell has them");
    assert_eq!(metrics.notify_count(), 0);
    cell.set(0);
    assert_eq!(metrics.notify_count(), 1);
    cell.set(0);
    cell.set(0);
    assert_eq!((metrics.notify_count(), metrics.subscriber_count()), (3, 0));
    let first = cell.watch_changes(hand.call_for());
    assert_eq!(metrics.subscriber_count(), 1);
    let second = cell.watch_changes(|_| ());
    assert_eq!(metrics.subscriber_count(), 2);
    drop(second);
    assert_eq!(metrics.subscriber_count(), 1);
    assert!(!cell.is_backed_up());
    cell.set(5_000_000);
    assert_eq!(metrics.slowest_subscriber_ns(), 5_000_000);
    assert_eq!(metrics.last_notify_time_ns(), 5_000_000);
    assert!(cell.is_backed_up());
    assert_eq!((cell.set_unless_backed_up(2), cell.get()), (Err(2), 5_000_000));
    metrics.reset_timing();
    assert_eq!((metrics.notify_count(), metrics.slowest_subscriber_ns()), (0, 0));
    assert_eq!((metrics.last_notify_time_ns(), metrics.subscriber_count()), (0, 1));
    drop(first);
    assert_eq!(metrics.subscriber_count(), 0);
}

#[test]
fn times_of_a_metered_cell_without_timed_waves() {
    let hand = Hand::new();
    let cell = Cell::with_metrics(0_u64);
    let metrics = cell.metrics().expect("every cell has them");
    let derived = (&cell).map(hand.of(100)).materialize();
    let _guards = [cell.watch_changes(hand.call_for()), cell.watch_changes(hand.call(3))];
    let _unmeasured = derived.watch_changes(hand.call(1_000));
    cell.set(10);
    cell.set(2);
    assert_eq!(metrics.total_notify_time_ns(), 13 + 5);
    assert_eq!((metrics.last_notify_time_ns(), metrics.avg_notify_time_ns()), (5, 9));
    assert_eq!(metrics.slowest_subscriber_ns(), 10);
    assert_eq!((times(&cell), times(&derived)), ([0, 18, 5, 10], [0; 4]));
    metrics.reset_timing();
    assert_eq!(metrics.avg_notify_time_ns(), 0, "no division by none");
}

/// Cells that were not made with metrics count, and have times when waves are timed.
#[test]
fn every_cell_has_metrics() {
    let hand = Hand::new();
    let cell = Cell::new(0_u64);
    let metrics = cell.metrics().expect("every cell has them");
    let _guard = cell.watch_changes(hand.call(7));
    cell.set(1);
    assert_eq!((metrics.notify_count(), metrics.last_notify_time_ns()), (1, 0));
    assert!(!cell.is_backed_up_threshold(Duration::ZERO), "nothing was measured");
    set_timing(Timing::EveryWave);
    cell.set(2);
    assert_eq!((metrics.notify_count(), metrics.last_notify_time_ns()), (2, 7));
    assert!(cell.is_backed_up_threshold(Duration::from_nanos(6)));
    set_timing(Timing::Off);
    cell.set(3);
    assert_eq!((metrics.notify_count(), metrics.total_notify_time_ns()), (3, 7));
    let derived = (&cell).map(|v| v + 1).materialize();
    assert_eq!(derived.metrics().map(|metrics| metrics.notify_count()), Some(0));
}

#[test]
fn backed_up_is_strictly_more_than_the_limit() {
    let hand = Hand::new();
    let cell = Cell::with_metrics(0_u64);
    let _guard = cell.watch_changes(hand.call_for());
    for (ns, backed_up) in [(999_999, false), (1_000_000, false), (1_000_001, true), (0, false)] {
        cell.set(ns);
        assert_eq!(cell.is_backed_up(), backed_up, "{ns} ns");
        assert_eq!(cell.is_backed_up_threshold(Duration::from_millis(1)), backed_up);
    }
}

#[test]
fn a_write_is_refused_while_the_last_round_was_too_slow() {
    let hand = Hand::new();
    let cell = Cell::with_metrics(0_u64);
    let _guard = cell.watch_changes(hand.call_for());
    assert_eq!(cell.set_unless_backed_up(2_000_000), Ok(()));
    assert_eq!(cell.set_unless_backed_up(1), Err(1));
    assert_eq!(cell.set_unless_slower(Duration::from_millis(2), 3_000_000), Ok(()));
    assert_eq!(cell.set_unless_slower(Duration::from_millis(2), 5), Err(5));
    assert_eq!(cell.get(), 3_000_000);
    cell.set(10);
    assert_eq!((cell.set_unless_backed_up(1), cell.get()), (Ok(()), 1));
}

/// The last round, not the last wave: two events of a batch are measured apart, a value and an end together.
#[test]
fn the_last_round() {
    let hand = Hand::new();
    let cell = Cell::with_metrics(0_u64).no_coalesce();
    let metrics = cell.metrics().expect("every cell has them");
    let _guard = cell.watch_changes(hand.call_for());
    batch(|| [100, 20].map(|ns| cell.set(ns)));
    assert_eq!((metrics.total_notify_time_ns(), metrics.last_notify_time_ns()), (120, 20));
    let plain = Cell::with_metrics(0_u64);
    let ends = plain.subscribe_changes(hand.hear(4));
    batch(|| {
        plain.set(1);
        plain.complete();
    });
    assert_eq!(plain.metrics().map(|metrics| metrics.last_notify_time_ns()), Some(8));
    drop(ends);
}

#[test]
fn metrics_do_not_keep_a_cell_alive() {
    let cell = Cell::with_metrics(1);
    let (metrics, weak) = (cell.metrics().expect("it lives"), cell.downgrade());
    cell.set(2);
    assert_eq!(metrics.notify_count(), 1);
    drop(cell);
    assert!(weak.upgrade().is_none());
    // The next cell takes its place, and is another one.
    let next = Cell::with_metrics(1);
    next.set(2);
    next.set(3);
    assert_eq!((metrics.notify_count(), metrics.subscriber_count()), (0, 0));
    metrics.reset_timing();
    assert_eq!(next.metrics().map(|metrics| metrics.notify_count()), Some(2));
}

/// Two readers of one cell's counters see the same ones.
#[test]
fn metrics_are_read_when_asked() {
    let cell = Cell::with_metrics(1);
    let [first, second] = [(); 2].map(|()| cell.metrics().expect("it lives"));
    cell.set(2);
    first.reset_timing();
    cell.set(3);
    assert_eq!((first.notify_count(), second.clone().notify_count()), (1, 1));
}
