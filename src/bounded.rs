//! Bounded buffers at the edges of the graph: [`BoundedInput`] before a cell, [`BoundedOutput`] behind one.
//!
//! They are ordinary users of cells and know nothing of the store. A buffer is for one thread, which fills it and empties
//! it, so nothing here can wait: where another library would block, this one makes room or refuses. Values from other threads
//! come through an inbox.
//!
//! Costs: one queue each; a push is O(1).

use std::cell::{Cell as Count, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use crate::cell::{Cell, CellImmutable, CellMutable};
use crate::pipeline::Pipeline;
use crate::signal::Signal;
use crate::subscription::SubscriptionGuard;

/// What a [`BoundedInput`] does with a value for which there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverflowPolicy {
    /// Makes room: what is in the buffer goes into the cell first. Nothing is lost.
    Block,
    /// The oldest value in the buffer is dropped.
    DropOldest,
    /// The new value is dropped.
    DropNewest,
    /// The cell fails, and the value is given back.
    Error,
}

/// What a [`BoundedInput`] has seen.
#[derive(Debug, Default)]
pub struct BoundedInputMetrics {
    pushed: Count<u64>,
    dropped: Count<u64>,
    full: Count<u64>,
}

impl BoundedInputMetrics {
    /// How many values were taken, those that were dropped later included.
    pub fn total_pushed(&self) -> u64 {
        self.pushed.get()
    }

    /// How many values were dropped, in the buffer or on arrival.
    pub fn dropped_count(&self) -> u64 {
        self.dropped.get()
    }

    /// How many values found the buffer full.
    pub fn backpressure_events(&self) -> u64 {
        self.full.get()
    }
}

fn count(counter: &Count<u64>) {
    counter.set(counter.get() + 1);
}

/// A cell with a buffer before it: values wait in it until [`flush`](BoundedInput::flush), and each of them is a change of
/// its own then. Clones share cell and buffer.
///
/// ```
/// use hyphae::{BoundedInput, OverflowPolicy};
/// use std::{cell::RefCell, rc::Rc};
/// let input = BoundedInput::new(0, 2, OverflowPolicy::DropOldest);
/// let seen = Rc::new(RefCell::new(vec![]));
/// let log = seen.clone();
/// let guard = input.to_cell().watch(move |v| log.borrow_mut().push(*v));
/// for value in [1, 2, 3] {
///     assert_eq!(input.push(value), Ok(()));
/// }
/// assert_eq!(input.get(), 3); // a read flushes
/// assert_eq!(*seen.borrow(), [0, 2, 3]);
/// assert_eq!(input.metrics().dropped_count(), 1);
/// # drop(guard);
/// ```
pub struct BoundedInput<T: 'static> {
    shared: Rc<InputState<T>>,
}

struct InputState<T: 'static> {
    cell: Cell<T, CellMutable>,
    waiting: RefCell<VecDeque<T>>,
    capacity: usize,
    policy: OverflowPolicy,
    closed: Count<bool>,
    metrics: BoundedInputMetrics,
}

impl<T> Clone for BoundedInput<T> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<T> std::fmt::Debug for BoundedInput<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { shared } = self;
        write!(f, "BoundedInput({} of {})", shared.waiting.borrow().len(), shared.capacity)
    }
}

impl<T: 'static> BoundedInput<T> {
    /// An empty buffer for `capacity` values before a new cell.
    ///
    /// # Panics
    /// When `capacity` is 0, or the store is gone.
    #[track_caller]
    pub fn new(initial: T, capacity: usize, policy: OverflowPolicy) -> Self {
        assert!(capacity > 0, "a BoundedInput's capacity must be positive");
        let shared = InputState {
            cell: Cell::new(initial),
            waiting: RefCell::default(),
            capacity,
            policy,
            closed: Count::new(false),
            metrics: BoundedInputMetrics::default(),
        };
        Self { shared: Rc::new(shared) }
    }

    /// Puts a value into the buffer; nobody hears of it before it is flushed. If the buffer is full, the policy says what
    /// happens.
    ///
    /// # Errors
    /// The value, if the input is closed or its cell has ended; or if the buffer is full and the policy is
    /// [`OverflowPolicy::Error`], which also fails the cell and closes the input.
    pub fn push(&self, value: T) -> Result<(), T> {
        let state = &*self.shared;
        if self.is_closed() {
            return Err(value);
        }
        if state.waiting.borrow().len() < state.capacity {
            return self.take(value);
        }
        count(&state.metrics.full);
        match state.policy {
            OverflowPolicy::Block => {
                self.flush();
                if self.is_closed() { Err(value) } else { self.take(value) }
            }
            OverflowPolicy::DropOldest => {
                let oldest = state.waiting.borrow_mut().pop_front();
                count(&state.metrics.dropped);
                drop(oldest);
                self.take(value)
            }
            OverflowPolicy::DropNewest => {
                count(&state.metrics.dropped);
                Ok(())
            }
            OverflowPolicy::Error => {
                state.closed.set(true);
                state.cell.fail(format!("a BoundedInput of {} is full", state.capacity));
                Err(value)
            }
        }
    }

    fn take(&self, value: T) -> Result<(), T> {
        count(&self.shared.metrics.pushed);
        self.shared.waiting.borrow_mut().push_back(value);
        Ok(())
    }

    /// [`push`](BoundedInput::push), then [`flush`](BoundedInput::flush).
    ///
    /// # Errors
    /// As [`push`](BoundedInput::push).
    pub fn push_flush(&self, value: T) -> Result<(), T> {
        self.push(value)?;
        self.flush();
        Ok(())
    }

    /// Sets the cell to each value of the buffer, the oldest first; in a callback these writes are queued.
    pub fn flush(&self) {
        loop {
            let next = self.shared.waiting.borrow_mut().pop_front();
            let Some(value) = next else { return };
            if self.shared.cell.try_set(value).is_err() {
                // It has ended or was disposed of: what else waits would not be taken either.
                self.shared.closed.set(true);
                let rest = self.shared.waiting.take();
                drop(rest);
                return;
            }
        }
    }

    /// Flushes, then completes the cell. Nothing is taken any more.
    pub fn close(&self) {
        self.flush();
        if !self.shared.closed.replace(true) && !self.shared.cell.is_complete() {
            self.shared.cell.complete();
        }
    }

    /// Whether it takes no values any more.
    pub fn is_closed(&self) -> bool {
        let state = &*self.shared;
        state.closed.get() || state.cell.is_complete() || state.cell.is_error()
    }

    /// What has passed so far.
    pub fn metrics(&self) -> &BoundedInputMetrics {
        &self.shared.metrics
    }

    /// For how many values there is room.
    pub fn capacity(&self) -> usize {
        self.shared.capacity
    }

    /// [`Cell::subscribe`] on the cell behind the buffer; what waits is not flushed by that.
    #[track_caller]
    pub fn subscribe(&self, f: impl FnMut(&Signal<'_, T>) + 'static) -> SubscriptionGuard {
        self.shared.cell.subscribe(f)
    }

    /// Whether the cell behind the buffer ended well.
    pub fn is_complete(&self) -> bool {
        self.shared.cell.is_complete()
    }

    /// Whether the cell behind the buffer failed.
    pub fn is_error(&self) -> bool {
        self.shared.cell.is_error()
    }

    /// The cell behind the buffer.
    pub fn to_cell(&self) -> Cell<T, CellImmutable> {
        self.shared.cell.clone().lock()
    }
}

impl<T: Clone + 'static> BoundedInput<T> {
    /// Flushes, and clones the value of the cell.
    ///
    /// # Panics
    /// As [`Cell::get`].
    #[track_caller]
    pub fn get(&self) -> T {
        self.flush();
        self.shared.cell.get()
    }
}

/// Why a [`BoundedOutput`] gives no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecvError {
    /// There is none now. None can come while the thread waits here, so that it does not.
    Empty,
    /// There is none, and the cell has ended.
    Closed,
}

impl std::fmt::Display for RecvError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Empty => "no value waits",
            Self::Closed => "no value waits, and the cell has ended",
        })
    }
}

impl std::error::Error for RecvError {}

/// A buffer of the values of a cell, the current one first, to be taken out by whoever works at another pace. It is a
/// subscriber of the cell as long as it lives.
///
/// ```
/// use hyphae::{BoundedOutput, Cell};
/// let cell = Cell::new(0);
/// let latest = BoundedOutput::dropping(&cell, 2);
/// (1..=3).for_each(|n| cell.set(n));
/// assert_eq!(latest.try_iter().collect::<Vec<_>>(), [2, 3]);
/// assert_eq!(latest.lost(), 2);
/// ```
pub struct BoundedOutput<T: 'static> {
    state: Rc<OutputState<T>>,
    _guard: SubscriptionGuard,
}

struct OutputState<T> {
    waiting: RefCell<VecDeque<T>>,
    lost: Count<u64>,
    ended: Count<bool>,
}

impl<T> std::fmt::Debug for BoundedOutput<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BoundedOutput({} wait)", self.len())
    }
}

impl<T: Clone + 'static> BoundedOutput<T> {
    /// A buffer that refuses new values while it is full: what it has is an unbroken row from the start.
    ///
    /// # Panics
    /// When `capacity` is 0; else as [`Cell::subscribe`].
    #[track_caller]
    pub fn new<M>(cell: &Cell<T, M>, capacity: usize) -> Self {
        Self::with(cell, capacity, |_| false)
    }

    /// A buffer that drops its oldest value for a new one while it is full.
    ///
    /// # Panics
    /// When `capacity` is 0; else as [`Cell::subscribe`].
    #[track_caller]
    pub fn dropping<M>(cell: &Cell<T, M>, capacity: usize) -> Self {
        Self::with(cell, capacity, |waiting| {
            let oldest = waiting.borrow_mut().pop_front();
            drop(oldest);
            true
        })
    }

    #[track_caller]
    fn with<M>(
        cell: &Cell<T, M>,
        capacity: usize,
        make_room: fn(&RefCell<VecDeque<T>>) -> bool,
    ) -> Self {
        assert!(capacity > 0, "a BoundedOutput needs a capacity of at least 1");
        let state = Rc::new(OutputState {
            waiting: RefCell::default(),
            lost: Count::new(0),
            ended: Count::new(false),
        });
        let fed = state.clone();
        let guard = cell.subscribe(move |signal| {
            let Signal::Value(value) = signal else { return fed.ended.set(true) };
            let full = fed.waiting.borrow().len() == capacity;
            if full {
                count(&fed.lost);
            }
            if !full || make_room(&fed.waiting) {
                let value = T::clone(value);
                fed.waiting.borrow_mut().push_back(value);
            }
        });
        Self { state, _guard: guard }
    }
}

impl<T: 'static> BoundedOutput<T> {
    /// Takes the oldest value out. Never waits: see [`RecvError::Empty`].
    ///
    /// # Errors
    /// There is none.
    pub fn recv(&self) -> Result<T, RecvError> {
        let next = self.state.waiting.borrow_mut().pop_front();
        let why = if self.state.ended.get() { RecvError::Closed } else { RecvError::Empty };
        next.ok_or(why)
    }

    /// The same: on one thread no value can come in the meantime, so that there is nothing to wait for.
    ///
    /// # Errors
    /// There is none.
    pub fn recv_timeout(&self, _: Duration) -> Result<T, RecvError> {
        self.recv()
    }

    /// The same.
    ///
    /// # Errors
    /// There is none.
    pub fn try_recv(&self) -> Result<T, RecvError> {
        self.recv()
    }

    /// How many values wait.
    pub fn len(&self) -> usize {
        self.state.waiting.borrow().len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many values were refused or dropped because the buffer was full.
    pub fn lost(&self) -> u64 {
        self.state.lost.get()
    }

    /// Takes out what waits, the oldest first, until there is none.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        std::iter::from_fn(|| self.recv().ok())
    }

    /// The same.
    pub fn try_iter(&self) -> impl Iterator<Item = T> + '_ {
        self.iter()
    }
}

impl<T: Clone + 'static, M> Cell<T, M> {
    /// A cell that follows this one. In a library with threads it would drop the oldest of `capacity` values that wait for a
    /// slow reader; here no value ever waits between cells, so none is dropped. To buffer events for a reader of its own
    /// pace use [`BoundedOutput`].
    ///
    /// # Panics
    /// When `capacity` is 0; else as [`Pipeline::materialize`].
    #[track_caller]
    pub fn drop_oldest(&self, capacity: usize) -> Cell<T, CellImmutable> {
        assert!(capacity > 0, "drop_oldest needs a capacity of at least 1");
        self.sample_latest()
    }

    /// [`drop_oldest`](Cell::drop_oldest) by its other name: nothing waits, so nothing is dropped, the newest neither.
    ///
    /// # Panics
    /// As [`drop_oldest`](Cell::drop_oldest).
    #[track_caller]
    pub fn drop_newest(&self, capacity: usize) -> Cell<T, CellImmutable> {
        assert!(capacity > 0, "drop_newest needs a capacity of at least 1");
        self.sample_latest()
    }

    /// A cell that follows this one, with ends and errors.
    ///
    /// ```
    /// use hyphae::Cell;
    /// let cell = Cell::new(1);
    /// let latest = cell.sample_latest();
    /// cell.set(3);
    /// assert_eq!(latest.get(), 3);
    /// ```
    ///
    /// # Panics
    /// As [`Pipeline::materialize`].
    #[track_caller]
    pub fn sample_latest(&self) -> Cell<T, CellImmutable> {
        self.map(T::clone).materialize()
    }
}
