//! The nodes that are to be computed: a set of ranks that is drained from the lowest up while more are marked.
//!
//! While it is drained, one word of it is *open*: held apart from the bitset, by the cursor in a register and here, where
//! it is stored at each step, so that this is never behind and the cursor does not wait for a load of what it stored.
//! Whoever marks a rank other than through the cursor closes the word, upon which the cursor reads anew.
//!
//! What it does not know: which ranks are in use, and who depends on whom.
//!
//! Invariants:
//! - I1: a rank is in the set if its bit is in the open word or in the bitset.
//! - I2: while a word is open, no bit is in the bitset up to it.
//!
//! Costs: a step within the open word stores it; a step to the next word is O(levels).

use super::Rank;
use super::frontier::{Frontier, bit_of, lowest_in, word_of};
use super::pool::Entry;
use std::num::NonZeroU64;

/// An index at which no bitset has a word.
pub(super) const NO_WORD: usize = usize::MAX;

/// Lists of at most so many dependents are marked one by one.
const SHORT: usize = 8;

/// A set of ranks, one word of which may be open.
#[derive(Debug)]
pub(super) struct Dirty {
    /// All other words.
    rest: Frontier,
    /// The index of the open word; [`NO_WORD`] without one.
    open: usize,
    /// The open word; zero without one.
    word: u64,
}

impl Default for Dirty {
    fn default() -> Self {
        Self { rest: Frontier::default(), open: NO_WORD, word: 0 }
    }
}

impl Dirty {
    /// Makes room for ranks below `len`.
    #[inline]
    pub(super) fn grow(&mut self, len: usize) {
        self.rest.grow(len);
    }

    /// Adds `rank`, for which there must be room.
    #[inline]
    pub(super) fn mark(&mut self, rank: Rank) {
        self.close();
        self.rest.mark(rank);
    }

    /// Adds the ranks of a list.
    #[inline]
    pub(super) fn mark_all(&mut self, list: &[Entry]) {
        self.close();
        mark_in(&mut self.rest, list, (NO_WORD, 0));
    }

    /// Removes `rank` and tells whether it was there.
    pub(super) fn clear(&mut self, rank: Rank) -> bool {
        let was = self.contains(rank);
        if was {
            self.close();
            self.rest.clear(rank);
        }
        was
    }

    /// Whether `rank` is in the set.
    #[inline]
    pub(super) fn contains(&self, rank: Rank) -> bool {
        let open = word_of(rank) == self.open && self.word & bit_of(rank) != 0;
        open || self.rest.contains(rank)
    }

    /// The lowest rank of the set.
    #[inline]
    pub(super) fn lowest(&self) -> Option<Rank> {
        match NonZeroU64::new(self.word) {
            Some(word) => Some(lowest_in(self.open, word)),
            None => self.rest.lowest(),
        }
    }

    /// Whether the set is empty.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.word == 0 && self.rest.is_empty()
    }

    /// The heap bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.rest.bytes()
    }

    /// Gives back the memory for ranks at or after `len`, none of which may be in the set.
    pub(super) fn shrink_to(&mut self, len: usize) {
        self.close();
        self.rest.shrink_to(len);
    }

    /// Puts the open word back.
    #[inline]
    pub(super) fn close(&mut self) {
        if self.open != NO_WORD {
            self.put_back();
        }
    }

    #[cold]
    #[inline(never)]
    fn put_back(&mut self) {
        match self.word {
            0 => self.rest.settle_word(self.open),
            word => self.rest.merge(self.open, word),
        }
        (self.open, self.word) = (NO_WORD, 0);
    }

    /// Whether the word at `index` is the open one.
    #[inline]
    pub(super) fn is_open(&self, index: usize) -> bool {
        self.open == index
    }

    /// Stores the open word.
    #[inline]
    pub(super) fn store(&mut self, word: u64) {
        self.word = word;
    }

    /// Opens the first word that is not zero, and tells its index and it; [`NO_WORD`] and zero if the set is empty.
    #[cold]
    #[inline(never)]
    pub(super) fn open_first(&mut self) -> (usize, u64) {
        self.close();
        if let Some((index, word)) = self.rest.first_word() {
            // Its summary bit stays: it is made exact when the word is closed.
            self.rest.set_word(index, 0);
            (self.open, self.word) = (index, word);
        }
        (self.open, self.word)
    }

    /// Adds a rank while the cursor holds the open word, and gives that.
    #[inline(always)]
    pub(super) fn mark_beside(&mut self, rank: Rank, (index, word): (usize, u64)) -> u64 {
        if word_of(rank) == index {
            return word | bit_of(rank);
        }
        self.rest.mark(rank);
        word
    }

    /// The same for the ranks of a list.
    #[inline(always)]
    pub(super) fn mark_all_beside(&mut self, list: &[Entry], open: (usize, u64)) -> u64 {
        mark_in(&mut self.rest, list, open)
    }

    /// Asserts the invariants, and that every member satisfies `allowed`.
    #[cfg(test)]
    pub(super) fn check(&self, allowed: impl Fn(Rank) -> bool) {
        let mut all = self.rest.clone();
        if self.open == NO_WORD {
            assert_eq!(self.word, 0);
        } else {
            let lowest = self.rest.lowest();
            assert!(lowest.is_none_or(|lowest| word_of(lowest) > self.open), "I2");
            if self.word != 0 {
                all.merge(self.open, self.word);
            }
        }
        all.check(allowed);
    }
}

/// Marks the ranks of a list: those of the open word in that, which is given back.
#[inline(always)]
fn mark_in(rest: &mut Frontier, list: &[Entry], open: (usize, u64)) -> u64 {
    if list.len() > SHORT {
        return mark_long(rest, list, open);
    }
    let (index, mut word) = open;
    for (at, entry) in list.iter().enumerate() {
        if word_of(entry.rank) == index {
            word |= bit_of(entry.rank);
        } else if !rest.mark_in_use(entry.rank) {
            // Out of line, so that the usual way calls nothing.
            return mark_rest(rest, &list[at..], (index, word));
        }
    }
    word
}

#[cold]
#[inline(never)]
fn mark_rest(rest: &mut Frontier, list: &[Entry], open: (usize, u64)) -> u64 {
    let own = |entry: &&Entry| word_of(entry.rank) == open.0;
    list.iter().filter(|entry| !own(entry)).for_each(|entry| rest.mark(entry.rank));
    list.iter().filter(own).fold(open.1, |word, entry| word | bit_of(entry.rank))
}

/// The same with one access for neighbours that share a word.
#[inline(never)]
fn mark_long(rest: &mut Frontier, list: &[Entry], open: (usize, u64)) -> u64 {
    let (index, word) = open;
    let mut own = 0;
    rest.mark_all(list.iter().map(|entry| entry.rank).filter(|&rank| {
        let is_own = word_of(rank) == index;
        if is_own {
            own |= bit_of(rank);
        }
        !is_own
    }));
    word | own
}
