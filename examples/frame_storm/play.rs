//! Playing the show: the script's events and the time go in, a frame loop measures, and what is wanted later is kept.
//!
//! What is kept of a frame is 40 bytes, and only for the report page.

use hyphae::profiling::{PassReport, pass, take_report};
use hyphae::{FrameLoop, FrameReport, FrameStats};

use crate::check::{self, Mismatch};
use crate::desk::{Desk, Script};
use crate::options::{Options, Pace};
use crate::rig::{self, Rig};
use crate::storm::Storm;
use crate::track::SECOND_NS;

/// A frame that begins so long after its boundary is late.
pub(crate) const LATE_NS: i64 = 1_000_000;

/// How many of the slowest frames are kept.
const SLOWEST: usize = 10;

/// How many frames are checked, about; in a run without an end it is one in [`CHECK_EACH`].
const CHECKS: u64 = 20;

const CHECK_EACH: u64 = 60;

/// A frame in the plot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) index: u64,
    pub(crate) total_ns: u64,
    pub(crate) settle_ns: u64,
    pub(crate) over_budget: bool,
    pub(crate) late: bool,
}

impl Point {
    fn of(report: &FrameReport) -> Self {
        Self {
            index: report.index,
            total_ns: report.total_ns,
            settle_ns: report.settle_ns,
            over_budget: report.over_budget,
            late: report.skipped > 0 || report.lateness_ns >= LATE_NS,
        }
    }
}

/// Sums over frames of what the frame statistics do not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Work {
    pub(crate) frames: u64,
    pub(crate) cells_computed: u64,
    pub(crate) most_computed: u64,
    pub(crate) emits: u64,
    pub(crate) refires: u64,
    pub(crate) waves: u64,
}

impl Work {
    fn add(&mut self, report: &FrameReport) {
        self.frames += 1;
        self.cells_computed += report.cells_computed;
        self.most_computed = self.most_computed.max(report.cells_computed);
        self.emits += report.emits;
        self.refires += report.refires;
        self.waves += report.waves;
    }
}

/// What the measured frames were.
#[derive(Debug, Clone, Default)]
pub(crate) struct Record {
    pub(crate) work: Work,
    /// The frames that took longest, slowest first.
    pub(crate) slowest: Vec<FrameReport>,
    /// All frames, if they are wanted.
    pub(crate) points: Vec<Point>,
    pub(crate) frames_checked: u64,
}

impl Record {
    fn add(&mut self, report: &FrameReport, keep: bool) {
        self.work.add(report);
        let at = self.slowest.partition_point(|slow| slow.total_ns >= report.total_ns);
        if at < SLOWEST {
            self.slowest.truncate(SLOWEST - 1);
            self.slowest.insert(at, *report);
        }
        if keep {
            self.points.push(Point::of(report));
        }
    }
}

/// The show: the cells, and beside them the plain data that they must agree with.
#[derive(Debug)]
pub(crate) struct Show {
    pub(crate) storm: Storm,
    pub(crate) rig: Rig,
    pub(crate) desk: Desk,
    script: Script,
    /// The first frame whose events have not happened.
    next: u64,
}

impl Show {
    pub(crate) fn new(options: &Options) -> Self {
        let groups = rig::groups(options.cells);
        let rig = Rig::new(options.seed, groups);
        let script =
            Script { seed: options.seed, groups, hz: options.pace.hz(), churn: options.churn };
        Self { storm: Storm::new(&rig), rig, desk: Desk::new(groups), script, next: 0 }
    }

    /// The time of the show at a frame: that of its boundary, whenever it happens to run.
    fn time_ns(&self, index: u64) -> u64 {
        (index as f64 * SECOND_NS / self.script.hz).round() as u64
    }

    /// Writes what a frame brings: its time, and the events since the frame before.
    pub(crate) fn write(&mut self, index: u64) {
        for index in self.next..=index {
            self.script.events(index, &mut |event| {
                self.desk.apply(event);
                self.storm.apply(event);
            });
        }
        self.next = index + 1;
        self.storm.set_time(self.time_ns(index));
    }

    /// Compares what is on the wires and on the monitor with a plain computation.
    pub(crate) fn check(&self, index: u64) -> Result<(), Mismatch> {
        let mismatch = |universe| {
            let expected = check::universe(&self.rig, &self.desk, universe, self.time_ns(index));
            let shown = self.storm.monitor.over(universe, expected);
            let seen = [("on the wire", self.storm.wire(universe)), ("on the monitor", shown)];
            seen.iter().find_map(|(place, channels)| {
                Mismatch::find(index, universe, place, channels, &expected)
            })
        };
        (0..self.rig.timelines.len()).find_map(mismatch).map_or(Ok(()), Err)
    }
}

/// A show and the loop that plays it.
#[derive(Debug)]
pub(crate) struct Player {
    pub(crate) show: Show,
    frames: FrameLoop,
    pace: Pace,
}

impl Player {
    pub(crate) fn new(options: &Options) -> Self {
        let pace = options.pace;
        let frames = FrameLoop::new(pace.hz()).with_warm_up(options.warm_up);
        Self { show: Show::new(options), frames, pace }
    }

    pub(crate) fn stats(&self) -> &FrameStats {
        self.frames.stats()
    }

    /// Plays frames until there were as many as asked for, or `stop` says so after one, and keeps a record.
    pub(crate) fn play(
        &mut self,
        options: &Options,
        mut stop: impl FnMut(&Self, &FrameReport) -> bool,
    ) -> Result<Record, Mismatch> {
        let mut record = Record::default();
        let each = options.frames.map_or(CHECK_EACH, |frames| (frames / CHECKS).max(1));
        while options.frames.is_none_or(|frames| record.work.frames < frames) {
            let report = self.due_frame();
            record.add(&report, options.report.is_some());
            if options.assert && record.work.frames.is_multiple_of(each) {
                self.show.check(report.index)?;
                record.frames_checked += 1;
            }
            if stop(self, &report) {
                break;
            }
        }
        Ok(record)
    }

    /// Plays the next frame when it is due.
    fn due_frame(&mut self) -> FrameReport {
        if self.pace == Pace::Fast {
            return self.frame_now();
        }
        self.frames.wait();
        let Self { show, frames, .. } = self;
        frames.frame(|frame| show.write(frame.index))
    }

    /// Plays the next frame at once, as if it were due now.
    pub(crate) fn frame_now(&mut self) -> FrameReport {
        let Self { show, frames, .. } = self;
        let now_ns = frames.clock().now_nanos();
        frames.frame_at(now_ns, |frame| show.write(frame.index))
    }

    /// Which cells fire in the next frame, and how often.
    pub(crate) fn pass(&mut self) -> PassReport {
        pass(|| self.frame_now());
        take_report().unwrap_or_default()
    }
}
