//! Passes: which cells fired more than once in a piece of work.

use uuid::Uuid;

use crate::graph::CellKey;
use crate::store::{Store, with_store};
use crate::uuids;

/// Which cells fired in a [`pass`], and how often.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct PassReport {
    /// Each cell that fired, with how often; in the order of their first fire.
    #[cfg_attr(feature = "serde", serde(serialize_with = "as_pairs"))]
    pub per_cell: Vec<(Uuid, u32)>,
}

#[cfg(feature = "serde")]
fn as_pairs<S: serde::Serializer>(cells: &[(Uuid, u32)], out: S) -> Result<S::Ok, S::Error> {
    out.collect_seq(cells.iter().map(|(id, fires)| (id.to_string(), fires)))
}

impl PassReport {
    /// All fires.
    pub fn total_fires(&self) -> u64 {
        self.per_cell.iter().map(|&(_, fires)| u64::from(fires)).sum()
    }

    /// Fires beyond the first of each cell.
    pub fn total_refires(&self) -> u64 {
        self.total_fires() - self.per_cell.len() as u64
    }

    /// How many cells fired.
    pub fn cells_fired(&self) -> usize {
        self.per_cell.len()
    }

    /// The cells that fired more than once: most fires first, then by id.
    pub fn refiring_cells(&self) -> Vec<(Uuid, u32)> {
        let mut cells: Vec<_> = self.per_cell.iter().copied().filter(|cell| cell.1 > 1).collect();
        cells.sort_by_key(|&(id, fires)| (std::cmp::Reverse(fires), id));
        cells
    }

    /// Which part of all fires one [`batch`](crate::batch) would have saved: from 0 to 1.
    pub fn coalesceable_fraction(&self) -> f64 {
        match self.total_fires() {
            0 => 0.0,
            fires => self.total_refires() as f64 / fires as f64,
        }
    }
}

/// Closes the pass also when a panic goes through.
struct Close;

impl Drop for Close {
    fn drop(&mut self) {
        let _ = with_store(|store| store.probe.close_pass());
    }
}

/// Calls `f` and notes which cells fire meanwhile; [`take_report`] tells. A fire is a round in which a cell emitted, whether
/// anybody subscribes or not. A pass inside a pass joins it. A panic of `f` goes on, and the report is there.
///
/// ```
/// use hyphae::{Cell, Pipeline, profiling};
/// let a = Cell::new(1);
/// let b = (&a).map(|v| v + 1).materialize();
/// profiling::pass(|| {
///     a.set(2);
///     a.set(3);
/// });
/// let report = profiling::take_report().unwrap();
/// assert_eq!((report.total_fires(), report.total_refires(), report.cells_fired()), (4, 2, 2));
/// assert_eq!(report.coalesceable_fraction(), 0.5);
/// # drop(b);
/// ```
pub fn pass<R>(f: impl FnOnce() -> R) -> R {
    let _close = with_store(|store| store.probe.open_pass()).ok().map(|()| Close);
    f()
}

/// What the last pass has noted; `None` if there was none since the last call.
pub fn take_report() -> Option<PassReport> {
    with_store(|store| store.probe.take_pass().map(|fired| sum_up(store, fired))).ok()?
}

fn sum_up(store: &Store, fired: Vec<CellKey>) -> PassReport {
    let mut counts = indexmap::IndexMap::new();
    for key in fired {
        *counts.entry(key).or_insert(0_u32) += 1;
    }
    let tables = store.tables.borrow();
    let id = |key| match store.find(key) {
        Some(node) => uuids::peek(store, &tables, key, node),
        None => uuids::of_dead(store, key),
    };
    PassReport { per_cell: counts.into_iter().map(|(key, fires)| (id(key), fires)).collect() }
}
