//! The nodes that have something to deliver: a set of ranks that is filled and emptied in rising order, mostly.
//!
//! While it is filled in that order it is a *run*: a list, each rank with the payload of its node, so that to empty it needs
//! no look at the rows. The loops that fill and empty it share the run, and need no graph for the usual step. What comes
//! after a full run is in a bitset; and whatever does not fit - a rank that is not above the last, the removal of one -
//! turns the run into bits.
//!
//! What it does not know: which ranks are in use.
//!
//! Invariants:
//! - I1: the run rises, and is below all that is in the bitset.
//! - I2: what is in the set is in the run from `next` on, or in the bitset; in that only if the run is not `all`.
//!
//! Costs: `push` and `take` in a run are a handful of instructions; in the bitset O(levels). A run has its memory from the
//! start; the bitset allocates where ranks are added.

use std::cell::Cell;
use std::rc::Rc;

use super::frontier::Frontier;
use super::{NONE, Rank};

/// The most that a run can hold: 16 KiB.
const LONGEST: usize = 1024;

/// A set of ranks.
#[derive(Debug)]
pub(super) struct Due<P: Copy> {
    run: Rc<Run<P>>,
    /// The others.
    rest: Frontier,
}

/// The ranks that were added in rising order, and who is there.
///
/// In this order, so that the first entries are not a multiple of 4 KiB from what is read after they are written: some
/// processors take such a pair for the same place, and wait.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Run<P: Copy> {
    /// How many were added.
    len: Cell<usize>,
    /// How many of them were taken.
    next: Cell<usize>,
    /// What is added to the run, or behind it, is not below this: [`NONE`] keeps all from it.
    floor: Cell<Rank>,
    /// Whether there is nothing but the run.
    all: Cell<bool>,
    entries: [Cell<Option<(Rank, P)>>; LONGEST],
}

impl<P: Copy> Run<P> {
    fn new() -> Self {
        let entries = [const { Cell::new(None) }; LONGEST];
        let (len, next, floor) = (Cell::new(0), Cell::new(0), Cell::new(0));
        Self { len, next, floor, all: Cell::new(true), entries }
    }

    /// Adds `rank` with the payload of the node there, if it fits.
    #[inline(always)]
    pub(crate) fn push(&self, rank: Rank, payload: P) -> bool {
        let len = self.len.get();
        let fits = rank >= self.floor.get() && len < LONGEST;
        if fits {
            self.floor.set(rank + 1);
            self.entries[len].set(Some((rank, payload)));
            self.len.set(len + 1);
        }
        fits
    }

    /// Takes the lowest rank of the run: who is there.
    #[inline(always)]
    pub(crate) fn take(&self) -> Option<P> {
        self.take_entry().map(|(_, payload)| payload)
    }

    #[inline(always)]
    fn take_entry(&self) -> Option<(Rank, P)> {
        let next = self.next.get();
        if next >= self.len.get() {
            return None;
        }
        self.next.set(next + 1);
        self.entries[next % LONGEST].get()
    }

    /// Whether the run, which has been taken, was all there was; then it starts anew.
    #[inline(always)]
    pub(crate) fn was_all(&self) -> bool {
        if self.all.get() {
            self.start(0);
        }
        self.all.get()
    }

    #[inline(always)]
    fn start(&self, floor: Rank) {
        self.len.set(0);
        self.next.set(0);
        self.floor.set(floor);
    }

    /// What was not taken yet.
    fn left(&self) -> impl Iterator<Item = (Rank, P)> {
        self.entries[self.next.get()..self.len.get()].iter().filter_map(Cell::get)
    }
}

impl<P: Copy> Default for Due<P> {
    fn default() -> Self {
        Self { run: Rc::new(Run::new()), rest: Frontier::default() }
    }
}

impl<P: Copy> Due<P> {
    /// The run, for the loops.
    pub(super) fn run(&self) -> Rc<Run<P>> {
        self.run.clone()
    }

    /// Makes room for ranks below `len`.
    #[inline]
    pub(super) fn grow(&mut self, len: usize) {
        self.rest.grow(len);
    }

    /// Adds `rank`, for which there must be room, with the payload of the node there.
    pub(super) fn mark(&mut self, rank: Rank, payload: P) {
        if self.run.push(rank, payload) {
            return;
        }
        if rank < self.run.floor.get() {
            self.break_up();
        }
        self.rest.mark(rank);
        self.run.all.set(false);
    }

    /// Takes the lowest rank; the payload, if it is known.
    pub(super) fn next(&mut self) -> Option<(Rank, Option<P>)> {
        if let Some((rank, payload)) = self.run.take_entry() {
            return Some((rank, Some(payload)));
        }
        if self.rest.is_clear() {
            self.run.all.set(true);
        }
        if self.run.was_all() {
            return None;
        }
        self.run.start(NONE);
        let rank = self.rest.lowest()?;
        self.rest.clear(rank);
        Some((rank, None))
    }

    /// Removes `rank` and tells whether it was there.
    #[inline]
    pub(super) fn clear(&mut self, rank: Rank) -> bool {
        if self.run.len.get() != 0 {
            self.break_up();
        }
        self.rest.clear(rank)
    }

    /// The heap bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.rest.bytes() + size_of::<Run<P>>()
    }

    /// Gives back the memory for ranks at or after `len`, none of which may be in the set.
    pub(super) fn shrink_to(&mut self, len: usize) {
        self.break_up();
        self.rest.shrink_to(len);
    }

    /// Turns the run into bits.
    #[cold]
    #[inline(never)]
    fn break_up(&mut self) {
        self.run.left().for_each(|(rank, _)| self.rest.mark(rank));
        self.run.start(NONE);
        self.run.all.set(false);
    }

    /// Asserts the invariants, and that every member satisfies `allowed`.
    #[cfg(test)]
    pub(super) fn check(&self, allowed: impl Fn(Rank) -> bool) {
        let run: Vec<Rank> = self.run.left().map(|(rank, _)| rank).collect();
        assert!(run.is_sorted_by(|a, b| a < b), "I1: the run rises");
        let above = self.rest.lowest().unwrap_or(NONE);
        assert!(run.last().is_none_or(|&last| last < above), "I1: bits are above the run");
        let floor = self.run.floor.get();
        assert!(floor == NONE || floor <= above, "I1: what is added is not below the run");
        assert!(self.rest.is_empty() || !self.run.all.get(), "I2");
        assert!(run.iter().all(|&rank| allowed(rank)));
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
        assert_eq!(
            (due.run.left().count(), due.rest.lowest()),
            (LONGEST, Some(1000 + LONGEST as Rank))
        );
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
        assert_eq!(due.run.left().count(), 0);
        let taken: Vec<_> = std::iter::from_fn(|| due.next()).collect();
        assert_eq!(taken, [3, 71, 200, 250].map(|rank| (rank, None)));
        due.mark(9, ());
        assert_eq!(due.next(), Some((9, Some(()))), "a run again");
        due.mark(9, ());
        assert_eq!(due.next(), Some((9, None)), "what was taken can come again");
        due.shrink_to(300);
        assert_eq!(due.next(), None);
        assert_eq!(due.bytes(), due.rest.bytes() + size_of::<Run<()>>());
    }
}
