//! PF: costs that grew with the wrong thing. Work is counted; where nothing counts it, n is such that a quadratic
//! (or exponential) way of doing it would not end.

use hyphae::{Cell, CellImmutable, Pipeline, SubscriptionGuard, arena, batch};

use crate::support::{Count, Log};

type Derived = Cell<u64, CellImmutable>;
type Reorder<T> = fn(&mut [T]);

/// A fixed shuffle (Fisher-Yates on a linear congruential generator).
fn shuffle<T>(items: &mut [T]) {
    let mut seed = 1_u64;
    for i in (1..items.len()).rev() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        items.swap(i, (seed >> 33) as usize % (i + 1));
    }
}

fn subscribe_all(a: &Cell<u64>, n: usize, calls: &Count) -> Vec<SubscriptionGuard> {
    (0..n)
        .map(|_| {
            let calls = calls.clone();
            a.subscribe_changes(move |_| calls.up())
        })
        .collect()
}

// A million subscribers took 10 s to unsubscribe: each searched the list for itself.
#[test]
fn pf_1_unsubscribing_many_is_linear_in_any_order() {
    const N: usize = 200_000;
    let a = Cell::new(0);
    let calls = Count::new();
    let orders: [Reorder<SubscriptionGuard>; 3] = [|_| (), <[_]>::reverse, shuffle];
    for order in orders {
        let before = calls.get();
        let mut guards = subscribe_all(&a, N, &calls);
        a.set(1);
        assert_eq!(calls.get() - before, N);
        order(&mut guards);
        guards.into_iter().for_each(drop);
        assert_eq!(arena::totals().subscribers, 0);
        a.set(2);
        assert_eq!(calls.get() - before, N);
    }
}

// Constant time must not cost the order: what is left is called in the order of subscription.
#[test]
fn pf_1_delivery_keeps_the_order_of_subscription() {
    const N: usize = 20_000;
    let a = Cell::new(0_u64);
    let log = Log::new();
    let mut guards: Vec<_> = (0..N)
        .map(|i| {
            let log = log.clone();
            (i, a.subscribe_changes(move |_| log.push(i)))
        })
        .collect();
    shuffle(&mut guards);
    let mut left: Vec<usize> = guards.drain(..N / 3).map(|(i, _)| i).collect();
    let gone = std::mem::take(&mut left);
    for i in N..N + gone.len() {
        let log = log.clone();
        guards.push((i, a.subscribe_changes(move |_| log.push(i))));
    }
    let mut expected: Vec<usize> = guards.iter().map(|(i, _)| *i).collect();
    expected.sort_unstable();
    a.set(1);
    assert!(log.take() == expected);
}

// All of them unsubscribed by the first, in the middle of the notification: none is called, and no search either.
#[test]
fn pf_1_unsubscribing_many_during_their_notification() {
    const N: usize = 200_000;
    let a = Cell::new(0);
    let calls = Count::new();
    let others = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let _first = a.subscribe_changes({
        let others = others.clone();
        move |_| others.borrow_mut().clear()
    });
    *others.borrow_mut() = subscribe_all(&a, N, &calls);
    a.set(1);
    assert_eq!(calls.get(), 0);
    assert_eq!(a.callbacks(), 1);
}

// The same for cells: each of many dependents of one source lets go of it in constant time, in any order.
#[test]
fn pf_1_dropping_many_dependents_is_linear_in_any_order() {
    const N: usize = 50_000;
    let a = Cell::new(0_u64);
    let orders: [Reorder<Derived>; 3] = [|_| (), <[_]>::reverse, shuffle];
    for order in orders {
        let mut maps: Vec<_> = (0..N).map(|_| (&a).map(|v| v + 1).materialize()).collect();
        order(&mut maps);
        for (i, map) in maps.into_iter().enumerate() {
            if i % 2 == 0 {
                map.dispose();
            }
        }
        assert_eq!(a.dependents(), 0);
        assert_eq!(arena::totals().cells, 1);
    }
}

// Subscribing many from inside a notification: none of them is called in it, and it does not search for its end.
#[test]
fn pf_1_subscribing_many_during_a_notification() {
    const N: usize = 200_000;
    let a = Cell::new(0);
    let calls = Count::new();
    let made = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let _first = a.subscribe_changes({
        let (a, calls, made) = (a.clone(), calls.clone(), made.clone());
        move |_| {
            if made.borrow().is_empty() {
                *made.borrow_mut() = subscribe_all(&a, N, &calls);
            }
        }
    });
    a.set(1);
    assert_eq!(calls.get(), 0);
    a.set(2);
    assert_eq!(calls.get(), N);
    made.borrow_mut().clear();
    assert_eq!(a.callbacks(), 1);
}

/// `layers` of two cells, each of which reads both cells of the layer before.
fn ladder(a: &Cell<u64>, b: &Cell<u64>, layers: usize) -> [Cell<u64, CellImmutable>; 2] {
    let mut last = [a.clone().lock(), b.clone().lock()];
    for _ in 0..layers {
        let [left, right] = &last;
        let sum = left.join(right).map(|(l, r)| l.wrapping_add(*r));
        let difference = right.join(left).map(|(r, l)| r.wrapping_sub(*l));
        last = [sum.materialize(), difference.materialize()];
    }
    last
}

/// The last of them by itself; cells and edges are two nodes and three edges for each rung.
fn climb(mut pair: [u64; 2], layers: usize) -> u64 {
    for _ in 0..layers {
        pair = [pair[0].wrapping_add(pair[1]), pair[1].wrapping_sub(pair[0])];
    }
    pair[0]
}

// Unsubscribing walked every path: 22 layers took seconds, and each layer doubled it.
#[test]
fn pf_3_each_edge_of_a_ladder_is_visited_once() {
    const LAYERS: usize = 60;
    let (a, b) = (Cell::new(1), Cell::new(2));
    let last = ladder(&a, &b, LAYERS);
    assert_eq!(last[0].get(), climb([1, 2], LAYERS));
    let cells = 4 * LAYERS as u64;
    let before = arena::totals().recomputations;
    a.set(3);
    assert_eq!(last[0].get(), climb([3, 2], LAYERS));
    assert_eq!(arena::totals().recomputations - before, cells);
    drop(last[0].watch(|_| ()));
    batch(|| {
        b.set(4);
        assert_eq!(last[0].get(), climb([3, 4], LAYERS));
    });
    assert_eq!(arena::totals().recomputations - before, 2 * cells);
    drop((a, b, last));
    arena::assert_no_live();
    assert_eq!(arena::totals().edges, 0);
}

// The other way down: the sources are disposed of, and the end runs through the ladder.
#[test]
fn pf_3_the_end_runs_through_a_ladder_once() {
    const LAYERS: usize = 60;
    let (a, b) = (Cell::new(1), Cell::new(2));
    let last = ladder(&a, &b, LAYERS);
    let before = arena::totals().recomputations;
    a.dispose();
    b.dispose();
    let turns = arena::totals().recomputations - before;
    assert!(last.iter().all(Cell::is_complete));
    assert!(turns <= 2 * 4 * LAYERS as u64, "{turns} turns");
    assert_eq!(arena::totals().edges, 0);
}

// Jobs were pushed after a search of the whole queue: quadratic in the number of sources.
#[test]
fn pf_7_each_cell_is_queued_once_however_many_there_are() {
    for n in [10_000, 100_000_u64] {
        let runs = Count::new();
        let sources: Vec<Cell<u64>> = (0..n).map(Cell::new).collect();
        let derived: Vec<_> =
            sources.iter().map(|s| s.map(runs.of(|v: &u64| v + 1)).materialize()).collect();
        let made = runs.get();
        let before = arena::totals();
        batch(|| {
            for round in [1, 2] {
                sources.iter().for_each(|s| s.set(round));
            }
        });
        assert_eq!((runs.get() - made) as u64, n);
        let after = arena::totals();
        assert_eq!(after.recomputations - before.recomputations, n);
        assert_eq!(after.waves - before.waves, 1);
        assert!(derived.iter().all(|d| d.get() == 3));
    }
}

// The same for writes that callbacks queue: each is one entry, found without a search.
#[test]
fn pf_7_many_writes_queued_by_one_callback() {
    const N: u64 = 100_000;
    let trigger = Cell::new(0_u64);
    let sources: Vec<Cell<u64>> = (0..N).map(|_| Cell::new(0)).collect();
    let calls = Count::new();
    let _guards: Vec<_> = sources
        .iter()
        .map(|s| {
            let calls = calls.clone();
            s.subscribe_changes(move |_| calls.up())
        })
        .collect();
    let _acts = trigger.subscribe_changes(move |_| {
        batch(|| {
            for round in [1, 2] {
                sources.iter().for_each(|s| s.set(round));
            }
        });
    });
    let before = arena::totals().waves;
    trigger.set(1);
    assert_eq!(calls.get() as u64, N, "a batch settles each once");
    assert_eq!(arena::totals().waves - before, 2);
}

/// Adds and drops a second subscriber many times; nothing may run but its own first call.
fn observe_again(root: &Derived, runs: &Count) {
    const TIMES: usize = 100_000;
    let _keep = root.watch(|_| ());
    let firsts = Count::new();
    let observe = || {
        let firsts = firsts.clone();
        root.watch(move |_| firsts.up())
    };
    // Once before: the store remembers the place, once for all subscriptions made there.
    drop(observe());
    let (before, made) = (arena::totals(), runs.get());
    for _ in 0..TIMES {
        drop(observe());
    }
    assert_eq!(firsts.get(), TIMES + 1);
    assert_eq!(runs.get(), made);
    let after = arena::totals();
    assert_eq!(after.recomputations, before.recomputations);
    assert_eq!(after.waves, before.waves);
    assert_eq!(after.moves, before.moves);
    assert_eq!(after.table_bytes, before.table_bytes);
}

// Each node carried the list of observers that reach it: observing walked the whole graph above. 100 000 times 100 000
// visits would not end.
#[test]
fn pf_9_a_second_observer_of_a_long_chain_costs_nothing_more() {
    let runs = Count::new();
    let mut root = Cell::new(0_u64).lock();
    for _ in 0..100_000 {
        root = root.map(runs.of(|v: &u64| v + 1)).materialize();
    }
    observe_again(&root, &runs);
}

// The same with a tree above.
#[test]
fn pf_9_a_second_observer_of_a_wide_tree_costs_nothing_more() {
    let runs = Count::new();
    let source = Cell::new(1_u64);
    let leaves = (0..50_000).map(|_| (&source).map(runs.of(|v: &u64| *v)).materialize());
    let mut level: Vec<_> = leaves.collect();
    while level.len() > 1 {
        level = level
            .chunks(2)
            .map(|pair| match pair {
                [left, right] => left.join(right).map(|(l, r)| l + r).materialize(),
                alone => alone[0].clone(),
            })
            .collect();
    }
    assert_eq!(level[0].get(), 50_000);
    observe_again(&level[0], &runs);
}
