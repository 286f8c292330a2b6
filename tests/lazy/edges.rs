//! Ends, panics, callbacks and deep reads of lazy cells.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use hyphae::{Cell, Pipeline, batch, combine_lazy, untracked};

#[test]
fn an_end_is_seen_by_who_looks() {
    let source = Cell::new(1);
    let lazy = (&source).map(|n| n + 1).materialize_lazy();
    source.set(2);
    source.complete();
    assert!(lazy.is_complete());
    assert_eq!(lazy.get(), 3);
    let source = Cell::new(1);
    let lazy = (&source).map(|n| n + 1).materialize_lazy();
    let after = (&lazy).map(|n| n + 1).materialize_lazy();
    source.set(5);
    source.fail("gone");
    assert_eq!(after.get(), 7);
    assert!(after.is_error() && lazy.is_error());
}

#[test]
fn a_panic_in_a_read_is_the_readers_and_the_cell_recovers() {
    let source = Cell::new(1);
    let lazy = (&source).map(|n| if *n == 2 { panic!("two") } else { *n }).materialize_lazy();
    source.set(2);
    assert!(catch_unwind(AssertUnwindSafe(|| lazy.get())).is_err());
    assert_eq!(lazy.get(), 1, "the last good value");
    source.set(3);
    assert_eq!(lazy.get(), 3);
}

#[test]
fn callbacks_and_closures_read_the_values_of_the_wave() {
    let source = Cell::new(1);
    let lazy = (&source).map(|n| n * 10).materialize_lazy();
    let over = (&lazy).map(|n| n + 1).materialize_lazy();
    let seen = Rc::new(RefCell::new(vec![]));
    let guard = source.watch({
        let (over, seen) = (over.clone(), seen.clone());
        move |n| seen.borrow_mut().push((*n, over.get()))
    });
    source.set(2);
    batch(|| {
        source.set(3);
        source.set(4);
    });
    assert_eq!(*seen.borrow(), [(1, 11), (2, 21), (4, 41)]);
    drop(guard);
    // An untracked read in the turn of another cell.
    let trigger = Cell::new(0);
    let peek = {
        let over = over.clone();
        (&trigger).map(move |_| untracked(|| over.get())).materialize()
    };
    source.set(5);
    trigger.set(1);
    assert_eq!(peek.get(), 51);
}

#[test]
fn closures_that_turn_to_stale_cells_wait_for_them() {
    // Each reads a switch first, which changes, then the one before, which is stale: no order in which to ask beforehand.
    let source = Cell::new(0_u64);
    let switch = Cell::new(0_u64);
    let mut last = (&source).map(|n| n + 1).materialize_lazy();
    let n = 2_000;
    for _ in 1..n {
        let (up, switch) = (last.clone(), switch.clone());
        last = Cell::computed_lazy(move || switch.get() + up.get());
    }
    let run = |source: u64, switch: u64| source + 1 + switch * (n - 1);
    for step in 1..5 {
        source.set(step);
        switch.set(step);
        assert_eq!(last.get(), run(step, step));
    }
    let eager = {
        let last = last.clone();
        Cell::computed(move || last.get())
    };
    batch(|| {
        source.set(9);
        switch.set(9);
    });
    assert_eq!(eager.get(), run(9, 9));
    drop(eager);
    source.set(10);
    switch.set(10);
    let late = Cell::computed(move || last.get());
    assert_eq!(late.get(), run(10, 10));
}

#[test]
fn a_switch_wants_the_inner_cell_that_it_shows() {
    let (which, source) = (Cell::new(0), Cell::new(1));
    let inner: Vec<_> =
        (0..2).map(|k| (&source).map(move |n| n * 10 + k).materialize_lazy()).collect();
    let shown = which.switch_map({
        let inner = inner.clone();
        move |which| inner[*which].clone()
    });
    source.set(2);
    assert_eq!(shown.get(), 20);
    source.set(3);
    which.set(1);
    assert_eq!(shown.get(), 31);
    batch(|| {
        which.set(0);
        source.set(4);
    });
    assert_eq!(shown.get(), 40);
    let before = hyphae::arena::totals().recomputations;
    drop(shown);
    source.set(5);
    assert_eq!(hyphae::arena::totals().recomputations, before);
    assert_eq!(inner[1].get(), 51);
}

#[test]
fn disposal_lets_go() {
    let source = Cell::new(1);
    let lazy = (&source).map(|n| n + 1).materialize_lazy();
    let over = combine_lazy((&lazy, &source), |(a, b)| a + b);
    source.set(2);
    lazy.dispose();
    assert!(lazy.try_get().is_err());
    source.set(3);
    assert!(over.get() >= 3);
    drop((over, lazy, source));
    assert_eq!(hyphae::arena::totals().cells, 0);
}
