//! SD-8: parts that are rebuilt from within (rules S3, P3, P5).

use hyphae::{Cell, Pipeline, Signal, WeakCell, arena, effect, on_cleanup};

use crate::support::{Count, Heard, Log, Slot, owning};

/// A cell made inside a dynamic part wrote the selector of that part: a borrow error.
#[test]
fn sd_8_a_cell_of_a_dynamic_part_writes_its_selector() {
    let (sig, runs) = (Cell::new("t"), Count::new());
    let newest = Slot::<WeakCell<&str>>::new();
    let v = sig.switch_map(owning!([sig, runs, newest] move |_| {
        runs.up();
        let x = Cell::new("i");
        let weak = x.downgrade();
        x.own(x.watch_changes(owning!([sig] move |x| sig.set(*x))));
        newest.put(weak);
        x
    }));
    let log = Log::new();
    let _guard = log.on(&v);
    let old = newest.full();
    old.upgrade().expect("the switch holds it").set("u");
    assert_eq!((sig.get(), runs.get()), ("u", 2));
    assert!(old.upgrade().is_none(), "a clear answer, not a stale cell");
    assert!(newest.full().is_alive());
    log.check(&["i", "u", "i"]);
}

/// The same with the old cell held by a handle: it belongs to that handle, its subscription to the run.
#[test]
fn sd_8_the_subscription_goes_with_the_run() {
    let (sig, runs) = (Cell::new("t"), Count::new());
    let newest = Slot::<Cell<&str>>::new();
    let v = sig.switch_map(owning!([sig, runs, newest] move |_| {
        runs.up();
        let x = Cell::new("i");
        let guard = x.watch_changes(owning!([sig] move |x| sig.set(*x)));
        on_cleanup(move || drop(guard));
        newest.put(x.clone());
        x
    }));
    let old = newest.full();
    old.set("u");
    assert_eq!((sig.get(), runs.get(), old.callbacks(), old.dependents()), ("u", 2, 0, 0));
    old.set("w");
    assert_eq!((sig.get(), runs.get(), v.get()), ("u", 2, "i"));
    newest.full().set("w");
    assert_eq!((sig.get(), runs.get()), ("w", 3));
}

/// With an effect in the place of the subscriber, which writes as soon as it is made, until the part comes to rest.
#[test]
fn sd_8_an_effect_of_a_dynamic_part_writes_its_selector() {
    let (sig, log) = (Cell::new(0), Log::new());
    let v = sig.switch_map(owning!([sig, log] move |k| {
        let (k, x) = (*k, Cell::new(*k + 1));
        log.push(k);
        let guard = effect(owning!([sig, x] move || {
            if x.get() < 5 {
                sig.set(x.get());
            }
        }));
        on_cleanup(move || drop(guard));
        x
    }));
    assert_eq!((sig.get(), v.get()), (4, 5));
    log.check(&[0, 1, 2, 3, 4]);
    sig.set(2);
    assert_eq!((sig.get(), v.get()), (4, 5));
    log.check(&[0, 1, 2, 3, 4, 2, 3, 4]);
}

/// A computed cell's part: the closure makes the cell, the subscriber writes what the closure reads.
#[test]
fn sd_8_a_cell_of_a_computed_part_writes_its_dependency() {
    let (sig, runs) = (Cell::new(0), Count::new());
    let part = Cell::computed(owning!([sig, runs] move || {
        runs.up();
        let (k, x) = (sig.get(), Cell::new(0));
        let guard = x.watch_changes(owning!([sig] move |v| sig.set(*v)));
        on_cleanup(move || drop(guard));
        if k < 3 {
            x.set(k + 1);
        }
        k
    }));
    assert_eq!((sig.get(), part.get(), runs.get()), (3, 3, 4));
    sig.set(5);
    assert_eq!((sig.get(), part.get(), runs.get()), (5, 5, 5));
    assert_eq!(arena::totals().subscribers, 1, "that of the last run");
}

/// The part disposes of its own selector, or of the switch, while it is being built.
#[test]
fn sd_8_a_dynamic_part_disposes_of_what_it_hangs_on() {
    for whole in [false, true] {
        let sig = Cell::new(0);
        let slot = Slot::<WeakCell<i32, hyphae::CellImmutable>>::new();
        let o = sig.switch_map(owning!([sig, slot] move |k| {
            if *k == 1 {
                if whole {
                    slot.full().upgrade().into_iter().for_each(|o| o.dispose());
                } else {
                    sig.dispose();
                }
            }
            Cell::new(*k)
        }));
        slot.put(o.downgrade());
        let log = Log::new();
        let guard = log.hear(&o);
        sig.set(1);
        let heard = log.take();
        if whole {
            assert_eq!(heard.last(), Some(&Heard::Complete));
            assert!(o.try_get().is_err());
        } else {
            assert_eq!(heard, [Heard::Value(0), Heard::Value(1)]);
            assert_eq!(o.get(), 1);
        }
        assert!(heard.iter().filter(|h| **h == Heard::Complete).count() <= 1);
        drop((o, guard, sig, slot));
        arena::assert_no_live();
    }
}

/// A subscriber of the part replaces the part that it is in, in the middle of its own run.
#[test]
fn sd_8_a_subscriber_replaces_its_own_part() {
    let (sig, log) = (Cell::new(0), Log::new());
    let o = sig.switch_map(|k| Cell::new(*k).map(|v| v * 10).materialize());
    let _guard = o.subscribe(owning!([sig, log] move |signal| {
        if let Signal::Value(v) = signal {
            log.push(**v);
            if **v < 30 {
                sig.set(**v / 10 + 1);
                log.push(-1);
            }
        }
    }));
    log.check(&[0, -1, 10, -1, 20, -1, 30]);
}
