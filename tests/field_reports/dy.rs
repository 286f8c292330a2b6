//! DY: dynamic dependencies and conditional reads. What needs no switching operator: cells that nobody observes, cells
//! made inside callbacks, edges that go, guards against forbidden values.

use std::cell::RefCell;
use std::rc::Rc;

use hyphae::{Cell, CellImmutable, Pipeline, arena};
use uuid::Uuid;

use crate::support::{Count, Log};

/// After a while on the other branch the derived copy was stale.
#[test]
fn dy_1_both_branches_of_a_condition_are_current() {
    let a = Cell::new(0);
    let b = (&a).map(|v| *v).materialize();
    let c = a.join(&b).map(|(a, b)| if *a > 0 { *a } else { *b }).materialize();
    let log = Log::new();
    let _guard = log.on(&c);
    [1, 0, -3].into_iter().for_each(|v| a.set(v));
    log.check(&[0, 1, 0, -3]);
}

/// A branch that was left went on being evaluated.
#[test]
fn dy_2_an_abandoned_branch_is_not_computed() {
    let (a, b) = (Cell::new("a"), Cell::new("b"));
    let (runs, log) = (Count::new(), Log::new());
    let mut guard = log.on(&(&a).map(runs.of(|v: &&str| *v)).materialize());
    assert_eq!((a.dependents(), runs.get()), (1, 1));
    guard = {
        drop(guard);
        log.on(&(&b).map(|v| *v).materialize())
    };
    a.set("a2");
    b.set("b3");
    log.check(&["a", "b", "b3"]);
    assert_eq!((a.dependents(), b.dependents(), runs.get()), (0, 1, 1));
    drop(guard);
    assert_eq!(b.dependents(), 0);
}

/// A computed that was read, went stale unobserved and was then observed, kept the old value for ever.
#[test]
fn dy_3_first_subscription_finds_the_cell_current() {
    let s = Cell::new(0);
    let runs = Count::new();
    let c = (&s).map(runs.of(|v: &i32| *v)).materialize();
    assert_eq!(c.get(), 0);
    s.set(1);
    let log = Log::new();
    let guard = log.on(&c);
    assert_eq!(c.get(), 1);
    s.set(2);
    log.check(&[1, 2]);
    assert_eq!(runs.get(), 3, "reads and subscribers compute nothing");
    drop(guard);
    s.set(3);
    let _again = log.on(&c);
    s.set(4);
    log.check(&[1, 2, 3, 4]);
}

/// A second-level memo kept `true` after its input had moved on through two writes.
#[test]
fn dy_6_second_level_is_current_when_only_the_first_is_observed() {
    let input = Cell::new(0);
    let first = (&input).map(|v| *v == 1).deduped().materialize();
    let second = (&first).map(|v| *v).materialize();
    let log = Log::new();
    let _guard = log.on(&first);
    input.set(1);
    assert!(second.get());
    input.set(2);
    input.set(3);
    assert!(!second.get());
    log.check(&[false, true, false]);
}

type Slot<T> = Rc<RefCell<Option<T>>>;

/// A memo made once inside an effect belonged to that run of the effect and died at the next.
#[test]
fn dy_7_a_cell_made_in_a_callback_lives_by_its_handle() {
    let n = Cell::new(0);
    let slot: Slot<Cell<i32, CellImmutable>> = Rc::default();
    let log = Log::new();
    let guard = n.watch({
        let (n, slot, log) = (n.clone(), slot.clone(), log.clone());
        move |_| {
            if slot.borrow().is_none() {
                *slot.borrow_mut() = Some((&n).map(|v| v * 2).materialize());
            }
            let doubled = slot.borrow().clone();
            log.push(doubled.map(|d| d.get()));
        }
    });
    [1, 2, 3].into_iter().for_each(|v| n.set(v));
    log.check(&[0, 2, 4, 6].map(Some));
    let weak = slot.borrow().as_ref().map(Cell::downgrade);
    drop(guard);
    n.set(4);
    let kept = weak.as_ref().and_then(|weak| weak.upgrade());
    assert_eq!(kept.map(|cell| cell.get()), Some(8));
    *slot.borrow_mut() = None;
    assert!(!weak.is_some_and(|weak| weak.is_alive()));
    assert_eq!(n.dependents(), 0);
}

/// The same with the cell made in the middle of a wave, in a subscriber's second run and in a derived closure.
#[test]
fn dy_7_a_cell_made_in_the_middle_of_a_wave_follows_later_waves() {
    let n = Cell::new(0);
    let slots: [Slot<Cell<i32, CellImmutable>>; 2] = Default::default();
    let make = |slot: &Slot<Cell<i32, CellImmutable>>| {
        let (n, slot) = (n.downgrade(), slot.clone());
        move |v: &i32| {
            if *v == 1 {
                let made = n.upgrade().map(|n| n.map(|v| v * 2).materialize());
                *slot.borrow_mut() = made;
            }
            *v
        }
    };
    let derived = (&n).map(make(&slots[0])).materialize();
    let in_subscriber = make(&slots[1]);
    let guard = derived.watch(move |v| {
        in_subscriber(v);
    });
    let values = || slots.clone().map(|s| s.borrow().as_ref().map(Cell::get));
    n.set(1);
    assert_eq!(values(), [Some(2); 2]);
    n.set(5);
    assert_eq!(values(), [Some(10); 2]);
    assert_eq!(n.dependents(), 3);
    slots.iter().for_each(|slot| *slot.borrow_mut() = None);
    drop((derived, guard, n));
    arena::assert_no_live();
}

/// The switch killed the old inner cell although the new one was the same.
#[test]
fn dy_10_replacing_a_guard_by_one_on_the_same_cell_keeps_the_cell() {
    let (r, k) = (Cell::new(0), Cell::new(2));
    let inner = (&k).map(|v| v + 1).materialize();
    let weak = inner.downgrade();
    let (key, log) = (Uuid::from_u128(1), Log::new());
    r.own_keyed(key, log.on(&inner));
    drop(inner);
    for next in [5, 9] {
        let again = weak.upgrade().expect("the guard keeps it");
        r.own_keyed(key, log.on(&again));
        assert_eq!((again.callbacks(), r.owned_count()), (1, 1));
        drop(again);
        k.set(next);
    }
    log.check(&[3, 3, 6, 6, 10]);
    assert_eq!((k.dependents(), weak.is_alive()), (1, true));
    drop(r);
    assert_eq!((k.dependents(), weak.is_alive()), (0, false));
}

/// A division ran with 0 in the very settle in which its guard said no.
#[test]
fn dy_11_a_guarded_division_never_sees_zero() {
    let a = Cell::new(5);
    let is_zero = (&a).map(|v| *v == 0).deduped().materialize();
    let divided_by = Log::new();
    let divisors = divided_by.clone();
    let out = is_zero
        .join(&a)
        .map(move |(is_zero, a)| {
            if *is_zero {
                return 0;
            }
            divisors.push(*a);
            100 / a
        })
        .deduped()
        .materialize();
    let log = Log::new();
    let _guard = log.on(&out);
    a.set(0);
    a.set(4);
    log.check(&[20, 0, 25]);
    divided_by.check(&[5, 4]);
}
