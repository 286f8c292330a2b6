//! Notifies, deliveries, cut-offs, subscribers and guards on graphs without events.

use hyphae::{Cell, Pipeline, batch, hot_traced_cells};

use crate::tools::{counts, trace};

#[test]
fn a_chain() {
    let a = Cell::new(1);
    let b = (&a).map(|v| v + 1).materialize();
    let c = (&b).map(|v| v * 2).materialize();
    let _guard = c.watch(|_| ());
    for cell in [&a.clone().lock(), &b, &c] {
        assert_eq!(counts(cell), (0, 0, 0), "neither construction nor the first delivery counts");
    }
    a.set(2);
    a.set(2);
    a.set(3);
    assert_eq!([counts(&a), counts(&b.clone()), counts(&c)], [(3, 0, 0), (3, 0, 0), (3, 3, 0)]);
    let subscribers = [trace(&a), trace(&b), trace(&c)].map(|cell| cell.subscriber_count);
    assert_eq!(subscribers, [1, 1, 1], "a dependent counts as one");
}

#[test]
fn a_diamond() {
    let a = Cell::new(1);
    let b = (&a).map(|v| v + 1).materialize();
    let c = (&a).map(|v| v * 10).materialize();
    let d = b.join(&c);
    let _guards = [d.watch(|_| ()), d.watch(|_| ())];
    (2..7).for_each(|v| a.set(v));
    assert_eq!([counts(&a), counts(&b.lock()), counts(&c.lock())], [(5, 0, 0); 3]);
    assert_eq!(counts(&d), (5, 10, 0), "two calls for each of five emits");
    assert_eq!((trace(&a).subscriber_count, trace(&d).subscriber_count), (2, 2));
    assert_eq!(hot_traced_cells().len(), 4);
}

#[test]
fn a_fan() {
    let a = Cell::new(0);
    let arms: Vec<_> = (0..10).map(|i| (&a).map(move |v| v + i).materialize()).collect();
    let guards: Vec<_> = (0..7).map(|_| a.watch(|_| ())).collect();
    let last = arms[9].watch(|_| ());
    a.set(1);
    a.update(|v| *v += 1);
    a.modify(|v| *v += 1);
    assert_eq!((counts(&a), trace(&a).subscriber_count), ((3, 21, 0), 17));
    assert!(arms[..9].iter().all(|arm| counts(arm) == (3, 0, 0)));
    assert_eq!((counts(&arms[9]), trace(&arms[9]).subscriber_count), ((3, 3, 0), 1));
    drop((guards, last));
    a.set(5);
    assert_eq!((counts(&a), trace(&a).subscriber_count), ((4, 21, 0), 10));
    assert_eq!((counts(&arms[9]), trace(&arms[9]).subscriber_count), ((4, 3, 0), 0));
}

#[test]
fn a_turn_that_a_lazy_cell_puts_off_counts_as_nothing() {
    let a = Cell::new(0);
    let lazy = (&a).map(|v| v + 1).materialize_lazy();
    (1..=5).for_each(|v| a.set(v));
    assert_eq!(counts(&lazy), (0, 0, 0));
    assert_eq!(lazy.get(), 6);
    assert_eq!(counts(&lazy), (1, 0, 0));
}

#[test]
fn a_filter_and_an_equal_value_are_cut_off() {
    let a = Cell::new(0);
    let even = (&a).filter(|v| v % 2 == 0).materialize();
    let tens = (&a).map(|v| v / 10).deduped().materialize();
    let below = (&tens).map(|v| v + 1).materialize();
    let _guard = (even.watch(|_| ()), below.watch(|_| ()));
    (1..=25).for_each(|v| a.set(v));
    assert_eq!(counts(&a), (25, 0, 0));
    assert_eq!(counts(&even), (12, 12, 13));
    assert_eq!(counts(&tens), (2, 0, 23), "10 and 20");
    assert_eq!(counts(&below), (2, 2, 0), "what is not computed is not cut off");
}

#[test]
fn stages_of_one_pipeline_are_one_cell() {
    let a = Cell::new(0);
    let sum = (&a).map(|v| v + 1).filter(|v| v % 3 != 0).scan(0, |sum, v| sum + v).materialize();
    a.set(1);
    a.set(2);
    a.set(3);
    assert_eq!((counts(&sum), hot_traced_cells().len()), ((2, 0, 1), 2));
    assert_eq!(trace(&sum).operator, "scan");
}

#[test]
fn a_cell_with_a_cutoff_compares_once_a_wave() {
    let a = Cell::with_cutoff(1, i32::eq);
    let b = (&a).map(|v| v + 1).materialize();
    let _guard = a.watch(|_| ());
    a.set(1);
    assert_eq!((counts(&a), counts(&b)), ((0, 0, 1), (0, 0, 0)));
    a.set(2);
    assert_eq!((counts(&a), counts(&b)), ((1, 1, 1), (1, 0, 0)));
    batch(|| {
        a.set(3);
        a.set(2);
    });
    assert_eq!((counts(&a), counts(&b)), ((1, 1, 2), (1, 0, 0)), "set and set back: no change");
    batch(|| {
        a.set(3);
        a.set(4);
    });
    assert_eq!((counts(&a), counts(&b)), ((2, 2, 2), (2, 0, 0)));
}

/// A write that someone has seen counts as a change at once; the turn that finds nothing left to compare is no cut-off.
#[test]
fn a_write_that_was_seen_is_a_notify_and_no_cut_off() {
    let a = Cell::with_cutoff(1, i32::eq);
    let mut late = Vec::new();
    batch(|| {
        a.set(2);
        // Comes from user code, where nothing can be compared.
        Cell::new(0).update(|_| late.push(a.watch(|_| ())));
    });
    assert_eq!(counts(&a), (1, 0, 0), "the subscriber has seen the value when it joined");
    a.modify(|v| *v = 2);
    assert_eq!(counts(&a), (2, 1, 0), "what works in place is not compared");
    batch(|| {
        a.set(3);
        a.modify(|v| *v = 4);
    });
    assert_eq!(counts(&a), (3, 2, 0));
}

#[test]
fn a_batch_is_one_notify() {
    let (a, b) = (Cell::new(0), Cell::new(0));
    let both = a.join(&b);
    let _guard = both.watch(|_| ());
    batch(|| {
        (0..10).for_each(|v| a.set(v));
        batch(|| b.set(1));
    });
    assert_eq!([counts(&a), counts(&b)], [(1, 0, 0), (1, 0, 0)]);
    assert_eq!(counts(&both), (1, 1, 0));
    batch(|| ());
    assert_eq!(counts(&both), (1, 1, 0));
}

/// A read in a batch computes; a round has one notify all the same, and each run that gave nothing is cut off.
#[test]
fn reads_in_a_batch_do_not_count_twice() {
    let a = Cell::new(0);
    let b = (&a).map(|v| v * 2).materialize();
    let even = (&a).map(|v| v % 2).deduped().materialize();
    let _guards = (b.watch(|_| ()), even.watch(|_| ()));
    batch(|| {
        for v in 1..=4 {
            a.set(v);
            assert_eq!((b.get(), even.get()), (v * 2, v % 2));
        }
        a.set(6);
        assert_eq!(even.get(), 0);
    });
    assert_eq!((counts(&a), counts(&b)), ((1, 0, 0), (1, 1, 0)));
    assert_eq!(counts(&even), (1, 1, 1), "1 0 1 0 and once more 0");
}

/// Only the values that a batch leaves count, not what a read made of them in between.
#[test]
fn a_batch_that_reads_nothing_new_still_delivers_once() {
    let a = Cell::new(0);
    let sign = (&a).map(|v: &i32| v.signum()).deduped().materialize();
    let _guard = sign.watch(|_| ());
    batch(|| {
        a.set(1);
        assert_eq!(sign.get(), 1);
        a.set(0);
    });
    assert_eq!(counts(&sign), (1, 1, 0), "back where it was, and told once (P4)");
}

#[test]
fn owned_guards_are_counted_while_they_are_owned() {
    let (a, b) = (Cell::new(0), Cell::new(0));
    assert_eq!(trace(&a).owned_count, 0);
    let key = hyphae::Cell::new(0).id();
    a.own(b.watch(|_| ()));
    a.own_keyed(key, b.watch(|_| ()));
    assert_eq!((trace(&a).owned_count, trace(&b).subscriber_count), (2, 2));
    a.own_keyed(key, b.watch(|_| ()));
    assert_eq!(
        (trace(&a).owned_count, trace(&b).subscriber_count),
        (2, 2),
        "the key's guard was replaced"
    );
    a.dispose();
    assert_eq!((trace(&a).owned_count, trace(&b).subscriber_count), (0, 0));
}

#[test]
fn callbacks_that_write_notify_in_waves_of_their_own() {
    let (a, b) = (Cell::new(0), Cell::new(0));
    let sum = a.join(&b);
    let _guard = (
        a.watch_changes({
            let b = b.clone();
            move |v| {
                b.set(*v);
                b.set(*v + 1);
                batch(|| (0..3).for_each(|v| b.set(v)));
            }
        }),
        sum.watch(|_| ()),
    );
    a.set(1);
    assert_eq!((counts(&a), counts(&b)), ((1, 1, 0), (3, 0, 0)));
    assert_eq!(counts(&sum), (4, 4, 0));
}

#[test]
fn what_panics_is_neither_a_notify_nor_a_cut_off() {
    let a = Cell::new(1);
    let b = (&a).map(|v| assert_ne!(*v, 3, "refused")).materialize();
    let c = (&b).map(|()| 0).materialize();
    let _guard = c.watch(|_| ());
    for v in 2..=4 {
        assert_eq!(crate::support::caught(|| a.set(v)).is_some(), v == 3);
    }
    assert_eq!((counts(&a), counts(&b), counts(&c)), ((3, 0, 0), (2, 0, 0), (2, 2, 0)));
}

#[test]
fn a_subscriber_that_panics_was_called() {
    let a = Cell::new(1);
    let _guards = [1, 2, 3].map(|i| a.watch_changes(move |_| assert_ne!(i, 2, "refused")));
    assert!(crate::support::caught(|| a.set(2)).is_some());
    assert_eq!(counts(&a), (1, 3, 0));
}

/// What a panicking comparison was to decide counts as a change.
#[test]
fn a_comparison_that_panics_is_a_notify() {
    let a = Cell::with_cutoff(1, |_, new| {
        assert_ne!(*new, 2, "refused");
        true
    });
    assert!(crate::support::caught(|| a.set(2)).is_some());
    assert_eq!(counts(&a), (1, 0, 0));
    a.set(3);
    assert_eq!(counts(&a), (1, 0, 1));
}
