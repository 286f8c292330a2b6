//! RE: writes and reads inside subscribers; order of values (rules P3, P4, C8).

use std::collections::HashMap;

use hyphae::{Cell, Error, Pipeline, Signal, Source, SubscriptionGuard, batch};

use crate::support::{Count, Heard, Log, caught};

/// Subscribes a callback that writes `then` to the cell it is on whenever it gets `at`.
fn correct(cell: &Cell<i32>, at: i32, then: i32) -> SubscriptionGuard {
    let target = cell.clone();
    cell.watch(move |v| {
        if *v == at {
            target.set(then);
            assert_eq!(target.get(), at, "the write waits");
        }
    })
}

/// The subscriber behind the one that wrote got the new value before the one in flight.
#[test]
fn re_1_a_write_does_not_overtake_the_value_in_flight() {
    let s = Cell::new(-1);
    let (a, c) = (Log::new(), Log::new());
    let _a = a.on(&s);
    let _b = correct(&s, 2, 3);
    let _c = c.on(&s);
    (0..=2).for_each(|v| s.set(v));
    a.check(&[-1, 0, 1, 2, 3]);
    c.check(&[-1, 0, 1, 2, 3]);
}

/// Writes of several subscribers to several cells: first in, first out, each a wave of its own.
#[test]
fn re_1_queued_writes_are_waves_in_the_order_of_writing() {
    let (s, x, y) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let both = x.join(&y);
    let log = Log::new();
    let _log = log.on(&both);
    let guards: Vec<_> = (1..=2)
        .map(|n| {
            let (x, y) = (x.clone(), y.clone());
            s.subscribe_changes(move |_| {
                x.set(n * 10);
                y.set(n * 10);
            })
        })
        .collect();
    s.set(1);
    log.check(&[(0, 0), (10, 0), (10, 10), (20, 10), (20, 20)]);
    drop(guards);
}

/// The writes of a batch in a subscriber are one wave, after those queued before it.
#[test]
fn re_1_a_batch_in_a_subscriber_is_one_wave() {
    let (s, x, y) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let both = x.join(&y);
    let log = Log::new();
    let _log = log.on(&both);
    let _guard = s.subscribe_changes({
        let (x, y) = (x.clone(), y.clone());
        move |_| {
            x.set(1);
            batch(|| {
                x.set(2);
                batch(|| y.set(2));
                x.set(3);
            });
            y.set(4);
        }
    });
    s.set(1);
    log.check(&[(0, 0), (1, 0), (3, 2), (3, 4)]);
}

/// Events that a subscriber emits come after the one in flight, none is lost.
#[test]
fn re_1_events_emitted_by_a_subscriber_keep_their_order() {
    let s = Source::new();
    let (first, last) = (Log::new(), Log::new());
    let log = |log: &Log<Heard<i32>>| {
        let log = log.clone();
        s.subscribe(move |signal| log.push(Heard::of(signal)))
    };
    let on_first = log(&first);
    let target = s.clone();
    let guard = s.subscribe(move |signal| {
        if signal.value_ref() == Some(&1) {
            target.emit(10);
            batch(|| (11..13).for_each(|v| target.emit(v)));
        }
    });
    let on_last = log(&last);
    batch(|| (1..3).for_each(|v| s.emit(v)));
    let expected = [1, 2, 10, 11, 12].map(Heard::Value);
    first.check(&expected);
    last.check(&expected);
    drop((on_first, guard, on_last));
}

/// An observer behind a corrector ended on the value that had been corrected.
#[test]
fn re_3_everybody_ends_on_the_current_value() {
    let s = Cell::new(0);
    let (a, b, derived) = (Log::new(), Log::new(), Log::new());
    let _a = a.on(&s);
    let _f = correct(&s, -1, 1);
    let _b = b.on(&s);
    let _derived = derived.on(&(&s).map(|v| v * 10).materialize());
    s.set(-1);
    a.check(&[0, -1, 1]);
    b.check(&[0, -1, 1]);
    derived.check(&[0, -10, 10]);
    batch(|| {
        s.set(5);
        s.set(-1);
    });
    a.check(&[0, -1, 1, -1, 1]);
    b.check(&[0, -1, 1, -1, 1]);
    assert_eq!(s.get(), 1);
}

/// After a subscriber of a derived cell had written its source once, later writes were never seen.
#[test]
fn re_4_a_write_back_through_a_derived_cell_works_every_time() {
    let s = Cell::new(0);
    let c = (&s).map(|v| *v).materialize();
    let log = Log::new();
    let _guard = c.watch({
        let (s, log) = (s.clone(), log.clone());
        move |v| {
            log.push(*v);
            if *v > 0 {
                s.set(0);
            }
        }
    });
    for v in 1..=3 {
        s.set(v);
        assert_eq!((s.get(), c.get()), (0, 0));
    }
    log.check(&[0, 1, 0, 2, 0, 3, 0]);
}

/// A callback that raised its own source stopped after one extra run.
#[test]
fn re_6_a_callback_that_writes_its_source_runs_until_it_converges() {
    let n = Cell::with_cutoff(0, i32::eq);
    let (log, runs) = (Log::new(), Count::new());
    let _guard = n.watch({
        let (n, log, runs) = (n.clone(), log.clone(), runs.clone());
        move |v| {
            runs.up();
            log.push(*v);
            n.set((*v + 1).min(5));
        }
    });
    log.check(&[0, 1, 2, 3, 4, 5]);
    assert_eq!((runs.get(), n.get()), (6, 5));
}

/// The same as a closure of a derived cell, at construction and at each later write.
#[test]
fn re_6_a_closure_that_writes_its_source_runs_until_it_converges() {
    let n = Cell::new(0);
    let runs = Count::new();
    let target = n.downgrade();
    let next = (&n)
        .map(runs.of(move |v: &i32| {
            if let (true, Some(n)) = (*v < 5, target.upgrade()) {
                n.set(v + 1);
            }
            v + 1
        }))
        .materialize();
    assert_eq!((n.get(), next.get(), runs.get()), (5, 6, 6));
    n.set(2);
    assert_eq!((n.get(), next.get(), runs.get()), (5, 6, 10));
}

/// Feedback that never converges is an error of the call that began it, also where that call subscribes or reads.
#[test]
fn re_6_feedback_without_end_is_an_error_of_the_outermost_call() {
    let n = Cell::new(0_u32);
    let raise = || {
        let n = n.clone();
        move |signal: &Signal<'_, u32>| {
            if let Signal::Value(v) = signal {
                n.set(v.wrapping_add(1));
            }
        }
    };
    let refused = |error: Option<Error>| matches!(error, Some(Error::NoConvergence { .. }));
    assert!(refused(n.try_subscribe(raise()).map(drop).err()));
    assert_eq!(n.callbacks(), 0, "a refused subscription leaves nothing behind");
    let guard = n.subscribe_changes(raise());
    assert!(refused(n.try_set(0).err()));
    assert!(refused(n.try_with(|v| n.set(*v)).err()));
    assert!(refused(hyphae::try_batch(|| n.set(0)).err()));
    drop(guard);
    n.set(7);
    assert_eq!(n.get(), 7);
}

/// A read of another derived cell in the middle of a notification locked up, or computed it once too often.
#[test]
fn re_8_a_subscriber_reads_another_derived_cell() {
    let a = Cell::new(1);
    let runs = Count::new();
    let m1 = (&a).map(|v| v + 1).materialize();
    let m2 = (&a).map(runs.of(|v: &i32| v * 10)).materialize();
    let log = Log::new();
    let _guard = m1.watch({
        let (m2, log) = (m2.clone(), log.clone());
        move |v| log.push((*v, m2.get()))
    });
    a.set(2);
    log.check(&[(2, 10), (3, 20)]);
    assert_eq!(runs.get(), 2);
}

/// State was borrowed while downstream was called: "already borrowed" in a loop through a join.
#[test]
fn re_9_feedback_through_a_join() {
    let (a, b) = (Cell::new(0), Cell::new(10));
    let j = a.join(&b);
    let log = Log::new();
    let _guard = j.watch({
        let (a, log) = (a.clone(), log.clone());
        move |v| {
            log.push(*v);
            if v.0 < 3 {
                a.set(v.0 + 1);
            }
        }
    });
    log.check(&[(0, 10), (1, 10), (2, 10), (3, 10)]);
    a.set(1);
    log.check(&[(0, 10), (1, 10), (2, 10), (3, 10), (1, 10), (2, 10), (3, 10)]);
}

type Flags = HashMap<&'static str, bool>;

/// Checks that `error` says that `cell` is lent to an update in this file, and read in it further down.
#[track_caller]
fn assert_lent(error: Option<Error>, cell: &str) {
    let Some(Error::Lent { cell: info, update, read }) = error else {
        panic!("expected `Lent`, got {error:?}");
    };
    assert_eq!(info.name.as_deref(), Some(cell));
    assert!(update.file().ends_with("re.rs") && read.file().ends_with("re.rs"));
    assert!(update.line() < read.line(), "{update} {read}");
}

/// Reading a memo of a cell inside the cell's update was an anonymous borrow panic.
#[test]
fn re_12_reading_a_derived_cell_inside_update() {
    let m = Cell::new(Flags::new()).with_name("flags");
    let on = (&m).map(|m| m.get("k").copied().unwrap_or(false)).materialize();
    for expected in [true, false] {
        let mut refused = None;
        let before = on.get();
        m.update(|m| {
            refused = on.try_get().err();
            m.insert("k", !before);
        });
        assert_lent(refused, "flags");
        assert_eq!(on.get(), expected);
    }
    let message = caught(|| {
        m.update(|m| {
            m.insert("k", !on.get());
        });
    })
    .unwrap_or_default();
    assert!(message.contains("flags") && message.contains("re.rs"), "{message}");
    m.update(|m| {
        m.insert("k", true);
    });
    assert!(on.get());
}

/// The same directly, by a nested update, and by what would read it: subscribing and deriving.
#[test]
fn re_12_reading_the_cell_itself_inside_update() {
    let a = Cell::new(1).with_name("a");
    let refused = Log::new();
    a.update(|v| {
        refused.push(a.try_get().err());
        refused.push(a.try_with(|_| ()).err());
        refused.push(a.try_update(|v| *v = 5).err());
        refused.push(a.try_subscribe(|_| ()).map(drop).err());
        *v += 1;
    });
    let refused = refused.take();
    assert_eq!(refused.len(), 4);
    refused.into_iter().for_each(|error| assert_lent(error, "a"));
    assert_eq!((a.get(), a.callbacks()), (2, 0));
}

/// Rule C8 makes no difference between an update in place and one in a callback, on a clone.
#[test]
fn re_12_reading_inside_an_update_that_waits() {
    let (a, s) = (Cell::new(1).with_name("a"), Cell::new(0));
    let derived = (&a).map(|v| v * 10).materialize();
    let refused = Log::new();
    let _guard = s.subscribe_changes({
        let (a, refused) = (a.clone(), refused.clone());
        move |_| {
            a.update(|v| {
                refused.push(a.try_get().err());
                refused.push(derived.try_get().err());
                *v += 1;
            });
        }
    });
    s.set(1);
    assert_eq!(a.get(), 2);
    refused.take().into_iter().for_each(|error| assert_lent(error, "a"));
}

/// Writing the cell inside its own update is legal and comes after it.
#[test]
fn re_12_writing_the_cell_inside_update() {
    let a = Cell::new(0);
    let log = Log::new();
    let _guard = log.on(&a);
    a.update(|v| {
        a.set(2);
        *v = 1;
    });
    log.check(&[0, 1, 2]);
    a.update(|v| {
        *v = 3;
        batch(|| {
            a.set(4);
            a.complete();
        });
    });
    log.check(&[0, 1, 2, 3, 4]);
    assert!(a.is_complete());
}

/// `set(get() + 1)` in one expression was a borrow error or a deadlock.
#[test]
fn re_13_set_of_get_in_one_expression() {
    let a = Cell::new(0);
    let log = Log::new();
    let _guard = log.on(&a);
    a.set(a.get() + 1);
    assert_eq!(a.get(), 1);
    a.with(|v| a.set(v + 1));
    assert_eq!(a.get(), 2);
    a.with(|outer| a.with(|inner| a.set(outer + inner)));
    assert_eq!(a.get(), 4);
    batch(|| {
        a.set(a.get() + 1);
        a.with(|v| a.set(v + 1));
        assert_eq!(a.get(), 6);
    });
    log.check(&[0, 1, 2, 4, 6]);
}
