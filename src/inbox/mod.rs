//! Inboxes: how other threads reach a store (rule S2). A sender puts a value into a queue; the owner takes what has come
//! when it drains, and only there does anything touch the store.
//!
//! It knows no graph: what becomes of a value is a closure of the owner's. What the threads share is in `handover`.
//!
//! Invariants: those of `handover`; a drain reminds the waker of what it leaves with nothing borrowed, so that the waker may
//! drain.
//!
//! Costs: a send and a delivery are one lock each. The owner never waits for a sender.

mod handover;

use std::cell::RefCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::{Rc, Weak};
use std::sync::Arc;

use handover::Handover;
pub use handover::{Capacity, SendError};

use crate::cell::{Cell, CellMutable};
use crate::error::Fallible;
use crate::store::{expect, with_store};

/// What the hand-over is built on; `tests/loom` has another.
mod sync {
    pub(super) use std::sync::{Condvar, Mutex, MutexGuard};
    pub(super) use std::thread;
}

/// Puts values into an [`Inbox`], from any thread. Clones are further senders.
pub struct InboxSender<T> {
    shared: Arc<Handover<T>>,
}

impl<T> Clone for InboxSender<T> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<T> fmt::Debug for InboxSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InboxSender({:?})", self.shared.capacity())
    }
}

impl<T: Send> InboxSender<T> {
    /// Puts a value in. With [`Capacity::Wait`], and only then, this waits while there is no room.
    ///
    /// # Errors
    /// With the value: the inbox is closed, also while this waited; or full, where its capacity says so; or full with this as its own
    /// thread, where it would wait.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.shared.send(value, true)
    }

    /// [`send`](Self::send) that never waits.
    ///
    /// # Errors
    /// As [`send`](Self::send); [`SendError::Full`] where that would wait.
    pub fn try_send(&self, value: T) -> Result<(), SendError<T>> {
        self.shared.send(value, false)
    }

    /// Whether nothing is taken any more.
    pub fn is_closed(&self) -> bool {
        self.shared.is_closed()
    }
}

/// An inbox as the thread's list has it.
trait Drain {
    fn drain(&self) -> usize;

    /// Calls the waker if something waits.
    fn remind(&self);

    /// Takes nothing any more.
    fn close(&self);
}

struct Owned<T> {
    shared: Arc<Handover<T>>,
    /// What becomes of a value; `false` closes the inbox.
    deliver: RefCell<Box<dyn FnMut(T) -> bool>>,
}

impl<T> Drain for Owned<T> {
    fn drain(&self) -> usize {
        // A drain in a drain finds it taken: what waits is delivered by the outer one.
        let Ok(mut deliver) = self.deliver.try_borrow_mut() else { return 0 };
        let delivered = catch_unwind(AssertUnwindSafe(|| self.shared.deliver(&mut **deliver)));
        drop(deliver);
        // Those who sent while others waited have called nobody.
        self.remind();
        delivered.unwrap_or_else(|panic| resume_unwind(panic))
    }

    fn remind(&self) {
        self.shared.remind();
    }

    fn close(&self) {
        self.shared.close();
    }
}

/// The inboxes of a thread.
struct Inboxes(RefCell<Vec<Weak<dyn Drain>>>);

impl Inboxes {
    fn add(&self, inbox: Weak<dyn Drain>) {
        let mut list = self.0.borrow_mut();
        if list.len() == list.capacity() {
            // Before it grows: those that are gone make room.
            list.retain(|inbox| inbox.strong_count() > 0);
        }
        list.push(inbox);
    }
}

impl Drop for Inboxes {
    fn drop(&mut self) {
        // With the thread the store ends, for leaked inboxes too.
        self.0.get_mut().iter().filter_map(Weak::upgrade).for_each(|inbox| inbox.close());
    }
}

thread_local! {
    static INBOXES: Inboxes = const { Inboxes(RefCell::new(Vec::new())) };
}

/// Values from other threads on their way into a store. It belongs to the thread that made it; others have
/// [senders](Inbox::sender). When it is dropped it closes: what waits is dropped, and senders get their values back.
///
/// ```
/// use hyphae::{Capacity, Cell};
/// let level = Cell::new(0);
/// let inbox = level.inbox(Capacity::DropOldest(64));
/// let sender = inbox.sender();
/// std::thread::spawn(move || sender.send(7)).join().unwrap().unwrap();
/// assert_eq!(level.get(), 0);
/// assert_eq!(hyphae::drain_inboxes(), 1);
/// assert_eq!(level.get(), 7);
/// ```
pub struct Inbox<T: 'static> {
    owned: Rc<Owned<T>>,
}

impl<T> fmt::Debug for Inbox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Inbox({} wait, {:?})", self.len(), self.owned.shared.capacity())
    }
}

impl<T> Drop for Inbox<T> {
    fn drop(&mut self) {
        self.owned.shared.close();
    }
}

impl<T: Send + 'static> Inbox<T> {
    /// An inbox whose values `deliver` gets, in this thread, when it is drained.
    ///
    /// # Panics
    /// When the capacity is 0.
    #[track_caller]
    pub fn new(capacity: Capacity, mut deliver: impl FnMut(T) + 'static) -> Self {
        Self::open(capacity, move |value| {
            deliver(value);
            true
        })
    }

    /// The same inbox with a waker, which is called when the first value comes into the empty inbox: in the sender's thread,
    /// with nothing locked. It should make the owner's event loop call [`drain_inboxes`]. A drain that leaves values, since they came
    /// meanwhile or since a closure has panicked, calls it too, in the owner's thread; so a loop that sleeps until it is called
    /// misses nothing. Now and then it is called for an inbox that is empty by then.
    ///
    /// # Panics
    /// When it has a waker already.
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use hyphae::{Capacity, Cell};
    /// let (wake, woken) = mpsc::channel();
    /// let level = Cell::new(0);
    /// let inbox = level.inbox(Capacity::Unbounded).with_waker(move || drop(wake.send(())));
    /// let sender = inbox.sender();
    /// std::thread::spawn(move || (1..=3).try_for_each(|n| sender.send(n)));
    /// let mut delivered = 0;
    /// while delivered < 3 {
    ///     woken.recv().unwrap();
    ///     delivered += inbox.drain();
    /// }
    /// assert_eq!(level.get(), 3);
    /// ```
    #[must_use]
    #[track_caller]
    pub fn with_waker(self, waker: impl Fn() + Send + Sync + 'static) -> Self {
        let set = self.owned.shared.set_waker(Box::new(waker));
        assert!(set, "an inbox has one waker, and this one has it already");
        self.owned.remind();
        self
    }

    #[track_caller]
    pub(crate) fn open(capacity: Capacity, deliver: impl FnMut(T) -> bool + 'static) -> Self {
        assert!(capacity.limit() > 0, "an inbox needs a capacity of at least 1");
        let shared = Arc::new(Handover::new(capacity));
        let owned = Rc::new(Owned { shared, deliver: RefCell::new(Box::new(deliver)) });
        let known: Rc<dyn Drain> = owned.clone();
        let _ = INBOXES.try_with(|inboxes| inboxes.add(Rc::downgrade(&known)));
        Self { owned }
    }

    /// A sender for other threads; this one may use it, too.
    pub fn sender(&self) -> InboxSender<T> {
        InboxSender { shared: self.owned.shared.clone() }
    }

    /// Delivers the values that wait now, the oldest first, as one [batch](crate::batch); tells how many. What comes meanwhile
    /// waits for the next time. In a callback, what the closure writes is queued as one batch.
    ///
    /// # Panics
    /// Where the closure does, when the batch has settled: that value is gone, those after it wait.
    #[track_caller]
    pub fn drain(&self) -> usize {
        expect(batch(|| self.owned.drain()))
    }
}

impl<T> Inbox<T> {
    /// How many values wait.
    pub fn len(&self) -> usize {
        self.owned.shared.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many values were dropped because there was no room.
    pub fn dropped(&self) -> u64 {
        self.owned.shared.dropped()
    }

    /// Whether nothing is taken any more: the cell it is for has ended.
    pub fn is_closed(&self) -> bool {
        self.owned.shared.is_closed()
    }
}

#[track_caller]
fn batch<R>(f: impl FnOnce() -> R) -> Fallible<R> {
    with_store(|store| store.in_batch(f))?
}

/// Drains all inboxes of the thread, in the order in which they were made, as one [batch](crate::batch); tells how many
/// values were delivered. A `FrameLoop` does so at the start of each frame. (Values for which the order across inboxes matters
/// belong into one inbox.)
///
/// # Panics
/// As [`Inbox::drain`]; then later inboxes wait.
#[track_caller]
pub fn drain_inboxes() -> usize {
    expect(batch(drain_all))
}

/// [`drain_inboxes`] as a part of a batch.
pub(crate) fn drain_all() -> usize {
    let known: Vec<Weak<dyn Drain>> = INBOXES
        .try_with(|inboxes| {
            let mut inboxes = inboxes.0.borrow_mut();
            inboxes.retain(|inbox| inbox.strong_count() > 0);
            inboxes.clone()
        })
        .unwrap_or_default();
    let mut inboxes = known.iter().filter_map(Weak::upgrade);
    let delivered =
        catch_unwind(AssertUnwindSafe(|| inboxes.by_ref().map(|inbox| inbox.drain()).sum()));
    // Left over after a panic alone.
    inboxes.for_each(|inbox| inbox.remind());
    delivered.unwrap_or_else(|panic| resume_unwind(panic))
}

impl<T: Send + 'static> Cell<T, CellMutable> {
    /// An inbox whose values this cell is set to. Of several in one drain the cell's subscribers hear the last, unless it
    /// [keeps each](Cell::no_coalesce). It holds the cell, and closes when that has ended or was disposed of.
    ///
    /// # Panics
    /// When the capacity is 0.
    #[track_caller]
    pub fn inbox(&self, capacity: Capacity) -> Inbox<T> {
        let cell = self.clone();
        Inbox::open(capacity, move |value| cell.try_set(value).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_keeps_no_more_than_twice_what_lives() {
        let kept: Vec<_> = (0..10).map(|_| Inbox::new(Capacity::Unbounded, |_: u32| ())).collect();
        for _ in 0..10_000 {
            drop(Inbox::new(Capacity::Unbounded, |_: u32| ()));
        }
        let known = INBOXES.with(|inboxes| inboxes.0.borrow().capacity());
        assert!(known <= 32, "{known} entries for {} inboxes", kept.len());
    }
}
