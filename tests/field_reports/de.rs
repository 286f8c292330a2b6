//! DE: deep graphs on a small stack: propagate, pull, complete, drop (rules C1, P13).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyphae::{Cell, CellImmutable, Limits, Pipeline, Scope, Signal, arena, batch, join_vec};

use crate::support::{Heard, Log, run_on_small_stack};

/// KiB of stack for the threads of this file.
const STACK: usize = 256;
const DEEP: u64 = 200_000;

type Derived = Cell<u64, CellImmutable>;

/// Counts its own drops. Shared between threads: the store it lives in may end with its thread.
#[derive(Clone, Default)]
struct Drops(Arc<AtomicUsize>);

impl Drops {
    fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    fn token(&self) -> Token {
        Token(self.clone())
    }
}

struct Token(Drops);

impl Drop for Token {
    fn drop(&mut self) {
        self.0.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// The last of `n` cells, each one more than the one before.
fn chain(first: &Cell<u64>, n: u64) -> Derived {
    let mut last = first.clone().lock();
    for _ in 0..n {
        last = last.map(|v| v + 1).materialize();
    }
    last
}

/// A chain in which each cell owns a guard on the one before, and each closure a token.
fn owning_chain(first: &Cell<u64>, drops: &Drops) -> Derived {
    let mut last = first.clone().lock();
    for _ in 0..DEEP {
        let token = drops.token();
        let next = (&last).map(move |v| (v + 1, &token).0).materialize();
        next.own(last.subscribe_changes(|_| ()));
        last = next;
    }
    last
}

// A running balance over a few thousand rows overflowed the stack: delivery recursed from row to row.
#[test]
fn de_1_long_chain_settles_on_a_small_stack() {
    run_on_small_stack(STACK, || {
        let first = Cell::new(0);
        let last = chain(&first, DEEP);
        let log = Log::new();
        let guard = log.on(&last);
        let before = arena::totals().recomputations;
        first.set(1);
        assert_eq!(arena::totals().recomputations - before, DEEP);
        log.check(&[DEEP, DEEP + 1]);
        drop((guard, first, last));
        arena::assert_no_live();
    });
}

// The same by pull: a read in an open batch walks from the bottom of the chain up to the source.
#[test]
fn de_1_long_chain_is_read_in_a_batch_on_a_small_stack() {
    run_on_small_stack(STACK, || {
        let first = Cell::new(0);
        let last = chain(&first, DEEP);
        let before = arena::totals().recomputations;
        let read = batch(|| {
            first.set(1);
            last.get()
        });
        assert_eq!(read, DEEP + 1);
        assert_eq!(arena::totals().recomputations - before, DEEP);
    });
}

// A panic half-way down must not unwind through one frame a cell, nor cut the rest off for good.
#[test]
fn de_1_long_chain_survives_a_panic_half_way() {
    run_on_small_stack(STACK, || {
        let first = Cell::new(0);
        let half = chain(&first, DEEP / 2);
        let risky = half.map(|v| {
            assert_ne!(*v, DEEP / 2 + 13, "unlucky");
            *v
        });
        let risky = risky.materialize();
        let mut last = risky.clone();
        for _ in 0..DEEP / 2 {
            last = last.map(|v| v + 1).materialize();
        }
        let message = crate::support::caught(|| first.set(13));
        assert!(message.is_some_and(|text| text.contains("unlucky")));
        first.set(14);
        assert_eq!(last.get(), DEEP + 14);
    });
}

// Dropping a chain of nodes that own each other recursed in drop glue and overflowed: the head is disposed of.
#[test]
fn de_3_disposing_the_head_of_an_ownership_chain() {
    let drops = Drops::default();
    let seen = drops.clone();
    run_on_small_stack(STACK, move || {
        let first = Cell::new(0);
        let last = owning_chain(&first, &seen);
        first.dispose();
        assert!(last.is_complete());
        assert_eq!(last.get(), DEEP);
        drop((first, last));
        assert_eq!(seen.get() as u64, DEEP);
        arena::assert_no_live();
    });
    assert_eq!(drops.get() as u64, DEEP);
}

// The same from the other end: the last handle, then the last guard.
#[test]
fn de_3_dropping_the_tail_of_an_ownership_chain() {
    let drops = Drops::default();
    let seen = drops.clone();
    run_on_small_stack(STACK, move || {
        let first = Cell::new(0);
        let last = owning_chain(&first, &seen);
        let guard = last.subscribe_changes(|_| ());
        drop((first, last));
        assert_eq!(seen.get(), 0);
        drop(guard);
        assert_eq!(seen.get() as u64, DEEP);
        arena::assert_no_live();
    });
    assert_eq!(drops.get() as u64, DEEP);
}

// The same by disposing of the tail while its handle is kept.
#[test]
fn de_3_disposing_the_tail_of_an_ownership_chain() {
    let drops = Drops::default();
    let seen = drops.clone();
    run_on_small_stack(STACK, move || {
        let first = Cell::new(0);
        let last = owning_chain(&first, &seen);
        drop(first);
        last.dispose();
        assert_eq!(seen.get() as u64, DEEP);
        assert!(arena::totals().cells <= 1, "only the tail is held");
        drop(last);
        arena::assert_no_live();
    });
    assert_eq!(drops.get() as u64, DEEP);
}

// The same when the thread ends with the whole chain alive.
#[test]
fn de_3_ending_the_thread_of_an_ownership_chain() {
    let drops = Drops::default();
    let seen = drops.clone();
    run_on_small_stack(STACK, move || {
        let first = Cell::new(0);
        let last = owning_chain(&first, &seen);
        last.subscribe_changes(|_| ()).leak();
        drop(first);
        assert_eq!(arena::totals().cells as u64, DEEP + 1);
    });
    assert_eq!(drops.get() as u64, DEEP);
}

// A chain through values: each cell holds the only handle to the next in its value.
#[test]
fn de_3_dropping_cells_that_hold_each_other_as_values() {
    struct Link(#[allow(dead_code)] Option<Cell<Link>>);
    run_on_small_stack(STACK, || {
        let mut head = Cell::new(Link(None));
        for _ in 0..DEEP {
            head = Cell::new(Link(Some(head)));
        }
        assert_eq!(arena::totals().cells as u64, DEEP + 1);
        drop(head);
        arena::assert_no_live();
    });
}

// The same through callbacks: each holds the guard of the next, so that ending one ends all.
#[test]
fn de_3_dropping_callbacks_that_hold_each_others_guards() {
    let drops = Drops::default();
    let seen = drops.clone();
    run_on_small_stack(STACK, move || {
        let cell = Cell::new(0_u64);
        let mut guard = cell.subscribe_changes(|_| ());
        for _ in 0..DEEP {
            let held = (guard, seen.token());
            guard = cell.subscribe_changes(move |_| {
                let _ = &held;
            });
        }
        assert_eq!(cell.callbacks() as u64, DEEP + 1);
        drop(guard);
        assert_eq!(seen.get() as u64, DEEP);
        assert_eq!(cell.callbacks(), 0);
    });
}

// The same through closures: each derived cell is held by the closure of one on another source.
#[test]
fn de_3_dropping_cells_that_closures_hold() {
    run_on_small_stack(STACK, || {
        let source = Cell::new(0_u64);
        let mut last = source.map(|v| *v).materialize();
        for _ in 0..DEEP {
            let held = last;
            last = Cell::new(0).map(move |v: &u64| v + held.get()).materialize();
        }
        drop(last);
        arena::assert_no_live();
    });
}

// The same with scopes, each made inside the one before.
#[test]
fn de_3_disposing_scopes_inside_scopes() {
    let drops = Drops::default();
    let seen = drops.clone();
    run_on_small_stack(STACK, move || {
        let mut scopes = vec![Scope::new()];
        for _ in 0..DEEP {
            let inner = scopes[scopes.len() - 1].run(|| {
                Cell::new(seen.token());
                Scope::new()
            });
            scopes.push(inner);
        }
        drop(scopes.swap_remove(0));
        assert_eq!(seen.get() as u64, DEEP);
        arena::assert_no_live();
    });
}

// Thousands of streams that all complete at one signal recursed into each other. Here: along a chain.
#[test]
fn de_5_completion_runs_down_a_long_chain() {
    run_on_small_stack(STACK, || {
        let first = Cell::new(0);
        let last = chain(&first, 100_000);
        let log = Log::new();
        let _guard = log.hear(&last);
        batch(|| {
            first.set(1);
            first.complete();
        });
        let value = Heard::Value;
        log.check(&[value(100_000), value(100_001), Heard::Complete]);
        // All edges are gone, so that nothing is left to recurse over.
        assert_eq!(arena::totals().edges, 0);
    });
}

// The same over inputs that have completed already: one node over all of them.
#[test]
fn de_5_a_hundred_thousand_completed_inputs() {
    run_on_small_stack(STACK, || {
        let cells: Vec<Cell<u64>> = (0..100_000).map(Cell::new).collect();
        cells.iter().for_each(Cell::complete);
        let all = join_vec(cells);
        let log = Log::new();
        let _guard = log.hear(&all);
        let values: Vec<u64> = (0..100_000).collect();
        log.check(&[Heard::Value(values), Heard::Complete]);
        assert_eq!(arena::totals().edges, 0);
    });
}

// The same with callbacks: the end of each stream starts the end of the next.
#[test]
fn de_5_each_completion_completes_the_next() {
    const N: usize = 100_000;
    run_on_small_stack(STACK, || {
        hyphae::set_limits(Limits { generations: N as u32 + 1, ..Limits::default() });
        let cells: Vec<Cell<usize>> = (0..N).map(Cell::new).collect();
        let log = Log::new();
        let guards: Vec<_> = (0..N)
            .map(|i| {
                let (next, log) = (cells.get(i + 1).cloned(), log.clone());
                cells[i].subscribe_changes(move |signal| {
                    assert!(matches!(signal, Signal::Complete));
                    log.push(i);
                    if let Some(next) = &next {
                        next.complete();
                    }
                })
            })
            .collect();
        cells[0].complete();
        assert!(log.take().into_iter().eq(0..N));
        drop((cells, guards));
        arena::assert_no_live();
    });
}
