//! Cases that once failed, shortened, without the machinery of the random ones.

use std::cell::{Cell as Count, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use hyphae::{Cell, CellImmutable, Signal, arena, batch, effect, on_cleanup, selector};

type Locked = Cell<i64, CellImmutable>;
type Slot<T> = Rc<RefCell<Option<T>>>;

#[test]
fn an_answer_is_not_given_again_when_the_selecting_cell_ends() {
    let selected = Cell::new(0);
    let answer = selector(&selected).is(3);
    let heard = Rc::new(RefCell::new(vec![]));
    let _guard = answer.subscribe({
        let heard = heard.clone();
        move |signal: &Signal<'_, bool>| {
            if let Signal::Value(v) = signal {
                heard.borrow_mut().push(**v);
            }
        }
    });
    selected.set(1); // no flip for 3
    selected.complete();
    assert_eq!(*heard.borrow(), [false]);
}

#[test]
fn a_switch_over_the_reader_that_it_refuses_does_not_wake_it_for_ever() {
    let (on, slot) = (Cell::new(false), Slot::<Locked>::default());
    let runs = Rc::new(Count::new(0));
    let a = Cell::computed({
        let (on, slot, runs) = (on.clone(), slot.clone(), runs.clone());
        move || {
            runs.set(runs.get() + 1);
            if !on.get() {
                return 0;
            }
            let s = slot.borrow().clone().unwrap();
            s.try_get().unwrap_or(9)
        }
    });
    let s = a.switch_map(|_| Cell::new(1));
    *slot.borrow_mut() = Some(s.clone());
    on.set(true);
    assert_eq!((a.get(), s.get()), (9, 1));
    assert!(runs.get() <= 4, "{}", runs.get());
    on.set(false);
    assert_eq!((a.get(), s.get()), (0, 1));
    slot.borrow_mut().take();
}

/// `one` makes an effect that reads `down`, which depends on `one`; a cell that is made in a batch reads `one`.
#[test]
fn an_effect_made_in_a_closure_reads_a_dependent_of_that() {
    let (source, slot) = (Cell::new(0), Slot::<Locked>::default());
    let guards = Rc::new(RefCell::new(vec![]));
    let one = Cell::computed({
        let (source, slot, guards) = (source.clone(), slot.clone(), guards.clone());
        move || {
            let value = source.get();
            if value == 1 {
                let down = slot.borrow().clone().unwrap();
                let guard = effect(move || {
                    let _ = down.try_get();
                });
                guards.borrow_mut().push(guard);
            }
            value
        }
    });
    *slot.borrow_mut() = Some(Cell::computed({
        let one = one.clone();
        move || one.get()
    }));
    let made = batch(|| {
        source.set(1);
        Cell::computed({
            let one = one.clone();
            move || one.get()
        })
    });
    assert_eq!((one.get(), made.get()), (1, 1));
    guards.borrow_mut().clear();
    slot.borrow_mut().take();
}

#[test]
fn a_cell_that_a_closure_did_not_make_lives_through_its_next_run() {
    let trigger = Cell::new(0);
    let other = Cell::new(7);
    let weak = other.downgrade();
    let c = Cell::computed({
        let (trigger, weak) = (trigger.clone(), weak.clone());
        move || {
            let _made = Cell::new(1); // the closure makes something, whatever
            trigger.get();
            weak.upgrade().map(|cell| cell.get())
        }
    });
    drop(other); // C1: lives by its dependent
    assert!(weak.is_alive());
    trigger.set(1);
    assert_eq!(c.get(), Some(7));
}

#[test]
fn a_merge_with_a_limit_fails_when_the_outer_does() {
    let outer = Cell::new(0);
    let merged = outer.merge_map_limit(1, |_| Cell::new(5));
    outer.set(1); // waits: the first inner has not ended
    outer.fail("broken");
    assert!(merged.error().is_some());
}

#[test]
fn an_effect_whose_clean_up_drops_its_guard_does_not_run_again() {
    let cell = Cell::new(0);
    let (runs, slot) = (Rc::new(RefCell::new(vec![])), Rc::new(RefCell::new(None)));
    let guard = effect({
        let (cell, runs, slot) = (cell.clone(), runs.clone(), slot.clone());
        move || {
            runs.borrow_mut().push(cell.get());
            let slot = slot.clone();
            on_cleanup(move || drop(slot.borrow_mut().take()));
        }
    });
    *slot.borrow_mut() = Some(guard);
    cell.set(1);
    assert_eq!(*runs.borrow(), [0]);
}

#[test]
fn a_computed_whose_clean_up_disposes_of_it_does_not_run_again() {
    let cell = Cell::new(0);
    let (runs, slot) = (Rc::new(RefCell::new(vec![])), Rc::new(RefCell::new(None)));
    let computed = Cell::computed({
        let (cell, runs, slot) = (cell.clone(), runs.clone(), slot.clone());
        move || {
            runs.borrow_mut().push(cell.get());
            let slot = slot.clone();
            on_cleanup(move || {
                if let Some(me) = slot.borrow_mut().take() {
                    Cell::<(), CellImmutable>::dispose(&me);
                }
            });
        }
    });
    *slot.borrow_mut() = Some(computed);
    cell.set(1);
    assert_eq!(*runs.borrow(), [0]);
}

#[test]
fn a_switch_whose_clean_up_disposes_of_it_does_not_choose_again() {
    let cell = Cell::new(0);
    let (runs, slot) = (Rc::new(RefCell::new(vec![])), Rc::new(RefCell::new(None)));
    let switch = cell.switch_map({
        let (runs, slot) = (runs.clone(), slot.clone());
        move |v| {
            runs.borrow_mut().push(*v);
            let slot = slot.clone();
            on_cleanup(move || {
                if let Some(me) = slot.borrow_mut().take() {
                    Cell::<i32, CellImmutable>::dispose(&me);
                }
            });
            Cell::new(1)
        }
    });
    *slot.borrow_mut() = Some(switch);
    cell.set(1);
    assert_eq!(*runs.borrow(), [0]);
}

#[test]
fn a_merge_map_whose_closure_drops_its_last_handle() {
    let outer = Cell::new(0);
    let kept = Cell::new(5);
    let slot = Rc::new(RefCell::new(None));
    let merged = outer.merge_map({
        let (slot, kept) = (slot.clone(), kept.clone());
        move |_| {
            let last = slot.borrow_mut().take();
            drop::<Option<Cell<i32, CellImmutable>>>(last);
            kept.clone()
        }
    });
    *slot.borrow_mut() = Some(merged);
    outer.set(1);
    assert_eq!((outer.dependents(), kept.dependents()), (0, 0));
    drop((outer, kept));
    arena::assert_no_live();
}

#[test]
fn a_switch_map_whose_closure_drops_its_last_handle() {
    let outer = Cell::new(0);
    let kept = Cell::new(5);
    let slot = Rc::new(RefCell::new(None));
    let merged = outer.switch_map({
        let (slot, kept) = (slot.clone(), kept.clone());
        move |_| {
            let last = slot.borrow_mut().take();
            drop::<Option<Cell<i32, CellImmutable>>>(last);
            kept.clone()
        }
    });
    *slot.borrow_mut() = Some(merged);
    outer.set(1);
    assert_eq!((outer.dependents(), kept.dependents()), (0, 0));
    drop((outer, kept));
    arena::assert_no_live();
}

#[test]
fn a_merge_map_whose_closure_disposes_of_it() {
    let outer = Cell::new(0);
    let kept = Cell::new(5);
    let slot = Rc::new(RefCell::new(None::<Cell<i32, CellImmutable>>));
    let merged = outer.merge_map({
        let (slot, kept) = (slot.clone(), kept.clone());
        move |_| {
            if let Some(me) = &*slot.borrow() {
                me.dispose();
            }
            kept.clone()
        }
    });
    *slot.borrow_mut() = Some(merged);
    outer.set(1);
    assert_eq!((outer.dependents(), kept.dependents()), (0, 0));
    slot.borrow_mut().take();
    drop((outer, kept));
    arena::assert_no_live();
}

#[test]
fn a_merge_map_that_panics_at_construction_leaves_nothing_behind() {
    let outer = Cell::new(0);
    let runs = Rc::new(Count::new(0));
    let made = catch_unwind(AssertUnwindSafe(|| {
        outer.merge_map({
            let (outer, runs) = (outer.clone(), runs.clone());
            move |v| {
                runs.set(runs.get() + 1);
                if *v == 0 {
                    outer.set(1); // queued; settles before the panic comes out
                    panic!("at construction");
                }
                Cell::new(*v)
            }
        })
    }));
    assert!(made.is_err());
    assert_eq!((outer.get(), runs.get(), outer.dependents(), arena::totals().cells), (1, 1, 0, 1));
}

#[test]
fn a_switch_map_that_panics_at_construction_leaves_nothing_behind() {
    let outer = Cell::new(0);
    let runs = Rc::new(Count::new(0));
    let made = catch_unwind(AssertUnwindSafe(|| {
        outer.switch_map({
            let (outer, runs) = (outer.clone(), runs.clone());
            move |v| {
                runs.set(runs.get() + 1);
                if *v == 0 {
                    outer.set(1);
                    panic!("at construction");
                }
                Cell::new(*v)
            }
        })
    }));
    assert!(made.is_err());
    assert_eq!((outer.get(), runs.get(), outer.dependents(), arena::totals().cells), (1, 1, 0, 1));
}
