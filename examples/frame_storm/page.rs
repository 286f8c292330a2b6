//! The report page: one file of HTML that needs no other.
//!
//! `page.html` is its frame, `page.css` and `page.js` are put into it. The script draws the plot at the width that there is
//! and sorts tables; the rest is there without it.

use std::fmt::Write;

use crate::findings::Findings;
use crate::markup::{base64, escape, fill, pairs};
use crate::options::{Options, Pace, timing_word};
use crate::play::Point;
use crate::{tables, words};

/// How many points the plot has at most.
const POINTS: usize = 2000;

/// The page, with a flame graph if there is one.
pub(crate) fn page(findings: &Findings, flame: Option<&str>) -> String {
    let stats = &findings.stats;
    let values = [
        ("title", escape(&title(findings))),
        ("style", include_str!("page.css").to_owned()),
        ("script", include_str!("page.js").to_owned()),
        ("verdict", verdict(findings)),
        ("figures", figures(findings)),
        ("frames", frames(findings)),
        ("slowest", tables::slowest(&findings.record.slowest)),
        ("percentiles", tables::percentiles(findings)),
        ("fanout_bars", tables::bars("Fan-out time", &stats.fanout_bars())),
        ("jitter_bars", tables::bars("Jitter", &stats.jitter_bars())),
        ("order", escape(&findings.order())),
        ("hot_note", hot_note(findings)),
        ("hot", tables::hot(findings)),
        ("operators", tables::operators(findings)),
        ("census", tables::census(findings)),
        ("flame", flame.map_or_else(no_flame, flame_graph)),
        ("built", built(findings)),
        ("settings", pairs(&settings(&findings.options))),
    ];
    fill(include_str!("page.html"), &values)
}

fn title(findings: &Findings) -> String {
    format!("frame_storm: {} cells, {}", findings.built.cells, findings.options.pace)
}

/// What is to be known first.
fn verdict(findings: &Findings) -> String {
    let (frames, over) = (findings.stats.frames(), findings.stats.frames_over_budget());
    let budget = findings.record.slowest.first().map_or(0, |frame| frame.budget_ns);
    let (class, text) = match over {
        0 => ("good", format!("All {frames} frames are within their budget")),
        _ => ("bad", format!("{over} of {frames} frames took longer than their budget")),
    };
    format!("<p class=\"verdict {class}\">{text} of {}.</p>", words::time_of(budget))
}

/// The figures at the top.
fn figures(findings: &Findings) -> String {
    let (summary, work) = (findings.stats.summary(), &findings.record.work);
    let computed = words::mean(work.cells_computed, work.frames);
    let figures = [
        ("settle p99", words::time(summary.settle.p99_ns), "computing cells"),
        ("fan-out p50", words::time(summary.fanout.p50_ns), "with subscribers"),
        ("fan-out p99", words::time(summary.fanout.p99_ns), "with subscribers"),
        ("jitter p99", words::time(summary.jitter.p99_ns), "boundary to first fan-out"),
        ("over budget", summary.frames_over_budget.to_string(), "frames"),
        ("skipped", summary.boundaries_skipped.to_string(), "boundaries"),
        ("computed", computed.to_string(), "cells a frame, mean"),
        ("re-links", findings.relinks.to_string(), "in all"),
    ];
    let figure = |(name, value, what): (&str, String, &str)| {
        format!("<div><dt>{name}</dt><dd>{value}</dd><dd class=\"what\">{what}</dd></div>\n")
    };
    figures.into_iter().map(figure).collect()
}

/// The plot's data as JSON: numbers only. Microseconds, and 1 for over budget, 2 for late.
fn frames(findings: &Findings) -> String {
    let points = &findings.record.points;
    let each = points.len().div_ceil(POINTS).max(1);
    let budget_ns = findings.record.slowest.first().map_or(0, |frame| frame.budget_ns);
    let mut json =
        format!("{{\"budget\":{},\"each\":{each},\"points\":[", words::micros(budget_ns));
    for (number, chunk) in points.chunks(each).enumerate() {
        let Some(slowest) = chunk.iter().max_by_key(|point| point.total_ns) else { continue };
        let any = |mark: fn(&Point) -> bool| u8::from(chunk.iter().any(mark));
        let marks = any(|point| point.over_budget) + 2 * any(|point| point.late);
        let comma = if number > 0 { "," } else { "" };
        let (total, settle) = (words::micros(slowest.total_ns), words::micros(slowest.settle_ns));
        let _ = write!(json, "{comma}[{},{total},{settle},{marks}]", slowest.index);
    }
    json + "]}"
}

fn hot_note(findings: &Findings) -> String {
    let cells = findings.hot.len();
    format!("The first {} of {cells} cells.", cells.min(tables::HOT))
}

fn built(findings: &Findings) -> String {
    let built = &findings.built;
    let mut rows = vec![
        ("cells", built.cells.to_string()),
        ("edges", built.edges.to_string()),
        ("subscribers", built.subscribers.to_string()),
        ("memory", words::bytes(built.bytes)),
    ];
    rows.extend(built.parts.iter().map(|&(count, what)| (what, count.to_string())));
    rows.push(("channels changed", findings.answers.channels_changed.to_string()));
    rows.push(("checksum", format!("{:016x}", findings.answers.checksum)));
    pairs(&rows)
}

fn settings(options: &Options) -> Vec<(&'static str, String)> {
    let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
    let hz = match options.pace {
        Pace::Hertz(hz) => hz.to_string(),
        Pace::Fast => "0".to_owned(),
    };
    vec![
        ("--cells", options.cells.to_string()),
        ("--frames", options.frames.unwrap_or(0).to_string()),
        ("--hz", hz),
        ("--seed", options.seed.to_string()),
        ("--churn", options.churn.to_string()),
        ("--assert", yes(options.assert)),
        ("--timing", timing_word(options.timing)),
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ("build", if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned()),
        ("profiling", yes(cfg!(feature = "profiling"))),
        ("system", format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)),
    ]
}

/// The graph as an image with its own script, which looks closer at what is clicked.
fn flame_graph(svg: &str) -> String {
    let height = height(svg).unwrap_or(400);
    let data = base64(svg.as_bytes());
    format!(
        "<p>Self time of cells in spans, of a few frames after the measured ones: operators, and above them the cells by name \
         or place. What waves take by themselves is left out. A click looks closer.</p>\n\
         <object class=\"flame\" type=\"image/svg+xml\" height=\"{height}\" aria-label=\"Flame graph\" \
         data=\"data:image/svg+xml;base64,{data}\">The flame graph cannot be shown here.</object>"
    )
}

/// The height in pixels that an SVG gives itself.
fn height(svg: &str) -> Option<u32> {
    svg.split_once(" height=\"")?.1.split_once('"')?.0.parse().ok()
}

fn no_flame() -> String {
    "<p>None: it takes a build with <code>--features frames,flame</code>.</p>".to_owned()
}
