//! `with_latest_from`, `sample`, `sample_on` in pipelines: seedness, stages around them, sources, sharing.

use hyphae::{Cell, CellImmutable, Pipeline, Source, arena, batch};

use crate::support::{Count, Heard, Log};

#[test]
fn stages_before_and_after() {
    let (n, factor) = (Cell::new(1), Cell::new(10));
    let odd: Cell<Option<i32>, CellImmutable> = (&n)
        .filter(|v| v % 2 == 1)
        .with_latest_from(&factor)
        .map(|(v, factor)| v * factor)
        .filter(|v| *v != 50)
        .materialize();
    let log = Log::new();
    let _guard = log.on(&odd);
    factor.set(2);
    [2, 3, 4].into_iter().for_each(|v| n.set(v));
    factor.set(10);
    [5, 7].into_iter().for_each(|v| n.set(v));
    log.check(&[Some(10), Some(6), Some(70)]);
    assert_eq!(arena::operator(odd.cell_id()), Some("filter"));
    assert_eq!(arena::dependencies(odd.cell_id()).map(|ids| ids.len()), Some(2));
}

#[test]
fn several_cells_beside_one_chain() {
    let (n, a, b) = (Cell::new(1), Cell::new("a"), Cell::new('b'));
    let all = (&n).with_latest_from(&a).with_latest_from(&b).materialize();
    batch(|| {
        b.set('c');
        a.set("d");
    });
    assert_eq!(all.get(), ((1, "a"), 'b'));
    n.set(2);
    assert_eq!(all.get(), ((2, "d"), 'c'));
}

#[test]
fn a_source_has_no_value_at_first() {
    let (keys, mode) = (Source::new(), Cell::new(1));
    let pressed = keys.clone().with_latest_from(&mode).materialize();
    let log = Log::new();
    let _guard = log.hear(&pressed);
    mode.set(2);
    keys.emit('a');
    batch(|| {
        keys.emit('b');
        mode.set(3);
        keys.emit('c');
    });
    keys.complete();
    let value = |key, mode| Heard::Value(Some((key, mode)));
    // A plain write belongs to the first round: both events of the batch see it.
    let expected =
        [Heard::Value(None), value('a', 2), value('b', 3), value('c', 3), Heard::Complete];
    log.check(&expected);
}

#[test]
fn what_is_read_beside_is_up_to_date_at_a_read_in_a_batch() {
    let (n, other) = (Cell::new(1), Cell::new(1));
    let runs = Count::new();
    let derived = (&other).map(runs.of(|v: &i32| v * 10)).materialize();
    let both = (&n).with_latest_from(&derived).materialize();
    batch(|| {
        other.set(2);
        assert_eq!((both.get(), runs.get()), ((1, 10), 2));
        n.set(2);
        assert_eq!((both.get(), runs.get()), ((2, 20), 2));
        other.set(3);
        assert_eq!((both.get(), runs.get()), ((2, 20), 3));
    });
    assert_eq!(both.get(), (2, 20));
}

/// What is read beside may be younger than the chain's own input, and deeper.
#[test]
fn a_younger_and_deeper_cell_beside() {
    let n = Cell::new(1);
    let deep = (0..20).fold(n.clone().lock(), |cell, _| cell.map(|v| v + 1).materialize());
    let (plan, log) = (n.clone().with_latest_from(&deep), Log::new());
    let _guard = log.on(&plan.materialize());
    n.set(2);
    log.check(&[(1, 21), (2, 22)]);
}

#[test]
fn a_plan_that_reads_beside_costs_nothing() {
    let (n, other) = (Cell::new(1), Cell::new(1));
    let before = arena::totals();
    let plan = n.clone().with_latest_from(&other).map(|(a, b)| a + b);
    let sampled = n.sample(&other);
    assert_eq!(format!("{plan:?} {sampled:?}"), "Plan(.. map) Plan(.. sample)");
    let after = arena::totals();
    assert_eq!((after.cells, after.edges), (before.cells, before.edges));
    assert_eq!((n.dependents(), other.dependents()), (0, 0));
    let weak = (n.downgrade(), other.downgrade());
    drop((n, other));
    assert!(weak.0.is_alive() && weak.1.is_alive(), "a plan keeps what it reads");
    drop((plan, sampled));
    arena::assert_no_live();
}

#[test]
fn sample_is_a_pipeline() {
    let (level, tick) = (Cell::new(1), Cell::new(()));
    let sums = level.sample(&tick).scan(0, |sum, v| sum + v).deduped().take(4).materialize();
    let log = Log::new();
    let _guard = log.hear(&sums);
    tick.set(());
    level.set(0);
    tick.set(());
    level.set(5);
    tick.set(());
    tick.set(());
    log.check(&[
        Heard::Value(1),
        Heard::Value(2),
        Heard::Value(7),
        Heard::Value(12),
        Heard::Complete,
    ]);
    assert_eq!((level.dependents(), tick.dependents()), (0, 0));
}

#[test]
fn sample_on_takes_an_event_in_a_callback() {
    let (level, tick, n) = (Cell::new(1), Source::new(), Cell::new(0));
    let sampled = level.sample_on(&tick);
    let log = Log::new();
    let _guard = log.on(&sampled);
    // An event sent by a subscriber is a wave of its own.
    let _acts = n.watch_changes({
        let (level, tick) = (level.clone(), tick.clone());
        move |n| {
            level.set(*n);
            tick.emit(());
        }
    });
    n.set(7);
    log.check(&[1, 7]);
}

#[test]
fn an_event_in_flight_is_not_sampled_at_construction() {
    let (level, tick) = (Cell::new(1), Source::new());
    let made = Log::new();
    let _makes = tick.subscribe({
        let (level, tick, made) = (level.clone(), tick.clone(), made.clone());
        move |_| {
            let sampled = level.sample_on(&tick);
            let log = Log::new();
            made.push((log.on(&sampled), log));
        }
    });
    tick.emit(1);
    tick.complete();
    let (_guard, log) = made.take().remove(0);
    log.check(&[1]);
}

#[test]
fn consumers_share_both_edges() {
    let (n, other) = (Cell::new(1), Cell::new(10));
    let runs = Count::new();
    let shared = (&n).with_latest_from(&other).map(runs.of(|(a, b): &(i32, i32)| a + b)).share();
    assert_eq!((n.dependents(), other.dependents(), runs.get()), (0, 0, 0));
    let (a, b) = (shared.clone().materialize(), shared.clone().map(|v| v * 2).materialize());
    assert_eq!((n.dependents(), other.dependents(), runs.get()), (1, 1, 1));
    other.set(20);
    assert_eq!((a.get(), b.get(), runs.get()), (11, 22, 1));
    n.set(2);
    assert_eq!((a.get(), b.get(), runs.get()), (22, 44, 2));
    drop((a, b));
    assert_eq!((n.dependents(), other.dependents()), (0, 0));
    // It starts again from the current values, of the cell beside too.
    other.set(30);
    let again = shared.clone().materialize();
    assert_eq!((again.get(), runs.get(), other.dependents()), (32, 3, 1));
    n.complete();
    assert!(again.is_complete());
    assert_eq!((n.dependents(), other.dependents()), (0, 0));
}

/// What is shared beside a chain: the hidden cell is found again at each start.
#[test]
fn a_shared_pipeline_of_a_shared_pipeline() {
    let (n, other) = (Cell::new(1), Cell::new(10));
    let inner = (&n).map(|v| v * 100).share();
    let outer = inner.clone().with_latest_from(&other).share();
    for round in 0..3 {
        let consumer = outer.clone().materialize();
        n.set(round);
        assert_eq!(consumer.get(), (round * 100, 10));
        assert_eq!((n.dependents(), other.dependents()), (1, 1));
        drop(consumer);
        assert_eq!((n.dependents(), other.dependents()), (0, 0));
    }
    drop((inner, outer, n, other));
    arena::assert_no_live();
}
