//! Pooled lists: short lists of edge entries in one vector, addressed by handle.
//!
//! A list owns one block of `slots`, of a power-of-two size, and its handle is the index of that
//! block: the first slot is the header, the entries follow, so that whoever walks a short list
//! reads one cache line or two next to each other. A list moves to a block of twice the size when
//! it is full, and to one of half the size when three quarters of it are unused; it then has a new
//! handle. Blocks that are given up are chained in free lists and used again first.
//!
//! What it does not know: whose list it is, and what an entry refers to.
//!
//! Invariants:
//! - I1: the blocks of live lists and the free blocks cover `slots` exactly, without overlap.
//! - I2: the header of a live list tells its length, the size class of its block, and a number of its owner's. It is not
//!   empty and fits into its block beside the header; an emptied list is freed and its handle
//!   becomes [`NONE`].
//! - I3: the header of a free block tells its size class, and in place of the length the next free
//!   block of that class.
//!
//! Costs: `push` and `pop` are amortised O(1). Once every size has been seen often enough they
//! allocate nothing; a free block is never split or joined, so the memory held is at most the sum
//! of the peaks of all sizes. A list takes 8 bytes for each slot of its block: 2 slots for one
//! entry, 4 for up to 3, 8 for up to 7. To give memory back, the owner packs its lists anew, with
//! [`Pool::with_room`] and [`Pool::adopt`].

use super::{EdgeKind, MAX_LIST, NONE, Rank};

/// Where the kind of an entry begins in its tag.
const KIND_SHIFT: u32 = 30;
/// Where the note of a list begins in the tag of its header, above the size class.
const NOTE_SHIFT: u32 = 5;
/// The largest position that an entry or a note can hold.
const MAX_POSITION: u32 = u32::MAX >> NOTE_SHIFT;
/// Size classes of blocks: `2 << 0` to `2 << (CLASSES - 1)` slots.
const CLASSES: usize = 31;

/// One end of an edge: the rank of the node at the other end, where that node keeps the twin of
/// this entry, and the kind of the edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    /// The node at the other end; [`NONE`] if there is no edge.
    pub(super) rank: Rank,
    /// The kind in the two highest bits, the twin's position below.
    tag: u32,
}

/// The kind bits of an entry that stands for something else than an edge.
const LIST: u32 = 3 << KIND_SHIFT;

impl Entry {
    /// No edge.
    pub(super) const EMPTY: Self = Self { rank: NONE, tag: 0 };

    /// An entry for an edge of `kind` whose twin is at `position` in a list of `rank`.
    #[inline]
    pub(super) fn new(rank: Rank, position: u32, kind: EdgeKind) -> Self {
        assert!(position <= MAX_POSITION, "too many edges at one node");
        let tag = ((kind as u32) << KIND_SHIFT) | position;
        Self { rank, tag }
    }

    /// Stands for a list in the place where a single entry could be.
    #[inline]
    pub(super) fn of_list(list: u32) -> Self {
        Self { rank: list, tag: LIST }
    }

    /// The list that it stands for, if it does.
    #[inline]
    pub(super) fn as_list(self) -> Option<u32> {
        (self.tag >= LIST).then_some(self.rank)
    }

    /// Stands for a number of entries in a list.
    #[inline]
    pub(super) fn of_count(count: u32) -> Self {
        Self { rank: count, tag: LIST }
    }

    /// That number.
    #[inline]
    pub(super) fn count(self) -> u32 {
        debug_assert!(self.tag >= LIST);
        self.rank
    }

    /// The position of the twin in its list.
    #[inline]
    pub(super) fn position(self) -> u32 {
        self.tag & MAX_POSITION
    }

    /// The kind of the edge.
    #[inline]
    pub(super) fn kind(self) -> EdgeKind {
        match self.tag >> KIND_SHIFT {
            0 => EdgeKind::Trigger,
            1 => EdgeKind::Passive,
            _ => EdgeKind::Order,
        }
    }

    /// Whether this is no edge.
    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.rank == NONE
    }
}

/// A slot of a block: the header if it is the first, else an entry or room for one.
type Slot = Entry;

/// The fields of a header, which lie in those of an entry.
impl Slot {
    /// The header of a list.
    #[inline]
    fn header(len: u32, class: u32, note: u32) -> Self {
        Self { rank: len, tag: note << NOTE_SHIFT | class }
    }

    /// The length of the list.
    #[inline]
    fn list_len(self) -> u32 {
        self.rank
    }

    /// The size class of the block.
    #[inline]
    fn class(self) -> u32 {
        self.tag % (1 << NOTE_SHIFT)
    }

    /// What the owner keeps with the list.
    #[inline]
    fn note(self) -> u32 {
        self.tag >> NOTE_SHIFT
    }

    /// The header of a free block.
    #[inline]
    fn free_header(next: u32, class: u32) -> Self {
        Self { rank: next, tag: class }
    }

    /// The next free block.
    #[inline]
    fn next_free(self) -> u32 {
        self.rank
    }
}

/// All pooled lists of a graph.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    /// The blocks.
    slots: Vec<Slot>,
    /// The first free block of each class.
    free: [u32; CLASSES],
}

impl Default for Pool {
    fn default() -> Self {
        Self::with_room(0)
    }
}

impl Pool {
    /// No lists, but room for so many slots; see [`Pool::slots_for`].
    pub(super) fn with_room(slots: usize) -> Self {
        Self { slots: Vec::with_capacity(slots), free: [NONE; CLASSES] }
    }

    /// The slots of the smallest block for a list of `len` entries.
    pub(super) fn slots_for(len: u32) -> usize {
        if len == 0 { 0 } else { size(class_for(len)) as usize }
    }

    /// The length of a list; 0 for [`NONE`].
    #[inline]
    pub(super) fn len(&self, list: u32) -> u32 {
        self.slots.get(list as usize).map_or(0, |head| head.list_len())
    }

    /// The entries of a list; none for [`NONE`].
    #[inline]
    pub(super) fn slice(&self, list: u32) -> &[Entry] {
        let from = list as usize + 1;
        match self.slots.get(list as usize) {
            Some(head) => &self.slots[from..from + head.list_len() as usize],
            None => &[],
        }
    }

    /// The entries of a list; none for [`NONE`].
    #[inline]
    pub(super) fn slice_mut(&mut self, list: u32) -> &mut [Entry] {
        let from = list as usize + 1;
        match self.slots.get(list as usize).copied() {
            Some(head) => &mut self.slots[from..from + head.list_len() as usize],
            None => &mut [],
        }
    }

    /// A number that the owner keeps with a list, which is not [`NONE`]; zero in a new one.
    #[inline]
    pub(super) fn note(&self, list: u32) -> u32 {
        self.head(list).note()
    }

    /// Sets that number, which must be no larger than a position.
    #[inline]
    pub(super) fn set_note(&mut self, list: u32, note: u32) {
        debug_assert!(note <= MAX_POSITION);
        let head = self.head(list);
        self.slots[list as usize] = Slot::header(head.list_len(), head.class(), note);
    }

    /// Appends to a list; [`NONE`] becomes the handle of a new one. The handle changes if the list
    /// moves. Gives the length.
    pub(super) fn push(&mut self, list: &mut u32, entry: Entry) -> u32 {
        let (len, mut class, mut note) = (self.len(*list), 0, 0);
        if *list == NONE {
            *list = self.new_block(class);
        } else {
            (class, note) = (self.head(*list).class(), self.head(*list).note());
            if len + 1 == size(class) {
                class += 1;
                *list = self.relocate(*list, len, class);
            }
        }
        let head = *list as usize;
        self.slots[head] = Slot::header(len + 1, class, note);
        self.slots[head + 1 + len as usize] = entry;
        len + 1
    }

    /// Drops the last entry of a list; an emptied list is freed and its handle becomes [`NONE`].
    /// The handle changes if the list moves.
    pub(super) fn pop(&mut self, list: &mut u32) {
        let head = self.head(*list);
        let (len, mut class) = (head.list_len() - 1, head.class());
        if len == 0 {
            self.free_block(*list, class);
            *list = NONE;
            return;
        }
        if len < size(class) / 4 {
            class -= 1;
            *list = self.relocate(*list, len, class);
        }
        self.slots[*list as usize] = Slot::header(len, class, head.note());
    }

    /// Frees a list, and gives its first entry.
    pub(super) fn free(&mut self, list: u32) -> Entry {
        let first = self.slots[list as usize + 1];
        self.free_block(list, self.head(list).class());
        first
    }

    /// Adds a list of `entries`, in the smallest block that fits, and returns its handle; [`NONE`]
    /// if there are none.
    pub(super) fn adopt(&mut self, entries: &[Entry]) -> u32 {
        if entries.is_empty() {
            return NONE;
        }
        let len = entries.len() as u32;
        let list = self.new_block(class_for(len));
        self.slots[list as usize] = Slot::header(len, class_for(len), 0);
        self.slice_mut(list).copy_from_slice(entries);
        list
    }

    /// The heap bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
    }

    /// The header of a list, which is not [`NONE`].
    #[inline]
    fn head(&self, list: u32) -> Slot {
        self.slots[list as usize]
    }

    /// A block of `class`, whose header is yet to be set: a free one, or a new one at the end.
    fn new_block(&mut self, class: u32) -> u32 {
        let start = self.free[class as usize];
        if start != NONE {
            self.free[class as usize] = self.head(start).next_free();
            return start;
        }
        let start = self.slots.len();
        let end = start + size(class) as usize;
        index(end);
        self.slots.resize(end, Slot::EMPTY);
        index(start)
    }

    /// Puts a block on the free list of its class.
    fn free_block(&mut self, start: u32, class: u32) {
        self.slots[start as usize] = Slot::free_header(self.free[class as usize], class);
        self.free[class as usize] = start;
    }

    /// Moves the first `len` entries of a list to a block of `class`, whose header is yet to be
    /// set, and returns the new handle.
    #[cold]
    fn relocate(&mut self, list: u32, len: u32, class: u32) -> u32 {
        let start = self.new_block(class);
        let from = list as usize + 1;
        self.slots.copy_within(from..from + len as usize, start as usize + 1);
        self.free_block(list, self.head(list).class());
        start
    }

    /// Asserts the invariants; `owned` are all handles in use.
    #[cfg(test)]
    pub(super) fn check(&self, owned: &[u32]) {
        let mut uses = vec![0u8; self.slots.len()];
        let mut cover = |start: u32| {
            for slot in &mut uses[start as usize..][..size(self.head(start).class()) as usize] {
                *slot += 1;
            }
        };
        for &list in owned {
            let head = self.head(list);
            assert!(head.list_len() > 0 && head.list_len() < size(head.class()), "I2: length");
            cover(list);
        }
        for (class, &first) in (0..).zip(&self.free) {
            let mut start = first;
            while start != NONE {
                assert_eq!(self.head(start).class(), class, "I3: class");
                cover(start);
                start = self.head(start).next_free();
            }
        }
        assert!(uses.iter().all(|&count| count == 1), "I1: blocks cover");
    }
}

/// The slots of a block of `class`, header included.
#[inline]
fn size(class: u32) -> u32 {
    2 << class
}

/// The class of the smallest block for a list of `len` entries, which is not 0.
#[inline]
fn class_for(len: u32) -> u32 {
    len.ilog2()
}

/// A position in a vector as the handle of a list.
#[inline]
fn index(position: usize) -> u32 {
    assert!(position < MAX_LIST as usize, "too many edges");
    position as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry that can be told from others.
    fn entry(rank: Rank) -> Entry {
        Entry::new(rank, rank / 2, EdgeKind::Passive)
    }

    #[test]
    fn entries_pack_kind_and_position() {
        for kind in [EdgeKind::Trigger, EdgeKind::Passive, EdgeKind::Order] {
            let entry = Entry::new(9, MAX_POSITION, kind);
            assert_eq!((entry.kind(), entry.position()), (kind, MAX_POSITION));
        }
        assert_eq!(size_of::<Entry>(), 8);
        assert!(Entry::EMPTY.is_empty());
    }

    /// Packs all of `lists` into a new pool, and rewrites the handles.
    fn repack(pool: &mut Pool, lists: &mut [u32]) {
        let room = lists.iter().map(|&list| Pool::slots_for(pool.len(list))).sum();
        let mut packed = Pool::with_room(room);
        for list in lists {
            *list = packed.adopt(pool.slice(*list));
        }
        *pool = packed;
    }

    #[test]
    fn blocks_are_the_smallest_that_fit() {
        let sizes = [(0, 0), (1, 2), (2, 4), (3, 4), (4, 8), (7, 8), (8, 16), (15, 16)];
        for (len, slots) in sizes {
            assert_eq!(Pool::slots_for(len), slots, "{len} entries");
            let (mut pool, mut list) = (Pool::default(), NONE);
            (0..len).for_each(|i| assert_eq!(pool.push(&mut list, entry(i)), i + 1));
            let mut packed = Pool::default();
            let adopted = packed.adopt(pool.slice(list));
            assert_eq!(adopted == NONE, len == 0);
            assert_eq!((packed.slice(adopted), packed.slots.len()), (pool.slice(list), slots));
        }
        let mut pool = Pool::default();
        let mut list = NONE;
        (0..7).for_each(|i| assert_eq!(pool.push(&mut list, entry(i)), i + 1));
        assert_eq!(pool.slots.len(), 2 + 4 + 8);
        let before = list;
        pool.set_note(list, MAX_POSITION);
        pool.push(&mut list, entry(7));
        assert_ne!(list, before, "a list that moves has a new handle");
        assert_eq!(pool.note(list), MAX_POSITION, "and keeps its note");
        assert!(pool.slice(list).iter().copied().eq((0..8).map(entry)));
        pool.check(&[list]);
    }

    #[test]
    fn lists_grow_shrink_and_leave_reusable_blocks() {
        let mut pool = Pool::default();
        let mut held = 0;
        for round in 0..5 {
            let mut lists = [NONE; 3];
            for i in 0..300 {
                pool.push(&mut lists[i as usize % 3], entry(i));
            }
            pool.check(&lists);
            assert_eq!(pool.slice(lists[1])[7], entry(22));
            for _ in 0..95 {
                pool.pop(&mut lists[0]);
            }
            assert_eq!(pool.len(lists[0]), 5);
            assert_eq!(size(pool.head(lists[0]).class()), 16, "a block of 16");
            assert_eq!(pool.slice(lists[0])[4], entry(12));
            pool.check(&lists);
            for list in &mut lists {
                while *list != NONE {
                    pool.pop(list);
                }
            }
            pool.check(&[]);
            assert!(round == 0 || held == pool.bytes());
            held = pool.bytes();
        }
        repack(&mut pool, &mut []);
        assert_eq!(pool.bytes(), 0);
    }

    #[test]
    fn repacking_keeps_the_lists() {
        let mut pool = Pool::default();
        let mut lists = [NONE; 4];
        for i in 0..400 {
            pool.push(&mut lists[i as usize % 4], entry(i));
        }
        (0..100).for_each(|_| pool.pop(&mut lists[1]));
        (0..60).for_each(|_| pool.pop(&mut lists[2]));
        let before = pool.bytes();
        repack(&mut pool, &mut lists);
        assert_eq!(lists[1], NONE);
        pool.check(&[lists[0], lists[2], lists[3]]);
        for (first, len) in [(0, 100), (2, 40), (3, 100)] {
            let entries = (first..).step_by(4).map(entry).take(len);
            assert!(pool.slice(lists[first as usize]).iter().copied().eq(entries));
        }
        let slots = 128 + 64 + 128;
        assert_eq!(pool.bytes(), slots * size_of::<Slot>());
        assert!(pool.bytes() < before, "memory is given back");
        pool.push(&mut lists[1], entry(0));
        pool.check(&lists);
    }
}
