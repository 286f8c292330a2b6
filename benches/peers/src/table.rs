//! What was measured, as Markdown.

use std::fmt::Write;

use crate::driver::Results;
use crate::libraries::{Entry, Role};
use crate::options::Choice;
use crate::shapes::{Kind, Row, Shape, Size, Unit};
use crate::worker::{NODE_RUNS, SINK_RUNS};

/// The limit that ratios are taken to.
pub(crate) const LIMIT: &str = "closures";

/// The least figure of another library.
pub(crate) fn fastest<'a>(
    choice: &'a Choice,
    results: &Results,
    shape: &Shape,
    metric: &str,
) -> Option<(&'a Entry, f64)> {
    choice
        .libraries
        .iter()
        .filter(|l| l.role == Role::Peer)
        .filter_map(|l| Some((*l, results.figure(l.name, shape.name, metric)?)))
        .min_by(|a, b| a.1.total_cmp(&b.1))
}

/// A number with as many digits as mean something.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 99.5 => format!("{value:.0}"),
        v if v >= 9.95 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// A figure in its unit.
pub(crate) fn figure(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Nanos => format!("{} ns", number(value)),
        Unit::Micros => format!("{} us", number(value / 1000.0)),
        Unit::Bytes => number(value),
        Unit::Count => number(value),
    }
}

/// All tables.
pub(crate) fn all(choice: &Choice, results: &Results) -> String {
    let mut out = String::new();
    if choice.size == Size::Quick {
        out += "A quick run: small shapes, and times that mean nothing.\n\n";
    }
    let parts = [short(choice, results), wide(choice, results), runs(choice, results)];
    parts.iter().for_each(|part| out += part);
    out += &failures(results);
    out
}

fn line(out: &mut String, cells: impl IntoIterator<Item = String>) {
    for cell in cells {
        let _ = write!(out, "| {cell} ");
    }
    *out += "|\n";
}

fn head(out: &mut String, titles: &[&str]) {
    line(out, titles.iter().map(|t| (*t).to_owned()));
    *out += "| --- |";
    *out += &" ---: |".repeat(titles.len() - 1);
    *out += "\n";
}

/// What has a column. (What only targets speak of has none.)
fn columns(choice: &Choice) -> Vec<&'static Entry> {
    choice.libraries.iter().copied().filter(|l| l.role != Role::Observed).collect()
}

fn rows(choice: &Choice) -> impl Iterator<Item = (&'static Shape, &'static Row)> {
    choice.shapes.iter().flat_map(|shape| shape.rows.iter().map(move |row| (*shape, row)))
}

/// Ours beside the limits and the fastest other library.
fn short(choice: &Choice, results: &Results) -> String {
    let mut out = String::from("### Ours, the limits, and the fastest other library\n\n");
    head(
        &mut out,
        &[
            "shape",
            "loops",
            "closures",
            "ours",
            "plain release",
            "fastest other",
            "which",
            "other / ours",
            "ours / closures",
            "plain / ours",
        ],
    );
    for (shape, row) in rows(choice) {
        let get = |library: &str| results.figure(library, shape.name, row.metric);
        let show = |value: Option<f64>| value.map_or("-".to_owned(), |v| figure(row.unit, v));
        let fastest = fastest(choice, results, shape, row.metric);
        let over = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) if b > 0.0 => number(a / b),
            _ => "-".to_owned(),
        };
        let cells = [
            row.title.to_owned(),
            show(get("hand")),
            show(get(LIMIT)),
            show(get("ours")),
            show(get("ours_plain")),
            show(fastest.map(|f| f.1)),
            fastest.map_or("-", |f| f.0.title).to_owned(),
            over(fastest.map(|f| f.1), get("ours")),
            over(get("ours"), get(LIMIT)),
            over(get("ours_plain"), get("ours")),
        ];
        line(&mut out, cells);
    }
    out + "\n"
}

/// Every library.
fn wide(choice: &Choice, results: &Results) -> String {
    let mut out = String::from(
        "### Every library\n\nIn brackets: how many times the figure of the fastest other library / of the closures. \
         Bold: that fastest one.\n\n",
    );
    let mut titles = vec!["shape"];
    let libraries = columns(choice);
    titles.extend(libraries.iter().map(|l| l.title));
    head(&mut out, &titles);
    for (shape, row) in rows(choice) {
        let limit = results.figure(LIMIT, shape.name, row.metric);
        let fastest = fastest(choice, results, shape, row.metric);
        let cell = |library: &&Entry| {
            let Some(value) = results.figure(library.name, shape.name, row.metric) else {
                let failed = results.failure(library.name, shape.name);
                return if failed.is_some() { "no" } else { "-" }.to_owned();
            };
            let times = |of: Option<f64>| match of {
                Some(of) if of > 0.0 => number(value / of),
                _ => "-".to_owned(),
            };
            let bold = if fastest.is_some_and(|f| f.0.name == library.name) { "**" } else { "" };
            let figure = figure(row.unit, value);
            format!("{bold}{figure}{bold} ({} / {})", times(fastest.map(|f| f.1)), times(limit))
        };
        let cells = libraries.iter().map(cell);
        line(&mut out, std::iter::once(row.title.to_owned()).chain(cells));
    }
    out + "\n"
}

/// How much each library computes in a step.
fn runs(choice: &Choice, results: &Results) -> String {
    let mut out = String::from("### Runs a step: closures of nodes / callbacks\n\n");
    let mut libraries = columns(choice);
    libraries.retain(|library| library.name != "hand");
    let mut titles = vec!["shape"];
    titles.extend(libraries.iter().map(|l| l.title));
    head(&mut out, &titles);
    for shape in choice.shapes.iter().filter(|s| matches!(s.kind, Kind::Steps(_))) {
        let cell = |library: &&Entry| {
            let get = |metric| results.figure(library.name, shape.name, metric);
            match (get(NODE_RUNS), get(SINK_RUNS)) {
                (Some(nodes), Some(sinks)) => format!("{} / {}", number(nodes), number(sinks)),
                _ => "no".to_owned(),
            }
        };
        let cells = libraries.iter().map(cell);
        line(&mut out, std::iter::once(shape.rows[0].title.to_owned()).chain(cells));
    }
    out + "\n"
}

/// What could not be measured, and why.
fn failures(results: &Results) -> String {
    let mut out = String::from("### What a library does not do\n\n");
    for (library, shape, reason) in &results.failures {
        if library.name != "hand" {
            let _ = writeln!(out, "- {}, {}: {reason}", library.title, shape.rows[0].title);
        }
    }
    out + "\n"
}
