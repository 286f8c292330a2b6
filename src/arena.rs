//! The arena seen from outside: every live cell by its [`CellId`], what it hangs on, totals, and the graph as text.
//!
//! These are for inspection: they look things up, allocate their answers and are not meant for every frame (except
//! [`totals`]). A dead id answers `None`.

use std::fmt::Write as _;
use std::panic::Location;
use std::rc::Rc;

use uuid::Uuid;

use crate::cell::{Cell, CellImmutable};
use crate::error::CellInfo;
use crate::graph::{CellKey, EdgeKind};
use crate::id::CellId;
use crate::store::node::NodeRef;
use crate::store::{Store, with_store};
use crate::weak::upgrade;
use crate::{store, uuids};

fn look<R>(id: CellId, f: impl FnOnce(&Store, NodeRef) -> R) -> Option<R> {
    with_store(|store| {
        let node = store.find(id.key());
        if node.is_none() {
            store::add(&store.counters.stale, 1);
        }
        node.map(|node| f(store, node))
    })
    .ok()
    .flatten()
}

fn collect<R>(f: impl FnOnce(&Store) -> Vec<R>) -> Vec<R> {
    with_store(f).unwrap_or_default()
}

/// The ids of all live cells, inputs before what depends on them.
pub fn cells() -> Vec<CellId> {
    collect(|store| store.graph.borrow().iter().map(|(id, _, _)| CellId::of(id)).collect())
}

/// Whether the cell lives.
pub fn contains(id: CellId) -> bool {
    with_store(|store| store.find(id.key()).is_some()).unwrap_or(false)
}

/// A handle to a live cell, if its values are `T`s.
///
/// ```
/// use hyphae::{Cell, arena};
/// let cell = Cell::new(5_u32);
/// assert_eq!(arena::cell::<u32>(cell.cell_id()).unwrap().get(), 5);
/// assert!(arena::cell::<String>(cell.cell_id()).is_none());
/// ```
pub fn cell<T: 'static>(id: CellId) -> Option<Cell<T, CellImmutable>> {
    upgrade::<T>(id.key()).map(Cell::adopt)
}

/// Name, id and place of creation.
pub fn info(id: CellId) -> Option<CellInfo> {
    look(id, |store, _| store.info(id.key())).flatten()
}

impl CellInfo {
    /// The cell's id; `None` where the information comes from another thread.
    pub fn id(&self) -> Option<CellId> {
        with_store(|store| (store.number == self.store).then(|| CellId::of(self.key)))
            .ok()
            .flatten()
    }
}

/// The cell's name, if it has one.
pub fn name(id: CellId) -> Option<Rc<str>> {
    look(id, |store, _| store.tables.borrow().names.get(id.key()).cloned()).flatten()
}

/// The cell's UUID.
pub fn uuid(id: CellId) -> Option<Uuid> {
    look(id, |store, _| uuids::of(store, id.key())).flatten()
}

/// The live cell that has this UUID.
///
/// ```
/// use hyphae::{Cell, arena};
/// let cell = Cell::new(1);
/// assert_eq!(arena::by_uuid(cell.id()), Some(cell.cell_id()));
/// ```
pub fn by_uuid(uuid: Uuid) -> Option<CellId> {
    with_store(|store| uuids::find(store, uuid)).ok().flatten().map(CellId::of)
}

/// Where the cell was made.
pub fn place(id: CellId) -> Option<&'static Location<'static>> {
    look(id, |store, node| store.place(node.place))
}

/// The operator that computes the cell: `"map"`, `"join"`, ...; `"cell"` and `"source"` are written from outside.
pub fn operator(id: CellId) -> Option<&'static str> {
    look(id, |_, node| node.operator())
}

/// The type of the cell's value.
pub fn type_name(id: CellId) -> Option<&'static str> {
    look(id, |_, node| node.type_name())
}

/// 0 for a cell without inputs, else one more than the highest input. Searches all that the cell depends on.
pub fn height(id: CellId) -> Option<u32> {
    look(id, |store, node| store.graph.borrow_mut().height(node.rank.get()))
}

/// The cells it reads directly.
pub fn dependencies(id: CellId) -> Option<Vec<CellId>> {
    look(id, |store, node| {
        let graph = store.graph.borrow();
        let inputs = graph.ins(node.rank.get()).filter(|edge| edge.1 != EdgeKind::Order);
        inputs.map(|(rank, _)| CellId::of(graph.id(rank))).collect()
    })
}

/// The cells that read it directly.
pub fn dependents(id: CellId) -> Option<Vec<CellId>> {
    look(id, |store, node| {
        let graph = store.graph.borrow();
        let readers = graph.outs(node.rank.get()).filter(|edge| edge.1 != EdgeKind::Order);
        readers.map(|(rank, _)| CellId::of(graph.id(rank))).collect()
    })
}

/// How many callbacks are subscribed.
pub fn subscribers(id: CellId) -> Option<usize> {
    look(id, |store, node| store.subs.borrow().count(node.subs.get()))
}

/// Bytes the cell takes: its node, its row in the arena, its edges and the entries of its subscribers. What the value and
/// the closures own on the heap is not known.
pub fn bytes(id: CellId) -> Option<usize> {
    look(id, |store, node| {
        let subs = store.subs.borrow();
        let entries = subs.count(node.subs.get()) * store::subscriber_bytes();
        node.bytes() + store.graph.borrow().row_bytes(node.rank.get()) + entries
    })
}

/// Counters of the thread's store. All but the first five grow over its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Totals {
    /// Live cells.
    pub cells: usize,
    /// Edges between them.
    pub edges: usize,
    /// Live subscriptions.
    pub subscribers: usize,
    /// Cells that there is room for without growing.
    pub capacity: usize,
    /// Bytes of the arena's own tables (nodes, values and closures are counted by [`bytes`]).
    pub table_bytes: usize,
    /// Waves settled.
    pub waves: u64,
    /// Rounds settled; a wave has more than one when it brought several events of one cell.
    pub rounds: u64,
    /// Turns of derived cells (comparisons of cells with a cut-off are counted too).
    pub recomputations: u64,
    /// Calls of subscribers, first deliveries at subscription not counted.
    pub deliveries: u64,
    /// Ranks moved because an edge came against the order.
    pub moves: u64,
    /// Look-ups of dead or disposed cells.
    pub stale_accesses: u64,
}

/// The counters now: O(1).
pub fn totals() -> Totals {
    with_store(|store| {
        let (graph, counters) = (store.graph.borrow(), &store.counters);
        Totals {
            cells: graph.len(),
            edges: graph.edge_count(),
            subscribers: store.subs.borrow().len(),
            capacity: graph.capacity(),
            moves: graph.moves(),
            waves: counters.waves.get(),
            rounds: counters.rounds.get(),
            recomputations: counters.recomputations.get(),
            deliveries: counters.deliveries.get(),
            stale_accesses: counters.stale.get(),
            table_bytes: 0,
        }
    })
    .map(|totals| Totals { table_bytes: table_bytes(), ..totals })
    .unwrap_or_default()
}

fn table_bytes() -> usize {
    with_store(Store::bytes).unwrap_or(0)
}

/// How many cells there is room for without growing.
pub fn capacity() -> usize {
    totals().capacity
}

/// Gives memory that no cell uses back to the allocator.
pub fn shrink_to_fit() {
    let _ = with_store(Store::shrink_to_fit);
}

/// A live subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardInfo {
    /// The cell it is on.
    pub cell: CellInfo,
    /// Where it was made.
    pub place: &'static Location<'static>,
}

impl std::fmt::Display for GuardInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "subscription made at {} on {}", self.place, self.cell)
    }
}

/// All live subscriptions with the places that made them: the way to find the guard that keeps a cell alive.
pub fn guards() -> Vec<GuardInfo> {
    collect(|store| {
        let found: Vec<_> =
            store.subs.borrow().iter().map(|(_, cell, place)| (cell, place)).collect();
        found
            .into_iter()
            .filter_map(|(id, place)| {
                Some(GuardInfo { cell: store.info(id)?, place: store.place(place) })
            })
            .collect()
    })
}

/// Checks that nothing lives in the thread's store.
///
/// # Panics
/// When something does: the message lists cells and subscriptions (up to 20 of each) with their places.
#[track_caller]
pub fn assert_no_live() {
    const SHOWN: usize = 20;
    let (cells, guards) = (cells(), guards());
    if cells.is_empty() && guards.is_empty() {
        return;
    }
    let mut text = format!("{} cells and {} subscriptions are alive", cells.len(), guards.len());
    for cell in cells.iter().take(SHOWN).filter_map(|&id| info(id)) {
        let _ = write!(text, "\n  {cell}");
    }
    for guard in guards.iter().take(SHOWN) {
        let _ = write!(text, "\n  {guard}");
    }
    panic!("{text}");
}

/// One cell for the graph as text.
struct Row {
    id: CellId,
    label: String,
    operator: &'static str,
    type_name: &'static str,
    place: &'static Location<'static>,
    subscribers: usize,
    inputs: Vec<(CellId, EdgeKind)>,
}

fn rows() -> Vec<Row> {
    collect(|store| {
        let graph = store.graph.borrow();
        graph
            .iter()
            .map(|(id, rank, node)| Row {
                id: CellId::of(id),
                label: label(store, id),
                operator: node.operator(),
                type_name: node.type_name(),
                place: store.place(node.place),
                subscribers: store.subs.borrow().count(node.subs.get()),
                inputs: graph
                    .ins(rank)
                    .map(|(from, kind)| (CellId::of(graph.id(from)), kind))
                    .collect(),
            })
            .collect()
    })
}

fn label(store: &Store, id: CellKey) -> String {
    let name = store.tables.borrow().names.get(id).cloned();
    name.map_or_else(|| format!("{:?}", CellId::of(id)), |name| name.to_string())
}

/// Escapes text for a quoted string of DOT or JSON.
fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The graph in the DOT language, for Graphviz: cells with name, operator and place; edges from input to reader, those
/// that do not trigger dashed.
pub fn dot() -> String {
    let mut out = String::from("digraph hyphae {\n  rankdir=LR;\n  node [shape=box];\n");
    for row in rows() {
        let text = format!("{}\n{}\n{}", row.label, row.operator, row.place);
        let _ = writeln!(out, "  {} [label={}];", quote(&format!("{:?}", row.id)), quote(&text));
        for (from, kind) in &row.inputs {
            let style = if *kind == EdgeKind::Trigger { "" } else { " [style=dashed]" };
            let _ = writeln!(
                out,
                "  {} -> {}{style};",
                quote(&format!("{from:?}")),
                quote(&format!("{:?}", row.id))
            );
        }
    }
    out.push_str("}\n");
    out
}

/// The graph as JSON: an array of cells, inputs before readers, each with `id`, `name`, `operator`, `type`, `place`,
/// `subscribers` and `inputs` (ids).
pub fn json() -> String {
    let cells: Vec<String> = rows().iter().map(json_row).collect();
    format!("[{}]", cells.join(",\n "))
}

fn json_row(row: &Row) -> String {
    let inputs: Vec<String> = row.inputs.iter().map(|(id, _)| quote(&format!("{id:?}"))).collect();
    format!(
        "{{\"id\":{},\"name\":{},\"operator\":{},\"type\":{},\"place\":{},\"subscribers\":{},\"inputs\":[{}]}}",
        quote(&format!("{:?}", row.id)),
        quote(&row.label),
        quote(row.operator),
        quote(row.type_name),
        quote(&row.place.to_string()),
        row.subscribers,
        inputs.join(",")
    )
}

/// What a cell depends on, as an indented tree. A cell that was shown before is marked `(above)` and not opened again.
pub fn dependency_tree(id: CellId) -> Option<String> {
    look(id, |store, _| {
        let graph = store.graph.borrow();
        let mut out = String::new();
        let mut shown = std::collections::HashSet::new();
        let mut stack = vec![(id.key(), 0_usize)];
        while let Some((id, depth)) = stack.pop() {
            let Some(rank) = graph.rank_of(id) else {
                continue;
            };
            let first = shown.insert(id);
            let inputs: Vec<CellKey> = graph.ins(rank).map(|(from, _)| graph.id(from)).collect();
            let mark = if first || inputs.is_empty() { "" } else { " (above)" };
            let _ = writeln!(out, "{}{}{mark}", "  ".repeat(depth), label(store, id));
            if first {
                stack.extend(inputs.into_iter().rev().map(|input| (input, depth + 1)));
            }
        }
        out
    })
}
