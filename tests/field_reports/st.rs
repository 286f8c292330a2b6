//! ST: stale handles, reuse of slots, order of teardown (rules C1, C2, C7).

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use hyphae::{Cell, CellId, Error, Pipeline, Scope, WeakCell, arena, on_cleanup};

use crate::support::Log;

// Ids were plain indices: a stale one woke, or removed, the newer tenant of its slot.
#[test]
fn st_1_an_old_handle_does_not_address_the_new_tenant() {
    let x = Cell::new(1);
    let guard_of_x = x.watch(|_| ());
    x.dispose();
    let y = Cell::new(2);
    let log = Log::new();
    let _guard = log.on(&y);
    assert_ne!(x.cell_id(), y.cell_id());
    assert!(matches!(x.try_get(), Err(Error::Disposed(_))));
    assert!(x.downgrade().upgrade().is_none());
    assert!(matches!(x.try_set(9), Err(Error::Disposed(_))));
    drop(guard_of_x);
    y.set(3);
    log.check(&[2, 3]);
    assert_eq!(y.callbacks(), 1);
}

// The same with the slot free and taken again, many times over.
#[test]
fn st_1_freed_slots_are_taken_again_under_new_ids() {
    let mut former: Vec<WeakCell<u64>> = Vec::new();
    drop(Cell::new(0_u64));
    let room = arena::capacity();
    for i in 0..10_000 {
        let cell = Cell::new(i);
        former.push(cell.downgrade());
        let newest = former.len() - 1;
        assert!(former[..newest].iter().rev().take(8).all(|old| !old.is_alive()));
        assert_eq!(former[newest].upgrade().map(|cell| cell.get()), Some(i));
    }
    assert_eq!(arena::capacity(), room, "the slots were taken again");
    let _tenant = Cell::new(0_u64);
    for old in &former {
        assert!(old.upgrade().is_none());
        assert!(!arena::contains(old.cell_id()));
        assert!(arena::cell::<u64>(old.cell_id()).is_none());
        assert!(arena::subscribers(old.cell_id()).is_none());
    }
}

// The same for subscriptions: a stale id must not end the one that got its place.
#[test]
fn st_1_a_stale_subscription_id_ends_nothing() {
    let (x, y) = (Cell::new(1), Cell::new(2));
    let guard = x.watch(|_| ());
    let stale = guard.id().expect("a subscription has an id");
    drop(guard);
    let log = Log::new();
    let guard = log.on(&y);
    assert_ne!(guard.id(), Some(stale));
    stale.unsubscribe();
    y.unsubscribe(stale);
    y.set(3);
    log.check(&[2, 3]);
}

/// A value that knows how often values of its number were dropped.
struct Value {
    number: usize,
    drops: Rc<RefCell<Vec<u32>>>,
}

impl Drop for Value {
    fn drop(&mut self) {
        self.drops.borrow_mut()[self.number] += 1;
    }
}

/// Handles by number, as the model says; the ids of all cells ever made.
#[derive(Default)]
struct World {
    alive: HashMap<usize, Cell<Value>>,
    ids: Vec<CellId>,
    drops: Rc<RefCell<Vec<u32>>>,
}

impl World {
    fn create(&mut self) {
        let number = self.ids.len();
        self.drops.borrow_mut().push(0);
        let cell = Cell::new(Value { number, drops: self.drops.clone() });
        self.ids.push(cell.cell_id());
        self.alive.insert(number, cell);
    }

    /// Ends one live cell, by dropping its handle or by `dispose` first.
    fn end(&mut self, pick: usize, dispose: bool) {
        let mut numbers: Vec<_> = self.alive.keys().copied().collect();
        if numbers.is_empty() {
            return;
        }
        numbers.sort_unstable();
        let cell = self.alive.remove(&numbers[pick % numbers.len()]);
        let cell = cell.expect("the number is one of the live ones");
        if dispose {
            cell.dispose();
            assert!(cell.downgrade().upgrade().is_none());
        }
    }

    fn check(&self, number: usize) {
        let lives = self.alive.contains_key(&number);
        assert_eq!(arena::contains(self.ids[number]), lives, "{number}");
        assert_eq!(self.drops.borrow()[number], u32::from(!lives), "{number}");
    }

    fn check_all(&self) {
        (0..self.ids.len()).for_each(|number| self.check(number));
        assert_eq!(arena::totals().cells, self.alive.len());
    }
}

// Clearing a map after removals in odd order dropped things twice.
#[test]
fn st_3_each_value_is_dropped_once_whatever_the_order() {
    let mut world = World::default();
    let mut seed = 0x5eed_u64;
    let mut random = move |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize % below
    };
    for _ in 0..10_000 {
        match random(1000) {
            0..2 => world.alive.clear(),
            2..500 => world.create(),
            500..750 => world.end(random(1 << 20), false),
            _ => world.end(random(1 << 20), true),
        }
        if !world.ids.is_empty() {
            world.check(random(world.ids.len()));
            world.check(world.ids.len() - 1);
        }
    }
    world.check_all();
    world.alive.clear();
    world.check_all();
}

// A clean-up that read a value of its own scope found it disposed of already.
#[test]
fn st_5_cleanups_come_before_the_values_of_their_scope() {
    let p = Cell::new(0);
    let order = Log::new();
    let scope = Scope::new();
    scope.run(|| {
        let x = Cell::new(123);
        let twice = (&x).map(|x| x * 2).materialize();
        on_cleanup({
            let (p, order) = (p.clone(), order.clone());
            move || {
                order.push(1);
                p.set(x.get() + twice.get());
            }
        });
        for n in [2, 3] {
            let order = order.clone();
            on_cleanup(move || order.push(n));
        }
    });
    scope.dispose();
    assert_eq!(p.get(), 369);
    order.check(&[3, 2, 1]);
}

// The same over two levels: the inner clean-up reads a cell of the outer scope, and the outer one still works.
#[test]
fn st_5_inner_cleanups_find_the_values_of_the_outer_scope() {
    let log = Log::new();
    let outer = Scope::new();
    let _inner = outer.run(|| {
        let x = Cell::new(1);
        on_cleanup({
            let (log, x) = (log.clone(), x.clone());
            move || log.push(("outer", x.get()))
        });
        let inner = Scope::new();
        inner.run(|| {
            let y = Cell::new(10);
            on_cleanup({
                let log = log.clone();
                move || {
                    x.update(|x| *x += 1);
                    log.push(("inner", y.get()));
                }
            });
        });
        inner
    });
    outer.dispose();
    assert_eq!(log.len(), 2);
    assert_eq!(log.take()[0], ("inner", 10));
}
