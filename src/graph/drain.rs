//! Draining: visiting the dirty nodes from the lowest rank up while more of them become dirty.
//!
//! The cursor, a [`Lane`], keeps the open word of the dirty set in registers, and shares the rows which that word is about, so
//! that the usual step needs no graph. At the end of the word there is another lane for the next. Whoever changes edges or
//! ranks, or marks other than through the lane, *disturbs* it: takes the word from its hold, upon which the lane ends as well.
//!
//! What it does not know: what is computed, and whether a computed node has changed.
//!
//! Invariants:
//! - I1: if the lane in use holds the open word, its copy is equal, and it has the rows of the word's ranks.
//! - I2: only occupied ranks are marked.
//!
//! Costs: a step within a word is a handful of instructions; a step to the next word is O(levels).
//! Marking n dependents is O(n); in a long list with one memory access for neighbours that share
//! a word.

use std::cell::RefCell;
use std::num::NonZeroU64;
use std::rc::Rc;

use super::column::CHUNK;
use super::dirty::Open;
use super::frontier::word_of;
use super::lists::triggers;
use super::{Graph, Links, NONE, Rank, Record, Run};

/// The ranks of a word.
const WORD: usize = u64::BITS as usize;

/// What a lane needs for as long as it reads one word: that of the dirty set, and the rows of its ranks.
#[derive(Debug)]
pub(crate) struct Hold<P: Copy> {
    /// A copy of the open word.
    word: u64,
    /// Its first rank.
    first: Rank,
    /// The chunk that has its rows.
    rows: Rc<[Record<P>; CHUNK]>,
}

impl<P: Copy> Hold<P> {
    /// The cursor over this word, which is the `open` one of the graph. Only the one that was opened last may be used.
    #[inline(always)]
    pub(crate) fn lane<'h>(&'h self, open: &'h Open) -> Lane<'h, P> {
        self.lane_at(
            open,
            Place { last: self.first, word: self.word, links: Links::NONE, beyond: NONE },
        )
    }

    #[inline(always)]
    fn lane_at<'h>(&'h self, open: &'h Open, place: Place) -> Lane<'h, P> {
        let (words, _) = self.rows.as_chunks();
        Lane { open, rows: &words[word_of(self.first) % words.len()], place }
    }
}

/// A cursor over the dirty nodes of one word, and over those that they make dirty there.
///
/// What it needs at each step is little enough for the registers that a call leaves alone; so that it stays there, it is
/// never lent to what is not inlined.
#[derive(Debug)]
pub(crate) struct Lane<'h, P: Copy> {
    open: &'h Open,
    rows: &'h [Record<P>; WORD],
    place: Place,
}

/// Where a lane is.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// A copy of the open word.
    word: u64,
    /// The rank that was taken last; before that, another one of the same word.
    last: Rank,
    /// The dependents of the node that was taken last, as in its row.
    links: Links,
    /// The rank beyond the word that was marked last. While the lane holds its word nobody has taken that back, so that
    /// where many lead to one, all but the first mark nothing.
    beyond: Rank,
}

impl<P: Copy> Lane<'_, P> {
    /// Takes the lowest dirty node; `None` at the end of the word, or if the lane was disturbed.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Option<P> {
        if !self.open.is_held() {
            return None;
        }
        let lowest = self.lowest()?;
        self.take(lowest)
    }

    /// Makes all trigger dependents of the node that the lane took last dirty, and takes the next: one step of a drain
    /// in which that node has changed. `rank` tells where the node is now.
    #[inline(always)]
    pub(crate) fn mark_and_next(
        &mut self,
        rank: impl FnOnce() -> Rank,
        graph: &RefCell<Graph<P>>,
    ) -> Option<P> {
        let next = match self.chained() {
            Some(next) => next,
            None => {
                self.mark(rank, graph)?;
                self.lowest()?
            }
        };
        self.take(next)
    }

    /// The usual step of a chain: the next rank is all that becomes dirty, and the lowest. It is taken without being marked.
    #[inline(always)]
    fn chained(&self) -> Option<Rank> {
        let next = self.place.last.wrapping_add(1);
        let links = self.place.links;
        if links.first() != next || links.has_list() || !self.is_free(next) {
            return None;
        }
        self.open.is_held().then_some(next)
    }

    /// Whether a rank that follows the last one is in the same word and not in the set.
    #[inline(always)]
    fn is_free(&self, next: Rank) -> bool {
        // The first bit would be that of another word.
        (self.place.word | 1) >> (next % u64::BITS) & 1 == 0
    }

    /// Takes the lowest rank out of the lane's word. Stores the word.
    #[inline(always)]
    fn lowest(&mut self) -> Option<Rank> {
        let word = NonZeroU64::new(self.place.word)?;
        self.place.word &= self.place.word - 1;
        self.open.store(self.place.word);
        Some(self.place.last & !(u64::BITS - 1) | word.trailing_zeros())
    }

    /// Takes the node at a rank of the lane's own word, which is occupied (I2).
    #[inline(always)]
    fn take(&mut self, rank: Rank) -> Option<P> {
        let (payload, links) = self.rows[rank as usize % WORD].read();
        debug_assert!(payload.is_some(), "rank {rank} is vacant");
        (self.place.last, self.place.links) = (rank, links);
        payload
    }

    /// Marks the dependents of the node that was taken last; `None` if the lane was disturbed.
    #[inline(always)]
    fn mark(&mut self, rank: impl FnOnce() -> Rank, graph: &RefCell<Graph<P>>) -> Option<()> {
        // The edges were read with the rank. If any edge or rank had changed since, the lane would be disturbed.
        if !self.open.is_held() {
            mark_outside(rank(), graph);
            return None;
        }
        let links = self.place.links;
        let (first, index) = (links.first(), word_of(self.place.last));
        if first == NONE {
            return Some(());
        }
        if word_of(first) == index {
            self.place.word |= 1 << (first % u64::BITS);
        } else if first != self.place.beyond {
            self.place.beyond = first;
            graph.borrow_mut().dirty.mark_elsewhere(first);
        }
        if links.has_list() {
            self.place.word = graph.borrow_mut().mark_list(links, (index, self.place.word));
        }
        Some(())
    }
}

/// What a lane that was disturbed leaves to the graph.
#[cold]
#[inline(never)]
fn mark_outside<P: Copy>(rank: Rank, graph: &RefCell<Graph<P>>) {
    graph.borrow_mut().mark_dependents_outside(rank);
}

impl<P: Copy> Graph<P> {
    /// One step of a drain: lets a lane hold the first word that is not zero, if there is one. Any other lane is not to be
    /// used any more. Ranks are held from the first such word until there is none left.
    #[inline(always)]
    pub(crate) fn hold(&mut self) -> Option<Hold<P>> {
        let hold = self.hold_word();
        if hold.is_none() {
            self.hold_ranks(false);
        }
        hold
    }

    #[inline(always)]
    fn hold_word(&mut self) -> Option<Hold<P>> {
        let (index, word) = self.dirty.hold_first()?;
        let first = index * WORD;
        let rows = self.records.chunk_of(first)?.clone();
        self.hold_ranks(true);
        Some(Hold { word, first: first as Rank, rows })
    }

    /// The open word, for the lanes.
    pub(crate) fn open(&self) -> Rc<Open> {
        self.dirty.open()
    }

    /// Marks the dependents beyond the first, those in the open word, which the lane holds, in that; gives it back.
    #[inline(never)]
    fn mark_list(&mut self, links: Links, open: (usize, u64)) -> u64 {
        self.dirty.mark_all_beside(triggers(&self.pool, links), open)
    }

    /// Makes a node dirty. Does nothing if `rank` is vacant.
    pub(crate) fn mark_dirty(&mut self, rank: Rank) {
        if self.is_occupied(rank) {
            self.dirty.mark(rank);
        }
    }

    /// The trigger dependents of `rank`, as in its row.
    #[inline]
    pub(crate) fn links(&self, rank: Rank) -> Links {
        self.records[rank as usize].links.get()
    }

    /// Makes all trigger dependents of `rank` dirty.
    #[inline]
    pub(crate) fn mark_dependents_outside(&mut self, rank: Rank) {
        self.mark_links_outside(self.links(rank));
    }

    /// Makes these dependents dirty, which were just read.
    #[inline(always)]
    pub(crate) fn mark_links_outside(&mut self, links: Links) {
        if links.is_empty() {
            return;
        }
        self.dirty.mark(links.first());
        if links.has_list() {
            self.mark_list_outside(links);
        }
    }

    #[inline(never)]
    fn mark_list_outside(&mut self, links: Links) {
        self.dirty.mark_all(triggers(&self.pool, links));
    }

    /// Makes a node clean, and tells whether it was dirty.
    pub(crate) fn take_dirty(&mut self, rank: Rank) -> bool {
        self.dirty.clear(rank)
    }

    /// Whether a node is dirty.
    pub(crate) fn is_dirty(&self, rank: Rank) -> bool {
        self.dirty.contains(rank)
    }

    /// Whether any node is dirty whose rank is not above `rank`.
    #[inline]
    pub(crate) fn has_dirty_up_to(&self, rank: Rank) -> bool {
        self.dirty.lowest().is_some_and(|lowest| lowest <= rank)
    }

    /// Whether any node is dirty.
    #[inline]
    pub(crate) fn has_dirty(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// The run of what is to be delivered, for the loops that fill and empty it.
    pub(crate) fn run(&self) -> Rc<Run<P>> {
        self.deliver.run()
    }

    /// Notes that the node at a rank, which has this payload, has something to deliver.
    pub(crate) fn mark_deliver(&mut self, rank: Rank, payload: P) {
        debug_assert!(self.is_occupied(rank), "no node at rank {rank}");
        self.deliver.mark(rank, payload);
    }

    /// Takes such a note back, and tells whether there was one.
    #[cfg(test)]
    pub(crate) fn clear_deliver(&mut self, rank: Rank) -> bool {
        self.deliver.clear(rank)
    }

    /// Takes the lowest rank that has something to deliver.
    pub(crate) fn next_deliver(&mut self) -> Option<(Rank, P)> {
        loop {
            let (rank, known) = self.deliver.next()?;
            if let Some(payload) = known.or_else(|| self.payload(rank)) {
                return Some((rank, payload));
            }
        }
    }

    /// Makes the lane read its word again.
    #[inline]
    pub(super) fn disturb(&mut self) {
        self.dirty.release();
    }
}

/// A drain by hand: a lane with what it holds.
#[cfg(test)]
#[derive(Debug)]
pub(crate) struct ByHand<P: Copy>(Hold<P>, Place);

#[cfg(test)]
impl<P: Copy> Graph<P> {
    /// [`Lane::next`], with the rank. Holds another word if there is none, or none left.
    pub(crate) fn next_dirty(&mut self, drain: &mut Option<ByHand<P>>) -> Option<(Rank, P)> {
        let step =
            |graph: &mut Self, drain: &mut ByHand<P>| graph.step(drain, |lane, _| lane.next());
        if let Some(taken) = drain.as_mut().and_then(|drain| step(self, drain)) {
            return Some(taken);
        }
        let held = self.held;
        let hold = self.hold_word()?;
        // The tests hold ranks themselves.
        self.held = held;
        let place = hold.lane(&self.open()).place;
        step(self, drain.insert(ByHand(hold, place)))
    }

    /// [`Lane::mark_and_next`], with the rank.
    pub(crate) fn mark_and_next(
        &mut self,
        rank: Rank,
        drain: &mut Option<ByHand<P>>,
    ) -> Option<(Rank, P)> {
        let next = self.step(drain.as_mut()?, |lane, graph| lane.mark_and_next(|| rank, graph));
        next.or_else(|| self.next_dirty(drain))
    }

    fn step(
        &mut self,
        ByHand(hold, place): &mut ByHand<P>,
        step: impl FnOnce(&mut Lane<'_, P>, &RefCell<Self>) -> Option<P>,
    ) -> Option<(Rank, P)> {
        let open = self.open();
        let graph = RefCell::new(std::mem::take(self));
        let mut lane = hold.lane_at(&open, *place);
        let taken = step(&mut lane, &graph);
        *place = lane.place;
        *self = graph.into_inner();
        taken.map(|payload| (place.last, payload))
    }
}

#[cfg(test)]
mod tests {
    use super::super::EdgeKind::Trigger;
    use super::*;

    #[test]
    fn a_lane_follows_what_it_marks_and_what_others_mark() {
        let mut graph = Graph::new();
        for payload in 0..300u32 {
            graph.insert(payload);
        }
        for (src, dst) in [(3, 9), (3, 200), (9, 10), (3, 64)] {
            assert_eq!(graph.link(src, dst, Trigger, |_, _| ()), Ok(true));
        }
        let mut lane = None;
        assert_eq!(graph.next_dirty(&mut lane), None);
        graph.mark_dirty(3);
        assert_eq!(graph.next_dirty(&mut lane), Some((3, 3)));
        graph.mark_dependents_outside(3);
        assert_eq!(graph.next_dirty(&mut lane), Some((9, 9)));
        graph.mark_dirty(1);
        graph.mark_dependents_outside(9);
        assert!(graph.take_dirty(64) && !graph.take_dirty(64));
        assert_eq!(graph.next_dirty(&mut lane), Some((1, 1)));
        assert_eq!(graph.next_dirty(&mut lane), Some((10, 10)));
        assert_eq!(graph.next_dirty(&mut lane), Some((200, 200)));
        assert_eq!(graph.next_dirty(&mut lane), None);
        assert!(!graph.has_dirty());
        graph.check();
    }

    #[test]
    fn a_lane_forgets_what_is_taken_from_its_word() {
        let mut graph = Graph::new();
        for payload in 0..20u32 {
            graph.insert(payload);
        }
        for rank in [4, 5, 6, 7] {
            graph.mark_dirty(rank);
        }
        let mut lane = None;
        assert_eq!(graph.next_dirty(&mut lane), Some((4, 4)));
        assert!(graph.take_dirty(5));
        assert_eq!(graph.next_dirty(&mut lane), Some((6, 6)));
        graph.remove(7);
        assert_eq!(graph.next_dirty(&mut lane), None);
        graph.check();
    }

    #[test]
    fn what_many_lead_to_is_marked_again_once_it_was_taken_back() {
        let mut graph = Graph::new();
        for payload in 0..100u32 {
            graph.insert(payload);
        }
        for src in 0..3 {
            assert_eq!(graph.link(src, 80, Trigger, |_, _| ()), Ok(true));
            graph.mark_dirty(src);
        }
        let mut lane = None;
        assert_eq!(graph.next_dirty(&mut lane), Some((0, 0)));
        assert_eq!(graph.mark_and_next(0, &mut lane), Some((1, 1)));
        assert!(graph.take_dirty(80));
        assert_eq!(graph.mark_and_next(1, &mut lane), Some((2, 2)));
        assert!(graph.is_dirty(80));
        assert_eq!(graph.mark_and_next(2, &mut lane), Some((80, 80)));
        assert_eq!(graph.next_dirty(&mut lane), None);
        graph.check();
    }

    #[test]
    fn a_dropped_lane_loses_nothing() {
        let mut graph = Graph::new();
        for payload in 0..100u32 {
            graph.insert(payload);
        }
        graph.mark_dirty(5);
        graph.mark_dirty(70);
        assert_eq!(graph.next_dirty(&mut None), Some((5, 5)));
        let mut lane = None;
        assert_eq!(graph.next_dirty(&mut lane), Some((70, 70)));
        assert!(!graph.has_dirty());
        assert_eq!(graph.next_dirty(&mut lane), None);
        graph.check();
    }

    #[test]
    fn deliveries_come_in_order() {
        let mut graph = Graph::new();
        for payload in 0..100u32 {
            graph.insert(payload);
        }
        for rank in [80, 3, 20, 3] {
            graph.mark_deliver(rank, rank);
        }
        assert!(graph.clear_deliver(20));
        assert_eq!(graph.next_deliver(), Some((3, 3)));
        graph.remove(80);
        assert_eq!(graph.next_deliver(), None);
    }
}
