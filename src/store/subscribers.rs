//! The subscriber lists of all cells: one slab of entries, linked in subscription order. What a fan-out reads of an entry is in
//! one column, all else in another.
//!
//! It knows no values and calls nothing: it hands out which callback comes next.
//!
//! Invariants: **L1** the entries of a cell form a ring, its header holds the first; the first's `prev` is the last.
//! **L2** a vacant entry has a version that no live key has; it is on the free list unless its versions are used up. **L3** the cursor is the entry that
//! the fan-out under way calls next; taking that entry out of the ring moves the cursor on.
//!
//! Costs: append and remove are O(1); one subscriber more is one entry.

use std::cell::Cell;

use super::callback::{CallbackBox, CallbackRef};
use crate::graph::{CHUNK, CellKey, Column, NONE};

/// Which entry a guard speaks of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SubKey {
    index: u32,
    version: u32,
}

impl SubKey {
    /// A number for the subscription, unique in the store while it lives.
    pub(crate) fn bits(self) -> u64 {
        u64::from(self.version) << 32 | u64::from(self.index)
    }
}

/// What a fan-out reads of an entry.
struct Call {
    callback: Option<CallbackBox>,
    next: u32,
    /// The store's clock when it subscribed: what is not later it has seen.
    since: u32,
}

impl Default for Call {
    fn default() -> Self {
        Self { callback: None, next: NONE, since: 0 }
    }
}

/// The rest of an entry.
struct Entry {
    source: CellKey,
    prev: u32,
    version: u32,
    place: Place,
}

impl Default for Entry {
    fn default() -> Self {
        Self { source: CellKey::default(), prev: NONE, version: 0, place: Place::VACANT }
    }
}

/// The interned place of subscription, and whether the entry keeps its cell alive.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place(u32);

impl Place {
    /// That of a vacant entry.
    const VACANT: Self = Self(NONE);
    const UNCOUNTED: u32 = 1 << 31;

    fn counted(place: u32) -> Self {
        debug_assert!(place < Self::UNCOUNTED);
        Self(place)
    }

    fn is_counted(self) -> bool {
        self.0 < Self::UNCOUNTED
    }

    /// The number of the place; [`NONE`] if the entry is vacant.
    fn number(self) -> u32 {
        if self == Self::VACANT { NONE } else { self.0 & !Self::UNCOUNTED }
    }
}

/// An entry stays as small as it is.
const _: () = assert!(size_of::<Call>() + size_of::<Entry>() == 44);

#[derive(Default)]
pub(crate) struct Subscribers {
    calls: Column<Call>,
    entries: Column<Entry>,
    free: Vec<u32>,
    /// The version that a new entry starts from.
    first_version: u32,
    live: usize,
}

/// Which entry the fan-out under way calls next; `NONE` after the last, and while there is no fan-out. It is apart from the
/// lists, so that after a call one look at it tells whether another one follows.
pub(crate) struct Cursor(Cell<u32>);

impl Cursor {
    pub(crate) fn new() -> Self {
        Self(Cell::new(NONE))
    }

    #[inline]
    pub(crate) fn start(&self, head: u32) {
        self.0.set(head);
    }

    #[inline]
    pub(crate) fn get(&self) -> Option<u32> {
        let index = self.0.get();
        (index != NONE).then_some(index)
    }
}

impl Subscribers {
    fn at(&self, index: u32) -> &Entry {
        &self.entries[index as usize]
    }

    fn at_mut(&mut self, index: u32) -> &mut Entry {
        &mut self.entries[index as usize]
    }

    fn next(&self, index: u32) -> u32 {
        self.calls[index as usize].next
    }

    pub(crate) fn len(&self) -> usize {
        self.live
    }

    /// Appends a callback to the ring that starts at `head`; gives its key and the head (new if the ring was empty).
    pub(crate) fn append(
        &mut self,
        head: u32,
        source: CellKey,
        since: u32,
        place: u32,
        callback: CallbackBox,
    ) -> (SubKey, u32) {
        let (index, version) = self.vacant();
        let (prev, next, head) = match head {
            NONE => (index, index, index),
            head => (self.at(head).prev, head, head),
        };
        let entry = Entry { source, prev, version, place: Place::counted(place) };
        self.put(index, entry, Call { callback: Some(callback), next, since });
        if prev != index {
            self.join(prev, index);
            self.join(index, next);
        }
        self.live += 1;
        (SubKey { index, version }, head)
    }

    /// Makes two entries neighbours.
    fn join(&mut self, prev: u32, next: u32) {
        self.calls[prev as usize].next = next;
        self.at_mut(next).prev = prev;
    }

    /// Where the next entry goes, and its version.
    fn vacant(&mut self) -> (u32, u32) {
        if let Some(index) = self.free.pop() {
            return (index, self.at(index).version + 1);
        }
        let index = u32::try_from(self.entries.len()).expect("fewer than 2^32 subscriptions");
        (index, self.first_version + 1)
    }

    /// Puts an entry where it goes.
    fn put(&mut self, index: u32, entry: Entry, call: Call) {
        if index as usize == self.entries.len() {
            self.entries.push(entry);
            self.calls.push(call);
        } else {
            *self.at_mut(index) = entry;
            self.calls[index as usize] = call;
        }
    }

    /// The cell of a live entry.
    pub(crate) fn source(&self, key: SubKey) -> Option<CellKey> {
        let entry = self.entries.get(key.index as usize)?;
        (entry.version == key.version && entry.place != Place::VACANT).then_some(entry.source)
    }

    /// Whether an entry keeps its cell alive.
    pub(crate) fn is_counted(&self, key: SubKey) -> bool {
        self.at(key.index).place.is_counted()
    }

    /// Makes an entry keep no reason for its cell to live; tells whether it did before.
    pub(crate) fn stop_counting(&mut self, key: SubKey) -> bool {
        let place = &mut self.at_mut(key.index).place;
        let counted = place.is_counted();
        place.0 |= Place::UNCOUNTED;
        counted
    }

    /// Takes an entry out of its ring. Gives the ring's new head and the callback.
    pub(crate) fn remove(
        &mut self,
        cursor: &Cursor,
        head: u32,
        key: SubKey,
    ) -> (u32, Option<CallbackBox>) {
        let (prev, next) = (self.at(key.index).prev, self.next(key.index));
        if cursor.0.get() == key.index {
            cursor.0.set(if next == head { NONE } else { next });
        }
        let alone = next == key.index;
        let head = if alone {
            NONE
        } else {
            self.join(prev, next);
            if head == key.index { next } else { head }
        };
        (head, self.vacate(key.index))
    }

    fn vacate(&mut self, index: u32) -> Option<CallbackBox> {
        self.live -= 1;
        let entry = self.at_mut(index);
        entry.place = Place::VACANT;
        let used_up = entry.version >= u32::MAX - 1;
        // A version that is used up retires the entry: no key of it can come again.
        if !used_up {
            self.free.push(index);
        }
        self.calls[index as usize].callback.take()
    }

    /// Empties a ring, handing each callback to `each`; tells how many entries kept the cell alive.
    pub(crate) fn remove_all(
        &mut self,
        cursor: &Cursor,
        head: u32,
        mut each: impl FnMut(CallbackBox),
    ) -> u32 {
        let mut counted = 0;
        let mut head = head;
        while head != NONE {
            let key = SubKey { index: head, version: self.at(head).version };
            counted += u32::from(self.is_counted(key));
            let (rest, callback) = self.remove(cursor, head, key);
            head = rest;
            callback.into_iter().for_each(&mut each);
        }
        counted
    }

    /// The callback of the ring at `head` if it has one entry, which has not seen what happened at `stamp`.
    #[inline]
    pub(crate) fn only(&self, head: u32, stamp: u32) -> Option<CallbackRef> {
        let entry = &self.calls.chunk_of(head as usize)?[head as usize % CHUNK];
        let due = entry.next == head && entry.since < stamp;
        if due { entry.callback.as_ref().map(CallbackBox::handle) } else { None }
    }

    /// Moves the cursor on from an entry of the ring at `head`, and gives the callback there if it has not seen what
    /// happened at `stamp`.
    #[inline]
    pub(crate) fn step(
        &self,
        cursor: &Cursor,
        head: u32,
        index: u32,
        stamp: u32,
    ) -> Option<CallbackRef> {
        let entry = &self.calls[index as usize];
        cursor.0.set(if entry.next == head { NONE } else { entry.next });
        let due = entry.since < stamp;
        entry.callback.as_ref().filter(|_| due).map(CallbackBox::handle)
    }

    /// The key of the entry at an index, if it is live and has subscribed before `stamp`.
    #[cfg(feature = "trace")]
    pub(crate) fn key_before(&self, index: u32, stamp: u32) -> Option<SubKey> {
        let call = &self.calls[index as usize];
        let called = call.callback.is_some() && call.since < stamp;
        called.then_some(SubKey { index, version: self.at(index).version })
    }

    /// The cell and the place of the entry at an index.
    pub(crate) fn whose(&self, index: u32) -> (CellKey, u32) {
        let entry = self.at(index);
        (entry.source, entry.place.number())
    }

    /// How many subscribers the ring at `head` has: O(n).
    pub(crate) fn count(&self, head: u32) -> usize {
        self.ring(head).count()
    }

    fn ring(&self, head: u32) -> impl Iterator<Item = u32> + '_ {
        let first = (head != NONE).then_some(head);
        std::iter::successors(first, move |&at| {
            let next = self.next(at);
            (next != head).then_some(next)
        })
    }

    /// All live entries: cell and place of subscription.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (SubKey, CellKey, u32)> + '_ {
        self.entries.iter().enumerate().filter_map(|(index, entry)| {
            let key = SubKey { index: u32::try_from(index).ok()?, version: entry.version };
            let place = entry.place.number();
            (place != NONE).then_some((key, entry.source, place))
        })
    }

    /// Forgets that every entry has seen anything (when the clock starts anew).
    pub(crate) fn reset_clock(&mut self) {
        for index in 0..self.calls.len() {
            self.calls[index].since = 0;
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.calls.bytes() + self.entries.bytes() + self.free.capacity() * size_of::<u32>()
    }

    pub(crate) fn entry_bytes() -> usize {
        size_of::<Call>() + size_of::<Entry>()
    }

    /// Gives back the room after the last live entry.
    pub(crate) fn shrink_to_fit(&mut self) {
        while let Some(last) = self.entries.pop() {
            if last.place != Place::VACANT {
                self.entries.push(last);
                break;
            }
            self.calls.pop();
            // Keys of the entry must not fit a later one at the same index.
            self.first_version = self.first_version.max(last.version);
        }
        let len = self.entries.len();
        self.free.retain(|&index| (index as usize) < len);
        self.free.shrink_to_fit();
        self.entries.shrink_to_fit();
        self.calls.shrink_to_fit();
    }
}
