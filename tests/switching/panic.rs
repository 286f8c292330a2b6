//! P6: closures that panic.

use hyphae::{Cell, Pipeline, Source, arena, batch, effect, on_cleanup};

use crate::support::{Count, Heard, Log, Slot, caught, live, owning};

/// A switch over `sel` to `inner` plus the selector, which panics at 2.
fn risky(sel: &Cell<i32>, inner: &Cell<i32>, runs: &Count) -> Cell<i32, hyphae::CellImmutable> {
    sel.switch_map(owning!([inner, runs] move |v| {
        runs.up();
        assert!(*v != 2, "the selector is 2");
        let v = *v;
        (&inner).map(move |i| i + v).materialize()
    }))
}

/// It keeps its last value, without an inner, until the next selector value; all others of the wave are served.
#[test]
fn a_switch_whose_closure_panics() {
    let (sel, inner, runs) = (Cell::new(1), Cell::new(10), Count::new());
    let o = risky(&sel, &inner, &runs);
    let beside = (&sel).map(|v| v * 2).materialize();
    let both = o.join(&beside);
    let log = Log::new();
    let _guard = log.on(&both);
    assert_eq!(caught(|| sel.set(2)).as_deref(), Some("the selector is 2"));
    assert_eq!((o.get(), inner.dependents(), runs.get()), (11, 0, 2));
    inner.set(20);
    assert_eq!((o.get(), runs.get()), (11, 2));
    sel.set(3);
    assert_eq!((o.get(), inner.dependents(), runs.get()), (23, 1, 3));
    inner.set(30);
    log.check(&[(11, 2), (11, 4), (23, 6), (33, 6)]);
}

/// The same in a batch, in a read of a batch, in a callback: the payload goes to the outermost caller.
#[test]
fn where_the_panic_of_a_switch_goes() {
    let (sel, inner, runs) = (Cell::new(1), Cell::new(10), Count::new());
    let (o, other, trigger) = (risky(&sel, &inner, &runs), Cell::new(0), Cell::new(0));
    let in_batch = caught(|| {
        batch(|| {
            sel.set(2);
            other.set(1);
        });
    });
    assert_eq!(in_batch.as_deref(), Some("the selector is 2"));
    assert_eq!((o.get(), other.get()), (11, 1));
    let in_read = caught(|| {
        batch(|| {
            sel.set(2);
            o.get()
        });
    });
    assert_eq!(in_read.as_deref(), Some("the selector is 2"));
    let after = Log::new();
    let _acts = trigger.subscribe_changes(owning!([sel, o, after] move |_| {
        sel.set(2);
        after.push(o.get());
    }));
    assert_eq!(caught(|| trigger.set(1)).as_deref(), Some("the selector is 2"));
    after.check(&[11]);
    sel.set(4);
    assert_eq!(o.get(), 14);
}

/// Constructions that panic leave nothing behind: cells, edges, clean-ups half registered.
#[test]
fn constructions_that_panic_leave_nothing() {
    let (a, cleaned, dropped) = (Cell::new(1), Count::new(), Count::new());
    let start = live();
    let half = || {
        owning!([a, cleaned, dropped] move || -> i32 {
            let token = dropped.token();
            let made = (&a).map(move |v| (*v, &token).0).materialize();
            on_cleanup(owning!([cleaned] move || cleaned.up()));
            panic!("half made: {}", made.get() + a.get());
        })
    };
    let (switch, merge, compute, act) = (half(), half(), half(), half());
    let outcomes = [
        caught(|| drop(a.switch_map(move |_| Cell::new(switch())))),
        caught(|| drop(a.merge_map(move |_| Cell::new(merge())))),
        caught(|| drop(Cell::computed(compute))),
        caught(|| {
            drop(effect(move || {
                act();
            }));
        }),
    ];
    outcomes.iter().for_each(|text| assert_eq!(text.as_deref(), Some("half made: 2")));
    assert_eq!((dropped.get(), a.subscriber_count()), (4, 0));
    assert!(cleaned.get() >= 3, "what the run registered is run: {}", cleaned.get());
    assert_eq!(live()[..3], start[..3]);
}

/// A computed cell keeps its last value, and what it had read when it panicked wakes it again.
#[test]
fn a_computed_cell_that_panics() {
    let (a, b, runs) = (Cell::new(1), Cell::new(10), Count::new());
    let o = Cell::computed(owning!([a, b, runs] move || {
        runs.up();
        let a = a.get();
        assert!(a != 2, "a is 2");
        a + b.get()
    }));
    let below = (&o).map(|v| v * 10).materialize();
    let log = Log::new();
    let _guard = log.on(&below);
    assert_eq!(caught(|| a.set(2)).as_deref(), Some("a is 2"));
    assert_eq!((o.get(), runs.get()), (11, 2));
    a.set(3);
    b.set(20);
    log.check(&[110, 130, 230]);
    assert_eq!(runs.get(), 4);
}

/// It panics after a read that it never made before: that cell alone can cure it.
#[test]
fn a_computed_cell_is_cured_by_what_it_read_last() {
    let (t, divisor) = (Cell::new(false), Cell::new(0));
    let o =
        Cell::computed(owning!([t, divisor] move || if t.get() { 100 / divisor.get() } else { 0 }));
    assert!(caught(|| t.set(true)).is_some_and(|text| text.contains("divide by zero")));
    assert_eq!(o.get(), 0);
    divisor.set(4);
    assert_eq!(o.get(), 25);
}

/// An effect that panics: others of the wave run, it runs again at the next change, its clean-ups ran once.
#[test]
fn an_effect_that_panics() {
    let (a, log, cleaned) = (Cell::new(1), Log::new(), Count::new());
    let say = |who: i32| {
        let (a, log) = (a.clone(), log.clone());
        effect(move || log.push((who, a.get())))
    };
    let _before = say(1);
    let risky = effect(owning!([a, log, cleaned] move || {
        on_cleanup(owning!([cleaned] move || cleaned.up()));
        let a = a.get();
        assert!(a != 2, "a is 2");
        log.push((2, a));
    }));
    let _after = say(3);
    log.take();
    assert_eq!(caught(|| a.set(2)).as_deref(), Some("a is 2"));
    let mut heard = log.take();
    heard.sort_unstable();
    assert_eq!(heard, [(1, 2), (3, 2)]);
    a.set(3);
    let mut heard = log.take();
    heard.sort_unstable();
    assert_eq!(heard, [(1, 3), (2, 3), (3, 3)]);
    assert_eq!(cleaned.get(), 2, "once for each run before, the failed one, too");
    drop(risky);
    assert_eq!(cleaned.get(), 3);
}

/// Two panics of one call: the first goes on, the second does not hang the store.
#[test]
fn several_panics_of_one_wave() {
    let a = Cell::new(0);
    let risky = |who: &'static str| {
        Cell::computed(owning!([a] move || {
            assert!(a.get() != 1, "{who}");
            a.get()
        }))
    };
    let cells = [risky("first"), risky("second")];
    let _effect = effect(owning!([a] move || assert!(a.get() != 1, "effect")));
    assert_eq!(caught(|| a.set(1)).as_deref(), Some("first"));
    a.set(2);
    assert_eq!(cells.each_ref().map(Cell::get), [2, 2]);
}

/// The fresh inner panics in the wave after it was made: the switch is fine, and so is the next inner.
#[test]
fn an_inner_that_panics() {
    let (sel, source) = (Cell::new(0), Cell::new(1));
    let o = sel.switch_map(owning!([source] move |v| {
        let v = *v;
        Cell::computed(owning!([source] move || {
            assert!(source.get() != 2, "source is 2");
            source.get() * 10 + v
        }))
    }));
    assert_eq!(caught(|| source.set(2)).as_deref(), Some("source is 2"));
    assert_eq!(o.get(), 10);
    source.set(3);
    assert_eq!(o.get(), 30);
    let both = caught(|| {
        batch(|| {
            source.set(2);
            sel.set(1);
        });
    });
    assert_eq!(both.as_deref(), Some("source is 2"), "at the construction of the new inner");
    assert_eq!((o.get(), source.dependents()), (30, 0));
    source.set(4);
    sel.set(2);
    assert_eq!(o.get(), 42);
}

/// A value whose `Clone` panics on its way through the switch.
#[test]
fn a_clone_that_panics() {
    #[derive(Debug, PartialEq)]
    struct Fragile(i32);
    impl Clone for Fragile {
        fn clone(&self) -> Self {
            assert!(self.0 != 2, "can't clone 2");
            Self(self.0)
        }
    }
    let sel = Cell::new(0_usize);
    let inners = [1, 2, 3].map(|n| Cell::new(Fragile(n)));
    let o = sel.switch_map(owning!([inners] move |v| inners[*v].clone()));
    assert_eq!(caught(|| sel.set(1)).as_deref(), Some("can't clone 2"));
    o.with(|v| assert_eq!(v.0, 1));
    sel.set(2);
    o.with(|v| assert_eq!(v.0, 3));
    assert_eq!(inners.each_ref().map(Cell::dependents), [0, 0, 1]);
}

/// A panic for one event of a batch does not lose the others.
#[test]
fn one_event_of_a_batch_panics() {
    let (source, runs) = (Source::new(), Count::new());
    let o = source.clone().switch_map(owning!([runs] move |v: &i32| {
        runs.up();
        assert!(*v != 2, "event 2");
        Cell::new(*v)
    }));
    let merged = source.clone().merge_map(|v: &i32| {
        assert!(*v != 2, "event 2 merged");
        Cell::new(*v)
    });
    let (log, on_merged) = (Log::new(), Log::new());
    let _guards = (log.on(&o), on_merged.on(&merged));
    assert!(caught(|| batch(|| (1..4).for_each(|v| source.emit(v)))).is_some());
    log.check(&[None, Some(1), Some(3)]);
    on_merged.check(&[None, Some(1), Some(3)]);
    assert_eq!(runs.get(), 3);
}

/// A closure that panics and one that ends in the same wave: the end comes all the same.
#[test]
fn a_panic_and_an_end_together() {
    let (sel, slot) = (Cell::new(0), Slot::new());
    let o = sel.switch_map(owning!([slot] move |v| {
        assert!(*v == 0, "no more");
        let inner = Cell::new(*v);
        slot.put(inner.clone());
        inner
    }));
    let log = Log::new();
    let guard = log.hear(&o);
    let inner: Cell<i32> = slot.full();
    let outcome = caught(|| {
        batch(|| {
            sel.set(1);
            sel.complete();
        });
    });
    assert_eq!(outcome.as_deref(), Some("no more"));
    inner.set(5);
    assert_eq!(log.take(), [Heard::Value(0), Heard::Complete], "no selector, no inner: it is over");
    drop((o, guard, sel, inner, slot.take()));
    arena::assert_no_live();
}
