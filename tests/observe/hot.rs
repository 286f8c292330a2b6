//! The snapshot of hot cells: its orders, its names, its table.

use std::panic::Location;

use hyphae::{Cell, CellImmutable, HotCells, Pipeline, Source, hot_cells, hot_traced_cells};

use crate::tools::{Hand, trace};

/// Four cells that differ in each order: (name, notifies, callbacks, ns of each call).
const CELLS: [(&str, usize, usize, u64); 4] =
    [("often", 9, 1, 10), ("watched", 3, 5, 20), ("slow", 2, 1, 500), ("idle", 3, 0, 0)];

fn made() -> Vec<impl Sized> {
    let hand = Hand::timing_all();
    let each = |&(name, notifies, callbacks, ns): &(&'static str, usize, usize, u64)| {
        let cell = Cell::new(0).with_name(name);
        let guards: Vec<_> = (0..callbacks).map(|_| cell.watch_changes(hand.call(ns))).collect();
        (0..notifies).for_each(|v| cell.set(v));
        (cell, guards)
    };
    CELLS.iter().map(each).collect()
}

fn names(hot: &HotCells) -> Vec<&str> {
    hot.iter().map(|cell| cell.name.as_deref().unwrap_or("")).collect()
}

#[test]
fn the_orders() {
    let _cells = made();
    let hot = hot_traced_cells();
    assert_eq!(names(&hot), ["often", "watched", "idle", "slow"], "notifies, then subscribers");
    assert_eq!(names(&hot.clone().by_time()), ["slow", "watched", "often", "idle"]);
    assert_eq!(names(&hot.clone().by_slowest_subscriber()), ["slow", "watched", "often", "idle"]);
    assert_eq!(names(&hot.clone().by_subscribers()), ["watched", "often", "slow", "idle"]);
    assert_eq!(names(&hot.clone().by_time().by_notifies()), names(&hot));
    assert_eq!(names(&hot.clone().by_time().top(2)), ["slow", "watched"]);
    assert_eq!((hot.clone().top(0).len(), hot.top(99).len()), (0, 4));
    let old_form: Vec<_> = hot_cells(3).into_iter().filter_map(|cell| cell.name).collect();
    assert_eq!(old_form, ["slow", "watched", "often"]);
}

/// Without times, the order by time is that by notifies.
#[test]
fn ties() {
    let cells: Vec<_> = (0..5).map(|i| Cell::new(0).with_name(format!("cell {i}"))).collect();
    [3, 3, 1].into_iter().for_each(|i: usize| cells[i].set(1));
    let hot = hot_traced_cells();
    let expected = ["cell 3", "cell 1", "cell 0", "cell 2", "cell 4"];
    assert_eq!(names(&hot), expected, "equal ones in topological order");
    assert_eq!(names(&hot.clone().by_time()), expected);
    assert_eq!(names(&hot.by_slowest_subscriber()), expected);
}

#[test]
fn by_time_has_turns_and_calls() {
    let hand = Hand::timing_all();
    let a = Cell::new(0);
    let turns = (&a).map(hand.of(30)).materialize().with_name("turns");
    let both = (&a).map(hand.of(20)).materialize().with_name("both");
    let _guards = (both.watch_changes(hand.call(15)), turns.watch_changes(|_| ()));
    a.set(1);
    let hot = hot_traced_cells().by_time();
    assert_eq!(names(&hot), ["both", "turns", ""]);
    assert_eq!(hot.iter().map(|cell| cell.total_notify_time_ns).collect::<Vec<_>>(), [35, 30, 0]);
}

#[track_caller]
fn line() -> u32 {
    Location::caller().line()
}

#[test]
fn names_places_and_operators() {
    let (a, at) = (Cell::new(0), line());
    let doubled: Cell<i32, CellImmutable> = (&a).map(|v| v * 2).materialize();
    let doubled_at = line() - 1;
    let source: Source<i32> = Source::new();
    let [of_a, of_doubled] = [trace(&a), trace(&doubled)];
    assert_eq!((of_a.caller.file(), of_a.caller.line()), (file!(), at));
    assert_eq!((of_doubled.caller.file(), of_doubled.caller.line()), (file!(), doubled_at));
    assert_eq!((of_a.operator, of_doubled.operator), ("cell", "map"));
    assert_eq!(crate::tools::trace_of(source.cell_id()).operator, "source");
    assert_eq!((of_a.id, of_doubled.id), (a.id(), doubled.id()));
    assert_eq!(of_a.cell_id, a.cell_id());
    assert_eq!((of_a.name.clone(), of_a.display_name()), (None, format!("{}:{at}", file!())));
    a.set_name("first");
    let named = trace(&a);
    assert_eq!((named.name.as_deref(), &*named.display_name()), (Some("first"), "first"));
    a.set_name("second");
    assert_eq!(trace(&a).display_name(), "second");
    assert_eq!(of_a.display_name(), format!("{}:{at}", file!()), "a snapshot keeps what it was");
}

/// A report hands no UUID out: the application can still give its own.
#[test]
fn a_report_takes_no_uuid_away() {
    let a = Cell::new(0);
    let given = Cell::new(1).id();
    let computed = trace(&a).id;
    assert_ne!(computed, given);
    let other = uuid::Uuid::from_u128(7);
    let a = a.try_with_uuid(other).expect("nobody has it yet");
    assert_eq!((trace(&a).id, a.id()), (other, other));
}

#[test]
fn the_table() {
    let hand = Hand::timing_all();
    let a = Cell::new(0).with_name("level");
    let even = (&a).filter(|v| v % 2 == 0).materialize().with_name("even, ä");
    let _guards = (even.watch_changes(hand.call(1_250)), a.watch_changes(hand.call(300_000)));
    (1..=12).for_each(|v| a.set(v));
    let expected = "\
notifies  deliveries  cut off  subscribers  total us  last us  slowest us  operator  cell
      12          12        0            2    3600.0    300.0       300.0      cell  level
       6           6        6            1       7.5      1.2         1.2    filter  even, ä
";
    assert_eq!(hot_traced_cells().to_string(), expected);
    assert_eq!(hot_traced_cells().top(1).to_string().lines().count(), 2);
    drop((even, a));
}

#[test]
fn an_empty_snapshot_is_a_table_of_its_head() {
    let hot = hot_traced_cells();
    assert_eq!((hot.len(), hot.to_string().lines().count()), (0, 1));
    assert_eq!(hot_traced_cells().into_iter().count(), 0);
}

/// A snapshot may be taken anywhere.
#[test]
fn a_snapshot_in_a_callback_shows_the_wave_under_way() {
    let a = Cell::new(0);
    let b = (&a).map(|v| v + 1).materialize();
    let seen = crate::support::Log::new();
    let _guard = a.watch_changes({
        let (seen, b) = (seen.clone(), b.clone());
        move |_| seen.push((trace(&b).notify_count, trace(&b).delivery_count))
    });
    let _later = b.watch(|_| ());
    a.set(1);
    a.set(2);
    seen.check(&[(1, 0), (2, 1)]);
}
