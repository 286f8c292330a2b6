//! Panics in closures and in `Clone`: the cell keeps its last value and recovers at the next input, all others go on, and the
//! first payload goes to the caller (rule P6).

use std::cell::Cell as StdCell;

use hyphae::{
    Cell, CellImmutable, Pipeline, Source, arena, batch, combine, combine_vec, join_vec, selector,
};

use crate::support::{Heard, Log, caught};

thread_local! {
    /// The value whose clone panics.
    static FATAL: StdCell<i32> = const { StdCell::new(i32::MIN) };
}

/// A value that can be made to panic in `Clone`.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Brittle(i32);

impl Clone for Brittle {
    fn clone(&self) -> Self {
        assert_ne!(self.0, FATAL.get(), "clone");
        Self(self.0)
    }
}

type Probe = Cell<i32, CellImmutable>;
type Maker = (&'static str, fn(&Cell<Brittle>, &Cell<Brittle>, &Source<()>) -> Probe);

fn sum((a, b): &(Brittle, Brittle)) -> i32 {
    a.0 + b.0
}

/// Each combinator as a cell of numbers that gets the values of both and adds them, or passes the first's.
const MAKERS: [Maker; 10] = [
    ("join", |a, b, _| a.join(b).map(sum).materialize()),
    ("join_vec", |a, b, _| join_vec([a.clone(), b.clone()]).map(|v| v[0].0 + v[1].0).materialize()),
    ("combine_vec", |a, b, _| combine_vec([a, b], |all| all.iter().map(|v| v.0).sum())),
    ("zip", |a, b, _| a.zip(b).map(sum).materialize()),
    ("merge", |a, b, _| a.merge(b).map(|v| v.0).materialize()),
    ("concat", |a, b, _| a.concat(b).map(|v| v.0).materialize()),
    ("take_until", |a, b, _| a.take_until(b).map(|v| v.0).materialize()),
    ("with_latest_from", |a, b, _| a.clone().with_latest_from(b).map(sum).materialize()),
    ("sample", |a, b, _| a.sample(b).map(|v| v.0).materialize()),
    ("sample_on", |a, _, source| a.sample_on(source).map(|v| v.0).materialize()),
];

/// A change of both cells and an event, with these values.
fn feed(a: &Cell<Brittle>, b: &Cell<Brittle>, source: &Source<()>, values: [i32; 2]) {
    batch(|| {
        a.set(Brittle(values[0]));
        b.set(Brittle(values[1]));
        source.emit(());
    });
}

#[test]
fn a_clone_that_panics_in_a_wave() {
    for (name, make) in MAKERS {
        let (a, b, source) = (Cell::new(Brittle(1)), Cell::new(Brittle(0)), Source::new());
        let combined = make(&a, &b, &source);
        let beside = Log::new();
        let _beside = a.watch(|_| ());
        let _guards = (beside.on(&combined), a.watch(|_| ()));
        let before = combined.get();
        FATAL.set(2);
        let told = caught(|| feed(&a, &b, &source, [2, 0]));
        FATAL.set(i32::MIN);
        assert!(told.is_some_and(|text| text.contains("clone")), "{name}");
        if name == "take_until" {
            // The end counts all the same, and the value is the last good one.
            assert!(combined.is_complete(), "{name}");
            assert_eq!(combined.get(), before, "{name}");
            continue;
        }
        assert_eq!((combined.get(), combined.is_complete()), (before, false), "{name}");
        (3..6).for_each(|v| feed(&a, &b, &source, [v, 0]));
        let last = if name == "merge" { 0 } else { 5 };
        assert_eq!(combined.get(), last, "{name}");
        drop(combined);
    }
    arena::assert_no_live();
}

#[test]
fn a_clone_that_panics_at_construction_leaves_nothing() {
    for (name, make) in MAKERS {
        let (a, b, source) = (Cell::new(Brittle(2)), Cell::new(Brittle(2)), Source::new());
        let before = arena::totals();
        FATAL.set(2);
        let told = caught(|| make(&a, &b, &source));
        FATAL.set(i32::MIN);
        assert!(told.is_some_and(|text| text.contains("clone")), "{name}");
        let after = arena::totals();
        assert_eq!((after.cells, after.edges), (before.cells, before.edges), "{name}");
        assert_eq!(make(&a, &b, &source).get() % 2, 0, "{name}");
    }
    arena::assert_no_live();
}

/// An end that comes in the wave of the panic is not lost.
#[test]
fn an_end_in_the_wave_of_a_panic_counts() {
    for (name, make) in MAKERS.into_iter().filter(|maker| maker.0 != "sample_on") {
        for fails in [false, true] {
            let (a, b, source) = (Cell::new(Brittle(1)), Cell::new(Brittle(0)), Source::new());
            let combined = make(&a, &b, &source);
            FATAL.set(2);
            let told = caught(|| {
                batch(|| {
                    feed(&a, &b, &source, [2, 2]);
                    for cell in [&a, &b] {
                        if fails { cell.fail("end") } else { cell.complete() }
                    }
                });
            });
            FATAL.set(i32::MIN);
            assert!(told.is_some_and(|text| text.contains("clone")), "{name}");
            let ended = (combined.is_complete(), combined.is_error());
            // Of a batch, what was written to the input before the stop counts, and the stop came first here.
            let expected = (!fails || name == "take_until", fails && name != "take_until");
            assert_eq!(ended, expected, "{name}");
            assert_eq!((a.dependents(), b.dependents()), (0, 0), "{name}");
        }
    }
    arena::assert_no_live();
}

/// A value that could not be cloned is lost; its partner waits for the next.
#[test]
fn a_zip_goes_on_with_the_next_value() {
    let (a, b) = (Cell::new(Brittle(1)), Cell::new(Brittle(10)));
    let zipped = a.zip(&b).map(|(a, b)| (a.0, b.0)).materialize();
    let log = Log::new();
    let _guard = log.on(&zipped);
    FATAL.set(2);
    assert!(caught(|| a.set(Brittle(2))).is_some());
    b.set(Brittle(20));
    a.set(Brittle(3));
    log.check(&[(1, 10), (3, 20)]);
}

/// What waits in a merge is not held back for a later wave, nor delivered twice.
#[test]
fn a_merge_after_a_panic_starts_afresh() {
    let cells = [1, 2, 3].map(|v| Cell::new(Brittle(v)));
    let merged = hyphae::merge_vec(cells.iter().cloned());
    let log = Log::new();
    let seen = merged.map(|v| v.as_ref().map_or(0, |v| v.0)).materialize();
    let _guard = log.on(&seen);
    FATAL.set(20);
    let told = caught(|| {
        batch(|| cells.iter().zip([10, 20, 30]).for_each(|(cell, v)| cell.set(Brittle(v))));
    });
    FATAL.set(i32::MIN);
    assert!(told.is_some());
    log.take();
    cells[0].set(Brittle(11));
    log.check(&[11]);
}

#[test]
fn a_closure_of_combine_that_panics() {
    let (a, b) = (Cell::new(10), Cell::new(2));
    let quotient = combine((&a, &b), |(a, b)| a / b);
    let (log, beside) = (Log::new(), Log::new());
    let _guards = (log.hear(&quotient), beside.on(&b));
    let told = caught(|| b.set(0)).expect("it panics");
    assert!(told.contains("divide by zero"), "{told}");
    b.set(5);
    a.complete();
    assert!(caught(|| b.set(0)).is_some());
    b.set(1);
    b.complete();
    log.check(&[Heard::Value(5), Heard::Value(2), Heard::Value(10), Heard::Complete]);
    beside.check(&[2, 0, 5, 0, 1]);
}

#[test]
fn a_closure_of_combine_that_panics_at_construction() {
    let (a, b) = (Cell::new(10), Cell::new(0));
    assert!(caught(|| combine((&a, &b), |(a, b)| a / b)).is_some());
    assert_eq!((a.dependents(), b.dependents()), (0, 0));
    b.set(5);
    assert_eq!(combine((&a, &b), |(a, b)| a / b).get(), 2);
}

/// Dependents of the cell that panicked see its last good value, together with the new ones of the others.
#[test]
fn the_rest_of_the_wave_runs() {
    let (a, b) = (Cell::new(10), Cell::new(2));
    let quotient = combine((&a, &b), |(a, b)| a / b);
    let sum = combine((&quotient, &b), |(q, b)| q * 100 + b);
    assert!(caught(|| b.set(0)).is_some());
    assert_eq!(sum.get(), 500);
    batch(|| {
        a.set(30);
        b.set(3);
    });
    assert_eq!(sum.get(), 1003);
}

/// A subscriber that panics in one round does not keep it, nor others, from the next round.
#[test]
fn a_subscriber_that_panics_between_rounds() {
    let (a, b) = (Cell::new(1), Cell::new(2));
    let merged = a.merge(&b);
    let (log, other) = (Log::new(), Log::new());
    let _failing = merged.watch_changes({
        let log = log.clone();
        move |v| {
            log.push(*v);
            assert_ne!(*v, 3, "three");
        }
    });
    let _other = other.on(&merged);
    let told = caught(|| {
        batch(|| {
            a.set(3);
            b.set(4);
        });
    });
    assert!(told.is_some_and(|text| text.contains("three")));
    log.check(&[3, 4]);
    other.check(&[2, 3, 4]);
}

#[test]
fn a_clone_that_panics_in_a_selector() {
    let selected = Cell::new(Brittle(1));
    let selector = selector(&selected);
    let keys = [1, 2, 3].map(|key| selector.is(Brittle(key)));
    FATAL.set(2);
    assert!(caught(|| selected.set(Brittle(2))).is_some());
    FATAL.set(i32::MIN);
    let answers = || keys.each_ref().map(Cell::get);
    assert_eq!(answers(), [true, false, false]);
    selected.set(Brittle(3));
    assert_eq!(answers(), [false, false, true]);
}
