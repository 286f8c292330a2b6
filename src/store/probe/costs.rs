//! What a frame of the program costs: times and counts of all that happens in the store while it is open.
//!
//! It knows no frames and no clock, only a function that gives nanoseconds.
//!
//! Invariants: **F1** the clock is read only while a frame is open. **F2** it is the user's: it is read with nothing borrowed, with
//! `busy` raised (so that its writes wait), and outside of turns and callbacks.
//!
//! Costs: three readings of the clock a round.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::store::Store;

/// Gives the time in nanoseconds.
pub(crate) type Now = Rc<dyn Fn() -> u64>;

/// What a frame has cost.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Cost {
    pub(crate) waves: u64,
    pub(crate) rounds: u64,
    pub(crate) computed: u64,
    pub(crate) emits: u64,
    pub(crate) refires: u64,
    pub(crate) levels: u32,
    pub(crate) widest: u32,
    pub(crate) settle_ns: u64,
    pub(crate) delivery_ns: u64,
    /// When the first delivery after an emit began.
    pub(crate) first_fanout_ns: Option<u64>,
}

/// The frame that is open.
#[derive(Default)]
pub(crate) struct Costs {
    open: Cell<bool>,
    now: RefCell<Option<Now>>,
    /// The last reading of the clock.
    read: Cell<u64>,
    settle_ns: Cell<u64>,
    delivery_ns: Cell<u64>,
    first_fanout_ns: Cell<Option<u64>>,
}

/// Adds up what a frame costs, until this is dropped.
pub(crate) struct OpenFrame<'a> {
    store: &'a Store,
    levels: bool,
    /// What the store's own counters were before.
    waves: u64,
    rounds: u64,
    computed: u64,
}

impl OpenFrame<'_> {
    /// What the frame has cost so far.
    pub(crate) fn cost(&self) -> Cost {
        let (counters, probe) = (&self.store.counters, &self.store.probe);
        let (emits, refires) = probe.tally.take_emits(0);
        let (levels, widest) = probe.tally.take_levels();
        Cost {
            waves: counters.waves.get() - self.waves,
            rounds: counters.rounds.get() - self.rounds,
            computed: counters.recomputations.get() - self.computed,
            emits,
            refires,
            levels,
            widest,
            settle_ns: probe.costs.settle_ns.get(),
            delivery_ns: probe.costs.delivery_ns.get(),
            first_fanout_ns: probe.costs.first_fanout_ns.get(),
        }
    }

    fn ask(&self, asks: bool) {
        let probe = &self.store.probe;
        probe.costs.open.set(asks);
        probe.tally.ask(asks);
        if self.levels {
            probe.tally.ask_levels(asks);
        }
        probe.look_for_asked();
    }
}

impl Drop for OpenFrame<'_> {
    fn drop(&mut self) {
        self.ask(false);
        let now = self.store.probe.costs.now.take();
        drop(now);
    }
}

impl Store {
    /// Begins to add up what a frame costs; no other is open.
    pub(crate) fn open_frame(&self, now: Now, levels: bool) -> OpenFrame<'_> {
        debug_assert!(!self.is_inside() && !self.probe.costs.open.get());
        let costs = &self.probe.costs;
        costs.now.replace(Some(now));
        costs.settle_ns.set(0);
        costs.delivery_ns.set(0);
        costs.first_fanout_ns.set(None);
        self.probe.tally.take_emits(self.clock.get());
        self.probe.tally.take_levels();
        let counters = &self.counters;
        let open = OpenFrame {
            store: self,
            levels,
            waves: counters.waves.get(),
            rounds: counters.rounds.get(),
            computed: counters.recomputations.get(),
        };
        open.ask(true);
        open
    }

    /// Settling begins.
    #[inline]
    pub(crate) fn note_settle(&self) {
        if self.probe.costs.open.get() {
            self.cost_lap();
        }
    }

    /// Settling has ended.
    #[inline]
    pub(crate) fn note_settled(&self) {
        if self.probe.costs.open.get() {
            let settled = &self.probe.costs.settle_ns;
            settled.set(settled.get() + self.cost_lap());
        }
    }

    /// Delivery begins, as the clock was read last.
    #[inline]
    pub(super) fn note_first_fanout(&self) {
        let costs = &self.probe.costs;
        if costs.open.get() && costs.first_fanout_ns.get().is_none() && self.probe.tally.emits() > 0
        {
            costs.first_fanout_ns.set(Some(costs.read.get()));
        }
    }

    /// Delivery has ended.
    #[inline]
    pub(crate) fn note_delivered(&self) {
        if self.probe.costs.open.get() {
            let delivered = &self.probe.costs.delivery_ns;
            delivered.set(delivered.get() + self.cost_lap());
        }
    }

    /// Reads the clock, and tells how long ago that was done before. A clock that panics has not moved on.
    fn cost_lap(&self) -> u64 {
        let costs = &self.probe.costs;
        let now = costs.now.borrow().clone();
        let before = costs.read.get();
        let read = now.and_then(|now| self.guarded(|| now())).unwrap_or(before);
        costs.read.set(read);
        read.saturating_sub(before)
    }
}
