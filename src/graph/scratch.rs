//! Buffers that searches use again, so that a search allocates nothing once they are large enough.
//!
//! What it does not know: what is searched for.
//!
//! Invariants:
//! - I1: between searches `seen` is empty; the other buffers may hold leftovers, which every
//!   search clears first.
//!
//! Costs: the buffers keep the size of the largest search so far; `seen` is one bit for each rank.

use super::frontier::{bit_of, word_of};
use super::{Cold, Links, Rank};

/// The buffers of a graph.
#[derive(Debug)]
pub(super) struct Scratch<P> {
    /// The nodes a search has met.
    pub(super) seen: Marks,
    /// Nodes met downstream, each with the place in this buffer of the one it was met from.
    pub(super) ahead: Vec<(Rank, u32)>,
    /// Nodes met upstream.
    pub(super) behind: Vec<Rank>,
    /// The ranks that a reorder gives out anew.
    pub(super) slots: Vec<Rank>,
    /// The nodes that a reorder moves: their old ranks and new ones.
    pub(super) plan: Vec<(Rank, Rank)>,
    /// The rows of those nodes while they are moved.
    pub(super) rows: Vec<Row<P>>,
}

/// All that is kept about a node by rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<P> {
    /// The hot row.
    pub(super) record: (Option<P>, Links),
    /// The cold row.
    pub(super) cold: Cold,
    /// Whether the node is dirty.
    pub(super) dirty: bool,
    /// Whether the node has something to deliver.
    pub(super) deliver: bool,
}

impl<P> Default for Scratch<P> {
    fn default() -> Self {
        Self {
            seen: Marks::default(),
            ahead: Vec::new(),
            behind: Vec::new(),
            slots: Vec::new(),
            plan: Vec::new(),
            rows: Vec::new(),
        }
    }
}

impl<P> Scratch<P> {
    /// The heap bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.seen.words.capacity() * size_of::<u64>()
            + self.ahead.capacity() * size_of::<(Rank, u32)>()
            + (self.behind.capacity() + self.slots.capacity()) * size_of::<Rank>()
            + self.plan.capacity() * size_of::<(Rank, Rank)>()
            + self.rows.capacity() * size_of::<Row<P>>()
    }
}

/// A set of ranks without order.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// One bit for each rank.
    words: Vec<u64>,
}

impl Marks {
    /// Makes room for ranks below `len`.
    pub(super) fn cover(&mut self, len: usize) {
        let words = len.div_ceil(u64::BITS as usize);
        if words > self.words.len() {
            self.words.resize(words, 0);
        }
    }

    /// Adds `rank`, and tells whether it is new.
    #[inline]
    pub(super) fn insert(&mut self, rank: Rank) -> bool {
        let word = &mut self.words[word_of(rank)];
        let new = *word & bit_of(rank) == 0;
        *word |= bit_of(rank);
        new
    }

    /// Removes all of `ranks`, which must be all there are.
    pub(super) fn clear(&mut self, ranks: impl Iterator<Item = Rank>) {
        for rank in ranks {
            self.words[word_of(rank)] = 0;
        }
    }

    /// Whether the set is empty.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }
}
