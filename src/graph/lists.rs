//! Where edges are kept: the list of a node's in-edges and that of its out-edges.
//!
//! A single in-edge is held in the node's rows, more are pooled. Of the out-edges, position 0 is for a trigger and held in
//! the rows; position `i` beyond it is entry `i - 1` of a pooled list. If a node has any trigger, it has one at position 0.
//! A list that has got a quiet edge (a passive or order one) is *mixed*: its entry 0 counts its triggers, then come these,
//! then the quiet ones, so that who marks triggers does not meet the others.
//!
//! What it does not know: that an edge has two ends. It tells the twin of an entry that takes the place of another, and
//! else leaves twins to [`edges`](super::edges).
//!
//! Invariants: a pooled list of in-edges has at least two entries; the row of a node tells whether its list is mixed.
//!
//! Costs: O(1).

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
        let others = (1..).zip(self.pool.slice(self.out_list(rank)).iter().copied());
        let skipped = usize::from(self.links(rank).is_mixed());
        first.map(|entry| (0, entry)).into_iter().chain(others.skip(skipped))
    }

    /// The passive and order out-edges.
    pub(super) fn quiet_entries(&self, rank: Rank) -> &[Entry] {
        let links = self.links(rank);
        match links.list() {
            Some(list) if links.is_mixed() => {
                let entries = self.pool.slice(list);
                &entries[1 + entries[0].count() as usize..]
            }
            _ => &[],
        }
    }

    /// The number of out-edges of all kinds.
    #[inline]
    pub(super) fn out_len(&self, rank: Rank) -> u32 {
        let links = self.links(rank);
        let pooled = self.pool.len(self.out_list(rank)) - u32::from(links.is_mixed());
        u32::from(self.has_triggers(rank)) + pooled
    }

    /// The out-edge at a position.
    pub(super) fn out_entry(&self, rank: Rank, position: u32) -> Entry {
        match position.checked_sub(1) {
            Some(index) => self.pool.slice(self.out_list(rank))[index as usize],
            None => self.first_out(rank),
        }
    }

    /// The positions that are taken, in their order.
    pub(super) fn out_positions(
        &self,
        rank: Rank,
    ) -> impl DoubleEndedIterator<Item = u32> + use<P> {
        let first = u32::from(self.links(rank).is_mixed());
        let pooled = first..self.pool.len(self.out_list(rank));
        self.has_triggers(rank).then_some(0).into_iter().chain(pooled.map(|index| index + 1))
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
        let quiet = entry.kind() != EdgeKind::Trigger;
        if quiet && !self.links(rank).is_mixed() {
            self.mix(rank);
        }
        if quiet || !self.links(rank).is_mixed() {
            return self.append_out(rank, entry);
        }
        let list = self.out_list(rank);
        let entries = self.pool.slice_mut(list);
        let place = 1 + entries[0].count() as usize;
        entries[0] = Entry::of_count(place as u32);
        if place == entries.len() {
            return self.append_out(rank, entry);
        }
        // The first of the quiet ones makes room.
        let moved = std::mem::replace(&mut entries[place], entry);
        let position = self.append_out(rank, moved);
        self.tell_in(rank, position, moved);
        place as u32 + 1
    }

    /// Appends to the list of out-edges, and gives the position.
    #[inline]
    fn append_out(&mut self, rank: Rank, entry: Entry) -> u32 {
        let links = self.links(rank);
        let mut list = links.list().unwrap_or(NONE);
        let before = list;
        let position = self.pool.push(&mut list, entry);
        if before == NONE && links.first() != NONE {
            self.pool.set_note(list, links.upper());
        }
        if list != before {
            self.records[rank as usize].links.set(links.with_list(list));
        }
        position
    }

    /// Gives a list, which may be a new one, the entry that counts its triggers.
    #[cold]
    fn mix(&mut self, rank: Rank) {
        let list = self.out_list(rank);
        let count = Entry::of_count(self.pool.len(list));
        match self.pool.slice(list).first().copied() {
            Some(moved) => {
                let position = self.append_out(rank, moved);
                self.tell_in(rank, position, moved);
                self.set_out(rank, 1, count);
            }
            None => drop(self.append_out(rank, count)),
        }
        let row = &self.records[rank as usize].links;
        row.set(row.get().mixed());
    }

    /// Tells the twin of an out-edge that this has moved to a position.
    fn tell_in(&mut self, rank: Rank, position: u32, moved: Entry) {
        self.set_in(moved.rank, moved.position(), Entry::new(rank, position, moved.kind()));
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

    fn remove_out_pooled(&mut self, rank: Rank, list: u32, position: u32) {
        let mixed = self.links(rank).is_mixed();
        let Some(mut hole) = position.checked_sub(1).or_else(|| self.promote(rank)) else {
            return self.set_first_out(rank, Entry::EMPTY);
        };
        if mixed {
            hole = self.close_triggers(rank, list, hole);
        }
        let last = self.pool.len(list) - 1;
        self.move_out(rank, list, (last, hole));
        self.pop_out(rank, list, mixed && last == 1);
    }

    /// Puts the last trigger of a list in the first place; gives the index at which it was, if there is one.
    fn promote(&mut self, rank: Rank) -> Option<u32> {
        let links = self.links(rank);
        let moved = *triggers(&self.pool, links).last()?;
        let index = triggers(&self.pool, links).len() as u32 - u32::from(!links.is_mixed());
        self.set_first_out(rank, moved);
        self.tell_in(rank, 0, moved);
        Some(index)
    }

    /// Where a trigger goes from a mixed list, the last one takes its place. Gives the place that is vacant then.
    fn close_triggers(&mut self, rank: Rank, list: u32, hole: u32) -> u32 {
        let entries = self.pool.slice_mut(list);
        let count = entries[0].count();
        if hole > count {
            return hole;
        }
        entries[0] = Entry::of_count(count - 1);
        self.move_out(rank, list, (count, hole));
        count
    }

    /// Moves an entry of a list to another index, which is vacant.
    #[inline]
    fn move_out(&mut self, rank: Rank, list: u32, (from, to): (u32, u32)) {
        if from != to {
            let entries = self.pool.slice_mut(list);
            let moved = entries[from as usize];
            entries[to as usize] = moved;
            self.tell_in(rank, to + 1, moved);
        }
    }

    /// Takes off the last entry of a list, or gives it up where `all` is to go.
    #[inline]
    fn pop_out(&mut self, rank: Rank, mut list: u32, all: bool) {
        let (before, note) = (list, self.pool.note(list));
        if all {
            self.pool.free(list);
            list = NONE;
        } else {
            self.pool.pop(&mut list);
        }
        let row = &self.records[rank as usize].links;
        if list == NONE {
            row.set(row.get().without_list(note));
        } else if list != before {
            row.set(row.get().with_list(list));
        }
    }

    /// Packs the pooled lists anew, in blocks that fit, by rank. Gives back the rest.
    pub(super) fn repack(&mut self) {
        let of = |list: Option<u32>| Pool::slots_for(list.map_or(0, |list| self.pool.len(list)));
        let rows = self.cold.iter().zip(self.records.iter());
        let slots =
            rows.map(|(cold, record)| of(cold.input.as_list()) + of(record.links.get().list()));
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
                record.links.set(links.with_list(new));
            }
        }
        self.pool = packed;
        self.disturb();
    }
}

/// The triggers beyond the first.
#[inline]
pub(super) fn triggers(pool: &Pool, links: Links) -> &[Entry] {
    if !links.has_list() {
        return &[];
    }
    let entries = pool.slice(links.upper());
    if links.is_mixed() { &entries[1..=entries[0].count() as usize] } else { entries }
}
