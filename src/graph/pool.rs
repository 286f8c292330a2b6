//! Pooled lists: short lists of edge entries in one vector, addressed by handle.
//!
//! A list owns one block of `entries`, of a power-of-two size. It moves to a block of twice the
//! size when it is full, and to one of half the size when three quarters of it are unused. Blocks
//! and headers that are given up are chained in free lists and used again first.
//!
//! What it does not know: whose list it is, and what an entry refers to.
//!
//! Invariants:
//! - I1: the blocks of live lists and the free blocks cover `entries` exactly, without overlap.
//! - I2: a live list is not empty and is no longer than its block; an emptied list is freed and
//!   its handle becomes [`NONE`].
//! - I3: a free block names the next free one of its class in the `rank` of its first entry; a
//!   free header names the next one in `start`, and has `len` 0.
//!
//! Costs: `push` and `pop` are amortised O(1). Once every size has been seen often enough they
//! allocate nothing; a free block is never split or joined, so the memory held is at most the sum
//! of the peaks of all sizes. `shrink_to_fit` repacks.

use super::{EdgeKind, NONE, Rank};

/// Bits of a tag that hold the position.
const POSITION_BITS: u32 = 30;
/// The largest position that an entry can hold.
const MAX_POSITION: u32 = (1 << POSITION_BITS) - 1;
/// Block sizes: `1 << 0` to `1 << (CLASSES - 1)` entries.
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

impl Entry {
    /// No edge.
    pub(super) const EMPTY: Self = Self { rank: NONE, tag: 0 };

    /// An entry for an edge of `kind` whose twin is at `position` in a list of `rank`.
    #[inline]
    pub(super) fn new(rank: Rank, position: u32, kind: EdgeKind) -> Self {
        assert!(position <= MAX_POSITION, "too many edges at one node");
        let tag = ((kind as u32) << POSITION_BITS) | position;
        Self { rank, tag }
    }

    /// The position of the twin in its list.
    #[inline]
    pub(super) fn position(self) -> u32 {
        self.tag & MAX_POSITION
    }

    /// The kind of the edge.
    #[inline]
    pub(super) fn kind(self) -> EdgeKind {
        match self.tag >> POSITION_BITS {
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

/// The header of a list.
#[derive(Clone, Copy, Debug)]
struct Head {
    /// The first entry of its block.
    start: u32,
    /// Entries in use.
    len: u32,
    /// The size class of its block.
    class: u32,
}

/// All pooled lists of a graph.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    /// The blocks.
    entries: Vec<Entry>,
    /// The headers, indexed by handle.
    heads: Vec<Head>,
    /// The first free header.
    free_head: u32,
    /// The first free block of each class.
    free: [u32; CLASSES],
}

impl Default for Pool {
    fn default() -> Self {
        Self { entries: Vec::new(), heads: Vec::new(), free_head: NONE, free: [NONE; CLASSES] }
    }
}

impl Pool {
    /// The length of a list; 0 for [`NONE`].
    #[inline]
    pub(super) fn len(&self, list: u32) -> u32 {
        self.heads.get(list as usize).map_or(0, |head| head.len)
    }

    /// The entries of a list; none for [`NONE`].
    #[inline]
    pub(super) fn slice(&self, list: u32) -> &[Entry] {
        match self.heads.get(list as usize) {
            Some(head) => &self.entries[head.start as usize..][..head.len as usize],
            None => &[],
        }
    }

    /// The entries of a list; none for [`NONE`].
    #[inline]
    pub(super) fn slice_mut(&mut self, list: u32) -> &mut [Entry] {
        match self.heads.get(list as usize) {
            Some(head) => &mut self.entries[head.start as usize..][..head.len as usize],
            None => &mut [],
        }
    }

    /// Appends to a list; [`NONE`] becomes the handle of a new one.
    pub(super) fn push(&mut self, list: &mut u32, entry: Entry) {
        if *list == NONE {
            *list = self.new_head();
        }
        let Head { start, len, class } = self.heads[*list as usize];
        let start = if len == 1 << class { self.relocate(*list, class + 1) } else { start };
        self.entries[(start + len) as usize] = entry;
        self.heads[*list as usize].len = len + 1;
    }

    /// Drops the last entry of a list; an emptied list is freed and its handle becomes [`NONE`].
    pub(super) fn pop(&mut self, list: &mut u32) {
        let head = &mut self.heads[*list as usize];
        head.len -= 1;
        let Head { start, len, class } = *head;
        if len == 0 {
            self.free_block(start, class);
            self.free_head(*list);
            *list = NONE;
        } else if class >= 2 && len <= 1 << (class - 2) {
            self.relocate(*list, class - 1);
        }
    }

    /// The heap bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>() + self.heads.capacity() * size_of::<Head>()
    }

    /// Repacks all lists into blocks that fit and gives back the rest. Handles stay valid.
    pub(super) fn shrink_to_fit(&mut self) {
        while self.heads.pop_if(|head| head.len == 0).is_some() {}
        self.heads.shrink_to_fit();
        let mut old = std::mem::take(self);
        let live = old.heads.iter().filter(|head| head.len > 0);
        let room = live.map(|head| head.len.next_power_of_two() as usize).sum();
        self.entries.reserve_exact(room);
        for handle in (0..old.heads.len()).rev() {
            let head = &mut old.heads[handle];
            if head.len == 0 {
                head.start = self.free_head;
                self.free_head = handle as u32;
                continue;
            }
            let from = head.start as usize..(head.start + head.len) as usize;
            head.class = head.len.next_power_of_two().trailing_zeros();
            head.start = self.new_block(head.class);
            self.entries[head.start as usize..][..from.len()].copy_from_slice(&old.entries[from]);
        }
        self.heads = old.heads;
    }

    /// A header for a new list, with a block for one entry.
    fn new_head(&mut self) -> u32 {
        let start = self.new_block(0);
        let head = Head { start, len: 0, class: 0 };
        if self.free_head == NONE {
            self.heads.push(head);
            return index(self.heads.len() - 1);
        }
        let list = self.free_head;
        self.free_head = self.heads[list as usize].start;
        self.heads[list as usize] = head;
        list
    }

    /// Puts a header on the free list.
    fn free_head(&mut self, list: u32) {
        self.heads[list as usize] = Head { start: self.free_head, len: 0, class: 0 };
        self.free_head = list;
    }

    /// A block of `class`: a free one, or a new one at the end.
    fn new_block(&mut self, class: u32) -> u32 {
        let start = self.free[class as usize];
        if start != NONE {
            self.free[class as usize] = self.entries[start as usize].rank;
            return start;
        }
        let start = self.entries.len();
        let end = start + (1 << class);
        index(end);
        self.entries.resize(end, Entry::EMPTY);
        index(start)
    }

    /// Puts a block on the free list of its class.
    fn free_block(&mut self, start: u32, class: u32) {
        self.entries[start as usize].rank = self.free[class as usize];
        self.free[class as usize] = start;
    }

    /// Moves a list to a block of `class`, and returns where that starts.
    #[cold]
    fn relocate(&mut self, list: u32, class: u32) -> u32 {
        let old = self.heads[list as usize];
        let start = self.new_block(class);
        let from = old.start as usize..(old.start + old.len) as usize;
        self.entries.copy_within(from, start as usize);
        self.free_block(old.start, old.class);
        self.heads[list as usize] = Head { start, len: old.len, class };
        start
    }

    /// Asserts the invariants; `owned` are all handles in use.
    #[cfg(test)]
    pub(super) fn check(&self, owned: &[u32]) {
        let mut uses = vec![0u8; self.entries.len()];
        let mut cover = |start: u32, class: u32| {
            for entry in &mut uses[start as usize..][..1 << class] {
                *entry += 1;
            }
        };
        let mut handles = owned.to_vec();
        for &list in owned {
            let head = self.heads[list as usize];
            assert!(head.len > 0 && head.len <= 1 << head.class, "I2: length");
            cover(head.start, head.class);
        }
        for (class, &first) in (0..).zip(&self.free) {
            let mut start = first;
            while start != NONE {
                cover(start, class);
                start = self.entries[start as usize].rank;
            }
        }
        assert!(uses.iter().all(|&count| count == 1), "I1: blocks cover");
        let mut head = self.free_head;
        while head != NONE {
            assert_eq!(self.heads[head as usize].len, 0, "I3: free header");
            handles.push(head);
            head = self.heads[head as usize].start;
        }
        handles.sort_unstable();
        assert!(
            handles.into_iter().eq(0..self.heads.len() as u32),
            "I3: every header is owned once or free"
        );
    }
}

/// A position in a vector as an index that is not [`NONE`].
#[inline]
fn index(position: usize) -> u32 {
    assert!(position < NONE as usize, "too many edges");
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
            assert_eq!(pool.heads[lists[0] as usize].class, 4, "a block of 16");
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
        pool.shrink_to_fit();
        assert_eq!(pool.bytes(), 0);
    }

    #[test]
    fn repacking_keeps_the_lists() {
        let mut pool = Pool::default();
        let mut lists = [NONE; 4];
        for i in 0..400 {
            pool.push(&mut lists[i as usize % 4], entry(i));
        }
        for _ in 0..100 {
            pool.pop(&mut lists[1]);
        }
        pool.shrink_to_fit();
        let live = [lists[0], lists[2], lists[3]];
        pool.check(&live);
        assert_eq!(pool.slice(lists[3])[99], entry(399));
        pool.push(&mut lists[1], entry(0));
        pool.check(&lists);
    }
}
