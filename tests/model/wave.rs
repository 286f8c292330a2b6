//! The model's writes and waves.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::model::{Event, Grave, Naive, Payload, Queued, Waiting};
use super::op::{Heard, Val, Write, work};
use super::stages::Given;

fn caught<R>(f: impl FnOnce() -> R) -> Result<R, Payload> {
    catch_unwind(AssertUnwindSafe(f))
}

/// The number that a plain write stores over `old`.
fn applied(old: i64, write: Write) -> Option<i64> {
    match write {
        Write::Set(v) | Write::Replace(v) => Some(i64::from(v)),
        Write::SetIfChanged(v) => (old != i64::from(v)).then_some(i64::from(v)),
        Write::Update(n) | Write::Modify(n) => Some(work::bump(old, n)),
        Write::Complete | Write::Fail(_) => None,
    }
}

impl Naive {
    /// P6: runs user code inside a wave; the first payload is kept for the outermost caller.
    fn guarded<R>(&self, f: impl FnOnce() -> R) -> Option<R> {
        caught(f).map_err(|payload| self.keep_panic(payload)).ok()
    }

    fn keep_panic(&self, payload: Payload) {
        self.s().panic.get_or_insert(payload);
    }

    /// Runs user code; when the last of it returns, what waits is done. Its own panic goes on.
    pub(crate) fn user<R>(&self, f: impl FnOnce() -> R) -> R {
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

    pub(crate) fn rest_if_idle(&self) {
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
        if let Some(payload) = panic {
            resume_unwind(payload);
        }
    }

    /// P0: a write is a wave of its own; it joins a batch; in a callback it is queued.
    pub(crate) fn write(&self, cell: usize, write: Write) {
        if self.0.busy.get() > 0 {
            self.enqueue(cell, Waiting::Write(write));
        } else if self.0.batch.get() > 0 {
            self.user(|| self.write_in_batch(cell, write));
        } else {
            self.wave(|| self.apply(cell, write));
        }
    }

    pub(crate) fn enqueue(&self, cell: usize, what: Waiting) {
        let group = self.0.group.get();
        let queued = Queued { cell, group, what };
        self.s().queue.push_back(queued);
    }

    /// `update` and `replace` (C8): run at once, on the last queued value where they can't work in place.
    pub(crate) fn update(&self, cell: usize, write: Write) -> Option<i64> {
        let (ended, cut, event) = {
            let node = &self.s().cells[cell];
            (node.end.is_some(), node.same.is_some(), node.event)
        };
        // C6: what waits for an ended cell is dropped.
        let held = self.s().cells[cell].value.number();
        let former = if ended { held } else { self.last_queued(cell) };
        if !ended {
            let value = applied(former, write).unwrap_or(former);
            let in_place = self.0.busy.get() == 0 && !cut && !(self.0.batch.get() > 0 && event);
            if in_place && self.0.batch.get() > 0 {
                self.user(|| self.put(cell, value));
            } else {
                // Out of a batch, in place is no different from a write of the result.
                self.write_number(cell, value);
            }
        }
        matches!(write, Write::Replace(_)).then_some(former)
    }

    /// Writes a number that need not be small.
    fn write_number(&self, cell: usize, value: i64) {
        let value = i8::try_from(value).expect("cases keep to small numbers");
        self.write(cell, Write::Set(value));
    }

    /// The value that the cell has when all that waits for it is applied.
    fn last_queued(&self, cell: usize) -> i64 {
        let state = self.s();
        let events = state.events.iter().filter(|event| event.cell == cell);
        let queued = state.queue.iter().filter(|queued| queued.cell == cell);
        let writes = events.map(|event| event.write);
        let writes = writes.chain(queued.filter_map(|queued| match queued.what {
            Waiting::Write(write) => Some(write),
            Waiting::Disposal => None,
        }));
        let start = state.cells[cell].value.number();
        writes.fold(start, |value, write| applied(value, write).unwrap_or(value))
    }

    fn write_in_batch(&self, cell: usize, write: Write) {
        if self.s().cells[cell].event {
            self.await_round(cell, write);
        } else {
            self.apply(cell, write);
        }
    }

    /// P12: an event opens a new round when its cell already has one in the current round. (An end counts as an event.)
    fn await_round(&self, cell: usize, write: Write) {
        let mut state = self.s();
        let round = state.last_round;
        let taken = state.rounds_taken.contains(&(cell, round));
        let round = if taken { round + 1 } else { round };
        state.last_round = round;
        state.rounds_taken.push((cell, round));
        state.events.push_back(Event { round, cell, write });
    }

    /// Applies a write to the cell. C6: whether it has ended is decided here.
    fn apply(&self, cell: usize, write: Write) {
        let node = {
            let node = &self.s().cells[cell];
            (node.end.is_some() || node.disposed || node.dead, node.value.number())
        };
        let (closed, old) = node;
        match write {
            _ if closed => (),
            Write::Complete => self.end(cell, Heard::Complete),
            Write::Fail(n) => self.end(cell, Heard::Error(format!("error {n}"))),
            Write::Modify(n) => self.put_in_place(cell, work::bump(old, n)),
            _ => {
                if let Some(value) = applied(old, write) {
                    self.put(cell, value);
                }
            }
        }
    }

    fn put(&self, cell: usize, value: i64) {
        let cut = {
            let node = &mut self.s().cells[cell];
            let old = std::mem::replace(&mut node.value, Val::Int(value));
            if node.same.is_some() {
                node.base.get_or_insert(old);
                node.dirty = true;
            }
            node.same.is_some()
        };
        if !cut {
            self.mark_changed(cell);
        }
    }

    /// `modify` of a cell with a cut-off always counts as a change.
    fn put_in_place(&self, cell: usize, value: i64) {
        {
            let node = &mut self.s().cells[cell];
            node.value = Val::Int(value);
            node.base = None;
            node.dirty = false;
        }
        self.mark_changed(cell);
    }

    pub(crate) fn end(&self, cell: usize, end: Heard) {
        {
            let mut state = self.s();
            if state.cells[cell].end.is_some() || state.cells[cell].dead {
                return;
            }
            state.cells[cell].end = Some(end);
        }
        self.mark_ended(cell);
    }

    fn mark_changed(&self, cell: usize) {
        self.mark(cell, true);
    }

    fn mark_ended(&self, cell: usize) {
        self.mark(cell, false);
    }

    fn mark(&self, cell: usize, changed: bool) {
        let mut state = self.s();
        for sub in state.cells[cell].subs.clone() {
            let sub = &mut state.subs[sub];
            sub.due |= changed;
            sub.end_due |= !changed;
        }
        for reader in state.dependents(cell) {
            state.cells[reader].dirty = true;
            state.cells[reader].news |= changed;
        }
    }

    /// P3, P4, P8: the writes of the body are one wave; in a callback they wait as one group.
    pub(crate) fn run_batch(&self, body: &mut dyn FnMut()) {
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
            Waiting::Disposal => self.end(queued.cell, Heard::Complete),
            Waiting::Write(write) => self.write_in_batch(queued.cell, write),
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
    pub(crate) fn wave(&self, apply: impl FnOnce()) {
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
        for round in 0.. {
            while let Some(event) = self.pop_event(round) {
                self.apply(event.cell, event.write);
            }
            self.settle();
            self.deliver();
            self.0.rounds.set(self.0.rounds.get() + 1);
            if self.s().events.is_empty() {
                return;
            }
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

    /// P4: a read in a batch is a settle point for the cell and what it depends on.
    pub(crate) fn settle_for(&self, cell: usize) {
        if self.0.batch.get() == 0 || self.0.busy.get() > 0 {
            return;
        }
        self.0.busy.set(1);
        let cone = self.s().upstream(cell);
        for cell in cone {
            if self.s().cells[cell].dirty {
                self.turn(cell);
            }
        }
        self.0.busy.set(0);
        self.rest();
    }

    /// One cell's turn.
    fn turn(&self, cell: usize) {
        let (kernel, news, cut) = {
            let node = &mut self.s().cells[cell];
            node.dirty = false;
            let news = std::mem::take(&mut node.news);
            (node.kernel.take(), news, node.same.is_some())
        };
        if cut {
            return self.compare(cell);
        }
        let Some(mut kernel) = kernel else { return };
        let given = self.guarded(|| kernel.turn(self, news, false));
        // P6: after a panic the last good value stays; an end of the inputs still counts.
        let given =
            given.or_else(|| self.guarded(|| kernel.turn(self, false, false))).unwrap_or_default();
        self.conclude(cell, kernel, given);
    }

    fn conclude(&self, cell: usize, kernel: super::kernel::Kernel, given: Given<Val>) {
        let gone = {
            let node = &self.s().cells[cell];
            node.dead || node.disposed
        };
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
        self.guarded(|| callback(heard));
        let mut state = self.s();
        if !state.subs[sub].gone {
            state.subs[sub].callback = Some(callback);
        }
    }
}
