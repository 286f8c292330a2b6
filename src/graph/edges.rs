//! Edges: adding, removing, and listing them.
//!
//! Each edge has an entry in the list of in-edges of the one node, and one in the list of out-edges of the other. Each names
//! its twin at the other end, so an edge that is found at one end is removed at both in O(1).
//!
//! What it does not know: how an order is restored. It asks for that before it adds an edge. And where entries are kept:
//! that is what [`lists`](super::lists) knows.
//!
//! Invariants: I3 and I4 of the graph.
//!
//! Costs: `pop_in` and `link_new` are O(1), if the order holds; `link` and `unlink` look through
//! the shorter of the two lists that would hold the edge.

use super::pool::Entry;
use super::{CellKey, CycleFound, EdgeKind, Graph, NONE, Rank};

impl<P: Copy> Graph<P> {
    /// Adds an edge from `src` to `dst`, of which there is none of that kind, and restores the order if it does not ascend.
    ///
    /// `moved` is called for each node whose rank the reorder changed, `src` and `dst` included,
    /// after the graph is consistent again with the edge in it.
    ///
    /// # Errors
    /// If the edge would close a cycle. Then nothing has changed.
    ///
    /// # Panics
    /// If either rank is vacant.
    pub(crate) fn link_new(
        &mut self,
        src: Rank,
        dst: Rank,
        kind: EdgeKind,
        moved: impl FnMut(P, Rank),
    ) -> Result<(), CycleFound> {
        let occupied = self.is_occupied(src) && self.is_occupied(dst);
        assert!(occupied, "no node at rank {src} or {dst}");
        debug_assert!(self.find(src, dst, kind).is_none(), "duplicate edge");
        if src < dst {
            self.attach(src, dst, kind);
            return Ok(());
        }
        let (src, dst) = self.reorder(src, dst)?;
        self.attach(src, dst, kind);
        self.report_moves(moved);
        Ok(())
    }

    /// The same where there may be such an edge already: `Ok(false)` then.
    #[cfg(test)]
    pub(crate) fn link(
        &mut self,
        src: Rank,
        dst: Rank,
        kind: EdgeKind,
        moved: impl FnMut(P, Rank),
    ) -> Result<bool, CycleFound> {
        if self.find(src, dst, kind).is_some() {
            return Ok(false);
        }
        self.link_new(src, dst, kind, moved).map(|()| true)
    }

    /// Removes an edge, and tells whether there was one.
    pub(crate) fn unlink(&mut self, src: Rank, dst: Rank, kind: EdgeKind) -> bool {
        let found = self.find(src, dst, kind);
        if let Some(position) = found {
            self.detach(dst, position);
        }
        found.is_some()
    }

    /// Puts `new`, which is no such input of `dst` yet, in the place of `old`, and tells whether it did: if `new` is below
    /// `dst`, and `old` is an input.
    pub(crate) fn replace_input(
        &mut self,
        dst: Rank,
        old: Rank,
        new: Rank,
        kind: EdgeKind,
    ) -> bool {
        let Some(position) = self.find(old, dst, kind).filter(|_| new < dst) else {
            return false;
        };
        debug_assert!(self.find(new, dst, kind).is_none(), "duplicate edge");
        let out = self.in_entry(dst, position).position();
        self.remove_out(old, out);
        let out = self.push_out(new, Entry::new(dst, position, kind));
        self.set_in(dst, position, Entry::new(new, out, kind));
        self.shape += 1;
        self.disturb();
        true
    }

    /// Removes the order edges between neighbours of a path as in [`CycleFound`] that no other edge joins, and tells
    /// whether there were any: such an edge is a wish, which gives way to a dependency.
    pub(crate) fn drop_order_edges(&mut self, path: &[CellKey]) -> bool {
        let mut dropped = false;
        for pair in path.windows(2) {
            let (Some(dst), Some(src)) = (self.rank_of(pair[0]), self.rank_of(pair[1])) else {
                continue;
            };
            let needed = [EdgeKind::Trigger, EdgeKind::Passive];
            if needed.iter().all(|&kind| self.find(src, dst, kind).is_none()) {
                dropped |= self.unlink(src, dst, EdgeKind::Order);
            }
        }
        dropped
    }

    /// Removes the last in-edge of `dst`, and tells which it was.
    pub(crate) fn pop_in(&mut self, dst: Rank) -> Option<(Rank, EdgeKind)> {
        let input = self.cold[dst as usize].input;
        if input.is_empty() {
            return None;
        }
        if input.as_list().is_none() {
            self.cold[dst as usize].input = Entry::EMPTY;
            self.forget_twin(input);
            return Some((input.rank, input.kind()));
        }
        let last = self.in_len(dst) - 1;
        let entry = self.in_entry(dst, last);
        self.detach(dst, last);
        Some((entry.rank, entry.kind()))
    }

    /// The sources of all in-edges.
    pub(crate) fn ins(&self, rank: Rank) -> impl Iterator<Item = (Rank, EdgeKind)> {
        self.in_entries(rank).map(|entry| (entry.rank, entry.kind()))
    }

    /// Whether a change of the node would make another one dirty.
    #[inline]
    pub(crate) fn has_triggers(&self, rank: Rank) -> bool {
        self.records[rank as usize].links.get().first() != NONE
    }

    /// The destinations of all out-edges.
    pub(crate) fn outs(&self, rank: Rank) -> impl Iterator<Item = (Rank, EdgeKind)> {
        self.out_entries(rank).map(|(_, entry)| (entry.rank, entry.kind()))
    }

    /// The number of in-edges of all kinds.
    #[inline]
    pub(crate) fn in_count(&self, rank: Rank) -> usize {
        self.in_len(rank) as usize
    }

    /// Whether there is any in-edge.
    #[inline]
    pub(crate) fn has_inputs(&self, rank: Rank) -> bool {
        !self.cold[rank as usize].input.is_empty()
    }

    /// The number of trigger and passive out-edges. Looks through the quiet ones.
    pub(crate) fn dependents(&self, rank: Rank) -> usize {
        let order = |entry: &&Entry| entry.kind() == EdgeKind::Order;
        self.out_len(rank) as usize - self.quiet_entries(rank).iter().filter(order).count()
    }

    /// Whether there is a trigger or passive out-edge.
    pub(crate) fn has_dependents(&self, rank: Rank) -> bool {
        let passive = |entry: &Entry| entry.kind() == EdgeKind::Passive;
        self.has_triggers(rank) || self.quiet_entries(rank).iter().any(passive)
    }

    /// Removes all edges of a node.
    pub(super) fn detach_all(&mut self, rank: Rank) {
        while self.pop_in(rank).is_some() {}
        while let Some(last) = self.out_positions(rank).next_back() {
            let twin = self.out_entry(rank, last);
            self.detach(twin.rank, twin.position());
        }
    }

    /// Adds an edge that ascends and is not there yet.
    fn attach(&mut self, src: Rank, dst: Rank, kind: EdgeKind) {
        let out = self.push_out(src, Entry::new(dst, self.in_len(dst), kind));
        self.push_in(dst, Entry::new(src, out, kind));
        self.edges += 1;
        self.shape += 1;
        self.disturb();
    }

    /// Removes the edge at `position` of the in-edges of `dst`.
    fn detach(&mut self, dst: Rank, position: u32) {
        let input = self.in_entry(dst, position);
        self.remove_in(dst, position);
        self.forget_twin(input);
    }

    /// Removes an edge whose entry among the in-edges is gone.
    fn forget_twin(&mut self, input: Entry) {
        self.remove_out(input.rank, input.position());
        self.edges -= 1;
        self.shape += 1;
        self.disturb();
    }

    /// The position of an edge among the in-edges of `dst`.
    fn find(&self, src: Rank, dst: Rank, kind: EdgeKind) -> Option<u32> {
        let input = self.cold[dst as usize].input;
        if input.as_list().is_none() {
            return (input.rank == src && input.kind() == kind).then_some(0);
        }
        if self.out_len(src) < self.in_len(dst) {
            let mut outs = self.out_entries(src);
            let (_, out) = outs.find(|(_, out)| out.rank == dst && out.kind() == kind)?;
            return Some(out.position());
        }
        let mut ins = (0..).zip(self.in_entries(dst));
        let (position, _) = ins.find(|(_, entry)| entry.rank == src && entry.kind() == kind)?;
        Some(position)
    }

    /// Rewrites the ranks in the lists of `rank`, and those by which its neighbours refer to it,
    /// while rows are still at their old ranks and the id table already has the new ones. A
    /// neighbour that moves as well rewrites its own lists.
    pub(super) fn rename(&mut self, rank: Rank, new: Rank) {
        for position in 0..self.in_len(rank) {
            let entry = self.in_entry(rank, position);
            let (target, place, kind) = (self.new_rank(entry.rank), entry.position(), entry.kind());
            if target == entry.rank {
                self.set_out(target, place, Entry::new(new, position, kind));
            } else {
                self.set_in(rank, position, Entry::new(target, place, kind));
            }
        }
        for position in self.out_positions(rank) {
            let entry = self.out_entry(rank, position);
            let (target, place, kind) = (self.new_rank(entry.rank), entry.position(), entry.kind());
            if target == entry.rank {
                self.set_in(target, place, Entry::new(new, position, kind));
            } else {
                self.set_out(rank, position, Entry::new(target, place, kind));
            }
        }
    }

    /// The rank that the id table has for the node whose rows are at `rank`.
    fn new_rank(&self, rank: Rank) -> Rank {
        let known = self.ids.rank(self.id(rank));
        known.expect("a node that has edges has an id")
    }
}
