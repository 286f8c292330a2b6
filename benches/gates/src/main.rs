//! Gates: what the library takes in instructions, bytes and allocations may not rise unseen. The figures do not depend on
//! what else the machine does.
//!
//! `gates` compares with the baseline and fails when instructions rose by more than 3 % or an exact figure rose at all;
//! `gates renew REASON` writes a new baseline and the line of the changelog that it needs. `just gates` and
//! `just gates-renew` do that. Status 77: there was no valgrind, or another compiler; the exact figures were compared.

mod baseline;
mod count;
#[path = "../../peers/src/heap.rs"]
mod heap;
#[allow(dead_code)] // the shapes of the other benches
#[path = "../../shapes/mod.rs"]
mod shapes;
mod works;

use std::process::ExitCode;

use baseline::{Baseline, title, written};
use works::{ALL, Counted, EQUAL, Work};

/// By how much instructions may rise.
const RISE: f64 = 1.03;
/// What is no change of instructions when a baseline is renewed.
const SAME: f64 = 1.005;
const SKIPPED: u8 = 77;

const USAGE: &str = "usage: gates [check | renew REASON | work COUNTED NAME]";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match &words[..] {
        [] | ["check"] => check(),
        ["renew", reason @ ..] => renew(&reason.join(" ")),
        ["work", counted, name] => work(counted, name),
        _ => Err(USAGE.to_string()),
    };
    done.unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::FAILURE
    })
}

fn work(counted: &str, name: &str) -> Result<ExitCode, String> {
    let found = ALL.iter().find(|work| work.name == name && work.counted.name() == counted);
    count::run(found.ok_or_else(|| format!("no work {name} has its {counted} counted"))?);
    Ok(ExitCode::SUCCESS)
}

/// Why instructions can't be compared with a baseline of that compiler.
fn obstacle(compiler: &str) -> Option<String> {
    if !count::has_valgrind() {
        return Some("there is no valgrind".to_string());
    }
    let this = env!("COMPILER");
    (compiler != this).then(|| format!("the baseline is of compiler {compiler}, this is {this}"))
}

/// What all works take; of those that count instructions only if these `can` be counted.
fn figures(can: bool) -> Result<Vec<Option<f64>>, String> {
    let figure = |work: &Work| {
        let counts = can || work.counted != Counted::Instructions;
        counts.then(|| count::figure(work)).transpose()
    };
    ALL.iter().map(figure).collect()
}

fn check() -> Result<ExitCode, String> {
    let baseline = Baseline::read()?;
    let obstacle = obstacle(&baseline.compiler);
    let figures = figures(obstacle.is_none())?;
    let mut faults = Vec::new();
    println!("{:<34}{:>12}{:>12}{:>10}", "gate", "baseline", "now", "change");
    for ((work, figure), row) in ALL.iter().zip(&figures).zip(&baseline.rows) {
        if let Some(now) = figure {
            faults.extend(compare(work, *now, row.last().map(String::as_str)));
        }
    }
    faults.extend(unequal(&figures));
    for step in baseline.untold(&baseline::changelog()?) {
        faults.push(format!("CHANGELOG.md has no line `- gates: ... {step} ...: reason`"));
    }
    if faults.is_empty() {
        let Some(reason) = obstacle else { return Ok(ExitCode::SUCCESS) };
        println!("skipped: instructions, because {reason}");
        return Ok(ExitCode::from(SKIPPED));
    }
    Err(faults.join("\n"))
}

/// Prints a gate; what is wrong with it.
fn compare(work: &Work, now: f64, baseline: Option<&str>) -> Option<String> {
    let (name, shown) = (title(work), written(work.counted, now));
    let Some(base) = baseline.and_then(|figure| figure.parse::<f64>().ok()) else {
        return Some(format!("{name} takes {shown}, and the baseline has no figure; renew it"));
    };
    let base_shown = written(work.counted, base);
    let change = if base == now { 0.0 } else { (now / base - 1.0) * 100.0 };
    println!("{name:<34}{base_shown:>12}{shown:>12}{change:>+9.1}%");
    rose(work.counted, base, now).then(|| {
        let most = if work.counted == Counted::Instructions { "more than 3 %" } else { "exact" };
        format!("{name} rose from {base_shown} to {shown} ({change:+.1} %; {most})")
    })
}

fn rose(counted: Counted, base: f64, now: f64) -> bool {
    match counted {
        Counted::Instructions => now > base * RISE,
        // As written: it has five digits.
        _ => now > base + 0.000_005,
    }
}

/// Which works should take the same and do not.
fn unequal(figures: &[Option<f64>]) -> Vec<String> {
    let of = |name: &str| {
        let is = |work: &Work| work.name == name && work.counted == Counted::Instructions;
        figures[ALL.iter().position(is).expect("a pair names gates")]
    };
    let fault = |(a, b, within): &(&str, &str, f64)| {
        let (small, large) = (of(a)?, of(b)?);
        ((large / small - 1.0).abs() > *within).then(|| {
            let most = within * 100.0;
            format!(
                "{a} takes {small:.1} instructions and {b} {large:.1}: more than {most} % apart"
            )
        })
    };
    EQUAL.iter().filter_map(fault).collect()
}

fn renew(reason: &str) -> Result<ExitCode, String> {
    let old = Baseline::read()
        .unwrap_or(Baseline { compiler: String::new(), rows: vec![Vec::new(); ALL.len()] });
    let figures: Vec<f64> = figures(true)?.into_iter().flatten().collect();
    let mut rows = old.rows.clone();
    let mut steps = Vec::new();
    for ((work, now), row) in ALL.iter().zip(figures).zip(&mut rows) {
        let shown = written(work.counted, now);
        match row.last() {
            Some(base) if is_same(work.counted, base, now) => continue,
            Some(base) => steps.push(baseline::step(work, base, &shown)),
            None => println!("new: {} {shown}", title(work)),
        }
        row.push(shown);
    }
    let new = Baseline { compiler: env!("COMPILER").to_string(), rows };
    if !steps.is_empty() && new.untold(&baseline::changelog()?).is_empty() {
        println!("CHANGELOG.md tells all steps already");
    } else if !steps.is_empty() {
        let entry = baseline::entry(&steps, if reason.is_empty() { "REASON" } else { reason });
        if reason.len() < 8 || reason.contains(": ") {
            return Err(format!(
                "to renew, give a reason of one sentence without \": \", or write to CHANGELOG.md:\n{entry}"
            ));
        }
        baseline::add_to_changelog(&entry)?;
        println!("added to CHANGELOG.md:\n{entry}");
    }
    new.write()?;
    Ok(ExitCode::SUCCESS)
}

fn is_same(counted: Counted, base: &str, now: f64) -> bool {
    let Ok(base_figure) = base.parse::<f64>() else { return false };
    match counted {
        Counted::Instructions => now < base_figure * SAME && now > base_figure / SAME,
        _ => written(counted, now) == base,
    }
}
