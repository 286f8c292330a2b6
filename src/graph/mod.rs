//! The topology of a cell store: which cell feeds which, in what order to compute them, and which
//! of them are to be computed.
//!
//! A node is addressed by its [`CellKey`], which is never given out twice, or by its [`Rank`], the
//! index of its rows, which changes when the order is restored or compacted. Ranks are a
//! topological order at all times: the dirty node of lowest rank has no dirty node upstream.
//!
//! What it does not know: values, closures, user code. A node carries an opaque `Copy` payload,
//! and whoever needs to follow a node is told its new rank by a callback.
//!
//! Layout: what draining touches is in `records` (payload, the first trigger dependent and the list
//! of the others), in chunks that whoever drains may share; all else about a node is in `cold`. A single
//! in-edge and the first trigger out-edge are held in the rows, more of them in pooled lists.
//!
//! Invariants:
//! - I1: `records` and `cold` have one row for each rank. A vacant rank has no payload, no edges,
//!   and is in neither bitset; `vacant` counts them.
//! - I2: the id table maps the id of each occupied rank to that rank, and no other id to any.
//! - I3: every edge ascends in rank, whatever its kind, and there is one at most of each kind
//!   between two nodes.
//! - I4: both ends of an edge are twins: each names the other's node and position.
//! - I5: unless ranks are held, the last rank is occupied.
//! - I6: `free` is the set of the vacant ranks.
//!
//! Costs: `insert` is amortised O(1), `remove` O(edges of the node); a node takes 16 + 16 bytes
//! with a pointer as payload, and 8 in the id table. Rows are allocated 1024 at a time.

mod column;
mod dirty;
mod drain;
mod due;
mod edges;
mod frontier;
mod ids;
mod lists;
mod order;
mod pool;
mod scratch;
mod walk;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod check;
#[cfg(test)]
mod tests;

pub(crate) use column::{CHUNK, Column};
pub(crate) use dirty::Open;
pub(crate) use drain::Lane;
pub(crate) use due::Run;
pub(crate) use frontier::Frontier;

use std::cell::Cell;

use column::SharedColumn;
use dirty::Dirty;
use due::Due;
use ids::Ids;
use pool::{Entry, Pool};
use scratch::Scratch;

slotmap::new_key_type! {
    /// Names a cell of a store. An id is never given out a second time by the same store, so the
    /// id of a cell that is gone stays invalid.
    pub struct CellKey;
}

/// A position in the topological order, which is the index of the node's rows.
pub(crate) type Rank = u32;

/// No rank, or no list.
pub(crate) const NONE: u32 = u32::MAX;

/// Ranks are below this, so that no word of a bitset has the index `word_of(NONE)`.
const MAX_RANKS: usize = (NONE & !63) as usize;

/// Handles of lists are up to this, so that two flags have room beside one.
const MAX_LIST: u32 = u32::MAX >> 2;

/// What an edge means to its destination. Every kind orders.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EdgeKind {
    /// A dependency: a change of the source makes the destination dirty.
    Trigger,
    /// A dependency that keeps the source alive but does not make the destination dirty.
    Passive,
    /// Not a dependency: the source is only to be computed first.
    Order,
}

/// An edge that was refused because it would have closed a cycle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CycleFound {
    /// The cycle in the direction of dependency: every node has an in-edge from the one after it,
    /// where the last of these edges is the refused one. For a refused edge from `src` to `dst`
    /// that is `[src, .., dst, src]`: `src` reads .. reads `dst`, which would have read `src`. It
    /// is `[src, src]` if both are the same node. No other node occurs twice.
    pub(crate) path: Vec<CellKey>,
}

/// The row of a rank that draining reads.
#[derive(Debug)]
struct Record<P: Copy> {
    /// The payload; `None` if the rank is vacant.
    payload: Cell<Option<P>>,
    /// The trigger dependents.
    links: Cell<Links>,
}

impl<P: Copy> Default for Record<P> {
    fn default() -> Self {
        Self { payload: Cell::new(None), links: Cell::new(Links::NONE) }
    }
}

impl<P: Copy> Record<P> {
    /// What is in it.
    fn read(&self) -> (Option<P>, Links) {
        (self.payload.get(), self.links.get())
    }

    fn write(&self, (payload, links): (Option<P>, Links)) {
        self.payload.set(payload);
        self.links.set(links);
    }

    fn clear(&self) {
        self.write((None, Links::NONE));
    }
}

/// The out-edges of a node, in one word. The lower half is the rank of the first trigger dependent, or [`NONE`]: then there
/// is no other. The upper half has two flags, and below these the list of all other out-edges, or the position of the first
/// one's twin where there are no others; else the list keeps that position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Links(u64);

impl Links {
    /// No edges.
    const NONE: Self = Self(NONE as u64);
    /// There is a list. It is the sign, which is quick to tell.
    const LIST: u64 = 1 << 63;
    /// There may be others than triggers in the list.
    const MIXED: u64 = 1 << 62;

    /// Just the first trigger.
    #[inline]
    fn only(first: Entry) -> Self {
        Self(u64::from(first.position()) << 32 | u64::from(first.rank))
    }

    /// The first trigger.
    #[inline]
    fn first(self) -> Rank {
        self.0 as u32
    }

    /// Whether there is no trigger.
    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.first() == NONE
    }

    #[inline]
    fn has_list(self) -> bool {
        self.0 & Self::LIST != 0
    }

    /// The list of the others.
    #[inline]
    fn list(self) -> Option<u32> {
        self.has_list().then(|| self.upper())
    }

    /// The list of the others, or the position of the first one's twin.
    #[inline]
    fn upper(self) -> u32 {
        (self.0 >> 32) as u32 & MAX_LIST
    }

    /// Whether there may be others than triggers in the list.
    #[inline]
    fn is_mixed(self) -> bool {
        self.0 & Self::MIXED != 0
    }

    /// The same, where there may be.
    fn mixed(self) -> Self {
        Self(self.0 | Self::MIXED)
    }

    /// Another first trigger, or none, beside a list.
    #[inline]
    fn with_first(self, first: Rank) -> Self {
        Self(self.0 >> 32 << 32 | u64::from(first))
    }

    /// Another list of the others.
    #[inline]
    fn with_list(self, list: u32) -> Self {
        let flags = Self::LIST | self.0 & Self::MIXED;
        Self(flags | u64::from(list) << 32 | u64::from(self.first()))
    }

    /// No others any more.
    #[inline]
    fn without_list(self, twin: u32) -> Self {
        match self.first() {
            NONE => Self::NONE,
            first => Self(u64::from(twin) << 32 | u64::from(first)),
        }
    }
}

/// The row of a rank that draining does not read.
#[derive(Clone, Copy, Debug)]
struct Cold {
    /// The id of the node.
    id: CellKey,
    /// The only in-edge, or the list of them, or [`Entry::EMPTY`].
    input: Entry,
}

impl Default for Cold {
    fn default() -> Self {
        Self { id: CellKey::default(), input: Entry::EMPTY }
    }
}

/// The rows stay as small as the module comment says.
const _: () = {
    assert!(size_of::<Record<std::ptr::NonNull<()>>>() == 16);
    assert!(size_of::<Cold>() == 16);
};

/// A directed acyclic graph whose nodes are kept in topological order.
#[derive(Debug)]
pub(crate) struct Graph<P: Copy> {
    /// The hot rows, by rank.
    records: SharedColumn<Record<P>>,
    /// The cold rows, by rank.
    cold: Column<Cold>,
    /// All edges that are not in a row.
    pool: Pool,
    /// Nodes to be computed.
    dirty: Dirty,
    /// Changed nodes that have subscribers to be told.
    deliver: Due<P>,
    /// Whether no rank may be given out again for now.
    held: bool,
    /// The number of vacant ranks.
    vacant: usize,
    /// The vacant ranks.
    free: Frontier,
    /// All sets have room for the ranks below this.
    room: usize,
    /// The number of edges.
    edges: usize,
    /// The number of ranks that reorders have changed.
    moves: u64,
    /// Changes with every edge that comes or goes and every rank that is given or changed.
    shape: u64,
    /// The id table.
    ids: Ids,
    /// Buffers of the searches.
    scratch: Scratch<P>,
}

impl<P: Copy> Default for Graph<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Copy> Graph<P> {
    /// An empty graph.
    pub(crate) fn new() -> Self {
        Self {
            records: SharedColumn::new(),
            cold: Column::new(),
            pool: Pool::default(),
            dirty: Dirty::default(),
            deliver: Due::default(),
            held: false,
            vacant: 0,
            free: Frontier::default(),
            room: 0,
            edges: 0,
            moves: 0,
            shape: 0,
            ids: Ids::default(),
            scratch: Scratch::default(),
        }
    }

    /// Adds a node without edges at the end of the order.
    #[cfg(test)]
    pub(crate) fn insert(&mut self, payload: P) -> CellKey {
        self.insert_ranked(payload).0
    }

    /// Adds a node without edges at the end of the order, and tells its rank.
    pub(crate) fn insert_ranked(&mut self, payload: P) -> (CellKey, Rank) {
        let len = self.records.len();
        assert!(len < MAX_RANKS, "too many cells");
        let rank = len as Rank;
        let id = self.ids.insert(rank);
        self.records.extend().payload.set(Some(payload));
        self.cold.push(Cold { id, ..Cold::default() });
        self.grow_sets(len + 1);
        (id, rank)
    }

    /// Adds a node without edges at the lowest vacant rank that is not below `from`, else at the end: for nodes that take
    /// the place of others, whose dependents then need not move. Also gives out ranks that are held.
    pub(crate) fn insert_from(&mut self, from: Rank, payload: P) -> (CellKey, Rank) {
        let Some(rank) = self.free.lowest_from(from) else {
            return self.insert_ranked(payload);
        };
        let id = self.ids.insert(rank);
        self.records[rank as usize].payload.set(Some(payload));
        self.cold[rank as usize].id = id;
        self.fill(rank);
        self.disturb();
        (id, rank)
    }

    /// Makes room in the sets for ranks below `len`.
    #[inline]
    fn grow_sets(&mut self, len: usize) {
        if len > self.room {
            self.grow_all(len.next_multiple_of(64));
        }
    }

    #[cold]
    fn grow_all(&mut self, len: usize) {
        self.room = len;
        self.dirty.grow(len);
        self.deliver.grow(len);
        self.free.grow(len);
    }

    /// Notes that a vacant rank is taken.
    fn fill(&mut self, rank: Rank) {
        self.vacant -= 1;
        self.free.clear(rank);
    }

    /// Notes that a rank is vacant.
    fn vacate(&mut self, rank: Rank) {
        self.vacant += 1;
        self.free.mark(rank);
    }

    /// Removes a node and its edges of all kinds. Its rank becomes vacant, and vacant ranks at the
    /// end are given back unless they are held.
    ///
    /// # Panics
    /// If `rank` is vacant.
    pub(crate) fn remove(&mut self, rank: Rank) {
        assert!(self.is_occupied(rank), "no node at rank {rank}");
        let links = self.records[rank as usize].links.get();
        if links != Links::NONE || !self.cold[rank as usize].input.is_empty() {
            self.detach_all(rank);
        }
        self.take_dirty(rank);
        self.deliver.clear(rank);
        self.records[rank as usize].clear();
        let Cold { id, .. } = std::mem::take(&mut self.cold[rank as usize]);
        if !self.held && rank as usize + 1 == self.records.len() {
            self.records.cut(rank as usize);
            self.cold.cut(rank as usize);
        } else {
            self.vacate(rank);
        }
        self.ids.release(id);
        if !self.held {
            self.trim();
        }
    }

    /// Holds back vacant ranks, so that no rank is given out again, or lifts the hold. Lifting it
    /// gives back the vacant ranks at the end.
    #[inline]
    pub(crate) fn hold_ranks(&mut self, held: bool) {
        self.held = held;
        if !held && self.vacant > 0 {
            self.trim();
        }
    }

    /// The rank of a node; `None` if the node is gone.
    #[inline]
    pub(crate) fn rank_of(&self, id: CellKey) -> Option<Rank> {
        self.ids.rank(id)
    }

    /// Whether there is a node of this id.
    #[cfg(test)]
    pub(crate) fn contains(&self, id: CellKey) -> bool {
        self.rank_of(id).is_some()
    }

    /// The id of the node at `rank`, which must be in bounds; the null id if the rank is vacant.
    #[inline]
    pub(crate) fn id(&self, rank: Rank) -> CellKey {
        self.cold[rank as usize].id
    }

    /// The payload of the node at `rank`; `None` if there is no node.
    #[inline]
    pub(crate) fn payload(&self, rank: Rank) -> Option<P> {
        self.records.get(rank as usize)?.payload.get()
    }

    /// The number of nodes.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.records.len() - self.vacant
    }

    /// The number of ranks in use or vacant; all ranks are below it.
    #[cfg(any(test, feature = "frames"))]
    pub(crate) fn ranks(&self) -> usize {
        self.records.len()
    }

    /// The number of edges of all kinds.
    #[inline]
    pub(crate) fn edge_count(&self) -> usize {
        self.edges
    }

    /// A number that changes with every edge that comes or goes and every rank that is given or changed.
    #[inline]
    pub(crate) fn shape(&self) -> u64 {
        self.shape
    }

    /// How many ranks reorders have changed so far, all together.
    #[inline]
    pub(crate) fn moves(&self) -> u64 {
        self.moves
    }

    /// The nodes in the order of their ranks.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (CellKey, Rank, P)> {
        let rows = (0..).zip(self.records.iter().zip(self.cold.iter()));
        rows.filter_map(|(rank, (record, cold))| Some((cold.id, rank, record.payload.get()?)))
    }

    /// Reads the rows of these ranks and the lists of their dependents, only so that they are in the processor's caches.
    /// Gives the payloads.
    #[cfg(feature = "frames")]
    pub(crate) fn warm(&self, ranks: std::ops::Range<Rank>) -> impl Iterator<Item = P> {
        let end = self.records.len().min(ranks.end as usize);
        (ranks.start as usize..end).filter_map(|rank| {
            let (payload, links) = self.records[rank].read();
            let list = lists::triggers(&self.pool, links);
            std::hint::black_box(list.iter().fold(0, |read, entry| read ^ entry.rank));
            payload
        })
    }

    /// The number of ranks for which there is memory.
    pub(crate) fn capacity(&self) -> usize {
        self.records.capacity()
    }

    /// Gives back memory that is not in use, except that of the id table, which must remember the
    /// ids it has given out. Vacant ranks stay; see [`Graph::compact`].
    pub(crate) fn shrink_to_fit(&mut self) {
        self.records.shrink_to_fit();
        self.cold.shrink_to_fit();
        self.repack();
        self.dirty.shrink_to(self.records.len());
        self.deliver.shrink_to(self.records.len());
        self.free.shrink_to(self.records.len());
        self.room = self.records.len();
        self.disturb();
        self.scratch = Scratch::default();
    }

    /// Bytes that one node takes here: its two rows, its id and its lists of edges.
    pub(crate) fn row_bytes(&self, rank: Rank) -> usize {
        let ins = Some(self.in_len(rank)).filter(|&len| len > 1).unwrap_or(0);
        let slots = Pool::slots_for(ins) + Pool::slots_for(self.pool.len(self.out_list(rank)));
        size_of::<Record<P>>()
            + size_of::<Cold>()
            + size_of::<CellKey>()
            + slots * size_of::<Entry>()
    }

    /// The heap bytes held.
    pub(crate) fn bytes(&self) -> usize {
        let rows = self.records.bytes() + self.cold.bytes() + self.pool.bytes();
        let sets = self.dirty.bytes() + self.deliver.bytes() + self.free.bytes();
        rows + sets + self.ids.bytes() + self.scratch.bytes()
    }

    /// Sets how many removals make an epoch of the id table.
    #[cfg(test)]
    pub(crate) fn set_epoch_limit(&mut self, limit: u32) {
        self.ids.set_epoch_limit(limit);
    }

    /// Whether there is a node at `rank`.
    #[inline]
    fn is_occupied(&self, rank: Rank) -> bool {
        self.payload(rank).is_some()
    }

    /// Gives back the vacant ranks at the end.
    #[inline]
    fn trim(&mut self) {
        let ranks = self.records.len();
        if ranks > 0 && self.records[ranks - 1].payload.get().is_none() {
            self.trim_vacant(ranks);
        }
    }

    fn trim_vacant(&mut self, ranks: usize) {
        let mut end = ranks;
        while end > 0 && self.records[end - 1].payload.get().is_none() {
            end -= 1;
            self.free.clear(end as Rank);
        }
        self.vacant -= ranks - end;
        self.records.cut(end);
        self.cold.cut(end);
    }
}
