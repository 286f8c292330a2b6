//! Retrying: a cell that starts its source anew when that fails, and fails only when that was of no use.
//!
//! Five nodes, of which a value passes three. `Tries` counts the starts; a `switch_map` over it follows what each start gives, with its end as a value
//! (`Hearing`), so that a failure does not end the switch; `Retried` decides, and rings for the next start.
//!
//! Invariants: no start but the first happens in the round of the failure that it answers, so that each failure is seen; a
//! timer that waits for a start goes with the cell.

use std::panic::Location;
use std::rc::Rc;
use std::time::Duration;

use super::switch;
use super::timed::{Bell, Ring, emit_once};
use crate::cell::{Cell, CellImmutable};
use crate::error::{CellError, Fallible};
use crate::pipeline::{Root, derive, input_of};
use crate::store::kernel::{End, Kernel, Over, Turn, Upstream};
use crate::store::node::Input;
use crate::store::probe::frames::operator;
use crate::store::{expect, with_store};
use crate::time::timers::{Timer, nanos, now_ns};

/// How often a source that fails is started anew, when, and after which errors.
///
/// ```
/// use std::time::Duration;
/// use hyphae::Retry;
/// let policy = Retry::times(5)
///     .with_delay(Duration::from_secs(1))
///     .when(|error, _| error.to_string() != "no such fixture");
/// assert_eq!(format!("{policy:?}"), "Retry { times: 5, delay: 1s, .. }");
/// ```
pub struct Retry {
    times: usize,
    delay: Duration,
    when: Option<Box<dyn FnMut(&CellError, usize) -> bool>>,
}

impl std::fmt::Debug for Retry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut fields = f.debug_struct("Retry");
        fields.field("times", &self.times).field("delay", &self.delay).finish_non_exhaustive()
    }
}

impl Retry {
    /// The source is tried so many times in a row, at once: the last error passes. 0 is taken for 1.
    pub fn times(times: usize) -> Self {
        Self { times, delay: Duration::ZERO, when: None }
    }

    /// The same with so much time between an error and the next start, by the clock of the [`timers`](crate::timers).
    #[must_use]
    pub fn with_delay(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    /// The same, but an error passes at once for which `allows` gives `false`. It gets the error and how many there were in a
    /// row, 1 at first.
    #[must_use]
    pub fn when(self, allows: impl FnMut(&CellError, usize) -> bool + 'static) -> Self {
        Self { when: Some(Box::new(allows)), ..self }
    }

    fn allows(&mut self, error: &CellError, failures: usize) -> bool {
        failures < self.times && self.when.as_mut().is_none_or(|allows| allows(error, failures))
    }
}

/// Counts the starts.
struct Tries {
    bell: Rc<Bell>,
    started: usize,
}

impl Kernel for Tries {
    type Out = usize;
    const OPERATOR: &'static str = "RetryStarts";

    fn turn(&mut self, turn: Turn, emit: impl FnOnce(usize)) -> Over {
        if self.bell.take() == Ring::Due || turn.is_seed() {
            self.started += 1;
            emit(self.started);
        }
        Over::No
    }

    fn end(&self) -> End {
        End::Complete
    }

    fn inputs(&mut self, _: &mut dyn FnMut(&mut dyn Upstream)) {}
}

/// What a source has told in one turn.
#[derive(Clone)]
struct Heard<T> {
    value: T,
    /// Whether the value is news.
    fresh: bool,
    end: Option<End>,
    /// Whether that is what the source was found with.
    first: bool,
}

/// Tells a source's end as a value.
struct Hearing<T: 'static>(Input<T>);

impl<T: Clone + 'static> Kernel for Hearing<T> {
    type Out = Heard<T>;
    const OPERATOR: &'static str = "RetrySource";

    fn turn(&mut self, turn: Turn, emit: impl FnOnce(Heard<T>)) -> Over {
        let first = turn.is_seed();
        let fresh = first || self.0.fresh(turn) && !turn.is_quiet();
        let end = if turn.ended(&self.0) { self.0.end() } else { None };
        let over = end.is_some();
        if fresh || over {
            emit(Heard { value: self.0.with(T::clone), fresh, end, first });
        }
        // It has told everything: its source is let go. The switch goes on when what it follows completes.
        if over { Over::Closed } else { Over::No }
    }

    fn end(&self) -> End {
        End::Complete
    }

    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream)) {
        visit(&mut self.0);
    }
}

/// Decides what becomes of an error.
struct Retried<T: 'static> {
    input: Input<Heard<T>>,
    policy: Retry,
    tries: Rc<Bell>,
    /// Whether the source was found ended, which is still to be looked at.
    unread: bool,
    /// Errors since the last value that came after a start.
    failures: usize,
    end: Option<End>,
    timer: Option<Timer>,
}

impl<T: Clone + 'static> Retried<T> {
    fn new(input: Input<Heard<T>>, policy: Retry, tries: Rc<Bell>) -> Self {
        Self { input, policy, tries, unread: false, failures: 0, end: None, timer: None }
    }

    fn hear(&mut self, heard: Heard<T>) -> Option<T> {
        let Heard { value, fresh, end, first } = heard;
        if fresh && !first {
            self.failures = 0;
        }
        let failed = matches!(end, Some(End::Error(_)));
        match end {
            Some(End::Error(error)) => self.fail(error),
            end => self.end = end,
        }
        // The value of a cell that was found failed is old.
        (fresh && !(first && failed)).then_some(value)
    }

    fn fail(&mut self, error: CellError) {
        self.failures += 1;
        // In this order, since `allows` may panic: then the error passes.
        self.end = Some(End::Error(error.clone()));
        let Self { policy, failures, .. } = self;
        if operator::<Self, _>(|| policy.allows(&error, *failures)) {
            self.end = None;
            self.start_again();
        }
    }

    fn start_again(&mut self) {
        let bell = self.tries.clone();
        if self.policy.delay.is_zero() {
            return bell.ring_next_round(Ring::Due);
        }
        let at_ns = now_ns().saturating_add(nanos(self.policy.delay));
        self.timer = Some(Timer::at(at_ns, move || bell.ring(Ring::Due)));
    }
}

impl<T: Clone + 'static> Kernel for Retried<T> {
    type Out = T;
    const OPERATOR: &'static str = "retry";

    fn turn(&mut self, turn: Turn, emit: impl FnOnce(T)) -> Over {
        if turn.is_seed() {
            let heard = self.input.with(Heard::clone);
            self.unread = heard.end.is_some();
            emit(heard.value);
            return Over::No;
        }
        let unread = std::mem::take(&mut self.unread);
        if self.end.is_none() && (unread || self.input.fresh(turn) && !turn.is_quiet()) {
            let mut heard = self.input.with(Heard::clone);
            // The seed had its value.
            heard.fresh &= !unread;
            self.hear(heard).into_iter().for_each(emit_once(emit));
        }
        Over::upstream_if(self.end.is_some() || turn.failed(&self.input))
    }

    fn end(&self) -> End {
        self.end.clone().or_else(|| self.input.end()).unwrap_or(End::Complete)
    }

    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream)) {
        visit(&mut self.input);
    }
}

/// A cell that follows the one that `start` gives, and has another one given when that fails, as the policy says; its error
/// is that of the last. `start` gets the number of the start, 1 now.
///
/// Between an error and the next start it keeps its value; the next start brings the value of the new cell. A cell that
/// has failed stays failed, so that `start` should make one anew: what it is given that has failed already counts as one
/// more error. A value that comes after a start, not that with which it began, forgets the errors before it. Completes when
/// the cell that it follows does.
///
/// A start that follows at once happens in the next round of the same wave; without end, that is
/// [`Error::NoConvergence`](crate::Error::NoConvergence). If `start` or the policy's closure panics, that is caught like a
/// panic of any closure; the cell then keeps its value.
///
/// A value passes three cells, and is cloned in each.
///
/// ```
/// use std::time::Duration;
/// use hyphae::{Cell, ManualClock, Retry, retry, timers};
/// let clock = ManualClock::new();
/// timers::set_clock(clock.clone());
/// let lines = [Cell::new("idle"), Cell::new("up")];
/// let starts = lines.clone();
/// let line = retry(Retry::times(2).with_delay(Duration::from_secs(1)), move |n| starts[n - 1].clone());
/// assert_eq!(line.get(), "idle");
/// lines[0].fail("cable");
/// assert_eq!((line.get(), line.is_error()), ("idle", false));
/// timers::advance_to(&clock, 1_000_000_000);
/// assert_eq!(line.get(), "up");
/// lines[1].fail("cable");
/// assert!(line.is_error());
/// ```
///
/// # Panics
/// When `start` does now, or gives a cell that was disposed of; and when the store is gone.
#[track_caller]
pub fn retry<T: Clone + 'static, M: 'static>(
    policy: Retry,
    start: impl FnMut(usize) -> Cell<T, M> + 'static,
) -> Cell<T, CellImmutable> {
    expect(retried(policy, start, Location::caller()))
}

fn retried<T: Clone + 'static, M: 'static>(
    policy: Retry,
    mut start: impl FnMut(usize) -> Cell<T, M> + 'static,
    place: &'static Location<'static>,
) -> Fallible<Cell<T, CellImmutable>> {
    let bell = Bell::new();
    let tries = derive(Tries { bell: bell.clone(), started: 0 }, place)?;
    bell.hang_at(&tries);
    let hear = move |number: &usize| {
        let source = input_of::<T>(start(*number).strong.clone());
        expect(source.and_then(|source| derive(Hearing(source), place)))
    };
    let heard = switch::switch_map(Root::of(tries.strong.clone()), hear, place)?;
    let cell = derive(Retried::new(input_of(heard.strong.clone())?, policy, bell), place)?;
    if heard.with(|heard| heard.end.is_some()) {
        let read = || with_store(|store| store.find(cell.key()).map(|node| store.mark_dirty(node)));
        let _ = crate::batch(read);
    }
    Ok(cell)
}

impl<T: Clone + 'static, M: 'static> Cell<T, M> {
    /// [`retry`] that starts this cell again: its error passes after `times` of them, 0 being taken for 1.
    ///
    /// A cell that has failed has ended, so that it fails again at once; what is made anew is what `retry` is for.
    ///
    /// ```
    /// use hyphae::Cell;
    /// let level = Cell::new(1);
    /// let tried = level.retry(3);
    /// level.set(2);
    /// level.fail("gone");
    /// assert_eq!((tried.get(), tried.is_error()), (2, true));
    /// ```
    ///
    /// # Panics
    /// When the cell was disposed of or is lent to an `update`, or the store is gone.
    #[track_caller]
    pub fn retry(&self, times: usize) -> Cell<T, CellImmutable> {
        self.retry_as(Retry::times(times), Location::caller())
    }

    /// [`retry`](Cell::retry) as long as `allows` holds for the error and the number of errors in a row, 1 at first.
    ///
    /// # Panics
    /// As [`retry`](Cell::retry).
    #[track_caller]
    pub fn retry_when(
        &self,
        allows: impl FnMut(&CellError, usize) -> bool + 'static,
    ) -> Cell<T, CellImmutable> {
        self.retry_as(Retry::times(usize::MAX).when(allows), Location::caller())
    }

    /// [`retry`](Cell::retry) with so much time between an error and the next start.
    ///
    /// # Panics
    /// As [`retry`](Cell::retry).
    #[track_caller]
    pub fn retry_with_delay(&self, times: usize, delay: Duration) -> Cell<T, CellImmutable> {
        self.retry_as(Retry::times(times).with_delay(delay), Location::caller())
    }

    fn retry_as(&self, policy: Retry, place: &'static Location<'static>) -> Cell<T, CellImmutable> {
        let source = self.clone();
        expect(retried(policy, move |_| source.clone(), place))
    }
}
