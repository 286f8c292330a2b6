//! What is made of the figures: no worker runs here. `cargo test --no-default-features` needs no other library.

use std::ffi::OsString;

use crate::builds::Builds;
use crate::driver::Results;
use crate::libraries::{self, Entry};
use crate::options::{Choice, Command, parse};
use crate::process::{figures, reason};
use crate::shapes::{self, STEP, Shape, Size};
use crate::table::{all, number};
use crate::targets::judge;

fn library(name: &str) -> &'static Entry {
    libraries::ALL.iter().find(|library| library.name == name).expect("a library")
}

fn shape(name: &str) -> &'static Shape {
    shapes::find(name).expect("a shape")
}

fn command(words: &str) -> Result<Command, String> {
    parse(words.split_whitespace().map(OsString::from))
}

fn choice(words: &str) -> Choice {
    match command(words) {
        Ok(Command::Drive(choice)) => choice,
        _ => panic!("not a run: {words}"),
    }
}

/// The results of `set`, by library.
fn results(of: &[(&str, f64)]) -> Results {
    let mut results = Results::default();
    for (name, figure) in of {
        results.add(library(name), shape("set"), Ok(vec![(STEP.to_owned(), *figure)]));
    }
    results
}

/// The lines of the targets, and how many are missed.
fn judged(of: &[(&str, f64)]) -> (String, usize) {
    judge(&choice("targets --shapes set"), &results(of), &Builds::default())
}

#[test]
fn a_target_is_met_by_a_ratio_to_the_fastest_hyphae() {
    let figures = [("ours", 10.0), ("hyphae133", 70.0), ("hyphae3", 60.0), ("sycamore", 20.0)];
    let (text, missed) = judged(&figures);
    assert!(text.contains("6.00x: 10.0 ns to 60.0 ns of hyphae 3 | met"), "{text}");
    assert_eq!(missed, 0);
    let (text, missed) = judged(&[("ours", 10.0), ("hyphae133", 59.0)]);
    assert!(text.contains("| missed |"), "{text}");
    assert_eq!(missed, 1);
}

#[test]
fn what_was_not_measured_is_missed() {
    let (text, missed) = judged(&[("ours", 10.0)]);
    assert!(text.contains("not measured | missed"), "{text}");
    assert_eq!(missed, 1);
}

#[test]
fn the_plain_build_may_cost_half_as_much_again() {
    let of = |plain| judged(&[("ours", 10.0), ("hyphae133", 70.0), ("ours_plain", plain)]);
    assert_eq!(of(15.0).1, 0);
    assert_eq!(of(15.1).1, 1);
}

#[test]
fn the_least_figure_counts() {
    let results = results(&[("ours", 3.0), ("ours", 2.0), ("ours", 4.0)]);
    assert_eq!(results.figure("ours", "set", STEP), Some(2.0));
}

#[test]
fn a_wrong_answer_is_a_fault_of_any_and_a_crash_one_of_ours() {
    let mut results = Results::default();
    let failed = |reason: &str| Err(reason.to_owned());
    results.add(library("floem"), shape("grid"), failed("does not end in 8 s"));
    results.add(library("closures"), shape("churn"), failed("cannot: no subscriptions"));
    assert!(results.faults().is_empty());
    results.add(library("floem"), shape("set"), failed("wrong: sink 0 heard 1, not 2"));
    results.add(library("ours"), shape("grid"), failed("does not end in 8 s"));
    assert_eq!(
        results.faults(),
        ["floem, set: wrong: sink 0 heard 1, not 2", "ours, grid: does not end in 8 s"]
    );
}

#[test]
fn the_table_has_ratios_to_the_fastest_other_and_to_the_limit() {
    let choice = choice("table --shapes set");
    let results = results(&[("closures", 2.0), ("ours", 8.0), ("floem", 80.0), ("leptos06", 40.0)]);
    let text = all(&choice, &results);
    assert!(text.contains("| 40.0 ns | leptos_reactive 0.6 | 5.00 | 4.00 | - |"), "{text}");
    assert!(text.contains("| **40.0 ns** (1.00 / 20.0) |"), "{text}");
    assert!(text.contains("| 80.0 ns (2.00 / 40.0) |"), "{text}");
    assert!(!text.contains("ours, trace"), "{text}");
}

#[test]
fn numbers_have_three_digits() {
    assert_eq!(
        [0.014, 1.0, 9.96, 12.34, 123.4, 1234.5].map(number).join(" "),
        "0.01 1.00 10.0 12.3 123 1234"
    );
}

#[test]
fn a_worker_is_understood() {
    assert_eq!(
        figures("create\t1.5\ndrop\t2\n"),
        Ok(vec![("create".into(), 1.5), ("drop".into(), 2.0)])
    );
    assert!(figures("create 1.5\n").is_err());
    assert_eq!(reason("thread 'main' has overflowed its stack\nfatal\n"), "overflows the stack");
    assert_eq!(reason("panicked at x:\nno runtime\nnote: run with\n"), "no runtime");
}

#[test]
fn options_choose() {
    let choice = choice("--quick --shapes chain,fan --libraries ours,floem --processes 0");
    assert_eq!((choice.shapes.len(), choice.libraries.len(), choice.processes), (2, 2, 1));
    assert!(choice.size == Size::Quick && !choice.targets);
    for wrong in ["--shapes cha", "--libraries x", "--processes many", "nothing", "targets --quick"]
    {
        assert!(command(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn each_loop_written_by_hand_gives_what_the_graph_asks_for() {
    use crate::clock::Budget;
    use crate::worker::{Task, measure_hand};
    for size in [Size::Quick, Size::Full] {
        let task = Task { size, check: true, steps: None, budget: Budget::millis(1) };
        let steps = shapes::ALL.iter().filter(|s| matches!(s.kind, shapes::Kind::Steps(_)));
        for shape in steps {
            assert_eq!(measure_hand(shape, task), Ok(Vec::new()), "{}", shape.name);
        }
    }
}
