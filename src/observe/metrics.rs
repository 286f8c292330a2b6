//! Metrics of single cells: what a program asks about a cell that it suspects of being slow.

use std::cell::RefCell;
use std::panic::Location;
use std::rc::Rc;
use std::time::Duration;

use crate::cell::{Cell, CellMutable};
use crate::graph::CellKey;
use crate::store::node::NodeRef;
use crate::store::probe::SlowCall;
use crate::store::{Store, flag, with_store};
use crate::subscription::SubscriptionId;

/// From what time of its last round on a cell counts as backed up.
const BACKED_UP: Duration = Duration::from_millis(1);

/// The counters of one cell, read when asked; does not keep the cell alive, and is all 0 when that is gone.
///
/// ```
/// use hyphae::Cell;
/// let cell = Cell::with_metrics(1);
/// let metrics = cell.metrics().unwrap();
/// cell.set(2);
/// assert_eq!(metrics.notify_count(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct CellMetrics {
    key: CellKey,
    _not_send: std::marker::PhantomData<*const ()>,
}

impl CellMetrics {
    fn look(&self, f: impl FnOnce(&Store, NodeRef) -> Option<u64>) -> u64 {
        with_store(|store| f(store, store.find(self.key)?)).ok().flatten().unwrap_or(0)
    }

    fn time(&self, f: impl FnOnce(&crate::store::probe::Times) -> u64) -> u64 {
        self.look(|store, node| Some(store.probe.nanoseconds(f(&store.times_of(node)?))))
    }

    /// Rounds in which the cell emitted.
    pub fn notify_count(&self) -> u64 {
        self.look(|store, node| Some(store.counts_of(node)?.notifies))
    }

    /// Time of all its turns and calls that were measured, in nanoseconds.
    pub fn total_notify_time_ns(&self) -> u64 {
        self.time(|times| times.compute + times.delivery)
    }

    /// The same for each notify, on average; 0 if there was none.
    pub fn avg_notify_time_ns(&self) -> u64 {
        self.total_notify_time_ns().checked_div(self.notify_count()).unwrap_or(0)
    }

    /// Time of the last round in which it had a turn or call.
    pub fn last_notify_time_ns(&self) -> u64 {
        self.time(|times| times.last)
    }

    /// The longest call of a subscriber.
    pub fn slowest_subscriber_ns(&self) -> u64 {
        self.time(|times| times.slowest)
    }

    /// Callbacks and direct dependents, now.
    pub fn subscriber_count(&self) -> usize {
        let count = self.look(|store, node| {
            let callbacks = store.subs.borrow().count(node.subs.get());
            Some((callbacks + store.graph.borrow().dependents(node.rank.get())) as u64)
        });
        count as usize
    }

    /// Forgets all but the subscribers.
    pub fn reset_timing(&self) {
        self.look(|store, node| {
            store.clear_counts(node);
            None
        });
    }
}

/// A call of a subscriber that took longer than allowed.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SlowSubscriberAlert {
    /// The subscription; `None` if it ended itself in that call.
    pub subscriber_id: Option<SubscriptionId>,
    /// How long the call took.
    pub duration_ns: u64,
    /// How long it may take.
    pub threshold_ns: u64,
}

impl<T: 'static> Cell<T, CellMutable> {
    /// A cell whose subscribers' calls are always measured, also in waves that are not timed: two reads of the clock a round
    /// and one a call.
    ///
    /// # Panics
    /// As [`Cell::new`].
    #[track_caller]
    pub fn with_metrics(value: T) -> Self {
        let cell = Self::made_at(value, Location::caller());
        cell.meter();
        cell
    }

    /// Sets the value, unless the cell is backed up (see [`Cell::is_backed_up`]): then it gives the value back. What hyphae
    /// 1.3.3 calls `try_set`.
    ///
    /// # Panics
    /// As [`Cell::set`].
    #[track_caller]
    pub fn set_unless_backed_up(&self, value: T) -> Result<(), T> {
        self.set_unless_slower(BACKED_UP, value)
    }

    /// The same with a limit of your own.
    ///
    /// # Panics
    /// As [`Cell::set`].
    #[track_caller]
    pub fn set_unless_slower(&self, limit: Duration, value: T) -> Result<(), T> {
        if self.is_backed_up_threshold(limit) {
            return Err(value);
        }
        self.set(value);
        Ok(())
    }
}

impl<T: 'static, M> Cell<T, M> {
    fn meter(&self) {
        let _ = with_store(|store| self.strong.node(store).raise(flag::METERED));
    }

    /// Its counters; `None` when the store is gone. Every cell has them with the feature `trace`; times are those of timed waves,
    /// or of all for a cell made by [`Cell::with_metrics`].
    pub fn metrics(&self) -> Option<CellMetrics> {
        let key = with_store(|_| self.key()).ok()?;
        Some(CellMetrics { key, _not_send: std::marker::PhantomData })
    }

    /// Whether its last measured round took more than a millisecond.
    pub fn is_backed_up(&self) -> bool {
        self.is_backed_up_threshold(BACKED_UP)
    }

    /// Whether its last measured round took more than `limit`.
    pub fn is_backed_up_threshold(&self, limit: Duration) -> bool {
        self.metrics()
            .is_some_and(|metrics| u128::from(metrics.last_notify_time_ns()) > limit.as_nanos())
    }

    /// Calls `alert` right after each call of a subscriber that took more than `limit`, from now on; a second registration
    /// replaces the first. The first call with the current value, at subscription, is not measured. A panic of `alert` counts
    /// as one of the subscriber.
    ///
    /// ```
    /// use std::time::Duration;
    /// use hyphae::Cell;
    /// let cell = Cell::new(1);
    /// cell.on_slow_subscriber(Duration::from_millis(2), |alert| {
    ///     eprintln!("{} ns", alert.duration_ns);
    /// });
    /// ```
    pub fn on_slow_subscriber(
        &self,
        limit: Duration,
        mut alert: impl FnMut(SlowSubscriberAlert) + 'static,
    ) {
        self.meter();
        let threshold_ns = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        let call = Rc::new(RefCell::new(move |call: SlowCall| {
            alert(SlowSubscriberAlert {
                subscriber_id: call.subscription.map(SubscriptionId::of),
                duration_ns: call.time_ns,
                threshold_ns,
            });
        }));
        let _ = with_store(|store| store.probe.watch_calls(self.key(), threshold_ns, call));
    }
}
