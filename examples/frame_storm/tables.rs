//! The tables of the report page.

use hyphae::{Bar, FrameReport, Percentiles};

use crate::findings::{Findings, OperatorCost};
use crate::markup::{Entry, Table, escape};
use crate::words;

/// How many cells the page shows.
pub(crate) const HOT: usize = 200;

/// How many places of creation it shows.
const PLACES: usize = 100;

fn micros(nanos: u64) -> Entry {
    Entry::Number(words::micros(nanos), nanos)
}

/// A part of a whole, with a bar as long as it is beside the greatest part.
fn share(part: u64, whole: u64, most: u64) -> Entry {
    let thousandths = |of: u64| (u128::from(part) * 1000 / u128::from(of.max(1))) as u64;
    Entry::Share(thousandths(whole), thousandths(most))
}

/// The hot cells.
pub(crate) fn hot(findings: &Findings) -> String {
    let whole = findings.timed_ns();
    let most = findings.hot.first().map_or(0, |cell| cell.total_notify_time_ns);
    let rows = findings.hot.iter().take(HOT).map(|cell| {
        vec![
            Entry::Text(cell.display_name()),
            Entry::Text(cell.operator.to_owned()),
            share(cell.total_notify_time_ns, whole, most),
            micros(cell.total_notify_time_ns),
            Entry::count(cell.notify_count),
            Entry::count(cell.delivery_count),
            Entry::count(cell.cut_off_count),
            Entry::count(cell.subscriber_count as u64),
            micros(cell.slowest_subscriber_ns),
        ]
    });
    let heads = vec![
        ("cell", "its name, or where it was made"),
        ("operator", "what computes it"),
        ("share %", "of the time of all cells"),
        ("total µs", "its turns and the calls of its subscribers, in timed waves"),
        ("notifies", "rounds in which it emitted"),
        ("deliveries", "calls of its subscribers"),
        ("cut off", "times it was computed and gave nothing new"),
        ("subscribers", "callbacks on it and cells that depend on it"),
        ("slowest µs", "the longest single call of a subscriber"),
    ];
    let sorted = Some(if whole > 0 { 3 } else { 4 });
    Table { label: "Hot cells", heads, sorted, rows: rows.collect() }.html()
}

/// What each operator costs.
pub(crate) fn operators(findings: &Findings) -> String {
    let whole = findings.timed_ns();
    let most = findings.operators.first().map_or(0, OperatorCost::total_ns);
    let rows = findings.operators.iter().map(|cost| {
        vec![
            Entry::Text(cost.operator.to_owned()),
            share(cost.total_ns(), whole, most),
            micros(cost.total_ns()),
            micros(cost.compute_ns),
            micros(cost.delivery_ns),
            Entry::count(cost.cells),
            Entry::count(cost.notifies),
            Entry::count(cost.cut_offs),
        ]
    });
    let heads = vec![
        ("operator", "what computes the cells; `cell` is written from outside"),
        ("share %", "of the time of all cells"),
        ("total µs", "turns and calls of subscribers, in timed waves"),
        ("compute µs", "turns"),
        ("delivery µs", "calls of subscribers"),
        ("cells", "how many live"),
        ("notifies", "rounds in which one emitted"),
        ("cut off", "times one was computed and gave nothing new"),
    ];
    let sorted = Some(if whole > 0 { 2 } else { 6 });
    Table { label: "Operators", heads, sorted, rows: rows.collect() }.html()
}

/// Where the cells come from.
pub(crate) fn census(findings: &Findings) -> String {
    let whole: usize = findings.census.iter().map(|row| row.bytes).sum();
    let most = findings.census.first().map_or(0, |row| row.bytes);
    let rows = findings.census.iter().take(PLACES).map(|row| {
        vec![
            Entry::Text(format!("{}:{}:{}", row.file, row.line, row.column)),
            Entry::Text(row.operator.to_owned()),
            share(row.bytes as u64, whole as u64, most as u64),
            Entry::count(row.bytes as u64),
            Entry::count(row.cell_count as u64),
            Entry::count(row.subscriber_count as u64),
        ]
    });
    let heads = vec![
        ("made at", "the line that makes the cells"),
        ("operator", "what computes the most of them"),
        ("share %", "of all bytes"),
        ("bytes", "nodes and rows; not what values own on the heap"),
        ("cells", "how many live"),
        ("subscribers", "callbacks on them and cells that depend on them"),
    ];
    Table { label: "Census", heads, sorted: Some(3), rows: rows.collect() }.html()
}

/// The frames that took longest.
pub(crate) fn slowest(slowest: &[FrameReport]) -> String {
    let row = |frame: &FrameReport| {
        vec![
            Entry::count(frame.index),
            micros(frame.total_ns),
            micros(frame.settle_ns),
            micros(frame.delivery_ns),
            signed(frame.lateness_ns),
            frame.jitter_ns.map_or_else(|| Entry::Number("-".to_owned(), 0), signed),
            Entry::count(frame.cells_computed),
            Entry::count(frame.emits),
            Entry::count(frame.refires),
            Entry::count(frame.waves),
            Entry::count(frame.skipped),
            Entry::Text(if frame.over_budget { "over" } else { "within" }.to_owned()),
        ]
    };
    let heads = vec![
        ("frame", "the number of its boundary"),
        ("total µs", "from its start to its end"),
        ("settle µs", "computing cells"),
        ("delivery µs", "calling subscribers"),
        ("late µs", "from the boundary to its start"),
        ("jitter µs", "from the boundary to the first fan-out"),
        ("computed", "cells computed"),
        ("emits", "cells that emitted"),
        ("re-fires", "emits beyond a cell's first"),
        ("waves", "settles of the graph"),
        ("skipped", "boundaries without a frame before it"),
        ("budget", "whether it took longer than it may"),
    ];
    let rows = slowest.iter().map(row).collect();
    Table { label: "Slowest frames", heads, sorted: Some(1), rows }.html()
}

/// Sorted by its distance from 0.
fn signed(nanos: i64) -> Entry {
    Entry::Number(format!("{:.1}", nanos as f64 / 1e3), nanos.unsigned_abs())
}

/// The percentiles of settle, fan-out and jitter.
pub(crate) fn percentiles(findings: &Findings) -> String {
    let summary = findings.stats.summary();
    let rows =
        [("settle", summary.settle), ("fan-out", summary.fanout), ("jitter", summary.jitter)];
    let rows: String = rows.into_iter().map(|(name, row)| percentile_row(name, row)).collect();
    let heads: String = ["", "min", "p50", "p90", "p99", "p99.9", "max"]
        .map(|head| format!("<th scope=\"col\" class=\"n\">{head}</th>"))
        .concat();
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Percentiles\">\n\
         <table aria-label=\"Percentiles\"><thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>"
    )
}

fn percentile_row(name: &str, row: Percentiles) -> String {
    let times = [row.min_ns, row.p50_ns, row.p90_ns, row.p99_ns, row.p999_ns, row.max_ns];
    let times: String =
        times.map(|nanos| format!("<td class=\"n\">{}</td>", words::time(nanos))).concat();
    format!("<tr><th scope=\"row\">{name}</th>{times}</tr>\n")
}

/// A histogram.
pub(crate) fn bars(label: &str, bars: &[Bar]) -> String {
    let most = bars.iter().map(|bar| bar.samples).max().unwrap_or(1);
    let row = |bar: &Bar| {
        let (from, to) = (words::time(bar.from_ns), words::time(bar.to_ns));
        let width = 100.0 * bar.samples as f64 / most as f64;
        let mark = match bar.samples {
            0 => String::new(),
            _ => format!("<span style=\"width:{width:.1}%\"></span>"),
        };
        format!(
            "<tr><th scope=\"row\">{from} – {to}</th><td class=\"n\">{}</td><td class=\"bar\">{mark}</td></tr>\n",
            bar.samples
        )
    };
    let rows: String = bars.iter().map(row).collect();
    format!(
        "<table class=\"bars\" aria-label=\"{}\"><thead><tr><th scope=\"col\">range</th>\
         <th scope=\"col\" class=\"n\">frames</th><td></td></tr></thead>\n<tbody>\n{rows}</tbody></table>",
        escape(label)
    )
}
