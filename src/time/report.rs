//! What a frame is told, and what is told of it: plain data.

use std::fmt;

use super::nanos::Nanos;

/// The frame under way, as its closure sees it.
///
/// Compute from [`boundary_ns`](Self::boundary_ns), not from the time at which the frame happens to run: then a late frame
/// shows what it should, and a recording plays back the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Frame {
    /// The number of its boundary, from 0. A boundary that was skipped has a number, too.
    pub index: u64,
    /// When it is due, in nanoseconds of the loop's clock.
    pub boundary_ns: u64,
    /// The same by the time that other machines share, if the clock knows that (see
    /// [`Clock::to_absolute_nanos`](crate::Clock::to_absolute_nanos)).
    pub absolute_ns: Option<u64>,
    /// When it began, in nanoseconds of the loop's clock.
    pub start_ns: u64,
    /// How many boundaries have passed without a frame since the frame before.
    pub skipped: u64,
    /// What the frame before it has cost; `None` if there was none, or if it panicked.
    pub previous: Option<FrameReport>,
}

impl Frame {
    /// How long after its boundary it began; negative if before.
    pub fn lateness_ns(&self) -> i64 {
        difference(self.start_ns, self.boundary_ns)
    }
}

/// What one frame was and has cost. Times are nanoseconds of the loop's clock.
///
/// The costs are those of the whole frame: its batch, and the waves that follow from it, of the writes that callbacks made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct FrameReport {
    /// The number of its boundary, from 0.
    pub index: u64,
    /// When it was due.
    pub boundary_ns: u64,
    /// When it began.
    pub start_ns: u64,
    /// How long after its boundary it began; negative if before.
    pub lateness_ns: i64,
    /// How many boundaries have passed without a frame since the frame before.
    pub skipped: u64,
    /// Computing cells, those included that were read in the batch.
    pub settle_ns: u64,
    /// Calling subscribers.
    pub delivery_ns: u64,
    /// The two together: what the changes of the frame have cost.
    pub fanout_ns: u64,
    /// From the start to the end, with the frame's own closure and all else.
    pub total_ns: u64,
    /// What [`total_ns`](Self::total_ns) should not exceed.
    pub budget_ns: u64,
    /// Whether it did.
    pub over_budget: bool,
    /// From the boundary to the first fan-out: the moment at which the first wave that changed anything had settled.
    /// Negative if that was before the boundary; `None` if nothing changed.
    pub jitter_ns: Option<i64>,
    /// Turns of derived cells, and comparisons of cells with a cut-off, as in
    /// [`Totals::recomputations`](crate::arena::Totals::recomputations).
    pub cells_computed: u64,
    /// Changes and ends of cells, each once a round, however often the cell was written in it.
    pub emits: u64,
    /// Those among them of cells that had emitted in this frame already.
    pub refires: u64,
    /// Waves: the batch, even if it changed nothing, and one for each write that a callback made, or group of them.
    pub waves: u64,
    /// Rounds: a wave has more than one when it brought several events of one cell.
    pub rounds: u64,
    /// The levels of the highest round: a derived cell is one level above the highest of its inputs that were computed in
    /// the same round, and on level 1 without any. `None` unless [asked for](crate::FrameLoop::with_levels).
    pub levels: Option<u32>,
    /// The most cells on one level of a round. `None` unless asked for.
    pub widest_level: Option<u32>,
}

impl fmt::Display for FrameReport {
    /// One line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "frame {} due at {}: ", self.index, Nanos::of(self.boundary_ns))?;
        match self.lateness_ns {
            0 => f.write_str("on time")?,
            early @ ..0 => write!(f, "early by {}", Nanos::of(early.unsigned_abs()))?,
            late => write!(f, "late by {}", Nanos(late))?,
        }
        if self.skipped > 0 {
            write!(f, " ({} skipped)", self.skipped)?;
        }
        let [settle, delivery, fanout] =
            [self.settle_ns, self.delivery_ns, self.fanout_ns].map(Nanos::of);
        write!(f, ", fan-out {fanout} (settle {settle}, delivery {delivery})")?;
        if let Some(jitter) = self.jitter_ns {
            write!(f, ", jitter {}", Nanos(jitter))?;
        }
        write!(f, ", {} cells computed, {} emits", self.cells_computed, self.emits)?;
        if self.refires > 0 {
            write!(f, " ({} re-fires)", self.refires)?;
        }
        write!(f, ", {} waves", self.waves)?;
        if let (Some(levels), Some(widest)) = (self.levels, self.widest_level) {
            write!(f, ", {levels} levels (widest {widest})")?;
        }
        write!(f, ", total {}", Nanos::of(self.total_ns))?;
        if self.over_budget {
            write!(f, " OVER BUDGET of {}", Nanos::of(self.budget_ns))?;
        }
        Ok(())
    }
}

/// `a - b` for readings of a clock.
pub(crate) fn difference(a: u64, b: u64) -> i64 {
    let distance = i64::try_from(a.abs_diff(b)).unwrap_or(i64::MAX);
    if a < b { -distance } else { distance }
}
