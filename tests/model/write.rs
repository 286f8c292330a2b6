//! The model's writes: where they go, what they do to a cell.

use std::panic::resume_unwind;

use super::model::{Event, Naive, Node, Queued, State, Waiting};
use super::op::{Heard, Val, Write, work};
use super::wave::caught;

/// The number that a plain write stores over `old`.
fn applied(old: i64, write: Write) -> Option<i64> {
    match write {
        Write::Set(v) | Write::Replace(v) => Some(i64::from(v)),
        Write::SetIfChanged(v) => (old != i64::from(v)).then_some(i64::from(v)),
        Write::Update(n) | Write::Modify(n) => Some(work::bump(old, n)),
        Write::Complete | Write::Fail(_) => None,
    }
}

fn set(value: i64) -> Write {
    Write::Set(i8::try_from(value).expect("cases keep to small numbers"))
}

impl Waiting {
    /// The number that it makes of `old`.
    fn applied(&self, old: i64) -> i64 {
        match self {
            Waiting::Write(write) => applied(old, *write).unwrap_or(old),
            Waiting::Modified(value) => *value,
            Waiting::Disposal => old,
        }
    }

    fn sets(&self) -> bool {
        matches!(self, Waiting::Write(Write::Set(_) | Write::SetIfChanged(_)))
    }
}

/// C8: each `modify` that an `update` needs runs for that, once and for all.
fn work_off(start: i64, queued: &mut [&mut Waiting]) {
    let from = queued.iter().rposition(|what| what.sets()).unwrap_or(0);
    let start = queued[..from].iter().fold(start, |value, what| what.applied(value));
    queued[from..].iter_mut().fold(start, |value, what| {
        let value = what.applied(value);
        if let Waiting::Write(Write::Modify(_)) = what {
            **what = Waiting::Modified(value);
        }
        value
    });
}

impl Node {
    fn is_closed(&self) -> bool {
        self.end.is_some() || self.disposed || self.dead
    }

    /// Notes when its value or end was written.
    fn note(&mut self, write: Write, arrival: u64) {
        match write {
            Write::Complete | Write::Fail(_) => self.end_arrival = arrival,
            _ => self.arrival = arrival,
        }
    }
}

impl Naive {
    /// P0: a write is a wave of its own; it joins a batch; in a callback it is queued.
    pub fn write(&self, cell: usize, write: Write) {
        if self.0.busy.get() > 0 {
            self.enqueue(cell, Waiting::Write(write));
        } else if self.0.batch.get() > 0 {
            self.user(|| self.write_in_batch(cell, write));
        } else {
            self.wave(|| self.apply(cell, write));
        }
    }

    pub fn enqueue(&self, cell: usize, what: Waiting) {
        let group = self.0.group.get();
        let queued = Queued { cell, group, what };
        self.s().queue.push_back(queued);
    }

    /// C8: runs `change` at once, in place or on the last queued value; the cell is lent meanwhile. Its own write comes
    /// before those that `change` makes.
    pub fn update_by(&self, cell: usize, change: &mut dyn FnMut(i64) -> i64) {
        let (ended, cut, event) = {
            let node = &self.s().cells[cell];
            (node.end.is_some(), node.same.is_some(), node.event)
        };
        let batched = self.0.batch.get() > 0;
        if ended {
            return;
        }
        if self.0.busy.get() > 0 {
            let at = self.s().queue.len();
            let value = self.user(|| self.lend(cell, self.last_queued(cell), change));
            let own = Queued { cell, group: self.0.group.get(), what: Waiting::Write(set(value)) };
            self.s().queue.insert(at, own);
        } else if cut || (batched && event) {
            self.write_of(|| {
                let value = self.lend(cell, self.last_queued(cell), change);
                self.write_in_wave(cell, value, batched);
            });
        } else {
            self.write_of(|| {
                let old = self.s().cells[cell].value.number();
                let given = caught(|| self.lend(cell, old, change));
                let value = given.as_ref().map_or(old, |value| *value);
                let arrival = self.tick();
                self.s().cells[cell].arrival = arrival;
                self.put_in_place(cell, value);
                given.unwrap_or_else(|payload| resume_unwind(payload));
            });
        }
    }

    /// Runs a write with user code in it where no other user code runs.
    fn write_of(&self, apply: impl FnOnce()) {
        if self.0.batch.get() > 0 {
            self.user(apply);
        } else {
            self.wave(|| self.guarded(apply).unwrap_or(()));
        }
    }

    fn lend(&self, cell: usize, value: i64, change: &mut dyn FnMut(i64) -> i64) -> i64 {
        self.s().lent.push(cell);
        let given = caught(|| change(value));
        self.s().lent.pop();
        given.unwrap_or_else(|payload| resume_unwind(payload))
    }

    pub fn is_lent(&self, cell: usize) -> bool {
        let state = self.s();
        let upstream = state.upstream(cell);
        state.lent.iter().any(|lent| upstream.contains(lent))
    }

    /// Gives what the cell held, with all that waits for it.
    pub fn replace(&self, cell: usize, value: i8) -> i64 {
        let mut former = None;
        self.update_by(cell, &mut |held| {
            former = Some(held);
            i64::from(value)
        });
        former.unwrap_or_else(|| self.s().cells[cell].value.number())
    }

    /// Writes a number that `update` gave.
    fn write_in_wave(&self, cell: usize, value: i64, batched: bool) {
        if batched {
            self.write_in_batch(cell, set(value));
        } else {
            self.apply(cell, set(value));
        }
    }

    /// The value that the cell has when all that waits for it is applied.
    fn last_queued(&self, cell: usize) -> i64 {
        let mut state = self.s();
        let State { cells, events, queue, .. } = &mut *state;
        let start = cells[cell].value.number();
        let events = events.iter().filter(|event| event.cell == cell).map(|event| event.write);
        let start = events.fold(start, |value, write| applied(value, write).unwrap_or(value));
        let mut queued: Vec<&mut Waiting> = queue
            .iter_mut()
            .filter(|queued| queued.cell == cell)
            .map(|queued| &mut queued.what)
            .collect();
        let value = queued.iter().fold(start, |value, what| what.applied(value));
        // A cut-off may take back what these `modify`s have worked on here.
        if cells[cell].same.is_some() {
            work_off(start, &mut queued);
        }
        value
    }

    pub fn write_in_batch(&self, cell: usize, write: Write) {
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
        state.clock += 1;
        let arrival = state.clock;
        state.events.push_back(Event { round, arrival, cell, write });
    }

    /// Applies a write to the cell. C6: whether it has ended is decided here.
    pub fn apply(&self, cell: usize, write: Write) {
        let arrival = self.tick();
        self.apply_written(cell, write, arrival);
    }

    /// Counts a write; gives its number.
    pub fn tick(&self) -> u64 {
        let mut state = self.s();
        state.clock += 1;
        state.clock
    }

    /// Applies a `modify` that has run.
    pub fn apply_modified(&self, cell: usize, value: i64) {
        let arrival = self.tick();
        let closed = self.s().cells[cell].is_closed();
        if !closed {
            self.s().cells[cell].arrival = arrival;
            self.put_in_place(cell, value);
        }
    }

    /// Applies one that was written then.
    pub fn apply_written(&self, cell: usize, write: Write, arrival: u64) {
        let node = {
            let node = &self.s().cells[cell];
            (node.is_closed(), node.value.number())
        };
        let (closed, old) = node;
        let ends = matches!(write, Write::Complete | Write::Fail(_));
        if !closed && (ends || applied(old, write).is_some()) {
            self.s().cells[cell].note(write, arrival);
        }
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

    pub fn end(&self, cell: usize, end: Heard) {
        {
            let mut state = self.s();
            if state.cells[cell].end.is_some() || state.cells[cell].dead {
                return;
            }
            state.cells[cell].end = Some(end);
            if state.cells[cell].end_arrival == 0 {
                // It was disposed of.
                state.clock += 1;
                state.cells[cell].end_arrival = state.clock;
            }
        }
        self.mark_ended(cell);
    }

    pub fn mark_changed(&self, cell: usize) {
        self.mark(cell, true);
    }

    pub fn mark_ended(&self, cell: usize) {
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
            let reader = &mut state.cells[reader];
            if reader.passive.contains(&cell) {
                continue;
            }
            reader.dirty = true;
            if changed && !reader.fresh.contains(&cell) {
                reader.fresh.push(cell);
            }
        }
    }
}
