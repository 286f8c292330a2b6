//! The nodes that have something to deliver: a set of ranks that is filled and emptied in rising order, mostly.
//!
//! While it is filled in that order it is a *run*: a list, each rank with the payload of its node, so that to empty it needs
//! no look at the rows. Whatever does not fit - a rank that is not above the last, the removal of one - turns the run
//! into a bitset.
//!
//! What it does not know: which ranks are in use.
//!
//! Invariants:
//! - I1: the run rises; while there is anything in the bitset, nothing is added to the run.
//! - I2: what is in the set is in the run from `next` on, or in the bitset; never in both.
//!
//! Costs: `mark` and `next` in a run are a handful of instructions; in the bitset O(levels). A run takes 16 bytes for each of
//! the most nodes that ever had to deliver at once.

use super::frontier::Frontier;
use super::{NONE, Rank};

/// A set of ranks.
#[derive(Debug)]
pub(super) struct Due<P> {
    /// The ranks that were added in rising order, and who is there.
    run: Vec<(Rank, P)>,
    /// How many of them were taken.
    next: usize,
    /// What may be added to the run is not below this: [`NONE`] keeps all from it.
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
    }

    /// Adds `rank`, for which there must be room, with the payload of the node there.
    #[inline]
    pub(super) fn mark(&mut self, rank: Rank, payload: P) {
        if rank < self.floor {
            return self.mark_below(rank);
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
        self.run.shrink_to_fit();
        self.rest.shrink_to(len);
    }

    #[cold]
    #[inline(never)]
    fn mark_below(&mut self, rank: Rank) {
        self.break_up();
        self.rest.mark(rank);
    }

    #[inline]
    fn next_of_rest(&mut self) -> Option<(Rank, Option<P>)> {
        if !self.rest.is_clear() {
            return self.take_lowest();
        }
        self.run.clear();
        (self.next, self.floor) = (0, 0);
        None
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
        assert!(self.floor == NONE || self.rest.is_empty(), "I1: a run or bits");
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
        due.grow(1000);
        let mut random = 7_u32;
        for step in 0..40_000 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let rank = (random >> 8) % 1000;
            match random >> 29 {
                0..2 => {
                    due.mark(rank, rank + 1);
                    model.insert(rank);
                }
                // In rising order.
                2 => {
                    let above = model.last().map_or(rank / 2, |last| last + 1 + rank % 8);
                    if above < 1000 {
                        due.mark(above, above + 1);
                        model.insert(above);
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
        assert_eq!((due.next(), due.bytes()), (None, due.rest.bytes()));
    }
}
