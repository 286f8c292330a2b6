//! Random scripts over one to three sources of any kind, their maps among the inputs, against the references.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::script::{Act, KINDS, Kind, OPS, Op, Run, Step, Wire};

const SOURCES: usize = 3;

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        16 => (0..4_i64).prop_map(Step::Value),
        1 => Just(Step::Complete),
        1 => Just(Step::Fail),
    ]
}

fn write() -> impl Strategy<Value = (usize, Step)> {
    (0..SOURCES, step())
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        5 => write().prop_map(|(source, step)| Act::Write(source, step)),
        1 => Just(Act::Read),
    ]
}

/// One write, or a batch.
fn wave() -> impl Strategy<Value = Vec<Act>> {
    let alone = write().prop_map(|(source, step)| vec![Act::Write(source, step)]);
    prop_oneof![alone, vec(act(), 1..7)]
}

/// What a combinator reads: sources and their maps, one of them perhaps several times.
fn wires(op: Op, mixed: bool) -> impl Strategy<Value = Vec<Wire>> {
    let (least, most) = op.inputs();
    let plus = prop_oneof![Just(None), (1..3_i64).prop_map(Some)];
    let wires = vec((0..SOURCES, plus), least..=most);
    (wires, any::<bool>()).prop_map(move |(wires, mapped)| {
        let alike = |plus: Option<i64>| if mapped { plus.or(Some(0)) } else { None };
        let wire = |(source, plus)| Wire { source, plus: if mixed { plus } else { alike(plus) } };
        wires.into_iter().map(wire).collect()
    })
}

fn run(kinds: &'static [Kind]) -> impl Strategy<Value = Run> {
    let op = (0..OPS.len(), 0..4_i64);
    let op = op.prop_map(|(at, key)| match OPS[at] {
        Op::Selector(_) => Op::Selector(key),
        op => op,
    });
    op.prop_flat_map(move |op| {
        let kinds = vec((0..kinds.len()).prop_map(|at| kinds[at]), SOURCES);
        // Where the order of arrival counts, inputs are all written or all derived.
        let wires = wires(op, !op.knows_order());
        (Just(op), kinds, wires, vec(write(), 0..3), vec(wave(), 0..9))
    })
    .prop_map(|(op, mut kinds, mut wires, before, after)| {
        if op == Op::SampleOn {
            wires[1].plus = None;
            kinds[wires[1].source] = Kind::Fed;
        }
        let derived = wires.iter().any(|wire| wire.plus.is_some());
        if op.knows_order() && !derived {
            // An input that holds a source's last event is derived, whatever is between.
            let fed = kinds.iter_mut().filter(|kind| **kind == Kind::Fed);
            fed.for_each(|kind| *kind = Kind::Kept);
        }
        Run { op, kinds, wires, before, after }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 4 * ProptestConfig::default().cases, ..ProptestConfig::default() })]

    #[test]
    fn random_scripts_over_plain_cells(run in run(&[Kind::Plain])) {
        run.check();
    }

    #[test]
    fn random_scripts_over_all_kinds_of_sources(run in run(&KINDS)) {
        run.check();
    }
}
