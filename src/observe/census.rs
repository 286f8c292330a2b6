//! The census: where the cells of a program come from.

use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::panic::Location;

use super::table;
use crate::store::{Store, with_store};

/// All cells that were made at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct CensusRow {
    /// The file.
    pub file: &'static str,
    /// The line in it.
    pub line: u32,
    /// The column in it.
    pub column: u32,
    /// Their operator; that of the most, where one place makes several kinds.
    pub operator: &'static str,
    /// How many live.
    pub cell_count: usize,
    /// Callbacks on them and cells that depend on them.
    pub subscriber_count: usize,
    /// Their nodes (value, closure, header) and their rows in the arena. What values own on the heap is not known.
    pub bytes: usize,
}

/// Live cells and their bytes, grouped by where they were made: see [`census`]. Prints as a table.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Census {
    rows: Vec<CensusRow>,
}

impl Deref for Census {
    type Target = [CensusRow];

    fn deref(&self) -> &[CensusRow] {
        &self.rows
    }
}

impl Census {
    /// Most cells first.
    #[must_use]
    pub fn by_count(mut self) -> Self {
        self.rows.sort_by_key(|row| std::cmp::Reverse((row.cell_count, row.bytes)));
        self
    }

    /// The first `n` places.
    #[must_use]
    pub fn top(mut self, n: usize) -> Self {
        self.rows.truncate(n);
        self
    }
}

impl fmt::Display for Census {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = ["cells", "bytes", "subscribers", "operator", "made at"];
        let rows: Vec<Vec<String>> = self
            .rows
            .iter()
            .map(|row| {
                vec![
                    row.cell_count.to_string(),
                    row.bytes.to_string(),
                    row.subscriber_count.to_string(),
                    row.operator.to_owned(),
                    format!("{}:{}:{}", row.file, row.line, row.column),
                ]
            })
            .collect();
        table::write(f, &head, &rows)
    }
}

/// What is summed up for one place and operator.
#[derive(Default)]
struct Sum {
    cells: usize,
    subscribers: usize,
    bytes: usize,
}

type Place = &'static Location<'static>;

fn sum_up(store: &Store) -> HashMap<(Place, &'static str), Sum> {
    let graph = store.graph.borrow();
    let (subs, row) = (store.subs.borrow(), graph.bytes() / graph.capacity().max(1));
    let mut sums: HashMap<_, Sum> = HashMap::new();
    for (_, rank, node) in graph.iter() {
        let sum = sums.entry((store.place(node.place), node.operator())).or_default();
        sum.cells += 1;
        sum.subscribers += graph.dependents(rank) + subs.count(node.subs.get());
        sum.bytes += node.bytes() + row;
    }
    sums
}

fn collect(store: &Store) -> Census {
    let mut places: HashMap<Place, (CensusRow, usize)> = HashMap::new();
    for ((place, operator), sum) in sum_up(store) {
        let row = CensusRow {
            file: place.file(),
            line: place.line(),
            column: place.column(),
            operator,
            cell_count: 0,
            subscriber_count: 0,
            bytes: 0,
        };
        let (row, most) = places.entry(place).or_insert((row, 0));
        if (sum.cells, operator) > (*most, row.operator) {
            (row.operator, *most) = (operator, sum.cells);
        }
        row.cell_count += sum.cells;
        row.subscriber_count += sum.subscribers;
        row.bytes += sum.bytes;
    }
    let mut rows: Vec<CensusRow> = places.into_values().map(|(row, _)| row).collect();
    rows.sort_by_key(|row| {
        (std::cmp::Reverse((row.bytes, row.cell_count)), row.file, row.line, row.column)
    });
    Census { rows }
}

/// Where the live cells come from: their number and bytes for each place of creation, most bytes first.
///
/// The place is that of the call. Where `Cell::new` itself is given away (`map(Cell::new)`), the standard library calls it.
///
/// ```
/// use hyphae::{Cell, census};
/// let cells: Vec<_> = (0..1000).map(|i| Cell::new(i)).collect();
/// let census = census();
/// assert_eq!(census[0].cell_count, 1000);
/// println!("{census}");
/// # drop(cells);
/// ```
pub fn census() -> Census {
    with_store(collect).unwrap_or_default()
}
