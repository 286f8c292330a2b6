//! The hand-over of an inbox: a queue that senders fill and the owner empties.
//!
//! It knows no store and no cells. `tests/loom` includes this file and tries every order of its steps in some threads: a
//! change here is for that test, too.
//!
//! Invariants: **B1** all that threads share is one queue under one mutex, with one condition that says there is room; no
//! user code runs while it is locked. **B2** the queue is never longer than its capacity. **B3** a value is in the queue, or
//! with the sender, or with the owner's closure. **B4** once a call into an inbox has returned, values wait only where the waker was
//! called after the last drain of them began: a send into the empty queue calls it, and so does a drain that leaves something.
//!
//! Costs: a send and a delivery are one lock each. The owner never waits for a sender.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{OnceLock, PoisonError};

use super::sync::{Condvar, Mutex, MutexGuard, thread};

/// How many values an [`Inbox`](crate::Inbox) holds, and what a sender does when there is no room for one more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// As many as there is memory for.
    Unbounded,
    /// The sender's thread waits until there is room. In the owner's own thread that is an error at once.
    Wait(usize),
    /// The oldest value is dropped.
    DropOldest(usize),
    /// The new value is dropped.
    DropNewest(usize),
    /// The new value is given back as an error.
    Refuse(usize),
}

impl Capacity {
    pub(super) fn limit(self) -> usize {
        match self {
            Self::Unbounded => usize::MAX,
            Self::Wait(n) | Self::DropOldest(n) | Self::DropNewest(n) | Self::Refuse(n) => n,
        }
    }
}

/// Why a value was not taken; it is inside.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SendError<T> {
    /// The inbox is gone, or what it was for.
    Closed(T),
    /// There is no room.
    Full(T),
    /// There is no room, and the thread that would have to make it is the one that would wait.
    OwnThread(T),
}

impl<T> SendError<T> {
    /// The value.
    pub fn into_inner(self) -> T {
        match self {
            Self::Closed(value) | Self::Full(value) | Self::OwnThread(value) => value,
        }
    }

    fn text(&self) -> &'static str {
        match self {
            Self::Closed(_) => "the inbox is closed",
            Self::Full(_) => "the inbox is full",
            Self::OwnThread(_) => {
                "the inbox is full, and its own thread can't wait for room; drain it first"
            }
        }
    }
}

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl<T> std::error::Error for SendError<T> {}

pub(super) type Waker = Box<dyn Fn() + Send + Sync>;

struct Queue<T> {
    values: VecDeque<T>,
    closed: bool,
    dropped: u64,
}

/// The queue between the threads.
pub(super) struct Handover<T> {
    queue: Mutex<Queue<T>>,
    room: Condvar,
    capacity: Capacity,
    owner: thread::ThreadId,
    waker: OnceLock<Waker>,
}

/// What is left to do after the lock.
enum Sent<T> {
    Into { was_empty: bool },
    Instead(T),
}

impl<T> Handover<T> {
    /// An empty one, whose owner is this thread.
    pub(super) fn new(capacity: Capacity) -> Self {
        Self {
            queue: Mutex::new(Queue { values: VecDeque::new(), closed: false, dropped: 0 }),
            room: Condvar::new(),
            capacity,
            owner: thread::current().id(),
            waker: OnceLock::new(),
        }
    }

    /// Sets the waker; `false` if there is one.
    pub(super) fn set_waker(&self, waker: Waker) -> bool {
        self.waker.set(waker).is_ok()
    }

    pub(super) fn capacity(&self) -> Capacity {
        self.capacity
    }

    /// How many values wait.
    pub(super) fn len(&self) -> usize {
        self.lock().values.len()
    }

    /// How many values were dropped for want of room.
    pub(super) fn dropped(&self) -> u64 {
        self.lock().dropped
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    fn lock(&self) -> MutexGuard<'_, Queue<T>> {
        // Nothing can panic under the lock but an allocation, which leaves the queue whole.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a value in; `waits` for room, where the capacity says so.
    pub(super) fn send(&self, value: T, waits: bool) -> Result<(), SendError<T>> {
        let (sent, instead) = match self.put(value, waits)? {
            Sent::Into { was_empty } => (was_empty, None),
            Sent::Instead(dropped) => (false, Some(dropped)),
        };
        drop(instead);
        if sent {
            self.wake();
        }
        Ok(())
    }

    fn wake(&self) {
        if let Some(waker) = self.waker.get() {
            waker();
        }
    }

    fn put(&self, value: T, waits: bool) -> Result<Sent<T>, SendError<T>> {
        let mut queue = self.lock();
        loop {
            if queue.closed {
                return Err(SendError::Closed(value));
            }
            if queue.values.len() < self.capacity.limit() {
                let was_empty = queue.values.is_empty();
                queue.values.push_back(value);
                return Ok(Sent::Into { was_empty });
            }
            match self.capacity {
                Capacity::DropOldest(_) => {
                    queue.dropped += 1;
                    let oldest = queue.values.pop_front();
                    queue.values.push_back(value);
                    return Ok(oldest.map_or(Sent::Into { was_empty: false }, Sent::Instead));
                }
                Capacity::DropNewest(_) => {
                    queue.dropped += 1;
                    return Ok(Sent::Instead(value));
                }
                Capacity::Wait(_) if waits && thread::current().id() == self.owner => {
                    return Err(SendError::OwnThread(value));
                }
                Capacity::Wait(_) if waits => {
                    queue = self.room.wait(queue).unwrap_or_else(PoisonError::into_inner);
                }
                _ => return Err(SendError::Full(value)),
            }
        }
    }

    fn take(&self) -> Option<T> {
        let value = self.lock().values.pop_front();
        if value.is_some() && matches!(self.capacity, Capacity::Wait(_)) {
            self.room.notify_one();
        }
        value
    }

    /// Gives the values that wait now to `deliver`, the oldest first; closes if that gives `false`. Tells how many there were.
    pub(super) fn deliver(&self, deliver: &mut dyn FnMut(T) -> bool) -> usize {
        let waiting = self.len();
        for delivered in 0..waiting {
            let Some(value) = self.take() else { return delivered };
            if !deliver(value) {
                self.close();
                return delivered + 1;
            }
        }
        waiting
    }

    /// Calls the waker if something waits.
    pub(super) fn remind(&self) {
        if self.waker.get().is_some() && self.len() > 0 {
            self.wake();
        }
    }

    /// Closes the queue; what is in it is dropped here.
    pub(super) fn close(&self) {
        let mut queue = self.lock();
        queue.closed = true;
        let rest = std::mem::take(&mut queue.values);
        drop(queue);
        self.room.notify_all();
        drop(rest);
    }
}
