//! Cases that once failed: refused readers, runs that wait, cells that end while others are made.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

use hyphae::{
    Cell, CellImmutable, Limits, Pipeline, Selector, Signal, WeakCell, arena, batch, effect,
    on_cleanup, selector, set_limits,
};

type Slot = Rc<RefCell<Option<Cell<i64, CellImmutable>>>>;

/// C makes a switch over E and reads it; E comes to read C.
#[test]
fn a_switch_that_a_waiting_closure_reads_does_not_wake_the_refused_for_ever() {
    let (on, tick, slot) = (Cell::new(false), Cell::new(0), Slot::default());
    let runs = Rc::new(std::cell::Cell::new(0));
    let e = Cell::computed({
        let (on, slot, runs) = (on.clone(), slot.clone(), runs.clone());
        move || {
            runs.set(runs.get() + 1);
            if !on.get() {
                return 0;
            }
            let c = slot.borrow().clone().unwrap();
            c.try_get().unwrap_or(9)
        }
    });
    let c = Cell::computed({
        let (e, tick) = (e.clone(), tick.clone());
        move || {
            tick.get();
            let switch = e.switch_map(|_| Cell::new(1));
            switch.try_get().unwrap_or(9)
        }
    });
    *slot.borrow_mut() = Some(c.clone());
    on.set(true);
    assert_eq!(e.get(), 9);
    assert!(runs.get() <= 6, "{}", runs.get());
    batch(|| {
        tick.set(2);
        on.set(false);
    });
    assert_eq!((e.get(), c.get()), (0, 1));
    slot.borrow_mut().take();
}

/// The switch is refused `inner`, which depends on it; then `inner` completes and lets go of it.
#[test]
fn a_switch_follows_a_cell_that_does_not_depend_on_it_any_more() {
    for at_once in [false, true] {
        let (on, x) = (Cell::new(false), Cell::new(5));
        let slot: Rc<RefCell<Option<Cell<i64, CellImmutable>>>> = Rc::default();
        let other = Cell::new(1).lock();
        let switch = on.switch_map({
            let (slot, other) = (slot.clone(), other.clone());
            move |on| if *on { slot.borrow().clone().unwrap() } else { other.clone() }
        });
        let inner = x.clone().with_latest_from(&switch).map(|(x, _)| *x).materialize();
        *slot.borrow_mut() = Some(inner.clone());
        if at_once {
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                batch(|| {
                    on.set(true);
                    x.complete();
                });
            }));
        } else {
            let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| on.set(true)));
            assert!(refused.is_err());
            assert_eq!(switch.get(), 1);
            x.complete();
        }
        assert!(inner.is_complete());
        assert_eq!((switch.get(), at_once), (5, at_once));
        slot.borrow_mut().take();
    }
}
/// The same for a computed cell.
#[test]
fn a_refused_reader_runs_again_when_a_cell_on_the_path_has_ended() {
    let (on, x) = (Cell::new(false), Cell::new(5));
    let slot: Rc<RefCell<Option<Cell<i64, CellImmutable>>>> = Rc::default();
    let reader = Cell::computed({
        let (on, slot) = (on.clone(), slot.clone());
        move || if on.get() { slot.borrow().clone().unwrap().try_get().unwrap_or(9) } else { 0 }
    });
    let inner = x.clone().with_latest_from(&reader).map(|(x, _)| *x).materialize();
    *slot.borrow_mut() = Some(inner.clone());
    on.set(true);
    assert_eq!(reader.get(), 9);
    x.complete();
    assert!(inner.is_complete());
    assert_eq!(reader.get(), 5);
    slot.borrow_mut().take();
}

/// `y` ends and lets go of `x`, which dies; the clean-up of `x` drops the last handle of `y`, which dies while it is ending.
#[test]
fn a_cell_that_dies_of_a_clean_up_while_it_lets_go_of_its_inputs() {
    for _ in 0..50 {
        let slot = Rc::new(RefCell::new(None::<Cell<i64, CellImmutable>>));
        let source = Cell::new(0);
        let x = Cell::computed({
            let (source, slot) = (source.clone(), slot.clone());
            move || {
                let slot = slot.clone();
                on_cleanup(move || {
                    let last =
                        if arena::totals().cells == 2 { slot.borrow_mut().take() } else { None };
                    drop(last);
                });
                source.get()
            }
        });
        let y = x.clone().take(2).materialize();
        *slot.borrow_mut() = Some(y);
        drop(x);
        source.set(1);
        assert!(slot.borrow().is_none());
        drop(source);
        arena::assert_no_live();
    }
}

#[test]
fn the_first_panic_comes_out_not_that_of_the_clean_up_after_it() {
    let source = Cell::new(0);
    let computed = Cell::computed({
        let source = source.clone();
        move || {
            if source.get() == 1 {
                on_cleanup(|| resume_unwind(Box::new("second")));
                resume_unwind(Box::new("first"));
            }
        }
    });
    let came = catch_unwind(AssertUnwindSafe(|| source.set(1))).unwrap_err();
    assert_eq!(came.downcast_ref::<&str>(), Some(&"first"));
    drop(computed);
    let made = catch_unwind(AssertUnwindSafe(|| {
        batch(|| {
            source.switch_map(|_| -> Cell<i32> {
                on_cleanup(|| resume_unwind(Box::new("second")));
                resume_unwind(Box::new("first"))
            })
        })
    }));
    assert_eq!(made.unwrap_err().downcast_ref::<&str>(), Some(&"first"));
}

/// `m` is made by the closure of a switch over `a` and only ordered behind it; `a` comes to read `b`, and `b` reads `m`.
#[test]
fn the_order_of_what_a_switch_made_is_no_dependency() {
    let (on, z) = (Cell::new(false), Cell::new(5));
    let (ms, bs) = (Slot::default(), Slot::default());
    let a = Cell::computed({
        let (on, bs) = (on.clone(), bs.clone());
        move || if on.get() { bs.borrow().clone().unwrap().get() } else { 0 }
    });
    let switch = a.switch_map({
        let (ms, z) = (ms.clone(), z.clone());
        move |_| {
            let mut ms = ms.borrow_mut();
            ms.get_or_insert_with(|| (&z).map(|v| *v).materialize()).clone()
        }
    });
    let b = Cell::computed({
        let (on, ms) = (on.clone(), ms.clone());
        move || if on.get() { ms.borrow().clone().unwrap().get() } else { 1 }
    });
    *bs.borrow_mut() = Some(b.clone());
    on.set(true);
    assert_eq!((a.get(), b.get(), switch.get()), (5, 5, 5));
    bs.borrow_mut().take();
}

/// `y` takes its last value and ends; `x`, which only it held, goes, and the clean-up of `x` subscribes to `y`.
#[test]
fn who_subscribes_in_a_clean_up_of_an_ending_cell_hears_everything_once() {
    let slot = Rc::new(RefCell::new(None::<Cell<i64, CellImmutable>>));
    let heard = Rc::new(RefCell::new(vec![]));
    let guards = Rc::new(RefCell::new(vec![]));
    let source = Cell::new(0);
    let x = Cell::computed({
        let (source, slot, heard, guards) =
            (source.clone(), slot.clone(), heard.clone(), guards.clone());
        move || {
            let (slot, heard, guards) = (slot.clone(), heard.clone(), guards.clone());
            let value = source.get();
            if value == 1 {
                on_cleanup(move || {
                    let y = slot.borrow_mut().take().unwrap();
                    let heard = heard.clone();
                    guards.borrow_mut().push(y.subscribe(move |signal| {
                        heard.borrow_mut().push(match signal {
                            Signal::Value(v) => v.to_string(),
                            _ => "end".to_string(),
                        });
                    }));
                });
            }
            value
        }
    });
    let y = x.clone().take(2).materialize();
    *slot.borrow_mut() = Some(y);
    drop(x);
    source.set(1);
    assert_eq!(*heard.borrow(), ["1", "end"]);
    guards.borrow_mut().clear();
}

/// Asking for a key brings the selecting cell up to date, in a batch; that runs a closure which asks for the same key.
#[test]
fn a_key_that_is_asked_for_while_it_is_asked_for() {
    let source = Cell::new(0);
    let slot = Rc::new(RefCell::new(None::<Selector<i64>>));
    let inner = Rc::new(RefCell::new(None::<Cell<bool, CellImmutable>>));
    let selecting = (&source)
        .map({
            let (slot, inner) = (slot.clone(), inner.clone());
            move |v| {
                if *v == 1
                    && let Some(selector) = slot.borrow().clone()
                {
                    *inner.borrow_mut() = Some(selector.is(7));
                }
                *v
            }
        })
        .materialize();
    let selector = selector(&selecting);
    *slot.borrow_mut() = Some(selector.clone());
    let outer = batch(|| {
        source.set(1);
        selector.is(7)
    });
    let inner = inner.borrow_mut().take().unwrap();
    source.set(7);
    assert_eq!((outer.get(), inner.get()), (true, true));
    source.set(8);
    assert_eq!((outer.get(), inner.get()), (false, false));
    source.complete();
    assert!(outer.is_complete() && inner.is_complete());
    slot.borrow_mut().take();
}

/// A tracked read, in a closure that runs in a batch, of a cell with a cut-off that is set back afterwards (P8).
#[test]
fn a_tracked_read_of_what_a_cut_off_takes_back() {
    let (s, on) = (Cell::with_cutoff(4, i64::eq), Cell::new(false));
    let inside = batch(|| {
        s.set(0);
        let inside = on.switch_map({
            let s = s.clone();
            move |_| {
                let s = s.clone();
                Cell::computed(move || s.get())
            }
        });
        s.set(4);
        inside
    });
    assert_eq!((s.get(), inside.get()), (4, 4));
}
#[test]
fn an_effect_that_reads_what_a_cut_off_takes_back() {
    let s = Cell::with_cutoff(4, i64::eq);
    let seen = std::rc::Rc::new(std::cell::RefCell::new(vec![]));
    let other = Cell::new(0);
    let _guard = batch(|| {
        s.set(0);
        let guard = other.with(|_| {
            effect({
                let (s, seen) = (s.clone(), seen.clone());
                move || seen.borrow_mut().push(s.get())
            })
        });
        s.set(4);
        guard
    });
    assert_eq!(seen.borrow().last(), Some(&4), "{:?}", seen.borrow());
}

/// `x` comes to read `made`, which a switch over `c` has made and which is only ordered behind it; `c` comes to read `down`,
/// which depends on `x`.
#[test]
fn who_waits_does_not_wait_for_an_order() {
    let (on, z) = (Cell::new(false), Cell::new(5));
    let (made, down) = (Slot::default(), Slot::default());
    let slow = |slot: &Slot, other: i64| {
        let (on, slot) = (on.clone(), slot.clone());
        move || if on.get() { slot.borrow().clone().unwrap().get() } else { other }
    };
    let x = Cell::computed(slow(&made, 1));
    let c = Cell::computed(slow(&down, 2));
    let runs = Rc::new(std::cell::Cell::new(0));
    let switch = c.switch_map({
        let (made, z, runs) = (made.clone(), z.clone(), runs.clone());
        move |_| {
            runs.set(runs.get() + 1);
            made.borrow_mut().get_or_insert_with(|| (&z).map(|v| *v).materialize()).clone()
        }
    });
    *down.borrow_mut() = Some(Cell::computed({
        let x = x.clone();
        move || x.get()
    }));
    on.set(true); // never came back
    assert_eq!((x.get(), c.get(), switch.get(), runs.get()), (5, 5, 5, 2));
    on.set(false);
    assert_eq!((x.get(), c.get(), switch.get(), runs.get()), (1, 2, 5, 3));
    made.take();
    down.take();
}

/// A switch is refused more cells than there may be generations, one after the other; then one cell breaks all those
/// cycles. It follows the last one.
#[test]
fn a_reader_that_was_refused_often_is_woken_once() {
    set_limits(Limits { generations: 10, ..Limits::default() });
    let select = Cell::new(0);
    let middle = Rc::new(RefCell::new(None::<WeakCell<i64, CellImmutable>>));
    let (kept, runs) = (Rc::new(RefCell::new(vec![])), Rc::new(std::cell::Cell::new(0)));
    let switch = select.switch_map({
        let (middle, kept, runs) = (middle.clone(), kept.clone(), runs.clone());
        move |_| {
            runs.set(runs.get() + 1);
            let middle = middle.borrow().as_ref().and_then(WeakCell::upgrade);
            let made = middle
                .map_or_else(|| Cell::new(5).lock(), |middle| middle.map(|v| *v).materialize());
            kept.borrow_mut().push(made.clone());
            made
        }
    });
    let down = (&switch).map(|v| *v).materialize();
    *middle.borrow_mut() = Some(down.downgrade());
    for n in 1..=20 {
        assert!(catch_unwind(AssertUnwindSafe(|| select.set(n))).is_err());
    }
    assert_eq!(runs.get(), 21);
    down.dispose();
    assert_eq!((switch.get(), runs.get()), (5, 21));
    kept.borrow_mut().clear();
}

/// `a` waits for what depends on `b`, which is refused `a` for that; then `a` is refused what it waited for, since `b` had
/// read `a` before. So `b` may read it.
#[test]
fn who_was_refused_a_cell_that_is_refused_what_it_waited_for() {
    let (on, slot) = (Cell::new(false), Slot::default());
    let a = Cell::computed_with_cutoff(
        {
            let (on, slot) = (on.clone(), slot.clone());
            move || {
                if !on.get() {
                    return 0;
                }
                let down = slot.borrow().clone().unwrap();
                down.try_get().unwrap_or(0)
            }
        },
        i64::eq,
    );
    let b = Cell::computed({
        let (on, a) = (on.clone(), a.clone());
        move || {
            on.get();
            a.try_get().unwrap_or(9)
        }
    });
    let down = (&b).map(|v| *v).materialize();
    *slot.borrow_mut() = Some(down.clone());
    on.set(true);
    assert_eq!((a.get(), b.get(), down.get()), (0, 0, 0));
    on.set(false);
    assert_eq!((a.get(), b.get(), down.get()), (0, 0, 0));
    slot.borrow_mut().take();
}

/// `a` makes `c` and reads it; a run of `c` makes `d`, which reads `a`, and waits for it. So `a` runs on top and lets go of
/// `c`, which waits. What `a` then makes may have the place that `c` had in the order; no cycle leads through it.
#[test]
fn what_is_in_the_place_of_a_dead_waiter_is_not_taken_for_it() {
    let (x, y, slot) = (Cell::new(0), Cell::new(0), Slot::default());
    let (once, refused) = (Rc::new(std::cell::Cell::new(false)), Rc::new(std::cell::Cell::new(0)));
    let a = Cell::computed({
        let (x, y, slot) = (x.clone(), y.clone(), slot.clone());
        let (once, refused) = (once.clone(), refused.clone());
        move || {
            let c = Cell::computed({
                let (x, slot, once) = (x.clone(), slot.clone(), once.clone());
                move || {
                    let value = x.get();
                    if value == 0 || once.replace(true) {
                        return value;
                    }
                    let a = slot.borrow().clone().unwrap();
                    let d = Cell::computed(move || a.get());
                    d.try_get().unwrap_or(9)
                }
            });
            let next = (&c).map(|v| v + 1).materialize();
            next.try_get().unwrap_or_else(|_| {
                refused.set(refused.get() + 1);
                9
            }) + y.get()
        }
    });
    *slot.borrow_mut() = Some(a.clone());
    batch(|| {
        x.set(1);
        y.set(1);
    });
    assert_eq!((a.get(), refused.get()), (3, 0));
    slot.borrow_mut().take();
}
