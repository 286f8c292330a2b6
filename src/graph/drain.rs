//! Draining: visiting the dirty nodes from the lowest rank up while more of them become dirty.
//!
//! The cursor, a [`Lane`], keeps the open word of the dirty set in registers. Whoever changes edges or ranks, or marks other
//! than through the lane, *disturbs* it: takes the word from its hold, upon which the lane reads anew before its next step.
//!
//! What it does not know: what is computed, and whether a computed node has changed.
//!
//! Invariants:
//! - I1: if the lane in use holds a word, that equals the open one of the set.
//! - I2: only occupied ranks are marked.
//!
//! Costs: a step within a word is a handful of instructions; a step to the next word is O(levels).
//! Marking n dependents is O(n); in a long list with one memory access for neighbours that share
//! a word.

use std::num::NonZeroU64;

use super::column::CHUNK;
use super::dirty::NO_WORD;
use super::frontier::{bit_of, lowest_in, word_of};
use super::{Graph, Links, NONE, Rank, Record};

/// A cursor over the dirty nodes: a copy of one word of the bitset.
///
/// Only the lane that was opened last may be used.
#[derive(Debug)]
pub(crate) struct Lane {
    /// The index of the word; [`NO_WORD`] if the lane is empty.
    index: usize,
    /// The word.
    word: u64,
    /// The rank that was taken last.
    last: Rank,
    /// Its dependents, as in its row.
    links: Links,
}

impl<P: Copy> Graph<P> {
    /// Opens a cursor, which has not read anything yet. Any other is not to be used any more.
    #[inline]
    pub(crate) fn lane(&mut self) -> Lane {
        self.disturb();
        Lane { index: NO_WORD, word: 0, last: NONE, links: Links::NONE }
    }

    /// Takes the lowest dirty rank; `None` if nothing is dirty.
    #[inline]
    pub(crate) fn next_dirty(&mut self, lane: &mut Lane) -> Option<(Rank, P)> {
        if !self.dirty.is_held(lane.index) {
            lane.word = 0;
        }
        self.take_from(lane)
    }

    /// Makes all trigger dependents of the rank that the lane took last dirty, and takes the next: one step of a drain
    /// in which that node has changed. `rank` is where the node is now.
    #[inline(always)]
    pub(crate) fn mark_and_next(&mut self, rank: Rank, lane: &mut Lane) -> Option<(Rank, P)> {
        if !self.dirty.is_held(lane.index) {
            self.mark_dependents_outside(rank);
            lane.word = 0;
            return self.take_from(lane);
        }
        // The edges were read with the rank. If any edge or rank had changed since, the lane would be disturbed.
        let next = lane.last.wrapping_add(1);
        // A chain: its next node is all that becomes dirty, and the lowest. It is taken without being marked. What
        // is compared was read with the last node, so that the next step does not wait for a load.
        if lane.links == Links::only(next)
            && word_of(next) == lane.index
            && lane.word & bit_of(next) == 0
        {
            return self.take(next, lane);
        }
        let (first, more) = (lane.links.first(), lane.links.more());
        if first != NONE {
            lane.word = self.dirty.mark_beside(first, (lane.index, lane.word));
            if more != NONE {
                lane.word = self.mark_more(lane, more);
            }
        }
        self.take_from(lane)
    }

    /// Takes the node at a rank.
    #[inline]
    fn take(&self, rank: Rank, lane: &mut Lane) -> Option<(Rank, P)> {
        let record = self.hot(rank);
        (lane.last, lane.links) = (rank, record.links);
        Some((rank, record.payload?))
    }

    /// The first half of [`Graph::mark_and_next`] alone.
    #[cfg(test)]
    pub(crate) fn mark_dependents(&mut self, rank: Rank, lane: &mut Lane) {
        if !self.dirty.is_held(lane.index) {
            return self.mark_dependents_outside(rank);
        }
        let (first, more) = (lane.links.first(), lane.links.more());
        if first != NONE {
            lane.word = self.dirty.mark_beside(first, (lane.index, lane.word));
            lane.word = self.mark_more(lane, more);
        }
        self.dirty.store(lane.word);
    }

    /// Takes the lowest rank of the lane's word, or of the first word after it that is not zero. Stores the word.
    #[inline(always)]
    fn take_from(&mut self, lane: &mut Lane) -> Option<(Rank, P)> {
        loop {
            if lane.word == 0 {
                (lane.index, lane.word) = self.dirty.hold_first();
            }
            let word = NonZeroU64::new(lane.word)?;
            let rank = lowest_in(lane.index, word);
            lane.word = word.get() & (word.get() - 1);
            self.dirty.store(lane.word);
            let taken = self.take(rank, lane);
            if taken.is_some() {
                return taken;
            }
        }
    }

    /// Marks a list of dependents, those in the lane's own word in that, which is given back.
    #[inline(never)]
    fn mark_more(&mut self, lane: &Lane, list: u32) -> u64 {
        self.dirty.mark_all_beside(self.pool.slice(list), (lane.index, lane.word))
    }

    /// Makes a node dirty. Does nothing if `rank` is vacant.
    pub(crate) fn mark_dirty(&mut self, rank: Rank) {
        if self.is_occupied(rank) {
            self.dirty.mark(rank);
        }
    }

    /// Makes all trigger dependents of `rank` dirty.
    pub(crate) fn mark_dependents_outside(&mut self, rank: Rank) {
        let links = self.records[rank as usize].links;
        let (first, more) = (links.first(), links.more());
        if first != NONE {
            self.dirty.mark(first);
        }
        if more != NONE {
            self.dirty.mark_all(self.pool.slice(more));
        }
    }

    /// Makes a node clean, and tells whether it was dirty.
    pub(crate) fn take_dirty(&mut self, rank: Rank) -> bool {
        self.dirty.clear(rank)
    }

    /// Whether a node is dirty.
    pub(crate) fn is_dirty(&self, rank: Rank) -> bool {
        self.dirty.contains(rank)
    }

    /// Whether any node is dirty whose rank is not above `rank`.
    #[inline]
    pub(crate) fn has_dirty_up_to(&self, rank: Rank) -> bool {
        self.dirty.lowest().is_some_and(|lowest| lowest <= rank)
    }

    /// Whether any node is dirty.
    #[inline]
    pub(crate) fn has_dirty(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// Notes that a node has something to deliver.
    #[inline]
    pub(crate) fn mark_deliver(&mut self, rank: Rank) {
        debug_assert!(self.is_occupied(rank), "no node at rank {rank}");
        self.deliver.mark(rank);
    }

    /// Takes such a note back, and tells whether there was one.
    #[cfg(test)]
    pub(crate) fn clear_deliver(&mut self, rank: Rank) -> bool {
        self.deliver.clear(rank)
    }

    /// Takes the lowest rank that has something to deliver.
    #[inline]
    pub(crate) fn next_deliver(&mut self) -> Option<(Rank, P)> {
        loop {
            let rank = self.deliver.next()?;
            if let Some(payload) = self.hot(rank).payload {
                return Some((rank, payload));
            }
        }
    }

    /// Makes the lane read its word again.
    #[inline]
    pub(super) fn disturb(&mut self) {
        self.dirty.release();
    }

    /// The hot row of a rank. Past the last rank it is the row of a vacant one, or there is none.
    #[inline]
    fn hot(&self, rank: Rank) -> &Record<P> {
        let index = rank as usize;
        &self.records.chunk_of(index)[index % CHUNK]
    }
}

#[cfg(test)]
mod tests {
    use super::super::EdgeKind::Trigger;
    use super::*;

    #[test]
    fn a_lane_follows_what_it_marks_and_what_others_mark() {
        let mut graph = Graph::new();
        for payload in 0..300u32 {
            graph.insert(payload);
        }
        for (src, dst) in [(3, 9), (3, 200), (9, 10), (3, 64)] {
            assert_eq!(graph.link(src, dst, Trigger, |_, _| ()), Ok(true));
        }
        let mut lane = graph.lane();
        assert_eq!(graph.next_dirty(&mut lane), None);
        graph.mark_dirty(3);
        assert_eq!(graph.next_dirty(&mut lane), Some((3, 3)));
        graph.mark_dependents(3, &mut lane);
        assert_eq!(graph.next_dirty(&mut lane), Some((9, 9)));
        graph.mark_dirty(1);
        graph.mark_dependents(9, &mut lane);
        assert!(graph.take_dirty(64) && !graph.take_dirty(64));
        assert_eq!(graph.next_dirty(&mut lane), Some((1, 1)));
        assert_eq!(graph.next_dirty(&mut lane), Some((10, 10)));
        assert_eq!(graph.next_dirty(&mut lane), Some((200, 200)));
        assert_eq!(graph.next_dirty(&mut lane), None);
        assert!(!graph.has_dirty());
        graph.check();
    }

    #[test]
    fn a_lane_forgets_what_is_taken_from_its_word() {
        let mut graph = Graph::new();
        for payload in 0..20u32 {
            graph.insert(payload);
        }
        for rank in [4, 5, 6, 7] {
            graph.mark_dirty(rank);
        }
        let mut lane = graph.lane();
        assert_eq!(graph.next_dirty(&mut lane), Some((4, 4)));
        assert!(graph.take_dirty(5));
        assert_eq!(graph.next_dirty(&mut lane), Some((6, 6)));
        graph.remove(7);
        assert_eq!(graph.next_dirty(&mut lane), None);
        graph.check();
    }

    #[test]
    fn a_dropped_lane_loses_nothing() {
        let mut graph = Graph::new();
        for payload in 0..100u32 {
            graph.insert(payload);
        }
        graph.mark_dirty(5);
        graph.mark_dirty(70);
        let mut lane = graph.lane();
        assert_eq!(graph.next_dirty(&mut lane), Some((5, 5)));
        let mut lane = graph.lane();
        assert_eq!(graph.next_dirty(&mut lane), Some((70, 70)));
        assert!(!graph.has_dirty());
        assert_eq!(graph.next_dirty(&mut lane), None);
        graph.check();
    }

    #[test]
    fn deliveries_come_in_order() {
        let mut graph = Graph::new();
        for payload in 0..100u32 {
            graph.insert(payload);
        }
        for rank in [80, 3, 20, 3] {
            graph.mark_deliver(rank);
        }
        assert!(graph.clear_deliver(20));
        assert_eq!(graph.next_deliver(), Some((3, 3)));
        graph.remove(80);
        assert_eq!(graph.next_deliver(), None);
    }
}
