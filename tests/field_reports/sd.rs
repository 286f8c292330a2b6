//! SD: disposing of oneself, or of a cell, inside a callback (rules P2, C1, C7).

use std::cell::RefCell;
use std::rc::Rc;

use hyphae::{Cell, Error, Pipeline, Signal, SubscriptionGuard, arena, join_vec};

use crate::support::{Count, Heard, Log, run_on_small_stack};

/// A place for a guard that a callback drops.
type Slot = Rc<RefCell<Option<SubscriptionGuard>>>;

fn empty(slot: &Slot) {
    let guard = slot.borrow_mut().take();
    drop(guard);
}

/// Logs the values of `cell`; drops what `slot` holds at the value 1, before it logs.
fn watch_and_drop(cell: &Cell<i32>, slot: &Slot, log: &Log<i32>) -> SubscriptionGuard {
    let (slot, log) = (slot.clone(), log.clone());
    cell.watch(move |v| {
        if *v == 1 {
            empty(&slot);
        }
        log.push(*v);
    })
}

/// A callback that disposed of itself ran again, or the second dispose failed.
#[test]
fn sd_1_unsubscribing_oneself() {
    let a = Cell::new(0);
    let (slot, log) = (Slot::default(), Log::new());
    let guard = watch_and_drop(&a, &slot, &log);
    let id = guard.id().expect("it is a subscription");
    *slot.borrow_mut() = Some(guard);
    a.set(1);
    a.set(2);
    log.check(&[0, 1]);
    assert_eq!((a.callbacks(), arena::totals().subscribers), (0, 0));
    empty(&slot);
    id.unsubscribe();
    a.unsubscribe(id);
    a.set(3);
    log.check(&[0, 1]);
}

/// By its id, with others before and behind: these miss nothing, and a stale id hits no later subscriber.
#[test]
fn sd_1_unsubscribing_oneself_between_others() {
    let a = Cell::new(0);
    let (before, own, behind, later) = (Log::new(), Log::new(), Log::new(), Log::new());
    let _before = before.on(&a);
    let slot = Slot::default();
    *slot.borrow_mut() = Some(watch_and_drop(&a, &slot, &own));
    let id = slot.borrow().as_ref().and_then(SubscriptionGuard::id).expect("just made");
    let _behind = behind.on(&a);
    a.set(1);
    let _later = later.on(&a);
    id.unsubscribe();
    a.set(2);
    before.check(&[0, 1, 2]);
    own.check(&[0, 1]);
    behind.check(&[0, 1, 2]);
    later.check(&[1, 2]);
}

/// The first subscriber of three drops all three, itself in the middle of its run.
#[test]
fn sd_1_unsubscribing_everybody() {
    let a = Cell::new(0);
    let log = Log::new();
    let guards: Rc<RefCell<Vec<SubscriptionGuard>>> = Rc::default();
    for name in ["first", "second", "third"] {
        let (log, all) = (log.clone(), guards.clone());
        let guard = a.watch(move |v| {
            if *v == 1 {
                let gone = all.take();
                drop(gone);
            }
            log.push((name, *v));
        });
        guards.borrow_mut().push(guard);
    }
    log.take();
    a.set(1);
    a.set(2);
    log.check(&[("first", 1)]);
    assert_eq!(a.callbacks(), 0);
}

/// A subscriber that was removed by an earlier one was called all the same in the wave under way.
#[test]
fn sd_1_unsubscribing_a_later_one() {
    let a = Cell::new(0);
    let (slot, first, last) = (Slot::default(), Log::new(), Log::new());
    let _guard = watch_and_drop(&a, &slot, &first);
    let victim = Log::new();
    *slot.borrow_mut() = Some(victim.on(&a));
    let _last = last.on(&a);
    a.set(1);
    a.set(2);
    first.check(&[0, 1, 2]);
    victim.check(&[0]);
    last.check(&[0, 1, 2]);
}

/// Removing an earlier one made the list skip the next.
#[test]
fn sd_1_unsubscribing_an_earlier_one() {
    let a = Cell::new(0);
    let (slot, victim, own, last) = (Slot::default(), Log::new(), Log::new(), Log::new());
    *slot.borrow_mut() = Some(victim.on(&a));
    let _guard = watch_and_drop(&a, &slot, &own);
    let _last = last.on(&a);
    a.set(1);
    a.set(2);
    victim.check(&[0, 1]);
    own.check(&[0, 1, 2]);
    last.check(&[0, 1, 2]);
}

/// Removing the subscriber of another cell that has yet to notify in the same wave.
#[test]
fn sd_1_unsubscribing_on_another_cell_of_the_wave() {
    let a = Cell::new(0);
    let b = (&a).map(|v| v * 10).materialize();
    let (slot, own, victim) = (Slot::default(), Log::new(), Log::new());
    *slot.borrow_mut() = Some(victim.on(&b));
    let _guard = watch_and_drop(&a, &slot, &own);
    a.set(1);
    a.set(2);
    own.check(&[0, 1, 2]);
    victim.check(&[0]);
    assert_eq!(b.callbacks(), 0);
}

/// The last guard and the last handle go inside the callback: its run goes on with the value it was lent.
#[test]
fn sd_1_dropping_cell_and_guard_inside_the_callback() {
    let (a, write) = (Cell::new("old".to_owned()), Cell::new(()));
    let weak = a.downgrade();
    let (slot, log) = (Slot::default(), Log::new());
    let handle = Rc::new(RefCell::new(Some(a)));
    let guard = weak.upgrade().expect("it lives").watch({
        let (slot, log, handle, weak) = (slot.clone(), log.clone(), handle.clone(), weak.clone());
        move |v| {
            if v == "new" {
                empty(&slot);
                let last = handle.borrow_mut().take();
                assert!(weak.is_alive());
                drop(last);
                assert!(!weak.is_alive());
            }
            log.push(v.clone());
        }
    });
    *slot.borrow_mut() = Some(guard);
    // The write waits, so that no handle is in use when its wave runs.
    let on_write = write.subscribe_changes(move |_| {
        let a = weak.upgrade();
        a.into_iter().for_each(|a| a.set("new".to_owned()));
    });
    write.set(());
    log.check(&["old", "new"]);
    assert!(handle.borrow().is_none());
    write.set(());
    log.check(&["old", "new"]);
    drop((write, on_write));
    arena::assert_no_live();
}

/// Disposing of the cell inside its callback: all hear the value under way, then the end, then nothing.
#[test]
fn sd_1_disposing_of_the_cell_inside_its_callback() {
    let a = Cell::new(0).with_name("a");
    let (own, later) = (Log::new(), Log::new());
    let _own = a.subscribe({
        let (a, own) = (a.clone(), own.clone());
        move |signal| {
            if let Signal::Value(1) = signal {
                a.dispose();
                a.dispose();
                assert!(matches!(a.try_get(), Err(Error::Disposed(info)) if info.name.as_deref() == Some("a")));
                assert!(matches!(a.try_set(5), Err(Error::Disposed(_))));
            }
            own.push(Heard::of(signal));
        }
    });
    let dependent = (&a).map(|v| v * 10).materialize();
    let _later = later.hear(&a);
    let (on_dependent, weak) = (Log::new(), a.downgrade());
    let _on_dependent = on_dependent.hear(&dependent);
    a.set(1);
    own.check(&[Heard::Value(0), Heard::Value(1), Heard::Complete]);
    later.check(&[Heard::Value(0), Heard::Value(1), Heard::Complete]);
    on_dependent.check(&[Heard::Value(0), Heard::Value(10), Heard::Complete]);
    assert_eq!((dependent.get(), dependent.is_complete()), (10, true));
    assert!(weak.upgrade().is_none());
    assert!(matches!(a.try_set(2), Err(Error::Disposed(_))));
    assert_eq!(own.len(), 3);
}

/// A derived cell disposed of by a subscriber of its input, before its own have been called.
#[test]
fn sd_1_disposing_of_a_derived_cell_in_its_wave() {
    let a = Cell::new(0);
    let runs = Count::new();
    let b = (&a).map(runs.of(|v: &i32| v * 10)).materialize();
    let guard = a.watch({
        let b = b.clone();
        move |v| {
            if *v == 1 {
                b.dispose();
            }
        }
    });
    let log = Log::new();
    let _on_b = log.hear(&b);
    a.set(1);
    assert_eq!(log.take().last(), Some(&Heard::Complete));
    a.set(2);
    assert_eq!((log.len(), runs.get(), a.dependents()), (0, 2, 0));
    drop(guard);
}

/// Disposing of the subscriber whose update was being walked was a null dereference.
#[test]
fn sd_3_a_recomputation_disposes_of_the_subscriber_being_updated() {
    let (sd, trigger) = (Cell::new(false), Cell::new(false));
    let c1 = (&sd)
        .map({
            let trigger = trigger.clone();
            move |v| {
                if *v {
                    trigger.set(true);
                }
                *v
            }
        })
        .materialize();
    let c2 = c1.map(|v| *v).materialize();
    let (slot, e, f) = (Slot::default(), Log::new(), Log::new());
    *slot.borrow_mut() = Some(e.on(&c2));
    let _f = trigger.watch({
        let (slot, f) = (slot.clone(), f.clone());
        move |v| {
            f.push(*v);
            if *v {
                empty(&slot);
            }
        }
    });
    [true, false, true].into_iter().for_each(|v| sd.set(v));
    e.check(&[false, true]);
    f.check(&[false, true, true]);
    assert_eq!(c2.callbacks(), 0);
}

/// The closure itself drops the guard and the last handle of its own cell, in the middle of its turn.
#[test]
fn sd_3_a_recomputation_drops_its_own_cell() {
    let a = Cell::new(0);
    let (slot, runs, log) = (Slot::default(), Count::new(), Log::new());
    let b = (&a)
        .map({
            let (slot, runs) = (slot.clone(), runs.clone());
            move |v| {
                if *v == 1 {
                    empty(&slot);
                }
                runs.up();
                *v
            }
        })
        .materialize();
    *slot.borrow_mut() = Some(log.on(&b));
    let weak = b.downgrade();
    drop(b);
    a.set(1);
    a.set(2);
    log.check(&[0]);
    assert_eq!((runs.get(), weak.is_alive(), a.dependents()), (2, false, 0));
}

/// The outer callback made the inner one anew in the middle of the inner's run: use after free.
#[test]
fn sd_5_inner_callback_triggers_the_outer_which_replaces_it() {
    let (one, two) = (Cell::new(0), Cell::new(0));
    let (log, inner) = (Log::new(), Slot::default());
    let _outer = two.watch({
        let (one, two, log, inner) = (one.clone(), two.clone(), log.clone(), inner.clone());
        move |_| {
            if let Some(previous) = inner.borrow_mut().take() {
                drop(previous);
                log.push("drop");
            }
            log.push("O");
            let (two, log) = (two.clone(), log.clone());
            let guard = one.subscribe_changes(move |_| {
                log.push("I");
                two.update(|n| *n += 1);
                log.push("i");
            });
            *inner.borrow_mut() = Some(guard);
        }
    });
    one.set(1);
    one.set(2);
    log.check(&["O", "I", "i", "drop", "O", "I", "i", "drop", "O"]);
    assert_eq!((one.callbacks(), two.get()), (1, 2));
}

/// Dropping one subscription that tore down ten thousand others overflowed the stack.
#[test]
fn sd_6_one_guard_that_takes_ten_thousand_along() {
    const N: usize = 10_000;
    let (dropped, subscribers) = run_on_small_stack(512, || {
        let helper = Cell::new(0);
        let dropped = Count::new();
        let cells: Vec<_> = (0..N).map(Cell::new).collect();
        let r = join_vec(cells.iter().cloned());
        for cell in &cells {
            let slot = Slot::default();
            let (on_helper, dropped) = (helper.watch(|_| ()), dropped.clone());
            *slot.borrow_mut() = Some(SubscriptionGuard::from_callback(move || {
                drop(on_helper);
                dropped.up();
            }));
            cell.on_last_unsubscribe(move || empty(&slot));
        }
        let guard = r.watch(|_| ());
        drop(r);
        assert_eq!((arena::totals().subscribers, dropped.get()), (N + 1, 0));
        drop(guard);
        (dropped.get(), arena::totals().subscribers)
    });
    assert_eq!((dropped, subscribers), (N, 0));
}

/// The same as a chain: each callback owns the guard of the next, each value the handle of the next cell.
#[test]
fn sd_6_guards_and_cells_that_own_one_another() {
    struct Link(#[expect(dead_code, reason = "held for its drop")] Option<Cell<Link>>);
    run_on_small_stack(256, || {
        let a = Cell::new(0);
        let mut guard = a.watch(|_| ());
        let mut cell = Cell::new(Link(None));
        for _ in 0..100_000 {
            guard = a.watch(move |_| {
                let _ = &guard;
            });
            cell = Cell::new(Link(Some(cell)));
        }
        drop(guard);
        assert_eq!(a.callbacks(), 0);
        drop((a, cell));
        arena::assert_no_live();
    });
}

/// A cell made in a dynamic part wrote the cell that rebuilds the part: a borrow error.
#[test]
fn sd_8_a_cell_of_a_rebuilt_part_writes_what_rebuilds_it() {
    let sig = Cell::new("t");
    let newest = Rc::new(RefCell::new(None::<(Cell<&str>, SubscriptionGuard)>));
    let runs = Count::new();
    let _rebuild = sig.watch({
        let (sig, newest, runs) = (sig.clone(), newest.clone(), runs.clone());
        move |_| {
            runs.up();
            let x = Cell::new("i");
            let write = {
                let (sig, x) = (sig.clone(), x.downgrade());
                move |_: &Signal<'_, &'static str>| {
                    if let Some(x) = x.upgrade() {
                        sig.set(x.get());
                    }
                }
            };
            let guard = x.subscribe_changes(write);
            let old = newest.borrow_mut().replace((x, guard));
            if let Some((old, guard)) = old {
                old.dispose();
                drop(guard);
            }
        }
    });
    let x = newest.borrow().as_ref().map(|(x, _)| x.clone()).expect("made at subscription");
    x.set("u");
    assert_eq!((sig.get(), runs.get()), ("u", 2));
    assert!(matches!(x.try_set("v"), Err(Error::Disposed(_))));
    assert_eq!((sig.get(), runs.get()), ("u", 2));
}
