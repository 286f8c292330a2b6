//! RC: recomputed neither too often nor too rarely (rules P0, P9).

use hyphae::{Cell, Pipeline, arena};

use crate::support::Count;

// The memo read on the line after the write of its source was out of date.
#[test]
fn rc_1_a_read_after_a_write_is_current() {
    let n = Cell::new(0);
    let m = (&n).map(|n| *n).materialize();
    let deep = (&m).map(|m| m + 1).materialize().join(&n);
    assert_eq!((m.get(), deep.get()), (0, (1, 0)));
    n.set(1);
    assert_eq!((m.get(), deep.get()), (1, (2, 1)));
}

// The same behind a cut-off, with only the first level observed.
#[test]
fn rc_1_an_unobserved_second_level_is_current() {
    let n = Cell::new(0);
    let even = (&n).map(|n| n % 2 == 0).deduped().materialize();
    let copy = (&even).map(|even| *even).materialize();
    let _guard = even.watch(|_| ());
    for (v, expected) in [(2, true), (3, false), (5, false), (4, true)] {
        n.set(v);
        assert_eq!(copy.get(), expected, "{v}");
    }
}

// Many computeds that nobody looked at ran at each write. Here cells are eager, which is documented and countable;
// what was not materialized costs nothing.
#[test]
fn rc_2_runs_of_unobserved_cells_are_counted() {
    let c = Cell::new(0);
    let runs = Count::new();
    let cells: Vec<_> =
        (0..1000).map(|i| (&c).map(runs.of(move |c: &i32| c + i)).materialize()).collect();
    let plans: Vec<_> =
        (0..1000).map(|i| (&c).map(runs.of(move |c: &i32| c + i)).filter(|_| true)).collect();
    assert_eq!(runs.get(), 1000);
    let before = arena::totals();
    (1..=1000).for_each(|v| c.set(v));
    let after = arena::totals();
    assert_eq!(runs.get(), 1000 + 1_000_000);
    assert_eq!(after.recomputations - before.recomputations, 1_000_000);
    assert_eq!(after.waves - before.waves, 1000);
    assert_eq!(after.deliveries, before.deliveries);
    assert_eq!(cells[0].get(), 1000);
    assert_eq!(runs.get(), 1_001_000, "a read computes nothing");
    assert_eq!(c.dependents(), 1000);
    drop(plans);
}

// The computed ran again although none of its inputs had changed: something else about it had.
#[test]
fn rc_5_only_a_change_of_an_input_recomputes() {
    let (a, z) = (Cell::new(1), Cell::new(0));
    let count = Count::new();
    let d = (&a).map(count.of(|a: &i32| *a)).materialize();
    let _keep = d.watch(|_| ());
    for _ in 0..100 {
        drop(d.watch(|_| ()));
    }
    (0..100).for_each(|v| z.set(v));
    for _ in 0..100 {
        let above = (&d).map(|d| d + 1).materialize();
        above.dispose();
    }
    let others: Vec<_> = (0..100).map(|_| d.join(&z)).collect();
    z.set(1);
    drop(others);
    assert_eq!(count.get(), 1);
    a.set(2);
    assert_eq!(count.get(), 2);
}
