//! GL again where dependencies are found by reading, or change in the wave (rules P0, P14).

use hyphae::{Cell, CellImmutable, Pipeline, arena, batch, effect};

use crate::support::{Count, Log, owning, turns};

/// The pair of a value and a pair of it, with reads for edges.
#[test]
fn gl_1_a_computed_pair_is_never_torn() {
    let (a, c) = (Cell::new(0), Cell::new(0));
    let runs = Count::new();
    let b = Cell::computed(owning!([a, c] move || (a.get(), c.get())));
    let d = Cell::computed(owning!([a, b, runs] move || {
        runs.up();
        (a.get(), b.get())
    }));
    let log = Log::new();
    let _guard = log.on(&d);
    assert_eq!(turns(|| a.set(1)), 2, "b and d once each");
    assert_eq!(turns(|| c.set(5)), 2);
    log.check(&[(0, (0, 0)), (1, (1, 0)), (1, (1, 5))]);
    assert_eq!(runs.get(), 3);
}

/// Paths of very different length, the short one read last and first.
#[test]
fn gl_1_computed_paths_of_different_length() {
    let a = Cell::new(0_i64);
    let mut long = a.clone().lock();
    for _ in 0..50 {
        long = Cell::computed(move || long.get() + 1);
    }
    let runs = Count::new();
    let torn = Cell::computed(owning!([a, long, runs] move || {
        runs.up();
        let (first, far, last) = (a.get(), long.get(), a.get());
        first != last || far - first != 50
    }));
    let log = Log::new();
    let _guard = log.on(&torn);
    a.set(7);
    batch(|| (8..20).for_each(|v| a.set(v)));
    log.check(&[false; 3]);
    assert_eq!(runs.get(), 3);
}

/// A diamond one side of which is replaced in the wave that changes both.
#[test]
fn gl_1_a_diamond_through_a_switch() {
    let a = Cell::new(2);
    let factor = (&a).map(|v| if v % 2 == 0 { 10 } else { 100 }).deduped().materialize();
    let product = factor.switch_map(owning!([a] move |f| {
        let f = *f;
        (&a).map(move |v| v * f).materialize()
    }));
    let runs = Count::new();
    let pairs = a.join(&product).map(runs.of(|pair: &(i32, i32)| *pair)).materialize();
    let log = Log::new();
    let _guard = log.on(&pairs);
    [4, 5, 7, 8].into_iter().for_each(|v| a.set(v));
    batch(|| [9, 10, 11].into_iter().for_each(|v| a.set(v)));
    log.check(&[(2, 20), (4, 40), (5, 500), (7, 700), (8, 80), (11, 1100)]);
    assert_eq!(runs.get(), 6);
}

/// The same with the inner cells kept, so that they are older than the switch and run in each wave anyhow.
#[test]
fn gl_1_a_diamond_through_a_switch_to_cached_cells() {
    let a = Cell::new(2);
    let [ten, hundred] = [10, 100].map(|f| (&a).map(move |v| v * f).materialize());
    let product = a.switch_map(move |v| if v % 2 == 0 { ten.clone() } else { hundred.clone() });
    let sum = Cell::computed(owning!([a, product] move || (a.get(), product.get())));
    let log = Log::new();
    let _guard = log.on(&sum);
    [4, 5, 7, 8].into_iter().for_each(|v| a.set(v));
    log.check(&[(2, 20), (4, 40), (5, 500), (7, 700), (8, 80)]);
}

/// A cell read for the first time in a wave in which it has yet to be computed (rule P14).
#[test]
fn gl_1_a_first_read_in_the_wave_gets_the_new_value() {
    let a = Cell::new(0);
    let slot = crate::support::Slot::<Cell<i32, CellImmutable>>::new();
    let runs = Count::new();
    let reader = Cell::computed(owning!([a, slot, runs] move || {
        runs.up();
        let v = a.get();
        (v, slot.get().filter(|_| v % 2 == 1).map(|far| far.get()))
    }));
    let mut far = a.clone().lock();
    for _ in 0..100 {
        far = far.map(|v| v + 1).materialize();
    }
    slot.put(far);
    let log = Log::new();
    let _guard = log.on(&reader);
    (1..=4).for_each(|v| a.set(v));
    log.check(&[(0, None), (1, Some(101)), (2, None), (3, Some(103)), (4, None)]);
    assert!(
        runs.get() <= 5 + 2,
        "one run more at most for each read that had to wait: {}",
        runs.get()
    );
}

/// An effect that reads both branches of a diamond ran once for each.
#[test]
fn gl_1_an_effect_sees_one_wave() {
    let a = Cell::new(1);
    let (ten, hundred) = ((&a).map(|v| v * 10).materialize(), (&a).map(|v| v * 100).materialize());
    let log = Log::new();
    let _guard = effect(
        owning!([a, ten, hundred, log] move || log.push((hundred.get(), a.get(), ten.get()))),
    );
    a.set(2);
    batch(|| (3..6).for_each(|v| a.set(v)));
    log.check(&[(100, 1, 10), (200, 2, 20), (500, 5, 50)]);
}

/// k paths from source to sink gave k runs of the sink.
#[test]
fn gl_3_a_wide_computed_diamond_runs_its_sink_once() {
    let a = Cell::new(1);
    let (branch_runs, sink_runs, effects) = (Count::new(), Count::new(), Count::new());
    let branches: Vec<_> = (0..100)
        .map(|i| {
            Cell::computed(owning!([a, branch_runs] move || {
                branch_runs.up();
                a.get() + i
            }))
        })
        .collect();
    let sum = Cell::computed(owning!([branches, sink_runs] move || {
        sink_runs.up();
        branches.iter().map(Cell::get).sum::<i32>()
    }));
    let log = Log::new();
    let _guard = log.on(&sum);
    assert_eq!(turns(|| a.set(2)), 101);
    assert_eq!((branch_runs.get(), sink_runs.get()), (200, 2));
    let _effect = effect(owning!([branches, effects] move || {
        effects.up();
        branches.iter().for_each(|b| {
            b.get();
        });
    }));
    a.set(3);
    log.check(&[5050, 5150, 5250]);
    assert_eq!((branch_runs.get(), sink_runs.get(), effects.get()), (300, 3, 2));
}

/// A computed, and an effect, whose inputs came out equal ran all the same.
#[test]
fn gl_5_a_computed_rests_when_no_input_changed() {
    let a = Cell::new("x");
    let b = (&a).map(|s| s.len()).deduped().materialize();
    let c = (&a).map(|s| s.is_empty()).deduped().materialize();
    let (runs, effects) = (Count::new(), Count::new());
    let d = Cell::computed(owning!([b, c, runs] move || {
        runs.up();
        (b.get(), c.get())
    }));
    let _effect = effect(owning!([b, c, effects] move || {
        effects.up();
        b.get();
        c.get();
    }));
    let log = Log::new();
    let _guard = log.on(&d);
    assert_eq!(turns(|| a.set("y")), 2, "b and c only");
    assert_eq!((runs.get(), effects.get()), (1, 1));
    a.set("yy");
    assert_eq!((runs.get(), effects.get()), (2, 2));
    log.check(&[(1, false), (2, false)]);
}

/// A selector that came out equal ran the switch.
#[test]
fn gl_5_a_switch_rests_when_its_selector_did_not_change() {
    let a = Cell::new(1);
    let positive = (&a).map(|v| *v > 0).deduped().materialize();
    let runs = Count::new();
    let o = positive.switch_map(runs.of(|p: &bool| Cell::new(*p)));
    let log = Log::new();
    let _guard = log.on(&o);
    assert_eq!(turns(|| (2..5).for_each(|v| a.set(v))), 3, "the selector only");
    assert_eq!(runs.get(), 1);
    a.set(-1);
    log.check(&[true, false]);
    assert_eq!(runs.get(), 2);
}

/// Each further read of one cell registered one edge more.
#[test]
fn gl_9_a_thousand_reads_are_one_edge() {
    let a = Cell::new(1);
    let runs = Count::new();
    let sum = Cell::computed(owning!([a, runs] move || {
        runs.up();
        (0..1000).map(|i| if i % 2 == 0 { a.get() } else { a.with(|v| *v) }).sum::<i32>()
    }));
    let effects = Count::new();
    let guard = effect(owning!([a, effects] move || {
        effects.up();
        (0..1000).for_each(|_| {
            a.get();
        });
    }));
    let log = Log::new();
    let _guard = log.on(&sum);
    assert_eq!(a.dependents() + a.callbacks(), 2, "the computed cell and the effect");
    a.set(2);
    assert_eq!(a.dependents() + a.callbacks(), 2);
    log.check(&[1000, 2000]);
    assert_eq!((runs.get(), effects.get()), (2, 2));
    drop(guard);
    sum.dispose();
    assert_eq!((a.subscriber_count(), arena::totals().edges), (0, 0));
}

/// One cell as selector and as inner, twice in a nested switch: an edge of each kind of reader, none left behind.
#[test]
fn gl_9_one_cell_in_all_roles_of_a_switch() {
    let a = Cell::new(1);
    let o = a.switch_map(owning!([a] move |_| {
        let inner = a.clone();
        a.switch_map(move |_| inner.clone())
    }));
    let log = Log::new();
    let guard = log.on(&o);
    let edges = arena::totals().edges;
    (2..10).for_each(|v| a.set(v));
    assert_eq!(arena::totals().edges, edges);
    log.check(&[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    drop((o, guard));
    assert_eq!((a.subscriber_count(), arena::totals().edges, arena::totals().cells), (0, 0, 1));
}
