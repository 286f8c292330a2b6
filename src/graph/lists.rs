//! Where edges are kept: the list of a node's in-edges and that of its out-edges.
//!
//! A single in-edge is held in the node's rows, more are pooled. Of the out-edges, position 0 is for a trigger and held in
//! the rows; position `i` beyond it is entry `i - 1` of a pooled list, in which passive and order edges may be as well. If a
//! node has any trigger, it has one at position 0.
//!
//! What it does not know: that an edge has two ends. It tells the twin of an entry that takes the place of another, and
//! else leaves twins to [`edges`](super::edges).
//!
//! Invariants: a pooled list of in-edges has at least two entries; a row that does not say so has no quiet out-edges.
//!
//! Costs: O(1), but for the removal of a first trigger beside quiet edges, which looks for another one.

use super::pool::{Entry, Pool};
use super::{EdgeKind, Graph, Links, NONE, Rank};

impl<P: Copy> Graph<P> {
    /// The in-edges, by position.
    pub(super) fn in_entries(&self, rank: Rank) -> impl Iterator<Item = Entry> {
        let input = self.cold[rank as usize].input;
        let (single, pooled) = match input.as_list() {
            Some(list) => (None, self.pool.slice(list)),
            None => (Some(input).filter(|entry| !entry.is_empty()), &[][..]),
        };
        single.into_iter().chain(pooled.iter().copied())
    }

    /// The number of in-edges of all kinds, which is the next position.
    #[inline]
    pub(super) fn in_len(&self, rank: Rank) -> u32 {
        let input = self.cold[rank as usize].input;
        match input.as_list() {
            Some(list) => self.pool.len(list),
            None => u32::from(!input.is_empty()),
        }
    }

    /// The in-edge at a position.
    pub(super) fn in_entry(&self, rank: Rank, position: u32) -> Entry {
        let input = self.cold[rank as usize].input;
        input.as_list().map_or(input, |list| self.pool.slice(list)[position as usize])
    }

    /// Replaces the in-edge at a position.
    #[inline]
    pub(super) fn set_in(&mut self, rank: Rank, position: u32, entry: Entry) {
        let input = &mut self.cold[rank as usize].input;
        match input.as_list() {
            Some(list) => self.pool.slice_mut(list)[position as usize] = entry,
            None => *input = entry,
        }
    }

    /// Appends an in-edge.
    #[inline]
    pub(super) fn push_in(&mut self, rank: Rank, entry: Entry) {
        let input = &mut self.cold[rank as usize].input;
        if input.is_empty() {
            *input = entry;
        } else {
            *input = Entry::of_list(match input.as_list() {
                Some(mut list) => {
                    self.pool.push(&mut list, entry);
                    list
                }
                None => self.pool.adopt(&[*input, entry]),
            });
        }
    }

    /// Removes the in-edge at a position. The last one takes its place, and its twin is told.
    #[inline]
    pub(super) fn remove_in(&mut self, rank: Rank, position: u32) {
        match self.cold[rank as usize].input.as_list() {
            Some(list) => self.remove_in_pooled(rank, list, position),
            None => self.cold[rank as usize].input = Entry::EMPTY,
        }
    }

    fn remove_in_pooled(&mut self, rank: Rank, mut list: u32, position: u32) {
        let entries = self.pool.slice_mut(list);
        let last = entries.len() - 1;
        let moved = entries[last];
        if position as usize != last {
            entries[position as usize] = moved;
            let twin = Entry::new(rank, position, moved.kind());
            self.set_out(moved.rank, moved.position(), twin);
        }
        self.cold[rank as usize].input = if last == 1 {
            // The row can hold the one that is left.
            self.pool.free(list)
        } else {
            self.pool.pop(&mut list);
            Entry::of_list(list)
        };
    }

    /// The out-edges with their positions.
    pub(super) fn out_entries(&self, rank: Rank) -> impl Iterator<Item = (u32, Entry)> {
        let first = Some(self.first_out(rank)).filter(|entry| !entry.is_empty());
        let others = self.pool.slice(self.out_list(rank));
        first.map(|entry| (0, entry)).into_iter().chain((1..).zip(others.iter().copied()))
    }

    /// The number of out-edges of all kinds.
    #[inline]
    pub(super) fn out_len(&self, rank: Rank) -> u32 {
        u32::from(self.has_triggers(rank)) + self.pool.len(self.out_list(rank))
    }

    /// The out-edge at a position.
    pub(super) fn out_entry(&self, rank: Rank, position: u32) -> Entry {
        match position.checked_sub(1) {
            Some(index) => self.pool.slice(self.out_list(rank))[index as usize],
            None => self.first_out(rank),
        }
    }

    /// The last position that is taken.
    pub(super) fn last_out(&self, rank: Rank) -> Option<u32> {
        match self.pool.len(self.out_list(rank)) {
            0 => self.has_triggers(rank).then_some(0),
            len => Some(len),
        }
    }

    /// The out-edge at position 0, or [`Entry::EMPTY`].
    fn first_out(&self, rank: Rank) -> Entry {
        let links = self.records[rank as usize].links.get();
        if links.first() == NONE {
            return Entry::EMPTY;
        }
        let twin = links.list().map_or(links.upper(), |list| self.pool.note(list));
        Entry::new(links.first(), twin, EdgeKind::Trigger)
    }

    /// The pooled out-edges, or [`NONE`].
    #[inline]
    pub(super) fn out_list(&self, rank: Rank) -> u32 {
        self.records[rank as usize].links.get().list().unwrap_or(NONE)
    }

    /// Replaces the out-edge at a position.
    #[inline]
    pub(super) fn set_out(&mut self, rank: Rank, position: u32, entry: Entry) {
        let list = self.out_list(rank);
        match position.checked_sub(1) {
            Some(index) => self.pool.slice_mut(list)[index as usize] = entry,
            None => self.set_first_out(rank, entry),
        }
    }

    #[inline]
    fn set_first_out(&mut self, rank: Rank, entry: Entry) {
        let links = &self.records[rank as usize].links;
        match links.get().list() {
            Some(list) => {
                self.pool.set_note(list, entry.position());
                links.set(links.get().with_first(entry.rank));
            }
            None => links.set(Links::only(entry)),
        }
    }

    /// Adds an out-edge, and gives its position.
    #[inline]
    pub(super) fn push_out(&mut self, rank: Rank, entry: Entry) -> u32 {
        if entry.kind() == EdgeKind::Trigger && !self.has_triggers(rank) {
            self.set_first_out(rank, entry);
            return 0;
        }
        self.push_out_pooled(rank, entry)
    }

    fn push_out_pooled(&mut self, rank: Rank, entry: Entry) -> u32 {
        let row = &self.records[rank as usize].links;
        let links = row.get();
        let mut list = links.list().unwrap_or(NONE);
        let (before, quiet) = (list, entry.kind() != EdgeKind::Trigger);
        let position = self.pool.push(&mut list, entry);
        if before == NONE && links.first() != NONE {
            self.pool.set_note(list, links.upper());
        }
        if list != before || quiet {
            row.set(links.with_list(list, quiet));
        }
        position
    }

    /// Removes the out-edge at a position. Another one takes its place, and its twin is told.
    #[inline]
    pub(super) fn remove_out(&mut self, rank: Rank, position: u32) {
        let row = &self.records[rank as usize].links;
        match row.get().list() {
            Some(list) => self.remove_out_pooled(rank, list, position),
            None => row.set(Links::NONE),
        }
    }

    fn remove_out_pooled(&mut self, rank: Rank, mut list: u32, position: u32) {
        let Some(index) = position.checked_sub(1).or_else(|| self.promote(rank, list)) else {
            let row = &self.records[rank as usize].links;
            return row.set(row.get().with_first(NONE));
        };
        let entries = self.pool.slice_mut(list);
        let last = entries.len() - 1;
        let moved = entries[last];
        if index as usize != last {
            entries[index as usize] = moved;
            let twin = Entry::new(rank, index + 1, moved.kind());
            self.set_in(moved.rank, moved.position(), twin);
        }
        let (before, note) = (list, self.pool.note(list));
        self.pool.pop(&mut list);
        let row = &self.records[rank as usize].links;
        if list == NONE {
            row.set(row.get().without_list(note));
        } else if list != before {
            row.set(row.get().with_list(list, false));
        }
    }

    /// Puts the last trigger of the list in the first place; gives the index at which it was.
    fn promote(&mut self, rank: Rank, list: u32) -> Option<u32> {
        let entries = self.pool.slice(list);
        let index = entries.iter().rposition(|entry| entry.kind() == EdgeKind::Trigger)?;
        let moved = entries[index];
        self.set_first_out(rank, moved);
        self.set_in(moved.rank, moved.position(), Entry::new(rank, 0, EdgeKind::Trigger));
        Some(index as u32)
    }

    /// Packs the pooled lists anew, in blocks that fit, by rank. Gives back the rest.
    pub(super) fn repack(&mut self) {
        let of = |list: Option<u32>| Pool::slots_for(list.map_or(0, |list| self.pool.len(list)));
        let rows = self.cold.iter().zip(self.records.iter());
        let slots = rows.map(|(cold, record)| of(cold.input.as_list()) + of(record.links.get().list()));
        let mut packed = Pool::with_room(slots.sum());
        for rank in 0..self.records.len() {
            let (cold, record) = (&mut self.cold[rank], &self.records[rank]);
            if let Some(list) = cold.input.as_list() {
                cold.input = Entry::of_list(packed.adopt(self.pool.slice(list)));
            }
            let links = record.links.get();
            if let Some(list) = links.list() {
                let new = packed.adopt(self.pool.slice(list));
                packed.set_note(new, self.pool.note(list));
                record.links.set(links.with_list(new, false));
            }
        }
        self.pool = packed;
        self.disturb();
    }
}
