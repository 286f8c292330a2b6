//! Runs counted by hand.

use std::cell::{Cell as Count, RefCell};
use std::rc::Rc;

use hyphae::{Cell, CellImmutable, Pipeline, batch, combine_lazy, effect};

/// A lazy map that counts its runs.
fn counted<M>(input: &Cell<u64, M>) -> (Cell<u64, CellImmutable>, Rc<Count<usize>>) {
    let runs = Rc::new(Count::new(0));
    let count = runs.clone();
    let cell = input.map(move |n| {
        count.set(count.get() + 1);
        n + 1
    });
    (cell.materialize_lazy(), runs)
}

#[test]
fn nobody_wants_it_nobody_runs_it() {
    let source = Cell::new(0);
    let (a, a_runs) = counted(&source);
    let (b, b_runs) = counted(&a);
    (1..=10).for_each(|n| source.set(n));
    assert_eq!((a_runs.get(), b_runs.get()), (1, 1));
    assert_eq!(a.get(), 11);
    assert_eq!((a_runs.get(), b_runs.get()), (2, 1));
    assert_eq!((b.get(), b.get()), (12, 12));
    assert_eq!((a_runs.get(), b_runs.get()), (2, 2));
    batch(|| {
        source.set(100);
        assert_eq!(b.get(), 102);
        source.set(200);
    });
    assert_eq!((a_runs.get(), b_runs.get()), (3, 3));
    assert_eq!(b.get(), 202);
}

#[test]
fn a_subscriber_keeps_all_upstream_up_to_date_while_it_lasts() {
    let source = Cell::new(0);
    let (a, a_runs) = counted(&source);
    let (b, b_runs) = counted(&a);
    source.set(1);
    let seen = Rc::new(RefCell::new(vec![]));
    let log = seen.clone();
    let guard = b.watch(move |n| log.borrow_mut().push(*n));
    source.set(2);
    source.set(3);
    assert_eq!(*seen.borrow(), [3, 4, 5]);
    assert_eq!((a_runs.get(), b_runs.get()), (4, 4));
    drop(guard);
    source.set(4);
    assert_eq!((a_runs.get(), b_runs.get()), (4, 4));
    assert_eq!(b.get(), 6);
}

#[test]
fn an_eager_dependent_makes_it_eager_until_it_goes() {
    let source = Cell::new(0);
    let (a, runs) = counted(&source);
    source.set(1);
    let eager = (&a).map(|n| n * 2).materialize();
    source.set(2);
    assert_eq!((eager.get(), runs.get()), (6, 3));
    drop(eager);
    source.set(3);
    assert_eq!((runs.get(), a.get()), (3, 4));
}

#[test]
fn an_input_that_has_not_changed_in_the_end_spares_the_run() {
    let source = Cell::new(1);
    let even = Cell::computed_with_cutoff(
        {
            let source = source.clone();
            move || source.get() % 2
        },
        u64::eq,
    );
    let (lazy, runs) = counted(&even);
    source.set(3);
    source.set(5);
    assert_eq!((lazy.get(), runs.get()), (2, 1));
}

#[test]
fn a_diamond_runs_each_once_a_read() {
    let source = Cell::new(1);
    let (a, a_runs) = counted(&source);
    let (left, left_runs) = counted(&a);
    let (right, right_runs) = counted(&a);
    let sum = combine_lazy((&left, &right), |(l, r)| l + r);
    source.set(5);
    assert_eq!(sum.get(), 14);
    assert_eq!((a_runs.get(), left_runs.get(), right_runs.get()), (2, 2, 2));
}

#[test]
fn what_a_closure_does_not_read_any_more_is_left_alone() {
    let (which, source) = (Cell::new(true), Cell::new(1));
    let (costly, runs) = counted(&source);
    let shown = Cell::computed_lazy({
        let which = which.clone();
        move || if which.get() { costly.get() } else { 7 }
    });
    source.set(2);
    assert_eq!((shown.get(), runs.get()), (3, 2));
    source.set(3);
    which.set(false);
    assert_eq!((shown.get(), runs.get()), (7, 2));
    source.set(4);
    which.set(true);
    assert_eq!((shown.get(), runs.get()), (5, 3));
}

/// A stale closure that waits for an input which it had before, and which waits itself, has seen it when it is through.
#[test]
fn a_stale_closure_runs_once_for_an_input_that_it_waits_for() {
    let (key, first, second) = (Cell::new(0_u64), Cell::new(0_u64), Cell::new(0_u64));
    let runs = Rc::new(Count::new(0));
    let sum = {
        let (first, second, runs) = (first.clone(), second.clone(), runs.clone());
        let deep = (&second).map(|n| n + 1).materialize_lazy();
        let inner = Cell::computed_lazy(move || second.get() + deep.get());
        Cell::computed_lazy(move || {
            runs.set(runs.get() + 1);
            first.get() + inner.get()
        })
    };
    let shown = {
        let (key, sum) = (key.clone(), sum.clone());
        Cell::computed(move || if key.get() == 0 { 0 } else { sum.get() })
    };
    assert_eq!((sum.get(), runs.replace(0)), (1, 1));
    for round in 1..5 {
        // All are stale; the first input of each has changed, so that the second is not looked at before the run.
        first.set(round);
        second.set(10 * round);
        key.set(1);
        assert_eq!((shown.get(), runs.replace(0)), (21 * round + 1, 1));
        key.set(0);
        first.set(0);
        second.set(round);
        assert_eq!((sum.get(), runs.replace(0)), (2 * round + 1, 1));
    }
}

#[test]
fn an_effect_wants_what_it_reads() {
    let source = Cell::new(1);
    let (lazy, runs) = counted(&source);
    source.set(2);
    let seen = Rc::new(RefCell::new(vec![]));
    let guard = effect({
        let (lazy, seen) = (lazy.clone(), seen.clone());
        move || seen.borrow_mut().push(lazy.get())
    });
    source.set(3);
    assert_eq!((&*seen.borrow(), runs.get()), (&vec![3, 4], 3));
    drop(guard);
    source.set(4);
    assert_eq!(runs.get(), 3);
}

#[test]
fn a_chain_of_many_is_brought_up_to_date_without_recursion() {
    let source = Cell::new(0_u64);
    let n = 100_000;
    let thread = std::thread::Builder::new().stack_size(256 * 1024);
    drop(source);
    let run = move || {
        let source = Cell::new(0_u64);
        let mut last = (&source).map(|n| n + 1).materialize_lazy();
        for at in 1..n {
            last = match at % 2 {
                0 => (&last).map(|n| n + 1).materialize_lazy(),
                _ => {
                    let up = last.clone();
                    Cell::computed_lazy(move || up.get() + 1)
                }
            };
        }
        source.set(1);
        assert_eq!(last.get(), n + 1);
        let guard = last.watch(|_| ());
        source.set(2);
        assert_eq!(last.get(), n + 2);
        drop(guard);
        source.set(3);
        assert_eq!(last.get(), n + 3);
    };
    thread.spawn(run).unwrap().join().unwrap();
}

#[test]
fn reads_allocate_no_cells_and_steady_state_counts_are_exact() {
    let source = Cell::new(0);
    let (lazy, runs) = counted(&source);
    let before = hyphae::arena::totals().recomputations;
    for n in 1..=1000 {
        source.set(n);
        assert_eq!(lazy.get(), n + 1);
    }
    assert_eq!(hyphae::arena::totals().recomputations - before, 1000);
    assert_eq!(runs.get(), 1001);
    for n in 1..=1000 {
        source.set(n);
    }
    assert_eq!(hyphae::arena::totals().recomputations - before, 1000);
}

#[test]
fn a_lazy_cell_that_is_read_in_a_batch_visits_all_its_stale_inputs() {
    let (a, b) = (Cell::new(0), Cell::new(0));
    let eager = a.clone().map(|n| n + 1).materialize();
    let inner = eager.map(|n| n + 1).materialize_lazy();
    let sum = combine_lazy((&b, &inner), |(b, n)| b + n);
    let (read, also) = (b.clone(), sum.clone());
    let picked = Cell::computed_lazy(move || if read.get() % 2 == 0 { also.get() } else { 0 });
    batch(|| a.set(1));
    batch(|| {
        b.set(2);
        assert_eq!(picked.get(), 5);
    });
    assert_eq!((sum.get(), picked.get()), (5, 5));
}

#[test]
fn a_lazy_cell_that_a_closure_waits_for_visits_its_stale_inputs() {
    let (a, early) = (Cell::new(0), Cell::new(0));
    let inner = a.clone().map(|n| n + 1).materialize_lazy();
    // Its place in the order is between the two lazy cells.
    let late = Rc::new(RefCell::new(None::<Cell<u64, CellImmutable>>));
    let (read, also) = (early.clone(), late.clone());
    let closure = Cell::computed(move || {
        let late = also.borrow().clone();
        read.get() + late.filter(|_| read.get() > 0).map_or(0, |late| late.get())
    });
    let outer = (&inner).map(|n| n + 10).materialize_lazy();
    *late.borrow_mut() = Some(outer.clone());
    batch(|| {
        a.set(5);
        early.set(1);
    });
    assert_eq!((closure.get(), outer.get(), inner.get()), (17, 16, 6));
    a.set(6);
    assert_eq!((closure.get(), outer.get(), inner.get()), (18, 17, 7));
}
