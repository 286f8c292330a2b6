//! Timers: what is to happen later, by one clock for the thread.
//!
//! Nothing here runs by itself: the program drives the timers, by [`poll`] in its loop, by a
//! [`FrameLoop`](crate::FrameLoop), by [`advance_to`] on a manual clock, or by [`run_for`], which alone sleeps.
//!
//! It knows neither cells nor operators.
//!
//! Invariants: **T1** a task is called at most once, with nothing borrowed. **T2** tasks are called by their deadline,
//! then in the order in which they were set. **T3** an entry of the heap whose task is gone is passed over; there are never more
//! of them than of the others, but for a few.
//!
//! Costs: setting a timer is O(log n), cancelling O(1) amortised. A program without timers has an empty queue.

use std::cell::{Cell as StdCell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;
use std::panic::Location;
use std::rc::Rc;
use std::time::Duration;

use slotmap::SlotMap;

use super::clock::{Clock, ManualClock, MonotonicClock};
use crate::error::{Error, Fallible, Reentry};
use crate::store::{Store, expect, with_store};

slotmap::new_key_type! {
    struct TaskKey;
}

/// Entries without a task that are always tolerated.
const SPARE: usize = 64;

type Task = Box<dyn FnOnce()>;
type Entry = Reverse<(u64, u64, TaskKey)>;

#[derive(Default)]
struct Queue {
    /// By deadline, then by number.
    heap: BinaryHeap<Entry>,
    tasks: SlotMap<TaskKey, Task>,
    /// Numbers the timers in the order in which they are set.
    next: u64,
}

impl Queue {
    fn add(&mut self, deadline_ns: u64, task: Task) -> TaskKey {
        let key = self.tasks.insert(task);
        self.heap.push(Reverse((deadline_ns, self.next, key)));
        self.next += 1;
        key
    }

    fn cancel(&mut self, key: TaskKey) -> Option<Task> {
        let task = self.tasks.remove(key);
        self.sweep();
        task
    }

    /// Takes entries without a task out where they are too many (T3).
    fn sweep(&mut self) {
        let Self { heap, tasks, .. } = self;
        if heap.len() > 2 * tasks.len() + SPARE {
            heap.retain(|entry| tasks.contains_key(entry.0.2));
        }
    }

    /// The first deadline.
    fn first(&mut self) -> Option<u64> {
        while let Some(&Reverse((deadline_ns, _, key))) = self.heap.peek() {
            if self.tasks.contains_key(key) {
                return Some(deadline_ns);
            }
            self.heap.pop();
        }
        None
    }

    /// Takes the first task out, if it is due at `until_ns` or before.
    fn take(&mut self, until_ns: u64) -> Option<Task> {
        self.first().filter(|&first| first <= until_ns)?;
        let Reverse((_, _, key)) = self.heap.pop()?;
        let task = self.tasks.remove(key);
        self.sweep();
        task
    }
}

struct Timers {
    clock: RefCell<Rc<dyn Clock>>,
    queue: RefCell<Queue>,
    /// The time of the tasks that are being called, while they are.
    at_ns: StdCell<Option<u64>>,
}

thread_local! {
    static TIMERS: Timers = Timers {
        clock: RefCell::new(Rc::new(MonotonicClock::new())),
        queue: RefCell::default(),
        at_ns: StdCell::new(None),
    };
}

fn clock() -> Rc<dyn Clock> {
    let clock = TIMERS.try_with(|timers| timers.clock.borrow().clone());
    clock.unwrap_or_else(|_| Rc::new(MonotonicClock::new()))
}

/// Runs timers by another clock; before the first call it is the [`MonotonicClock`]. Timers that are set keep the time that
/// is left to them.
///
/// ```
/// use hyphae::{ManualClock, timers};
/// let clock = ManualClock::at(5_000);
/// timers::set_clock(clock.clone());
/// assert_eq!(timers::now_ns(), 5_000);
/// ```
pub fn set_clock(new: impl Clock + 'static) {
    let (before_ns, after_ns) = (clock().now_nanos(), new.now_nanos());
    let new: Rc<dyn Clock> = Rc::new(new);
    let old = TIMERS.try_with(|timers| {
        let mut queue = timers.queue.borrow_mut();
        let moved = |at_ns: u64| after_ns.saturating_add(at_ns.saturating_sub(before_ns));
        let entries = std::mem::take(&mut queue.heap).into_vec();
        let entries = entries.into_iter().map(|Reverse((at, n, key))| Reverse((moved(at), n, key)));
        queue.heap = entries.collect();
        drop(queue);
        timers.clock.replace(new)
    });
    drop(old);
}

/// What the clock of the timers reads; in a task, the time for which it was called.
pub fn now_ns() -> u64 {
    let at_ns = TIMERS.try_with(|timers| timers.at_ns.get()).ok().flatten();
    at_ns.unwrap_or_else(|| clock().now_nanos())
}

/// When the next timer is due, by the clock of the timers; `None` without timers. For loops that sleep.
///
/// ```
/// use std::time::Duration;
/// use hyphae::{ManualClock, timers};
/// timers::set_clock(ManualClock::new());
/// assert_eq!(timers::next_deadline_ns(), None);
/// let timer = timers::after(Duration::from_millis(2), || ());
/// assert_eq!(timers::next_deadline_ns(), Some(2_000_000));
/// drop(timer);
/// assert_eq!(timers::next_deadline_ns(), None);
/// ```
pub fn next_deadline_ns() -> Option<u64> {
    TIMERS.try_with(|timers| timers.queue.borrow_mut().first()).ok().flatten()
}

/// How many timers are set: those of operators and of [`after`].
pub fn waiting() -> usize {
    TIMERS.try_with(|timers| timers.queue.borrow().tasks.len()).unwrap_or(0)
}

/// A timer that is set: dropping it cancels it.
#[must_use = "dropping a timer cancels it; `detach` lets it run"]
pub struct Timer {
    key: TaskKey,
}

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Timer({})", if self.is_waiting() { "waiting" } else { "over" })
    }
}

impl Timer {
    pub(crate) fn at(deadline_ns: u64, task: impl FnOnce() + 'static) -> Self {
        let task: Task = Box::new(task);
        let key = TIMERS.try_with(|timers| {
            // What is set by a task comes after all that is due with it.
            let least_ns = timers.at_ns.get().map_or(0, |at_ns| at_ns.saturating_add(1));
            timers.queue.borrow_mut().add(deadline_ns.max(least_ns), task)
        });
        Self { key: key.unwrap_or_default() }
    }

    /// Whether it is still to come.
    pub fn is_waiting(&self) -> bool {
        let waits = TIMERS.try_with(|timers| timers.queue.borrow().tasks.contains_key(self.key));
        waits.unwrap_or(false)
    }

    /// Lets it run without this handle.
    pub fn detach(self) {
        std::mem::forget(self);
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        let task = TIMERS.try_with(|timers| timers.queue.borrow_mut().cancel(self.key));
        // What it holds is the user's, and goes with nothing borrowed.
        drop(task);
    }
}

/// Calls `f` once, when `delay` has passed and the timers are driven then. What it writes to cells is part of a batch
/// with all that is due at the same time.
///
/// ```
/// use std::time::Duration;
/// use hyphae::{Cell, ManualClock, timers};
/// let clock = ManualClock::new();
/// timers::set_clock(clock.clone());
/// let lamp = Cell::new(true);
/// let off = timers::after(Duration::from_secs(30), { let lamp = lamp.clone(); move || lamp.set(false) });
/// timers::advance_to(&clock, 29_999_999_999);
/// assert!(lamp.get() && off.is_waiting());
/// timers::advance_to(&clock, 30_000_000_000);
/// assert!(!lamp.get());
/// ```
pub fn after(delay: Duration, f: impl FnOnce() + 'static) -> Timer {
    Timer::at(now_ns().saturating_add(nanos(delay)), f)
}

/// A duration in nanoseconds.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Calls what is due now, in the order of deadlines, then in that of setting; what has one deadline is one
/// [batch](crate::batch). Tells how many were called. What a task sets is due a nanosecond later at the earliest.
///
/// # Panics
/// In a callback or a batch. A panic of a task goes on when its batch has settled; what else is due waits for the next call.
#[track_caller]
pub fn poll() -> usize {
    expect(poll_at(clock().now_nanos()))
}

/// [`poll`] that gives errors back: [`Error::Reentrant`] in a callback or a batch, where nothing has happened.
#[track_caller]
pub fn try_poll() -> Result<usize, Error> {
    Ok(poll_at(clock().now_nanos())?)
}

/// Moves a manual clock on to `to_ns`, and stops on the way at each deadline to call what is due then: to the nanosecond, as
/// if the program had slept no longer than it must. The timers should run by that clock (see [`set_clock`]). Does nothing if
/// it is later already.
///
/// # Panics
/// As [`poll`].
#[track_caller]
pub fn advance_to(clock: &ManualClock, to_ns: u64) {
    expect(try_advance(clock, to_ns));
}

#[track_caller]
fn try_advance(clock: &ManualClock, to_ns: u64) -> Fallible<()> {
    check_outside()?;
    while let Some(next_ns) = next_deadline_ns().filter(|&next_ns| next_ns <= to_ns) {
        clock.sleep_until(next_ns);
        poll_at(next_ns.max(clock.now_nanos()))?;
    }
    clock.sleep_until(to_ns);
    Ok(())
}

/// Sleeps for a time, and wakes up for each timer that is due in it: the loop of a program that has none. On a manual clock
/// it does not sleep but moves the clock.
///
/// # Panics
/// As [`poll`].
///
/// ```
/// use std::time::Duration;
/// use hyphae::{ManualClock, interval, timers};
/// timers::set_clock(ManualClock::new());
/// let ticks = interval(Duration::from_millis(10));
/// timers::run_for(Duration::from_millis(35));
/// assert_eq!((ticks.get(), timers::now_ns()), (3, 35_000_000));
/// ```
#[track_caller]
pub fn run_for(time: Duration) {
    expect(try_run(time));
}

#[track_caller]
fn try_run(time: Duration) -> Fallible<()> {
    check_outside()?;
    let clock = clock();
    let end_ns = clock.now_nanos().saturating_add(nanos(time));
    while let Some(next_ns) = next_deadline_ns().filter(|&next_ns| next_ns <= end_ns) {
        clock.sleep_until(next_ns);
        poll_at(clock.now_nanos())?;
    }
    clock.sleep_until(end_ns);
    Ok(())
}

#[track_caller]
fn poll_at(now_ns: u64) -> Fallible<usize> {
    check_outside()?;
    let mut called = 0;
    while let Some(deadline_ns) = next_deadline_ns().filter(|&next_ns| next_ns <= now_ns) {
        // Also for what is set while the batch settles: it is due later.
        let _unset = UnsetTime;
        with_store(|store| store.in_batch(|| call_due(deadline_ns, now_ns, &mut called)))??;
    }
    Ok(called)
}

/// Unsets the time of the tasks, also by unwinding.
struct UnsetTime;

impl Drop for UnsetTime {
    fn drop(&mut self) {
        let _ = TIMERS.try_with(|timers| timers.at_ns.set(None));
    }
}

/// Calls what is due at the start of a frame, as a part of its batch.
#[cfg(feature = "frames")]
pub(crate) fn call_all_due() {
    let now_ns = clock().now_nanos();
    let _unset = UnsetTime;
    call_due(now_ns, now_ns, &mut 0);
}

/// Calls the tasks up to a deadline.
fn call_due(until_ns: u64, now_ns: u64, called: &mut usize) {
    let take = |timers: &Timers| timers.queue.borrow_mut().take(until_ns);
    while let Some(task) = TIMERS.try_with(take).ok().flatten() {
        let _ = TIMERS.try_with(|timers| timers.at_ns.set(Some(now_ns)));
        *called += 1;
        task();
    }
}

#[track_caller]
fn check_outside() -> Fallible<()> {
    let place = Location::caller();
    match with_store(Store::is_inside)? {
        true => Err(Box::new(Error::Reentrant { call: Reentry::Timers, place })),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_agrees_with_a_sorted_list() {
        let (mut queue, mut model) = (Queue::default(), Vec::new());
        let mut random = 5_u32;
        let mut next = |below: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) % below
        };
        for number in 0..20_000_u64 {
            let at_ns = u64::from(next(100));
            match next(5) {
                0..2 => {
                    let key = queue.add(at_ns, Box::new(|| ()));
                    model.push((at_ns, number, key));
                    model.sort_by_key(|timer| (timer.0, timer.1));
                }
                2 if !model.is_empty() => {
                    let at = next(model.len() as u32) as usize;
                    assert!(queue.cancel(model.remove(at).2).is_some());
                }
                3 => {
                    let due = model.first().is_some_and(|timer| timer.0 <= at_ns);
                    let expected = due.then(|| model.remove(0));
                    assert_eq!(queue.take(at_ns).is_some(), expected.is_some());
                    assert!(expected.is_none_or(|timer| !queue.tasks.contains_key(timer.2)));
                }
                _ => assert_eq!(queue.first(), model.first().map(|timer| timer.0)),
            }
            assert_eq!(queue.tasks.len(), model.len());
            assert!(queue.heap.len() <= 2 * model.len() + SPARE, "T3");
        }
    }
}
