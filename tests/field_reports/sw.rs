//! SW: one inner is live, and it is the newest (rules P1, P5, C1).

use hyphae::{Cell, CellImmutable, Pipeline, Source, SubscriptionGuard, arena};

use crate::support::{Count, Heard, Log, Slot, owning};

/// Building inner 0 wrote the selector: inner 0 was registered after inner 1, and both were live.
#[test]
fn sw_1_building_the_first_inner_writes_the_selector() {
    let (out, i0, i1) = (Cell::new(0), Cell::new(100), Cell::new(200));
    let runs = Count::new();
    let o = out.switch_map(owning!([out, i0, i1, runs] move |k| {
        runs.up();
        if *k == 0 {
            out.set(1);
            return i0.clone();
        }
        i1.clone()
    }));
    let log = Log::new();
    let _guard = log.on(&o);
    i0.set(101);
    i1.set(201);
    log.check(&[200, 201]);
    assert_eq!((i0.dependents(), i1.dependents(), runs.get()), (0, 1, 2));
}

/// The same in the middle of a wave, with subscribers: the values of the waves come in order, 101 never.
#[test]
fn sw_1_building_a_later_inner_writes_the_selector() {
    let (out, i0, i1) = (Cell::new(1), Cell::new(100), Cell::new(200));
    let o = out.switch_map(owning!([out, i0, i1] move |k| {
        if *k == 0 {
            out.set(1);
            return i0.clone();
        }
        i1.clone()
    }));
    let log = Log::new();
    let _guard = log.on(&o);
    out.set(0);
    i0.set(101);
    i1.set(201);
    log.check(&[200, 100, 200, 201]);
    assert_eq!((i0.dependents(), i1.dependents()), (0, 1));
}

/// The selector is written by the callback of a subscriber of what the closure makes.
#[test]
fn sw_1_a_subscriber_of_the_inner_writes_the_selector() {
    let (out, i1) = (Cell::new(0), Cell::new(200));
    let first = Slot::new();
    let o = out.switch_map(owning!([out, i1, first] move |k| {
        if *k > 0 {
            return i1.clone();
        }
        let inner = Cell::new(100);
        inner.own(inner.watch(owning!([out] move |v| {
            if *v == 100 {
                out.set(1);
            }
        })));
        first.put(inner.downgrade());
        inner
    }));
    let log = Log::new();
    let _guard = log.on(&o);
    i1.set(201);
    log.check(&[200, 201]);
    let first: hyphae::WeakCell<i32> = first.full();
    assert!(!first.is_alive());
}

/// By reads: the first run of a computed cell, and of an effect, writes what it has just read.
#[test]
fn sw_1_a_computed_cell_writes_what_it_reads() {
    let (out, i0, i1) = (Cell::new(0), Cell::new(100), Cell::new(200));
    let runs = Count::new();
    let pick = || {
        owning!([out, i0, i1, runs] move || {
            runs.up();
            if out.get() == 0 {
                out.set(1);
                return i0.get();
            }
            i1.get()
        })
    };
    let computed = Cell::computed(pick());
    let log = Log::new();
    let guard = log.on(&computed);
    i0.set(101);
    i1.set(201);
    log.check(&[200, 201]);
    assert_eq!((i0.dependents(), runs.get()), (0, 3));
    drop((computed, guard));
    let effects = Log::new();
    out.set(0);
    let _effect = hyphae::effect(owning!([effects] {
        let pick = pick();
        move || effects.push(pick())
    }));
    i0.set(102);
    i1.set(202);
    effects.check(&[101, 201, 202]);
    assert_eq!(i0.subscriber_count(), 0);
}

/// The closure writes the inner that it gives, and the one it leaves.
#[test]
fn sw_1_the_closure_writes_inner_cells() {
    let (out, i0, i1) = (Cell::new(0), Cell::new(100), Cell::new(200));
    let o = out.switch_map(owning!([i0, i1] move |k| {
        i0.update(|v| *v += 1);
        i1.update(|v| *v += 1);
        if *k == 0 { i0.clone() } else { i1.clone() }
    }));
    let log = Log::new();
    let _guard = log.on(&o);
    out.set(1);
    log.check(&[101, 201, 202]);
    assert_eq!((i0.get(), i0.dependents(), i1.dependents()), (102, 0, 1));
}

/// A switch to inner cells that count their drops.
fn counted(x: &Cell<i32>, dropped: &Count) -> Cell<i32, CellImmutable> {
    let dropped = dropped.clone();
    x.switch_map(move |v| {
        let (v, token) = (*v, dropped.token());
        Cell::new(()).map(move |()| (v, &token).0).materialize()
    })
}

/// The consumer went, and the inner ran on.
#[test]
fn sw_3_the_inner_goes_with_the_last_guard() {
    let (x, dropped, log) = (Cell::new(1), Count::new(), Log::new());
    let o = counted(&x, &dropped);
    let guard = log.on(&o);
    drop(o);
    assert_eq!((dropped.get(), arena::totals().cells > 1), (0, true));
    drop(guard);
    assert_eq!((dropped.get(), arena::totals().cells, x.subscriber_count()), (1, 1, 0));
    x.set(2);
    log.check(&[1]);
    drop(x);
    arena::assert_no_live();
}

/// Each switch lets go of exactly one, and the last one goes with the handle.
#[test]
fn sw_3_each_switch_drops_the_former_inner() {
    let (x, dropped) = (Cell::new(0), Count::new());
    let o = counted(&x, &dropped);
    let cells = arena::totals().cells;
    for v in 1..=100 {
        x.set(v);
        assert_eq!((o.get(), dropped.get(), arena::totals().cells), (v, v as usize, cells));
    }
    drop(o);
    assert_eq!(dropped.get(), 101);
}

/// Dropped from within: by a subscriber of the output, of the selector, and by the closure itself.
#[test]
fn sw_3_the_consumer_is_dropped_in_a_callback() {
    for place in 0..3 {
        let (x, dropped, slot) = (Cell::new(1), Count::new(), Slot::<SubscriptionGuard>::new());
        let leave = |own: i32| {
            owning!([slot] move |v: &i32| {
                if own == place && *v == 2 {
                    drop(slot.take());
                }
            })
        };
        let in_closure = leave(0);
        let o = x.switch_map(owning!([dropped] move |v| {
            in_closure(v);
            let (v, token) = (*v, dropped.token());
            Cell::new(()).map(move |()| (v, &token).0).materialize()
        }));
        let on_x = x.watch(leave(1));
        slot.put(o.watch(leave(2)));
        drop(o);
        x.set(2);
        assert_eq!(dropped.get(), 2, "{place}: the closure ran in the compute half of the wave");
        drop(on_x);
        assert_eq!((arena::totals().cells, x.subscriber_count()), (1, 0), "{place}");
    }
}

/// `dispose` lets go of the inner although handles and guards are left.
#[test]
fn sw_3_dispose_lets_the_inner_go() {
    let (x, dropped, log) = (Cell::new(1), Count::new(), Log::new());
    let o = counted(&x, &dropped);
    let _guard = log.hear(&o);
    o.dispose();
    assert_eq!((dropped.get(), x.subscriber_count()), (1, 0));
    x.set(2);
    log.check(&[Heard::Value(1), Heard::Complete]);
    assert_eq!(dropped.get(), 1);
}

/// The end of an inner is not the end of the switch, the end of the selector is not that of the inner.
#[test]
fn sw_3_a_switch_ends_with_both() {
    let (x, inners) = (Cell::new(0_usize), [Cell::new("a"), Cell::new("b")]);
    let o = x.switch_map(owning!([inners] move |v| inners[*v].clone()));
    let log = Log::new();
    let _guard = log.hear(&o);
    inners[0].complete();
    assert!(!o.is_complete());
    x.set(1);
    x.complete();
    assert!(!o.is_complete());
    inners[1].set("b2");
    inners[1].complete();
    let heard = ["a", "b", "b2"].map(Heard::Value).into_iter().chain([Heard::Complete]);
    log.check(&heard.collect::<Vec<_>>());
    assert_eq!(arena::totals().edges, 0);
}

/// An error of either side passes and ends the switch; both are let go.
#[test]
fn sw_3_an_error_of_either_side_ends_it() {
    for failing in 0..2 {
        let (x, inner) = (Cell::new(0), Cell::new(1));
        let o = x.switch_map(owning!([inner] move |_| inner.clone()));
        let log = Log::new();
        let _guard = log.hear(&o);
        [&x, &inner][failing].fail("broken");
        log.check(&[Heard::Value(1), Heard::Error("broken".into())]);
        assert_eq!(inner.dependents() + x.dependents(), 0);
    }
}

/// Over events there is nothing before the first one; then the inner lives between events.
#[test]
fn sw_3_a_switch_over_events() {
    let (x, dropped, inner) = (Source::new(), Count::new(), Cell::new(10));
    let o = x.switch_map(owning!([dropped, inner] move |v: &i32| {
        let (v, token) = (*v, dropped.token());
        (&inner).map(move |i| (i + v, &token).0).materialize()
    }));
    let log = Log::new();
    let guard = log.on(&o);
    inner.set(20);
    x.emit(1);
    inner.set(30);
    hyphae::batch(|| [2, 3].into_iter().for_each(|v| x.emit(v)));
    inner.set(40);
    log.check(&[None, Some(21), Some(31), Some(32), Some(33), Some(43)]);
    assert_eq!((dropped.get(), inner.dependents()), (2, 1));
    drop((o, guard));
    assert_eq!((dropped.get(), inner.dependents(), x.subscriber_count()), (3, 0, 0));
}
