//! Sources that tick: [`interval`](crate::interval) as events, for which there is nothing before the first tick.
//!
//! A source owns its timer, which goes with it. It knows nothing of the store.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use crate::operators::timed::IntervalTick;
use crate::source::{Source, WeakSource};
use crate::subscription::SubscriptionGuard;
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
