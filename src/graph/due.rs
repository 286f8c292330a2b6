//! The nodes that have something to deliver: a set of ranks that is filled and emptied in rising order, mostly.
//!
//! While it is filled in that order it is a *run*: a list, each rank with the payload of its node, so that to empty it needs
//! no look at the rows. What comes after a full run is in a bitset; and whatever does not fit - a rank that is not above the
//! last, the removal of one - turns the run into bits.
//!
//! What it does not know: which ranks are in use.
//!
//! Invariants:
//! - I1: the run rises, and is below all that is in the bitset.
//! - I2: what is in the set is in the run from `next` on, or in the bitset.
//!
//! Costs: `mark` and `next` in a run are a handful of instructions; in the bitset O(levels). Nothing is allocated but
//! where ranks are added.

use super::frontier::Frontier;
use super::{NONE, Rank};

/// The most that a run can hold: 16 KiB.
const LONGEST: usize = 1024;

/// A set of ranks.
#[derive(Debug)]
pub(super) struct Due<P> {
    /// The ranks that were added in rising order, and who is there.
    run: Vec<(Rank, P)>,
    /// How many of them were taken.
    next: usize,
    /// What is added to the run, or behind it, is not below this: [`NONE`] keeps all from it.
    floor: Rank,
    /// The others.
    rest: Frontier,
}

impl<P> Default for Due<P> {
    fn default() -> Self {
        Self { run: Vec::new(), next: 0, floor: 0, rest: Frontier::default() }
    }
}

impl<P: Copy> Due<P> {
    /// Makes room for ranks below `len`.
    #[inline]
    pub(super) fn grow(&mut self, len: usize) {
        self.rest.grow(len);
        if self.run.capacity() == 0 {
            self.run.reserve_exact(LONGEST);
        }
    }

    /// Adds `rank`, for which there must be room, with the payload of the node there.
    #[inline]
    pub(super) fn mark(&mut self, rank: Rank, payload: P) {
        if rank < self.floor || self.run.len() == self.run.capacity() {
            return self.mark_bit(rank);
        }
        self.floor = rank + 1;
        self.run.push((rank, payload));
    }

    /// Takes the lowest rank; the payload, if it is known.
    #[inline]
    pub(super) fn next(&mut self) -> Option<(Rank, Option<P>)> {
        match self.run.get(self.next) {
            Some(&(rank, payload)) => {
                self.next += 1;
                Some((rank, Some(payload)))
            }
            None => self.next_of_rest(),
        }
    }

    /// Removes `rank` and tells whether it was there.
    #[inline]
    pub(super) fn clear(&mut self, rank: Rank) -> bool {
        if !self.run.is_empty() {
            self.break_up();
        }
        self.rest.clear(rank)
    }

    /// The heap bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.rest.bytes() + self.run.capacity() * size_of::<(Rank, P)>()
    }

    /// Gives back the memory for ranks at or after `len`, none of which may be in the set.
    pub(super) fn shrink_to(&mut self, len: usize) {
        self.break_up();
        self.rest.shrink_to(len);
    }

    #[cold]
    #[inline(never)]
    fn mark_bit(&mut self, rank: Rank) {
        if rank < self.floor {
            self.break_up();
        }
        self.rest.mark(rank);
    }

    #[inline]
    fn next_of_rest(&mut self) -> Option<(Rank, Option<P>)> {
        self.run.clear();
        self.next = 0;
        if self.rest.is_clear() {
            self.floor = 0;
            return None;
        }
        self.floor = NONE;
        self.take_lowest()
    }

    #[cold]
    #[inline(never)]
    fn take_lowest(&mut self) -> Option<(Rank, Option<P>)> {
        let rank = self.rest.lowest()?;
        self.rest.clear(rank);
        Some((rank, None))
    }

    /// Turns the run into bits.
    #[cold]
    #[inline(never)]
    fn break_up(&mut self) {
        self.run[self.next..].iter().for_each(|&(rank, _)| self.rest.mark(rank));
        self.run.clear();
        (self.next, self.floor) = (0, NONE);
    }

    /// Asserts the invariants, and that every member satisfies `allowed`.
    #[cfg(test)]
    pub(super) fn check(&self, allowed: impl Fn(Rank) -> bool) {
        let run = &self.run[self.next..];
        assert!(run.is_sorted_by(|a, b| a.0 < b.0), "I1: the run rises");
        let above = self.rest.lowest().unwrap_or(NONE);
        assert!(run.last().is_none_or(|last| last.0 < above), "I1: bits are above the run");
        assert!(
            self.floor == NONE || self.floor <= above,
            "I1: what is added is not below the run"
        );
        assert!(run.iter().all(|entry| allowed(entry.0)));
        self.rest.check(allowed);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn agrees_with_a_sorted_set() {
        let (mut due, mut model) = (Due::default(), BTreeSet::new());
        due.grow(5000);
        let mut random = 7_u32;
        for step in 0..40_000 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let rank = (random >> 8) % 5000;
            match random >> 29 {
                0..2 => {
                    due.mark(rank, rank + 1);
                    model.insert(rank);
                }
                // In rising order.
                2 => {
                    let above = model.last().map_or(rank / 5, |last| last + 1);
                    let count = if rank.is_multiple_of(64) { 1500 } else { rank % 8 };
                    for rank in above..(above + count).min(5000) {
                        due.mark(rank, rank + 1);
                        model.insert(rank);
                    }
                }
                3..6 => {
                    let next = due.next();
                    assert_eq!(next.map(|next| next.0), model.pop_first());
                    assert!(next.is_none_or(|(rank, who)| who.is_none_or(|who| who == rank + 1)));
                }
                6 => assert_eq!(due.clear(rank), model.remove(&rank)),
                _ if step % 50 == 0 => {
                    while let Some((rank, _)) = due.next() {
                        assert!(model.remove(&rank));
                    }
                    assert!(model.is_empty());
                }
                _ => (),
            }
            due.check(|rank| model.contains(&rank));
        }
    }

    #[test]
    fn what_follows_a_full_run_is_bits() {
        let mut due = Due::default();
        due.grow(5000);
        (1000..4000).for_each(|rank| due.mark(rank, ()));
        assert_eq!((due.run.len(), due.rest.lowest()), (LONGEST, Some(1000 + LONGEST as Rank)));
        due.check(|_| true);
        assert_eq!(due.next(), Some((1000, Some(()))));
        due.mark(4500, ());
        due.mark(10, ());
        due.check(|_| true);
        let taken: Vec<_> = std::iter::from_fn(|| due.next()).map(|next| next.0).collect();
        assert!(taken.into_iter().eq(std::iter::once(10).chain(1001..4000).chain([4500])));
        (2..2000).for_each(|rank| due.mark(rank, ()));
        for rank in 2..1500 {
            assert_eq!(due.next().map(|next| next.0), Some(rank));
        }
        // The run is empty, and there are bits.
        due.mark(1999, ());
        due.mark(3000, ());
        due.mark(1498, ());
        due.check(|_| true);
        let taken: Vec<_> = std::iter::from_fn(|| due.next()).map(|next| next.0).collect();
        assert!(taken.into_iter().eq([1498].into_iter().chain(1500..2000).chain([3000])));
    }

    #[test]
    fn what_rises_is_a_run_and_what_does_not_is_bits() {
        let mut due = Due::default();
        due.grow(300);
        [70, 71, 200].into_iter().for_each(|rank| due.mark(rank, ()));
        assert_eq!((due.next(), due.rest.is_clear()), (Some((70, Some(()))), true));
        due.mark(3, ());
        due.mark(250, ());
        assert!(due.run.is_empty());
        let taken: Vec<_> = std::iter::from_fn(|| due.next()).collect();
        assert_eq!(taken, [3, 71, 200, 250].map(|rank| (rank, None)));
        due.mark(9, ());
        assert_eq!(due.next(), Some((9, Some(()))), "a run again");
        due.mark(9, ());
        assert_eq!(due.next(), Some((9, None)), "what was taken can come again");
        due.shrink_to(300);
        assert_eq!(due.next(), None);
        assert_eq!(due.bytes(), due.rest.bytes() + 1024 * size_of::<(Rank, ())>());
    }
}
