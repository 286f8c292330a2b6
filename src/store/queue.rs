//! Writes that wait: those made in callbacks, and the events of a batch.
//!
//! The order lives here, the values live in an inbox of each written cell, so that a write in steady state allocates
//! nothing and the last queued value of a cell is found at once. Knows no waves.
//!
//! Invariants: **Q1** the entries of one cell here (events first, then waiting writes) are as many as the writes in its
//! inbox, in the same order (the end that a disposal brings has no write). **Q2** the entries of a group stand together.

use std::collections::VecDeque;
use std::panic::Location;

use crate::error::CellError;
use crate::graph::CellKey;

/// A write that waits in the inbox of its cell.
pub(crate) enum Write<T> {
    Set(T),
    /// Sets if `same(current, new)` is false at the time when it is applied.
    SetUnless(T, fn(&T, &T) -> bool),
    Modify(Box<dyn FnOnce(&mut T)>),
    Complete,
    Fail(CellError),
}

/// The inbox of a cell of `T`.
pub(crate) type Inbox<T> = VecDeque<Write<T>>;

/// The callback that made a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Origin {
    pub(crate) on: CellKey,
    pub(crate) place: Option<&'static Location<'static>>,
}

/// One waiting write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) cell: CellKey,
    /// Writes of one group are one wave; 0 is none.
    pub(crate) group: u32,
    pub(crate) generation: u32,
    pub(crate) origin: Origin,
    /// The end that a `dispose` in a callback brings, rather than a write.
    pub(crate) disposal: bool,
}

/// An event that waits for its round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WaitingEvent {
    pub(crate) cell: CellKey,
    pub(crate) round: u64,
    /// The store's clock when it was written.
    pub(crate) written: u32,
}

#[derive(Default)]
pub(crate) struct Queue {
    waiting: VecDeque<Waiting>,
    /// The events of the open wave.
    events: VecDeque<WaitingEvent>,
    /// Who wrote what in the last generations before the limit.
    trail: Vec<(Origin, CellKey)>,
    last_group: u32,
}

const TRAIL: usize = 32;

impl Queue {
    pub(crate) fn push(&mut self, waiting: Waiting) {
        self.waiting.push_back(waiting);
    }

    /// Queues as number `at`, or last.
    pub(crate) fn insert(&mut self, at: usize, waiting: Waiting) {
        self.waiting.insert(at.min(self.waiting.len()), waiting);
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn pop(&mut self) -> Option<Waiting> {
        self.waiting.pop_front()
    }

    /// The next write if it is of this group.
    pub(crate) fn pop_of_group(&mut self, group: u32) -> Option<Waiting> {
        let next = self.waiting.front()?;
        (group != 0 && next.group == group).then(|| self.waiting.pop_front())?
    }

    pub(crate) fn open_group(&mut self) -> u32 {
        self.last_group = self.last_group.checked_add(1).unwrap_or(1);
        self.last_group
    }

    pub(crate) fn push_event(&mut self, event: WaitingEvent) {
        self.events.push_back(event);
    }

    /// How many events the cell has, where writes wait that must stay behind them; all, where none wait.
    pub(crate) fn events_before_waiting(&self, cell: CellKey) -> usize {
        if self.waiting.is_empty() {
            return usize::MAX;
        }
        self.events.iter().filter(|event| event.cell == cell).count()
    }

    /// The next event if this round takes it.
    pub(crate) fn pop_event(&mut self, round: u64) -> Option<WaitingEvent> {
        let next = self.events.front()?;
        (next.round <= round).then(|| self.events.pop_front())?
    }

    pub(crate) fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Remembers who wrote what (called near the limit only).
    pub(crate) fn leave_trail(&mut self, waiting: Waiting) {
        let step = (waiting.origin, waiting.cell);
        if self.trail.len() < TRAIL && !self.trail.contains(&step) {
            self.trail.push(step);
        }
    }

    pub(crate) fn take_trail(&mut self) -> Vec<(Origin, CellKey)> {
        std::mem::take(&mut self.trail)
    }

    /// Takes all waiting writes away.
    pub(crate) fn take_waiting(&mut self) -> VecDeque<Waiting> {
        std::mem::take(&mut self.waiting)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.waiting.capacity() * size_of::<Waiting>()
            + self.events.capacity() * size_of::<WaitingEvent>()
    }

    pub(crate) fn shrink_to_fit(&mut self) {
        self.waiting.shrink_to_fit();
        self.events.shrink_to_fit();
    }
}
