//! What a pipeline costs: nothing before it is materialized; then one node, one edge for each root, and one run of each
//! closure at construction and for each input.

use hyphae::{Cell, Pipeline, Source, arena, batch};

use crate::support::Count;

#[test]
fn a_plan_costs_nothing() {
    let cell = Cell::new(1);
    let runs = Count::new();
    let before = arena::totals();
    let plan = cell.clone().map(runs.of(|v: &i32| v + 1)).filter(|_| true).scan(0, |a, v| a + v);
    cell.set(2);
    let after = arena::totals();
    assert_eq!((after.cells, after.edges), (before.cells, before.edges));
    assert_eq!((runs.get(), after.recomputations), (0, before.recomputations));
    assert_eq!(format!("{plan:?}"), "Plan(.. scan)");
    drop(plan);
    assert_eq!(runs.get(), 0);
}

/// A counted closure at every operator that takes one.
#[test]
fn each_closure_runs_once_at_construction_and_once_for_an_input() {
    let cell = Cell::new(0);
    let c: [Count; 12] = std::array::from_fn(|_| Count::new());
    let two = |count: &Count| {
        let count = count.clone();
        move |a: &i32, b: &i32| {
            count.up();
            a + b
        }
    };
    let chain = cell
        .clone()
        .map(c[0].of(|v: &i32| *v))
        .filter(c[1].of(|_: &i32| true))
        .tap(c[2].of(|_: &i32| ()))
        .try_map(c[3].of(|v: &i32| if v % 2 == 0 { Ok(*v) } else { Err(*v) }))
        .map_ok(c[4].of(|v: &i32| *v))
        .map_err(c[5].of(|v: &i32| *v))
        .unwrap_or_else(c[6].of(|v: &i32| *v))
        .scan(0, two(&c[7]))
        .take_while(c[8].of(|_: &i32| true))
        .skip_while(c[9].of(|v: &i32| *v > 100))
        .distinct_until_changed_by({
            let count = c[10].clone();
            move |_, _| {
                count.up();
                false
            }
        })
        .materialize();
    let runs = || c.each_ref().map(Count::get);
    // The comparison has nothing to compare with at construction, an `Ok` has no error to map.
    assert_eq!(runs(), [1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0]);
    cell.set(1);
    // The gate of `skip_while` is open for ever after its first value.
    assert_eq!(runs(), [2, 2, 2, 2, 1, 1, 1, 2, 2, 1, 1, 0]);
    batch(|| (0..10).for_each(|v| cell.set(2 * v)));
    assert_eq!(runs(), [3, 3, 3, 3, 2, 1, 1, 3, 3, 1, 2, 0]);
    assert_eq!((chain.get(), cell.dependents()), (Some(19), 1));
    drop(chain);
    cell.set(1);
    assert_eq!(runs(), [3, 3, 3, 3, 2, 1, 1, 3, 3, 1, 2, 0]);
}

#[test]
fn what_a_gate_drops_is_not_computed_further() {
    let cell = Cell::new(1);
    let (runs, below) = (Count::new(), Count::new());
    let even = cell.clone().filter(|v| v % 2 == 0).map(runs.of(|v: &i32| *v)).materialize();
    let sink = (&even).map(below.of(|v: &Option<i32>| *v)).materialize();
    let turns = arena::totals().recomputations;
    cell.set(3);
    assert_eq!((runs.get(), below.get(), sink.get()), (0, 1, None));
    assert_eq!(arena::totals().recomputations - turns, 1);
    cell.set(4);
    assert_eq!((runs.get(), below.get(), sink.get()), (1, 2, Some(4)));
}

#[test]
fn materializing_a_cell_is_the_cell_itself() {
    let cell = Cell::new(1);
    let before = arena::totals().cells;
    let locked = cell.clone().materialize();
    assert_eq!((locked.cell_id(), arena::totals().cells), (cell.cell_id(), before));
    // A reference is a plan that reads it.
    let copy = Pipeline::materialize(&cell);
    assert_ne!(copy.cell_id(), cell.cell_id());
    cell.set(2);
    assert_eq!((locked.get(), copy.get()), (2, 2));
}

/// A map needs no `Clone` of its input nor of what it makes.
#[test]
fn values_without_clone_flow_through_maps() {
    struct Opaque(i32);
    let cell = Cell::new(Opaque(1));
    let doubled = (&cell).map(|o| Opaque(o.0 * 2)).materialize();
    let sum = (&doubled).filter(|o| o.0 < 100).map(|o| o.0).scan(0, |a, v| a + v).materialize();
    cell.set(Opaque(5));
    assert_eq!((doubled.with(|o| o.0), sum.get()), (10, Some(12)));
    let source = Source::<Opaque>::new();
    let count = source.clone().tap(|_| ()).map(|o| o.0).materialize();
    source.emit(Opaque(3));
    assert_eq!(count.get(), Some(3));
}

#[test]
fn a_source_behind_a_chain_is_one_edge() {
    let source = Source::<i32>::new();
    let before = arena::totals();
    let _sum = source.clone().filter(|v| *v > 0).map(|v| v * 2).scan(0, |a, v| a + v).materialize();
    let after = arena::totals();
    assert_eq!((after.cells - before.cells, after.edges - before.edges), (1, 1));
}
