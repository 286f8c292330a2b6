//! Lives: what a combined cell keeps, what it lets go, disposal of inputs and of the cell itself, guards and handles that
//! are dropped between the rounds of a wave, cells made in batches and callbacks.

use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;

use hyphae::{
    Cell, CellImmutable, Pipeline, Scope, Source, SubscriptionGuard, arena, batch, combine,
    combine_vec, join_vec, merge_vec, selector, zip_vec,
};

use crate::support::{Heard, Log, caught};

type Maker = (&'static str, fn(&Cell<i32>, &Cell<i32>) -> Box<dyn Any>);

/// Every combinator; each keeps both cells.
const MAKERS: [Maker; 14] = [
    ("join", |a, b| Box::new(a.join(b))),
    ("join_vec", |a, b| Box::new(join_vec([a.clone(), b.clone()]))),
    ("zip", |a, b| Box::new(a.zip(b))),
    ("zip_vec", |a, b| Box::new(zip_vec([a.clone(), b.clone()]))),
    ("merge", |a, b| Box::new(a.merge(b))),
    ("merge_vec", |a, b| Box::new(merge_vec([a.clone(), b.clone()]))),
    ("concat", |a, b| Box::new(a.concat(b))),
    ("take_until", |a, b| Box::new(a.take_until(b))),
    ("with_latest_from", |a, b| Box::new(a.clone().with_latest_from(b).materialize())),
    ("sample", |a, b| Box::new(a.sample(b).materialize())),
    ("sample_on", |a, b| {
        let source = Source::<()>::new();
        Box::new((a.sample_on(&source), b.clone()))
    }),
    ("combine", |a, b| Box::new(combine((a, b), |(a, b)| a + b))),
    ("combine_vec", |a, b| Box::new(combine_vec([a, b], |all| all.iter().sum::<i32>()))),
    ("selector", |a, b| {
        let keys = [selector(a).is(1), selector(b).is(1)];
        Box::new(keys)
    }),
];

#[test]
fn a_combined_cell_keeps_its_inputs_and_no_more() {
    for (name, make) in MAKERS {
        let (a, b) = (Cell::new(1), Cell::new(2));
        let before = arena::totals();
        drop(make(&a, &b));
        let after = arena::totals();
        assert_eq!((after.cells, after.edges), (before.cells, before.edges), "{name}");
        let combined = make(&a, &b);
        let weak = (a.downgrade(), b.downgrade());
        drop((a, b));
        assert!(weak.0.is_alive() && weak.1.is_alive(), "{name}");
        drop(combined);
        assert!(!weak.0.is_alive() && !weak.1.is_alive(), "{name}");
        arena::assert_no_live();
    }
}

#[test]
fn a_disposed_input_is_refused() {
    for (name, make) in MAKERS.into_iter().filter(|maker| maker.0 != "sample_on") {
        for which in 0..2 {
            let cells = [Cell::new(1), Cell::new(2)];
            cells[which].dispose();
            let before = arena::totals();
            let text = caught(|| make(&cells[0], &cells[1])).expect(name);
            assert!(text.contains("was disposed of"), "{name}: {text}");
            let after = arena::totals();
            assert_eq!((after.cells, after.edges), (before.cells, before.edges), "{name}");
        }
        arena::assert_no_live();
    }
}

/// A scope owns what is made in it.
#[test]
fn a_scope_disposes_of_combined_cells() {
    for (name, make) in MAKERS {
        let (a, b) = (Cell::new(1), Cell::new(2));
        let scope = Scope::new();
        let kept = scope.run(|| make(&a, &b));
        drop(scope);
        assert_eq!((a.dependents(), b.dependents()), (0, 0), "{name}");
        a.set(3);
        drop(kept);
    }
    arena::assert_no_live();
}

type Pair = (Cell<i32>, Cell<i32>);

fn pair() -> Pair {
    (Cell::new(1), Cell::new(2))
}

/// What is heard when one side is disposed of and the other changes and completes.
fn heard_at_disposal<T: Clone + 'static>(
    first: bool,
    make: impl Fn(&Pair) -> Cell<T, CellImmutable>,
) -> Vec<Heard<T>> {
    let cells = pair();
    let log = Log::new();
    let _guard = log.hear(&make(&cells));
    let (gone, left) = if first { (&cells.0, &cells.1) } else { (&cells.1, &cells.0) };
    gone.dispose();
    left.set(9);
    left.complete();
    log.take()
}

/// An input that is disposed of is one that completes; its last value stays (rule C7).
#[test]
fn a_disposed_input_is_a_complete_one() {
    use Heard::{Complete, Value};
    type Int = Cell<i32, CellImmutable>;
    fn merged((a, b): &Pair) -> Int {
        a.merge(b)
    }
    fn concatenated((a, b): &Pair) -> Int {
        a.concat(b)
    }
    fn until((a, b): &Pair) -> Int {
        a.take_until(b)
    }
    fn sampled((a, b): &Pair) -> Int {
        a.sample(b).materialize()
    }
    let joined = |(a, b): &Pair| a.join(b);
    let zipped = |(a, b): &Pair| a.zip(b);
    let beside = |(a, b): &Pair| a.clone().with_latest_from(b).materialize();
    assert_eq!(heard_at_disposal(true, joined), [Value((1, 2)), Value((1, 9)), Complete]);
    assert_eq!(heard_at_disposal(false, joined), [Value((1, 2)), Value((9, 2)), Complete]);
    assert_eq!(heard_at_disposal(true, zipped), [Value((1, 2)), Complete]);
    assert_eq!(heard_at_disposal(true, merged), [Value(2), Value(9), Complete]);
    assert_eq!(heard_at_disposal(true, concatenated), [Value(1), Value(9), Complete]);
    assert_eq!(heard_at_disposal(false, concatenated), [Value(1), Value(9), Complete]);
    assert_eq!(heard_at_disposal(true, until), [Value(1), Complete]);
    assert_eq!(heard_at_disposal(false, until), [Value(1), Value(9), Complete]);
    assert_eq!(heard_at_disposal(true, beside), [Value((1, 2)), Complete]);
    assert_eq!(heard_at_disposal(false, beside), [Value((1, 2)), Value((9, 2)), Complete]);
    assert_eq!(heard_at_disposal(true, sampled), [Value(1), Value(1), Complete]);
    assert_eq!(heard_at_disposal(false, sampled), [Value(1), Complete]);
    arena::assert_no_live();
}

#[test]
fn a_combined_cell_that_is_disposed_of_lets_go() {
    let (a, b) = pair();
    let merged = a.merge(&b);
    let below = (&merged).map(|v| v * 10).materialize();
    let log = Log::new();
    let _guards = (log.hear(&merged), log.hear(&below));
    log.take();
    merged.dispose();
    log.check(&[Heard::<i32>::Complete, Heard::Complete]);
    assert_eq!((a.dependents(), b.dependents(), below.get()), (0, 0, 20));
    assert!(caught(|| merged.get()).is_some_and(|text| text.contains("was disposed of")));
    a.set(5);
    assert_eq!((log.len(), below.is_complete()), (2, true));
}

/// A guard or handle that is dropped, or a cell disposed of, between two rounds.
#[test]
fn the_rest_of_a_backlog_goes_with_its_cell() {
    let (a, b) = pair();
    let merged = a.merge(&b);
    let kept: Rc<RefCell<Option<(SubscriptionGuard, Cell<i32, CellImmutable>)>>> = Rc::default();
    let log = Log::new();
    let guard = merged.watch_changes({
        let (kept, log) = (kept.clone(), log.clone());
        move |v| {
            log.push(*v);
            kept.take();
        }
    });
    let weak = merged.downgrade();
    *kept.borrow_mut() = Some((guard, merged));
    batch(|| {
        a.set(3);
        b.set(4);
    });
    log.check(&[3]);
    assert!(!weak.is_alive());
    assert_eq!((a.dependents(), b.dependents()), (0, 0));
}

#[test]
fn a_guard_dropped_between_rounds_is_not_called_again() {
    let (a, b) = pair();
    let merged = a.merge(&b);
    let (log, other) = (Log::new(), Log::new());
    let guard: Rc<RefCell<Option<SubscriptionGuard>>> = Rc::default();
    let made = merged.watch_changes({
        let (guard, log) = (guard.clone(), log.clone());
        move |v| {
            log.push(*v);
            guard.take();
        }
    });
    *guard.borrow_mut() = Some(made);
    let _other = other.on(&merged);
    batch(|| {
        a.set(3);
        b.set(4);
    });
    log.check(&[3]);
    other.check(&[2, 3, 4]);
}

#[test]
fn a_merge_disposed_of_between_rounds_ends_there() {
    let (a, b) = pair();
    let merged = a.merge(&b);
    let log = Log::new();
    let _guard = log.hear(&merged);
    let _disposes = merged.watch_changes({
        let weak = merged.downgrade();
        move |_| weak.upgrade().expect("it lives").dispose()
    });
    batch(|| {
        a.set(3);
        b.set(4);
    });
    log.check(&[Heard::Value(2), Heard::Value(3), Heard::Complete]);
    assert_eq!((a.dependents(), b.dependents()), (0, 0));
}

/// One who subscribes between two rounds gets the value of the moment, then what is left (rule P1).
#[test]
fn a_subscriber_between_rounds_hears_the_rest() {
    let (a, b) = pair();
    let merged = a.merge(&b);
    let (late, guards) = (Log::new(), Log::new());
    let _first = merged.watch_changes({
        let (weak, late, guards) = (merged.downgrade(), late.clone(), guards.clone());
        move |_| {
            if guards.len() == 0 {
                guards.push(late.on(&weak.upgrade().expect("it lives")));
            }
        }
    });
    batch(|| {
        a.set(3);
        b.set(4);
    });
    late.check(&[3, 4]);
    drop(guards.take());
}

/// What a callback writes between two rounds comes after the wave (rule P3).
#[test]
fn a_write_between_rounds_waits_for_the_wave() {
    let (a, b) = pair();
    let merged = a.merge(&b);
    let log = Log::new();
    let _guard = log.on(&merged);
    let _writes = merged.watch_changes({
        let a = a.clone();
        move |v| {
            if *v < 100 {
                a.set(v + 100);
            }
        }
    });
    batch(|| {
        a.set(3);
        b.set(4);
    });
    log.check(&[2, 3, 4, 103, 104]);
}

/// Made in a batch, after a write: that is what it starts with, and it is no change for it any more.
#[test]
fn made_in_a_batch_it_starts_with_the_writes_so_far() {
    let (a, b) = pair();
    let (merged, zipped, until, log) = batch(|| {
        a.set(3);
        b.set(4);
        let made = (a.merge(&b), a.zip(&b), a.take_until(&b));
        let log = Log::new();
        assert_eq!((made.0.get(), made.1.get(), made.2.get()), (4, (3, 4), 3));
        let guard = log.on(&made.0);
        a.set(5);
        (made.0, made.1, made.2, (log, guard))
    });
    log.0.check(&[4, 5]);
    assert_eq!((merged.get(), zipped.get(), until.get()), (5, (3, 4), 5));
    b.set(6);
    assert_eq!((zipped.get(), until.is_complete()), ((5, 6), true));
}

/// Events that wait for the end of the batch come to a cell that was made in it.
#[test]
fn made_in_a_batch_it_hears_the_events_that_wait() {
    let (a, b) = (Cell::new(1).no_coalesce(), Cell::new(2).no_coalesce());
    let (zipped, log, _guard) = batch(|| {
        a.set(3);
        a.set(4);
        b.set(5);
        let zipped = a.zip(&b);
        let log = Log::new();
        let guard = log.on(&zipped);
        (zipped, log, guard)
    });
    log.check(&[(1, 2), (3, 5)]);
    b.set(6);
    assert_eq!(zipped.get(), (4, 6));
}

/// Made in a callback, between the rounds of a wave.
#[test]
fn made_between_rounds_it_hears_the_later_ones() {
    let a = Cell::new(1).no_coalesce();
    let b = Cell::new(10);
    let made = Log::new();
    let _makes = a.watch_changes({
        let (weak, b, made) = (a.downgrade(), b.clone(), made.clone());
        move |v| {
            if *v == 2 {
                let zipped = weak.upgrade().expect("it lives").zip(&b);
                let log = Log::new();
                made.push((log.on(&zipped), zipped, log));
            }
        }
    });
    batch(|| (2..5).for_each(|v| a.set(v)));
    let (_guard, zipped, log) = made.take().remove(0);
    [20, 30].into_iter().for_each(|v| b.set(v));
    log.check(&[(2, 10), (3, 20), (4, 30)]);
    assert_eq!(zipped.get(), (4, 30));
}

/// Ended inputs are let go one by one: what completes stays an input until the cell itself ends (rule C6).
#[test]
fn an_ended_cell_has_let_go_before_it_is_heard() {
    let (a, b) = pair();
    let zipped = a.zip(&b);
    let seen = Log::new();
    let _guard = zipped.subscribe({
        let (a, b, seen) = (a.clone(), b.clone(), seen.clone());
        move |signal| {
            if !signal.is_value() {
                seen.push((a.dependents(), b.dependents()));
            }
        }
    });
    b.set(5);
    b.complete();
    assert!(!zipped.is_complete(), "5 waits for its partner");
    a.set(6);
    assert_eq!(zipped.get(), (6, 5));
    seen.check(&[(0, 0)]);
}
