//! Re-linking again and again leaves nothing: cells, edges, capacity and bytes are as they were (rules C1, P5).

use hyphae::{Cell, CellImmutable, Pipeline, Source, arena, batch, effect};

use crate::support::{Count, live, owning};

/// How often; without optimisation a tenth of it.
const TIMES: u64 = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };

/// Writes `sel` often after a warm-up, which must leave everything as it was. `check` is asked after each write.
fn relink(sel: &Cell<u64>, check: impl Fn(u64)) {
    let step = |v| {
        sel.set(v);
        check(v);
    };
    (0..100).for_each(step);
    let before = (live(), arena::capacity());
    (0..TIMES).for_each(step);
    assert_eq!((live(), arena::capacity()), before);
}

fn pair() -> [Cell<u64, CellImmutable>; 2] {
    [0, 1].map(|n| Cell::new(n).map(|n| *n).materialize())
}

#[test]
fn a_switch_between_cached_cells() {
    let (sel, cached, calls) = (Cell::new(1), pair(), Count::new());
    let o = sel.switch_map(owning!([cached] move |v| cached[(v % 2) as usize].clone()));
    let guard = o.watch_changes(owning!([calls] move |_| calls.up()));
    relink(&sel, |v| assert_eq!(o.get(), v % 2));
    assert_eq!(calls.get() as u64, TIMES + 100, "each set switches");
    assert_eq!(cached.each_ref().map(Cell::dependents), [0, 1]);
    drop((sel, o, guard, cached));
    arena::assert_no_live();
}

#[test]
fn a_switch_to_fresh_cells() {
    let (sel, source, dropped) = (Cell::new(0), Cell::new(1), Count::new());
    let o = sel.switch_map(owning!([source, dropped] move |v| {
        let (v, token) = (*v, dropped.token());
        (&source).map(move |s| (s + v, &token).0).materialize()
    }));
    relink(&sel, |v| assert_eq!(o.get(), v + 1));
    assert_eq!((dropped.get() as u64, source.dependents()), (TIMES + 100, 1));
    drop((sel, o, source));
    arena::assert_no_live();
}

#[test]
fn a_computed_cell_that_reads_in_turn() {
    let (sel, cached) = (Cell::new(0), pair());
    let o = Cell::computed(owning!([sel, cached] move || cached[(sel.get() % 2) as usize].get()));
    relink(&sel, |v| assert_eq!(o.get(), v % 2));
    assert_eq!(cached.each_ref().map(Cell::dependents), [0, 1]);
    drop((sel, o, cached));
    arena::assert_no_live();
}

#[test]
fn an_effect_that_reads_in_turn() {
    let (sel, cached, sum) = (Cell::new(0), pair(), Count::new());
    let guard = effect(owning!([sel, cached, sum] move || {
        if cached[(sel.get() % 2) as usize].get() == 1 {
            sum.up();
        }
    }));
    relink(&sel, |_| ());
    assert_eq!(sum.get() as u64, (TIMES + 100) / 2);
    assert_eq!(cached.each_ref().map(Cell::subscriber_count), [0, 1]);
    drop((sel, guard, cached));
    arena::assert_no_live();
}

#[test]
fn nested_switches_with_clean_ups() {
    let (sel, cached, open) = (Cell::new(0), pair(), Count::new());
    let o = sel.switch_map(owning!([sel, cached, open] move |_| {
        hyphae::on_cleanup(owning!([open] move || open.up()));
        sel.switch_map(owning!([cached] move |v| cached[(v % 2) as usize].clone()))
    }));
    relink(&sel, |v| assert_eq!(o.get(), v % 2));
    assert_eq!(open.get() as u64, TIMES + 100);
    drop((sel, o, cached));
    arena::assert_no_live();
}

#[test]
fn a_merge_map_whose_inner_cells_end() {
    let source = Source::new();
    let o = source.clone().merge_map(|v: &u64| {
        let inner = Cell::new(*v);
        inner.complete();
        inner
    });
    (0..100).for_each(|v| source.emit(v));
    let before = (live(), arena::capacity());
    for v in 0..TIMES {
        source.emit(v);
        assert_eq!(o.get(), Some(v));
    }
    assert_eq!((live(), arena::capacity()), before);
    drop((source, o));
    arena::assert_no_live();
}

/// Many in one batch, which settles once, and reads in between, which settle too.
#[test]
fn re_links_inside_a_batch() {
    let (sel, cached, runs) = (Cell::new(0_u64), pair(), Count::new());
    let o = sel.switch_map(owning!([cached, runs] move |v| {
        runs.up();
        cached[(v % 2) as usize].clone()
    }));
    assert_eq!(runs.get(), 1);
    batch(|| relink(&sel, |v| assert_eq!(o.get(), v % 2)));
    assert_eq!(runs.get() as u64, 101 + TIMES, "once for each read");
    batch(|| (0..TIMES).for_each(|v| sel.set(v)));
    assert_eq!((runs.get() as u64, o.get()), (TIMES + 102, 1));
}
