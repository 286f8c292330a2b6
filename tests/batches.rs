//! Batches, queued writes and their limits (rules P0, P1, P3, P4, P7, P8).

use hyphae::{Cell, Error, Limits, Pipeline, arena, batch, limits, set_limits, try_batch};

#[allow(dead_code)] // each binary uses a part of it
#[path = "field_reports/support.rs"]
mod support;

use support::{Count, Heard, Log, caught};

#[test]
fn a_batch_is_one_wave() {
    let (a, b) = (Cell::new(1), Cell::new(2));
    let runs = Count::new();
    let sum = a.join(&b).map(runs.of(|(a, b): &(i32, i32)| a + b)).materialize();
    let log = Log::new();
    let _guard = log.on(&sum);
    let before = arena::totals();
    let given = batch(|| {
        a.set(10);
        b.set(20);
        a.set(30);
        99
    });
    let after = arena::totals();
    assert_eq!((given, runs.get(), after.waves - before.waves), (99, 2, 1));
    log.check(&[3, 50]);
}

#[test]
fn nested_batches_join_the_outermost() {
    let cell = Cell::new(0);
    let log = Log::new();
    let _guard = log.on(&(&cell).map(|v| v * 2).materialize());
    batch(|| {
        cell.set(1);
        batch(|| cell.set(20));
        assert_eq!(log.len(), 1);
        assert_eq!(try_batch(|| cell.set(21)), Ok(()));
        assert_eq!(log.len(), 1);
    });
    log.check(&[0, 42]);
}

#[test]
fn an_empty_batch_calls_nobody() {
    let cell = Cell::new(0);
    let log = Log::new();
    let _guard = log.on(&cell);
    batch(|| ());
    batch(|| cell.get());
    assert_eq!(log.len(), 1);
}

/// A read in a batch brings what it needs up to date, and nothing else; subscribers are called once, at the end.
#[test]
fn reads_in_a_batch_see_its_writes() {
    let cell = Cell::new(1);
    let (near, far) = (Count::new(), Count::new());
    let doubled = (&cell).map(near.of(|v: &i32| v * 2)).materialize();
    let other = (&cell).map(far.of(|v: &i32| v * 3)).materialize();
    let log = Log::new();
    let _guard = log.on(&doubled);
    batch(|| {
        cell.set(5);
        assert_eq!((doubled.get(), near.get(), far.get()), (10, 2, 1));
        assert_eq!((doubled.get(), near.get()), (10, 2));
        cell.set(6);
        assert_eq!(doubled.with(|v| *v), 12);
        cell.set(1);
    });
    assert_eq!((near.get(), far.get(), other.get()), (4, 2, 3));
    // Called once with the last value, although it equals the one before.
    log.check(&[2, 2]);
}

/// A read is a settle point for what it computes: stages with memory step there.
#[test]
fn stages_with_memory_step_at_a_read() {
    let cell = Cell::new(0);
    let sum = (&cell).scan(0, |a, v| a + v).materialize();
    batch(|| {
        cell.set(1);
        cell.set(2);
        assert_eq!(sum.get(), 2);
        cell.set(4);
    });
    assert_eq!(sum.get(), 6);
    let chunks = cell.buffer_count(2).materialize();
    batch(|| {
        cell.set(1);
        chunks.with(Vec::len);
        cell.set(2);
    });
    assert_eq!(chunks.get(), [1, 2]);
}

/// One who subscribes in a batch gets the value of the moment, and is called again only if the cell changes after that.
#[test]
fn subscribing_in_a_batch() {
    let cell = Cell::new(1);
    let doubled = (&cell).map(|v| v * 2).materialize();
    let (early, late) = (Log::new(), Log::new());
    let guards = batch(|| {
        cell.set(5);
        let early = early.on(&doubled);
        cell.set(6);
        (early, late.on(&doubled))
    });
    early.check(&[10, 12]);
    late.check(&[12]);
    drop(guards);
}

#[test]
fn making_cells_in_a_batch() {
    let cell = Cell::new(1);
    let made = batch(|| {
        cell.set(5);
        let made = (&cell).map(|v| v * 2).materialize();
        assert_eq!(made.get(), 10);
        cell.set(6);
        made
    });
    assert_eq!(made.get(), 12);
}

/// The first delivery of `subscribe` and closures run at construction are callbacks: their writes have settled when the
/// call returns, in a batch they join it.
#[test]
fn writes_of_first_deliveries() {
    let (a, b) = (Cell::new(1), Cell::new(0));
    let log = Log::new();
    let _guard = log.on(&b);
    let copy = || {
        let b = b.clone();
        a.watch(move |v| b.set(*v))
    };
    let first = copy();
    log.check(&[0, 1]);
    let made = (&a)
        .map({
            let b = b.clone();
            move |v| b.set(v * 10)
        })
        .materialize();
    log.check(&[0, 1, 10]);
    drop((first, made));
    a.set(2);
    let second = batch(|| {
        let guard = copy();
        assert_eq!((b.get(), log.len()), (2, 3));
        guard
    });
    log.check(&[0, 1, 10, 2]);
    drop(second);
}

/// Queued writes are waves of their own, first in first out; those of a batch in a callback are one.
#[test]
fn writes_in_callbacks_are_waves_in_order() {
    let (trigger, a, b) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let pair = a.join(&b);
    let log = Log::new();
    let _guard = log.on(&pair);
    let _writer = trigger.subscribe_changes({
        let (a, b) = (a.clone(), b.clone());
        move |_| {
            a.set(1);
            b.set(1);
            batch(|| {
                a.set(2);
                b.set(2);
            });
            a.set(3);
            assert_eq!((a.get(), b.get()), (0, 0)); // the values of the wave under way
        }
    });
    let waves = arena::totals().waves;
    trigger.set(1);
    log.check(&[(0, 0), (1, 0), (1, 1), (2, 2), (3, 2)]);
    assert_eq!(arena::totals().waves - waves, 5);
}

/// All subscribers see all values in one order, and each ends on the current one.
#[test]
fn everybody_sees_one_order() {
    let cell = Cell::new(0);
    let (before, after) = (Log::new(), Log::new());
    let _first = before.on(&cell);
    let _writer = cell.subscribe_changes({
        let cell = cell.downgrade();
        move |signal| {
            if let Some(v) = signal.value_ref().filter(|v| **v < 3) {
                cell.upgrade().expect("it lives").set(v + 1);
            }
        }
    });
    let _last = after.on(&cell);
    cell.set(1);
    before.check(&[0, 1, 2, 3]);
    after.check(&[0, 1, 2, 3]);
}

/// Writes of callbacks that run inside a batch join it.
#[test]
fn callbacks_inside_a_batch_join_it() {
    let (cell, other) = (Cell::new(1), Cell::new(0));
    let log = Log::new();
    let _guard = log.on(&other);
    let reporting = (&cell)
        .map({
            let other = other.clone();
            move |v| other.set(*v)
        })
        .materialize();
    log.take();
    batch(|| {
        cell.set(2);
        reporting.get();
        assert_eq!((other.get(), log.len()), (2, 0));
        cell.set(3);
    });
    // The last write of the closure is made in the wave at the end: it is queued.
    log.check(&[2, 3]);
}

#[test]
fn set_and_set_back_is_no_change_for_a_cut_off() {
    let cell = Cell::with_cutoff(1, |a, b| a == b);
    let runs = Count::new();
    let tens = (&cell).map(runs.of(|v: &i32| v * 10)).materialize();
    let log = Log::new();
    let _guard = log.on(&tens);
    batch(|| {
        cell.set(2);
        cell.set(1);
    });
    assert_eq!((log.len(), runs.get()), (1, 1));
    batch(|| {
        cell.set(2);
        assert_eq!(tens.get(), 20); // compared here: a change
        cell.set(1);
    });
    log.check(&[10, 10]);
}

#[test]
fn ends_in_a_batch() {
    let (done, failed) = (Cell::new(1), Cell::new(1));
    let log = Log::new();
    let _guards = (log.hear(&(&done).map(|v| v * 2).materialize()), log.hear(&failed));
    log.take();
    batch(|| {
        done.set(2);
        done.complete();
        done.set(3);
        assert!(done.is_complete());
        assert_eq!(done.get(), 2);
    });
    log.check(&[Heard::Value(4), Heard::Complete]);
    log.take();
    batch(|| {
        failed.set(5);
        failed.fail("boom");
    });
    log.check(&[Heard::Value(5), Heard::Error("boom".to_owned())]);
}

/// A body that panics: what it wrote is settled, the panic goes on, the next batch is clean.
#[test]
fn a_panic_in_the_body() {
    let cell = Cell::new(0);
    let log = Log::new();
    let _guard = log.on(&cell);
    let text = caught(|| {
        batch(|| {
            cell.set(1);
            panic!("body");
        })
    });
    assert_eq!(text.as_deref(), Some("body"));
    log.check(&[0, 1]);
    batch(|| cell.set(2));
    cell.set(3);
    log.check(&[0, 1, 2, 3]);
}

#[test]
fn the_limits_are_settable() {
    let default = Limits { generations: 10_000, waiting: 1_000_000 };
    assert_eq!((limits(), Limits::default()), (default, default));
    let small = Limits { generations: 5, waiting: 7 };
    set_limits(small);
    assert_eq!(limits(), small);
    // Each thread has its own.
    assert!(std::thread::spawn(|| limits() == Limits::default()).join().expect("no panic"));
}

/// A cell that counts itself up to `end` by a callback.
fn counting(end: u32) -> (Cell<u32>, hyphae::SubscriptionGuard) {
    let cell = Cell::new(end);
    let guard = cell.subscribe_changes({
        let cell = cell.downgrade();
        move |signal| {
            if let Some(v) = signal.value_ref().filter(|v| **v < end) {
                cell.upgrade().expect("it lives").set(v + 1);
            }
        }
    });
    (cell, guard)
}

#[test]
fn feedback_below_the_limit_converges() {
    let (cell, _guard) = counting(10_000);
    assert_eq!(cell.try_set(0), Ok(())); // generation 10 000 is the last that is allowed
    assert_eq!(cell.get(), 10_000);
    let (cell, _guard) = counting(10_001);
    let error = cell.try_set(0).expect_err("one too many");
    assert!(
        matches!(error, Error::NoConvergence { generation: 10_001, waiting: 1, .. }),
        "{error}"
    );
    assert_eq!(cell.get(), 10_000);
    // The store is usable, and the count starts anew.
    assert_eq!(cell.try_set(5), Ok(()));
    assert_eq!(cell.get(), 10_001);
}

/// Too many waiting writes at once: the queue is dropped and counted.
#[test]
fn too_many_waiting_writes() {
    set_limits(Limits { generations: 100, waiting: 10 });
    let (trigger, target) = (Cell::new(0).with_name("trigger"), Cell::new(0).with_name("target"));
    let _guard = trigger.subscribe_changes({
        let target = target.clone();
        move |signal| (0..*signal.value_ref().unwrap_or(&0)).for_each(|v| target.set(v + 1))
    });
    assert_eq!(trigger.try_set(10), Ok(()));
    assert_eq!(target.get(), 10);
    let error = trigger.try_set(11).expect_err("eleven wait");
    let Error::NoConvergence { generation, waiting, feedback } = &error else { panic!("{error}") };
    assert_eq!((*generation, *waiting, feedback.len()), (1, 11, 1));
    let names =
        [&feedback[0].on, &feedback[0].wrote].map(|i| i.as_ref().and_then(|i| i.name.as_deref()));
    assert_eq!(names, [Some("trigger"), Some("target")]);
    assert_eq!(target.get(), 10);
    target.set(1);
    assert_eq!(target.get(), 1);
}

#[test]
fn try_batch_gives_the_error_and_batch_panics_with_its_text() {
    set_limits(Limits { generations: 10, waiting: 100 });
    let (cell, _guard) = counting(100);
    let error = try_batch(|| cell.set(0)).expect_err("it loops");
    assert!(matches!(error, Error::NoConvergence { generation: 11, .. }));
    let text = caught(|| batch(|| cell.set(0))).expect("it loops");
    assert_eq!(text, error.to_string());
    assert_eq!(try_batch(|| 5), Ok(5));
}

/// What waited for other cells when the settle stopped is dropped, with its values.
#[test]
fn values_of_dropped_writes_are_freed() {
    use std::rc::Rc;
    set_limits(Limits { generations: 10, waiting: 100 });
    let (cell, _looping) = counting(100);
    let value = Rc::new(());
    let late = Cell::new(None);
    let _guard = cell.subscribe_changes({
        let (late, value) = (late.clone(), Rc::downgrade(&value));
        let mut last = 0;
        move |_| {
            last += 1;
            if last == 11 {
                late.set(value.upgrade());
            }
        }
    });
    assert!(cell.try_set(0).is_err());
    assert_eq!((Rc::strong_count(&value), late.get()), (1, None));
}

/// Disposing in a batch: values before it count, the end is delivered with them.
#[test]
fn disposing_in_a_batch() {
    let cell = Cell::new(1);
    let below = (&cell).map(|v| v * 2).materialize();
    let log = Log::new();
    let _guard = log.hear(&below);
    batch(|| {
        cell.set(2);
        cell.dispose();
        assert_eq!((below.get(), below.is_complete()), (4, true));
    });
    log.check(&[Heard::Value(2), Heard::Value(4), Heard::Complete]);
}

/// A guard dropped in a batch: its callback is not called at the end (P2).
#[test]
fn unsubscribing_in_a_batch() {
    let cell = Cell::new(1);
    let log = Log::new();
    let guard = log.on(&cell);
    batch(|| {
        cell.set(2);
        drop(guard);
    });
    log.check(&[1]);
}

/// A cell dropped in a batch is gone at once, also with writes that wait for it.
#[test]
fn dropping_a_cell_in_a_batch() {
    let kept = std::rc::Rc::new(());
    let cell = Cell::new(None).no_coalesce();
    let weak = cell.downgrade();
    batch(|| {
        cell.set(Some(kept.clone()));
        cell.set(Some(kept.clone()));
        drop(cell);
        assert!(!weak.is_alive());
    });
    assert_eq!(std::rc::Rc::strong_count(&kept), 1);
    arena::assert_no_live();
}
