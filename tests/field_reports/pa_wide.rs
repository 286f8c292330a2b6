//! PA, the wider kind: panics at every place where user code runs (rule P6): derived closures, `Drop`, `Clone` and
//! `PartialEq` of values, hooks, several in one wave, and inside the call that subscribes or constructs.

use std::rc::Rc;

use hyphae::{Cell, Pipeline, SubscriptionGuard, arena, batch, join_vec};

use crate::support::{Count, Log, caught};

/// Whether the next use of a [`Touchy`] panics.
#[derive(Clone, Default)]
struct Trigger(Rc<std::cell::Cell<Option<&'static str>>>);

impl Trigger {
    fn set(&self, on: &'static str) {
        self.0.set(Some(on));
    }

    /// Panics once if it was set for `on`.
    fn pull(&self, on: &'static str) {
        if self.0.get() == Some(on) {
            self.0.set(None);
            panic!("in {on}");
        }
    }
}

/// A value whose `Clone`, `PartialEq` or `Drop` panics when the trigger says so.
struct Touchy(i32, Trigger);

impl Touchy {
    fn number(&self) -> i32 {
        self.0
    }
}

impl Clone for Touchy {
    fn clone(&self) -> Self {
        self.1.pull("clone");
        Self(self.0, self.1.clone())
    }
}

impl PartialEq for Touchy {
    fn eq(&self, other: &Self) -> bool {
        self.1.pull("eq");
        self.0 == other.0
    }
}

impl Drop for Touchy {
    fn drop(&mut self) {
        // Not while a failed test unwinds: that would end the whole run.
        if !std::thread::panicking() {
            self.1.pull("drop");
        }
    }
}

/// A closure in the middle of a chain of cells: dependents work on with its last value, others with the new ones.
#[test]
fn pa_1_a_closure_in_the_middle_of_a_chain() {
    let a = Cell::new(1);
    let first = (&a).map(|v| v * 10).materialize();
    let middle = (&first)
        .map(|v| {
            assert!(*v != 20, "middle");
            *v
        })
        .materialize();
    let runs = Count::new();
    let last = (&middle).map(runs.of(|v: &i32| v + 1)).materialize();
    let beside = (&first).map(|v| v + 2).materialize();
    let joined = last.join(&beside);
    let log = Log::new();
    let _guard = log.on(&joined);
    assert_eq!(caught(|| a.set(2)).as_deref(), Some("middle"));
    assert_eq!((first.get(), middle.get(), runs.get()), (20, 10, 1));
    a.set(3);
    log.check(&[(11, 12), (11, 22), (31, 32)]);
}

/// A closure in the middle of a fused pipeline: stages before it keep what they took.
#[test]
fn pa_1_a_closure_in_the_middle_of_a_pipeline() {
    let a = Cell::new(1);
    let sum = (&a)
        .scan(0, |sum, v| sum + v)
        .map(|sum| {
            assert!(*sum != 3, "middle");
            *sum
        })
        .pairwise()
        .materialize();
    assert_eq!(caught(|| a.set(2)).as_deref(), Some("middle"));
    a.set(3);
    assert_eq!(sum.get(), Some((1, 6)));
}

/// A closure that panics in a batch's read: its caller is the batch; the batch ends as usual.
#[test]
fn pa_1_a_closure_run_by_a_read_in_a_batch() {
    let a = Cell::new(1);
    let d = (&a)
        .map(|v| {
            assert!(*v != 2, "closure");
            v * 10
        })
        .materialize();
    let (on_a, on_d) = (Log::new(), Log::new());
    let _guards = (on_a.on(&a), on_d.on(&d));
    let message = caught(|| {
        batch(|| {
            a.set(2);
            let read = caught(|| d.get());
            assert_eq!(read, None, "the outermost call is the batch");
            assert_eq!(d.get(), 10);
        });
    });
    assert_eq!(message.as_deref(), Some("closure"));
    a.set(3);
    on_a.check(&[1, 2, 3]);
    assert_eq!((d.get(), on_d.take().last()), (30, Some(&30)));
}

/// The `Drop` of the value that a write replaces, in a source and in a derived cell.
#[test]
fn pa_1_the_drop_of_a_replaced_value() {
    let trigger = Trigger::default();
    let a = Cell::new(Touchy(0, trigger.clone()));
    let derived = (&a).map(|v| Touchy(v.0 * 10, v.1.clone())).materialize();
    let numbers = (&derived).map(|v| v.0).materialize();
    let log = Log::new();
    let _guard = log.on(&numbers);
    trigger.set("drop");
    let write = |v| caught(|| a.set(Touchy(v, trigger.clone())));
    assert_eq!(write(1).as_deref(), Some("in drop"));
    log.check(&[0, 10]);
    let only_derived = Cell::new(0);
    let values = {
        let trigger = trigger.clone();
        (&only_derived).map(move |v| Touchy(*v, trigger.clone())).materialize()
    };
    let on_values = Log::new();
    let _on_values = on_values.on(&(&values).map(|v| v.0).materialize());
    trigger.set("drop");
    assert_eq!(caught(|| only_derived.set(1)).as_deref(), Some("in drop"));
    only_derived.set(2);
    on_values.check(&[0, 1, 2]);
    assert_eq!(write(2), None);
    log.check(&[0, 10, 20]);
}

/// The `Drop` of a dying cell's value, of a closure and of a callback: the rest is freed all the same.
#[test]
fn pa_1_the_drop_of_what_a_cell_owned() {
    let trigger = Trigger::default();
    for case in 0..3 {
        let a = Cell::new(0);
        let held = Touchy(0, trigger.clone());
        let d = match case {
            0 => (&a).map(move |v| *v + held.number()).materialize(),
            1 => (&Cell::new(held)).map(|v| v.0).materialize(),
            _ => {
                a.own(a.watch(move |_| assert_eq!(held.number(), 0)));
                (&a).map(|v| *v).materialize()
            }
        };
        let chain = (&d).map(|v| *v).materialize();
        drop(d);
        trigger.set("drop");
        assert_eq!(caught(move || drop((chain, a))).as_deref(), Some("in drop"), "case {case}");
        arena::assert_no_live();
    }
}

/// `Clone` of a value in a join and in a read.
#[test]
fn pa_1_the_clone_of_a_value() {
    let trigger = Trigger::default();
    let (a, b) = (Cell::new(Touchy(1, trigger.clone())), Cell::new(1));
    let joined = a.join(&b);
    let numbers = (&joined).map(|(a, b)| (a.0, *b)).materialize();
    let on_b = Log::new();
    let log = Log::new();
    let _guards = (log.on(&numbers), on_b.on(&b));
    trigger.set("clone");
    assert_eq!(caught(|| b.set(2)).as_deref(), Some("in clone"));
    on_b.check(&[1, 2]);
    trigger.set("clone");
    assert_eq!(caught(|| a.get()).as_deref(), Some("in clone"));
    assert_eq!(a.get().0, 1);
    b.set(3);
    log.check(&[(1, 1), (1, 3)]);
    trigger.set("clone");
    assert!(caught(|| join_vec([a.clone()])).is_some());
    assert_eq!((a.dependents(), a.get().0), (1, 1));
}

/// `PartialEq` in `deduped`, in a source's cut-off and in `set_if_changed`: the cell recovers at its next input.
#[test]
fn pa_1_the_comparison_of_values() {
    let trigger = Trigger::default();
    let touchy = |v| Touchy(v, trigger.clone());
    let a = Cell::new(touchy(1));
    let d = (&a).deduped().map(|v| v.0).materialize();
    let c = Cell::with_cutoff(touchy(1), Touchy::eq);
    let e = (&c).map(|v| v.0).materialize();
    let (on_d, on_e) = (Log::new(), Log::new());
    let _guards = (on_d.on(&d), on_e.on(&e));
    trigger.set("eq");
    assert_eq!(caught(|| a.set(touchy(2))).as_deref(), Some("in eq"));
    a.set(touchy(3));
    on_d.check(&[1, 3]);
    trigger.set("eq");
    assert_eq!(caught(|| a.set_if_changed(touchy(4))).as_deref(), Some("in eq"));
    a.set_if_changed(touchy(5));
    assert_eq!(on_d.take().last(), Some(&5));
    trigger.set("eq");
    assert_eq!(caught(|| c.set(touchy(2))).as_deref(), Some("in eq"));
    assert_eq!(e.get(), c.with(|v| v.0), "no dependent is left behind");
    c.set(touchy(3));
    c.set(touchy(3));
    let heard = on_e.take();
    assert_eq!(heard.last(), Some(&3));
    assert_eq!(heard.iter().filter(|v| **v == 3).count(), 1);
}

/// Two closures and two subscribers fail in one wave: the first payload comes out, everything else ran.
#[test]
fn pa_1_several_panics_in_one_wave() {
    let a = Cell::new(1);
    let failing = |name: &'static str| {
        let fail = move |v: &i32| {
            assert!(*v != 2, "{name}");
            *v
        };
        (&a).map(fail).materialize()
    };
    let (d, e) = (failing("closure"), failing("closure"));
    let sum = d.join(&e);
    let (log, last) = (Log::new(), Log::new());
    let _on_sum = log.on(&sum);
    let _failing = [0, 1].map(|_| a.watch(|v| assert!(*v != 2, "subscriber")));
    let _last = last.on(&a);
    assert_eq!(caught(|| a.set(2)).as_deref(), Some("closure"));
    last.check(&[1, 2]);
    assert_eq!(sum.get(), (1, 1));
    assert_eq!(caught(|| a.set(3)), None, "the second payload is not kept for the next call");
    log.check(&[(1, 1), (3, 3)]);
    last.check(&[1, 2, 3]);
}

/// A subscriber fails after it has written: the write is settled; so are those of its siblings, in order.
#[test]
fn pa_1_writes_queued_before_a_panic() {
    let (s, t) = (Cell::new(0), Cell::new(0));
    let log = Log::new();
    let _log = log.on(&t);
    let guards: Vec<_> = (1..=3)
        .map(|n| {
            let t = t.clone();
            s.subscribe_changes(move |_| {
                t.set(n);
                assert!(n != 2, "the second");
            })
        })
        .collect();
    assert_eq!(caught(|| s.set(1)).as_deref(), Some("the second"));
    log.check(&[0, 1, 2, 3]);
    drop(guards);
}

/// A panic in a wave that a write in a callback caused reaches the outermost caller, not that callback.
#[test]
fn pa_1_a_panic_in_a_later_wave_of_the_same_call() {
    let (s, t) = (Cell::new(0), Cell::new(0));
    let inside = Log::new();
    let _guard = s.subscribe_changes({
        let (t, inside) = (t.clone(), inside.clone());
        move |_| inside.push(caught(|| t.set(1)))
    });
    let _failing = t.subscribe_changes(|_| panic!("later"));
    assert_eq!(caught(|| s.set(1)).as_deref(), Some("later"));
    inside.check(&[None::<String>]);
}

/// The closure of an `update` fails half-way: what it did stands, everybody knows, the cell is not left lent.
#[test]
fn pa_1_the_closure_of_an_update() {
    let a = Cell::new(vec![1]);
    let len = (&a).map(Vec::len).materialize();
    let log = Log::new();
    let _guard = log.on(&len);
    let fail = |v: &mut Vec<i32>| {
        v.push(2);
        panic!("half-way");
    };
    assert_eq!(caught(|| a.update(fail)).as_deref(), Some("half-way"));
    assert_eq!((a.get(), len.get()), (vec![1, 2], 2));
    assert_eq!(caught(|| batch(|| a.update(fail))).as_deref(), Some("half-way"));
    a.update(|v| v.push(3));
    assert_eq!(len.get(), a.get().len());
    assert_eq!(log.take().last(), Some(&len.get()));
}

/// What the first call of a subscriber causes fails: `subscribe` panics, so that nothing may stay behind.
#[test]
fn pa_5_a_panic_in_a_wave_that_subscribing_causes() {
    let (a, b) = (Cell::new(0), Cell::new(0));
    let _failing = b.subscribe_changes(|_| panic!("far away"));
    let calls = Count::new();
    let message = caught(|| {
        let (b, calls) = (b.clone(), calls.clone());
        a.watch(move |_| {
            calls.up();
            b.set(1);
        })
    });
    assert_eq!(message.as_deref(), Some("far away"));
    assert_eq!((a.callbacks(), b.get()), (0, 1));
    let _ = caught(|| a.set(1));
    assert_eq!(calls.get(), 1);
}

/// The same at construction: the closure's write fails elsewhere, the cell that was made goes.
#[test]
fn pa_5_a_panic_in_a_wave_that_construction_causes() {
    let (a, b) = (Cell::new(0), Cell::new(0));
    let _failing = b.subscribe_changes(|_| panic!("far away"));
    let before = arena::totals().cells;
    let message = caught(|| {
        let b = b.clone();
        (&a).map(move |_| b.set(1)).materialize()
    });
    assert_eq!(message.as_deref(), Some("far away"));
    assert_eq!((a.dependents(), arena::totals().cells), (0, before));
}

/// A hook of the cell fails when `subscribe` makes it observed: again nothing may stay behind.
#[test]
fn pa_5_a_hook_that_fails_as_the_cell_gets_its_first_subscriber() {
    let a = Cell::new(0);
    let hooked = Count::new();
    let count = hooked.clone();
    a.on_first_subscriber(move || {
        count.up();
        panic!("hook");
    });
    assert_eq!(caught(|| drop(a.subscribe_changes(|_| ()))).as_deref(), Some("hook"));
    assert_eq!((hooked.get(), a.callbacks()), (1, 0));
    let derive = || drop((&a).map(|v| *v).materialize());
    assert_eq!(caught(derive).as_deref(), Some("hook"));
    assert_eq!((hooked.get(), a.dependents()), (2, 0));
}

/// A closure that fails at construction leaves no cell, no edge and no reference.
#[test]
fn pa_5_a_closure_that_fails_at_construction() {
    let a = Cell::new(0);
    let before = arena::totals();
    let make = || (&a).map(|_| -> i32 { panic!("at construction") }).materialize();
    assert_eq!(caught(make).as_deref(), Some("at construction"));
    let after = arena::totals();
    assert_eq!((after.cells, after.edges), (before.cells, before.edges));
    let shared = (&a).map(|_| -> i32 { panic!("at construction") }).share();
    assert!(caught(|| shared.clone().materialize()).is_some());
    drop(shared);
    a.set(1);
    drop(a);
    arena::assert_no_live();
}

/// Hooks and guards' callbacks that fail: each is called once, the others too, the error comes out once.
#[test]
fn pa_7_hooks_and_guards_that_fail() {
    let a = Cell::new(0);
    let (first, second, dropped) = (Count::new(), Count::new(), Count::new());
    let count = first.clone();
    a.on_last_unsubscribe(move || {
        count.up();
        panic!("hook");
    });
    let count = second.clone();
    a.on_last_unsubscribe(move || count.up());
    let guard = a.watch(|_| ());
    assert_eq!(caught(|| drop(guard)).as_deref(), Some("hook"));
    assert_eq!((first.get(), second.get(), a.callbacks()), (1, 1, 0));
    for n in 0..3 {
        let dropped = dropped.clone();
        a.own(SubscriptionGuard::from_callback(move || {
            dropped.up();
            assert!(n != 1, "guard");
        }));
    }
    assert_eq!(caught(move || drop(a)).as_deref(), Some("guard"));
    assert_eq!(dropped.get(), 3);
    arena::assert_no_live();
}

/// Panics whenever it is dropped.
struct Bomb(Count);

impl Drop for Bomb {
    fn drop(&mut self) {
        self.0.up();
        panic!("bomb");
    }
}

/// A guard that goes while a panic unwinds takes a value along whose `Drop` fails: no abort, the first panic counts.
#[test]
fn pa_7_a_guard_dropped_by_a_panic() {
    let (a, dropped) = (Cell::new(0), Count::new());
    let message = caught(|| {
        let bomb = Bomb(dropped.clone());
        let _guard = a.watch(move |_| {
            let bomb = &bomb;
            assert_eq!(bomb.0.get(), 0);
        });
        panic!("outer");
    });
    assert_eq!(message.as_deref(), Some("outer"));
    assert_eq!((dropped.get(), a.callbacks()), (1, 0));
    assert_eq!(caught(|| a.set(1)), None);
}
