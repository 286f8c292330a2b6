//! Edges: adding, removing, and listing them.
//!
//! A node has three lists of entries: its in-edges, its trigger out-edges, and its quiet (passive
//! and order) out-edges. A single in-edge is held in the node's rows, more are pooled. Of the
//! triggers, position 0 is held in the rows and position `i` beyond it is entry `i - 1` of a pooled
//! list. Quiet entries are pooled altogether, and a table tells their list. Each entry names its twin
//! at the other end, so an edge that is found at one end is removed at both in O(1): the last entry
//! of a list takes the place of the removed one, and its twin is told.
//!
//! What it does not know: how an order is restored. It asks for that before it adds an edge.
//!
//! Invariants: I3, I4 and I7 of the graph; and a pooled list of in-edges has at least two entries.
//!
//! Costs: `pop_in` and `link_new` are O(1), if the order holds; `link` and `unlink` look through
//! the shorter of the two lists that would hold the edge; `repack` is O(ranks + edges).

use super::pool::{Entry, Pool};
use super::{CellKey, CycleFound, EdgeKind, Graph, NONE, Rank};

/// One of the lists of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    /// The in-edges, of all kinds.
    Ins,
    /// The trigger out-edges.
    Triggers,
    /// The passive and order out-edges.
    Quiet,
}

impl Side {
    /// All lists.
    pub(super) const ALL: [Self; 3] = [Self::Ins, Self::Triggers, Self::Quiet];

    /// The list of the source that holds edges of `kind`.
    fn of(kind: EdgeKind) -> Self {
        match kind {
            EdgeKind::Trigger => Self::Triggers,
            EdgeKind::Passive | EdgeKind::Order => Self::Quiet,
        }
    }

    /// The list that holds the twin of an entry of `kind` in this list.
    pub(super) fn twin(self, kind: EdgeKind) -> Self {
        match self {
            Self::Ins => Self::of(kind),
            Self::Triggers | Self::Quiet => Self::Ins,
        }
    }
}

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
        let side = Side::of(kind);
        let out = self.entry(dst, Side::Ins, position).position();
        self.swap_remove(old, side, out);
        let out = self.push_entry(new, side, Entry::new(dst, position, kind));
        self.set_entry(dst, Side::Ins, position, Entry::new(new, out, kind));
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
        let last = self.list_len(dst, Side::Ins) - 1;
        let entry = self.entry(dst, Side::Ins, last);
        self.detach(dst, last);
        Some((entry.rank, entry.kind()))
    }

    /// The sources of all in-edges.
    pub(crate) fn ins(&self, rank: Rank) -> impl Iterator<Item = (Rank, EdgeKind)> {
        self.list(rank, Side::Ins).map(|entry| (entry.rank, entry.kind()))
    }

    /// Whether a change of the node would make another one dirty.
    #[inline]
    pub(crate) fn has_triggers(&self, rank: Rank) -> bool {
        self.records[rank as usize].links.get().first() != NONE
    }

    /// The destinations of all out-edges.
    pub(crate) fn outs(&self, rank: Rank) -> impl Iterator<Item = (Rank, EdgeKind)> {
        self.list(rank, Side::Triggers)
            .chain(self.list(rank, Side::Quiet))
            .map(|entry| (entry.rank, entry.kind()))
    }

    /// The number of in-edges of all kinds.
    #[inline]
    pub(crate) fn in_count(&self, rank: Rank) -> usize {
        self.list_len(rank, Side::Ins) as usize
    }

    /// Whether there is any in-edge.
    #[inline]
    pub(crate) fn has_inputs(&self, rank: Rank) -> bool {
        !self.cold[rank as usize].input.is_empty()
    }

    /// The number of trigger and passive out-edges. Looks through the quiet ones.
    pub(crate) fn dependents(&self, rank: Rank) -> usize {
        let passive = self.list(rank, Side::Quiet).filter(is_passive).count();
        self.list_len(rank, Side::Triggers) as usize + passive
    }

    /// Whether there is a trigger or passive out-edge.
    pub(crate) fn has_dependents(&self, rank: Rank) -> bool {
        self.has_triggers(rank) || self.list(rank, Side::Quiet).any(|entry| is_passive(&entry))
    }

    /// Removes all edges of a node.
    pub(super) fn detach_all(&mut self, rank: Rank) {
        while self.pop_in(rank).is_some() {}
        for side in [Side::Triggers, Side::Quiet] {
            while let Some(last) = self.list_len(rank, side).checked_sub(1) {
                let twin = self.entry(rank, side, last);
                self.detach(twin.rank, twin.position());
            }
        }
    }

    /// Adds an edge that ascends and is not there yet.
    fn attach(&mut self, src: Rank, dst: Rank, kind: EdgeKind) {
        let input = self.list_len(dst, Side::Ins);
        let entry = Entry::new(dst, input, kind);
        // With the side as a constant.
        let out = match Side::of(kind) {
            Side::Triggers => self.push_entry(src, Side::Triggers, entry),
            side => self.push_entry(src, side, entry),
        };
        self.push_entry(dst, Side::Ins, Entry::new(src, out, kind));
        self.edges += 1;
        self.shape += 1;
        self.disturb();
    }

    /// Removes the edge at `position` of the in-edges of `dst`.
    fn detach(&mut self, dst: Rank, position: u32) {
        let input = self.entry(dst, Side::Ins, position);
        self.swap_remove(dst, Side::Ins, position);
        self.forget_twin(input);
    }

    /// Removes an edge whose entry among the in-edges is gone.
    fn forget_twin(&mut self, input: Entry) {
        // With the side as a constant.
        match Side::of(input.kind()) {
            Side::Triggers => self.swap_remove(input.rank, Side::Triggers, input.position()),
            side => self.swap_remove(input.rank, side, input.position()),
        }
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
        let side = Side::of(kind);
        if self.list_len(src, side) < self.list_len(dst, Side::Ins) {
            let mut outs = self.list(src, side);
            let out = outs.find(|entry| entry.rank == dst && entry.kind() == kind)?;
            return Some(out.position());
        }
        let mut ins = (0..).zip(self.list(dst, Side::Ins));
        let (position, _) = ins.find(|(_, entry)| entry.rank == src && entry.kind() == kind)?;
        Some(position)
    }

    /// The entries of a list, by position.
    pub(super) fn list(&self, rank: Rank, side: Side) -> impl Iterator<Item = Entry> {
        let (single, list) = self.held(rank, side);
        let single = Some(single).filter(|entry| !entry.is_empty());
        single.into_iter().chain(self.pool.slice(list).iter().copied())
    }

    /// The length of a list.
    #[inline]
    pub(super) fn list_len(&self, rank: Rank, side: Side) -> u32 {
        let (single, list) = self.held(rank, side);
        u32::from(!single.is_empty()) + self.pool.len(list)
    }

    /// The entry at `position` of a list.
    pub(super) fn entry(&self, rank: Rank, side: Side, position: u32) -> Entry {
        let (single, list) = self.held(rank, side);
        match pooled(single, position) {
            Some(index) => self.pool.slice(list)[index],
            None => single,
        }
    }

    /// Replaces the entry at `position` of a list.
    #[inline]
    pub(super) fn set_entry(&mut self, rank: Rank, side: Side, position: u32, entry: Entry) {
        let (single, list) = self.held(rank, side);
        match pooled(single, position) {
            Some(index) => self.pool.slice_mut(list)[index] = entry,
            None => self.hold(rank, side, (entry, list)),
        }
    }

    /// The pooled list, or [`NONE`].
    #[inline]
    pub(super) fn handle(&self, rank: Rank, side: Side) -> u32 {
        self.held(rank, side).1
    }

    /// What is held in the rows of a list: a single entry, or [`Entry::EMPTY`], and the pooled list, or [`NONE`].
    #[inline(always)]
    fn held(&self, rank: Rank, side: Side) -> (Entry, u32) {
        match side {
            Side::Ins => {
                let input = self.cold[rank as usize].input;
                input.as_list().map_or((input, NONE), |list| (Entry::EMPTY, list))
            }
            Side::Triggers => self.held_triggers(rank),
            Side::Quiet if self.records[rank as usize].links.get().has_quiet() => {
                (Entry::EMPTY, self.quiet.get(self.id(rank)).copied().unwrap_or(NONE))
            }
            Side::Quiet => (Entry::EMPTY, NONE),
        }
    }

    #[inline(always)]
    fn held_triggers(&self, rank: Rank) -> (Entry, u32) {
        let links = self.records[rank as usize].links.get();
        if links.first() == NONE {
            return (Entry::EMPTY, NONE);
        }
        let (twin, list) = match links.is_list() {
            true => (self.pool.note(links.upper()), links.upper()),
            false => (links.upper(), NONE),
        };
        (Entry::new(links.first(), twin, EdgeKind::Trigger), list)
    }

    /// Replaces what is held in the rows of a list.
    #[inline(always)]
    fn hold(&mut self, rank: Rank, side: Side, (single, list): (Entry, u32)) {
        let links = &self.records[rank as usize].links;
        match side {
            Side::Ins if list == NONE => self.cold[rank as usize].input = single,
            Side::Ins => self.cold[rank as usize].input = Entry::of_list(list),
            Side::Triggers if list == NONE => links.set(links.get().with_only(single)),
            Side::Triggers => {
                links.set(links.get().with_list(single.rank, list));
                self.pool.set_note(list, single.position());
            }
            Side::Quiet => {
                links.set(links.get().with_quiet(list != NONE));
                self.hold_quiet(rank, list);
            }
        }
    }

    #[cold]
    fn hold_quiet(&mut self, rank: Rank, list: u32) {
        let id = self.id(rank);
        match list {
            NONE => drop(self.quiet.remove(id)),
            list => drop(self.quiet.insert(id, list)),
        }
    }

    /// Appends to a list, and gives the position.
    #[inline(always)]
    fn push_entry(&mut self, rank: Rank, side: Side, entry: Entry) -> u32 {
        let (single, list) = self.held(rank, side);
        if side != Side::Quiet && single.is_empty() && list == NONE {
            self.hold(rank, side, (entry, NONE));
            return 0;
        }
        self.push_pooled((rank, side), (single, list), entry)
    }

    /// The same where the list goes beyond what the rows can hold.
    fn push_pooled(&mut self, (rank, side): (Rank, Side), held: (Entry, u32), entry: Entry) -> u32 {
        let (mut single, mut list) = held;
        if side == Side::Ins && !single.is_empty() {
            self.pool.push(&mut list, single);
            single = Entry::EMPTY;
        }
        let position = u32::from(!single.is_empty()) + self.pool.len(list);
        self.pool.push(&mut list, entry);
        self.hold(rank, side, (single, list));
        position
    }

    /// Removes an entry of a list. The last one takes its place, and its twin is told.
    #[inline(always)]
    fn swap_remove(&mut self, rank: Rank, side: Side, position: u32) {
        match self.held(rank, side) {
            (_, NONE) => self.hold(rank, side, (Entry::EMPTY, NONE)),
            held => self.swap_remove_pooled((rank, side), held, position),
        }
    }

    /// The same in a list that is pooled, in part at least.
    fn swap_remove_pooled(
        &mut self,
        (rank, side): (Rank, Side),
        (mut single, mut list): (Entry, u32),
        position: u32,
    ) {
        let entries = self.pool.slice_mut(list);
        let last = entries.len() - 1;
        let moved = entries[last];
        let place = pooled(single, position);
        match place {
            Some(index) => entries[index] = moved,
            None => single = moved,
        }
        if place != Some(last) {
            let twin = Entry::new(rank, position, moved.kind());
            self.set_entry(moved.rank, side.twin(moved.kind()), moved.position(), twin);
        }
        self.pool.pop(&mut list);
        if side == Side::Ins && last == 1 {
            // One is left, which the row can hold.
            single = self.pool.slice(list)[0];
            self.pool.pop(&mut list);
        }
        self.hold(rank, side, (single, list));
    }

    /// Packs the pooled lists anew, in blocks that fit: those of one side together, by rank. Gives
    /// back the rest.
    pub(super) fn repack(&mut self) {
        let ranks = self.records.len() as Rank;
        let lists = || Side::ALL.into_iter().flat_map(|side| (0..ranks).map(move |r| (r, side)));
        let slots = |(rank, side)| Pool::slots_for(self.pool.len(self.handle(rank, side)));
        let mut packed = Pool::with_room(lists().map(slots).sum());
        let mut repacked = Vec::new();
        for (rank, side) in lists() {
            let (single, list) = self.held(rank, side);
            let entries = self.pool.slice(list);
            if list != NONE {
                repacked.push((rank, side, single, packed.adopt(entries)));
            }
        }
        self.pool = packed;
        for (rank, side, single, list) in repacked {
            self.hold(rank, side, (single, list));
        }
        self.disturb();
    }

    /// Rewrites the ranks in the lists of `rank`, and those by which its neighbours refer to it,
    /// while rows are still at their old ranks and the id table already has the new ones. A
    /// neighbour that moves as well rewrites its own lists.
    pub(super) fn rename(&mut self, rank: Rank, new: Rank) {
        for side in Side::ALL {
            for position in 0..self.list_len(rank, side) {
                let entry = self.entry(rank, side, position);
                let (kind, place) = (entry.kind(), entry.position());
                let target = self.new_rank(entry.rank);
                if target == entry.rank {
                    let twin = Entry::new(new, position, kind);
                    self.set_entry(target, side.twin(kind), place, twin);
                } else {
                    let entry = Entry::new(target, place, kind);
                    self.set_entry(rank, side, position, entry);
                }
            }
        }
    }

    /// The rank that the id table has for the node whose rows are at `rank`.
    fn new_rank(&self, rank: Rank) -> Rank {
        let known = self.ids.rank(self.id(rank));
        known.expect("a node that has edges has an id")
    }
}

/// The place in the pooled list of a position; `None` if that is held in the rows.
#[inline]
fn pooled(single: Entry, position: u32) -> Option<usize> {
    let held = u32::from(!single.is_empty());
    Some(position.checked_sub(held)? as usize)
}

/// Whether an entry is of a passive edge.
fn is_passive(entry: &Entry) -> bool {
    entry.kind() == EdgeKind::Passive
}
