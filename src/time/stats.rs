//! [`FrameStats`]: what many frames have cost, as percentiles.
//!
//! It keeps no frame, only counts; it knows neither store nor clock. Costs: 440 KiB, whatever the number of frames; a frame
//! is recorded in about 20 ns and nothing is allocated.

use std::fmt;

use super::report::FrameReport;
use super::spread::{Bar, Percentiles, Spread, write_bars};

/// Statistics over frames. A [`FrameLoop`](crate::FrameLoop) keeps its own; another can be filled from reports.
///
/// Its text is the table of percentiles, and the two histograms as bars.
///
/// ```
/// use std::time::Duration;
/// use hyphae::{Cell, FrameLoop, ManualClock};
/// let clock = ManualClock::new();
/// let mut frames = FrameLoop::new(50).with_clock(clock.clone());
/// let time = Cell::new(0);
/// let _slow = time.watch_changes(move |_| clock.advance(Duration::from_millis(3)));
/// frames.run(100, |frame| time.set(frame.boundary_ns));
///
/// let stats = frames.stats();
/// assert_eq!((stats.frames(), stats.frames_over_budget()), (100, 0));
/// assert_eq!(stats.fanout().max_ns, 3_000_000);
/// assert_eq!(stats.jitter().max_ns, 0);
/// println!("{stats}");
/// ```
#[derive(Clone, Debug)]
pub struct FrameStats {
    frames: u64,
    over_budget: u64,
    skipped: u64,
    settle: Spread,
    fanout: Spread,
    jitter: Spread,
}

/// The numbers of a [`FrameStats`] as plain data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct FrameSummary {
    /// How many frames there were.
    pub frames: u64,
    /// How many of them took longer than they should.
    pub frames_over_budget: u64,
    /// How many boundaries have passed without a frame.
    pub boundaries_skipped: u64,
    /// Computing cells.
    pub settle: Percentiles,
    /// Computing cells and calling subscribers.
    pub fanout: Percentiles,
    /// From the boundary to the first fan-out, of the frames that changed anything.
    pub jitter: Percentiles,
}

impl Default for FrameStats {
    fn default() -> Self {
        Self::new()
    }
}

impl FrameStats {
    /// Statistics over no frames.
    pub fn new() -> Self {
        Self {
            frames: 0,
            over_budget: 0,
            skipped: 0,
            settle: Spread::unsigned(),
            fanout: Spread::unsigned(),
            jitter: Spread::signed(),
        }
    }

    /// Adds a frame.
    pub fn record(&mut self, report: &FrameReport) {
        self.frames += 1;
        self.over_budget += u64::from(report.over_budget);
        self.skipped += report.skipped;
        let of = |nanos: u64| i64::try_from(nanos).unwrap_or(i64::MAX);
        self.settle.record(of(report.settle_ns));
        self.fanout.record(of(report.fanout_ns));
        if let Some(jitter_ns) = report.jitter_ns {
            self.jitter.record(jitter_ns);
        }
    }

    /// How many frames there were.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// How many of them took longer than they should.
    pub fn frames_over_budget(&self) -> u64 {
        self.over_budget
    }

    /// How many boundaries have passed without a frame.
    pub fn boundaries_skipped(&self) -> u64 {
        self.skipped
    }

    /// Percentiles of the time that computing cells took in a frame. Costs some 10 µs, like those below.
    pub fn settle(&self) -> Percentiles {
        self.settle.percentiles()
    }

    /// Percentiles of the fan-out time of a frame: computing cells and calling subscribers.
    pub fn fanout(&self) -> Percentiles {
        self.fanout.percentiles()
    }

    /// Percentiles of the time from the boundary to the first fan-out, negative where that was early. Frames that changed
    /// nothing have none.
    pub fn jitter(&self) -> Percentiles {
        self.jitter.percentiles()
    }

    /// All of these.
    pub fn summary(&self) -> FrameSummary {
        FrameSummary {
            frames: self.frames,
            frames_over_budget: self.over_budget,
            boundaries_skipped: self.skipped,
            settle: self.settle(),
            fanout: self.fanout(),
            jitter: self.jitter(),
        }
    }

    /// The histogram of fan-out times: about a dozen ranges of one width, in which 98 % of the frames are. What is below
    /// or above them has a range of its own, which may be wider. Empty without frames.
    pub fn fanout_bars(&self) -> Vec<Bar> {
        self.fanout.bars()
    }

    /// The same of the jitter.
    pub fn jitter_bars(&self) -> Vec<Bar> {
        self.jitter.bars()
    }
}

impl fmt::Display for FrameStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} frames, {} over budget, {} boundaries skipped",
            self.frames, self.over_budget, self.skipped
        )?;
        Percentiles::write_heads(f)?;
        self.settle().write_row(f, "settle")?;
        self.fanout().write_row(f, "fan-out")?;
        self.jitter().write_row(f, "jitter")?;
        writeln!(f, "fan-out time, frames in each range")?;
        write_bars(f, &self.fanout_bars())?;
        writeln!(f, "jitter of the first fan-out, frames in each range")?;
        write_bars(f, &self.jitter_bars())
    }
}
