//! The census: cells grouped by the place that made them.

use hyphae::{Cell, CellImmutable, Pipeline, Source, census};

/// A closure of its own: the place of what `map(Cell::new)` makes is in the standard library.
fn sources(n: u64) -> Vec<Cell<u64>> {
    (0..n).map(|i| Cell::new(i * 2)).collect()
}

const SOURCES_AT: u32 = line!() - 3;

#[test]
fn two_places() {
    let cells = sources(100);
    let map_line = line!() + 1;
    let maps: Vec<_> = cells[..30].iter().map(|c| c.map(|v| v + 1).materialize()).collect();
    let _guards: Vec<_> = maps[..4].iter().map(|map| map.watch(|_| ())).collect();
    let census = census();
    assert_eq!(census.len(), 2);
    let [first, second] = [&census[0], &census[1]];
    assert!(first.bytes > second.bytes && second.bytes > 0, "most bytes first: {census}");
    let by_cells = census.clone().by_count();
    let row = |i: usize| {
        let row = &by_cells[i];
        (row.file, row.line, row.operator, row.cell_count, row.subscriber_count)
    };
    assert_eq!(row(0), (file!(), SOURCES_AT, "cell", 100, 30));
    assert_eq!(row(1), (file!(), map_line, "map", 30, 4));
    assert_eq!(census.top(1).len(), 1);
}

#[test]
fn bytes_grow_with_the_number_and_the_size_of_cells() {
    let bytes = || census().iter().map(|row| row.bytes).sum::<usize>();
    let small = sources(1000);
    let of_small = bytes();
    assert!((1000 * 40..1000 * 200).contains(&of_small), "{of_small}");
    let large: Vec<_> = (0..1000).map(|_| Cell::new([0_u64; 100])).collect();
    let more = bytes() - of_small;
    assert!((800 * 1000..1100 * 1000).contains(&more), "{more}");
    drop((small, large));
    assert!(census().is_empty());
}

/// Makes cells of two kinds for whoever calls it.
#[track_caller]
fn either(a: &Cell<u64>, i: u64) -> Cell<u64, CellImmutable> {
    if i.is_multiple_of(3) { Cell::new(i).lock() } else { a.map(move |v| v + i).materialize() }
}

/// A place that makes several kinds goes by the one of which there are most.
#[test]
fn the_operator_of_most() {
    let a = Cell::new(0);
    let mut made: Vec<_> = (0..30).map(|i| either(&a, i)).collect();
    let at = line!() - 1;
    let row = || census().iter().find(|row| row.line == at).expect("it is listed").clone();
    assert_eq!((row().cell_count, row().operator, row().subscriber_count), (30, "map", 0));
    let mut i = 0;
    made.retain(|_| {
        i += 1;
        i % 3 == 1 || i < 4
    });
    assert_eq!((row().cell_count, row().operator), (12, "cell"));
    assert_eq!(census().len(), 2);
}

/// Both cells of a switch, and what its closure makes.
#[test]
fn the_cells_of_a_switch() {
    let a = Cell::new(0);
    let made: Vec<_> = (0..5).map(|_| a.switch_map(|v| Cell::new(*v))).collect();
    let census = census();
    let row = |operator: &str| {
        let rows = census.iter().filter(|row| row.operator == operator);
        rows.map(|row| row.cell_count).collect::<Vec<_>>()
    };
    assert_eq!(row("switch_map"), [10]);
    let mut cells = row("cell");
    cells.sort_unstable();
    assert_eq!((cells, made.len()), (vec![1, 5], 5));
}

#[test]
fn places_that_are_empty_again_are_not_listed() {
    let kept = Source::<i32>::new();
    drop(sources(10));
    let census = census();
    assert_eq!((census.len(), census[0].operator, census[0].cell_count), (1, "source", 1));
    drop(kept);
}

#[test]
fn the_table() {
    let cells = sources(12);
    let _guard = cells[0].watch(|_| ());
    let (row, text) = (census()[0].clone(), census().to_string());
    let bytes = row.bytes.to_string();
    let width = bytes.len().max("bytes".len());
    let place = format!("{}:{SOURCES_AT}:{}", file!(), row.column);
    let expected = format!(
        "cells  {:>width$}  subscribers  operator  made at\n   12  {bytes:>width$}            1      cell  {place}\n",
        "bytes"
    );
    assert_eq!(text, expected);
}
