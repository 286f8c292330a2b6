//! The invariants of a graph as assertions, for tests.
//!
//! What it does not know: how a state came about. Costs: O(ranks + edges), times the degree of a
//! node for the search for duplicates.

use std::collections::HashSet;

use super::edges::Side;
use super::{Graph, NONE, Rank};
use slotmap::Key;

impl<P: Copy> Graph<P> {
    /// Asserts all invariants.
    pub(crate) fn check(&self) {
        assert_eq!(self.records.len(), self.cold.len(), "I1: rows");
        let (mut live, mut edges, mut lists) = (0, 0, Vec::new());
        for rank in 0..self.records.len() as Rank {
            if self.is_occupied(rank) {
                live += 1;
                assert_eq!(self.rank_of(self.id(rank)), Some(rank), "I2: id");
                edges += self.check_lists(rank, &mut lists);
            } else {
                self.check_vacant(rank);
            }
        }
        assert_eq!(live, self.len(), "I1: vacant count");
        assert_eq!(edges, 2 * self.edges, "edge count");
        let quiet =
            (0..self.records.len() as Rank).filter(|&r| self.handle(r, Side::Quiet) != NONE);
        assert_eq!(quiet.count(), self.quiet.len(), "I7");
        self.check_parts(live, &lists);
    }

    /// Asserts the invariants of the parts and of the end of the order.
    fn check_parts(&self, live: usize, lists: &[u32]) {
        self.ids.check(live);
        self.pool.check(lists);
        self.dirty.check(|rank| self.is_occupied(rank));
        self.deliver.check(|rank| self.is_occupied(rank));
        self.free.check(|rank| !self.is_occupied(rank) && (rank as usize) < self.records.len());
        assert!(self.scratch.seen.is_empty(), "scratch I1");
        if !self.held && self.records.len() > 0 {
            assert!(self.is_occupied(self.records.len() as Rank - 1), "I5");
        }
    }

    /// Asserts that nothing is left at a vacant rank.
    fn check_vacant(&self, rank: Rank) {
        assert!(self.id(rank).is_null(), "I1: id at {rank}");
        assert!(self.free.contains(rank), "I6: {rank} is vacant");
        for side in Side::ALL {
            assert_eq!(self.list_len(rank, side), 0, "I1: edges at {rank}");
            assert_eq!(self.handle(rank, side), NONE, "I1: list at {rank}");
        }
    }

    /// Asserts I3 and I4 for one node; adds its lists, and returns the number of its entries.
    fn check_lists(&self, rank: Rank, lists: &mut Vec<u32>) -> usize {
        let mut count = 0;
        let mut unique = HashSet::new();
        for side in Side::ALL {
            lists.extend(Some(self.handle(rank, side)).filter(|&list| list != NONE));
            assert_eq!(self.list(rank, side).count(), self.list_len(rank, side) as usize);
            if side == Side::Ins && self.handle(rank, side) != NONE {
                assert!(self.list_len(rank, side) > 1, "a single entry is in the row");
            }
            for (position, entry) in (0..).zip(self.list(rank, side)) {
                let (other, kind) = (entry.rank, entry.kind());
                assert_eq!(self.entry(rank, side, position), entry, "position");
                let ascends = if side == Side::Ins { other < rank } else { other > rank };
                assert!(ascends && self.is_occupied(other), "I3: {other}, {rank}");
                let twin = self.entry(other, side.twin(kind), entry.position());
                let back = (twin.rank, twin.position(), twin.kind());
                assert_eq!(back, (rank, position, kind), "I4: twin");
                assert!(unique.insert((other, kind as u8)), "I3: duplicate");
                count += 1;
            }
        }
        count
    }
}
