//! Random chains of 1 to 6 operators over random inputs against the references.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::model::{MAKERS, Op};
use crate::script::{ROOTS, Run, Step};

fn op() -> impl Strategy<Value = Op> {
    (0..MAKERS.len(), 0..4_i64).prop_map(|(at, k)| MAKERS[at](k))
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => (0..8_i64).prop_map(Step::Value),
        1 => Just(Step::Complete),
        1 => Just(Step::Fail),
    ]
}

fn run() -> impl Strategy<Value = Run> {
    let values = (0..ROOTS.len(), -1..8_i64, vec(step(), 0..3), vec(step(), 0..14), any::<bool>());
    values.prop_map(|(root, start, before, after, batched)| Run {
        root: ROOTS[root],
        start,
        before,
        after,
        batched,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_chains_agree_with_the_references(run in run(), ops in vec(op(), 1..7)) {
        prop_assert_eq!(run.heard(&ops), run.expected(&ops));
        hyphae::arena::assert_no_live();
    }
}
