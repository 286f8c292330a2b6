//! What is to be reached, and whether it is. All by figures of one run: ratios of times, and counts that are exact.

use std::fmt::Write;

use crate::builds::Builds;
use crate::driver::Results;
use crate::instructions::instructions;
use crate::libraries::{self, Role};
use crate::options::Choice;
use crate::shapes::{self, Kind, STEP};
use crate::table::{LIMIT, fastest, figure, number};
use crate::worker::NODE_RUNS;

/// When a target is met.
enum Rule {
    /// The fastest other library takes at least so many times as long.
    Faster(f64),
    /// The fastest hyphae 1.3.3 or 3 takes at least so many times as long.
    FasterThanHyphae(f64),
    /// At most so many times what the closures in order take.
    OfLimit(f64),
    /// At most so many times another figure: of a library, a metric.
    Of(&'static str, &'static str, f64),
    /// At most this, exactly.
    AtMost(f64),
    /// No other library runs fewer nodes.
    FewestRuns,
    /// It comes to its end.
    Ends,
    /// At most so many instructions a node.
    Instructions(f64),
}

/// A target.
struct Target {
    title: &'static str,
    library: &'static str,
    shape: &'static str,
    metric: &'static str,
    rule: Rule,
}

const fn ours(
    title: &'static str,
    shape: &'static str,
    metric: &'static str,
    rule: Rule,
) -> Target {
    Target { title, library: "ours", shape, metric, rule }
}

const fn step(title: &'static str, shape: &'static str, rule: Rule) -> Target {
    ours(title, shape, STEP, rule)
}

const fn observed(title: &'static str, library: &'static str, rule: Rule) -> Target {
    Target { title, library, shape: "storm", metric: STEP, rule }
}

/// All targets. Where one was given in nanoseconds it is a ratio here: to what the limit took when it was set.
static ALL: &[Target] = &[
    step("chain of 1 000", "chain", Rule::Faster(8.0)),
    step("1 -> 1 000, each observed", "fan", Rule::Faster(10.0)),
    step("diamond of 100", "diamond", Rule::Faster(10.0)),
    step("triangle of 10", "triangle", Rule::Faster(10.0)),
    step("grid 4 x 1 000", "grid", Rule::Faster(12.0)),
    step("mux of 100", "mux", Rule::Faster(8.0)),
    step("cut-off near the source", "cutoff", Rule::Faster(6.0)),
    step("inputs that switch", "switch", Rule::Faster(3.0)),
    step("batch of 1 000 into a tree", "batch", Rule::Faster(10.0)),
    step("storm, 500 observed", "storm", Rule::Faster(6.0)),
    observed("storm, 500 observed, with demand", "ours_lazy", Rule::Faster(12.0)),
    Target {
        metric: NODE_RUNS,
        ..observed("storm with demand: runs", "ours_lazy", Rule::FewestRuns)
    },
    step("storm, all leaves observed", "storm_all", Rule::Faster(30.0)),
    step("single set with one subscriber", "set", Rule::FasterThanHyphae(6.0)),
    // 25 ns where the limit took 17.1, and 20 where it took 4.26.
    ours("create a cell", "lives", "create", Rule::OfLimit(1.46)),
    ours("drop a cell", "lives", "drop", Rule::OfLimit(4.69)),
    ours("subscribe + unsubscribe beside 1 000", "churn", "churn", Rule::Faster(5.0)),
    ours("bytes: source", "bytes", "source", Rule::AtMost(90.0)),
    ours("bytes: source + map", "bytes", "map", Rule::AtMost(180.0)),
    ours("bytes: source + map + subscriber", "bytes", "sink", Rule::AtMost(230.0)),
    step("instructions a node: chain", "chain", Rule::Instructions(60.0)),
    step("instructions a node: fan", "fan", Rule::Instructions(95.0)),
    step("instructions a node: diamond", "diamond", Rule::Instructions(75.0)),
    step("instructions a node: storm", "storm", Rule::Instructions(85.0)),
    ours("chain of 1 000 000 on 256 KiB", "depth", "depth", Rule::Ends),
    ours(
        "set that touches 3 cells: 1 000 000 to 10",
        "store",
        "many",
        Rule::Of("ours", "few", 1.3),
    ),
    observed("trace on: counts, storm", "ours_trace", Rule::Of("ours", STEP, 1.15)),
    observed("trace on: every wave timed, storm", "ours_timed", Rule::Of("ours", STEP, 2.8)),
    observed("trace on: one wave in 16, storm", "ours_sampled", Rule::Of("ours", STEP, 1.3)),
    observed(
        "profiling on, nobody listens, storm",
        "ours_profiling",
        Rule::Of("ours_trace", STEP, 1.2),
    ),
];

/// The most that cargo's own release profile may cost.
const PLAIN: f64 = 1.5;

/// What was found of a target.
struct Finding {
    wanted: String,
    got: String,
    met: bool,
}

/// The table of the targets whose shapes were measured, and how many are missed.
pub(crate) fn judge(choice: &Choice, results: &Results, builds: &Builds) -> (String, usize) {
    let mut out =
        String::from("### Targets\n\n| target | wanted | figure | |\n| --- | --- | --- | --- |\n");
    let mut missed = 0;
    let mut tell = |title: &str, finding: Finding| {
        let word = if finding.met { "met" } else { "missed" };
        let Finding { wanted, got, met } = finding;
        let _ = writeln!(out, "| {title} | {wanted} | {got} | {word} |");
        missed += usize::from(!met);
    };
    for target in ALL {
        if choice.shapes.iter().any(|shape| shape.name == target.shape) {
            tell(target.title, find(target, choice, results, builds));
        }
    }
    for (title, finding) in plain(choice, results) {
        tell(&title, finding);
    }
    (out, missed)
}

fn find(target: &Target, choice: &Choice, results: &Results, builds: &Builds) -> Finding {
    let figure_of = |library, metric| results.figure(library, target.shape, metric);
    let own = figure_of(target.library, target.metric);
    match target.rule {
        Rule::Faster(times) => {
            let shape = shapes::find(target.shape);
            let other = shape.and_then(|s| fastest(choice, results, s, target.metric));
            faster(target, times, own, other.map(|(library, figure)| (library.title, figure)))
        }
        Rule::FasterThanHyphae(times) => {
            let hyphae = libraries::ALL.iter().filter(|l| l.name.starts_with("hyphae"));
            let figures = hyphae.filter_map(|l| Some((l.title, figure_of(l.name, target.metric)?)));
            faster(target, times, own, figures.min_by(|a, b| a.1.total_cmp(&b.1)))
        }
        Rule::OfLimit(times) => of(target, times, own, LIMIT, figure_of(LIMIT, target.metric)),
        Rule::Of(library, metric, times) => {
            of(target, times, own, library, figure_of(library, metric))
        }
        Rule::AtMost(most) => at_most(most, own),
        Rule::FewestRuns => fewest(own, results, target),
        Rule::Ends => Finding {
            wanted: "ends".to_owned(),
            got: match (own, results.failure(target.library, target.shape)) {
                (Some(_), _) => "ends".to_owned(),
                (None, Some(reason)) => reason.to_owned(),
                (None, None) => NONE.to_owned(),
            },
            met: own.is_some(),
        },
        Rule::Instructions(most) => match instructions(builds, target.library, target.shape) {
            Ok(count) => at_most(most, Some(count)),
            Err(reason) => Finding { wanted: at_most(most, None).wanted, got: reason, met: false },
        },
    }
}

const NONE: &str = "not measured";

/// A figure in the unit of its target.
fn show(target: &Target, value: f64) -> String {
    let row = shapes::find(target.shape)
        .and_then(|shape| shape.rows.iter().find(|row| row.metric == target.metric));
    row.map_or_else(|| number(value), |row| figure(row.unit, value))
}

fn faster(target: &Target, times: f64, own: Option<f64>, other: Option<(&str, f64)>) -> Finding {
    let wanted = format!("{times}x faster");
    let (Some(own), Some((title, other))) = (own, other) else {
        return Finding { wanted, got: NONE.to_owned(), met: false };
    };
    let (mine, theirs) = (show(target, own), show(target, other));
    let got = format!("{}x: {mine} to {theirs} of {title}", number(other / own));
    Finding { wanted, got, met: other >= own * times }
}

fn of(target: &Target, times: f64, own: Option<f64>, what: &str, other: Option<f64>) -> Finding {
    let wanted = format!("at most {times}x of {what}");
    let (Some(own), Some(other)) = (own, other) else {
        return Finding { wanted, got: NONE.to_owned(), met: false };
    };
    let (mine, theirs) = (show(target, own), show(target, other));
    let got = format!("{}x: {mine} to {theirs}", number(own / other));
    Finding { wanted, got, met: own <= other * times }
}

fn at_most(most: f64, own: Option<f64>) -> Finding {
    let got = own.map_or(NONE.to_owned(), number);
    Finding { wanted: format!("at most {most}"), got, met: own.is_some_and(|own| own <= most) }
}

fn fewest(own: Option<f64>, results: &Results, target: &Target) -> Finding {
    let peers = libraries::ALL.iter().filter(|l| l.role == Role::Peer);
    let runs = peers.filter_map(|l| results.figure(l.name, target.shape, NODE_RUNS));
    let least = runs.min_by(f64::total_cmp);
    let got = match (own, least) {
        (Some(own), Some(least)) => format!("{} to {}", number(own), number(least)),
        _ => NONE.to_owned(),
    };
    let met = matches!((own, least), (Some(own), Some(least)) if own <= least);
    Finding { wanted: "no other runs fewer nodes".to_owned(), got, met }
}

/// Ours in cargo's own release profile, shape by shape.
fn plain(choice: &Choice, results: &Results) -> Vec<(String, Finding)> {
    let timed = choice.shapes.iter().filter(|shape| matches!(shape.kind, Kind::Steps(_)));
    let ratio = |shape: &&&shapes::Shape| {
        let figure = |library| results.figure(library, shape.name, STEP);
        let ratio = figure("ours_plain")? / figure("ours")?;
        let wanted = format!("at most {PLAIN}x of ours");
        let got = format!("{}x", number(ratio));
        let title = format!("plain release: {}", shape.rows[0].title);
        Some((title, Finding { wanted, got, met: ratio <= PLAIN }))
    };
    timed.filter_map(|shape| ratio(&shape)).collect()
}
