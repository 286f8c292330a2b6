//! Counters of cells that keep each event: a notify a round (rule P12).

use hyphae::{Cell, Pipeline, Source, batch, no_coalesce};

use crate::tools::{counts, trace_of};

fn of(source: &Source<i32>) -> (u64, u64, u64) {
    let cell = trace_of(source.cell_id());
    (cell.notify_count, cell.delivery_count, cell.cut_off_count)
}

#[test]
fn each_event_of_a_batch_is_a_notify() {
    let source = Source::new();
    let latest = source.clone().map(|v| v * 2).materialize();
    let _guards = [(); 2].map(|()| source.subscribe(|_| ()));
    let _guard = latest.watch(|_| ());
    source.emit(1);
    assert_eq!((of(&source), counts(&latest)), ((1, 2, 0), (1, 1, 0)));
    batch(|| (0..3).for_each(|v| source.emit(v)));
    assert_eq!((of(&source), counts(&latest)), ((4, 8, 0), (4, 4, 0)));
    let source_row = trace_of(source.cell_id());
    assert_eq!((source_row.operator, source_row.subscriber_count), ("source", 3));
}

/// Two sources with three and one event, beside a cell that coalesces: three rounds.
#[test]
fn a_round_has_one_event_of_each_source() {
    let (a, b, c) = (Source::new(), Source::new(), Cell::new(0));
    let merged = a.clone().map(|v| *v).materialize();
    let other = b.clone().filter(|v| *v > 5).materialize();
    let both = merged.join(&other);
    let all = both.join(&c);
    let rounds = hyphae::arena::totals().rounds;
    batch(|| {
        a.emit(1);
        c.set(1);
        a.emit(2);
        b.emit(7);
        c.set(2);
        a.emit(3);
    });
    assert_eq!(hyphae::arena::totals().rounds - rounds, 3);
    assert_eq!((of(&a), of(&b), counts(&c)), ((3, 0, 0), (1, 0, 0), (1, 0, 0)));
    assert_eq!((counts(&merged), counts(&other)), ((3, 0, 0), (1, 0, 0)));
    assert_eq!((counts(&both), counts(&all)), ((3, 0, 0), (3, 0, 0)));
    b.emit(1);
    assert_eq!((counts(&other), counts(&both)), ((1, 0, 1), (3, 0, 0)));
}

#[test]
fn a_cell_that_does_not_coalesce() {
    let (plain, each) = (Cell::new(0), Cell::new(0).no_coalesce());
    let scoped = no_coalesce(|| Cell::new(0));
    let sum = (&each).scan(0, |sum, v| sum + v).materialize();
    let _guard = sum.watch(|_| ());
    batch(|| {
        for v in 1..=3 {
            plain.set(v);
            each.set(v);
            scoped.set(v);
        }
    });
    assert_eq!((counts(&plain), counts(&each), counts(&scoped)), ((1, 0, 0), (3, 0, 0), (3, 0, 0)));
    assert_eq!((counts(&sum), sum.get()), ((3, 3, 0), 6));
}

#[test]
fn events_of_callbacks() {
    let (a, source) = (Cell::new(0), Source::new());
    let _guard = a.watch_changes({
        let source = source.clone();
        move |v| (0..*v).for_each(|v| source.emit(v))
    });
    a.set(3);
    assert_eq!(of(&source), (3, 0, 0));
    batch(|| a.set(2));
    assert_eq!(of(&source), (5, 0, 0));
}

#[test]
fn the_end_of_a_source_is_an_event_too() {
    let source = Source::new();
    let latest = source.clone().map(|v: &i32| *v).materialize();
    let _guard = (source.subscribe(|_| ()), latest.subscribe(|_| ()));
    batch(|| {
        source.emit(1);
        source.complete();
        source.emit(2);
    });
    assert_eq!((of(&source), counts(&latest)), ((2, 2, 0), (2, 2, 0)));
    source.emit(3);
    assert_eq!((of(&source), counts(&latest)), ((2, 2, 0), (2, 2, 0)));
}

/// A merge emits one for each input that changed: in rounds of its own.
#[test]
fn a_merge_of_two_changes_notifies_twice() {
    let (a, b) = (Cell::new(0), Cell::new(0));
    let merged = a.merge(&b);
    let _guard = merged.watch(|_| ());
    batch(|| {
        a.set(1);
        b.set(2);
    });
    assert_eq!((counts(&a), counts(&b), counts(&merged)), ((1, 0, 0), (1, 0, 0), (2, 2, 0)));
    b.set(3);
    assert_eq!((counts(&b), counts(&merged)), ((2, 0, 0), (3, 3, 0)));
}
