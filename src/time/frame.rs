//! [`FrameLoop`]: an application as a row of frames, each of them one batch, measured.
//!
//! It knows no cells and no operators; what a frame has cost, the store adds up.
//!
//! Invariants: the number of a frame grows from one to the next, also past a frame that panicked. A boundary is where its
//! number says, whatever happened before, until [`FrameLoop::frame_at`] or [`FrameLoop::restart`] says otherwise.
//!
//! Costs: a frame without changes is about ten readings of the clock, and allocates nothing.

use std::fmt;
use std::panic::Location;
use std::rc::Rc;
use std::time::Duration;

use super::clock::{Clock, MonotonicClock};
use super::grid::{Grid, Pace};
use super::report::{Frame, FrameReport, difference};
use super::stats::FrameStats;
use super::{timers, warmth};
use crate::error::{Error, Fallible, Reentry};
use crate::inbox;
use crate::store::probe::costs::{Cost, Now};
use crate::store::{Store, expect, with_store};

/// Runs an application frame by frame. A frame is one [batch](crate::batch), and a [`FrameReport`] of what it has cost.
///
/// Boundary number `k` is `k` periods after the moment at which the first frame began. There are three ways to drive it:
///
/// - [`run`](Self::run) and [`run_while`](Self::run_while) sleep until each boundary.
/// - [`frame`](Self::frame) runs one frame now, for a program that waits by itself or with [`wait`](Self::wait).
/// - [`frame_at`](Self::frame_at) runs one now whose boundary the caller knows, say from a display or a network clock.
///
/// A frame that comes late is not followed by a burst: of the boundaries that have passed, the last one gets a frame, the
/// others are skipped and counted. The next boundary is where it would have been anyway.
///
/// ```
/// use std::time::Duration;
/// use hyphae::{Cell, FrameLoop, ManualClock, Pipeline};
///
/// let clock = ManualClock::new();
/// let mut frames = FrameLoop::with_period(Duration::from_millis(10)).with_clock(clock.clone());
/// let time_ns = Cell::new(0);
/// let level = (&time_ns).map(|t| t / 1_000_000 % 256).materialize();
/// // To compute it takes 2 ms by this clock, also now.
/// let slow = (&level).tap(move |_| clock.advance(Duration::from_millis(2))).materialize();
///
/// let report = frames.frame(|frame| time_ns.set(frame.boundary_ns));
/// assert_eq!((report.index, report.cells_computed, report.emits), (0, 2, 3));
/// assert_eq!((report.settle_ns, report.delivery_ns), (2_000_000, 0));
/// assert!(!report.over_budget);
///
/// frames.run(3, |frame| time_ns.set(frame.boundary_ns));
/// assert_eq!(slow.get(), 32); // the frames were due at 2, 12, 22 and 32 ms
/// assert_eq!(frames.stats().frames(), 4);
/// ```
pub struct FrameLoop {
    pace: Pace,
    clock: Rc<dyn Clock>,
    /// The clock, as the store knows it.
    now: Now,
    budget_ns: u64,
    /// How long before a boundary it is awake.
    lead_ns: u64,
    levels: bool,
    /// None before the first frame.
    grid: Option<Grid>,
    /// The lowest number that the next frame can have.
    next: u64,
    /// Skipped boundaries that no report has told of.
    skipped: u64,
    previous: Option<FrameReport>,
    stats: FrameStats,
}

impl fmt::Debug for FrameLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameLoop")
            .field("pace", &self.pace)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

/// A frame that is about to run.
#[derive(Clone, Copy)]
struct Due {
    index: u64,
    boundary_ns: u64,
    start_ns: u64,
    skipped: u64,
}

impl FrameLoop {
    /// A loop with `hz` frames a second. Its clock is the [`MonotonicClock`].
    ///
    /// Each boundary is rounded to a nanosecond by itself, so that 60 Hz stay 60 Hz.
    ///
    /// # Panics
    /// When `hz` is not a number above 0 and up to 1e9.
    #[track_caller]
    pub fn new(hz: impl Into<f64>) -> Self {
        expect(Self::with_pace(Pace::hertz(hz.into())))
    }

    /// [`Self::new`] that gives [`Error::FrameRate`] back.
    #[track_caller]
    pub fn try_new(hz: impl Into<f64>) -> Result<Self, Error> {
        Ok(Self::with_pace(Pace::hertz(hz.into()))?)
    }

    /// A loop with a frame each `period`.
    ///
    /// # Panics
    /// When `period` is 0, or longer than 292 years.
    #[track_caller]
    pub fn with_period(period: Duration) -> Self {
        expect(Self::with_pace(Pace::period(period)))
    }

    /// [`Self::with_period`] that gives [`Error::FrameRate`] back.
    #[track_caller]
    pub fn try_with_period(period: Duration) -> Result<Self, Error> {
        Ok(Self::with_pace(Pace::period(period))?)
    }

    #[track_caller]
    fn with_pace(pace: Option<Pace>) -> Fallible<Self> {
        let place = Location::caller();
        let pace = pace.ok_or_else(|| Box::new(Error::FrameRate { place }))?;
        let clock: Rc<dyn Clock> = Rc::new(MonotonicClock::new());
        Ok(Self {
            pace,
            now: reading(&clock),
            clock,
            budget_ns: pace.span_ns(1),
            lead_ns: 0,
            levels: false,
            grid: None,
            next: 0,
            skipped: 0,
            previous: None,
            stats: FrameStats::new(),
        })
    }

    /// The same loop on another clock. A clone of a [`ManualClock`](crate::ManualClock) is the same clock, so keep one to
    /// move it. The next frame's boundary is the moment at which it begins.
    ///
    /// The clock is also read while the store settles and delivers; what it writes to cells then is queued, as in any
    /// callback.
    #[must_use]
    pub fn with_clock(self, clock: impl Clock + 'static) -> Self {
        let clock: Rc<dyn Clock> = Rc::new(clock);
        Self { now: reading(&clock), clock, grid: None, ..self }
    }

    /// The same loop with another budget: how long a frame may take, from its start to the end of the last wave it caused.
    /// It is the period if nothing else is said.
    #[must_use]
    pub fn with_budget(self, budget: Duration) -> Self {
        Self { budget_ns: whole_ns(budget), ..self }
    }

    /// The same loop, awake for the time `lead` before each boundary that it [waits](Self::wait) for. Meanwhile it reads what
    /// the store keeps of each cell, so that the frame finds it in the processor's caches, from where a program that sleeps
    /// loses it to others on the machine. A frame then begins within microseconds of its boundary, and settles in about
    /// half the time where a store has tens of thousands of cells.
    ///
    /// The price is `lead` of processor time a frame: with 50 000 cells, 2 to 4 ms are enough. Without this it is 0.
    #[must_use]
    pub fn with_warm_up(self, lead: Duration) -> Self {
        Self { lead_ns: whole_ns(lead), ..self }
    }

    /// The same loop, telling in its reports the [`levels`](FrameReport::levels) that were computed and the
    /// [widest](FrameReport::widest_level). For that it looks at the inputs of each cell that is computed, which may take
    /// as long as computing it.
    #[must_use]
    pub fn with_levels(self, levels: bool) -> Self {
        Self { levels, ..self }
    }

    /// Runs one frame now: `f`, and all that its writes cause, has settled when this returns.
    ///
    /// It gets the last boundary that has passed, if no frame had that; else the next one, for which it is early.
    ///
    /// # Panics
    /// With a message where [`try_frame`](Self::try_frame) gives an error. A panic in `f` or in a callback goes on to the
    /// caller when all has settled; the frame then has no report, and the loop can go on.
    #[track_caller]
    pub fn frame(&mut self, f: impl FnOnce(&Frame)) -> FrameReport {
        expect(self.run_frame(None, f))
    }

    /// [`Self::frame`] that gives errors back: [`Error::Reentrant`] inside a callback or a batch, where nothing has
    /// happened; [`Error::NoConvergence`] when all else has; [`Error::StoreClosed`].
    #[track_caller]
    pub fn try_frame(&mut self, f: impl FnOnce(&Frame)) -> Result<FrameReport, Error> {
        Ok(self.run_frame(None, f)?)
    }

    /// Runs one frame now, which is due at `boundary_ns` by the loop's clock. It has the next number, and later boundaries
    /// count from this one.
    ///
    /// # Panics
    /// As [`Self::frame`] does.
    ///
    /// ```
    /// use hyphae::{FrameLoop, ManualClock};
    /// let clock = ManualClock::at(1_000);
    /// let mut frames = FrameLoop::new(50).with_clock(clock.clone());
    /// let report = frames.frame_at(900, |_| ());
    /// assert_eq!((report.index, report.boundary_ns, report.lateness_ns), (0, 900, 100));
    /// assert_eq!(frames.next_boundary_ns(), 20_000_900);
    /// ```
    #[track_caller]
    pub fn frame_at(&mut self, boundary_ns: u64, f: impl FnOnce(&Frame)) -> FrameReport {
        expect(self.run_frame(Some(boundary_ns), f))
    }

    /// [`Self::frame_at`] that gives errors back, as [`Self::try_frame`] does.
    #[track_caller]
    pub fn try_frame_at(
        &mut self,
        boundary_ns: u64,
        f: impl FnOnce(&Frame),
    ) -> Result<FrameReport, Error> {
        Ok(self.run_frame(Some(boundary_ns), f)?)
    }

    /// Runs `frames` frames, each at its boundary, and sleeps between them. [`Frame::previous`] tells what the frame before
    /// has cost.
    ///
    /// # Panics
    /// As [`Self::frame`] does; then the rest is not run.
    #[track_caller]
    pub fn run(&mut self, frames: u64, f: impl FnMut(&Frame)) {
        expect(self.run_frames(frames, f));
    }

    /// [`Self::run`] that gives errors back, as [`Self::try_frame`] does. The frame with the error is the last.
    #[track_caller]
    pub fn try_run(&mut self, frames: u64, f: impl FnMut(&Frame)) -> Result<(), Error> {
        Ok(self.run_frames(frames, f)?)
    }

    /// Runs frames, each at its boundary, until `f` gives `false`, and sleeps between them.
    ///
    /// # Panics
    /// As [`Self::run`] does.
    ///
    /// ```
    /// use hyphae::{Clock, FrameLoop, ManualClock};
    /// let clock = ManualClock::new();
    /// let mut frames = FrameLoop::new(40).with_clock(clock.clone());
    /// frames.run_while(|frame| frame.boundary_ns < 1_000_000_000);
    /// assert_eq!((frames.stats().frames(), clock.now_nanos()), (41, 1_000_000_000));
    /// ```
    #[track_caller]
    pub fn run_while(&mut self, f: impl FnMut(&Frame) -> bool) {
        expect(self.run_on(f));
    }

    /// [`Self::run_while`] that gives errors back, as [`Self::try_run`] does.
    #[track_caller]
    pub fn try_run_while(&mut self, f: impl FnMut(&Frame) -> bool) -> Result<(), Error> {
        Ok(self.run_on(f)?)
    }

    /// Sleeps until the next frame is due; returns at once before the first, and when its boundary has passed. That is how
    /// [`run`](Self::run) waits, [warm-up](Self::with_warm_up) included, for a program that runs each [`frame`](Self::frame)
    /// by itself.
    ///
    /// # Panics
    /// With a message where [`try_wait`](Self::try_wait) gives an error.
    ///
    /// ```
    /// use hyphae::{Clock, FrameLoop, ManualClock};
    /// let clock = ManualClock::new();
    /// let mut frames = FrameLoop::new(50).with_clock(clock.clone());
    /// for index in 0..3 {
    ///     frames.wait();
    ///     assert_eq!(frames.frame(|_| ()).boundary_ns, index * 20_000_000);
    /// }
    /// assert_eq!(clock.now_nanos(), 40_000_000);
    /// ```
    #[track_caller]
    pub fn wait(&self) {
        expect(self.wait_for_next());
    }

    /// [`Self::wait`] that gives errors back: [`Error::Reentrant`] inside a callback or a batch, which must not sleep;
    /// [`Error::StoreClosed`].
    #[track_caller]
    pub fn try_wait(&self) -> Result<(), Error> {
        Ok(self.wait_for_next()?)
    }

    #[track_caller]
    fn wait_for_next(&self) -> Fallible<()> {
        check_outside()?;
        match self.grid {
            Some(grid) => warmth::wait(&*self.clock, grid.boundary_ns(self.next), self.lead_ns),
            None => Ok(()),
        }
    }

    /// When the next frame is due, by the loop's clock; now, before the first. A program that sleeps by itself, not in
    /// [`wait`](Self::wait), sleeps until then, if that is not over already.
    pub fn next_boundary_ns(&self) -> u64 {
        self.grid.map_or_else(|| self.clock.now_nanos(), |grid| grid.boundary_ns(self.next))
    }

    /// The clock.
    pub fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// After a pause that was meant: the next frame's boundary is the moment at which it begins, and nothing counts as
    /// skipped. Numbers go on.
    pub fn restart(&mut self) {
        self.grid = None;
    }

    /// Statistics over all frames that have a report.
    pub fn stats(&self) -> &FrameStats {
        &self.stats
    }

    /// Begins the statistics anew, say after the first frames, and gives the old ones.
    pub fn take_stats(&mut self) -> FrameStats {
        std::mem::take(&mut self.stats)
    }

    #[track_caller]
    fn run_frames(&mut self, frames: u64, mut f: impl FnMut(&Frame)) -> Fallible<()> {
        let mut left = frames;
        if frames == 0 {
            return Ok(());
        }
        self.run_on(|frame| {
            f(frame);
            left -= 1;
            left > 0
        })
    }

    #[track_caller]
    fn run_on(&mut self, mut f: impl FnMut(&Frame) -> bool) -> Fallible<()> {
        let mut more = true;
        while more {
            self.wait_for_next()?;
            self.run_frame(None, |frame| more = f(frame))?;
        }
        Ok(())
    }

    #[track_caller]
    fn run_frame(
        &mut self,
        boundary_ns: Option<u64>,
        f: impl FnOnce(&Frame),
    ) -> Fallible<FrameReport> {
        check_outside()?;
        let due = self.take_due(boundary_ns);
        let frame = Frame {
            index: due.index,
            boundary_ns: due.boundary_ns,
            absolute_ns: self.clock.to_absolute_nanos(due.boundary_ns),
            start_ns: due.start_ns,
            skipped: due.skipped,
            previous: self.previous.take(),
        };
        let cost = with_store(|store| self.measure(store, &frame, f))??;
        let report = self.report(due, &cost, self.clock.now_nanos());
        self.skipped = 0;
        self.previous = Some(report);
        self.stats.record(&report);
        Ok(report)
    }

    /// Which frame is to run, now. Its number is used up.
    fn take_due(&mut self, boundary_ns: Option<u64>) -> Due {
        let start_ns = self.clock.now_nanos();
        let at = |at_ns| Grid { pace: self.pace, index: self.next, at_ns };
        let grid = match (boundary_ns, self.grid) {
            (Some(boundary_ns), _) => at(boundary_ns),
            (None, Some(grid)) => grid,
            (None, None) => at(start_ns),
        };
        let last = if boundary_ns.is_some() { self.next } else { grid.last_passed(start_ns) };
        let index = self.next.max(last);
        self.skipped += index - self.next;
        self.grid = Some(grid);
        self.next = index + 1;
        Due { index, boundary_ns: grid.boundary_ns(index), start_ns, skipped: self.skipped }
    }

    fn measure(&self, store: &Store, frame: &Frame, f: impl FnOnce(&Frame)) -> Fallible<Cost> {
        let _span = store.frame_span(frame.index, frame.boundary_ns);
        let open = store.open_frame(self.now.clone(), self.levels);
        store.in_batch(|| {
            inbox::drain_all();
            timers::call_all_due();
            f(frame);
        })?;
        Ok(open.cost())
    }

    fn report(&self, due: Due, cost: &Cost, end_ns: u64) -> FrameReport {
        let Due { index, boundary_ns, start_ns, skipped } = due;
        let total_ns = end_ns.saturating_sub(start_ns);
        FrameReport {
            index,
            boundary_ns,
            start_ns,
            lateness_ns: difference(start_ns, boundary_ns),
            skipped,
            settle_ns: cost.settle_ns,
            delivery_ns: cost.delivery_ns,
            fanout_ns: cost.settle_ns + cost.delivery_ns,
            total_ns,
            budget_ns: self.budget_ns,
            over_budget: total_ns > self.budget_ns,
            jitter_ns: cost.first_fanout_ns.map(|at| difference(at, boundary_ns)),
            cells_computed: cost.computed,
            emits: cost.emits,
            refires: cost.refires,
            waves: cost.waves,
            rounds: cost.rounds,
            levels: self.levels.then_some(cost.levels),
            widest_level: self.levels.then_some(cost.widest),
        }
    }
}

fn reading(clock: &Rc<dyn Clock>) -> Now {
    let clock = Rc::clone(clock);
    Rc::new(move || clock.now_nanos())
}

fn whole_ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// A frame is no part of anything else.
#[track_caller]
fn check_outside() -> Fallible<()> {
    let place = Location::caller();
    match with_store(Store::is_inside)? {
        true => Err(Box::new(Error::Reentrant { call: Reentry::Frame, place })),
        false => Ok(()),
    }
}
