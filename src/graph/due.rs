//! The nodes that have something to deliver: a set of ranks that is filled and emptied in rising order, mostly.
//!
//! One word of it is *open*: held apart from the bitset, so that the usual mark and the usual step touch nothing else.
//!
//! What it does not know: which ranks are in use.
//!
//! Invariants:
//! - I1: a rank is in the set if its bit is in the open word or in the bitset.
//! - I2: where `lowest` is set, nothing is in the bitset up to the open word.
//!
//! Costs: `mark` and `next` within the open word are a handful of instructions; going on to another word is O(levels).

use std::num::NonZeroU64;

use super::Rank;
use super::dirty::NO_WORD;
use super::frontier::{Frontier, bit_of, lowest_in, word_of};

/// A set of ranks.
#[derive(Debug)]
pub(super) struct Due {
    /// All other words.
    rest: Frontier,
    /// The index of the open word; [`NO_WORD`] without one.
    index: usize,
    /// The open word.
    word: u64,
    /// Whether it is known to be the lowest.
    lowest: bool,
}

impl Default for Due {
    fn default() -> Self {
        Self { rest: Frontier::default(), index: NO_WORD, word: 0, lowest: false }
    }
}

impl Due {
    /// Makes room for ranks below `len`.
    #[inline]
    pub(super) fn grow(&mut self, len: usize) {
        self.rest.grow(len);
    }

    /// Adds `rank`, for which there must be room.
    #[inline]
    pub(super) fn mark(&mut self, rank: Rank) {
        if word_of(rank) != self.index {
            self.open(word_of(rank));
        }
        self.word |= bit_of(rank);
    }

    /// Takes the lowest rank.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Rank> {
        if self.word == 0 || !self.lowest {
            self.open_lowest();
        }
        let word = NonZeroU64::new(self.word)?;
        self.word = word.get() & (word.get() - 1);
        Some(lowest_in(self.index, word))
    }

    /// Removes `rank` and tells whether it was there.
    pub(super) fn clear(&mut self, rank: Rank) -> bool {
        let open = word_of(rank) == self.index && self.word & bit_of(rank) != 0;
        if open {
            self.word &= !bit_of(rank);
        }
        self.rest.clear(rank) || open
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

    #[cold]
    #[inline(never)]
    fn open(&mut self, index: usize) {
        self.close();
        self.index = index;
    }

    #[cold]
    #[inline(never)]
    fn open_lowest(&mut self) {
        if self.rest.is_clear() {
            // There is no other.
            self.lowest = true;
            return;
        }
        self.close();
        if let Some((index, word)) = self.rest.take_first_word() {
            (self.index, self.word, self.lowest) = (index, word, true);
        }
    }

    /// Puts the open word back.
    fn close(&mut self) {
        if self.word != 0 {
            self.rest.merge(self.index, self.word);
        }
        (self.index, self.word, self.lowest) = (NO_WORD, 0, false);
    }

    /// Asserts the invariants, and that every member satisfies `allowed`.
    #[cfg(test)]
    pub(super) fn check(&self, allowed: impl Fn(Rank) -> bool) {
        let mut all = self.rest.clone();
        if self.word != 0 {
            let below = self.rest.lowest().is_some_and(|lowest| word_of(lowest) <= self.index);
            assert!(!self.lowest || !below, "I2: the open word is the lowest");
            all.merge(self.index, self.word);
        }
        all.check(allowed);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn agrees_with_a_sorted_set() {
        let (mut due, mut model) = (Due::default(), BTreeSet::new());
        due.grow(1000);
        let mut random = 7_u32;
        for _ in 0..20_000 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let rank = (random >> 8) % 1000;
            match random >> 29 {
                0..3 => {
                    due.mark(rank);
                    model.insert(rank);
                }
                3..6 => assert_eq!(due.next(), model.pop_first()),
                _ => assert_eq!(due.clear(rank), model.remove(&rank)),
            }
            due.check(|rank| model.contains(&rank));
        }
    }

    #[test]
    fn what_is_marked_below_the_open_word_comes_next() {
        let mut due = Due::default();
        due.grow(300);
        [70, 71, 200].into_iter().for_each(|rank| due.mark(rank));
        assert_eq!(due.next(), Some(70));
        due.mark(3);
        due.shrink_to(300);
        assert_eq!((due.next(), due.next()), (Some(3), Some(71)));
        assert_eq!((due.next(), due.next()), (Some(200), None));
        assert_eq!(due.bytes(), due.rest.bytes());
    }
}
