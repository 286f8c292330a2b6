//! What is added up while someone asks: which cells fired how often in a pass; how many emits and levels a wave or a frame
//! of the program has.
//!
//! It knows no reports; an emission that is not the first of its round never gets here.
//!
//! Costs: a pass notes eight bytes for each emission; levels are a look at each input of each turn; nothing while nobody asks.

use std::cell::{Cell, RefCell};

use super::levels::Levels;
use crate::graph::CellKey;
use crate::store::node::NodeRef;
use crate::store::{Store, flag};

/// The sums of a store.
#[derive(Default)]
pub(crate) struct Tally {
    /// How many ask for emissions: passes, a frame, who listens to spans.
    asking: Cell<u32>,
    /// Passes on the stack.
    passes: Cell<u32>,
    fired: RefCell<Vec<CellKey>>,
    /// What the last pass has noted.
    sealed: RefCell<Option<Vec<CellKey>>>,
    emits: Cell<u64>,
    /// Those among them before the wave under way.
    emits_before: Cell<u64>,
    /// Emissions of cells that had one after `since`.
    refires: Cell<u64>,
    since: Cell<u32>,
    /// How many ask for levels.
    asking_levels: Cell<u32>,
    levels: RefCell<Levels>,
}

/// Adds one, or takes one away.
fn step(count: &Cell<u32>, up: bool) {
    count.set(if up { count.get() + 1 } else { count.get() - 1 });
}

#[cfg(any(feature = "frames", feature = "profiling"))]
impl Tally {
    /// Asks for emissions, or does not any more.
    pub(super) fn ask(&self, asks: bool) {
        step(&self.asking, asks);
    }

    /// Asks for levels, or does not any more.
    pub(super) fn ask_levels(&self, asks: bool) {
        step(&self.asking_levels, asks);
    }
}

#[cfg(feature = "profiling")]
impl Tally {
    /// Emissions in the wave under way, as far as they were asked for.
    pub(super) fn wave_emits(&self) -> u64 {
        self.emits.get() - self.emits_before.get()
    }

    /// How many levels the highest round of the wave has, and how many cells are on one at most.
    pub(super) fn wave_levels(&self) -> (u32, u32) {
        self.levels.borrow().of_wave
    }
}

#[cfg(feature = "frames")]
impl Tally {
    /// The same for all rounds since the last call.
    pub(super) fn take_levels(&self) -> (u32, u32) {
        std::mem::take(&mut self.levels.borrow_mut().of_frame)
    }

    /// Emissions so far, and those of cells that had one after `since`; then `now` is what they are told from.
    pub(super) fn take_emits(&self, now: u32) -> (u64, u64) {
        self.since.set(now);
        (self.emits.take(), self.refires.take())
    }

    pub(super) fn emits(&self) -> u64 {
        self.emits.get()
    }
}

impl Tally {
    /// Whether levels of turns are asked for.
    #[inline]
    pub(super) fn measures_levels(&self) -> bool {
        self.asking_levels.get() > 0
    }

    /// Whether emissions are to be told.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.asking.get() > 0
    }

    /// Whether more than sums of emissions is asked for.
    pub(super) fn asks_for_more(&self) -> bool {
        self.passes.get() > 0 || self.measures_levels()
    }

    /// One more emission, of a cell that did so last `before`.
    #[inline]
    pub(super) fn add(&self, before: u32) {
        self.emits.set(self.emits.get() + 1);
        if before > self.since.get() {
            self.refires.set(self.refires.get() + 1);
        }
    }

    /// A pass begins; one inside another joins it.
    pub(crate) fn open_pass(&self) {
        if self.passes.replace(self.passes.get() + 1) == 0 {
            self.fired.borrow_mut().clear();
            self.sealed.take();
            step(&self.asking, true);
        }
    }

    /// A pass ends.
    pub(crate) fn close_pass(&self) {
        self.passes.set(self.passes.get() - 1);
        if self.passes.get() == 0 {
            step(&self.asking, false);
            self.sealed.replace(Some(self.fired.take()));
        }
    }

    /// The emissions of the last pass, in order; they are given once.
    pub(crate) fn take_pass(&self) -> Option<Vec<CellKey>> {
        self.sealed.take()
    }

    /// A wave begins.
    #[inline]
    pub(super) fn begin_wave(&self) {
        self.emits_before.set(self.emits.get());
        if self.measures_levels() {
            self.levels.borrow_mut().of_wave = (0, 0);
        }
    }

    /// A round has settled.
    #[cold]
    pub(super) fn end_levels(&self, round: u64) {
        self.levels.borrow_mut().end_round(round);
    }

    /// The store's clock starts anew.
    pub(super) fn reset_clock(&self) {
        self.since.set(0);
    }

    /// Gives back what nobody asks for.
    pub(super) fn shrink_to_fit(&self) {
        if !self.measures_levels() {
            self.levels.take();
        }
        self.fired.borrow_mut().shrink_to_fit();
    }

    pub(super) fn bytes(&self) -> usize {
        self.levels.borrow().bytes() + self.fired.borrow().capacity() * size_of::<CellKey>()
    }
}

impl Store {
    /// Counts a cell on its level: before its turn, and after it, when its inputs may be others, or gone with its end.
    #[cold]
    pub(super) fn note_level(&self, node: NodeRef) {
        if !node.has(flag::DEAD) {
            let mut levels = self.probe.tally.levels.borrow_mut();
            levels.count(&self.graph.borrow(), node.rank.get(), self.round.get());
        }
    }

    /// A cell has emitted; `before` is when it did so last.
    #[cold]
    pub(super) fn tally_emit(&self, node: NodeRef, before: u32) {
        let tally = &self.probe.tally;
        tally.add(before);
        if tally.passes.get() > 0 {
            tally.fired.borrow_mut().push(self.id_of(node));
        }
    }
}
