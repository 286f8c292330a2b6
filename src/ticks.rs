//! What ticks: sources with [`interval`](crate::interval) as events, for which there is nothing before the first tick; and
//! [`TickSource`], a call at each tick, for what is not a cell.
//!
//! Each owns its timer, which goes with it. They know nothing of the store.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use crate::operators::timed::IntervalTick;
use crate::source::{Source, WeakSource};
use crate::subscription::SubscriptionGuard;
use crate::time::clock::Clock;
use crate::time::timers::{Timer, nanos, now_ns};

/// The ticks of a source.
struct Ticks<T: 'static> {
    period_ns: u64,
    start_ns: u64,
    source: WeakSource<T>,
    value: fn(IntervalTick) -> T,
    timer: RefCell<Option<Timer>>,
}

impl<T: 'static> Ticks<T> {
    /// The number of the last tick that has passed.
    fn passed(&self) -> u64 {
        now_ns().saturating_sub(self.start_ns) / self.period_ns
    }

    fn set(self: &Rc<Self>) {
        let next = (self.passed() + 1).saturating_mul(self.period_ns);
        let ticks = self.clone();
        let timer = Timer::at(self.start_ns.saturating_add(next), move || ticks.ring());
        let over = self.timer.replace(Some(timer));
        drop(over);
    }

    fn ring(self: &Rc<Self>) {
        let Some(source) = self.source.upgrade() else { return };
        let elapsed = Duration::from_nanos(now_ns().saturating_sub(self.start_ns));
        // It may have ended: then there are no more ticks.
        if source.try_emit((self.value)(IntervalTick { tick: self.passed(), elapsed })).is_ok() {
            self.set();
        }
    }
}

#[track_caller]
fn ticking<T: 'static>(period: Duration, value: fn(IntervalTick) -> T) -> Source<T> {
    assert!(!period.is_zero(), "an interval needs a period of at least 1 ns");
    let source = Source::new();
    let ticks = Rc::new(Ticks {
        period_ns: nanos(period),
        start_ns: now_ns(),
        source: source.downgrade(),
        value,
        timer: RefCell::default(),
    });
    ticks.set();
    source.own(SubscriptionGuard::from_callback(move || drop(ticks.timer.take())));
    source
}

/// A source with an event at the end of each period since its making: 1 is the first. Of ticks that were missed because
/// nobody drove the [`timers`](crate::timers) only the last is told, and later ones come when they would have anyway.
///
/// ```
/// use std::time::Duration;
/// use hyphae::{ManualClock, Pipeline, interval_source, timers};
/// let clock = ManualClock::new();
/// timers::set_clock(clock.clone());
/// let ticks = interval_source(Duration::from_millis(10)).scan(vec![], |all, tick| [&all[..], &[*tick]].concat());
/// let ticks = ticks.materialize();
/// timers::advance_to(&clock, 35_000_000);
/// assert_eq!(ticks.get(), Some(vec![1, 2, 3]));
/// drop(ticks);
/// assert_eq!(timers::waiting(), 0);
/// ```
///
/// # Panics
/// When `period` is 0, or the store is gone.
#[track_caller]
pub fn interval_source(period: Duration) -> Source<u64> {
    ticking(period, |tick| tick.tick)
}

/// [`interval_source`] whose events also tell the time that has passed.
///
/// # Panics
/// As [`interval_source`].
#[track_caller]
pub fn interval_source_with_elapsed(period: Duration) -> Source<IntervalTick> {
    ticking(period, |tick| tick)
}

/// One tick of a [`TickSource`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tick {
    /// Its number, 1 for the first. A tick that was missed has a number, too.
    pub index: u64,
    /// When it was due, by the clock of the source, in nanoseconds.
    pub clock_nanos: u64,
    /// The same by a time that other machines share, if the clock knows one.
    pub absolute_nanos: Option<u64>,
}

/// Stops the ticks of one listener when it is dropped.
#[must_use = "dropping the guard stops the ticks"]
pub struct TickGuard(Box<dyn Any>);

impl fmt::Debug for TickGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TickGuard")
    }
}

impl TickGuard {
    /// A guard for a source of your own: `on_drop` is dropped with it.
    pub fn new(on_drop: impl Any) -> Self {
        Self(Box::new(on_drop))
    }

    /// Lets the ticks go on for as long as the source can give any.
    pub fn leak(self) {
        std::mem::forget(self.0);
    }
}

/// Something that calls once a frame or once a period. Implement it for what drives your program.
pub trait TickSource {
    /// Calls `f` at each tick, until the guard is dropped.
    fn on_tick(&self, f: Box<dyn FnMut(Tick)>) -> TickGuard;
}

/// Ticks at a fixed period, by the [`timers`](crate::timers) that the program drives. Each listener has a row of its own, whose
/// phase begins when it is added. A tick that was missed because nobody drove the timers is not made up for.
///
/// ```
/// use std::{cell::Cell, rc::Rc, time::Duration};
/// use hyphae::{IntervalTickSource, ManualClock, TickSource, timers};
/// let clock = ManualClock::at(500);
/// timers::set_clock(clock.clone());
/// let last = Rc::new(Cell::new(None));
/// let seen = last.clone();
/// let ticks = IntervalTickSource::new(Duration::from_nanos(100));
/// let guard = ticks.on_tick(Box::new(move |tick| seen.set(Some((tick.index, tick.clock_nanos)))));
/// timers::advance_to(&clock, 650);
/// assert_eq!(last.get(), Some((1, 600)));
/// drop(guard);
/// timers::advance_to(&clock, 900);
/// assert_eq!(last.get(), Some((1, 600)));
/// ```
pub struct IntervalTickSource {
    period_ns: u64,
    clock: Option<Rc<dyn Clock>>,
}

impl fmt::Debug for IntervalTickSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntervalTickSource")
            .field("period_ns", &self.period_ns)
            .finish_non_exhaustive()
    }
}

impl IntervalTickSource {
    /// A tick each `period`.
    ///
    /// # Panics
    /// When `period` is 0.
    #[track_caller]
    pub fn new(period: Duration) -> Self {
        assert!(!period.is_zero(), "an interval needs a period of at least 1 ns");
        Self { period_ns: nanos(period), clock: None }
    }

    /// The same source. Here all ticks are as precise as the program drives the timers; the name is that of hyphae 1.3.3.
    #[must_use]
    pub fn precise(self) -> Self {
        self
    }

    /// The same source, whose ticks tell what this clock reads when they are called; when they come, the clock of the timers
    /// says.
    #[must_use]
    pub fn with_clock(self, clock: impl Clock + 'static) -> Self {
        Self { clock: Some(Rc::new(clock)), ..self }
    }
}

impl TickSource for IntervalTickSource {
    fn on_tick(&self, f: Box<dyn FnMut(Tick)>) -> TickGuard {
        let listener = Rc::new(Listener {
            period_ns: self.period_ns,
            start_ns: now_ns(),
            clock: self.clock.clone(),
            call: RefCell::new(f),
            timer: RefCell::default(),
        });
        listener.set(1);
        TickGuard::new(Stop(listener))
    }
}

/// Who is called at each tick.
struct Listener {
    period_ns: u64,
    start_ns: u64,
    clock: Option<Rc<dyn Clock>>,
    call: RefCell<Box<dyn FnMut(Tick)>>,
    timer: RefCell<Option<Timer>>,
}

impl Listener {
    fn due_ns(&self, index: u64) -> u64 {
        index.saturating_mul(self.period_ns).saturating_add(self.start_ns)
    }

    /// Sets the timer for tick number `index`.
    fn set(self: &Rc<Self>, index: u64) {
        let listener = Rc::downgrade(self);
        let ring = move || {
            if let Some(listener) = listener.upgrade() {
                listener.ring();
            }
        };
        let over = self.timer.replace(Some(Timer::at(self.due_ns(index), ring)));
        drop(over);
    }

    fn ring(self: &Rc<Self>) {
        let index = now_ns().saturating_sub(self.start_ns) / self.period_ns;
        self.set(index + 1);
        let clock_nanos = match &self.clock {
            Some(clock) => clock.now_nanos(),
            None => self.due_ns(index),
        };
        let absolute_nanos =
            self.clock.as_ref().and_then(|clock| clock.to_absolute_nanos(clock_nanos));
        (self.call.borrow_mut())(Tick { index, clock_nanos, absolute_nanos });
    }
}

/// Stops a listener, also one that is being called.
struct Stop(Rc<Listener>);

impl Drop for Stop {
    fn drop(&mut self) {
        let timer = self.0.timer.take();
        drop(timer);
    }
}
