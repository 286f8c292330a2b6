//! SN: subscribers added or removed during notification (rules P1, P2).

use std::cell::RefCell;
use std::rc::Rc;

use hyphae::{Cell, CellImmutable, Pipeline, Source, SubscriptionGuard, batch};

use crate::support::{Heard, Log};

type Guards = Rc<RefCell<Vec<SubscriptionGuard>>>;

/// Subscribes to `on` a log of its cell, and to `cell` once it gives `trigger`; the guards live in `guards`.
fn subscribe_when<T, U, M, N>(
    cell: &Cell<T, M>,
    trigger: T,
    on: &Cell<U, N>,
    guards: &Guards,
) -> (Log<T>, Log<U>)
where
    T: Clone + PartialEq + 'static,
    U: Clone + 'static,
    N: 'static,
{
    let (outer, inner) = (Log::new(), Log::new());
    let on = on.downgrade();
    let guard = cell.watch({
        let (outer, inner, guards) = (outer.clone(), inner.clone(), guards.clone());
        move |v| {
            outer.push(v.clone());
            if *v == trigger {
                let on = on.upgrade().expect("the test holds it");
                guards.borrow_mut().push(inner.on(&on));
            }
        }
    });
    guards.borrow_mut().push(guard);
    (outer, inner)
}

/// Whether the new subscriber got the value in flight once, twice or never depended on the version.
#[test]
fn sn_1_subscribing_to_the_cell_that_is_notifying() {
    let s = Cell::new(0);
    let guards = Guards::default();
    let (a, b) = subscribe_when(&s, 1, &s, &guards);
    s.set(1);
    assert_eq!(s.callbacks(), 2);
    s.set(2);
    a.check(&[0, 1, 2]);
    b.check(&[1, 2]);
}

/// The same with subscribers behind the one that subscribes: the new one is last, and has its value already.
#[test]
fn sn_1_the_new_subscriber_is_not_called_at_the_end_of_the_list() {
    let s = Cell::new(0);
    let guards = Guards::default();
    let (a, b) = subscribe_when(&s, 1, &s, &guards);
    let c = Log::new();
    let _guard = c.on(&s);
    s.set(1);
    b.check(&[1]);
    s.set(2);
    a.check(&[0, 1, 2]);
    b.check(&[1, 2]);
    c.check(&[0, 1, 2]);
}

/// Each call subscribes one more: only those that were there before the wave are called.
#[test]
fn sn_1_subscribers_that_multiply_do_so_once_a_wave() {
    let s = Cell::new(0);
    let guards = Guards::default();
    let log = Log::new();
    let guard = s.subscribe_changes({
        let (s, guards, log) = (s.downgrade(), guards.clone(), log.clone());
        move |_| {
            let s = s.upgrade().expect("the test holds it");
            guards.borrow_mut().push(log.on(&s));
        }
    });
    for wave in 1..=20 {
        s.set(wave);
        assert_eq!(log.take(), vec![wave; wave]);
        assert_eq!(s.callbacks(), wave + 1);
    }
    drop(guard);
}

/// The same through a source of events: nothing is replayed, the event in flight neither.
#[test]
fn sn_1_subscribing_to_a_source_that_is_emitting() {
    let s = Source::new();
    let (guards, log) = (Guards::default(), Log::new());
    let guard = s.subscribe({
        let (weak, guards, log) = (s.downgrade(), guards.clone(), log.clone());
        move |_| {
            let log = log.clone();
            let s = weak.upgrade().expect("the test holds it");
            let heard = move |signal: &hyphae::Signal<'_, i32>| log.push(Heard::of(signal));
            guards.borrow_mut().push(s.subscribe(heard));
        }
    });
    s.emit(1);
    log.check::<Heard<i32>>(&[]);
    drop(guard);
    s.emit(2);
    log.check(&[Heard::Value(2)]);
}

/// A derived cell that is computed already, but still has to notify, counted as changed for the newcomer.
#[test]
fn sn_1_subscribing_to_a_cell_further_down_in_the_wave() {
    let s = Cell::new(0);
    let (near, far) = ((&s).map(|v| v * 10).materialize(), (&s).map(|v| v * 100).materialize());
    let guards = Guards::default();
    let keep = Log::new();
    let _kept = keep.on(&far);
    let (_, on_near) = subscribe_when(&s, 1, &near, &guards);
    let (_, on_far) = subscribe_when(&s, 1, &far, &guards);
    s.set(1);
    s.set(2);
    on_near.check(&[10, 20]);
    on_far.check(&[100, 200]);
    keep.check(&[0, 100, 200]);
}

/// One who subscribes in a closure, before the cell is computed, gets the value of the moment and then the new one.
#[test]
fn sn_1_subscribing_to_a_cell_that_is_yet_to_be_computed() {
    let s = Cell::new(0);
    let later: Rc<RefCell<Option<Cell<i32, CellImmutable>>>> = Rc::default();
    let (guards, log) = (Guards::default(), Log::new());
    let first = (&s)
        .map({
            let (later, guards, log) = (later.clone(), guards.clone(), log.clone());
            move |v| {
                let cell = later.borrow().clone();
                if let (1, Some(cell)) = (*v, cell) {
                    guards.borrow_mut().push(log.on(&cell));
                }
                *v
            }
        })
        .materialize();
    *later.borrow_mut() = Some((&first).map(|v| v * 10).materialize());
    s.set(1);
    log.check(&[0, 10]);
    s.set(2);
    log.check(&[0, 10, 20]);
    *later.borrow_mut() = None;
}

/// Adding a watcher on the other source inside a notification broke an internal assertion.
#[test]
fn sn_3_subscribing_to_another_source_while_a_join_notifies() {
    let (x, y) = (Cell::new(0), Cell::new(0));
    let d = x.join(&y);
    let guards = Guards::default();
    let (a, b) = subscribe_when(&d, (1, 0), &y, &guards);
    x.set(1);
    y.set(5);
    a.check(&[(0, 0), (1, 0), (1, 5)]);
    b.check(&[0, 5]);
}

/// The graph grew inside a notification: a new derived cell over both inputs, subscribed at once.
#[test]
fn sn_3_deriving_and_subscribing_while_a_join_notifies() {
    let (x, y) = (Cell::new(0), Cell::new(0));
    let d = x.join(&y);
    let (guards, log) = (Guards::default(), Log::new());
    let guard = d.watch({
        let (x, y, guards, log) = (x.clone(), y.clone(), guards.clone(), log.clone());
        move |v| {
            if *v == (1, 0) {
                let sum = y.join(&x).map(|(y, x)| x + y).materialize();
                guards.borrow_mut().push(log.on(&sum));
            }
        }
    });
    x.set(1);
    y.set(5);
    batch(|| {
        x.set(10);
        y.set(20);
    });
    log.check(&[1, 6, 30]);
    drop(guard);
}

/// A subscriber that joined in the frame of a write got the element twice: in the first value and as a change.
#[test]
fn sn_4_subscribing_and_writing_in_one_batch() {
    let list = Cell::new(Vec::new());
    let (before, after, derived) = (Log::new(), Log::new(), Log::new());
    let len = (&list).map(Vec::len).materialize();
    let mut guards = Vec::new();
    batch(|| {
        guards.push(before.on(&list));
        list.update(|l| l.push("x"));
        guards.push(after.on(&list));
        guards.push(derived.on(&len));
    });
    before.check(&[vec![], vec!["x"]]);
    after.check(&[vec!["x"]]);
    derived.check(&[1]);
    list.update(|l| l.push("y"));
    assert_eq!((before.len(), after.len(), derived.len()), (3, 2, 2));
}
