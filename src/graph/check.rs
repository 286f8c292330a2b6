//! The invariants of a graph as assertions, for tests.
//!
//! What it does not know: how a state came about. Costs: O(ranks + edges), times the degree of a
//! node for the search for duplicates.

use std::collections::HashSet;

use super::lists::triggers;
use super::pool::Entry;
use super::{EdgeKind, Graph, Links, Rank};
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
        assert!(self.cold[rank as usize].input.is_empty(), "I1: in-edges at {rank}");
        assert_eq!(self.records[rank as usize].links.get(), Links::NONE, "I1: edges at {rank}");
    }

    /// Asserts I3 and I4 for one node; adds its lists, and returns the number of its entries.
    fn check_lists(&self, rank: Rank, lists: &mut Vec<u32>) -> usize {
        let input = self.cold[rank as usize].input;
        lists.extend(
            input.as_list().into_iter().chain(self.records[rank as usize].links.get().list()),
        );
        assert!(input.as_list().is_none_or(|list| self.pool.len(list) > 1), "one is in the row");
        let ins: Vec<_> = (0..).zip(self.in_entries(rank)).collect();
        let outs: Vec<_> = self.out_entries(rank).collect();
        assert!(self.out_positions(rank).eq(outs.iter().map(|out| out.0)), "positions");
        let quiet = |entry: &&(u32, Entry)| entry.1.kind() != EdgeKind::Trigger;
        assert!(outs.iter().all(|out| out.0 > 0 || !quiet(&out)), "a trigger is first");
        assert!(
            self.has_triggers(rank) || outs.iter().all(|out| quiet(&out)),
            "a trigger is first"
        );
        let triggers = triggers(&self.pool, self.records[rank as usize].links.get());
        let parts = triggers.iter().chain(self.quiet_entries(rank));
        assert!(
            parts.eq(outs.iter().filter(|out| out.0 > 0).map(|out| &out.1)),
            "the list's parts"
        );
        assert!(triggers.iter().all(|entry| entry.kind() == EdgeKind::Trigger), "triggers first");
        assert!(
            self.quiet_entries(rank).iter().all(|entry| quiet(&&(0, *entry))),
            "then quiet ones"
        );
        assert_eq!((ins.len() as u32, outs.len() as u32), (self.in_len(rank), self.out_len(rank)));
        let mut unique = HashSet::new();
        for &(position, entry) in &ins {
            let other = (entry.rank, entry.position());
            assert!(entry.rank < rank && self.is_occupied(entry.rank), "I3: {other:?}, {rank}");
            let twin = (self.out_entry(other.0, other.1), self.in_entry(rank, position));
            let back = Entry::new(rank, position, entry.kind());
            assert_eq!(twin, (back, entry), "I4: twin");
            assert!(unique.insert((entry.rank, entry.kind() as u8)), "I3: duplicate");
        }
        for &(position, entry) in &outs {
            let other = (entry.rank, entry.position());
            assert!(entry.rank > rank && self.is_occupied(entry.rank), "I3: {other:?}, {rank}");
            let twin = (self.in_entry(other.0, other.1), self.out_entry(rank, position));
            let back = Entry::new(rank, position, entry.kind());
            assert_eq!(twin, (back, entry), "I4: twin");
            assert!(unique.insert((entry.rank, entry.kind() as u8)), "I3: duplicate");
        }
        ins.len() + outs.len()
    }
}
