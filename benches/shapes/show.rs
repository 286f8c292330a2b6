//! A show of any size: a frame of it touches all its cells; one cell beside it is set alone.

use hyphae::{Cell, CellImmutable, Pipeline, SubscriptionGuard, batch, combine};

use super::Random;

const LEVELS: usize = 6;

/// Which two cells of the level before a cell reads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inputs {
    /// Those at its own place: what is used together lies together.
    Near,
    /// Any, by chance: each is a miss of the cache once the store is larger.
    Far,
}

/// Picks the inputs of the cells of a show, the same ones each time.
struct Pick(Inputs, Random);

impl Pick {
    fn two<'a, T>(&mut self, row: &'a [T], at: usize, width: usize) -> (&'a T, &'a T) {
        if self.0 == Inputs::Far {
            return (self.1.pick(row), self.1.pick(row));
        }
        let first = at * row.len() / width;
        (&row[first], &row[(first + 1) % row.len()])
    }
}

/// A source for each 100 cells; cells in 6 levels, each of two cells of the level before; a subscriber for each 40.
pub(crate) struct Show {
    guards: Vec<SubscriptionGuard>,
    cells: Vec<Cell<u64, CellImmutable>>,
    sources: Vec<Cell<u64>>,
    inputs: Inputs,
}

fn widths(cells: usize) -> impl Iterator<Item = usize> {
    (0..LEVELS).map(move |level| cells / LEVELS + usize::from(level < cells % LEVELS))
}

impl Show {
    /// A show of so many cells (its sources not among them).
    pub(crate) fn new(cells: usize, inputs: Inputs) -> Self {
        let sources: Vec<_> = (0..(cells / 100) as u64).map(Cell::new).collect();
        let mut pick = Pick(inputs, Random(42));
        let mut all = Vec::with_capacity(cells);
        let mut row: Vec<_> = sources.iter().map(|source| source.clone().lock()).collect();
        for width in widths(cells) {
            let cell = |at| {
                let inputs = pick.two(&row, at, width);
                combine(inputs, |(a, b)| a.rotate_left(5).wrapping_add(*b))
            };
            row = (0..width).map(cell).collect();
            all.extend(row.iter().cloned());
        }
        let heard = |v: &u64| {
            std::hint::black_box(v);
        };
        let guards = row.iter().take(cells / 40).map(|cell| cell.watch(heard)).collect();
        Self { guards, cells: all, sources, inputs }
    }

    /// Sets every source, in one batch.
    pub(crate) fn frame(&self, value: u64) {
        batch(|| self.sources.iter().zip(value..).for_each(|(source, v)| source.set(v)));
    }

    /// How many cells a frame computes.
    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether all is as after a frame with this value.
    pub(crate) fn is_right(&self, value: u64) -> bool {
        let mut pick = Pick(self.inputs, Random(42));
        let mut row: Vec<u64> = (value..value + self.sources.len() as u64).collect();
        let mut all = self.cells.iter();
        widths(self.cells.len()).all(|width| {
            let value = |at| {
                let (a, b) = pick.two(&row, at, width);
                a.rotate_left(5).wrapping_add(*b)
            };
            row = (0..width).map(value).collect();
            row.iter().zip(&mut all).all(|(v, cell)| cell.get() == *v)
        }) && self.guards.len() == self.cells.len() / 40
    }
}

/// A source, two maps and a subscriber: what a set of it touches is 3 cells, whatever else is in the store.
pub(crate) struct Apart {
    source: Cell<u64>,
    last: Cell<u64, CellImmutable>,
    _guard: SubscriptionGuard,
    _others: Vec<Cell<u64>>,
}

impl Apart {
    /// In a store of `cells`, half of them made before.
    pub(crate) fn new(cells: usize) -> Self {
        let mut others: Vec<_> = (0..(cells - 3) as u64 / 2).map(Cell::new).collect();
        let source = Cell::new(0);
        let last = (&source).map(|v| v + 1).materialize().map(|v| v * 2).materialize();
        let guard = last.watch(|v| {
            std::hint::black_box(v);
        });
        others.extend((others.len() as u64..(cells - 3) as u64).map(Cell::new));
        Self { source, last, _guard: guard, _others: others }
    }

    /// Sets the source.
    pub(crate) fn set(&self, value: u64) {
        self.source.set(value);
    }

    /// Whether the last cell is as after a set to `value`.
    pub(crate) fn is_right(&self, value: u64) -> bool {
        self.last.get() == (value + 1) * 2
    }
}
