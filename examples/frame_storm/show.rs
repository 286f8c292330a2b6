//! What the program prints.

use std::io::{self, Write};

use hyphae::profiling::PassReport;
use hyphae::{FrameStats, Timing, arena};

use crate::findings::{Answers, Built, Findings};
use crate::options::{Options, Pace};
use crate::words;

/// How many hot cells and re-firing cells are printed.
const SHOWN: usize = 10;

/// What was built.
pub(crate) fn built(out: &mut dyn Write, options: &Options, built: &Built) -> io::Result<()> {
    let Built { cells, edges, subscribers, bytes, .. } = built;
    let bytes = words::bytes(*bytes);
    writeln!(out, "show of seed {}, {} re-links a second", options.seed, options.churn)?;
    let parts: Vec<_> = built.parts.iter().map(|(count, what)| format!("{count} {what}")).collect();
    writeln!(out, "{}", parts.join(", "))?;
    writeln!(out, "{cells} cells, {edges} edges, {subscribers} subscribers, {bytes}\n")?;
    writeln!(out, "{:>8}  operator", "cells")?;
    built.kinds.iter().try_for_each(|(cells, kind)| writeln!(out, "{cells:>8}  {kind}"))
}

/// One line of a run without an end.
pub(crate) fn progress(out: &mut dyn Write, stats: &FrameStats) -> io::Result<()> {
    let fanout = stats.fanout();
    let [p50, p99] = [fanout.p50_ns, fanout.p99_ns].map(words::time);
    let (frames, over) = (stats.frames(), stats.frames_over_budget());
    writeln!(out, "{frames:>8} frames: fan-out p50 {p50}, p99 {p99}; {over} over budget")?;
    out.flush()
}

/// All that was found.
pub(crate) fn findings(out: &mut dyn Write, findings: &Findings) -> io::Result<()> {
    work(out, findings)?;
    writeln!(out, "\n{}", findings.stats)?;
    operators(out, findings)?;
    writeln!(out, "hot cells, {}", findings.order())?;
    write!(out, "{}", findings.hot.clone().top(SHOWN))
}

/// What is the same each time with `--hz 0`.
fn work(out: &mut dyn Write, findings: &Findings) -> io::Result<()> {
    let Findings { options, record, relinks, .. } = findings;
    let work = &record.work;
    let pace = match options.pace {
        Pace::Hertz(hz) => format!("at {hz} Hz"),
        Pace::Fast => "as fast as it can".to_owned(),
    };
    let mean = |sum| words::mean(sum, work.frames);
    writeln!(out, "\n{} frames {pace}, {relinks} re-links", work.frames)?;
    let (computed, most) = (mean(work.cells_computed), work.most_computed);
    writeln!(out, "cells computed a frame {computed:>8}, {most} at most")?;
    writeln!(out, "emits a frame          {:>8}", mean(work.emits))?;
    writeln!(out, "re-fires a frame       {:>8}", mean(work.refires))?;
    writeln!(out, "waves a frame          {:>8}", mean(work.waves))?;
    if record.frames_checked > 0 {
        writeln!(out, "frames checked         {:>8}, all channels right", record.frames_checked)?;
    }
    answers(out, &findings.answers)
}

fn answers(out: &mut dyn Write, answers: &Answers) -> io::Result<()> {
    let Answers { bar, steps, sent, channels_changed, highest_load, redraws, checksum } = answers;
    writeln!(out, "universes sent         {sent:>8}")?;
    writeln!(out, "channels changed       {channels_changed:>8}")?;
    writeln!(out, "  of the busiest       {highest_load:>8.1} of 512 a frame")?;
    writeln!(out, "redraws of the monitor {redraws:>8}")?;
    writeln!(out, "bars, and steps        {bar:>8}, {steps}")?;
    writeln!(out, "checksum of the wires  {checksum:016x}")
}

/// What the operators cost, if any times were taken.
fn operators(out: &mut dyn Write, findings: &Findings) -> io::Result<()> {
    if findings.options.timing == Timing::Off {
        return Ok(());
    }
    let whole = findings.timed_ns();
    writeln!(out, "{:>8}{:>12}{:>12}{:>8}  operator", "cells", "notifies", "time us", "%")?;
    for cost in &findings.operators {
        let (time, share) =
            (words::micros(cost.total_ns()), words::percent(cost.total_ns(), whole));
        let (cells, notifies) = (cost.cells, cost.notifies);
        writeln!(out, "{cells:>8}{notifies:>12}{time:>12}{share:>8}  {}", cost.operator)?;
    }
    writeln!(out)
}

/// Which cells fired more than once in a frame.
pub(crate) fn pass(out: &mut dyn Write, report: &PassReport) -> io::Result<()> {
    let (fires, cells) = (report.total_fires(), report.cells_fired());
    let (refires, part) = (report.total_refires(), 100.0 * report.coalesceable_fraction());
    writeln!(out, "\none frame: {fires} fires of {cells} cells, {refires} re-fires ({part:.1} %)")?;
    let refiring = report.refiring_cells();
    for (uuid, fires) in refiring.iter().take(SHOWN) {
        let label = arena::by_uuid(*uuid).and_then(arena::info).map(|info| info.to_string());
        writeln!(out, "{fires:>8} x  {}", label.unwrap_or_else(|| uuid.to_string()))?;
    }
    match refiring.len().saturating_sub(SHOWN) {
        0 => Ok(()),
        more => writeln!(out, "          and {more} more"),
    }
}
