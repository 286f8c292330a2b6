//! Every combinator with the ends of its inputs in every state: before the construction, before a value, in one batch with a
//! value on either side of it, after it; one input or both, either kind; on every kind of source.

use crate::script::{Act, KINDS, Kind, OPS, Op, Run, Step};

/// Two inputs, or one where there is no more.
fn inputs_of(op: Op) -> usize {
    op.inputs().1.min(2)
}

fn each_operator(mut f: impl FnMut(Op, Kind)) {
    for op in OPS {
        KINDS.into_iter().for_each(|kind| f(op, kind));
    }
}

/// Checks a script, as single writes and as one batch.
fn check(op: Op, kind: Kind, before: &str, writes: &[(usize, Step)]) {
    let inputs = inputs_of(op);
    let known = |source: usize| source < inputs;
    let acts = writes.iter().filter(|write| known(write.0));
    let acts: Vec<Act> = acts.map(|&(source, step)| Act::Write(source, step)).collect();
    let before = Run::direct(op, kind, inputs, before, "").before;
    let before: Vec<_> = before.into_iter().filter(|write| known(write.0)).collect();
    let run = Run { before, ..Run::direct(op, kind, inputs, "", "") };
    Run { after: acts.iter().map(|act| vec![*act]).collect(), ..run.clone() }.check();
    Run { after: vec![acts.clone()], ..run.clone() }.check();
    // With a read at each place of the batch.
    for at in 0..=acts.len() {
        let mut read = acts.clone();
        read.insert(at, Act::Read);
        Run { after: vec![read], ..run.clone() }.check();
    }
    // With a value in the batch first, and with one in a wave after all.
    let value = Act::Write(0, Step::Value(7));
    Run { after: vec![vec![value], acts, vec![value]], ..run }.check();
}

const ENDS: [Step; 2] = [Step::Complete, Step::Fail];

#[test]
fn one_input_ends_at_every_place() {
    let values = [(0, 1), (1, 2), (0, 3), (1, 4), (1, 5)].map(|(to, v)| (to, Step::Value(v)));
    each_operator(|op, kind| {
        for (end, source) in ENDS.into_iter().flat_map(|end| [(end, 0), (end, 1)]) {
            for at in 0..=values.len() {
                let mut writes = values.to_vec();
                writes.insert(at, (source, end));
                check(op, kind, "", &writes);
            }
        }
    });
}

#[test]
fn both_inputs_end_at_every_pair_of_places() {
    let values = [(1, 2), (0, 3)].map(|(to, v)| (to, Step::Value(v)));
    let pairs = ENDS.into_iter().flat_map(|a| ENDS.map(|b| (a, b)));
    for (a, b) in pairs {
        each_operator(|op, kind| {
            for (i, k) in
                (0..=values.len()).flat_map(|i| (0..=values.len() + 1).map(move |k| (i, k)))
            {
                let mut writes = values.to_vec();
                writes.insert(i, (0, a));
                writes.insert(k, (1, b));
                check(op, kind, "", &writes);
            }
        });
    }
}

#[test]
fn inputs_have_ended_before_construction() {
    let values = [(0, 6), (1, 7), (0, 8)].map(|(to, v)| (to, Step::Value(v)));
    each_operator(|op, kind| {
        for before in ["0|", "1|", "0!", "1!", "0| 1|", "0! 1|", "1! 0|", "1! 0!", "0:4 0| 1:5 1!"]
        {
            check(op, kind, before, &values);
            check(op, kind, before, &[values.as_slice(), &[(1, Step::Complete)]].concat());
            check(op, kind, before, &[values.as_slice(), &[(0, Step::Fail)]].concat());
        }
    });
}
