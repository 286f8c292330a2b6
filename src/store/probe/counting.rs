//! The hooks with the feature `trace`: they fill the rows.
//!
//! The settle loop counts in one of two ways. *In short*, the usual one, an emission is one more in the node's own header,
//! which the turn has in hand anyway; a turn comes once a round, so that nothing has to be compared. *In full*, each turn and emission is
//! told to all that ask, and an emission counts if the row has none of this round yet: while times, emissions or levels are asked
//! for, and in a round in which derived cells have emitted outside of the loop, or in which the loop runs again.
//!
//! Invariants: **W3** an emission is counted once a round, however often its cell is marked in it. **W4** `lap` is the clock at
//! the last boundary; the time from there to the next one is that of the turn or call in between. **W5** the emissions of a cell are
//! those of its row and those in its header together.
//!
//! Costs: a count is two instructions for a turn that emits, one row touched for one that does not, and one for the calls of a
//! fan-out; nothing is hashed, locked or allocated. Times are one read of the clock at each boundary, in the waves that are timed.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use slotmap::SparseSecondaryMap;

use super::costs::Costs;
use super::rows::{Counts, NO_ROW, Rows, Times};
use super::spans::Spans;
use super::tally::Tally;
use crate::graph::CellKey;
use crate::observe::periodic;
use crate::store::kernel::Outcome;
use crate::store::node::NodeRef;
use crate::store::{Remains, Store, SubKey, flag};
use crate::system;

/// Where a node is counted.
#[derive(Debug)]
pub(crate) struct Row {
    /// The number of its row.
    number: Cell<u32>,
    /// Emissions that the row does not have.
    emits: Cell<u32>,
}

impl Default for Row {
    fn default() -> Self {
        Self { number: Cell::new(NO_ROW), emits: Cell::new(0) }
    }
}

impl Row {
    fn number(&self) -> Option<u32> {
        Some(self.number.get()).filter(|&row| row != NO_ROW)
    }
}

/// The settle loop counts in short, ...
pub(crate) const SHORT: u8 = 0;
/// ... and times each turn, ...
pub(crate) const TIMED: u8 = 1;
/// ... and adds up emissions, ...
pub(crate) const TALLIED: u8 = 2;
/// ... or it counts in full.
pub(crate) const FULL: u8 = 4;

/// Which waves are timed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Timing {
    /// None: counts only. How a program starts.
    #[default]
    Off,
    /// All.
    EveryWave,
    /// One in so many, evenly; all where that is 0 or 1. Totals are of the timed waves alone.
    OneWaveIn(u32),
}

/// What tells the time of boundaries.
pub(crate) enum Timer {
    /// The counter of the processor; rows hold its units.
    Counter(quanta::Clock),
    /// A clock of the program's own; rows hold nanoseconds.
    Given(Rc<dyn Fn() -> u64>),
}

impl Timer {
    #[inline]
    fn now(&self) -> u64 {
        match self {
            Self::Counter(clock) => clock.raw(),
            Self::Given(clock) => clock(),
        }
    }

    pub(crate) fn nanoseconds(&self, units: u64) -> u64 {
        match self {
            Self::Counter(clock) => clock.delta_as_nanos(0, units),
            Self::Given(_) => units,
        }
    }
}

/// Counters and clocks of a store.
pub(crate) struct Probe {
    pub(crate) rows: RefCell<Rows>,
    pub(super) tally: Tally,
    pub(super) costs: Costs,
    pub(super) spans: Spans,
    timing: Cell<Timing>,
    /// Waves until the next one that is timed.
    untimed: Cell<u32>,
    /// Whether more than counts is asked for in the wave under way.
    asked: Cell<bool>,
    /// Whether that, or which waves are timed, is to be looked at when a wave begins.
    follows: Cell<bool>,
    /// Whether the wave under way is timed.
    timed: Cell<bool>,
    /// The start of the last round in which derived cells have emitted outside of the settle loop.
    mixed: Cell<u32>,
    /// The start of the last round in which the loop runs again.
    again: Cell<u32>,
    lap: Cell<u64>,
    timer: RefCell<Option<Timer>>,
    /// All notifies; when the log is written next, and after how many more again.
    notifies: Cell<u64>,
    log_at: Cell<u64>,
    log_period: Cell<u64>,
    watches: RefCell<SparseSecondaryMap<CellKey, Watch>>,
}

/// A call of a subscriber that took too long.
pub(crate) struct SlowCall {
    pub(crate) subscription: Option<SubKey>,
    pub(crate) time_ns: u64,
}

/// Who is told of slow calls.
struct Watch {
    threshold_ns: u64,
    call: Rc<RefCell<dyn FnMut(SlowCall)>>,
}

impl Default for Probe {
    fn default() -> Self {
        let period = system::number_of("RSHIP_HYPHA_TRACE_LOG_EVERY").unwrap_or(0);
        Self {
            rows: RefCell::default(),
            tally: Tally::default(),
            costs: Costs::default(),
            spans: Spans::default(),
            timing: Cell::new(Timing::Off),
            untimed: Cell::new(0),
            asked: Cell::new(period != 0),
            follows: Cell::new(period != 0),
            timed: Cell::new(false),
            mixed: Cell::new(0),
            again: Cell::new(0),
            lap: Cell::new(0),
            timer: RefCell::new(None),
            notifies: Cell::new(0),
            log_at: Cell::new(period),
            log_period: Cell::new(period),
            watches: RefCell::default(),
        }
    }
}

impl Probe {
    /// A pass begins; one inside another joins it.
    pub(crate) fn open_pass(&self) {
        self.tally.open_pass();
        self.look_for_asked();
    }

    /// A pass ends.
    pub(crate) fn close_pass(&self) {
        self.tally.close_pass();
        self.look_for_asked();
    }

    /// The emissions of the last pass, in order; they are given once.
    pub(crate) fn take_pass(&self) -> Option<Vec<CellKey>> {
        self.tally.take_pass()
    }

    pub(crate) fn timing(&self) -> Timing {
        self.timing.get()
    }

    pub(crate) fn set_timing(&self, timing: Timing) {
        self.timing.set(timing);
        self.untimed.set(0);
        self.choose_timed();
        // The turn under way has begun by then.
        if self.timed.get() {
            self.lap();
        }
    }

    /// Times are told by another clock from now on; what was measured before is forgotten.
    pub(crate) fn set_timer(&self, timer: Timer) {
        self.rows.borrow_mut().drop_times();
        self.lap.set(timer.now());
        let before = self.timer.replace(Some(timer));
        drop(before);
    }

    /// Writes the log after so many notifies, and again after as many more; never with 0.
    pub(crate) fn set_log_period(&self, period: u64) {
        self.log_period.set(period);
        self.log_at.set(self.notifies.get().saturating_add(period));
        self.look_for_asked();
    }

    /// Tells of calls of a cell's subscribers that take longer.
    pub(crate) fn watch_calls(
        &self,
        key: CellKey,
        threshold_ns: u64,
        call: Rc<RefCell<dyn FnMut(SlowCall)>>,
    ) {
        let before = self.watches.borrow_mut().insert(key, Watch { threshold_ns, call });
        drop(before);
    }

    pub(crate) fn shrink_to_fit(&self) {
        self.rows.borrow_mut().shrink_to_fit();
        self.tally.shrink_to_fit();
    }

    pub(crate) fn bytes(&self) -> usize {
        self.rows.borrow().bytes() + self.tally.bytes()
    }

    /// Notes whether the hooks have more to do than count.
    pub(super) fn look_for_asked(&self) {
        let adds = self.tally.is_open() || self.tally.measures_levels();
        self.asked.set(self.timed.get() || adds || self.log_period.get() != 0);
        self.follows.set(self.asked.get() || self.timing.get() != Timing::Off);
    }

    fn choose_timed(&self) {
        let timed = match self.timing.get() {
            Timing::Off => false,
            Timing::EveryWave => true,
            Timing::OneWaveIn(n) => {
                let left = self.untimed.get();
                self.untimed.set(left.checked_sub(1).unwrap_or(n.saturating_sub(1)));
                left == 0
            }
        };
        self.timed.set(timed);
        self.look_for_asked();
    }

    #[inline]
    fn now(&self) -> u64 {
        if let Some(timer) = &*self.timer.borrow() {
            return timer.now();
        }
        self.first_now()
    }

    /// Takes the counter of the processor for clock, and its time.
    #[cold]
    fn first_now(&self) -> u64 {
        let timer = Timer::Counter(quanta::Clock::new());
        let now = timer.now();
        self.timer.replace(Some(timer));
        now
    }

    /// The time since the last boundary, which is now.
    #[inline]
    fn lap(&self) -> u64 {
        let now = self.now();
        now.saturating_sub(self.lap.replace(now))
    }

    /// In nanoseconds, what rows hold.
    pub(crate) fn nanoseconds(&self, units: u64) -> u64 {
        self.timer.borrow().as_ref().map_or(0, |timer| timer.nanoseconds(units))
    }
}

/// Adds a time to the last round's.
fn add_last(times: &mut Times, time: u64, now: u32, round: u32) {
    if times.since < round {
        (times.since, times.last) = (now, 0);
    }
    times.last += time;
}

impl Store {
    #[inline]
    pub(crate) fn note_born(&self, node: NodeRef) {
        node.row.number.set(self.probe.rows.borrow_mut().take());
    }

    #[inline]
    pub(crate) fn note_dead(&self, node: NodeRef) {
        if node.has(flag::METERED) {
            let watch = self.probe.watches.borrow_mut().remove(self.id_of(node));
            watch.into_iter().for_each(|watch| self.entomb(Remains::Other(Box::new(watch))));
        }
        if let Some(row) = node.row.number() {
            node.row.number.set(NO_ROW);
            self.probe.rows.borrow_mut().give_back(row);
        }
    }

    /// A wave begins.
    #[inline]
    pub(crate) fn note_wave(&self) {
        if self.probe.follows.get() {
            return self.follow_wave();
        }
        self.look_for_listener();
        if self.probe.follows.get() {
            self.probe.tally.begin_wave();
        }
    }

    #[inline(never)]
    fn follow_wave(&self) {
        if self.probe.timing.get() != Timing::Off || self.probe.timed.get() {
            self.probe.choose_timed();
        }
        if self.probe.log_period.get() != 0 && self.probe.notifies.get() >= self.probe.log_at.get()
        {
            self.write_log();
        }
        self.look_for_listener();
        self.probe.tally.begin_wave();
    }

    /// The logger may call the store: what it writes waits.
    #[cold]
    fn write_log(&self) {
        self.probe.set_log_period(self.probe.log_period.get());
        self.busy.set(self.busy.get() + 1);
        self.guarded(|| periodic::write_due(self));
        self.busy.set(self.busy.get() - 1);
    }

    /// A boundary of which nothing is measured.
    #[inline]
    pub(crate) fn note_lap(&self) {
        if self.probe.timed.get() {
            self.probe.lap();
        }
    }

    /// How the settle loop is to count.
    #[inline]
    pub(crate) fn counting(&self) -> u8 {
        let mixed = self.probe.mixed.get() == self.round_start.get();
        if self.probe.asked.get() || mixed { self.asked_counting(mixed) } else { SHORT }
    }

    #[cold]
    fn asked_counting(&self, mixed: bool) -> u8 {
        let (probe, tally) = (&self.probe, &self.probe.tally);
        if mixed || probe.log_period.get() != 0 || tally.asks_for_more() {
            return FULL;
        }
        let timed = if probe.timed.get() { TIMED } else { SHORT };
        timed | if tally.is_open() { TALLIED } else { SHORT }
    }

    /// The settle loop runs again in this round.
    pub(crate) fn note_again(&self) {
        self.probe.again.set(self.round_start.get());
        self.probe.mixed.set(self.round_start.get());
    }

    /// A turn in the settle loop is over, which counts in short.
    #[inline]
    pub(crate) fn note_outcome(&self, node: NodeRef, outcome: Outcome) {
        if outcome == Outcome::NOTHING { self.note_cut_off(node) } else { self.count_emit(node) }
    }

    /// One more emission, the first of its round.
    #[inline]
    fn count_emit(&self, node: NodeRef) {
        let emits = node.row.emits.get().wrapping_add(1);
        node.row.emits.set(emits);
        if emits == 0 {
            self.carry(node);
        }
    }

    /// The emissions in a header have reached 2^32.
    #[cold]
    fn carry(&self, node: NodeRef) {
        if let Some(counts) = self.probe.rows.borrow_mut().counts(node.row.number.get()) {
            counts.notifies += 1 << u32::BITS;
        }
    }

    #[inline]
    fn note_cut_off(&self, node: NodeRef) {
        if let Some(counts) = self.probe.rows.borrow_mut().counts(node.row.number.get()) {
            counts.cut_offs = counts.cut_offs.wrapping_add(1);
        }
    }

    /// Reads the row of a cell, only so that it is in the processor's caches.
    #[cfg(feature = "frames")]
    pub(crate) fn warm_row(&self, node: NodeRef) {
        std::hint::black_box(self.probe.rows.borrow().read_counts(node.row.number.get()));
    }

    /// A turn is put off: when it comes to its end it is no recomputation that was cut off.
    pub(crate) fn note_put_off(&self, node: NodeRef) {
        if let Some(counts) = self.probe.rows.borrow_mut().counts(node.row.number.get()) {
            counts.cut_offs = counts.cut_offs.wrapping_sub(1);
        }
    }

    /// A turn is about to be given.
    #[inline]
    pub(crate) fn note_turn_due(&self, node: NodeRef) {
        if self.probe.tally.measures_levels() {
            self.note_level(node);
        }
        // What was counted in short is not in the row: in this round only if the loop runs again.
        let round = self.round_start.get();
        let last = if self.probe.again.get() == round { u32::MAX } else { round - 1 };
        if let Some(counts) = self.probe.rows.borrow_mut().counts(node.row.number.get()) {
            counts.emitted = counts.emitted.max(node.stamp.get().min(last));
        }
    }

    /// A turn in the settle loop has changed a cell whose value was of `before`: emissions are added up.
    #[inline]
    pub(crate) fn note_tallied(&self, node: NodeRef, before: u32) {
        if node.has(flag::CUTOFF) {
            // Its emissions outside of the loop are told by the row.
            return self.note_emit(node);
        }
        self.count_emit(node);
        self.probe.tally.add(before);
    }

    /// A turn is over.
    #[inline]
    pub(crate) fn note_turn(&self, node: NodeRef, outcome: Outcome) {
        if self.probe.timed.get() {
            self.time_turn(node);
        }
        if self.probe.tally.measures_levels() {
            self.note_level(node);
        }
        if outcome != Outcome::NOTHING {
            return self.note_emit(node);
        }
        // A write that was seen before it could be compared is a change already.
        let emitted = || self.emitted(node) >= self.round_start.get();
        if !node.has(flag::CUTOFF) || !emitted() {
            self.note_cut_off(node);
        }
    }

    /// The store's clock when a cell last emitted, as far as its row knows.
    fn emitted(&self, node: NodeRef) -> u32 {
        node.row.number().map_or(0, |row| self.probe.rows.borrow().read_counts(row).emitted)
    }

    /// A turn did not come to its end, or waits for another one: what it has worked so far is its own.
    #[inline]
    pub(crate) fn note_part(&self, node: Option<NodeRef>) {
        if let Some(node) = node.filter(|_| self.probe.timed.get()) {
            self.time_turn(node);
        }
    }

    /// The time since the last boundary is that of a cell's turn.
    #[inline]
    pub(crate) fn time_turn(&self, node: NodeRef) {
        let time = self.probe.lap();
        let Some(row) = node.row.number() else { return };
        let mut rows = self.probe.rows.borrow_mut();
        let times = rows.times(row);
        times.compute += time;
        add_last(times, time, self.clock.get(), self.round_start.get());
    }

    /// A cell has a value in a wave in which nothing else happens.
    #[inline]
    pub(crate) fn note_emit_alone(&self, node: NodeRef) {
        if self.probe.asked.get() { self.note_emit(node) } else { self.count_emit(node) }
    }

    /// A cell has a value or an end that is new in this round.
    #[inline]
    pub(crate) fn note_emit(&self, node: NodeRef) {
        if node.has(flag::KERNEL) {
            self.probe.mixed.set(self.round_start.get());
        }
        let mut rows = self.probe.rows.borrow_mut();
        let Some(counts) = rows.counts(node.row.number.get()) else { return };
        let before = counts.emitted;
        if before < self.round_start.get() {
            counts.emitted = self.clock.get();
            counts.notifies += 1;
            if self.probe.asked.get() {
                drop(rows);
                self.note_emit_in_full(node, before);
            }
        }
    }

    #[inline(never)]
    fn note_emit_in_full(&self, node: NodeRef, before: u32) {
        self.probe.notifies.set(self.probe.notifies.get() + 1);
        if self.probe.tally.is_open() {
            self.tally_emit(node, before);
        }
    }

    /// Subscribers are about to be called.
    #[inline]
    pub(crate) fn note_first_call(&self, node: NodeRef) {
        if node.has(flag::METERED) {
            self.probe.lap();
        }
    }

    /// A subscriber has been called with what happened at `stamp`.
    #[inline]
    pub(crate) fn note_call(&self, node: NodeRef, stamp: u32) {
        if self.probe.timed.get() || node.has(flag::METERED) {
            self.time_call(node, stamp);
        }
    }

    #[inline(never)]
    fn time_call(&self, node: NodeRef, stamp: u32) {
        let Some(row) = node.row.number() else { return };
        let time = self.probe.lap();
        let mut rows = self.probe.rows.borrow_mut();
        let times = rows.times(row);
        times.delivery += time;
        times.slowest = times.slowest.max(time);
        add_last(times, time, self.clock.get(), self.round_start.get());
        drop(rows);
        if node.has(flag::METERED) {
            self.check_slow(node, time, stamp);
        }
    }

    #[cold]
    fn check_slow(&self, node: NodeRef, time: u64, stamp: u32) {
        let time_ns = self.probe.nanoseconds(time);
        let watches = self.probe.watches.borrow();
        let watch = watches.get(self.id_of(node)).filter(|watch| time_ns > watch.threshold_ns);
        let Some(call) = watch.map(|watch| watch.call.clone()) else { return };
        drop(watches);
        let subscription = self.subs.borrow().key_before(self.calling.get(), stamp);
        self.guarded(|| (call.borrow_mut())(SlowCall { subscription, time_ns }));
        self.probe.lap();
    }

    /// All that is dirty in the round has been computed; delivery begins.
    #[inline]
    pub(crate) fn note_deliver(&self) {
        if self.probe.tally.measures_levels() {
            self.probe.tally.end_levels(self.round.get());
        }
        self.note_settled();
        self.note_first_fanout();
    }

    /// All subscribers of a cell have been called.
    #[inline]
    pub(crate) fn note_calls(&self, node: NodeRef, calls: u64) {
        if let Some(counts) = self.probe.rows.borrow_mut().counts(node.row.number.get()) {
            counts.deliveries += calls;
        }
    }

    /// What was counted for a cell.
    pub(crate) fn counts_of(&self, node: NodeRef) -> Option<Counts> {
        let mut counts = self.probe.rows.borrow().read_counts(node.row.number()?);
        counts.notifies += u64::from(node.row.emits.get());
        Some(counts)
    }

    /// What was measured for a cell, in units of the clock in use.
    pub(crate) fn times_of(&self, node: NodeRef) -> Option<Times> {
        Some(self.probe.rows.borrow().read_times(node.row.number()?))
    }

    /// Forgets what was counted and measured for a cell.
    pub(crate) fn clear_counts(&self, node: NodeRef) {
        if let Some(row) = node.row.number() {
            node.row.emits.set(0);
            self.probe.rows.borrow_mut().clear(row);
        }
    }

    pub(crate) fn note_clock_reset(&self) {
        self.probe.mixed.set(0);
        self.probe.again.set(0);
        self.probe.rows.borrow_mut().reset_clock();
        self.probe.tally.reset_clock();
    }

    #[inline]
    pub(crate) fn visits_all(&self) -> bool {
        self.listens()
    }
}
