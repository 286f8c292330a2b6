//! Clocks: where time comes from, as nanoseconds. [`MonotonicClock`] reads the operating system's, [`ManualClock`] stands
//! still until it is moved.
//!
//! The one file of the crate that asks the operating system for the time, or sleeps: a target without `std::time` has
//! this file to replace.
//!
//! It knows nothing of frames, timers or cells. Costs: a reading of the monotonic clock is one of `Instant`, about 25 ns;
//! one of the manual clock is a load.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::error::{Error, Fallible};
use crate::store::expect;

/// A source of time in nanoseconds that never goes backwards. Only differences of its readings mean anything.
///
/// A clock of your own, say one that follows the network's time, needs [`now_nanos`](Self::now_nanos). One that does not
/// run by itself needs [`sleep_until`](Self::sleep_until), too.
///
/// ```
/// use hyphae::{Clock, MonotonicClock};
///
/// /// Runs at half speed, for a rehearsal.
/// struct Slow(MonotonicClock);
///
/// impl Clock for Slow {
///     fn now_nanos(&self) -> u64 {
///         self.0.now_nanos() / 2
///     }
/// }
///
/// let clock = Slow(MonotonicClock::new());
/// let before = clock.now_nanos();
/// assert!(clock.now_nanos() >= before);
/// assert_eq!(clock.to_absolute_nanos(before), None);
/// ```
pub trait Clock {
    /// Nanoseconds since a moment that is fixed for the clock.
    fn now_nanos(&self) -> u64;

    /// What a reading is by a time that other machines share, say nanoseconds of PTP; `None` where there is none.
    fn to_absolute_nanos(&self, clock_nanos: u64) -> Option<u64> {
        let _ = clock_nanos;
        None
    }

    /// Returns when the clock reads `clock_nanos` or more; at once if it does already. The thread sleeps meanwhile, for as
    /// long as the clock says at first, then again if that was too short. So a clock that stands still until the program
    /// moves it must bring its own, as [`ManualClock`] does, or this never returns.
    fn sleep_until(&self, clock_nanos: u64) {
        loop {
            let wait = clock_nanos.saturating_sub(self.now_nanos());
            if wait == 0 {
                return;
            }
            std::thread::sleep(Duration::from_nanos(wait));
        }
    }
}

macro_rules! forward {
    ($pointer:ident) => {
        /// The clock that it points to.
        impl<C: Clock + ?Sized> Clock for $pointer<C> {
            fn now_nanos(&self) -> u64 {
                (**self).now_nanos()
            }

            fn to_absolute_nanos(&self, clock_nanos: u64) -> Option<u64> {
                (**self).to_absolute_nanos(clock_nanos)
            }

            fn sleep_until(&self, clock_nanos: u64) {
                (**self).sleep_until(clock_nanos);
            }
        }
    };
}

forward!(Rc);
forward!(Arc);
forward!(Box);

/// When the first monotonic clock of the process was read.
static START: OnceLock<Instant> = OnceLock::new();

/// The operating system's monotonic clock, which no change of the date moves. All of them count from the first reading in
/// the process, so that readings compare, also those of several threads.
///
/// ```
/// use hyphae::{Clock, MonotonicClock};
/// let clock = MonotonicClock::new();
/// let start = clock.now_nanos();
/// clock.sleep_until(start + 1_000);
/// assert!(MonotonicClock::new().now_nanos() >= start + 1_000);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct MonotonicClock {
    _private: (),
}

impl MonotonicClock {
    /// The clock.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Clock for MonotonicClock {
    fn now_nanos(&self) -> u64 {
        let start = START.get_or_init(Instant::now);
        u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// A clock that is moved by hand: what runs on it is exact and the same each time. Its clones are handles of the same
/// clock. Sleeping on it moves it to the time to wake up.
///
/// ```
/// use std::time::Duration;
/// use hyphae::{Clock, ManualClock};
/// let clock = ManualClock::new();
/// let same = clock.clone();
/// clock.advance(Duration::from_millis(2));
/// same.sleep_until(2_000_500);
/// assert_eq!(clock.now_nanos(), 2_000_500);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ManualClock {
    now_ns: Rc<Cell<u64>>,
}

impl ManualClock {
    /// A clock that reads 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// A clock that reads `now_ns` nanoseconds.
    pub fn at(now_ns: u64) -> Self {
        Self { now_ns: Rc::new(Cell::new(now_ns)) }
    }

    /// Moves the clock on. It stops at the last nanosecond that it can show, after 584 years.
    pub fn advance(&self, by: Duration) {
        let by = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
        self.now_ns.set(self.now_ns.get().saturating_add(by));
    }

    /// Moves the clock to `to_ns` nanoseconds.
    ///
    /// # Panics
    /// When that would move it backwards.
    #[track_caller]
    pub fn set(&self, to_ns: u64) {
        expect(self.move_to(to_ns));
    }

    /// [`Self::set`] that gives [`Error::ClockBackwards`] back; the clock then stays where it is.
    pub fn try_set(&self, to_ns: u64) -> Result<(), Error> {
        Ok(self.move_to(to_ns)?)
    }

    fn move_to(&self, to_ns: u64) -> Fallible<()> {
        let now_ns = self.now_ns.get();
        if to_ns < now_ns {
            return Err(Box::new(Error::ClockBackwards { now_ns, to_ns }));
        }
        self.now_ns.set(to_ns);
        Ok(())
    }
}

impl Clock for ManualClock {
    fn now_nanos(&self) -> u64 {
        self.now_ns.get()
    }

    fn sleep_until(&self, clock_nanos: u64) {
        self.now_ns.set(self.now_ns.get().max(clock_nanos));
    }
}
