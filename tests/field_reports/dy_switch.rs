//! DY-1, DY-2, DY-10 with operators whose inputs change: branches that come and go (rules P5, P12, P14).

use hyphae::{Cell, CellImmutable, Pipeline, arena, batch, effect};

use crate::support::{Count, Heard, Log, owning};

/// A branch that was not read for a while was stale when it was read again.
#[test]
fn dy_1_a_branch_switched_back_to_is_current() {
    let a = Cell::new(0);
    let b = (&a).map(|v| *v).materialize();
    let c =
        a.switch_map(owning!([a, b] move |x| if *x > 0 { a.clone().lock() } else { b.clone() }));
    let log = Log::new();
    let _guard = log.on(&c);
    [1, 0, -3].into_iter().for_each(|v| a.set(v));
    log.check(&[0, 1, 0, -3]);
}

/// The same by reads.
#[test]
fn dy_1_a_branch_read_again_is_current() {
    let a = Cell::new(0);
    let b = Cell::computed(owning!([a] move || a.get()));
    let c = Cell::computed(owning!([a, b] move || if a.get() > 0 { a.get() } else { b.get() }));
    let log = Log::new();
    let _guard = log.on(&c);
    assert_eq!(b.dependents(), 1);
    a.set(1);
    assert_eq!(b.dependents(), 0, "a read that is not made any more is no dependency");
    [0, -3].into_iter().for_each(|v| a.set(v));
    log.check(&[0, 1, 0, -3]);
}

/// Written many times while it was away, in waves, in a batch, and in the batch that switches back.
#[test]
fn dy_1_a_branch_written_while_it_was_away() {
    let (left, a) = (Cell::new(true), Cell::new(1));
    let (ten, minus) = ((&a).map(|v| v * 10).materialize(), (&a).map(|v| -v).materialize());
    let switched = left.switch_map(owning!([ten, minus] move |l| {
        if *l { ten.clone() } else { minus.clone() }
    }));
    let read = Cell::computed(owning!([left, ten, minus] move || {
        if left.get() { ten.get() } else { minus.get() }
    }));
    let (by_switch, by_read) = (Log::new(), Log::new());
    let _guards = (by_switch.on(&switched), by_read.on(&read));
    left.set(false);
    [2, 3].into_iter().for_each(|v| a.set(v));
    batch(|| [4, 5].into_iter().for_each(|v| a.set(v)));
    batch(|| {
        a.set(6);
        left.set(true);
        a.set(7);
    });
    let expected = [10, -1, -2, -3, -5, 70];
    by_switch.check(&expected);
    by_read.check(&expected);
}

/// The old branch was still evaluated on writes to its source.
#[test]
fn dy_2_the_branch_left_is_not_computed() {
    let (cond, a, b) = (Cell::new(true), Cell::new("a"), Cell::new("b"));
    let runs = Count::new();
    let c = cond.switch_map(owning!([a, b, runs] move |t| {
        if *t { (&a).map(runs.of(|v: &&str| *v)).materialize() } else { (&b).map(|v| *v).materialize() }
    }));
    let log = Log::new();
    let _guard = log.on(&c);
    b.set("b2");
    cond.set(false);
    assert_eq!((runs.get(), a.dependents(), b.dependents()), (1, 0, 1));
    a.set("a2");
    b.set("b3");
    log.check(&["a", "b2", "b3"]);
    assert_eq!((runs.get(), a.dependents()), (1, 0));
}

/// The same by reads: neither a computed cell nor an effect runs for the branch it does not read.
#[test]
fn dy_2_the_branch_not_read_triggers_nothing() {
    let (cond, a, b) = (Cell::new(true), Cell::new("a"), Cell::new("b"));
    let (runs, log, effects) = (Count::new(), Log::new(), Log::new());
    let c = Cell::computed(owning!([cond, a, b, runs] move || {
        runs.up();
        if cond.get() { a.get() } else { b.get() }
    }));
    let _effect = effect(owning!([cond, a, b, effects] move || {
        effects.push(if cond.get() { a.get() } else { b.get() });
    }));
    let _guard = log.on(&c);
    b.set("b2");
    assert_eq!((runs.get(), b.subscriber_count()), (1, 0));
    cond.set(false);
    assert_eq!((a.subscriber_count(), runs.get()), (0, 2));
    a.set("a2");
    b.set("b3");
    log.check(&["a", "b2", "b3"]);
    effects.check(&["a", "b2", "b3"]);
    assert_eq!(runs.get(), 3);
}

/// The flip, and a write to the branch it leaves, in one wave: that branch does not run a last time, however long.
#[test]
fn dy_2_the_branch_left_does_not_run_in_the_wave_that_leaves_it() {
    let (cond, a) = (Cell::new(true), Cell::new(1));
    let runs = Count::new();
    let c = cond.switch_map(owning!([a, runs] move |t| {
        let mut last = if *t { a.clone().lock() } else { Cell::new(-1).lock() };
        for _ in 0..10 {
            last = last.map(runs.of(|v: &i32| *v)).materialize();
        }
        last
    }));
    let log = Log::new();
    let _guard = log.on(&c);
    batch(|| {
        a.set(2);
        cond.set(false);
    });
    assert_eq!(runs.get(), 20, "ten at each construction");
    batch(|| {
        cond.set(true);
        a.set(3);
    });
    assert_eq!(runs.get(), 30);
    let read = batch(|| {
        a.set(4);
        cond.set(false);
        c.get()
    });
    assert_eq!((read, runs.get()), (-1, 40));
    log.check(&[1, -1, 3, -1]);
}

/// `merge_map` keeps its old branches on purpose, but lets go of one that has ended.
#[test]
fn dy_2_merge_map_leaves_a_branch_that_ended() {
    let (cond, a, b) = (Cell::new(true), Cell::new("a"), Cell::new("b"));
    let runs = Count::new();
    let c = cond.merge_map(owning!([a, b, runs] move |t| {
        if *t { (&a).map(runs.of(|v: &&str| *v)).materialize() } else { b.clone().lock() }
    }));
    let log = Log::new();
    let guard = log.hear(&c);
    cond.set(false);
    a.set("a2");
    b.set("b2");
    assert_eq!((runs.get(), a.dependents(), b.dependents()), (2, 1, 1));
    a.complete();
    assert_eq!((a.dependents(), b.dependents()), (0, 1));
    assert!(!c.is_complete());
    b.set("b3");
    cond.complete();
    b.complete();
    let heard = ["a", "b", "a2", "b2", "b3"].map(Heard::Value).into_iter().chain([Heard::Complete]);
    log.check(&heard.collect::<Vec<_>>());
    drop((c, guard, cond, a, b));
    arena::assert_no_live();
}

/// A branch that somebody else holds goes on, but not for the switch.
#[test]
fn dy_2_a_branch_held_elsewhere_goes_on_without_the_switch() {
    let (cond, a) = (Cell::new(true), Cell::new(1));
    let runs = Count::new();
    let held = (&a).map(runs.of(|v: &i32| *v)).materialize();
    let c = cond
        .switch_map(owning!([held] move |t| if *t { held.clone() } else { Cell::new(0).lock() }));
    let log = Log::new();
    let _guard = log.on(&c);
    cond.set(false);
    a.set(2);
    assert_eq!((held.get(), held.dependents(), runs.get()), (2, 0, 2));
    drop((c, held));
    log.check(&[1, 0]);
}

/// The old inner was torn down after the switch although it was the new one, too.
#[test]
fn dy_10_the_same_inner_again_stays_alive() {
    let (r, k) = (Cell::new(0), Cell::new(2));
    let inner = (&k).map(|v| v + 1).materialize();
    let weak = inner.downgrade();
    let switched = r.switch_map(owning!([inner] move |_| inner.clone()));
    let o = switched.deduped().materialize();
    let log = Log::new();
    let _guard = log.on(&o);
    r.set(1);
    k.set(5);
    r.set(2);
    k.set(9);
    log.check(&[3, 6, 10]);
    assert_eq!(inner.dependents(), 1);
    drop(inner);
    assert!(weak.is_alive());
}

/// The same inner reached by two switches, of which one goes, or looks elsewhere and comes back.
#[test]
fn dy_10_an_inner_of_two_switches() {
    let (r, k) = (Cell::new(0), Cell::new(2));
    let inner = (&k).map(|v| v + 1).materialize();
    let one = r.switch_map(owning!([inner] move |_| inner.clone())).deduped().materialize();
    let two = r.switch_map(owning!([inner] move |v| {
        if v % 2 == 0 { inner.clone() } else { Cell::new(-1).lock() }
    }));
    let (on_one, on_two) = (Log::new(), Log::new());
    let _one = on_one.on(&one);
    let guard = on_two.on(&two.clone().deduped().materialize());
    assert_eq!(inner.dependents(), 2);
    r.set(1);
    assert_eq!(inner.dependents(), 1);
    k.set(5);
    r.set(2);
    assert_eq!(inner.dependents(), 2);
    drop((two, guard));
    assert_eq!(inner.dependents(), 1);
    k.set(9);
    on_one.check(&[3, 6, 10]);
    on_two.check(&[3, -1, 6]);
}

/// Two cached inners in turn, written in the wave that comes back to them: one delivery a wave, one edge at a time.
#[test]
fn dy_10_two_cached_inners_in_turn() {
    let (r, k) = (Cell::new(0_usize), Cell::new(0));
    let inners = [1, 100].map(|f| (&k).map(move |v| v * f).materialize());
    let o = r.switch_map(owning!([inners] move |v| inners[v % 2].clone()));
    let log = Log::new();
    let _guard = log.on(&o);
    for i in 1..=6 {
        batch(|| {
            k.set(i);
            r.set(i);
        });
        let [even, odd] = [&inners[0], &inners[1]].map(Cell::dependents);
        assert_eq!((even, odd), if i % 2 == 0 { (1, 0) } else { (0, 1) });
    }
    log.check(&[0, 100, 2, 300, 4, 500, 6]);
}

/// The same cells read again and again by a computed cell: its edges stay as they are.
#[test]
fn dy_10_stable_reads_keep_their_edges() {
    let (r, k) = (Cell::new(0), Cell::new(2));
    let inner = (&k).map(|v| v + 1).materialize();
    let o = Cell::computed(owning!([r, inner] move || r.get() + inner.get()));
    let before = (arena::totals().edges, arena::totals().moves);
    (1..100).for_each(|v| r.set(v));
    k.set(5);
    assert_eq!((arena::totals().edges, arena::totals().moves), before);
    assert_eq!((o.get(), inner.dependents(), r.dependents()), (105, 1, 1));
}

/// An inner made by the closure, kept by it, and given again: it belongs to its handles (P5), so it is the same cell.
#[test]
fn dy_10_an_inner_made_in_the_closure_and_kept_is_given_again() {
    let (r, k) = (Cell::new(0), Cell::new(2));
    let made = Count::new();
    let o = r.switch_map(owning!([k, made] {
        let mut kept: Option<Cell<i32, CellImmutable>> = None;
        move |_| {
            let inner = kept.get_or_insert_with(|| {
                made.up();
                (&k).map(|v| v + 1).materialize()
            });
            inner.clone()
        }
    }));
    let log = Log::new();
    let _guard = log.on(&o.deduped().materialize());
    for v in 1..5 {
        r.set(v);
        k.set(v * 10);
    }
    log.check(&[3, 11, 21, 31, 41]);
    assert_eq!((made.get(), k.dependents()), (1, 1));
}
