//! P5: what the closure of a switch, a computed cell or an effect makes, registers, drops and writes.

use hyphae::{Cell, CellImmutable, Pipeline, Scope, WeakCell, arena, batch, effect, on_cleanup};

use crate::support::{Count, Log, Slot, caught, owning, turns};

type Derived = Cell<i32, CellImmutable>;

/// Clean-ups run before the next run, the last registered first; a run that registers none has none.
#[test]
fn clean_ups_belong_to_one_run() {
    let (sel, log) = (Cell::new(2), Log::new());
    let o = sel.switch_map(owning!([log] move |n| {
        let n = *n;
        log.push(format!("run {n}"));
        (0..n).for_each(|i| on_cleanup(owning!([log] move || log.push(format!("{n}.{i}")))));
        Cell::new(n)
    }));
    [0, 1, 3].into_iter().for_each(|n| sel.set(n));
    log.check(&["run 2", "2.1", "2.0", "run 0", "run 1", "1.0", "run 3"]);
    log.take();
    o.dispose();
    log.check(&["3.2", "3.1", "3.0"]);
    drop((o, sel));
    assert_eq!(log.len(), 3, "each once");
}

/// The clean-up of a run still finds what the run made, and the cells it read, with the values of the wave.
#[test]
fn clean_ups_find_their_cells() {
    let (sel, other, log) = (Cell::new(1), Cell::new(10), Log::new());
    let o = sel.switch_map(owning!([other, log] move |n| {
        let (n, made) = (*n, Cell::new(*n * 100));
        on_cleanup(owning!([made, other, log] move || log.push((n, made.get(), other.get()))));
        made
    }));
    batch(|| {
        other.set(20);
        sel.set(2);
    });
    drop(o);
    log.check(&[(1, 100, 20), (2, 200, 20)]);
}

/// A clean-up may make cells, subscribe, write, and register nothing: its run is over.
#[test]
fn clean_ups_may_do_anything() {
    let (sel, out, calls) = (Cell::new(1), Cell::new(0), Count::new());
    let o = sel.switch_map(owning!([sel, out, calls] move |n| {
        on_cleanup(owning!([sel, out, calls] move || {
            let doubled = (&sel).map(|v| v * 2).materialize();
            drop(doubled.watch(owning!([calls] move |_| calls.up())));
            out.set(doubled.get());
        }));
        Cell::new(*n)
    }));
    sel.set(5);
    assert_eq!((out.get(), calls.get(), o.get()), (10, 1, 5));
    drop(o);
    assert_eq!((out.get(), calls.get(), sel.dependents()), (10, 2, 0));
}

/// Outside of a closure with a scope there is nothing to clean up after.
#[test]
fn a_clean_up_needs_a_closure_that_runs_again() {
    let a = Cell::new(1);
    assert!(caught(|| on_cleanup(|| ())).is_some_and(|text| text.contains("on_cleanup")));
    let in_subscriber = caught(|| drop(a.watch(|_| on_cleanup(|| ()))));
    assert!(in_subscriber.is_some_and(|text| text.contains("on_cleanup")));
    let _computed = Cell::computed(owning!([a] move || {
        on_cleanup(|| ());
        a.get()
    }));
    let after = caught(|| on_cleanup(|| ()));
    assert!(after.is_some(), "the scope of the closure is over with it");
}

/// A switch made inside a user's scope: the scope owns the output, the closure's cells belong to their handles.
#[test]
fn the_scope_around_a_switch_does_not_own_its_inner_cells() {
    let (sel, dropped, cleaned) = (Cell::new(0), Count::new(), Count::new());
    let scope = Scope::new();
    let o = scope.run(|| {
        sel.switch_map(owning!([dropped, cleaned] move |_| {
            let token = dropped.token();
            on_cleanup(owning!([cleaned] move || cleaned.up()));
            Cell::new(()).map(move |()| (7, &token).0).materialize()
        }))
    });
    let cells = arena::totals().cells;
    for n in 1..=10 {
        sel.set(n);
        assert_eq!((dropped.get(), cleaned.get()), (n as usize, n as usize));
        assert_eq!(arena::totals().cells, cells);
    }
    drop(scope);
    assert_eq!((dropped.get(), cleaned.get()), (11, 11));
    assert!(o.try_get().is_err(), "disposed of with the scope");
}

/// A closure that gives a handle away: that cell outlives the switch, the others do not.
#[test]
fn a_handle_given_away_keeps_its_cell() {
    let (sel, source) = (Cell::new(0), Cell::new(1));
    let (kept, lost) = (Slot::<Derived>::new(), Slot::<WeakCell<i32, CellImmutable>>::new());
    let o = sel.switch_map(owning!([source, kept, lost] move |v| {
        let v = *v;
        let [a, b] = [10, 100].map(|f| (&source).map(move |s| s * f + v).materialize());
        if kept.is_empty() {
            kept.put(a.clone());
        }
        lost.put(b.downgrade());
        b
    }));
    let first = lost.full();
    sel.set(1);
    drop(o);
    assert!(!first.is_alive() && !lost.full().is_alive());
    source.set(2);
    assert_eq!((kept.full().get(), source.dependents()), (20, 1));
}

/// The output is dropped by its own closure, at a later run: the run ends well, nothing is left.
#[test]
fn the_output_dropped_inside_its_closure() {
    for kind in 0..2 {
        let (sel, slot, runs, cleaned) =
            (Cell::new(0), Slot::<Derived>::new(), Count::new(), Count::new());
        let step = owning!([slot, runs, cleaned] move |v: i32| {
            runs.up();
            on_cleanup(owning!([cleaned] move || cleaned.up()));
            if v == 1 {
                drop(slot.take());
            }
            v
        });
        slot.put(if kind == 0 {
            sel.switch_map(move |v| Cell::new(step(*v)))
        } else {
            Cell::computed(owning!([sel] move || step(sel.get())))
        });
        let weak = slot.full().downgrade();
        sel.set(1);
        assert!(!weak.is_alive());
        assert_eq!((runs.get(), cleaned.get(), sel.dependents()), (2, 2, 0), "{kind}");
        sel.set(2);
        assert_eq!(runs.get(), 2);
        assert_eq!((arena::totals().cells, arena::totals().edges), (1, 0));
    }
}

/// A closure that makes, and throws away, much more than it gives.
#[test]
fn what_a_closure_throws_away_is_gone() {
    let (sel, source, dropped) = (Cell::new(0), Cell::new(1), Count::new());
    let o = sel.switch_map(owning!([source, dropped] move |v| {
        for _ in 0..100 {
            let token = dropped.token();
            let brief = (&source).map(move |s| (*s, &token).0).materialize();
            drop(brief.watch(|_| ()));
        }
        Cell::new(*v)
    }));
    sel.set(1);
    assert_eq!((dropped.get(), source.dependents(), o.get()), (200, 0, 1));
    assert_eq!(turns(|| source.set(2)), 0);
}

/// A closure that writes cells: its inner, others, its own selector; each write is a wave after the one under way.
#[test]
fn a_closure_that_writes() {
    let (sel, other) = (Cell::new(0), Cell::new(0));
    let log = Log::new();
    let o = sel.switch_map(owning!([sel, other] move |v| {
        other.set(v * 10);
        if v % 3 != 0 {
            sel.set(v + 1);
        }
        let inner = Cell::new(*v);
        inner.set(v + 100);
        inner
    }));
    let both = o.join(&other);
    let _guard = log.on(&both);
    sel.set(1);
    assert_eq!((sel.get(), both.get()), (3, (103, 30)));
    let seen = log.take();
    assert_eq!(seen.first(), Some(&(100, 0)));
    let values: Vec<i32> = seen.iter().map(|(o, _)| o % 100).collect();
    assert!(values.is_sorted(), "in the order of the writes: {seen:?}");
    assert_eq!(seen.last(), Some(&(103, 30)));
}

/// The scope of a run is that of its closure only: not of the callbacks that its writes cause, nor of nested closures.
#[test]
fn the_innermost_closure_takes_the_clean_up() {
    let (outer, inner, log) = (Cell::new(0), Cell::new(0), Log::new());
    let o = outer.switch_map(owning!([inner, log] move |_| {
        let nested = Cell::computed(owning!([inner, log] move || {
            on_cleanup(owning!([log] move || log.push("nested")));
            inner.get()
        }));
        on_cleanup(owning!([log] move || log.push("outer")));
        nested
    }));
    inner.set(1);
    log.check(&["nested"]);
    outer.set(1);
    let mut closed = log.take();
    closed.sort_unstable();
    assert_eq!(closed, ["nested", "nested", "outer"]);
    drop(o);
    let mut closed = log.take();
    closed.sort_unstable();
    assert_eq!(closed, ["nested", "outer"]);
}

/// `dispose` of an inner that others hold: the switch keeps its last value and goes on with the next selector.
#[test]
fn an_inner_that_is_disposed_of() {
    let sel = Cell::new(0);
    let inners = [Cell::new(1), Cell::new(2)];
    let o = sel.switch_map(owning!([inners] move |v: &usize| inners[*v].clone()));
    inners[0].dispose();
    assert_eq!((o.get(), o.is_complete()), (1, false));
    sel.set(1);
    inners[1].set(5);
    assert_eq!(o.get(), 5);
    assert!(caught(|| sel.set(0)).is_some_and(|text| text.contains("disposed")));
    assert_eq!(o.get(), 5, "a disposed inner can't be read: as if the closure had panicked");
    inners[1].set(6);
    assert_eq!(o.get(), 5);
    sel.set(1);
    assert_eq!(o.get(), 6);
}

/// An effect in the closure lives by its guard.
#[test]
fn an_effect_in_a_closure_lives_by_its_guard() {
    let (sel, source, log) = (Cell::new(0), Cell::new(1), Log::new());
    let kept = Slot::new();
    let o = sel.switch_map(owning!([source, log, kept] move |v| {
        let v = *v;
        let guard = effect(owning!([source, log] move || log.push((v, source.get()))));
        if v == 0 { kept.put(guard) } else { drop(guard) }
        Cell::new(v)
    }));
    sel.set(1);
    source.set(2);
    log.check(&[(0, 1), (1, 1), (0, 2)]);
    drop((o, kept.take()));
    source.set(3);
    assert_eq!((log.len(), source.subscriber_count()), (3, 0));
}

/// What a closure makes is behind its switch in the order, also where cells that went have left room before it: it does
/// not run in the wave that tears it down, however the switch is reached.
#[test]
fn inner_cells_do_not_run_in_the_wave_that_drops_them() {
    let (source, runs) = (Cell::new(1), Count::new());
    let room: Vec<_> = (0..1000).map(|_| (&source).map(|v| *v).materialize()).collect();
    let mut far = source.clone().lock();
    for _ in 0..20 {
        far = far.map(|v| *v).materialize();
    }
    let fresh = owning!([source, runs] move |_: &i32| {
        let first = (&source).map(runs.of(|v: &i32| *v)).materialize();
        let second = Cell::computed(owning!([source, runs] move || {
            runs.up();
            source.get()
        }));
        let nested = source.switch_map(owning!([runs] move |v| {
            runs.up();
            Cell::new(*v)
        }));
        hyphae::join_vec([first, second, nested])
    });
    let o = far.switch_map(fresh);
    drop(room);
    assert_eq!(runs.get(), 3);
    for v in 2..50 {
        source.set(v);
        assert_eq!(o.get(), [v; 3]);
        assert_eq!(runs.get(), 3 * v as usize, "only when they are made");
    }
}

/// The same after an older cell has read the inner for a while, and has thereby pulled it down in the order.
#[test]
fn an_inner_that_was_read_by_an_older_cell_stays_behind_its_switch() {
    let (source, look, runs) = (Cell::new(1), Cell::new(false), Count::new());
    let room: Vec<_> = (0..1000).map(|_| (&source).map(|v| *v).materialize()).collect();
    let slot = Slot::<WeakCell<i32, CellImmutable>>::new();
    let older = Cell::computed(owning!([look, slot] move || {
        let inner = if look.get() { slot.get().and_then(|weak| weak.upgrade()) } else { None };
        inner.map_or(-1, |inner| inner.get())
    }));
    let mut far = source.clone().lock();
    for _ in 0..20 {
        far = far.map(|v| *v).materialize();
    }
    let o = far.switch_map(owning!([source, runs, slot] move |_| {
        let inner = (&source).map(runs.of(|v: &i32| *v)).materialize();
        slot.put(inner.downgrade());
        inner
    }));
    drop(room);
    for v in 2..20 {
        look.set(true);
        assert_eq!(older.get(), v - 1);
        look.set(false);
        source.set(v);
        assert_eq!((o.get(), older.get(), runs.get()), (v, -1, v as usize));
    }
}

/// Cells that a computed cell, or an effect, made and read in one run are gone when the next begins.
#[test]
fn what_a_reader_made_is_gone_before_its_next_run() {
    for kind in 0..2 {
        let (n, alive) = (Cell::new(0), Log::new());
        let last = Slot::<WeakCell<i32, CellImmutable>>::new();
        let run = owning!([n, alive, last] move || {
            let v = n.get();
            last.get().into_iter().for_each(|weak| alive.push(weak.is_alive()));
            let made = Cell::new(v * 10).map(|v| *v).materialize();
            last.put(made.downgrade());
            made.get()
        });
        if kind == 0 {
            let o = Cell::computed(run);
            (1..4).for_each(|v| n.set(v));
            assert_eq!(o.get(), 30);
        } else {
            let _guard = effect(move || {
                run();
            });
            (1..4).for_each(|v| n.set(v));
        }
        alive.check(&[false; 3]);
        assert!(!last.full().is_alive());
    }
}
