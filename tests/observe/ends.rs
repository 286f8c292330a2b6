//! Ends: completing or failing is a notify; together with a value in one round it is one notify.

use hyphae::{Cell, Pipeline, batch};

use crate::tools::{counts, trace};

#[test]
fn an_end_is_a_notify_of_all_that_end_with_it() {
    let a = Cell::new(1);
    let b = (&a).map(|v| v + 1).materialize();
    let c = (&a).filter(|v| *v > 5).materialize();
    let _guard = (a.subscribe(|_| ()), b.subscribe(|_| ()));
    a.complete();
    assert_eq!([counts(&a), counts(&b), counts(&c)].map(|of| of.0), [1, 1, 1]);
    assert_eq!([counts(&a), counts(&b), counts(&c)].map(|of| of.1), [1, 1, 0]);
    assert_eq!([counts(&a), counts(&b), counts(&c)].map(|of| of.2), [0, 0, 0], "an end is news");
    a.set(2);
    a.complete();
    a.fail("too late");
    assert_eq!(counts(&b), (1, 1, 0));
    assert_eq!((trace(&a).subscriber_count, trace(&b).subscriber_count), (1, 1));
}

#[test]
fn a_failure_is_a_notify() {
    let a = Cell::new(1);
    let b = (&a).map(|v| v + 1).materialize();
    let _guard = b.subscribe(|_| ());
    a.set(2);
    a.fail("broken");
    assert_eq!((counts(&a), counts(&b)), ((2, 0, 0), (2, 2, 0)));
}

#[test]
fn a_value_and_an_end_in_one_round_are_one_notify_and_two_calls() {
    let a = Cell::new(1);
    let b = (&a).map(|v| v + 1).materialize();
    let _guard = (a.subscribe(|_| ()), b.subscribe(|_| ()));
    batch(|| {
        a.set(2);
        a.complete();
        a.set(3);
    });
    assert_eq!((counts(&a), counts(&b)), ((1, 2, 0), (1, 2, 0)));
}

#[test]
fn the_last_value_of_take_comes_with_its_end() {
    let a = Cell::new(1);
    let two = (&a).take(2).materialize();
    let _guard = two.subscribe(|_| ());
    (2..5).for_each(|v| a.set(v));
    assert_eq!((counts(&a), counts(&two)), ((3, 0, 0), (1, 2, 0)));
    assert_eq!(trace(&a).subscriber_count, 0, "it has let go");
}

#[test]
fn disposal_is_a_notify() {
    let a = Cell::new(1);
    let b = (&a).map(|v| v + 1).materialize();
    let _guard = (a.subscribe(|_| ()), b.subscribe(|_| ()));
    a.dispose();
    assert_eq!((counts(&a), counts(&b)), ((1, 1, 0), (1, 1, 0)));
    assert_eq!(trace(&a).subscriber_count, 0);
}

/// One input's end is nothing that a join tells.
#[test]
fn the_end_of_one_of_two_inputs_is_cut_off() {
    let (a, b) = (Cell::new(1), Cell::new(2));
    let both = a.join(&b);
    a.complete();
    assert_eq!(counts(&both), (0, 0, 1));
    b.complete();
    assert_eq!(counts(&both), (1, 0, 1));
}
