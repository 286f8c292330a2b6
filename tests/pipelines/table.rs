//! The table: every operator with what it delivers, written by hand. Both the library and the references must give it.

use crate::model::Op;
use crate::script::{Root, Run, steps};

/// An operator; then what is heard over `0: 1 1 2 3 1 |` (the first number is there at construction), the same with
/// an error at the end, the same with no value after construction, and over a source of `1 1 2 3 1 |`.
type Row = (Op, &'static str, &'static str, &'static str, &'static str);

#[rustfmt::skip]
const TABLE: [Row; 31] = [
    (Op::Map(10),           "10 11 11 12 13 11 |",  "10 11 11 12 13 11 !",  "10 |", "- 11 11 12 13 11 |"),
    (Op::Filter(0),         "- 1 1 3 1 |",          "- 1 1 3 1 !",          "- |",  "- 1 1 3 1 |"),
    (Op::Catch(50),         "50 1 1 2 53 1 |",      "50 1 1 2 53 1 !",      "50 |", "- 1 1 2 53 1 |"),
    (Op::OrDefault(7),      "7 101 101 102 7 101 |", "7 101 101 102 7 101 !", "7 |", "- 101 101 102 7 101 |"),
    (Op::OrElse(50),        "50 1 1 2 47 1 |",      "50 1 1 2 47 1 !",      "50 |", "- 1 1 2 47 1 |"),
    (Op::Tap(0),            "0 1 1 2 3 1 |",        "0 1 1 2 3 1 !",        "0 |",  "- 1 1 2 3 1 |"),
    (Op::Scan(100),         "100 101 102 104 107 108 |", "100 101 102 104 107 108 !", "100 |", "- 101 102 104 107 108 |"),
    (Op::Pairwise(0),       "- 1 11 12 23 31 |",    "- 1 11 12 23 31 !",    "- |",  "- 11 12 23 31 |"),
    (Op::Distinct(0),       "0 1 2 3 |",            "0 1 2 3 !",            "0 |",  "- 1 2 3 |"),
    (Op::Deduped(0),        "0 1 2 3 1 |",          "0 1 2 3 1 !",          "0 |",  "- 1 2 3 1 |"),
    (Op::UntilChangedBy(0), "0 1 2 3 |",            "0 1 2 3 !",            "0 |",  "- 1 2 3 |"),
    (Op::Window(0),         "0 1 1 2 3 1 |",        "0 1 1 2 3 1 !",        "0 |",  "- 1 1 2 3 1 |"),
    (Op::Window(2),         "0 1 11 112 123 231 |", "0 1 11 112 123 231 !", "0 |",  "- 1 11 112 123 231 |"),
    (Op::Buffer(0),         "0 1 1 2 3 1 |",        "0 1 1 2 3 1 !",        "0 |",  "- 1 1 2 3 1 |"),
    (Op::Buffer(1),         "0 11 23 1 |",          "0 11 23 !",            "0 |",  "- 11 23 1 |"),
    (Op::Buffer(4),         "0 11231 |",            "0 11231 !",            "0 |",  "- 11231 |"),
    (Op::Buffer(9),         "0 11231 |",            "0 !",                  "0 |",  "- 11231 |"),
    (Op::Take(0),           "0 |",                  "0 |",                  "0 |",  "- |"),
    (Op::Take(3),           "0 1 1 |",              "0 1 1 |",              "0 |",  "- 1 1 2 |"),
    (Op::Take(9),           "0 1 1 2 3 1 |",        "0 1 1 2 3 1 !",        "0 |",  "- 1 1 2 3 1 |"),
    (Op::TakeWhile(3),      "0 1 1 2 |",            "0 1 1 2 |",            "0 |",  "- 1 1 2 |"),
    (Op::TakeWhile(0),      "- |",                  "- |",                  "- |",  "- |"),
    (Op::First(0),          "0 |",                  "0 |",                  "0 |",  "- 1 |"),
    (Op::Last(0),           "- 1 |",                "- !",                  "- |",  "- 1 |"),
    (Op::LastOr(8),         "- 1 |",                "- !",                  "- 8 |", "- 1 |"),
    (Op::Skip(0),           "0 1 1 2 3 1 |",        "0 1 1 2 3 1 !",        "0 |",  "- 1 1 2 3 1 |"),
    (Op::Skip(3),           "- 2 3 1 |",            "- 2 3 1 !",            "- |",  "- 3 1 |"),
    (Op::Skip(9),           "- |",                  "- !",                  "- |",  "- |"),
    (Op::SkipWhile(2),      "- 2 3 1 |",            "- 2 3 1 !",            "- |",  "- 2 3 1 |"),
    (Op::Cold(0),           "- 1 1 2 3 1 |",        "- 1 1 2 3 1 !",        "- |",  "- 1 1 2 3 1 |"),
    (Op::Finalize(0),       "0 1 1 2 3 1 |",        "0 1 1 2 3 1 !",        "0 |",  "- 1 1 2 3 1 |"),
];

#[track_caller]
fn check(op: Op, root: Root, input: &str, expected: &str) {
    let run = Run { root, start: 0, before: Vec::new(), after: steps(input), batched: false };
    assert_eq!(run.heard(&[op]), expected, "{op:?} over {root:?} {input}");
    assert_eq!(run.expected(&[op]), expected, "the reference of {op:?} over {root:?} {input}");
}

#[test]
fn every_operator_delivers_what_the_table_says() {
    for (op, completing, failing, bare, of_source) in TABLE {
        check(op, Root::Plain, "1 1 2 3 1 |", completing);
        check(op, Root::Plain, "1 1 2 3 1 !", failing);
        check(op, Root::Plain, "|", bare);
        check(op, Root::Source, "1 1 2 3 1 |", of_source);
    }
}

#[test]
fn the_table_has_every_operator() {
    for make in crate::model::MAKERS {
        let name = |op: Op| format!("{op:?}").split('(').next().map(str::to_owned);
        assert!(TABLE.iter().any(|row| name(row.0) == name(make(0))), "{:?} is missing", make(0));
    }
}
