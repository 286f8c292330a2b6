//! Random graphs and waves, for tests of what is counted and told of them.

use hyphae::{Cell, CellImmutable, Pipeline, batch};
use proptest::prelude::*;

/// How a cell comes from earlier ones.
#[derive(Clone, Debug)]
pub(crate) enum Make {
    Map(usize),
    Filter(usize),
    Deduped(usize),
    Join(usize, usize),
    Switch(usize, usize, usize),
    Computed(usize, usize),
    Take(usize),
}

/// One wave.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Set(usize, i64),
    Batch(Vec<(usize, i64)>),
    /// Writes, and reads of cells in between.
    Reading(Vec<(usize, i64, usize)>),
    Complete(usize),
    SetAndComplete(usize, i64),
}

const SOURCES: usize = 3;

pub(crate) type Shown = Cell<i64, CellImmutable>;

pub(crate) struct World {
    sources: Vec<Cell<i64>>,
    pub(crate) cells: Vec<Shown>,
}

fn source(i: usize) -> Cell<i64> {
    if i == 0 { Cell::with_cutoff(0, i64::eq) } else { Cell::new(0) }
}

impl World {
    pub(crate) fn new(makes: &[Make]) -> Self {
        let sources: Vec<_> = (0..SOURCES).map(source).collect();
        let mut world = Self { cells: sources.iter().map(|s| s.clone().lock()).collect(), sources };
        makes.iter().for_each(|make| {
            let cell = world.make(make);
            world.cells.push(cell);
        });
        world
    }

    fn at(&self, i: usize) -> Shown {
        self.cells[i % self.cells.len()].clone()
    }

    fn make(&self, make: &Make) -> Shown {
        match *make {
            Make::Map(i) => self.at(i).map(|v| v.wrapping_mul(3) + 1).materialize(),
            Make::Filter(i) => self
                .at(i)
                .filter(|v| v % 2 == 0)
                .map(|v| v / 2)
                .materialize()
                .map(|v| v.unwrap_or(7))
                .materialize(),
            Make::Deduped(i) => self.at(i).map(|v| v % 3).deduped().materialize(),
            Make::Join(i, j) => self.at(i).join(&self.at(j)).map(|(a, b)| a ^ b).materialize(),
            Make::Switch(i, j, k) => {
                let (a, b) = (self.at(j), self.at(k));
                self.at(i).switch_map(move |v| if v % 2 == 0 { a.clone() } else { b.clone() })
            }
            Make::Computed(i, j) => {
                let (a, b) = (self.at(i), self.at(j));
                Cell::computed(move || if a.get() % 2 == 0 { b.get() } else { -1 })
            }
            Make::Take(i) => self.at(i).take(3).materialize(),
        }
    }

    pub(crate) fn act(&self, act: &Act) {
        let set = |(i, v): (usize, i64)| self.sources[i % SOURCES].set(v);
        match act {
            Act::Set(i, v) => set((*i, *v)),
            Act::Batch(writes) => batch(|| writes.iter().copied().for_each(set)),
            Act::Reading(steps) => batch(|| {
                for &(i, v, read) in steps {
                    set((i, v));
                    self.at(read).get();
                }
            }),
            Act::Complete(i) => self.sources[i % SOURCES].complete(),
            Act::SetAndComplete(i, v) => batch(|| {
                set((*i, *v));
                self.sources[i % SOURCES].complete();
            }),
        }
    }
}

pub(crate) fn make() -> impl Strategy<Value = Make> {
    let i = || 0..1000_usize;
    prop_oneof![
        i().prop_map(Make::Map),
        i().prop_map(Make::Filter),
        i().prop_map(Make::Deduped),
        (i(), i()).prop_map(|(i, j)| Make::Join(i, j)),
        (i(), i(), i()).prop_map(|(i, j, k)| Make::Switch(i, j, k)),
        (i(), i()).prop_map(|(i, j)| Make::Computed(i, j)),
        i().prop_map(Make::Take),
    ]
}

pub(crate) fn act() -> impl Strategy<Value = Act> {
    let (i, v) = (|| 0..SOURCES, || -4..5_i64);
    prop_oneof![
        8 => (i(), v()).prop_map(|(i, v)| Act::Set(i, v)),
        4 => prop::collection::vec((i(), v()), 0..6).prop_map(Act::Batch),
        4 => prop::collection::vec((i(), v(), 0..1000_usize), 1..6).prop_map(Act::Reading),
        1 => i().prop_map(Act::Complete),
        1 => (i(), v()).prop_map(|(i, v)| Act::SetAndComplete(i, v)),
    ]
}
