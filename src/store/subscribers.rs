//! The subscriber lists of all cells: one slab of entries, linked in subscription order.
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
use crate::graph::{CellKey, Column, NONE};

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

struct Entry {
    callback: Option<CallbackBox>,
    source: CellKey,
    prev: u32,
    next: u32,
    version: u32,
    /// Whether it keeps its cell alive.
    counted: bool,
    /// The store's clock when it subscribed: what is not later it has seen.
    since: u32,
    /// Interned place of subscription; `NONE` in a vacant entry.
    place: u32,
}

impl Default for Entry {
    fn default() -> Self {
        Self {
            callback: None,
            source: CellKey::default(),
            prev: NONE,
            next: NONE,
            version: 0,
            counted: false,
            since: 0,
            place: NONE,
        }
    }
}

#[derive(Default)]
pub(crate) struct Subscribers {
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
        let index = self.vacant();
        let (prev, next, head) = match head {
            NONE => (index, index, index),
            head => (self.at(head).prev, head, head),
        };
        let entry = self.at_mut(index);
        *entry = Entry {
            callback: Some(callback),
            source,
            prev,
            next,
            version: entry.version + 1,
            since,
            place,
            counted: true,
        };
        let key = SubKey { index, version: entry.version };
        self.at_mut(prev).next = index;
        self.at_mut(next).prev = index;
        self.live += 1;
        (key, head)
    }

    fn vacant(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            let index = u32::try_from(self.entries.len()).expect("fewer than 2^32 subscriptions");
            self.entries.push(Entry { version: self.first_version, ..Entry::default() });
            index
        })
    }

    /// The cell of a live entry.
    pub(crate) fn source(&self, key: SubKey) -> Option<CellKey> {
        let entry = self.entries.get(key.index as usize)?;
        (entry.version == key.version && entry.place != NONE).then_some(entry.source)
    }

    /// Whether an entry keeps its cell alive.
    pub(crate) fn is_counted(&self, key: SubKey) -> bool {
        self.at(key.index).counted
    }

    /// Makes an entry keep no reason for its cell to live; tells whether it did before.
    pub(crate) fn stop_counting(&mut self, key: SubKey) -> bool {
        std::mem::replace(&mut self.at_mut(key.index).counted, false)
    }

    /// Takes an entry out of its ring. Gives the ring's new head and the callback.
    pub(crate) fn remove(
        &mut self,
        cursor: &Cursor,
        head: u32,
        key: SubKey,
    ) -> (u32, Option<CallbackBox>) {
        let &Entry { prev, next, .. } = self.at(key.index);
        if cursor.0.get() == key.index {
            cursor.0.set(if next == head { NONE } else { next });
        }
        self.at_mut(prev).next = next;
        self.at_mut(next).prev = prev;
        let alone = next == key.index;
        let head = if alone {
            NONE
        } else if head == key.index {
            next
        } else {
            head
        };
        (head, self.vacate(key.index))
    }

    fn vacate(&mut self, index: u32) -> Option<CallbackBox> {
        self.live -= 1;
        let entry = self.at_mut(index);
        entry.place = NONE;
        let (used_up, callback) = (entry.version >= u32::MAX - 1, entry.callback.take());
        // A version that is used up retires the entry: no key of it can come again.
        if !used_up {
            self.free.push(index);
        }
        callback
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
        let entry = &self.entries[index as usize];
        cursor.0.set(if entry.next == head { NONE } else { entry.next });
        let due = entry.since < stamp;
        entry.callback.as_ref().filter(|_| due).map(CallbackBox::handle)
    }

    /// The key of the entry at an index, if it is live and has subscribed before `stamp`.
    #[cfg(feature = "trace")]
    pub(crate) fn key_before(&self, index: u32, stamp: u32) -> Option<SubKey> {
        let entry = self.at(index);
        let called = entry.callback.is_some() && entry.since < stamp;
        called.then_some(SubKey { index, version: entry.version })
    }

    /// The cell and the place of the entry at an index.
    pub(crate) fn whose(&self, index: u32) -> (CellKey, u32) {
        let entry = self.at(index);
        (entry.source, entry.place)
    }

    /// How many subscribers the ring at `head` has: O(n).
    pub(crate) fn count(&self, head: u32) -> usize {
        self.ring(head).count()
    }

    fn ring(&self, head: u32) -> impl Iterator<Item = u32> + '_ {
        let first = (head != NONE).then_some(head);
        std::iter::successors(first, move |&at| {
            let next = self.at(at).next;
            (next != head).then_some(next)
        })
    }

    /// All live entries: cell and place of subscription.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (SubKey, CellKey, u32)> + '_ {
        self.entries.iter().enumerate().filter_map(|(index, entry)| {
            let key = SubKey { index: u32::try_from(index).ok()?, version: entry.version };
            (entry.place != NONE).then_some((key, entry.source, entry.place))
        })
    }

    /// Forgets that every entry has seen anything (when the clock starts anew).
    pub(crate) fn reset_clock(&mut self) {
        for index in 0..self.entries.len() {
            self.entries[index].since = 0;
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.entries.bytes() + self.free.capacity() * size_of::<u32>()
    }

    pub(crate) fn entry_bytes() -> usize {
        size_of::<Entry>()
    }

    /// Gives back the room after the last live entry.
    pub(crate) fn shrink_to_fit(&mut self) {
        while let Some(last) = self.entries.pop() {
            if last.place != NONE {
                self.entries.push(last);
                break;
            }
            // Keys of the entry must not fit a later one at the same index.
            self.first_version = self.first_version.max(last.version);
        }
        let len = self.entries.len();
        self.free.retain(|&index| (index as usize) < len);
        self.free.shrink_to_fit();
        self.entries.shrink_to_fit();
    }
}
