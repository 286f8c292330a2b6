//! The settle loop: a wave is its rounds, a round is computing in topological order, then delivering.
//!
//! Invariants: **P0** a node is taken from the frontier at most once a round and after all its inputs, since it is taken
//! in rank order and only higher ranks are marked. Nothing of the store is borrowed while a turn or callback runs.
//!
//! Costs: a turn is one pop from the frontier, one indirect call and one mark for each dependent.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::callback::CallbackRef;
use super::kernel::{End, Outcome};
use super::node::NodeRef;
use super::probe::{FULL, SHORT, TALLIED, TIMED};
use super::tables::NumberHash;
use super::track::is_abandoned;
use super::{Payload, Store, add, flag, sign};
use crate::graph::{Lane, NONE};

/// Stamps start anew at a rest once the clock has come this far.
pub(super) const CLOCK_LIMIT: u32 = u32::MAX / 2;

impl Store {
    /// Begins a wave: from here on, writes belong to its first round.
    #[inline]
    pub(crate) fn open_wave(&self) {
        if self.is_clock_full() {
            self.reset_clock();
        }
        self.round_start.set(self.tick());
        self.note_wave();
        add(&self.round, 1);
    }

    /// Whether stamps have to start anew.
    #[inline]
    pub(super) fn is_clock_full(&self) -> bool {
        self.clock.get() >= CLOCK_LIMIT
    }

    /// Forgets all stamps: what happened before is before all that comes.
    #[cold]
    fn reset_clock(&self) {
        let nodes: Vec<NodeRef> = self.graph.borrow().iter().map(|(_, _, node)| node).collect();
        nodes.iter().for_each(|node| {
            node.stamp.set(0);
            node.set_ran(u32::from(!node.has(flag::STALE)));
        });
        self.keep_stale(&nodes);
        self.subs.borrow_mut().reset_clock();
        self.note_clock_reset();
        self.tables.borrow_mut().ends.values_mut().for_each(|ending| {
            (ending.stamp, ending.written) = (0, 0);
        });
        self.clock.set(2);
    }

    /// Settles and delivers the open wave.
    #[inline]
    pub(crate) fn run_wave(&self) {
        if !self.signs.has(sign::EVENTFUL | sign::SCOPED) {
            return self.run_plain_wave();
        }
        add(&self.counters.waves, 1);
        let _span = self.wave_span();
        self.run_rounds();
    }

    /// The same for a wave without events, where no scope is current.
    #[inline(always)]
    pub(crate) fn run_plain_wave(&self) {
        add(&self.counters.waves, 1);
        let _span = self.wave_span();
        self.run_round();
        if self.signs.has(sign::MORE) {
            self.next_round();
            self.run_rounds();
        }
    }

    /// The node whose turn it is, unless it has died in it.
    pub(crate) fn current_node(&self) -> Option<NodeRef> {
        self.current.get().filter(|node| !node.has(flag::DEAD))
    }

    /// The turn of a new node whose closure must not run before there is a node. User code is on the stack.
    pub(crate) fn first_turn(&self, node: NodeRef) {
        debug_assert!(self.busy.get() > 0);
        let current = self.current.replace(Some(node));
        let _untracked = self.untrack();
        node.set_ran(u32::MAX);
        let outcome = self.unheard(|| catch_unwind(AssertUnwindSafe(|| node.turn(self))));
        self.current.set(current);
        match outcome {
            // Nobody hears of a node that is being made.
            Ok(_) => (),
            Err(payload) => std::panic::resume_unwind(payload),
        }
    }

    #[inline(never)]
    pub(super) fn run_round(&self) {
        self.note_settle();
        self.settle();
        self.note_deliver();
        self.deliver();
        self.note_delivered();
        add(&self.counters.rounds, 1);
    }

    /// Computes all that is dirty.
    #[inline(always)]
    fn settle(&self) {
        loop {
            self.drain_all();
            if !self.begin_again() {
                break;
            }
        }
        if self.signs.has(sign::REFUSED) {
            self.report_refused();
        }
    }

    /// Whether refused readers make the loop run again.
    #[inline(always)]
    fn begin_again(&self) -> bool {
        self.signs.has(sign::RELINKED) && self.retry()
    }

    #[cold]
    #[inline(never)]
    fn retry(&self) -> bool {
        let retried = self.retry_refused();
        if retried {
            self.note_again();
        }
        retried
    }

    #[inline(always)]
    fn drain_all(&self) {
        while let Err(payload) = catch_unwind(AssertUnwindSafe(|| self.drain())) {
            self.after_panic(payload);
        }
        self.current.set(None);
    }

    #[inline]
    fn drain(&self) {
        match self.counting() {
            SHORT => self.drain_in::<SHORT>(),
            how => self.drain_asked(how),
        }
    }

    #[inline(never)]
    fn drain_asked(&self, how: u8) {
        const BOTH: u8 = TIMED | TALLIED;
        match how {
            TIMED => self.drain_in::<TIMED>(),
            TALLIED => self.drain_in::<TALLIED>(),
            BOTH => self.drain_in::<BOTH>(),
            _ => self.drain_in::<FULL>(),
        }
    }

    /// The loop. `HOW` it counts.
    #[inline(always)]
    fn drain_in<const HOW: u8>(&self) {
        self.note_lap();
        // A pointer of its own stays in a register, or on the stack.
        let open = self.open.clone();
        loop {
            let hold = self.graph.borrow_mut().hold();
            let Some(hold) = hold else { return };
            self.drain_word::<HOW>(hold.lane(&open));
        }
    }

    #[inline(always)]
    fn drain_word<const HOW: u8>(&self, mut lane: Lane<'_, NodeRef>) {
        let mut next = lane.next();
        while let Some(node) = next {
            self.current.set(Some(node));
            add(&self.counters.recomputations, 1);
            let outcome = self.turn_in_loop::<HOW>(node);
            next = if outcome == Outcome::NOTHING {
                lane.next()
            } else {
                // A node that died in its turn gives no outcome, so that this one has a rank.
                let rank = || node.rank.get();
                if node.subs.get() != NONE || HOW == FULL && self.visits_all() {
                    self.mark_deliver(node);
                }
                lane.mark_and_next(rank, &self.graph)
            };
        }
    }

    /// Notes that a node has something to deliver.
    #[inline(always)]
    pub(super) fn mark_deliver(&self, node: NodeRef) {
        if !self.due.push(node.rank.get(), node) {
            self.mark_deliver_in_graph(node);
        }
    }

    #[cold]
    #[inline(never)]
    fn mark_deliver_in_graph(&self, node: NodeRef) {
        self.graph.borrow_mut().mark_deliver(node.rank.get(), node);
    }

    #[inline(always)]
    fn turn_in_loop<const HOW: u8>(&self, node: NodeRef) -> Outcome {
        if HOW != FULL {
            let before = node.stamp.get();
            let outcome = node.turn(self);
            if HOW & TIMED != 0 {
                self.time_turn(node);
            }
            if HOW & TALLIED != 0 && outcome != Outcome::NOTHING {
                self.note_tallied(node, before);
            } else {
                self.note_outcome(node, outcome);
            }
            return outcome;
        }
        self.note_turn_due(node);
        let outcome = self.turn_in_span(node);
        self.note_turn(node, outcome);
        outcome
    }

    #[inline]
    fn turn_in_span(&self, node: NodeRef) -> Outcome {
        let _span = self.compute_span(node);
        node.turn(self)
    }

    /// A turn did not come to its end; one that was abandoned will be repeated.
    #[cold]
    fn after_panic(&self, payload: Payload) {
        self.note_part(self.current.get());
        if is_abandoned(&payload) {
            let turns = &self.counters.recomputations;
            turns.set(turns.get() - 1);
            return;
        }
        self.caught(payload);
        self.recover();
    }

    /// The turn of `current` panicked: it keeps its last value, but an end of its inputs still counts.
    #[cold]
    fn recover(&self) {
        let Some(node) = self.current.take() else {
            return;
        };
        if node.has(flag::DEAD | flag::DISPOSED | flag::ENDED) {
            return;
        }
        let pulling = self.pulling.replace(true);
        let outcome = match node.has(flag::CUTOFF) {
            // The comparison panicked: the new value is in place, so it counts as a change.
            true => {
                node.stamp.set(self.clock.get());
                Some(Outcome::CHANGED)
            }
            false => {
                self.current.set(Some(node));
                self.unheard(|| self.guarded(|| node.quiet_turn(self)))
            }
        };
        self.pulling.set(pulling);
        self.current.set(None);
        self.conclude(node, outcome.unwrap_or(Outcome::NOTHING));
    }

    /// Marks what a turn outside of the loop changed.
    fn conclude(&self, node: NodeRef, outcome: Outcome) {
        if outcome == Outcome::NOTHING || node.has(flag::DEAD) {
            return;
        }
        if node.has(flag::LAZY) && !node.has(flag::WANTED) {
            return self.mark_unaware(node);
        }
        self.mark_followers(node);
    }

    /// In an open batch, brings a derived cell up to date for a read (P4): it and what it depends on, nothing else. A
    /// source is what was written; its cut-off compares later.
    #[inline]
    pub(crate) fn settle_for(&self, node: NodeRef) {
        if self.batch.get() != 0 && self.busy.get() == 0 {
            self.settle_derived(node);
        }
    }

    /// The same for a cell that is about to get a dependent or subscriber, which may only see what stays: here a cut-off
    /// compares now. Where it can't (in a callback), its write counts as a change without comparing.
    pub(crate) fn settle_to_observe(&self, node: NodeRef) {
        if node.has(flag::STALE) {
            self.refresh(node);
        }
        if !node.has(flag::PENDING) {
            return self.settle_for(node);
        }
        if self.busy.get() == 0 {
            self.settle_cone(node);
        } else {
            self.force_pending(node);
        }
    }

    /// A write that a cut-off has not compared yet has been seen: it counts as a change.
    #[inline]
    pub(crate) fn force_pending(&self, node: NodeRef) {
        if node.has(flag::PENDING) && !node.has(flag::FORCED) {
            node.raise(flag::FORCED);
            self.touch(node);
        }
    }

    #[cold]
    fn settle_derived(&self, node: NodeRef) {
        let graph = self.graph.borrow();
        let nothing = !graph.has_dirty() || graph.in_count(node.rank.get()) == 0;
        drop(graph);
        if !nothing && !self.is_clean(node) {
            self.settle_cone(node);
        }
    }

    fn is_clean(&self, node: NodeRef) -> bool {
        self.clean.borrow_mut().at(self.marks.get()).contains(&node)
    }

    /// Notes that a node is up to date. That can't be told of what is downstream of a closure which waits.
    fn note_clean(&self, node: NodeRef) {
        if !self.waiters_feed.get() {
            self.clean.borrow_mut().at(self.marks.get()).insert(node);
        }
    }

    /// Whether a node or anything that it depends on is dirty; `reader` is running.
    pub(crate) fn is_behind(&self, reader: Option<NodeRef>, node: NodeRef) -> bool {
        // The usual case: all that is dirty comes later.
        if !self.graph.borrow().has_dirty_up_to(node.rank.get()) || self.is_clean(node) {
            return false;
        }
        let mut clean = self.clean.borrow_mut();
        let known = clean.at(self.marks.get());
        let mut graph = self.graph.borrow_mut();
        let behind = graph.is_behind(node.rank.get(), |up| known.contains(&up));
        let feeds = reader.is_some_and(|reader| graph.has_dependents(reader.rank.get()));
        drop((graph, clean));
        if !behind && !feeds {
            self.note_clean(node);
        }
        behind
    }

    pub(super) fn settle_cone(&self, node: NodeRef) {
        self.busy.set(1);
        let aside = self.set_aside();
        self.note_settle();
        self.settle_upstream(node, false);
        self.note_settled();
        drop(aside);
        self.current.set(None);
        self.tick();
        self.busy.set(0);
        if self.signs.has(sign::PENDING) {
            self.rest();
        }
    }

    /// Computes what is dirty among a node and all that it depends on. If a run is abandoned, it goes on with what that
    /// waits for, or stops there and gives `false`.
    pub(crate) fn settle_upstream(&self, node: NodeRef, stops: bool) -> bool {
        if node.has(flag::STALE) && !self.settle_stale(node, stops) {
            return false;
        }
        self.settle_dirty(node, stops)
    }

    /// The same for a cell that is not stale.
    pub(super) fn settle_dirty(&self, node: NodeRef, stops: bool) -> bool {
        let mut cone = self.scratch.take();
        let settled = loop {
            let mut clean = self.clean.borrow_mut();
            let known = clean.at(self.marks.get());
            let mut graph = self.graph.borrow_mut();
            graph.cone(node.rank.get(), |up| known.contains(&up), &mut cone);
            let shape = graph.shape();
            drop((graph, clean));
            match self.settle_each(&cone, shape) {
                Pass::Abandoned if stops => break false,
                Pass::Abandoned | Pass::Reshaped => (),
                Pass::Done => break true,
            }
        };
        *self.scratch.borrow_mut() = cone;
        if settled {
            self.note_clean(node);
        }
        settled
    }

    /// Computes the dirty ones of these ranks, while the graph has the shape in which they were found.
    fn settle_each(&self, ranks: &[u32], shape: u64) -> Pass {
        for &rank in ranks {
            let mut graph = self.graph.borrow_mut();
            if !graph.take_dirty(rank) {
                continue;
            }
            let Some(node) = graph.payload(rank) else { continue };
            drop(graph);
            if node.has(flag::RUNNING) {
                // It waits for the one that is running: whoever reads it is told of the cycle.
                self.mark_dirty(node);
                continue;
            }
            if !self.turn_for_read(node) {
                return Pass::Abandoned;
            }
            if self.graph.borrow().shape() != shape {
                return Pass::Reshaped;
            }
        }
        Pass::Done
    }

    /// Gives a dirty node its turn for somebody who reads it or what depends on it; `false` if a run was abandoned, which
    /// leaves it dirty.
    fn turn_for_read(&self, node: NodeRef) -> bool {
        if !node.has(flag::STALE) {
            return self.turn_alone(node);
        }
        // Its inputs may be stale without being dirty.
        let settled = self.settle_stale(node, true);
        if !settled && !node.has(flag::DEAD) {
            self.mark_dirty(node);
        }
        settled
    }

    /// Gives a node its turn outside of the loop; `false` if its run was abandoned.
    pub(super) fn turn_alone(&self, node: NodeRef) -> bool {
        let pulling = self.pulling.replace(true);
        let came_to_its_end = self.turn_asked_for(node);
        self.pulling.set(pulling);
        came_to_its_end
    }

    fn turn_asked_for(&self, node: NodeRef) -> bool {
        self.current.set(Some(node));
        add(&self.counters.recomputations, 1);
        self.note_turn_due(node);
        self.note_lap();
        match catch_unwind(AssertUnwindSafe(|| self.turn_in_span(node))) {
            Ok(outcome) => {
                if node.has(flag::LAZY) && !node.has(flag::DEAD | flag::REFUSED | flag::REPEAT) {
                    // What it waited for, and has read then, may have made it dirty.
                    self.graph.borrow_mut().take_dirty(node.rank.get());
                }
                self.note_turn(node, outcome);
                self.conclude(node, outcome);
            }
            Err(payload) => {
                let abandoned = is_abandoned(&payload);
                self.current.set(Some(node));
                self.after_panic(payload);
                return !abandoned;
            }
        }
        true
    }

    /// Visits the cells that changed or ended and have subscribers, in topological order.
    #[inline]
    fn deliver(&self) {
        self.note_lap();
        while let Some(node) = self.next_deliver() {
            self.deliver_to(node);
            if node.has(flag::DISPOSED) && node.has(flag::ENDED) {
                self.end_subscriptions(node);
            }
        }
    }

    #[inline(always)]
    fn next_deliver(&self) -> Option<NodeRef> {
        match self.due.take() {
            None if !self.due.was_all() => self.next_deliver_in_graph(),
            taken => taken,
        }
    }

    #[inline(never)]
    fn next_deliver_in_graph(&self) -> Option<NodeRef> {
        self.graph.borrow_mut().next_deliver().map(|(_, node)| node)
    }

    /// Tells the subscribers of a cell what this round has brought.
    #[inline(always)]
    pub(crate) fn deliver_to(&self, node: NodeRef) {
        // The usual case needs nothing of the node that depends on its type, so that the call is made from here. A
        // profiler is to see it below a frame that names the type.
        if cfg!(not(feature = "profiling")) && !node.has(flag::ENDED | flag::SOURCE) {
            return self.deliver_value(node);
        }
        self.deliver_typed(node);
    }

    #[inline(never)]
    fn deliver_typed(&self, node: NodeRef) {
        let _span = self.fanout_span(node);
        node.fanout(self);
    }

    #[inline(always)]
    fn deliver_value(&self, node: NodeRef) {
        if self.brought_value(node) {
            let stamp = node.stamp.get();
            self.call_subscribers(node, stamp, |callback| callback.call_with_value(node));
        }
    }

    /// Whether the cell took a value in this round.
    pub(crate) fn brought_value(&self, node: NodeRef) -> bool {
        node.stamp.get() >= self.round_start.get()
    }

    /// How and when the cell ended, if it did in this round.
    #[inline]
    pub(crate) fn brought_end(&self, node: NodeRef) -> Option<(End, u32)> {
        if node.has(flag::ENDED) { self.recent_end(node) } else { None }
    }

    #[cold]
    fn recent_end(&self, node: NodeRef) -> Option<(End, u32)> {
        if node.has(flag::DEAD) {
            return None;
        }
        let id = self.id_of(node);
        let tables = self.tables.borrow();
        let ending = tables.ends.get(id)?;
        (ending.stamp >= self.round_start.get()).then(|| (ending.end.clone(), ending.stamp))
    }

    /// Calls the subscribers of a cell that have not seen what happened at `stamp`, in subscription order. A panic of
    /// one does not keep the next from its call.
    #[inline(always)]
    pub(crate) fn call_subscribers(&self, node: NodeRef, stamp: u32, call: impl Fn(CallbackRef)) {
        self.note_first_call(node);
        let head = node.subs.get();
        let only = self.subs.borrow_mut().only(head, stamp);
        match only {
            Some(callback) => {
                self.call_subscriber((node, head), stamp, callback, call);
                self.note_end_of_calls(node, 1);
            }
            None => self.call_ring(node, stamp, call),
        }
    }

    /// The same where there is not just one.
    #[inline(never)]
    fn call_ring(&self, node: NodeRef, stamp: u32, call: impl Fn(CallbackRef)) {
        self.cursor.start(node.subs.get());
        let mut calls = 0;
        while let Some(index) = self.cursor.get() {
            let due = self.subs.borrow_mut().step(&self.cursor, node.subs.get(), index, stamp);
            let Some(callback) = due else { continue };
            calls += 1;
            self.call_subscriber((node, index), stamp, callback, &call);
        }
        self.note_end_of_calls(node, calls);
    }

    #[inline(always)]
    fn call_subscriber(
        &self,
        (node, index): (NodeRef, u32),
        stamp: u32,
        callback: CallbackRef,
        call: impl Fn(CallbackRef),
    ) {
        self.calling.set(index);
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| call(callback))) {
            self.caught(payload);
        }
        self.note_call(node, stamp);
    }

    #[inline(always)]
    fn note_end_of_calls(&self, node: NodeRef, calls: u64) {
        add(&self.counters.deliveries, calls);
        self.note_calls(node, calls);
        self.calling.set(NONE);
    }
}

/// How far a pass over ranks has come.
enum Pass {
    Done,
    /// Edges or ranks have changed.
    Reshaped,
    Abandoned,
}

/// Which cells were settled for a read since the last write or death, so that reading one again costs no search.
#[derive(Default)]
pub(crate) struct Clean {
    marks: u64,
    cells: HashSet<NodeRef, NumberHash>,
}

impl Clean {
    /// The cells that were settled since mark number `marks`.
    fn at(&mut self, marks: u64) -> &mut HashSet<NodeRef, NumberHash> {
        if self.marks != marks {
            self.marks = marks;
            self.cells.clear();
        }
        &mut self.cells
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::CLOCK_LIMIT;
    use crate::store::with_store;
    use crate::{Cell, Pipeline, Source, batch};

    /// The clock starts anew once in its life of 2^31 ticks; nobody may notice.
    #[test]
    fn nothing_is_lost_or_doubled_when_the_clock_starts_anew() {
        for ahead in 0..8 {
            let (plain, source) = (Cell::new(1), Source::new());
            let sum = plain.clone().scan(0, |sum, v| sum + v).materialize();
            let count = source.clone().scan(0, |n, _: &i32| n + 1).materialize();
            let calls = Rc::new(std::cell::Cell::new(0));
            let counter = calls.clone();
            let guard = sum.watch_changes(move |_| counter.set(counter.get() + 1));
            with_store(|store| store.clock.set(CLOCK_LIMIT - ahead)).unwrap();
            for round in 1..=6 {
                plain.set(1);
                batch(|| {
                    source.emit(0);
                    source.emit(0);
                });
                assert_eq!((sum.get(), count.get()), (1 + round, Some(2 * round)), "{ahead}");
                assert_eq!(calls.get(), round);
            }
            assert!(with_store(|store| store.clock.get()).unwrap() < CLOCK_LIMIT);
            drop(guard);
        }
    }
}
