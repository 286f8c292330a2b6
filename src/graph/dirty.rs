//! The nodes that are to be computed: a set of ranks that is drained from the lowest up while more are marked.
//!
//! One word of it may be *open*: held apart from the bitset, so that a small wave never touches that. While the set is
//! drained, the cursor shares it, and *holds* it in a register too. It stores it at each step, so that the one here is never
//! behind and the cursor does not wait for a load of what it stored. Whoever marks a rank other than through the cursor
//! takes the word from its hold, upon which the cursor reads anew.
//!
//! What it does not know: which ranks are in use, and who depends on whom.
//!
//! Invariants:
//! - I1: a rank is in the set if its bit is in the open word or in the bitset.
//! - I2: while a word is open, no bit is in the bitset up to it.
//!
//! Costs: a step within the open word stores it; a step to the next word is O(levels), or O(1) if there is none.

use super::Rank;
use super::frontier::{Frontier, bit_of, lowest_in, word_of};
use super::pool::Entry;
use std::cell::Cell;
use std::num::NonZeroU64;
use std::rc::Rc;

/// An index at which no bitset has a word.
pub(super) const NO_WORD: usize = usize::MAX;

/// Lists of at most so many dependents are marked one by one.
const SHORT: usize = 8;

/// A set of ranks, one word of which may be open.
#[derive(Debug, Default)]
pub(super) struct Dirty {
    /// All other words.
    rest: Frontier,
    /// The open word, which the cursor shares.
    open: Rc<Open>,
}

/// The open word of a set.
#[derive(Debug)]
pub(crate) struct Open {
    /// The index of the word; [`NO_WORD`] without one.
    index: Cell<usize>,
    /// The word; zero without one.
    word: Cell<u64>,
    /// Whether the cursor holds it; else it has to read anew.
    held: Cell<bool>,
}

impl Default for Open {
    fn default() -> Self {
        Self { index: Cell::new(NO_WORD), word: Cell::new(0), held: Cell::new(false) }
    }
}

impl Open {
    /// Whether the cursor holds the word.
    #[inline]
    pub(super) fn is_held(&self) -> bool {
        self.held.get()
    }

    /// Stores the word.
    #[inline]
    pub(super) fn store(&self, word: u64) {
        self.word.set(word);
    }
}

impl Dirty {
    /// Makes room for ranks below `len`.
    #[inline]
    pub(super) fn grow(&mut self, len: usize) {
        self.rest.grow(len);
    }

    /// The open word, for the cursor.
    pub(super) fn open(&self) -> Rc<Open> {
        self.open.clone()
    }

    /// Adds `rank`, for which there must be room.
    #[inline]
    pub(super) fn mark(&mut self, rank: Rank) {
        self.release();
        if word_of(rank) != self.open.index.get() && !self.open_at(word_of(rank)) {
            return self.mark_closed(rank);
        }
        self.open.word.set(self.open.word.get() | bit_of(rank));
    }

    /// Out of line, so that the usual mark is short.
    #[cold]
    #[inline(never)]
    fn mark_closed(&mut self, rank: Rank) {
        self.rest.mark(rank);
    }

    /// Adds the ranks of a list.
    #[inline]
    pub(super) fn mark_all(&mut self, list: &[Entry]) {
        if list.len() <= SHORT {
            return list.iter().for_each(|entry| self.mark(entry.rank));
        }
        self.release();
        self.close();
        mark_long(&mut self.rest, list, (NO_WORD, 0));
    }

    /// Opens the word at `index` if there is nothing below it; tells whether that is so.
    #[inline]
    fn open_at(&mut self, index: usize) -> bool {
        if self.open.word.get() == 0 && self.rest.is_clear() {
            self.open.index.set(index);
            return true;
        }
        index < self.open.index.get() && self.open_below(index)
    }

    #[cold]
    #[inline(never)]
    fn open_below(&mut self, index: usize) -> bool {
        let open = self.open.index.get();
        self.close();
        if open != NO_WORD {
            self.open.index.set(index);
        }
        open != NO_WORD
    }

    /// Removes `rank` and tells whether it was there.
    pub(super) fn clear(&mut self, rank: Rank) -> bool {
        let was = self.contains(rank);
        if was {
            self.release();
            match word_of(rank) == self.open.index.get() {
                true => self.open.word.set(self.open.word.get() & !bit_of(rank)),
                false => drop(self.rest.clear(rank)),
            }
        }
        was
    }

    /// Whether `rank` is in the set.
    #[inline]
    pub(super) fn contains(&self, rank: Rank) -> bool {
        let open = word_of(rank) == self.open.index.get();
        open && self.open.word.get() & bit_of(rank) != 0 || self.rest.contains(rank)
    }

    /// The lowest rank of the set.
    #[inline]
    pub(super) fn lowest(&self) -> Option<Rank> {
        match NonZeroU64::new(self.open.word.get()) {
            Some(word) => Some(lowest_in(self.open.index.get(), word)),
            None => self.rest.lowest(),
        }
    }

    /// Whether the set is empty.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.open.word.get() == 0 && self.rest.is_empty()
    }

    /// The heap bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.rest.bytes() + size_of::<Open>()
    }

    /// Gives back the memory for ranks at or after `len`, none of which may be in the set.
    pub(super) fn shrink_to(&mut self, len: usize) {
        self.release();
        self.close();
        self.rest.shrink_to(len);
    }

    /// Makes the cursor read anew.
    #[inline]
    pub(super) fn release(&mut self) {
        self.open.held.set(false);
    }

    /// Puts the open word back.
    fn close(&mut self) {
        let index = self.open.index.replace(NO_WORD);
        match self.open.word.replace(0) {
            0 => self.rest.settle_word(index),
            word => self.rest.merge(index, word),
        }
    }

    /// Lets the cursor hold the first word that is not zero: its index and it; `None` if the set is empty.
    #[inline]
    pub(super) fn hold_first(&mut self) -> Option<(usize, u64)> {
        if self.open.word.get() == 0 {
            if self.rest.is_clear() {
                return None;
            }
            self.open_first();
        }
        self.open.held.set(true);
        (self.open.word.get() != 0).then(|| (self.open.index.get(), self.open.word.get()))
    }

    #[cold]
    #[inline(never)]
    fn open_first(&mut self) {
        self.close();
        if let Some((index, word)) = self.rest.first_word() {
            // Its summary bit stays: it is made exact when the word is closed.
            self.rest.set_word(index, 0);
            self.open.index.set(index);
            self.open.word.set(word);
        }
    }

    /// Adds a rank that is not in the word which the cursor holds.
    #[inline(always)]
    pub(super) fn mark_elsewhere(&mut self, rank: Rank) {
        self.rest.mark(rank);
    }

    /// Adds the ranks of a list while the cursor holds the open word, and gives that.
    #[inline(always)]
    pub(super) fn mark_all_beside(&mut self, list: &[Entry], open: (usize, u64)) -> u64 {
        mark_in(&mut self.rest, list, open)
    }

    /// Asserts the invariants, and that every member satisfies `allowed`.
    #[cfg(test)]
    pub(super) fn check(&self, allowed: impl Fn(Rank) -> bool) {
        let (index, word) = (self.open.index.get(), self.open.word.get());
        let mut all = self.rest.clone();
        if index == NO_WORD {
            assert_eq!(word, 0);
        } else {
            let lowest = self.rest.lowest();
            assert!(lowest.is_none_or(|lowest| word_of(lowest) > index), "I2");
            if word != 0 {
                all.merge(index, word);
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
fn mark_long(rest: &mut Frontier, list: &[Entry], (own, mut word): (usize, u64)) -> u64 {
    let mut flush = |index, bits| match index == own {
        true => word |= bits,
        false => rest.merge(index, bits),
    };
    let Some(first) = list.first() else { return word };
    let (mut index, mut bits) = (word_of(first.rank), 0);
    for entry in list {
        if word_of(entry.rank) != index {
            flush(index, bits);
            (index, bits) = (word_of(entry.rank), 0);
        }
        bits |= bit_of(entry.rank);
    }
    flush(index, bits);
    word
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::EdgeKind::Trigger;
    use super::*;

    fn entries(ranks: &[Rank]) -> Vec<Entry> {
        ranks.iter().map(|&rank| Entry::new(rank, 0, Trigger)).collect()
    }

    #[test]
    fn agrees_with_a_sorted_set() {
        let (mut dirty, mut model) = (Dirty::default(), BTreeSet::new());
        dirty.grow(70_000);
        let mut random = 11_u32;
        let mut next = |below: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) % below
        };
        for _ in 0..50_000 {
            let span = [64, 300, 70_000][next(3) as usize];
            let rank = next(span);
            match next(8) {
                0..2 => {
                    dirty.mark(rank);
                    model.insert(rank);
                }
                2 => {
                    let ranks: Vec<_> = (0..next(20)).map(|_| next(span)).collect();
                    dirty.mark_all(&entries(&ranks));
                    model.extend(ranks);
                }
                3 => assert_eq!(dirty.clear(rank), model.remove(&rank)),
                4 => {
                    // A step of the cursor, which then marks what is above.
                    let held = dirty.hold_first();
                    let lowest =
                        held.and_then(|(at, word)| Some(lowest_in(at, NonZeroU64::new(word)?)));
                    assert_eq!(lowest, model.pop_first());
                    let Some(((index, word), lowest)) = held.zip(lowest) else { continue };
                    dirty.open.store(word & (word - 1));
                    let above: Vec<_> =
                        (0..next(12)).map(|_| lowest + 1 + next(70_000 - 1 - lowest)).collect();
                    let word = dirty.mark_all_beside(&entries(&above), (index, word & (word - 1)));
                    assert!(dirty.open.is_held());
                    dirty.open.store(word);
                    model.extend(above);
                }
                _ => assert_eq!(dirty.contains(rank), model.contains(&rank)),
            }
            assert_eq!(dirty.lowest(), model.first().copied());
            assert_eq!(dirty.is_empty(), model.is_empty());
        }
        dirty.check(|rank| model.contains(&rank));
    }

    #[test]
    fn a_small_wave_never_touches_the_bitset() {
        let mut dirty = Dirty::default();
        dirty.grow(1_000_000);
        for base in [999_000, 5, 70_000] {
            dirty.mark(base);
            dirty.mark_all(&entries(&[base + 1, base + 2]));
            assert!(dirty.rest.is_clear());
            for rank in base..base + 3 {
                let (index, word) = dirty.hold_first().unwrap();
                assert_eq!((index, word.trailing_zeros()), (word_of(rank), rank % 64));
                dirty.open.store(word & (word - 1));
            }
            assert_eq!(dirty.hold_first(), None);
        }
    }
}
