//! The hot cells: a snapshot of all counters, sorted.

use std::fmt;
use std::ops::Deref;
use std::panic::Location;

use uuid::Uuid;

use super::table;
use crate::graph::CellKey;
use crate::id::CellId;
use crate::store::node::NodeRef;
use crate::store::{Store, with_store};
use crate::uuids;

/// What was counted and measured for a cell since it was made or [`reset_trace`] was called.
///
/// Times are 0 while [`set_timing`](crate::set_timing) has not asked for any; with
/// [`Timing::OneWaveIn`](crate::Timing::OneWaveIn) they are those of the timed waves alone.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct CellTraceSnapshot {
    /// The cell's UUID.
    #[cfg_attr(feature = "serde", serde(serialize_with = "as_text"))]
    pub id: Uuid,
    /// Its id in the arena.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub cell_id: CellId,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Where it was made.
    #[cfg_attr(feature = "serde", serde(serialize_with = "as_text"))]
    pub caller: &'static Location<'static>,
    /// The operator that computes it (`"map"`, `"join"`, ...); `"cell"` and `"source"` are written from outside.
    pub operator: &'static str,
    /// Rounds in which it emitted: a value, its end, or both.
    pub notify_count: u64,
    /// Calls of its subscribers; the first one at subscription, with the current value, is not among them.
    pub delivery_count: u64,
    /// Times it was computed and gave nothing new: filtered, equal, or an input that had nothing for it.
    pub cut_off_count: u64,
    /// Callbacks on it and cells that depend on it, now.
    pub subscriber_count: usize,
    /// Guards that it owns, now.
    pub owned_count: usize,
    /// Time of all its turns.
    pub compute_time_ns: u64,
    /// Time of all calls of its subscribers.
    pub delivery_time_ns: u64,
    /// Both together.
    pub total_notify_time_ns: u64,
    /// Turns and calls of the last round in which it had any.
    pub last_notify_time_ns: u64,
    /// The longest single call of a subscriber.
    pub slowest_subscriber_ns: u64,
}

#[cfg(feature = "serde")]
fn as_text<S: serde::Serializer>(value: &impl fmt::Display, out: S) -> Result<S::Ok, S::Error> {
    out.collect_str(value)
}

impl CellTraceSnapshot {
    pub(super) fn of(store: &Store, key: CellKey, node: NodeRef) -> Option<Self> {
        let (counts, times) = (store.counts_of(node)?, store.times_of(node)?);
        let ns = |units| store.probe.nanoseconds(units);
        let (compute_time_ns, delivery_time_ns) = (ns(times.compute), ns(times.delivery));
        let tables = store.tables.borrow();
        let callbacks = store.subs.borrow().count(node.subs.get());
        Some(Self {
            id: uuids::peek(store, &tables, key, node),
            cell_id: CellId::of(key),
            name: tables.names.get(key).map(|name| name.to_string()),
            caller: store.place(node.place),
            operator: node.operator(),
            notify_count: counts.notifies,
            delivery_count: counts.deliveries,
            cut_off_count: counts.cut_offs,
            subscriber_count: callbacks + store.graph.borrow().dependents(node.rank.get()),
            owned_count: tables.owned.get(key).map_or(0, |owned| owned.len()),
            compute_time_ns,
            delivery_time_ns,
            total_notify_time_ns: compute_time_ns + delivery_time_ns,
            last_notify_time_ns: ns(times.last),
            slowest_subscriber_ns: ns(times.slowest),
        })
    }

    /// Its name; where it has none, where it was made.
    pub fn display_name(&self) -> String {
        match &self.name {
            Some(name) => name.clone(),
            None => format!("{}:{}", self.caller.file(), self.caller.line()),
        }
    }
}

/// Cells with their counters: see [`hot_traced_cells`]. Prints as a table.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct HotCells {
    cells: Vec<CellTraceSnapshot>,
}

impl Deref for HotCells {
    type Target = [CellTraceSnapshot];

    fn deref(&self) -> &[CellTraceSnapshot] {
        &self.cells
    }
}

impl IntoIterator for HotCells {
    type Item = CellTraceSnapshot;
    type IntoIter = std::vec::IntoIter<CellTraceSnapshot>;

    fn into_iter(self) -> Self::IntoIter {
        self.cells.into_iter()
    }
}

impl HotCells {
    /// Most time first (turns and calls), then most notifies.
    #[must_use]
    pub fn by_time(self) -> Self {
        self.sorted(|cell| (cell.total_notify_time_ns, cell.notify_count))
    }

    /// The longest single call of a subscriber first.
    #[must_use]
    pub fn by_slowest_subscriber(self) -> Self {
        self.sorted(|cell| (cell.slowest_subscriber_ns, cell.notify_count))
    }

    /// Most callbacks and dependents first, then most notifies.
    #[must_use]
    pub fn by_subscribers(self) -> Self {
        self.sorted(|cell| (cell.subscriber_count as u64, cell.notify_count))
    }

    /// Most notifies first, then most callbacks and dependents: how it comes.
    #[must_use]
    pub fn by_notifies(self) -> Self {
        self.sorted(|cell| (cell.notify_count, cell.subscriber_count as u64))
    }

    /// The first `n`.
    #[must_use]
    pub fn top(mut self, n: usize) -> Self {
        self.cells.truncate(n);
        self
    }

    /// What was counted for a cell.
    pub fn get(&self, id: CellId) -> Option<&CellTraceSnapshot> {
        self.cells.iter().find(|cell| cell.cell_id == id)
    }

    /// Sorts from the greatest; what is equal stays as it was, at first in topological order.
    fn sorted(mut self, key: impl Fn(&CellTraceSnapshot) -> (u64, u64)) -> Self {
        self.cells.sort_by_key(|cell| std::cmp::Reverse(key(cell)));
        self
    }
}

impl fmt::Display for HotCells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = [
            "notifies",
            "deliveries",
            "cut off",
            "subscribers",
            "total us",
            "last us",
            "slowest us",
            "operator",
            "cell",
        ];
        let us = |ns: u64| format!("{:.1}", ns as f64 / 1000.0);
        let rows: Vec<Vec<String>> = self
            .cells
            .iter()
            .map(|cell| {
                vec![
                    cell.notify_count.to_string(),
                    cell.delivery_count.to_string(),
                    cell.cut_off_count.to_string(),
                    cell.subscriber_count.to_string(),
                    us(cell.total_notify_time_ns),
                    us(cell.last_notify_time_ns),
                    us(cell.slowest_subscriber_ns),
                    cell.operator.to_owned(),
                    cell.display_name(),
                ]
            })
            .collect();
        table::write(f, &head, &rows)
    }
}

pub(super) fn collect(store: &Store) -> HotCells {
    let nodes: Vec<_> = store.graph.borrow().iter().map(|(key, _, node)| (key, node)).collect();
    let cells = nodes.into_iter().filter_map(|(key, node)| CellTraceSnapshot::of(store, key, node));
    HotCells { cells: cells.collect() }.by_notifies()
}

/// All live cells with their counters, most notifies first, then most subscribers; equal ones in topological order.
///
/// Cells that operators make for themselves are among them, under the operator's name. Costs a walk over all cells.
///
/// ```
/// use hyphae::{Cell, Pipeline, hot_traced_cells};
/// let price = Cell::new(1).with_name("price");
/// let parity = (&price).map(|v| v % 2).deduped().materialize().with_name("parity");
/// for v in [2, 4, 6] {
///     price.set(v);
/// }
/// let hot = hot_traced_cells();
/// assert_eq!((hot[0].name.as_deref(), hot[0].notify_count), (Some("price"), 3));
/// let parity = hot.get(parity.cell_id()).unwrap();
/// assert_eq!((parity.notify_count, parity.cut_off_count), (1, 2));
/// println!("{}", hot.by_time().top(20));
/// ```
pub fn hot_traced_cells() -> HotCells {
    with_store(collect).unwrap_or_default()
}

/// The `limit` cells that took most time, then with most notifies: the form that hyphae 1.3.3 has.
pub fn hot_cells(limit: usize) -> Vec<CellTraceSnapshot> {
    hot_traced_cells().by_time().top(limit).cells
}

/// Forgets what was counted and measured for all cells.
pub fn reset_trace() {
    let _ = with_store(|store| {
        let graph = store.graph.borrow();
        graph.iter().for_each(|(_, _, node)| store.clear_counts(node));
    });
}
