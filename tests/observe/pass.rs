//! Passes: `profiling::pass` and `profiling::take_report`.

use hyphae::profiling::{pass, take_report};
use hyphae::{Cell, Pipeline, Source, batch};
use uuid::Uuid;

use crate::support::caught;

/// Cells that fired, with how often.
#[track_caller]
fn fired() -> Vec<(Uuid, u32)> {
    take_report().expect("a pass has been").per_cell
}

#[test]
fn a_map_and_two_sets() {
    let a = Cell::new(1);
    let b = (&a).map(|v| v + 1).materialize();
    let given = pass(|| {
        a.set(2);
        a.set(3);
        "given"
    });
    let report = take_report().expect("a pass has been");
    assert_eq!(given, "given");
    assert_eq!(report.per_cell, [(a.id(), 2), (b.id(), 2)]);
    assert_eq!((report.total_fires(), report.total_refires(), report.cells_fired()), (4, 2, 2));
    assert_eq!(report.coalesceable_fraction(), 0.5);
    assert_eq!(take_report(), None, "it is taken once");
}

#[test]
fn none_without_a_pass_and_an_empty_one_for_an_empty_pass() {
    let a = Cell::new(1);
    a.set(2);
    assert_eq!(take_report(), None);
    pass(|| ());
    let report = take_report().expect("a pass has been");
    assert_eq!((report.cells_fired(), report.total_fires(), report.total_refires()), (0, 0, 0));
    assert_eq!((report.coalesceable_fraction(), report.refiring_cells()), (0.0, vec![]));
}

#[test]
fn what_is_outside_does_not_count() {
    let a = Cell::new(1);
    a.set(2);
    pass(|| a.set(3));
    a.set(4);
    assert_eq!(fired(), [(a.id(), 1)]);
}

#[test]
fn a_pass_begins_anew_and_replaces_the_report_of_the_one_before() {
    let (a, b) = (Cell::new(1), Cell::new(1));
    pass(|| a.set(2));
    pass(|| b.set(2));
    assert_eq!(fired(), [(b.id(), 1)]);
    assert_eq!(take_report(), None);
}

#[test]
fn a_pass_inside_a_pass_joins_it() {
    let (a, b) = (Cell::new(1), Cell::new(1));
    pass(|| {
        a.set(2);
        pass(|| b.set(2));
        assert_eq!(take_report(), None, "it is not sealed yet");
        a.set(3);
    });
    assert_eq!(fired(), [(a.id(), 2), (b.id(), 1)]);
}

#[test]
fn a_panic_seals_the_report() {
    let a = Cell::new(1);
    let panicked = caught(|| {
        pass(|| {
            a.set(2);
            pass(|| {
                a.set(3);
                panic!("in the inner one")
            })
        })
    });
    assert_eq!(panicked.as_deref(), Some("in the inner one"));
    a.set(4);
    assert_eq!(fired(), [(a.id(), 2)]);
    pass(|| a.set(5));
    assert_eq!(fired(), [(a.id(), 1)], "and the next one is a pass of its own");
}

/// A diamond settles once a wave, so that only a second write fires anything again.
#[test]
fn a_batch_leaves_no_refires() {
    let s = Cell::new(0);
    let (left, right) = ((&s).map(|v| v + 1).materialize(), (&s).map(|v| v * 10).materialize());
    let sum = left.join(&right).map(|(l, r)| l + r).materialize();
    let writes = || (1..=3).for_each(|v| s.set(v));
    pass(writes);
    let report = take_report().expect("a pass has been");
    assert_eq!((report.cells_fired(), report.total_fires(), report.total_refires()), (5, 15, 10));
    assert!((report.coalesceable_fraction() - 10.0 / 15.0).abs() < 1e-12);
    pass(|| batch(writes));
    let report = take_report().expect("a pass has been");
    assert_eq!((report.cells_fired(), report.total_refires()), (5, 0));
    assert_eq!(sum.get(), 34);
}

#[test]
fn refiring_cells_come_in_order_of_fires_then_of_ids() {
    let cells: Vec<_> = (0..4).map(Cell::new).collect();
    pass(|| {
        for (cell, fires) in cells.iter().zip([2, 1, 3, 2]) {
            (0..fires).for_each(|v| cell.set(v));
        }
    });
    let report = take_report().expect("a pass has been");
    let mut twos = [(cells[0].id(), 2), (cells[3].id(), 2)];
    twos.sort();
    assert_eq!(report.refiring_cells(), [(cells[2].id(), 3), twos[0], twos[1]]);
}

#[test]
fn ends_count_and_what_is_cut_off_does_not() {
    let a = Cell::with_cutoff(1, i32::eq);
    let even = (&a).filter(|v| v % 2 == 0).materialize();
    pass(|| {
        a.set(1);
        a.set(3);
        a.complete();
    });
    assert_eq!(fired(), [(a.id(), 2), (even.id(), 1)]);
}

#[test]
fn each_event_of_a_source_is_a_fire() {
    let source = Source::new();
    let latest = source.clone().map(|v: &i32| *v).materialize();
    pass(|| batch(|| (0..3).for_each(|v| source.emit(v))));
    assert_eq!(fired(), [(source.id(), 3), (latest.id(), 3)]);
}

/// Cells that are gone when the report is taken have their ids in it, also one that the application gave.
#[test]
fn cells_that_die_meanwhile_are_in_the_report() {
    let a = Cell::new(1);
    let id = a.id();
    pass(|| a.set(2));
    drop(a);
    assert_eq!(fired(), [(id, 1)]);
}

#[test]
fn a_uuid_of_the_application_s_own() {
    let own = Uuid::from_u128(42);
    let a = Cell::new(1).with_uuid(own);
    pass(|| a.set(2));
    assert_eq!(fired(), [(own, 1)]);
}

/// Writes of callbacks that settle in the pass are part of it; other threads have passes of their own.
#[test]
fn callbacks_are_part_of_it_and_other_threads_are_not() {
    let (a, b) = (Cell::new(1), Cell::new(1));
    let _guard = a.watch_changes({
        let b = b.clone();
        move |v| b.set(*v)
    });
    pass(|| {
        a.set(2);
        let other = std::thread::spawn(|| {
            let cell = Cell::new(1);
            cell.set(2);
            take_report().is_none()
        });
        assert!(other.join().expect("it ends"));
    });
    assert_eq!(fired(), [(a.id(), 1), (b.id(), 1)]);
}

/// The counters of the cells go on beside a pass, as without one.
#[test]
fn counters_are_the_same_beside_a_pass() {
    let a = Cell::new(1);
    pass(|| a.set(2));
    a.set(3);
    assert_eq!(crate::tools::counts(&a), (2, 0, 0));
}
