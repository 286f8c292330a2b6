//! Hooks of the first subscriber and the last one.

use hyphae::{Cell, Pipeline, batch};

use crate::support::Log;

fn hooked<M>(cell: &Cell<i32, M>) -> Log<&'static str> {
    let log = Log::new();
    cell.on_first_subscriber({
        let log = log.clone();
        move || log.push("first")
    });
    cell.on_last_unsubscribe({
        let log = log.clone();
        move || log.push("last")
    });
    log
}

#[test]
fn hooks_run_at_the_first_and_at_the_last() {
    let cell = Cell::new(1);
    let log = hooked(&cell);
    let a = cell.watch(|_| ());
    let b = cell.watch(|_| ());
    log.check(&["first"]);
    drop(a);
    log.check(&["first"]);
    drop(b);
    log.check(&["first", "last"]);
    let derived = (&cell).map(|v| *v).materialize();
    let guard = cell.watch(|_| ());
    drop(guard);
    log.check(&["first", "last", "first"]);
    drop(derived);
    log.check(&["first", "last", "first", "last"]);
}

#[test]
fn a_hook_on_a_cell_that_is_observed_waits_for_the_next_time() {
    let cell = Cell::new(1);
    let guard = cell.watch(|_| ());
    let log = hooked(&cell);
    let second = cell.watch(|_| ());
    assert_eq!(log.len(), 0);
    drop((guard, second));
    log.check(&["last"]);
    let _guard = cell.watch(|_| ());
    log.check(&["last", "first"]);
}

#[test]
fn a_derived_cell_that_ends_lets_go() {
    let cell = Cell::new(1);
    let log = hooked(&cell);
    let derived = (&cell).take(2).materialize();
    cell.set(2);
    assert!(derived.is_complete());
    log.check(&["first", "last"]);
}

#[test]
fn the_death_of_a_cell_is_no_last_unsubscribe() {
    let cell = Cell::new(1);
    let log = hooked(&cell);
    let guard = cell.watch(|_| ());
    drop(cell);
    drop(guard);
    log.check(&["first"]);
}

/// Hooks run when the call that caused them ends, once for each change that is left by then.
#[test]
fn in_a_callback_only_what_is_left_counts() {
    let (cell, trigger) = (Cell::new(1), Cell::new(0));
    let log = hooked(&cell);
    let _guard = trigger.subscribe_changes({
        let (cell, log) = (cell.clone(), log.clone());
        move |_| {
            drop(cell.watch(|_| ()));
            log.push("callback");
        }
    });
    trigger.set(1);
    log.check(&["callback"]);
}

/// A lazy input: connected with the first subscriber, cut with the last.
#[test]
fn hooks_may_write_the_cell() {
    let cell = Cell::new(0);
    cell.on_first_subscriber({
        let weak = cell.downgrade();
        move || weak.upgrade().unwrap().set(1)
    });
    let log = Log::new();
    let guard = log.on(&cell);
    assert_eq!(cell.get(), 1);
    log.check(&[0, 1]);
    drop(guard);
    let again = log.on(&cell);
    log.check(&[0, 1, 1, 1]);
    drop(again);
}

#[test]
fn hooks_in_a_batch_run_as_their_calls_end() {
    let cell = Cell::new(1);
    let log = hooked(&cell);
    batch(|| {
        let guard = cell.watch(|_| ());
        log.check(&["first"]);
        drop(guard);
    });
    log.check(&["first", "last"]);
}
