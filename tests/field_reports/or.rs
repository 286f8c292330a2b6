//! OR: the order of closures, effects and clean-ups (rules P3, P5). Clean-ups of dynamic closures are in `or_cleanup`.

use std::cell::RefCell;

use hyphae::{Cell, Pipeline, Scope, on_cleanup};

use crate::support::Log;

// A computed wrote a signal half-way through its body; effects of that signal ran before it had finished.
#[test]
fn or_1_a_running_closure_is_finished_first() {
    let (a, b) = (Cell::new(1), Cell::new(0));
    let log = Log::new();
    let first = (&a).map({
        let (b, log) = (b.clone(), log.clone());
        move |a| {
            log.push("aa0");
            if *a == 0 {
                b.set(1);
            }
            log.push("aa1");
        }
    });
    let first = first.materialize();
    let second = (&b).map({
        let log = log.clone();
        move |_| log.push("bb")
    });
    let second = second.materialize();
    let _guards = (first.watch(|_| ()), second.watch(|_| ()));
    log.take();
    a.set(0);
    log.check(&["aa0", "aa1", "bb"]);
}

// The same between callbacks: the other subscribers of the wave come before what the first one wrote.
#[test]
fn or_1_the_wave_under_way_is_delivered_first() {
    let (a, b) = (Cell::new(0), Cell::new(0));
    let log = Log::new();
    let _writer = a.subscribe_changes({
        let (b, log) = (b.clone(), log.clone());
        move |_| {
            log.push("a1 begins");
            b.set(1);
            log.push("a1 ends");
        }
    });
    let say = |text| {
        let log = log.clone();
        move |_: &hyphae::Signal<'_, i32>| log.push(text)
    };
    let _others = (a.subscribe_changes(say("a2")), b.subscribe_changes(say("b")));
    a.set(1);
    log.check(&["a1 begins", "a1 ends", "a2", "b"]);
}

/// Opens a scope for `key` with two resources inside; each says when it is opened and closed.
fn open(key: i32, log: &Log<String>) -> Scope {
    let scope = Scope::new();
    log.push(format!("open {key}"));
    scope.run(|| {
        for name in [key.to_string(), "i1".to_owned(), "i2".to_owned()] {
            let log = log.clone();
            on_cleanup(move || log.push(format!("close {name}")));
        }
    });
    scope
}

const BOTH: [&str; 8] =
    ["open 1", "close i2", "close i1", "close 1", "open 2", "close i2", "close i1", "close 2"];

// The old inner cleaned up what the new one had just set up. The switch is a callback that owns one scope at a time.
#[test]
fn or_3_old_cleanups_inner_first_then_the_new_run() {
    let log = Log::new();
    let key = Cell::new(1);
    let guard = key.watch({
        let (log, current) = (log.clone(), RefCell::new(None));
        move |key| {
            current.take();
            current.replace(Some(open(*key, &log)));
        }
    });
    key.set(2);
    drop(guard);
    assert_eq!(log.take(), BOTH);
}

// The same with inner scopes and guards in the place of plain clean-ups.
#[test]
fn or_3_inner_scopes_and_guards_go_in_reverse_order_of_creation() {
    let log = Log::new();
    let say = |text: &'static str| {
        let log = log.clone();
        move || log.push(text)
    };
    let outer = Scope::new();
    let inner = outer.run(|| {
        on_cleanup(say("close outer"));
        let first = Scope::new();
        first.run(|| on_cleanup(say("close first")));
        let second = Scope::new();
        second.run(|| on_cleanup(say("close second")));
        (first, second)
    });
    outer.own(hyphae::SubscriptionGuard::from_callback(say("guard 1")));
    outer.own(hyphae::SubscriptionGuard::from_callback(say("guard 2")));
    drop(outer);
    log.check(&["close second", "close first", "close outer", "guard 2", "guard 1"]);
    drop(inner);
    assert_eq!(log.len(), 5, "each went once");
}
