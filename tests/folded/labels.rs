//! What frames are called.

use std::fmt;

use hyphae::Folded;
use tracing::trace_span;

use super::{busy, compute, fanout, fanout_of, lines, record, record_as, wave};

fn labels(folded: &Folded) -> Vec<String> {
    folded.stacks().map(|stack| stack.path).collect()
}

#[test]
fn operators_names_and_spans() {
    let (_guard, folded) = record();
    busy(compute("map", "total", 1), 1);
    busy(compute("switch_map", "", 1), 1);
    busy(trace_span!(target: "hyphae", "hyphae.compute", name = "tax"), 1);
    busy(fanout(""), 1);
    busy(trace_span!(target: "hyphae", "hyphae.fanout", name = %"shown", id = 1), 1);
    busy(trace_span!(target: "hyphae", ""), 1);
    let expected = [
        "(no_name)",
        "hyphae.compute [tax]",
        "hyphae.fanout",
        "hyphae.fanout [shown]",
        "map [total]",
        "switch_map",
    ];
    assert_eq!(labels(&folded), expected);
}

#[test]
fn cells_of_one_name_are_folded_unless_asked() {
    let work = || {
        busy(fanout_of("0b-1", "price"), 10);
        busy(fanout_of("0c-2", "price"), 1);
        busy(fanout_of("0d-3", ""), 5);
        busy(compute("map", "price", "0b-1"), 3);
        busy(wave(1), 7);
    };
    let (guard, folded) = record();
    work();
    let expected =
        ["hyphae.fanout 5", "hyphae.fanout [price] 11", "hyphae.wave 7", "map [price] 3"];
    assert_eq!(lines(&folded), expected);
    drop(guard);
    let (_guard, folded) = record_as(|layer| layer.by_id());
    work();
    let expected = [
        "hyphae.fanout [0d-3] 5",
        "hyphae.fanout [price 0b-1] 10",
        "hyphae.fanout [price 0c-2] 1",
        "hyphae.wave 7",
        "map [price 0b-1] 3",
    ];
    assert_eq!(lines(&folded), expected);
}

/// Field report TR-3: `b` is renamed between two writes.
#[test]
fn a_renamed_cell_has_the_time_under_each_of_its_names() {
    let (_guard, folded) = record();
    for tax in ["tax", "vat"] {
        wave(3).in_scope(|| {
            busy(fanout_of(1, "price"), 1);
            busy(fanout_of(2, tax), 10);
            busy(fanout_of(3, "total"), 100);
        });
    }
    let expected = [
        "hyphae.wave 0",
        "hyphae.wave;hyphae.fanout [price] 2",
        "hyphae.wave;hyphae.fanout [tax] 10",
        "hyphae.wave;hyphae.fanout [total] 200",
        "hyphae.wave;hyphae.fanout [vat] 10",
    ];
    assert_eq!(lines(&folded), expected);
}

#[test]
fn two_places_in_the_program_with_one_label_are_one_line() {
    let (_guard, folded) = record();
    busy(trace_span!(target: "hyphae", "hyphae.fanout", id = 1, name = "price"), 1);
    busy(trace_span!(target: "hyphae", "hyphae.fanout", name = "price", id = 2), 10);
    busy(trace_span!(target: "hyphae", "x", name = "price", operator = "map"), 100);
    busy(trace_span!(target: "hyphae", "y", operator = "map", name = "price"), 1_000);
    assert_eq!(lines(&folded), ["hyphae.fanout [price] 11", "map [price] 1100"]);
    assert_eq!(folded.stacks().map(|stack| stack.count).collect::<Vec<_>>(), [2, 2]);
}

#[test]
fn names_do_not_break_the_format() {
    let names =
        ["a;b", "two\nlines", "tab\tand space ", " 12 34", "]; [", "\u{1b}[1m\0", "grün 🎭"];
    let (_guard, folded) = record();
    names.into_iter().for_each(|name| busy(fanout(name), 5));
    let expected = [
        "hyphae.fanout [ 12 34] 5",
        "hyphae.fanout [\\u{1b}[1m\\u{0}] 5",
        "hyphae.fanout []\\u{3b} [] 5",
        "hyphae.fanout [a\\u{3b}b] 5",
        "hyphae.fanout [grün 🎭] 5",
        "hyphae.fanout [tab\\tand space ] 5",
        "hyphae.fanout [two\\nlines] 5",
    ];
    assert_eq!(lines(&folded), expected);
}

#[test]
fn names_of_spans_do_not_break_the_format() {
    let (_guard, folded) = record_as(|layer| layer.with_other_targets(true));
    busy(trace_span!(target: "app", "# a comment?"), 1);
    busy(trace_span!(target: "app", "step 5"), 1);
    busy(trace_span!(target: "app", "a;b\n "), 1);
    assert_eq!(lines(&folded), ["\\u{23}_a_comment? 1", "a\\u{3b}b__ 1", "step_5 1"]);
}

/// A field whose formatting fails, in one way or the other.
struct Odd(fn(&mut fmt::Formatter<'_>) -> fmt::Result);

impl fmt::Display for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.0)(f)
    }
}

#[test]
fn a_field_may_fail_while_it_is_formatted() {
    let (_guard, folded) = record();
    let failing = Odd(|f| f.write_str("begun").and(Err(fmt::Error)));
    busy(trace_span!(target: "hyphae", "hyphae.fanout", name = %failing), 10);
    let panicking = Odd(|_| std::panic::resume_unwind(Box::new("not to be shown")));
    let made = || trace_span!(target: "hyphae", "hyphae.fanout", name = %panicking);
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(made)).expect_err("it panics");
    busy(fanout("after"), 100);
    assert_eq!(lines(&folded), ["hyphae.fanout [after] 100", "hyphae.fanout [begun] 10"]);
}
