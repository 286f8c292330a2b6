//! The model's writes and waves.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::model::{Event, Grave, Naive, Payload, Queued, Waiting};
use super::op::{Heard, Val};
use super::stages::Given;

pub fn caught<R>(f: impl FnOnce() -> R) -> Result<R, Payload> {
    catch_unwind(AssertUnwindSafe(f))
}

impl Naive {
    /// P6: runs user code inside a wave; the first payload is kept for the outermost caller.
    pub fn guarded<R>(&self, f: impl FnOnce() -> R) -> Option<R> {
        caught(f).map_err(|payload| self.keep_panic(payload)).ok()
    }

    fn keep_panic(&self, payload: Payload) {
        self.s().panic.get_or_insert(payload);
    }

    /// Runs user code; when the last of it returns, what waits is done. Its own panic goes on.
    pub fn user<R>(&self, f: impl FnOnce() -> R) -> R {
        self.0.busy.set(self.0.busy.get() + 1);
        let given = caught(f);
        self.0.busy.set(self.0.busy.get() - 1);
        if self.0.busy.get() == 0 {
            self.rest();
        }
        match given {
            Ok(given) => {
                self.report();
                given
            }
            Err(payload) => {
                if self.0.busy.get() == 0 && self.0.batch.get() == 0 {
                    self.s().panic = None;
                }
                resume_unwind(payload)
            }
        }
    }

    pub fn rest_if_idle(&self) {
        if self.0.busy.get() == 0 {
            self.rest();
            self.report();
        }
    }

    /// Does what waits.
    fn rest(&self) {
        self.0.busy.set(1);
        loop {
            self.bury();
            if self.0.batch.get() > 0 {
                self.join_batch();
            } else {
                self.run_queue();
            }
            if self.s().graveyard.is_empty() && self.s().queue.is_empty() {
                break;
            }
        }
        self.0.busy.set(0);
    }

    /// The outermost call tells its caller of the first panic.
    fn report(&self) {
        if self.0.busy.get() > 0 || self.0.batch.get() > 0 {
            return;
        }
        let panic = self.s().panic.take();
        match panic {
            Some(payload) if !std::thread::panicking() => resume_unwind(payload),
            // The first panic is on its way already; later ones are logged.
            _ => (),
        }
    }

    /// P3, P4, P8: the writes of the body are one wave; in a callback they wait as one group.
    pub fn run_batch(&self, body: &mut dyn FnMut()) {
        if self.0.busy.get() > 0 {
            return self.run_group(body);
        }
        if self.0.batch.get() == 0 {
            self.open_wave();
        }
        self.0.batch.set(self.0.batch.get() + 1);
        let given = caught(body);
        self.0.batch.set(self.0.batch.get() - 1);
        if self.0.batch.get() > 0 {
            return given.unwrap_or_else(|payload| resume_unwind(payload));
        }
        self.0.busy.set(1);
        given.unwrap_or_else(|payload| self.keep_panic(payload));
        self.run_wave();
        self.0.busy.set(0);
        self.rest();
        self.report();
    }

    fn run_group(&self, body: &mut dyn FnMut()) {
        let outer = self.0.group.get();
        if outer.is_none() {
            self.0.groups.set(self.0.groups.get() + 1);
            self.0.group.set(Some(self.0.groups.get()));
        }
        let given = caught(body);
        self.0.group.set(outer);
        given.unwrap_or_else(|payload| resume_unwind(payload));
    }

    /// The writes of callbacks that ran inside a batch join it (P4).
    fn join_batch(&self) {
        while let Some(queued) = self.pop(None) {
            self.apply_queued(queued);
        }
    }

    /// The next that waits; with a group, only if it is of that group.
    fn pop(&self, group: Option<u64>) -> Option<Queued> {
        let mut state = self.s();
        let next = state.queue.front()?;
        if group.is_some() && next.group != group {
            return None;
        }
        state.queue.pop_front()
    }

    fn apply_queued(&self, queued: Queued) {
        if self.s().cells[queued.cell].dead {
            return;
        }
        match queued.what {
            Waiting::Disposal => self.end_disposed(queued.cell),
            Waiting::Write(write) => self.write_in_batch(queued.cell, write),
            Waiting::Modified(value) => self.apply_modified(queued.cell, value),
        }
    }

    /// P3: queued writes are waves of their own, first in first out.
    fn run_queue(&self) {
        while let Some(first) = self.pop(None) {
            self.open_wave();
            let group = first.group;
            self.apply_queued(first);
            while group.is_some() {
                let Some(more) = self.pop(group) else { break };
                self.apply_queued(more);
            }
            self.run_wave();
            self.bury();
        }
    }

    fn open_wave(&self) {
        let mut state = self.s();
        state.last_round = 0;
        state.rounds_taken.clear();
    }

    /// A write outside callbacks and batches: its wave, and all that it causes.
    pub fn wave(&self, apply: impl FnOnce()) {
        self.0.busy.set(1);
        self.open_wave();
        apply();
        self.run_wave();
        self.0.busy.set(0);
        self.rest();
        self.report();
    }

    /// P12: a wave is its rounds, each settled and delivered.
    fn run_wave(&self) {
        // What callbacks of a wave make belongs to no scope.
        self.in_scope(None, || self.run_rounds());
    }

    fn run_rounds(&self) {
        for round in 0.. {
            while let Some(event) = self.pop_event(round) {
                // Later rounds come after all that is written in the first.
                let arrival = if round == 0 { event.arrival } else { self.tick() };
                self.apply_written(event.cell, event.write, arrival);
            }
            self.take_more();
            self.settle();
            self.deliver();
            self.0.rounds.set(self.0.rounds.get() + 1);
            if self.s().events.is_empty() && self.s().more.is_empty() {
                return;
            }
        }
    }

    /// The cells that have more to give have their turn.
    fn take_more(&self) {
        let mut state = self.s();
        for cell in std::mem::take(&mut state.more) {
            let node = &mut state.cells[cell];
            node.dirty |= node.kernel.is_some();
        }
    }

    fn pop_event(&self, round: u64) -> Option<Event> {
        let mut state = self.s();
        let is_due = state.events.front()?.round <= round;
        is_due.then(|| state.events.pop_front())?
    }

    /// P0: each affected cell once, after all its inputs.
    fn settle(&self) {
        while let Some(cell) = self.next_dirty() {
            self.turn(cell);
        }
    }

    fn next_dirty(&self) -> Option<usize> {
        let state = self.s();
        (0..state.cells.len()).find(|&cell| state.cells[cell].dirty)
    }

    /// Before a cell gets a dependent or subscriber, which must not see what may be taken back: a cut-off settles. In a
    /// callback it can't; there the write counts as a change without a comparison (the contract leaves that open).
    pub fn observe(&self, cell: usize) {
        self.settle_for(cell);
        let pending = self.s().cells[cell].base.take().is_some();
        if pending {
            self.s().cells[cell].dirty = false;
            self.mark_changed(cell);
        }
    }

    /// P4: a read in a batch is a settle point for the cell and what it depends on.
    pub fn settle_for(&self, cell: usize) {
        if self.0.batch.get() == 0 || self.0.busy.get() > 0 {
            return;
        }
        self.0.busy.set(1);
        let cone = self.s().upstream(cell);
        // What closures make then belongs to no scope.
        self.in_scope(None, || {
            for cell in cone {
                if self.s().cells[cell].dirty {
                    self.turn(cell);
                }
            }
        });
        self.0.busy.set(0);
        self.rest();
    }

    /// One cell's turn.
    fn turn(&self, cell: usize) {
        let (kernel, fresh, cut) = {
            let node = &mut self.s().cells[cell];
            node.dirty = false;
            let fresh = std::mem::take(&mut node.fresh);
            (node.kernel.take(), fresh, node.same.is_some())
        };
        if cut {
            return self.compare(cell);
        }
        let Some(mut kernel) = kernel else { return };
        let given = self.guarded(|| kernel.turn(self, &fresh, false));
        // P6: after a panic the last good value stays; an end of the inputs still counts.
        let given =
            given.or_else(|| self.guarded(|| kernel.turn(self, &[], false))).unwrap_or_default();
        self.conclude(cell, kernel, given);
    }

    fn conclude(&self, cell: usize, kernel: super::kernel::Kernel, given: Given<Val>) {
        let gone = {
            let node = &self.s().cells[cell];
            node.dead || node.disposed
        };
        if given.more && !gone {
            self.s().more.push(cell);
        }
        if gone || given.end.is_some() {
            self.s().graveyard.push(Grave::Kernel(kernel));
        } else {
            self.s().cells[cell].kernel = Some(kernel);
        }
        if gone {
            return;
        }
        let changed = given.value.is_some();
        if let Some(value) = given.value {
            self.s().cells[cell].value = value;
        }
        if let Some(end) = given.end.clone() {
            // C6: it lets go of its inputs before its subscribers hear of the end.
            let mut state = self.s();
            state.cells[cell].end = Some(end);
            state.cells[cell].inputs.clear();
            drop(state);
            self.sweep();
        }
        if changed {
            self.mark_changed(cell);
        }
        if given.end.is_some() {
            self.mark_ended(cell);
        }
    }

    /// P8: a cell with a cut-off changed if it is not the same as before the batch.
    fn compare(&self, cell: usize) {
        let changed = {
            let node = &mut self.s().cells[cell];
            let base = node.base.take();
            let same = node.same.zip(base.as_ref());
            let same = same.is_some_and(|(same, base)| same(base.number(), node.value.number()));
            if same {
                node.value = base.unwrap_or(Val::Int(0));
            }
            !same
        };
        if changed {
            self.mark_changed(cell);
        }
    }

    /// Cells in order, the subscribers of a cell in order of subscription, values before ends.
    fn deliver(&self) {
        while let Some(cell) = self.next_due() {
            while let Some(sub) = self.take_due(cell, false) {
                let value = self.s().cells[cell].value.clone();
                self.call(sub, Heard::Value(value));
            }
            while let Some(sub) = self.take_due(cell, true) {
                let end = self.s().cells[cell].end.clone();
                self.call(sub, end.unwrap_or(Heard::Complete));
            }
            self.end_subscriptions(cell);
        }
    }

    fn next_due(&self) -> Option<usize> {
        let state = self.s();
        let is_due = |sub: &usize| state.subs[*sub].due || state.subs[*sub].end_due;
        (0..state.cells.len()).find(|&cell| state.cells[cell].subs.iter().any(is_due))
    }

    fn take_due(&self, cell: usize, end: bool) -> Option<usize> {
        let mut state = self.s();
        let is_due = |sub: &usize| match end {
            true => state.subs[*sub].end_due,
            false => state.subs[*sub].due,
        };
        let sub = state.cells[cell].subs.iter().copied().find(is_due)?;
        match end {
            true => state.subs[sub].end_due = false,
            false => state.subs[sub].due = false,
        }
        Some(sub)
    }

    fn call(&self, sub: usize, heard: Heard) {
        let callback = self.s().subs[sub].callback.take();
        let Some(mut callback) = callback else { return };
        self.0.deliveries.set(self.0.deliveries.get() + 1);
        self.guarded(|| callback(heard));
        let mut state = self.s();
        if !state.subs[sub].gone {
            state.subs[sub].callback = Some(callback);
        }
    }
}
