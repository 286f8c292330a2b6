//! A set of ranks from which the lowest is found fast: a bitset with summaries above it.
//!
//! Level 0 has one bit for each rank. A bit of level `n + 1` stands for one word of level `n`; the
//! highest level is a single word, so 4 million ranks take four levels.
//!
//! What it does not know: which ranks are in use, and what being in the set means.
//!
//! Invariants:
//! - I1: a non-zero word has its bit set in the level above, up to the top.
//! - I2: above level 1 the converse holds as well. At level 1 it may fail: a bit may stand for a
//!   word that a cursor emptied with [`Frontier::set_word`] and did not [`Frontier::settle_word`].
//!   Readers look at the word and never trust such a bit.
//! - I3: if there is any word, the highest level has exactly one, and every level is as long as
//!   the level below needs.
//!
//! Costs: `mark` is an OR, and touches a summary only if the word was zero; `clear` touches one
//! only if the word becomes zero; finding the lowest is O(levels).

use std::num::NonZeroU64;

use super::Rank;

/// Bits to a word.
const BITS: usize = u64::BITS as usize;
/// `log2(BITS)`.
const SHIFT: u32 = BITS.trailing_zeros();

/// The index of the word that holds the bit of `rank`.
#[inline]
pub(super) const fn word_of(rank: Rank) -> usize {
    (rank >> SHIFT) as usize
}

/// The bit of `rank` in its word.
#[inline]
pub(super) const fn bit_of(rank: Rank) -> u64 {
    1 << (rank % u64::BITS)
}

/// The lowest rank of the word at `index`.
#[inline]
pub(super) const fn lowest_in(index: usize, word: NonZeroU64) -> Rank {
    ((index as Rank) << SHIFT) | word.trailing_zeros()
}

/// Where the summary bit of the word at `index` is: the word above, and the bit in it.
#[inline]
const fn above(index: usize) -> (usize, u64) {
    (index >> SHIFT, 1 << (index % BITS))
}

/// The index of the first word that the summary `word` at `index` stands for.
#[inline]
const fn first_in(index: usize, word: u64) -> usize {
    (index << SHIFT) | word.trailing_zeros() as usize
}

/// A hierarchical bitset over ranks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frontier {
    /// Level 0: one bit for each rank.
    words: Vec<u64>,
    /// Levels 1 and up: one bit for each word of the level below.
    upper: Vec<Vec<u64>>,
}

impl Frontier {
    /// Makes room for ranks below `len`. Never shrinks.
    #[inline]
    pub(crate) fn grow(&mut self, len: usize) {
        if len > self.words.len() << SHIFT {
            self.resize(len.div_ceil(BITS));
        }
    }

    /// Adds `rank`, for which there must be room.
    #[inline]
    pub(crate) fn mark(&mut self, rank: Rank) {
        self.merge(word_of(rank), bit_of(rank));
    }

    /// Adds `rank` if its word is not zero, and tells whether that is so.
    #[inline]
    pub(super) fn mark_in_use(&mut self, rank: Rank) -> bool {
        let word = &mut self.words[word_of(rank)];
        let was = *word;
        if was != 0 {
            *word = was | bit_of(rank);
        }
        was != 0
    }

    /// Removes `rank` and tells whether it was there.
    #[inline]
    pub(crate) fn clear(&mut self, rank: Rank) -> bool {
        let Some(word) = self.words.get_mut(word_of(rank)) else {
            return false;
        };
        let was = *word;
        *word = was & !bit_of(rank);
        if was == bit_of(rank) {
            self.lower(word_of(rank));
        }
        was & bit_of(rank) != 0
    }

    /// Whether `rank` is in the set.
    #[inline]
    pub(crate) fn contains(&self, rank: Rank) -> bool {
        self.word(word_of(rank)) & bit_of(rank) != 0
    }

    /// Whether the set is empty.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.is_clear() || self.lowest().is_none()
    }

    /// Whether the highest summary is zero: then the set is empty. O(1).
    #[inline]
    pub(super) fn is_clear(&self) -> bool {
        self.upper.last().is_none_or(|top| top[0] == 0)
    }

    /// The lowest rank of the set.
    pub(crate) fn lowest(&self) -> Option<Rank> {
        self.lowest_from(0)
    }

    /// The lowest rank of the set that is not below `from`.
    pub(crate) fn lowest_from(&self, from: Rank) -> Option<Rank> {
        let start = word_of(from);
        if let Some(word) = NonZeroU64::new(self.word(start) & bit_of(from).wrapping_neg()) {
            return Some(lowest_in(start, word));
        }
        let mut next = start + 1;
        loop {
            let index = self.word_from(next)?;
            if let Some(word) = NonZeroU64::new(self.word(index)) {
                return Some(lowest_in(index, word));
            }
            next = index + 1;
        }
    }

    /// The heap bytes held.
    pub(crate) fn bytes(&self) -> usize {
        let words = |level: &Vec<u64>| level.capacity() * size_of::<u64>();
        let upper = self.upper.iter().map(words).sum::<usize>();
        words(&self.words) + upper + self.upper.capacity() * size_of::<Vec<u64>>()
    }

    /// Gives back the memory for ranks at or after `len`, none of which may be in the set.
    pub(crate) fn shrink_to(&mut self, len: usize) {
        let count = len.div_ceil(BITS).min(self.words.len());
        debug_assert!(self.words[count..].iter().all(|&word| word == 0));
        let mut words = std::mem::take(self).words;
        words.truncate(count);
        words.shrink_to_fit();
        self.resize(count);
        for (index, word) in words.into_iter().enumerate() {
            if word != 0 {
                self.merge(index, word);
            }
        }
    }

    /// The word at `index`; zero if there is none.
    #[inline]
    pub(super) fn word(&self, index: usize) -> u64 {
        self.words.get(index).copied().unwrap_or(0)
    }

    /// Stores a word whose summary bit is set already, and leaves the summary alone even if the
    /// word is zero. For the cursor that holds the word; see I2.
    #[inline]
    pub(super) fn set_word(&mut self, index: usize, word: u64) {
        self.words[index] = word;
    }

    /// Makes the summary of the word at `index` exact again; there may be no such word.
    pub(super) fn settle_word(&mut self, index: usize) {
        if self.words.get(index) == Some(&0) {
            self.lower(index);
        }
    }

    /// The first non-zero word and its index. Drops the stale summary bits it meets.
    pub(super) fn first_word(&mut self) -> Option<(usize, u64)> {
        loop {
            let index = self.word_from(0)?;
            match self.word(index) {
                0 => self.lower(index),
                word => return Some((index, word)),
            }
        }
    }

    /// Sets the non-zero `bits` in the word at `index`.
    #[inline]
    pub(super) fn merge(&mut self, index: usize, bits: u64) {
        let word = &mut self.words[index];
        let was = *word;
        *word = was | bits;
        if was == 0 {
            self.raise(index);
        }
    }

    /// Sets the summary bits above the word at `index`.
    #[inline(never)]
    fn raise(&mut self, mut index: usize) {
        for level in &mut self.upper {
            let (at, bit) = above(index);
            let was = level[at];
            level[at] = was | bit;
            if was != 0 {
                return;
            }
            index = at;
        }
    }

    /// Clears the summary bits above the zero word at `index`.
    #[inline(never)]
    fn lower(&mut self, mut index: usize) {
        for level in &mut self.upper {
            let (at, bit) = above(index);
            level[at] &= !bit;
            if level[at] != 0 {
                return;
            }
            index = at;
        }
    }

    /// The first word at or after `from` whose summary bit is set: climbs until a level has a bit
    /// there, then descends.
    fn word_from(&self, from: usize) -> Option<usize> {
        let mut index = from;
        for (height, level) in self.upper.iter().enumerate() {
            let (at, bit) = above(index);
            let rest = *level.get(at)? & bit.wrapping_neg();
            if rest != 0 {
                let below = self.upper[..height].iter().rev();
                return Some(below.fold(first_in(at, rest), |at, level| first_in(at, level[at])));
            }
            index = at + 1;
        }
        None
    }

    /// Sets the number of words, which must not be less than it was, and of levels (I3).
    #[cold]
    fn resize(&mut self, words: usize) {
        self.words.resize(words, 0);
        let (mut count, mut level) = (words, 0);
        while count > 1 || (level == 0 && count == 1) {
            count = count.div_ceil(BITS);
            if level == self.upper.len() {
                let below = level.checked_sub(1).map_or(0, |below| self.upper[below][0]);
                self.upper.push(vec![u64::from(below != 0)]);
            }
            self.upper[level].resize(count, 0);
            level += 1;
        }
    }

    /// Asserts the invariants, and that every member satisfies `allowed`.
    #[cfg(test)]
    pub(super) fn check(&self, allowed: impl Fn(Rank) -> bool) {
        let mut below = &self.words;
        for (height, level) in self.upper.iter().enumerate() {
            assert_eq!(level.len(), below.len().div_ceil(64), "I3: level length");
            for (index, &word) in below.iter().enumerate() {
                let (at, bit) = above(index);
                let set = level[at] & bit != 0;
                assert!(set || word == 0, "I1: word {index} below level {height}");
                assert!(!set || word != 0 || height == 0, "I2: stale bit {index}");
            }
            below = level;
        }
        assert!(self.words.is_empty() || below.len() == 1, "I3: one top word");
        for (index, &word) in self.words.iter().enumerate() {
            let mut rest = word;
            while let Some(word) = NonZeroU64::new(rest) {
                let rank = lowest_in(index, word);
                assert!(allowed(rank), "rank {rank} must not be in the set");
                rest &= rest - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_lowest_from_a_rank_on() {
        let mut set = Frontier::default();
        set.grow(70_000);
        for rank in [3, 5, 64, 4096, 69_999] {
            set.mark(rank);
        }
        for (from, found) in
            [(0, 3), (3, 3), (4, 5), (6, 64), (65, 4096), (4097, 69_999), (69_999, 69_999)]
        {
            assert_eq!(set.lowest_from(from), Some(found));
        }
        assert_eq!((set.lowest_from(70_000), set.lowest_from(5_000_000)), (None, None));
    }

    #[test]
    fn finds_the_lowest_through_all_levels() {
        let mut set = Frontier::default();
        assert!(set.is_empty() && set.lowest().is_none() && !set.contains(7));
        let ranks = [63, 0, 70, 5000, 300_000, 3_999_999, 64];
        for rank in ranks {
            set.grow(rank as usize + 1);
            set.mark(rank);
            set.check(|rank| ranks.contains(&rank));
        }
        assert_eq!(set.upper.len(), 3);
        let mut sorted = ranks;
        sorted.sort_unstable();
        for rank in sorted {
            assert_eq!(set.lowest(), Some(rank));
            assert!(set.clear(rank) && !set.clear(rank));
        }
        assert!(set.is_empty());
        set.check(|_| false);
    }

    #[test]
    fn a_stale_summary_bit_is_never_believed() {
        let mut set = Frontier::default();
        set.grow(100_000);
        set.mark(10);
        set.mark(99_999);
        set.set_word(0, 0);
        assert_eq!(set.lowest(), Some(99_999));
        assert_eq!(set.first_word(), Some((1562, bit_of(99_999))));
        set.set_word(1562, 0);
        assert!(set.is_empty());
        set.settle_word(1562);
        set.settle_word(usize::MAX);
        assert_eq!(set.upper.last(), Some(&vec![0]));
    }

    #[test]
    fn shrinks_and_keeps_its_members() {
        let mut set = Frontier::default();
        set.grow(1_000_000);
        [1, 2, 900, 65, 3].into_iter().for_each(|rank| set.mark(rank));
        let before = set.bytes();
        set.shrink_to(901);
        set.check(|rank| [1, 2, 3, 65, 900].contains(&rank));
        assert!(set.contains(900) && set.contains(3) && !set.contains(64));
        assert!(set.bytes() < before / 100);
    }
}
