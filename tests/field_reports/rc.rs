//! RC: recomputed neither too often nor too rarely (rules P0, P9).

use hyphae::{Cell, Pipeline, arena, batch, effect};

use crate::support::{Count, Log, owning};

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

// Reads after a write, through cells whose inputs were found by reading or have just been switched.
#[test]
fn rc_1_reads_of_dynamic_cells_are_current() {
    let (n, far) = (Cell::new(0), Cell::new(true));
    let computed = Cell::computed(owning!([n, far] move || if far.get() { n.get() } else { -1 }));
    let switched = far.switch_map(owning!([n] move |far| {
        if *far { n.clone() } else { Cell::new(-1) }
    }));
    let deep = Cell::computed(owning!([computed, switched] move || {
        computed.get() + switched.get()
    }));
    n.set(1);
    assert_eq!((computed.get(), switched.get(), deep.get()), (1, 1, 2));
    far.set(false);
    assert_eq!((computed.get(), switched.get(), deep.get()), (-1, -1, -2));
    let read = batch(|| {
        far.set(true);
        n.set(5);
        (deep.get(), switched.get(), computed.get())
    });
    assert_eq!(read, (10, 5, 5));
}

// The same in callbacks, where the values are those of the wave, and in effects.
#[test]
fn rc_1_reads_of_dynamic_cells_in_callbacks() {
    let n = Cell::new(0);
    let computed = Cell::computed(owning!([n] move || n.get() * 10));
    let switched = n.switch_map(owning!([computed] move |_| computed.clone()));
    let log = Log::new();
    let _guard = n.watch(owning!([computed, switched, log] move |n| {
        log.push((*n, computed.get(), switched.get()));
    }));
    let _effect = effect(owning!([n, switched, computed, log] move || {
        log.push((n.get(), computed.get(), switched.get()));
    }));
    [1, 2].into_iter().for_each(|v| n.set(v));
    log.check(&[0, 0, 1, 1, 2, 2].map(|v| (v, v * 10, v * 10)));
}

// Computed cells that nobody looks at: eager, too, and counted.
#[test]
fn rc_2_runs_of_unobserved_computed_cells_are_counted() {
    let (c, runs) = (Cell::new(0), Count::new());
    let cells: Vec<_> = (0..1000)
        .map(|i| {
            Cell::computed(owning!([c, runs] move || {
                runs.up();
                c.get() + i
            }))
        })
        .collect();
    let before = arena::totals();
    (1..=100).for_each(|v| c.set(v));
    let after = arena::totals();
    assert_eq!(runs.get(), 1000 + 100_000);
    assert_eq!(after.recomputations - before.recomputations, 100_000);
    assert_eq!((after.deliveries, after.moves), (before.deliveries, before.moves));
    assert_eq!((cells[0].get(), runs.get()), (100, 101_000));
}

// Only a change of an input runs a dynamic closure: observers, unrelated cells and other readers do not.
#[test]
fn rc_5_only_a_change_of_an_input_runs_a_dynamic_closure() {
    let (a, z) = (Cell::new(1), Cell::new(0));
    let [computed_runs, switch_runs, effect_runs] = [0; 3].map(|_| Count::new());
    let computed = Cell::computed(owning!([a, z, computed_runs] move || {
        computed_runs.up();
        a.get() + hyphae::untracked(|| z.get())
    }));
    let switched = a.switch_map(owning!([z, switch_runs] move |_| {
        switch_runs.up();
        z.clone()
    }));
    let _effect = effect(owning!([computed, switched, effect_runs] move || {
        effect_runs.up();
        computed.get();
        switched.get();
    }));
    let counts = || [&computed_runs, &switch_runs, &effect_runs].map(Count::get);
    for _ in 0..100 {
        drop((computed.watch(|_| ()), switched.watch(|_| ())));
        let above = Cell::computed(owning!([computed, switched] move || {
            computed.get() + switched.get()
        }));
        above.join(&a).dispose();
    }
    assert_eq!(counts(), [1, 1, 1]);
    (0..10).for_each(|v| z.set(v));
    assert_eq!(counts(), [1, 1, 11], "the effect reads the inner through the switch");
    a.set(2);
    assert_eq!(counts(), [2, 2, 12]);
    assert_eq!((computed.get(), switched.get()), (11, 9));
}
