//! Effects: computed cells that act. They run in the delivery half of a wave (rules P0 to P3, P5, P14).

use hyphae::{Cell, Pipeline, SubscriptionGuard, arena, batch, effect, on_cleanup, untracked};

use crate::support::{Count, Log, Slot, caught, live, owning};

/// Runs at once, then once for each wave in which something it read changed, when all cells are settled.
#[test]
fn an_effect_runs_once_a_wave_over_settled_cells() {
    let a = Cell::new(1);
    let branches = [10, 100].map(|f| (&a).map(move |v| v * f).materialize());
    let last = branches[0].join(&branches[1]);
    let log = Log::new();
    let _guard = effect(owning!([a, branches, last, log] move || {
        log.push((branches[1].get(), a.get(), last.get()));
    }));
    a.set(2);
    batch(|| {
        [3, 4].into_iter().for_each(|v| a.set(v));
        assert_eq!(last.get(), (40, 400));
        a.set(5);
        assert_eq!(log.len(), 2, "not before the end of the batch");
    });
    log.check(&[(100, 1, (10, 100)), (200, 2, (20, 200)), (500, 5, (50, 500))]);
}

/// The computing half is over before any effect or subscriber runs.
#[test]
fn effects_come_after_all_closures() {
    let (a, log) = (Cell::new(0), Log::new());
    let _first = effect(owning!([a, log] move || {
        a.get();
        log.push("deliver");
    }));
    let closures: Vec<_> = (0..5)
        .map(|_| (&a).map(owning!([log] move |_| log.push("compute"))).materialize())
        .collect();
    let _second = effect(owning!([closures, log] move || {
        closures.iter().for_each(Cell::get);
        log.push("deliver");
    }));
    let _subscriber = a.watch_changes(owning!([log] move |_| log.push("deliver")));
    log.take();
    a.set(1);
    log.check(&[["compute"; 5].as_slice(), &["deliver"; 3]].concat());
}

/// What a program of effects and subscribers does in which order.
fn ordered_run() -> Vec<(usize, i32)> {
    let (a, log) = (Cell::new(0), Log::new());
    let mut last = a.clone().lock();
    let mut guards = Vec::new();
    for i in 0..6 {
        last = last.map(|v| v + 1).materialize();
        let (own, other) = (last.clone(), last.clone());
        guards.push(effect(owning!([log, a] move || log.push((i, own.get() + a.get() * 100)))));
        guards.push(other.watch_changes(owning!([log] move |v| log.push((10 + i, *v)))));
    }
    log.take();
    a.set(1);
    drop(guards.swap_remove(3));
    batch(|| [2, 3].into_iter().for_each(|v| a.set(v)));
    log.take()
}

/// Which of several effects comes first need not be promised, but is the same in every run.
#[test]
fn the_order_of_effects_is_the_same_in_every_run() {
    let first = ordered_run();
    assert_eq!(first.len(), 12 + 11);
    (0..5).for_each(|_| assert_eq!(ordered_run(), first));
}

/// Effects over one cell run in the order in which they were made.
#[test]
fn effects_over_one_cell_run_in_the_order_of_creation() {
    let (a, log) = (Cell::new(0), Log::new());
    let guards: Vec<_> = (0..10)
        .map(|i| {
            effect(owning!([a, log] move || {
                a.get();
                log.push(i);
            }))
        })
        .collect();
    log.take();
    a.set(1);
    assert!(log.take().into_iter().eq(0..10));
    drop(guards);
}

/// It drops its own guard: the run ends well, there is no other, the second drop does nothing.
#[test]
fn an_effect_that_ends_itself() {
    let (a, log, slot, cleaned) = (Cell::new(0), Log::new(), Slot::new(), Count::new());
    let guard = effect(owning!([a, log, slot, cleaned] move || {
        on_cleanup(owning!([cleaned] move || cleaned.up()));
        if a.get() == 1 {
            drop(slot.take());
        }
        log.push(a.get());
    }));
    slot.put(guard);
    [1, 2].into_iter().for_each(|v| a.set(v));
    log.check(&[0, 1]);
    assert_eq!((cleaned.get(), a.subscriber_count(), arena::totals().cells), (2, 0, 1));
    drop(slot.take());
}

/// One effect ends another that was still to run in the wave: it does not (P2).
#[test]
fn an_effect_that_ends_another() {
    let (a, log) = (Cell::new(0), Log::new());
    let victims: [Slot<SubscriptionGuard>; 2] = std::array::from_fn(|_| Slot::new());
    let make = |who: usize| {
        effect(owning!([a, log] {
            let other = victims[1 - who].clone();
            move || {
                if a.get() == 1 {
                    drop(other.take());
                }
                log.push((who, a.get()));
            }
        }))
    };
    (0..2).for_each(|who| victims[who].put(make(who)));
    log.take();
    a.set(1);
    let ran = log.take();
    assert_eq!(ran.len(), 1, "whichever came first ended the other: {ran:?}");
    a.set(2);
    assert_eq!(log.take(), [(ran[0].0, 2)]);
}

/// Its writes are waves of their own, after the one under way; of its own dependency, too, until it comes to rest.
#[test]
fn an_effect_that_writes() {
    let (a, b) = (Cell::new(0), Cell::new(0));
    let both = a.join(&b);
    let log = Log::new();
    let _log = log.on(&both);
    let _copies = effect(owning!([a, b] move || b.set(a.get() * 10)));
    let _clamps = effect(owning!([a] move || {
        if a.get() > 3 {
            a.set(3);
        }
    }));
    a.set(1);
    a.set(5);
    log.check(&[(0, 0), (0, 0), (1, 0), (1, 10), (5, 10), (5, 50), (3, 50), (3, 30)]);
}

/// A batch in an effect is one wave; an effect in a batch runs at its end; one made in a batch runs at once.
#[test]
fn effects_and_batches() {
    let (a, x, y) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let both = x.join(&y);
    let log = Log::new();
    let _log = log.on(&both);
    let _writes = effect(owning!([a, x, y] move || {
        let v = a.get();
        batch(|| {
            x.set(v);
            y.set(v);
        });
    }));
    log.check(&[(0, 0); 2]);
    let late = Log::new();
    let late_guard = batch(|| {
        a.set(1);
        a.set(2);
        let guard = effect(owning!([a, late] move || late.push(a.get())));
        late.check(&[2]);
        a.set(3);
        guard
    });
    log.check(&[(0, 0), (0, 0), (3, 3)]);
    late.check(&[2, 3]);
    drop(late_guard);
}

/// Conditional reads drop their edges, and an effect that reads nothing any more never runs again.
#[test]
fn conditional_reads_of_an_effect() {
    let (a, b, runs) = (Cell::new(0), Cell::new(0), Count::new());
    let guard = effect(owning!([a, b, runs] move || {
        runs.up();
        if a.get() == 0 {
            b.get();
        }
    }));
    b.set(1);
    assert_eq!((runs.get(), b.subscriber_count()), (2, 1));
    a.set(1);
    b.set(2);
    assert_eq!((runs.get(), b.subscriber_count()), (3, 0));
    a.set(0);
    b.set(3);
    assert_eq!((runs.get(), b.subscriber_count()), (5, 1));
    drop(guard);
    assert_eq!((a.subscriber_count(), b.subscriber_count()), (0, 0));
    a.set(1);
    assert_eq!(runs.get(), 5);
}

/// The effect keeps what it reads alive, not the handles in its closure alone; the guard keeps the effect.
#[test]
fn an_effect_holds_what_it_reads() {
    let (a, slot) = (Cell::new(1), Slot::new());
    let derived = (&a).map(|v| v * 10).materialize();
    slot.put(derived.clone());
    let (weak, log) = (derived.downgrade(), Log::new());
    let guard = effect(owning!([slot, a, log] move || {
        a.get();
        if let Some(cell) = slot.get() {
            let cell: Cell<i32, hyphae::CellImmutable> = cell;
            log.push(cell.get());
        }
    }));
    drop((derived, slot.take()));
    assert!(weak.is_alive(), "it was read in the last run");
    a.set(2);
    assert!(!weak.is_alive(), "not in this one");
    log.check(&[10]);
    drop(guard);
    drop(a);
    arena::assert_no_live();
}

/// A leaked guard: the effect goes on, until its id is unsubscribed.
#[test]
fn a_leaked_effect_goes_on() {
    let (a, runs) = (Cell::new(0), Count::new());
    let guard = effect(owning!([a, runs] move || {
        a.get();
        runs.up();
    }));
    let id = guard.leak();
    a.set(1);
    assert_eq!(runs.get(), 2);
    if let Some(id) = id {
        id.unsubscribe();
        a.set(2);
        assert_eq!((runs.get(), a.subscriber_count()), (2, 0));
    }
}

/// Owned by a cell, by a scope, and by a clean-up.
#[test]
fn effects_owned_by_others() {
    let (a, runs) = (Cell::new(0), Count::new());
    let start = live();
    let make = || {
        effect(owning!([a, runs] move || {
            a.get();
            runs.up();
        }))
    };
    let (owner, scope) = (Cell::new(()), hyphae::Scope::new());
    owner.own(make());
    scope.own(make());
    a.set(1);
    assert_eq!(runs.get(), 4);
    drop(owner);
    a.set(2);
    assert_eq!(runs.get(), 5);
    drop(scope);
    a.set(3);
    assert_eq!((runs.get(), a.subscriber_count()), (5, 0));
    assert_eq!(live()[..3], start[..3]);
}

/// What `untracked` reads wakes nobody, what it writes is a write as any other.
#[test]
fn untracked_in_an_effect() {
    let (a, b, out) = (Cell::new(1), Cell::new(10), Cell::new(0));
    let runs = Count::new();
    let _guard = effect(owning!([a, b, out, runs] move || {
        runs.up();
        let a = a.get();
        untracked(|| out.set(a + b.get() + out.get()));
    }));
    assert_eq!((out.get(), runs.get()), (11, 1));
    b.set(20);
    assert_eq!(runs.get(), 1);
    a.set(2);
    assert_eq!((out.get(), runs.get()), (33, 2));
}

/// An effect made in a subscriber, in a derived closure, in another effect: each runs at once, in the wave's values,
/// and again only for later changes.
#[test]
fn effects_made_in_callbacks() {
    let (a, log) = (Cell::new(0), Log::new());
    let slots: Vec<Slot<SubscriptionGuard>> = (0..3).map(|_| Slot::new()).collect();
    let make = |who: usize| {
        let slot = slots[who].clone();
        owning!([a, log] move || {
            if untracked(|| a.get()) == 1 && slot.is_empty() {
                slot.put(effect(owning!([a, log] move || log.push((who, a.get())))));
            }
        })
    };
    let (in_subscriber, in_closure, in_effect) = (make(0), make(1), make(2));
    let _subscriber = a.watch(move |_| in_subscriber());
    let _closure = (&a).map(move |_| in_closure()).materialize();
    let _effect = effect(owning!([a] move || {
        a.get();
        in_effect();
    }));
    for v in 1..3 {
        a.set(v);
        let mut heard = log.take();
        heard.sort_unstable();
        assert_eq!(heard, [(0, v), (1, v), (2, v)]);
    }
}

/// Two effects that write each other's cells come to rest, or are stopped with the names of both.
#[test]
fn effects_that_feed_each_other() {
    let (a, b, limit) = (Cell::new(0).with_name("a"), Cell::new(0).with_name("b"), Cell::new(10));
    let feed = |from: &Cell<u64>, to: &Cell<u64>| {
        effect(owning!([from, to, limit] move || {
            let v = from.get();
            if v > 0 && v < untracked(|| limit.get()) {
                to.set(v + 1);
            }
        }))
    };
    let _guards = [feed(&a, &b), feed(&b, &a)];
    a.set(1);
    assert_eq!((a.get(), b.get()), (9, 10));
    limit.set(u64::MAX);
    let message = caught(|| a.set(1)).expect("endless");
    assert!(message.contains("\"a\"") && message.contains("\"b\""), "{message}");
    assert!(message.contains(file!()), "{message}");
    limit.set(0);
    a.set(5);
    assert_eq!(a.get(), 5);
}

/// Ends are no changes: an effect does not run for them, and lives on for the cells that have not ended.
#[test]
fn ends_do_not_run_an_effect() {
    let (a, b, log) = (Cell::new(1), Cell::new(10), Log::new());
    let guard = effect(owning!([a, b, log] move || log.push(a.get() + b.get())));
    a.complete();
    assert_eq!(log.len(), 1);
    b.set(20);
    b.fail("broken");
    log.check(&[11, 21]);
    drop(guard);
    drop((a, b));
    arena::assert_no_live();
}
