//! Sizes that the store has to bear: a million cells in a chain, a wide fan, a million short lives (rules C1, P13).
//!
//! Threads have stacks of 256 KiB, so that anything that recurses over the graph dies.

use std::cell::Cell as StdCell;
use std::rc::Rc;

use hyphae::{Cell, Pipeline, arena, join_vec};

const STACK: usize = 256 * 1024;

/// Runs `f` on a thread, and thus a store, of its own; its panic goes on to the caller.
fn on_small_stack(f: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(f);
    if let Err(payload) = thread.expect("the thread starts").join() {
        std::panic::resume_unwind(payload);
    }
}

/// The last of `n` maps, each one more than the one before.
fn chain(first: &Cell<u64>, n: u64) -> Cell<u64, hyphae::CellImmutable> {
    let mut last = first.clone().lock();
    for _ in 0..n {
        last = last.map(|v| v + 1).materialize();
    }
    last
}

#[test]
fn a_chain_of_a_million_maps_settles_and_drops() {
    const N: u64 = 1_000_000;
    on_small_stack(|| {
        let first = Cell::new(0);
        let last = chain(&first, N);
        assert_eq!(arena::totals().cells as u64, N + 1);
        assert_eq!(arena::totals().edges as u64, N);
        let before = arena::totals().recomputations;
        first.set(1);
        assert_eq!(last.get(), N + 1);
        assert_eq!(arena::totals().recomputations - before, N);
        drop(first);
        assert_eq!(arena::totals().cells as u64, N + 1, "the chain holds it");
        drop(last);
        arena::assert_no_live();
        assert_eq!(arena::totals().edges, 0);
    });
}

/// The last of `n` computed cells, each of which reads the one before.
fn computed_chain(first: &Cell<u64>, n: u64) -> Cell<u64, hyphae::CellImmutable> {
    let mut last = first.clone().lock();
    for _ in 0..n {
        last = Cell::computed(move || last.get() + 1);
    }
    last
}

#[test]
fn a_chain_of_a_million_computed_cells_settles_and_drops() {
    const N: u64 = 1_000_000;
    on_small_stack(|| {
        let first = Cell::new(0);
        let last = computed_chain(&first, N);
        assert_eq!(arena::totals().cells as u64, N + 1);
        assert_eq!(arena::totals().edges as u64, N);
        let before = arena::totals();
        first.set(1);
        assert_eq!(last.get(), N + 1);
        let read = hyphae::batch(|| {
            first.set(2);
            last.get()
        });
        assert_eq!(read, N + 2);
        let after = arena::totals();
        assert_eq!(after.recomputations - before.recomputations, 2 * N);
        assert_eq!((after.moves, after.edges), (before.moves, before.edges));
        drop((first, last));
        arena::assert_no_live();
        assert_eq!(arena::totals().edges, 0);
    });
}

#[test]
fn a_chain_of_a_million_computed_cells_completes() {
    const N: u64 = 1_000_000;
    on_small_stack(|| {
        let first = Cell::new(0);
        let last = computed_chain(&first, N);
        first.complete();
        assert!(last.is_complete());
        assert_eq!((last.get(), arena::totals().edges), (N, 0));
        drop((first, last));
        arena::assert_no_live();
    });
}

#[test]
fn a_chain_of_a_million_maps_completes() {
    const N: u64 = 1_000_000;
    on_small_stack(|| {
        let first = Cell::new(0);
        let last = chain(&first, N);
        let ends = Rc::new(StdCell::new(0));
        let heard = ends.clone();
        let guard = last.subscribe_changes(move |signal| {
            assert!(signal.is_complete());
            heard.set(heard.get() + 1);
        });
        first.complete();
        assert!(last.is_complete());
        assert_eq!(ends.get(), 1);
        assert_eq!(arena::totals().edges, 0, "ended cells let go of their inputs");
        assert_eq!(arena::totals().cells, 2, "so only what is held lives");
        drop((first, last, guard));
        arena::assert_no_live();
    });
}

#[test]
fn a_chain_of_a_million_maps_goes_with_its_thread() {
    on_small_stack(|| {
        let first = Cell::new(0);
        // The handle outlives nothing: it is forgotten, so that the store's own teardown frees the chain.
        std::mem::forget(chain(&first, 1_000_000));
    });
}

#[test]
fn a_fan_of_two_hundred_thousand_maps_settles_and_drops() {
    const N: u64 = 200_000;
    on_small_stack(|| {
        let source = Cell::new(0_u64);
        let maps = (0..N).map(|i| (&source).map(move |v| v + i).materialize());
        let sum = join_vec(maps).map(|all| all.iter().sum::<u64>());
        let sum = sum.materialize();
        assert_eq!(source.dependents() as u64, N);
        let before = arena::totals().recomputations;
        source.set(1);
        assert_eq!(sum.get(), N * (N - 1) / 2 + N);
        assert_eq!(arena::totals().recomputations - before, N + 2);
        drop(sum);
        assert_eq!(source.dependents(), 0);
        assert_eq!(arena::totals().cells, 1);
        drop(source);
        arena::assert_no_live();
        assert_eq!(arena::totals().edges, 0);
    });
}

/// What a cycle must leave as it was.
fn footprint() -> [usize; 5] {
    let now = arena::totals();
    [now.cells, now.edges, now.subscribers, now.capacity, now.table_bytes]
}

type Calls = Rc<StdCell<u64>>;

fn counting(calls: &Calls) -> impl FnMut(&u64) + 'static + use<> {
    let calls = calls.clone();
    move |_| calls.set(calls.get() + 1)
}

/// A derived cell is made, subscribed to and dropped.
fn live_briefly(kept: &Cell<u64>, calls: &Calls) {
    let derived = kept.map(|v| v + 1).materialize();
    drop(derived.watch(counting(calls)));
}

/// The same with a source, a join and writes, dropped in another order.
fn live_fully(kept: &Cell<u64>, calls: &Calls) {
    let own = Cell::new(1_u64);
    let sum = kept.join(&own).map(|(a, b)| a + b).materialize();
    let guard = sum.watch(counting(calls));
    own.set(2);
    drop(sum);
    own.set(3);
    drop(guard);
    own.set(4);
}

/// Runs `live` once, then `n` times more, which must leave everything as it was; gives the calls in those.
fn lives(n: u64, live: fn(&Cell<u64>, &Calls)) -> u64 {
    let kept = Cell::new(1);
    let calls = Calls::default();
    live(&kept, &calls);
    let (before, made) = (footprint(), calls.get());
    let kept_bytes = arena::bytes(kept.cell_id());
    (0..n).for_each(|_| live(&kept, &calls));
    assert_eq!(footprint(), before);
    assert_eq!(arena::bytes(kept.cell_id()), kept_bytes);
    assert_eq!(kept.dependents(), 0);
    assert_eq!(arena::guards(), []);
    calls.get() - made
}

#[test]
fn a_million_short_lives_leave_nothing() {
    assert_eq!(lives(1_000_000, live_briefly), 1_000_000);
}

#[test]
fn a_hundred_thousand_lives_with_writes_leave_nothing() {
    assert_eq!(lives(100_000, live_fully), 300_000);
}
