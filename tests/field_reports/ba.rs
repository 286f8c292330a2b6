//! BA: batches and frames (rules P4, P8).

use hyphae::{Cell, Pipeline, batch};

use crate::support::{Count, Log, caught};

// Effects ran at the end of the inner batch, with half of the state.
#[test]
fn ba_1_only_the_outermost_batch_delivers() {
    let s = Cell::new("0");
    let log = Log::new();
    let _guard = log.on(&s);
    batch(|| {
        s.set("1");
        batch(|| {
            s.set("2");
            s.set("3");
        });
        log.check(&["0"]);
        s.set("4");
    });
    log.check(&["0", "4"]);
}

// The same when the inner batch is left by a panic that the outer one catches.
#[test]
fn ba_1_an_inner_batch_that_panics_stays_part_of_the_outer_one() {
    let s = Cell::new("0");
    let log = Log::new();
    let _guard = log.on(&s);
    batch(|| {
        s.set("1");
        let message = caught(|| {
            batch(|| {
                s.set("2");
                panic!("half-way");
            })
        });
        assert_eq!(message.as_deref(), Some("half-way"));
        log.check(&["0"]);
        s.set("3");
    });
    log.check(&["0", "3"]);
    s.set("4");
    log.check(&["0", "3", "4"]);
}

// A batch in a callback is one wave after the current one, nested ones included.
#[test]
fn ba_1_nested_batches_in_a_callback_are_one_wave() {
    let (trigger, s) = (Cell::new(0), Cell::new("0"));
    let log = Log::new();
    let _guard = log.on(&s);
    let _acts = trigger.subscribe_changes({
        let s = s.clone();
        move |_| {
            batch(|| {
                s.set("1");
                batch(|| s.set("2"));
                s.set("3");
            });
        }
    });
    trigger.set(1);
    log.check(&["0", "3"]);
}

/// A source with a cut-off, a derived cell with one (its closure counted), and what both told.
struct Cutoffs {
    source: Cell<i32>,
    derived: Cell<i32, hyphae::CellImmutable>,
    computed: Count,
    direct: Log<i32>,
    indirect: Log<i32>,
    _guards: [hyphae::SubscriptionGuard; 2],
}

impl Cutoffs {
    fn new() -> Self {
        let source = Cell::with_cutoff(42, i32::eq);
        let computed = Count::new();
        let derived = (&source).map(computed.of(|v: &i32| *v)).deduped().materialize();
        let (direct, indirect) = (Log::new(), Log::new());
        let guards = [direct.on(&source), indirect.on(&derived)];
        Self { source, derived, computed, direct, indirect, _guards: guards }
    }
}

// Set and set back: the direct effect ran, the one behind a memo did not.
#[test]
fn ba_2_set_and_set_back_is_no_change() {
    let all = Cutoffs::new();
    batch(|| {
        all.source.set(0);
        all.source.set(42);
    });
    all.direct.check(&[42]);
    all.indirect.check(&[42]);
    assert_eq!(all.computed.get(), 1);
}

// A read of the source itself computes nothing, so it settles nothing.
#[test]
fn ba_2_reading_the_source_in_between_changes_nothing() {
    let all = Cutoffs::new();
    batch(|| {
        all.source.set(0);
        assert_eq!(all.source.get(), 0);
        all.source.set(42);
    });
    all.direct.check(&[42]);
    all.indirect.check(&[42]);
    assert_eq!(all.computed.get(), 1);
}

// A read of the derived cell is a settle point (P4): both changed twice and tell the last value, in agreement.
#[test]
fn ba_2_reading_the_derived_cell_in_between_settles_it() {
    let all = Cutoffs::new();
    batch(|| {
        all.source.set(0);
        assert_eq!(all.derived.get(), 0);
        all.source.set(42);
    });
    all.direct.check(&[42, 42]);
    all.indirect.check(&[42, 42]);
    assert_eq!(all.computed.get(), 3);
}

// Reads in a batch gave old values for one kind of cell and new ones for the other.
#[test]
fn ba_4_reads_in_a_batch_see_your_own_writes() {
    let a = Cell::new(0);
    let d = (&a).map(|a| a * 2).materialize();
    let t = (&a).map(|a| a * 3).materialize();
    let computed = Count::new();
    let joined = d.join(&t);
    let j = joined.map(computed.of(|pair: &(i32, i32)| *pair)).materialize();
    let log = Log::new();
    let _guard = log.on(&j);
    let read = batch(|| {
        a.set(1);
        (a.get(), d.get(), j.get())
    });
    assert_eq!(read, (1, 2, (2, 3)));
    log.check(&[(0, 0), (2, 3)]);
    assert_eq!(computed.get(), 2);
}

// The same in any order of the reads, each once more: nothing is computed again.
#[test]
fn ba_4_the_order_of_reads_does_not_matter() {
    let a = Cell::new(0);
    let computed = Count::new();
    let d = (&a).map(computed.of(|a: &i32| a * 2)).materialize();
    let j = a.join(&d);
    batch(|| {
        a.set(1);
        assert_eq!((j.get(), d.get(), a.get()), ((1, 2), 2, 1));
        assert_eq!((d.get(), j.get()), (2, (1, 2)));
        assert_eq!(computed.get(), 2);
        a.set(2);
        assert_eq!((d.get(), j.get(), a.get()), (4, (2, 4), 2));
    });
    assert_eq!((j.get(), computed.get()), ((2, 4), 3));
}

// A game loop writes many times a tick; the view was to update once a frame.
#[test]
fn ba_7_a_frame_delivers_once_at_its_end() {
    let v = Cell::new(0);
    let computed = Count::new();
    let shown = (&v).map(computed.of(|v: &i32| *v)).materialize();
    let log = Log::new();
    let _guard = log.on(&shown);
    for frame in 0..3 {
        let first = frame * 10 + 1;
        batch(|| {
            (first..first + 5).for_each(|n| v.set(n));
            batch(|| (first + 5..first + 10).for_each(|n| v.set(n)));
        });
    }
    log.check(&[0, 10, 20, 30]);
    assert_eq!(computed.get(), 4);
}
