//! Values of any type: neither `Clone` nor `Debug` nor `PartialEq` nor `Send`, zero-sized, large, with a `Drop`.

use std::cell::Cell as StdCell;
use std::rc::Rc;

use hyphae::{Cell, Pipeline, Source, arena, batch, join_vec};

use crate::support::Count;

/// Nothing but a `Drop` that counts, and a pointer that makes it stay on its thread.
struct Bare(Rc<StdCell<i32>>, Count);

impl Drop for Bare {
    fn drop(&mut self) {
        self.1.up();
    }
}

#[test]
fn every_value_is_dropped_once() {
    let drops = Count::new();
    let bare = |v| Bare(Rc::new(StdCell::new(v)), drops.clone());
    let cell = Cell::new(bare(1));
    let sum = (&cell).map(|b| b.0.get() * 2).materialize();
    cell.set(bare(2));
    assert_eq!((drops.get(), sum.get()), (1, 4));
    cell.modify(|b| b.0.set(5));
    assert_eq!((drops.get(), sum.get()), (1, 10));
    batch(|| (0..3).for_each(|v| cell.set(bare(v))));
    assert_eq!(drops.get(), 4);
    drop((cell, sum));
    assert_eq!(drops.get(), 5);
}

#[test]
fn derived_values_are_dropped_once() {
    let drops = Count::new();
    let cell = Cell::new(1);
    let made = (&cell)
        .map({
            let drops = drops.clone();
            move |v| Bare(Rc::new(StdCell::new(*v)), drops.clone())
        })
        .materialize();
    (2..5).for_each(|v| cell.set(v));
    assert_eq!((drops.get(), made.with(|b| b.0.get())), (3, 4));
    drop(made);
    assert_eq!(drops.get(), 4);
}

#[test]
fn a_write_to_an_ended_cell_drops_its_value() {
    let drops = Count::new();
    let bare = |v| Bare(Rc::new(StdCell::new(v)), drops.clone());
    let cell = Cell::new(bare(1));
    cell.complete();
    cell.set(bare(2));
    assert!(cell.try_set(bare(3)).is_err());
    assert_eq!((drops.get(), cell.with(|b| b.0.get())), (2, 1));
    cell.dispose();
    assert!(cell.try_set(bare(4)).is_err());
    assert_eq!(drops.get(), 3);
}

#[test]
fn events_are_dropped_when_their_round_is_over() {
    let drops = Count::new();
    let source = Source::new();
    let last = source.clone().map(|b: &Bare| b.0.get()).materialize();
    let emit = |v| source.emit(Bare(Rc::new(StdCell::new(v)), drops.clone()));
    emit(1);
    assert_eq!((drops.get(), last.get()), (1, Some(1)));
    batch(|| (2..5).for_each(emit));
    assert_eq!((drops.get(), last.get()), (4, Some(4)));
}

#[test]
fn zero_sized_and_large_values() {
    let unit = Cell::new(());
    let count = (&unit).scan(0, |n, ()| n + 1).materialize();
    (0..3).for_each(|_| unit.set(()));
    assert_eq!(count.get(), 4);
    let large = Cell::new([0_u8; 10_000]);
    let sum = (&large).map(|v| v.iter().map(|b| u32::from(*b)).sum::<u32>()).materialize();
    large.modify(|v| v.fill(2));
    assert_eq!(sum.get(), 20_000);
}

#[test]
fn over_aligned_values() {
    #[repr(align(128))]
    struct Aligned(u8);
    let cell = Cell::new(Aligned(1));
    let derived = (&cell).map(|a| Aligned(a.0 + 1)).materialize();
    cell.set(Aligned(7));
    let at = |a: &Aligned| std::ptr::from_ref(a).addr() % 128;
    assert_eq!((cell.with(at), derived.with(at), derived.with(|a| a.0)), (0, 0, 8));
}

#[test]
fn closures_and_trait_objects_as_values() {
    let function: Cell<Box<dyn Fn(i32) -> i32>> = Cell::new(Box::new(|v| v + 1));
    let argument = Cell::new(5);
    let applied = (&argument)
        .map({
            let f = function.clone();
            move |v| f.with(|f| f(*v))
        })
        .materialize();
    assert_eq!(applied.get(), 6);
    function.set(Box::new(|v| v * 100));
    argument.set(7);
    assert_eq!(applied.get(), 700);
}

#[test]
fn cells_of_cells() {
    let inner = Cell::new(1);
    let outer = Cell::new(inner.clone());
    let weak = inner.downgrade();
    drop(inner);
    outer.with(Cell::clone).set(2);
    assert_eq!(outer.get().get(), 2);
    outer.set(Cell::new(3));
    assert!(!weak.is_alive());
    let all = join_vec([outer.clone(), Cell::new(Cell::new(4))]);
    assert_eq!(all.with(|cells| cells.iter().map(Cell::get).sum::<i32>()), 7);
    drop((outer, all));
    arena::assert_no_live();
}

/// A cell that owns a guard whose callback holds the cell is a ring of strong handles: `dispose` opens it.
#[test]
fn a_cell_that_holds_itself_is_freed_by_disposing_of_it() {
    let cell = Cell::new(1_u8);
    let weak = cell.downgrade();
    cell.own(hyphae::SubscriptionGuard::from_callback({
        let kept = cell.clone();
        move || drop(kept)
    }));
    drop(cell);
    assert!(weak.is_alive());
    weak.upgrade().expect("it holds itself").dispose();
    arena::assert_no_live();
}
