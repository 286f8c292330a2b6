//! `dispose` in every state of a cell (rule C7).

use std::cell::RefCell;
use std::rc::Rc;

use hyphae::{Cell, Error, Pipeline, SubscriptionGuard, arena, batch};

use crate::support::{Count, Heard, Log, caught};

#[test]
fn subscribers_and_dependents_see_a_good_end() {
    let cell = Cell::new(1);
    let doubled = (&cell).map(|v| v * 2).materialize();
    let (own, below) = (Log::new(), Log::new());
    let _guards = (own.hear(&cell), below.hear(&doubled));
    cell.set(2);
    cell.dispose();
    own.check(&[Heard::Value(1), Heard::Value(2), Heard::Complete]);
    below.check(&[Heard::Value(2), Heard::Value(4), Heard::Complete]);
    assert_eq!((doubled.get(), doubled.is_complete(), cell.is_complete()), (4, true, true));
}

#[test]
fn its_closure_guards_and_edges_go_at_once() {
    let (source, other) = (Cell::new(1), Cell::new(1));
    let (dropped, runs) = (Count::new(), Count::new());
    let held = SubscriptionGuard::from_callback({
        let dropped = dropped.clone();
        move || dropped.up()
    });
    let derived = (&source)
        .map({
            let runs = runs.clone();
            move |v| {
                let _ = &held;
                runs.up();
                *v
            }
        })
        .materialize();
    derived.own(other.watch(|_| ()));
    derived.dispose();
    assert_eq!((dropped.get(), derived.owned_count()), (1, 0));
    assert_eq!((source.dependents(), other.callbacks()), (0, 0));
    source.set(2);
    assert_eq!(runs.get(), 1);
}

#[test]
fn later_calls_answer_disposed() {
    let cell = Cell::new(1).with_name("gone");
    let weak = cell.downgrade();
    cell.dispose();
    let is_disposed = |error: Error| {
        matches!(error, Error::Disposed(info) if info.name.as_deref() == Some("gone")
            && info.id() == Some(cell.cell_id()) && Some(info.place) == cell.place())
    };
    assert!(is_disposed(cell.try_get().expect_err("a read")));
    assert!(is_disposed(cell.try_with(|_| ()).expect_err("a loan")));
    assert!(is_disposed(cell.try_set(2).expect_err("a write")));
    assert!(is_disposed(cell.try_update(|_| ()).expect_err("an update")));
    assert!(is_disposed(cell.try_subscribe(|_| ()).map(drop).expect_err("a subscription")));
    assert!(is_disposed(
        cell.clone().try_with_uuid(uuid::Uuid::nil()).map(drop).expect_err("a UUID")
    ));
    assert!(weak.upgrade().is_none() && !weak.is_alive());
    assert!(arena::cell::<i32>(cell.cell_id()).is_none());
}

/// The calls without a `try_` panic with the same message, and leave everything usable.
#[test]
fn the_other_calls_panic_with_the_message() {
    let (cell, other) = (Cell::new(1).with_name("gone"), Cell::new(2));
    cell.dispose();
    let texts = [
        caught(|| cell.get()),
        caught(|| cell.with(|_| ())),
        caught(|| cell.set(1)),
        caught(|| cell.set_if_changed(1)),
        caught(|| cell.update(|_| ())),
        caught(|| cell.modify(|_| ())),
        caught(|| cell.replace(1)),
        caught(|| cell.complete()),
        caught(|| cell.fail("no")),
        caught(|| cell.watch(|_| ())),
        caught(|| cell.own(other.watch(|_| ()))),
        caught(|| cell.on_first_subscriber(|| ())),
        caught(|| (&cell).map(|v| *v).materialize()),
        caught(|| (&cell).share()),
        caught(|| other.join(&cell)),
    ];
    let message = cell.try_get().expect_err("it is gone").to_string();
    assert!(message.contains("\"gone\"") && message.contains("disposed"));
    assert_eq!(texts, texts.each_ref().map(|_| Some(message.clone())));
    drop((cell, other));
    arena::assert_no_live();
}

#[test]
fn a_second_dispose_does_nothing() {
    let cell = Cell::new(1);
    let log = Log::new();
    let _guard = log.hear(&cell);
    cell.dispose();
    cell.clone().dispose();
    log.check(&[Heard::Value(1), Heard::Complete]);
}

#[test]
fn a_cell_that_had_ended_says_nothing_more() {
    let (done, failed) = (Cell::new(1), Cell::new(2));
    done.complete();
    failed.fail("boom");
    let log = Log::new();
    let _guards = (log.hear(&done), log.hear(&failed));
    log.take();
    done.dispose();
    failed.dispose();
    assert_eq!(log.len(), 0);
    assert!(done.is_complete() && failed.is_error());
    assert_eq!(failed.error().map(|e| e.to_string()).as_deref(), Some("boom"));
}

#[test]
fn what_was_written_before_in_the_batch_is_delivered() {
    let cell = Cell::new(1);
    let log = Log::new();
    let _guard = log.hear(&cell);
    batch(|| {
        cell.set(2);
        cell.dispose();
        assert!(cell.try_set(3).is_err());
    });
    log.check(&[Heard::Value(1), Heard::Value(2), Heard::Complete]);
}

#[test]
fn its_hooks_go_with_it() {
    let cell = Cell::new(1);
    let held = Count::new();
    let guard = SubscriptionGuard::from_callback({
        let held = held.clone();
        move || held.up()
    });
    cell.on_last_unsubscribe(move || {
        let _ = &guard;
        panic!("it was disposed of");
    });
    let subscription = cell.watch(|_| ());
    cell.dispose();
    assert_eq!(held.get(), 1);
    drop(subscription);
}

#[test]
fn a_disposed_cell_is_freed_with_its_last_handle() {
    let cell = Cell::new(1);
    let below = (&cell).map(|v| *v).materialize();
    let id = cell.cell_id();
    cell.dispose();
    assert!(arena::contains(id));
    assert_eq!((cell.name(), cell.dependents()), (None, 0));
    drop(cell);
    assert!(!arena::contains(id));
    assert_eq!(below.get(), 1);
}

#[test]
fn a_join_of_a_disposed_cell_goes_on_with_the_other() {
    let (a, b) = (Cell::new(1), Cell::new(2));
    let pair = a.join(&b);
    a.dispose();
    b.set(3);
    assert_eq!((pair.get(), pair.is_complete()), ((1, 3), false));
}

/// C7: closure and edges to inputs go at once; C1: outside callbacks, what died is freed at once, guards that it owned too.
#[test]
fn what_a_disposed_cell_had_goes_before_its_end_is_told() {
    let (token, seen) = (Rc::new(()), Rc::new(RefCell::new(vec![])));
    let a = Cell::new(0);
    let b = (&a)
        .map({
            let token = token.clone();
            move |v| {
                let _ = &token;
                *v
            }
        })
        .materialize();
    let _guard = b.subscribe_changes({
        let (token, seen) = (Rc::downgrade(&token), seen.clone());
        move |_| seen.borrow_mut().push(token.strong_count())
    });
    b.dispose();
    assert_eq!(*seen.borrow(), [1]);
}

#[test]
fn a_guard_owned_by_what_only_a_disposed_cell_kept_does_not_hear_of_its_end() {
    for in_batch in [false, true] {
        let heard = Rc::new(std::cell::Cell::new(0));
        let a = Cell::new(0);
        let b = (&a).map(|v| *v).materialize();
        a.own(b.subscribe_changes({
            let heard = heard.clone();
            move |_| heard.set(heard.get() + 1)
        }));
        drop(a); // lives by `b` alone
        if in_batch {
            batch(|| b.dispose());
        } else {
            b.dispose();
        }
        assert_eq!(heard.get(), 0, "{in_batch}");
    }
}

/// A value whose `Drop` subscribes to the cell that it was in.
struct Joins(i32, Rc<dyn Fn()>);

impl Drop for Joins {
    fn drop(&mut self) {
        (self.1)();
    }
}

/// P1: who joins while a replaced value is dropped hears the new one once.
#[test]
fn who_subscribes_in_the_drop_of_a_replaced_value_hears_the_new_one_once() {
    type Slot = Rc<RefCell<Option<Cell<Joins, hyphae::CellImmutable>>>>;
    let slot = Slot::default();
    let heard = Rc::new(RefCell::new(vec![]));
    let guards = Rc::new(RefCell::new(vec![]));
    let join: Rc<dyn Fn()> = Rc::new({
        let (slot, heard, guards) = (slot.clone(), heard.clone(), guards.clone());
        move || {
            let Some(cell) = slot.borrow_mut().take() else { return };
            let heard = heard.clone();
            let guard = cell.subscribe(move |signal| {
                if let hyphae::Signal::Value(value) = signal {
                    heard.borrow_mut().push(value.0);
                }
            });
            guards.borrow_mut().push(guard);
        }
    });
    let source = Cell::new(1);
    let derived = (&source).map(move |v| Joins(*v, join.clone())).materialize();
    *slot.borrow_mut() = Some(derived.clone());
    source.set(2);
    assert_eq!(*heard.borrow(), [2]);
    guards.borrow_mut().clear();
}

/// C7: a write that a cut-off has not compared is dropped by `dispose`; dependents keep the last value, also when a shared pipeline over the cell gets a consumer.
#[test]
fn nobody_sees_what_a_disposed_cut_off_had_not_compared() {
    let s = Cell::with_cutoff(0, i64::eq);
    let (open, other) = (Cell::new(0), Cell::new(0));
    let shared = (&s).map(|v| *v).share();
    let d = s.join(&open).map(|(s, _)| *s).materialize();
    batch(|| {
        s.set(3);
        s.dispose();
    });
    assert_eq!(d.get(), 0);
    let _late: Cell<_, hyphae::CellImmutable> =
        batch(|| other.with(|_| shared.clone().materialize()));
    assert_eq!(d.get(), 0); // comes 3
}
