//! Operators that wait: one kernel for all of them, and a small rule for each.
//!
//! The kernel has a node of its own, so that what a rule lets through at once is part of the wave of its input. It sets one
//! timer at a time, for the moment its rule names; when that rings, the node has a turn. Ends are handled here: an error
//! overtakes what waits, a completion does not (P10), and what a ring, a value and an end bring in one turn is given in
//! rounds of their own. The timer goes with the node (T2).

use std::cell::Cell as StdCell;
use std::collections::VecDeque;
use std::panic::Location;
use std::rc::Rc;
use std::time::Duration;

use super::combine::named;
use super::waits::{Audit, BufferTime, Debounce, Delay, SampleTime, Throttle, Timeout};
use crate::cell::{Cell, CellImmutable};
use crate::error::{CellError, Fallible};
use crate::graph::CellKey;
use crate::pipeline::{derive, input_of};
use crate::store::kernel::{End, Kernel, Over, Turn, Upstream};
use crate::store::node::{Input, NodeRef};
use crate::store::{Store, expect, with_store};
use crate::time::timers::{Timer, nanos, now_ns};

/// What a rule sees of the time, and says of it.
pub(super) struct At {
    /// Now, by the clock of the timers.
    pub(super) now_ns: u64,
    /// When the timer rings next. A rule changes it.
    pub(super) rings_ns: Option<u64>,
    /// Whether there is more to give, in the next round.
    pub(super) more: bool,
    /// Set by a rule that ends the cell.
    pub(super) end: Option<End>,
}

impl At {
    pub(super) fn after(&self, time: Duration) -> u64 {
        self.now_ns.saturating_add(nanos(time))
    }
}

/// What becomes of an operator whose input has completed.
pub(super) enum Rest<T> {
    /// The cell completes, after this value if there is one.
    Now(Option<T>),
    /// Something waits that comes first.
    Later,
}

/// What an operator does with values and with the time.
pub(super) trait Rule<T>: 'static {
    type Out: 'static;
    const NAME: &'static str;

    /// The value at construction.
    fn seed(&mut self, value: &T, at: &mut At) -> Self::Out;
    /// A value has come.
    fn value(&mut self, value: &T, at: &mut At) -> Option<Self::Out>;
    /// The timer has rung.
    fn due(&mut self, at: &mut At) -> Option<Self::Out>;
    /// The input has completed; asked again after each ring while it says [`Rest::Later`].
    fn complete(&mut self, at: &mut At) -> Rest<Self::Out>;
    /// What waits is wanted now.
    fn flush(&mut self, _: &mut At) -> Option<Self::Out> {
        None
    }
    /// What waits is wanted no more.
    fn cancel(&mut self, _: &mut At) {}
}

/// Why a node has a turn although its input did not change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ring {
    No,
    Due,
    Flush,
    Cancel,
}

/// Wakes the node of an operator.
pub(super) struct Bell {
    node: StdCell<Option<CellKey>>,
    ring: StdCell<Ring>,
}

impl Bell {
    pub(super) fn new() -> Rc<Self> {
        Rc::new(Self { node: StdCell::new(None), ring: StdCell::new(Ring::No) })
    }

    /// Says whom it wakes.
    pub(super) fn hang_at<T, M>(&self, cell: &Cell<T, M>) {
        self.node.set(Some(cell.key()));
    }

    /// Gives the node a turn, in the wave that is about to run.
    pub(super) fn ring(&self, ring: Ring) {
        self.wake(ring, Store::mark_dirty);
    }

    /// The same in the next round of the wave.
    pub(super) fn ring_next_round(&self, ring: Ring) {
        self.wake(ring, Store::turn_next_round);
    }

    fn wake(&self, ring: Ring, wake: impl FnOnce(&Store, NodeRef)) {
        let Some(id) = self.node.get() else { return };
        self.ring.set(ring);
        let _ = with_store(|store| store.find(id).map(|node| wake(store, node)));
    }

    /// Takes a ring.
    pub(super) fn take(&self) -> Ring {
        self.ring.replace(Ring::No)
    }
}

/// The timer of a kernel, and when it rings.
struct Alarm {
    bell: Rc<Bell>,
    rings_ns: Option<u64>,
    timer: Option<Timer>,
}

impl Alarm {
    fn new(bell: &Rc<Bell>) -> Self {
        Self { bell: bell.clone(), rings_ns: None, timer: None }
    }

    fn at(&self) -> At {
        At { now_ns: now_ns(), rings_ns: self.rings_ns, more: false, end: None }
    }

    /// Takes a ring, after which nothing is set any more.
    fn take(&mut self) -> Ring {
        let ring = self.bell.take();
        if ring == Ring::Due {
            self.rings_ns = None;
        }
        ring
    }

    fn set(&mut self, rings_ns: Option<u64>) {
        if rings_ns == self.rings_ns {
            return;
        }
        self.rings_ns = rings_ns;
        let bell = self.bell.clone();
        let set = rings_ns.map(|at_ns| Timer::at(at_ns, move || bell.ring(Ring::Due)));
        drop(std::mem::replace(&mut self.timer, set));
    }
}

struct Timed<T: 'static, R: Rule<T>> {
    input: Input<T>,
    rule: R,
    alarm: Alarm,
    /// Whether the rule has more to give, in the next round.
    more: bool,
    /// What one turn has brought besides the first: each is given in a round of its own.
    backlog: VecDeque<R::Out>,
    /// How the rule has ended the cell.
    end: Option<End>,
}

impl<T: 'static, R: Rule<T>> Timed<T, R> {
    fn new(input: Input<T>, rule: R, alarm: Alarm) -> Self {
        Self { input, rule, alarm, more: false, backlog: VecDeque::new(), end: None }
    }

    /// What a ring brings.
    fn rung(&mut self, ring: Ring, at: &mut At) -> Option<R::Out> {
        let more = std::mem::take(&mut self.more);
        match ring {
            Ring::Flush => self.rule.flush(at),
            Ring::Cancel => {
                self.rule.cancel(at);
                None
            }
            Ring::Due => self.rule.due(at),
            Ring::No if more => self.rule.due(at),
            Ring::No => None,
        }
    }

    /// What a value brings.
    fn came(&mut self, turn: Turn, at: &mut At) -> Option<R::Out> {
        let rule = &mut self.rule;
        if turn.is_seed() {
            return Some(self.input.with(|value| rule.seed(value, at)));
        }
        let news = self.input.fresh(turn) && !turn.is_quiet();
        if news { self.input.with(|value| rule.value(value, at)) } else { None }
    }

    /// What comes before the end of the input, which is now if this gives something.
    fn rest(&mut self, at: &mut At) -> Option<Option<R::Out>> {
        if self.input.failed() {
            return Some(None);
        }
        match self.rule.complete(at) {
            Rest::Now(rest) => Some(rest),
            Rest::Later => None,
        }
    }
}

impl<T: 'static, R: Rule<T>> Kernel for Timed<T, R> {
    type Out = R::Out;
    const OPERATOR: &'static str = R::NAME;

    fn turn(&mut self, turn: Turn, emit: impl FnOnce(R::Out)) -> Over {
        let mut at = self.alarm.at();
        let ring = self.alarm.take();
        if ring == Ring::Due {
            at.rings_ns = None;
        }
        let rung = self.rung(ring, &mut at);
        let came = self.came(turn, &mut at);
        let rest =
            if at.end.is_none() && turn.ended(&self.input) { self.rest(&mut at) } else { None };
        let failed = at.end.is_some() || turn.failed(&self.input);
        let over = failed || rest.is_some();
        self.backlog.extend([rung, came, rest.flatten()].into_iter().flatten());
        self.backlog.pop_front().into_iter().for_each(emit_once(emit));
        if failed {
            self.backlog.clear();
        }
        self.end = at.end;
        self.more = at.more && !over;
        self.alarm.set(at.rings_ns.filter(|_| !over && !at.more));
        if self.more || !self.backlog.is_empty() {
            self.alarm.bell.ring_next_round(Ring::No);
            return Over::No;
        }
        Over::upstream_if(over)
    }

    fn end(&self) -> End {
        self.end.clone().or_else(|| self.input.end()).unwrap_or(End::Complete)
    }

    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream)) {
        visit(&mut self.input);
    }
}

/// `emit` for something that is called once at most.
pub(super) fn emit_once<T>(emit: impl FnOnce(T)) -> impl FnMut(T) {
    let mut emit = Some(emit);
    move |value| {
        if let Some(emit) = emit.take() {
            emit(value);
        }
    }
}

/// Makes the cell of a rule.
fn timed<T: 'static, M, R: Rule<T>>(
    source: &Cell<T, M>,
    rule: R,
    place: &'static Location<'static>,
) -> Fallible<(Cell<R::Out, CellImmutable>, Rc<Bell>)> {
    let (bell, input) = (Bell::new(), input_of(source.strong.clone())?);
    let cell = derive(Timed::new(input, rule, Alarm::new(&bell)), place)?;
    bell.hang_at(&cell);
    Ok((named(cell, source.name(), R::NAME), bell))
}

/// Which ends of a burst of values an operator lets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edges {
    /// The first value, at once.
    Leading,
    /// The last value, at the end.
    Trailing,
    /// Both; the last only if it is not the first.
    Both,
}

impl Edges {
    pub(super) fn leading(self) -> bool {
        self != Self::Trailing
    }

    pub(super) fn trailing(self) -> bool {
        self != Self::Leading
    }
}

/// Flushes and cancels what waits in a debounce or throttle.
#[derive(Clone)]
pub struct Waiting {
    bell: Rc<Bell>,
}

impl std::fmt::Debug for Waiting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Waiting")
    }
}

impl Waiting {
    /// Lets the value that waits, if there is one, through now.
    ///
    /// ```
    /// use std::time::Duration;
    /// use hyphae::{Cell, Edges};
    /// let typed = Cell::new("");
    /// let (shown, waiting) = typed.debounce_with(Duration::from_secs(1), Edges::Trailing);
    /// typed.set("ab");
    /// assert_eq!(shown.get(), "");
    /// waiting.flush();
    /// assert_eq!(shown.get(), "ab");
    /// ```
    pub fn flush(&self) {
        crate::batch(|| self.bell.ring(Ring::Flush));
    }

    /// Forgets the value that waits, if there is one.
    pub fn cancel(&self) {
        crate::batch(|| self.bell.ring(Ring::Cancel));
    }
}

impl<T: Clone + 'static, M> Cell<T, M> {
    #[track_caller]
    fn waits<R: Rule<T>>(&self, rule: R) -> Cell<R::Out, CellImmutable> {
        expect(timed(self, rule, Location::caller())).0
    }

    #[track_caller]
    fn waits_with<R: Rule<T>>(&self, rule: R) -> (Cell<R::Out, CellImmutable>, Waiting) {
        let (cell, bell) = expect(timed(self, rule, Location::caller()));
        (cell, Waiting { bell })
    }

    /// A cell that takes a value of this one over when none has followed it for `quiet`. It starts with the current value.
    ///
    /// Like all operators that wait, it runs by the clock of the [`timers`](crate::timers), which the program drives; when this
    /// cell completes, what waits comes first; when it fails, that is dropped.
    ///
    /// ```
    /// use std::time::Duration;
    /// use hyphae::{Cell, ManualClock, timers};
    /// let clock = ManualClock::new();
    /// timers::set_clock(clock.clone());
    /// let typed = Cell::new("");
    /// let searched = typed.debounce(Duration::from_millis(300));
    /// typed.set("h");
    /// timers::advance_to(&clock, 200_000_000);
    /// typed.set("hy");
    /// timers::advance_to(&clock, 499_999_999);
    /// assert_eq!(searched.get(), "");
    /// timers::advance_to(&clock, 500_000_000);
    /// assert_eq!(searched.get(), "hy");
    /// ```
    ///
    /// # Panics
    /// When the cell was disposed of or is lent to an `update`, or the store is gone.
    #[track_caller]
    pub fn debounce(&self, quiet: Duration) -> Cell<T, CellImmutable> {
        self.waits(Debounce::new(quiet, Edges::Trailing))
    }

    /// [`debounce`](Cell::debounce) that lets the ends of a burst through that `edges` says, and a handle to flush or cancel
    /// what waits. A burst lasts until there was no value for `quiet`.
    ///
    /// # Panics
    /// As [`debounce`](Cell::debounce).
    #[track_caller]
    pub fn debounce_with(
        &self,
        quiet: Duration,
        edges: Edges,
    ) -> (Cell<T, CellImmutable>, Waiting) {
        self.waits_with(Debounce::new(quiet, edges))
    }

    /// A cell that takes a value over at once, and then none for `pause`. It starts with the current value, which opens no
    /// pause.
    ///
    /// ```
    /// use std::time::Duration;
    /// use hyphae::{Cell, ManualClock, timers};
    /// let clock = ManualClock::new();
    /// timers::set_clock(clock.clone());
    /// let fader = Cell::new(0);
    /// let sent = fader.throttle(Duration::from_millis(20));
    /// (1..=5).for_each(|n| fader.set(n));
    /// assert_eq!(sent.get(), 1);
    /// timers::advance_to(&clock, 20_000_000);
    /// fader.set(6);
    /// assert_eq!(sent.get(), 6);
    /// ```
    ///
    /// # Panics
    /// As [`debounce`](Cell::debounce).
    #[track_caller]
    pub fn throttle(&self, pause: Duration) -> Cell<T, CellImmutable> {
        self.waits(Throttle::new(pause, Edges::Leading))
    }

    /// [`throttle`](Cell::throttle) that lets the ends of each pause through that `edges` says, and a handle to flush or
    /// cancel what waits. A last value that is let through opens a pause of its own.
    ///
    /// # Panics
    /// As [`debounce`](Cell::debounce).
    #[track_caller]
    pub fn throttle_with(
        &self,
        pause: Duration,
        edges: Edges,
    ) -> (Cell<T, CellImmutable>, Waiting) {
        self.waits_with(Throttle::new(pause, edges))
    }

    /// A cell that waits for `window` from a value on, and then takes the latest over. It starts with the current value.
    ///
    /// # Panics
    /// As [`debounce`](Cell::debounce).
    #[track_caller]
    pub fn audit(&self, window: Duration) -> Cell<T, CellImmutable> {
        self.waits(Audit::new(window))
    }

    /// A cell that takes each value over `by` later, in their order, and completes that much later. It starts with the
    /// current value. An error is not delayed.
    ///
    /// # Panics
    /// As [`debounce`](Cell::debounce).
    #[track_caller]
    pub fn delay(&self, by: Duration) -> Cell<T, CellImmutable> {
        self.waits(Delay::new(by))
    }

    /// A cell that takes the latest value over at the end of each `period` in which there was one. It starts with the current
    /// value; periods count from its making.
    ///
    /// # Panics
    /// As [`debounce`](Cell::debounce); and when `period` is 0.
    #[track_caller]
    pub fn sample_time(&self, period: Duration) -> Cell<T, CellImmutable> {
        self.waits(SampleTime::new(period))
    }

    /// A cell with the values of each `period`, at its end, also when there were none. It starts with an empty list, in which
    /// the current value is not; periods count from its making, and one that was missed is not made up for.
    ///
    /// # Panics
    /// As [`debounce`](Cell::debounce); and when `period` is 0.
    #[track_caller]
    pub fn buffer_time(&self, period: Duration) -> Cell<Vec<T>, CellImmutable> {
        self.waits(BufferTime::new(period))
    }

    /// A cell that follows this one, and fails with `timeout` when there was no value for `limit`, from its making on.
    ///
    /// # Panics
    /// As [`debounce`](Cell::debounce).
    #[track_caller]
    pub fn timeout(&self, limit: Duration) -> Cell<T, CellImmutable> {
        self.waits(Timeout::new(limit))
    }
}

/// What a [`Timeout`] ends with.
pub(super) fn timed_out() -> End {
    End::Error(CellError::new("timeout"))
}

/// A kernel without inputs that has a value at each ring.
struct Ticking<S> {
    series: S,
    alarm: Alarm,
}

/// A row of values in time.
trait Series: 'static {
    type Out: 'static;
    const NAME: &'static str;

    /// The value for now; sets the next ring, none after the last value. `None` if there is none.
    fn next(&mut self, at: &mut At) -> Option<Self::Out>;
}

impl<S: Series> Kernel for Ticking<S> {
    type Out = S::Out;
    const OPERATOR: &'static str = S::NAME;

    fn turn(&mut self, turn: Turn, emit: impl FnOnce(S::Out)) -> Over {
        let rung = self.alarm.take() == Ring::Due;
        if !(rung || turn.is_seed()) {
            return Over::No;
        }
        let mut at = self.alarm.at();
        self.series.next(&mut at).into_iter().for_each(emit_once(emit));
        self.alarm.set(at.rings_ns);
        if at.rings_ns.is_none() { Over::Closed } else { Over::No }
    }

    fn end(&self) -> End {
        End::Complete
    }

    fn inputs(&mut self, _: &mut dyn FnMut(&mut dyn Upstream)) {}
}

fn ticking<S: Series>(series: S, place: &'static Location<'static>) -> Cell<S::Out, CellImmutable> {
    let bell = Bell::new();
    let cell = expect(derive(Ticking { series, alarm: Alarm::new(&bell) }, place));
    bell.hang_at(&cell);
    cell
}

/// The ticks of a period, from a start on.
struct Ticks<F> {
    period_ns: u64,
    start_ns: u64,
    value: F,
}

impl<T: 'static, F: FnMut(IntervalTick) -> T + 'static> Series for Ticks<F> {
    type Out = T;
    const NAME: &'static str = "interval";

    fn next(&mut self, at: &mut At) -> Option<T> {
        // The last tick that has passed: what was missed is not made up for, and the phase is kept.
        let elapsed_ns = at.now_ns.saturating_sub(self.start_ns);
        let tick = elapsed_ns / self.period_ns;
        at.rings_ns = Some((tick + 1).saturating_mul(self.period_ns).saturating_add(self.start_ns));
        Some((self.value)(IntervalTick { tick, elapsed: Duration::from_nanos(elapsed_ns) }))
    }
}

/// A tick of an [`interval_with_elapsed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntervalTick {
    /// Its number; 0 is the moment of making.
    pub tick: u64,
    /// The time since then.
    pub elapsed: Duration,
}

#[track_caller]
fn ticks<T: 'static>(
    period: Duration,
    value: impl FnMut(IntervalTick) -> T + 'static,
) -> Cell<T, CellImmutable> {
    assert!(!period.is_zero(), "an interval needs a period of at least 1 ns");
    ticking(Ticks { period_ns: nanos(period), start_ns: now_ns(), value }, Location::caller())
}

/// A cell that counts the periods since its making: 0 now, 1 after the first. Its timer goes with it. Of ticks that were
/// missed because nobody drove the timers only the last is told, and later ones come when they would have anyway.
///
/// ```
/// use std::time::Duration;
/// use hyphae::{ManualClock, interval, timers};
/// let clock = ManualClock::new();
/// timers::set_clock(clock.clone());
/// let ticks = interval(Duration::from_millis(10));
/// timers::advance_to(&clock, 25_000_000);
/// assert_eq!(ticks.get(), 2);
/// clock.set(58_000_000);
/// timers::poll();
/// assert_eq!((ticks.get(), timers::next_deadline_ns()), (5, Some(60_000_000)));
/// ```
///
/// # Panics
/// When `period` is 0, or the store is gone.
#[track_caller]
pub fn interval(period: Duration) -> Cell<u64, CellImmutable> {
    ticks(period, |tick| tick.tick)
}

/// [`interval`] whose values also tell the time that has passed.
///
/// # Panics
/// As [`interval`].
#[track_caller]
pub fn interval_with_elapsed(period: Duration) -> Cell<IntervalTick, CellImmutable> {
    ticks(period, |tick| tick)
}

/// The items of an iterator, one at a time.
struct Items<I: Iterator> {
    items: std::iter::Peekable<I>,
    pause: Duration,
}

impl<I: Iterator<Item: 'static> + 'static> Series for Items<I> {
    type Out = I::Item;
    const NAME: &'static str = "from_iter_with_delay";

    fn next(&mut self, at: &mut At) -> Option<I::Item> {
        let item = self.items.next();
        at.rings_ns = self.items.peek().map(|_| at.after(self.pause));
        item
    }
}

/// A cell with the items of an iterator: the first now, each further one `pause` later; it completes with the last. `None`
/// if there are none.
///
/// ```
/// use std::time::Duration;
/// use hyphae::{ManualClock, from_iter_with_delay, timers};
/// let clock = ManualClock::new();
/// timers::set_clock(clock.clone());
/// let cell = from_iter_with_delay(["on", "off"], Duration::from_millis(1)).expect("there are items");
/// assert_eq!((cell.get(), cell.is_complete()), ("on", false));
/// timers::advance_to(&clock, 1_000_000);
/// assert_eq!((cell.get(), cell.is_complete()), ("off", true));
/// ```
///
/// # Panics
/// When the store is gone, or the iterator does.
#[track_caller]
pub fn from_iter_with_delay<T: 'static>(
    items: impl IntoIterator<Item = T, IntoIter: 'static>,
    pause: Duration,
) -> Option<Cell<T, CellImmutable>> {
    let mut items = items.into_iter().peekable();
    items.peek()?;
    Some(ticking(Items { items, pause }, Location::caller()))
}
