//! Every operator in every state: the end before a value, after it, while a remainder is held, before construction; on
//! every kind of input; alone, and all writes in one batch.

use hyphae::Cell;

use crate::build::build_definite;
use crate::model::{MAKERS, Op};
use crate::script::{ROOTS, Root, Run, Step, steps};
use crate::support::{Heard, Log};

/// Ends at each place of `1 4 4 6 2`, either kind, with writes after it that must change nothing; and no end at all.
fn inputs() -> Vec<Vec<Step>> {
    let values = steps("1 4 4 6 2");
    let mut inputs = vec![values.clone()];
    for end in [Step::Complete, Step::Fail] {
        for at in 0..=values.len() {
            let mut input = values.clone();
            input.insert(at, end);
            inputs.push(input);
        }
    }
    inputs
}

fn each_operator(mut f: impl FnMut(Op)) {
    for make in MAKERS {
        (0..=5).for_each(|k| f(make(k)));
    }
}

#[test]
fn the_end_comes_in_every_state() {
    let inputs = inputs();
    each_operator(|op| {
        for root in ROOTS {
            for (start, after) in inputs.iter().flat_map(|after| [(3, after), (-1, after)]) {
                let run =
                    |batched| Run { root, start, before: vec![], after: after.clone(), batched };
                run(false).check(&[op]);
                run(true).check(&[op]);
            }
        }
    });
}

#[test]
fn upstream_has_ended_before_construction() {
    each_operator(|op| {
        for root in ROOTS {
            for before in ["|", "!", "4 |", "4 !", "-2 |", "4 | 5"] {
                let after = steps("6 7");
                Run { root, start: 3, before: steps(before), after, batched: false }.check(&[op]);
            }
        }
    });
}

#[test]
fn writes_before_construction_count_once() {
    each_operator(|op| {
        let (before, after) = (steps("5 1 4"), steps("2 |"));
        Run { root: Root::Plain, start: 0, before, after, batched: false }.check(&[op]);
    });
}

/// The cell of a definite pipeline holds the values themselves.
#[test]
fn definite_pipelines_hold_plain_values() {
    each_operator(|op| {
        for after in inputs() {
            let cell = Cell::new(3);
            let Some(derived) = build_definite(&cell, op) else { return };
            let log = Log::new();
            let _guard = log.hear(&derived);
            for step in &after {
                match step {
                    Step::Value(value) => cell.set(*value),
                    Step::Complete => cell.complete(),
                    Step::Fail => cell.fail("boom"),
                }
            }
            let heard: Vec<Heard<Option<i64>>> = log.take().into_iter().map(optional).collect();
            let run = Run { root: Root::Plain, start: 3, before: vec![], after, batched: false };
            assert_eq!(crate::script::show(&heard), run.expected(&[op]), "{op:?} over {run:?}");
        }
    });
}

fn optional(one: Heard<i64>) -> Heard<Option<i64>> {
    match one {
        Heard::Value(value) => Heard::Value(Some(value)),
        Heard::Complete => Heard::Complete,
        Heard::Error(text) => Heard::Error(text),
    }
}
