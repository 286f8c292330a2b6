//! Scopes: owners of cells, guards and clean-ups that go together.

use std::rc::Rc;

use hyphae::{Cell, Pipeline, Scope, SubscriptionGuard, arena, batch, effect, on_cleanup};

#[allow(dead_code)] // each binary uses a part of it
#[path = "field_reports/support.rs"]
mod support;

use support::{Heard, Log, caught};

fn noting(log: &Log<&'static str>, what: &'static str) -> impl FnOnce() + use<> {
    let log = log.clone();
    move || log.push(what)
}

#[test]
fn a_scope_owns_what_is_made_in_its_body() {
    let outside = Cell::new(1);
    let scope = Scope::new();
    assert!(scope.is_empty());
    let (cell, derived) = scope.run(|| {
        let cell = Cell::new(2);
        let derived = outside.join(&cell).map(|(a, b)| a + b).materialize();
        (cell.downgrade(), derived.downgrade())
    });
    assert_eq!((scope.len(), scope.is_empty()), (3, false)); // the cell, the join, the map
    assert_eq!(format!("{scope:?}"), "Scope { owns: 3 }");
    outside.set(10);
    assert_eq!(derived.upgrade().map(|cell| cell.get()), Some(12));
    drop(scope);
    assert!(!cell.is_alive() && !derived.is_alive());
    assert_eq!((outside.dependents(), arena::totals().cells), (0, 1));
}

#[test]
fn cells_that_others_hold_are_disposed_of_all_the_same() {
    let scope = Scope::default();
    let cell = scope.run(|| Cell::new(1));
    let below = (&cell).map(|v| v + 1).materialize();
    let log = Log::new();
    let _guard = log.hear(&below);
    scope.dispose();
    assert!(cell.try_get().is_err());
    log.check(&[Heard::Value(2), Heard::Complete]);
    assert_eq!(below.get(), 2);
}

/// Clean-ups first, the last registered first; then guards and cells in reverse order of creation.
#[test]
fn clean_ups_run_before_anything_else_goes() {
    let log = Log::new();
    let scope = Scope::new();
    scope.on_cleanup(noting(&log, "clean-up 1"));
    scope.own(SubscriptionGuard::from_callback(noting(&log, "guard 1")));
    let cell = scope.run(|| {
        let cell = Cell::new(7);
        cell.own(SubscriptionGuard::from_callback(noting(&log, "cell")));
        on_cleanup({
            let (log, cell) = (log.clone(), cell.clone());
            move || log.push(if cell.get() == 7 { "clean-up 2" } else { "?" })
        });
        cell.downgrade()
    });
    scope.own(SubscriptionGuard::from_callback(noting(&log, "guard 2")));
    assert_eq!(scope.len(), 5);
    drop(scope);
    assert!(!cell.is_alive());
    log.check(&["clean-up 2", "clean-up 1", "guard 2", "cell", "guard 1"]);
}

/// An inner scope counts as registered where it was made.
#[test]
fn inner_scopes_go_before_what_was_registered_earlier() {
    let log = Log::new();
    let outer = Scope::new();
    let kept = outer.run(|| {
        on_cleanup(noting(&log, "outer 1"));
        let inner = Scope::new();
        inner.run(|| on_cleanup(noting(&log, "inner")));
        on_cleanup(noting(&log, "outer 2"));
        inner
    });
    assert_eq!((outer.len(), kept.len()), (3, 1));
    drop(outer);
    log.check(&["outer 2", "inner", "outer 1"]);
    assert!(kept.is_empty());
    drop(kept);
    assert_eq!(log.len(), 3);
}

#[test]
fn an_inner_scope_that_goes_first_leaves_its_owner() {
    let log = Log::new();
    let outer = Scope::new();
    outer.run(|| {
        let inner = Scope::new();
        inner.on_cleanup(noting(&log, "inner"));
        assert_eq!(outer.len(), 1);
        drop(inner);
        assert_eq!(outer.len(), 0);
    });
    drop(outer);
    log.check(&["inner"]);
}

#[test]
fn a_scope_made_outside_is_its_own_master() {
    let (a, b) = (Scope::new(), Scope::new());
    let cell = a.run(|| b.run(|| Cell::new(1)));
    assert_eq!((a.len(), b.len()), (0, 1));
    drop(a);
    assert_eq!(cell.get(), 1);
}

#[test]
fn a_scope_can_be_run_again() {
    let scope = Scope::new();
    let first = scope.run(|| Cell::new(1));
    let second = scope.run(|| Cell::new(2));
    assert_eq!(scope.len(), 2);
    drop(scope);
    assert!(first.try_get().is_err() && second.try_get().is_err());
}

/// What callbacks of a wave make belongs to its handles, not to the scope whose body made the write.
#[test]
fn callbacks_of_a_wave_do_not_make_for_the_scope() {
    let trigger = Cell::new(0);
    let made = Log::new();
    let _guard = trigger.subscribe_changes({
        let made = made.clone();
        move |_| made.push(Cell::new(1))
    });
    let scope = Scope::new();
    scope.run(|| trigger.set(1));
    scope.run(|| batch(|| trigger.set(2)));
    assert_eq!(scope.len(), 0);
    drop(scope);
    assert!(made.take().iter().all(|cell| cell.try_get().is_ok()));
}

#[test]
fn a_body_that_panics_leaves_what_was_there_before() {
    let log = Log::new();
    let scope = Scope::new();
    let kept = scope.run(|| Cell::new(1));
    let text = caught(|| {
        scope.run(|| {
            let half = Cell::new(2);
            on_cleanup(noting(&log, "half"));
            assert_eq!(half.get(), 3, "half made");
        });
    });
    assert!(text.is_some_and(|text| text.contains("half made")));
    log.check(&["half"]);
    assert_eq!((scope.len(), kept.get(), arena::totals().cells), (1, 1, 1));
    // The scope is not current any more, and usable.
    let free = Cell::new(5);
    scope.run(|| on_cleanup(noting(&log, "later")));
    drop(scope);
    log.check(&["half", "later"]);
    assert_eq!(free.get(), 5);
}

#[test]
fn writes_of_clean_ups_settle_before_drop_returns() {
    let total = Cell::new(0);
    let log = Log::new();
    let _guard = log.on(&total);
    let scope = Scope::new();
    for n in 1..=3 {
        let total = total.clone();
        scope.on_cleanup(move || total.update(|v| *v += n));
    }
    drop(scope);
    log.check(&[0, 3, 5, 6]);
}

/// What a clean-up makes belongs to nobody but its handles.
#[test]
fn clean_ups_may_make_cells_and_scopes() {
    let kept = Log::new();
    let scope = Scope::new();
    scope.on_cleanup({
        let kept = kept.clone();
        move || {
            kept.push(Cell::new(1));
            Scope::new().run(|| Cell::new(2));
        }
    });
    drop(scope);
    assert_eq!(kept.take()[0].get(), 1);
    arena::assert_no_live();
}

#[test]
fn disposing_inside_the_own_body_and_in_a_callback() {
    let (trigger, log) = (Cell::new(0), Log::new());
    let scope = Scope::new();
    let inner = scope.run(|| Cell::new(1));
    let guard = inner.subscribe_changes({
        let log = log.clone();
        move |signal| log.push(signal.is_complete())
    });
    let mut slot = Some(scope);
    let _writer = trigger.subscribe_changes(move |_| drop(slot.take()));
    trigger.set(1);
    log.check(&[true]);
    assert!(inner.try_get().is_err());
    drop((guard, inner));
}

#[test]
fn events_are_kept_by_cells_made_in_a_no_coalesce_body_only() {
    let kept = hyphae::no_coalesce(|| {
        let caught = caught(|| hyphae::no_coalesce(|| panic!("inside")));
        assert_eq!(caught.as_deref(), Some("inside"));
        Cell::new(0)
    });
    let plain = Cell::new(0);
    let count = |cell: &Cell<i32>| cell.scan(-1, |n, _| n + 1).materialize();
    let (of_kept, of_plain) = (count(&kept), count(&plain));
    batch(|| (1..=3).for_each(|v| [&kept, &plain].into_iter().for_each(|cell| cell.set(v))));
    assert_eq!((of_kept.get(), of_plain.get()), (3, 1));
}

#[test]
fn deeply_nested_scopes_go_without_recursion() {
    support::run_on_small_stack(128, || {
        let outer = Scope::new();
        let mut at = vec![];
        let mut last = None::<Scope>;
        for _ in 0..10_000 {
            let next = last.as_ref().unwrap_or(&outer).run(Scope::new);
            at.extend(last.replace(next));
        }
        last.as_ref().expect("one").run(|| drop(Cell::new(1)));
        assert_eq!(arena::totals().cells, 1);
        drop(outer);
        arena::assert_no_live();
        drop((at, last));
    });
}

/// In a batch the cells of a scope go at once; their subscribers hear of it at the end of the batch.
#[test]
fn a_scope_that_goes_in_a_batch() {
    let scope = Scope::new();
    let cell = scope.run(|| Cell::new(1));
    let below = (&cell).map(|v| v * 2).materialize();
    let log = Log::new();
    let _guards = (log.hear(&cell), log.hear(&below));
    log.take();
    batch(|| {
        cell.set(5);
        drop(scope);
        assert!(cell.try_get().is_err());
        assert_eq!((below.get(), log.len()), (10, 0));
    });
    log.check(&[Heard::Value(5), Heard::Complete, Heard::Value(10), Heard::Complete]);
}

/// Dropping the handles does not take the cells from the scope; what depends on them outlives it.
#[test]
fn handles_that_leave_the_body_are_still_the_scope_s() {
    let scope = Scope::new();
    let made: Vec<Cell<i32>> = scope.run(|| (0..3).map(Cell::new).collect());
    let joined = hyphae::join_vec(made.iter().cloned());
    assert_eq!((scope.len(), joined.get()), (3, vec![0, 1, 2]));
    drop(made);
    assert_eq!(arena::totals().cells, 4);
    drop(scope);
    assert_eq!((joined.get(), joined.is_complete()), (vec![0, 1, 2], true));
    assert_eq!(arena::totals().cells, 1);
}

#[test]
fn an_effect_that_goes_with_its_scope_is_not_called_any_more() {
    let a = Cell::new(1);
    let runs = Rc::new(std::cell::Cell::new(0));
    let scope = Scope::new();
    let guard = scope.run(|| {
        let b = (&a).map(|v| v + 1).materialize();
        effect({
            let runs = runs.clone();
            let b = b.downgrade();
            move || {
                runs.set(runs.get() + 1);
                if let Some(b) = b.upgrade() {
                    b.get();
                }
            }
        })
    });
    batch(|| {
        a.set(2);
        let s = scope;
        drop(s);
        a.set(3);
    });
    a.set(4);
    drop(guard);
    assert_eq!(runs.get(), 1);
}
