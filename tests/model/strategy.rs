//! How proptest makes operations.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::op::{CellKind, Chain, Op, Script, Several, Trap, Two, Write};

fn value() -> impl Strategy<Value = i8> {
    -1..7_i8
}

/// Often one of the first few, so that operations meet on the same cells.
fn index() -> impl Strategy<Value = u8> {
    prop_oneof![2 => 0..4_u8, 3 => 0..24_u8]
}

fn kind() -> impl Strategy<Value = CellKind> {
    prop_oneof![
        3 => Just(CellKind::Plain),
        1 => Just(CellKind::Parity),
        1 => Just(CellKind::Equal),
        1 => Just(CellKind::NoCoalesce),
    ]
}

fn chain() -> BoxedStrategy<Chain> {
    prop_oneof![
        Just(Chain::Map),
        Just(Chain::Halve),
        Just(Chain::Filter),
        Just(Chain::Scan),
        Just(Chain::Deduped),
        Just(Chain::DedupedTap),
        Just(Chain::Pairwise),
        (0..4_u8).prop_map(Chain::TakeTap),
        (0..4_u8).prop_map(Chain::TapTake),
        (0..3_u8).prop_map(Chain::Skip),
        Just(Chain::Last),
        Just(Chain::TapMaps),
        Just(Chain::FilterScan),
        Just(Chain::HalveDeduped),
    ]
    .boxed()
}

fn two() -> impl Strategy<Value = Two> {
    prop_oneof![
        1 => Just(Two::Zip),
        1 => Just(Two::Sample),
        1 => Just(Two::SampleOn),
        2 => Just(Two::Merge),
        1 => Just(Two::Concat),
        1 => Just(Two::TakeUntil),
    ]
}

fn several() -> impl Strategy<Value = Several> {
    prop_oneof![Just(Several::Zip), Just(Several::Merge)]
}

fn write() -> BoxedStrategy<Write> {
    prop_oneof![
        12 => value().prop_map(Write::Set),
        3 => value().prop_map(Write::SetIfChanged),
        2 => value().prop_map(Write::Replace),
        3 => (0..3_i8).prop_map(Write::Update),
        3 => (0..3_i8).prop_map(Write::Modify),
        1 => Just(Write::Complete),
        1 => (0..3_u8).prop_map(Write::Fail),
    ]
    .boxed()
}

/// Operations without others inside.
fn simple() -> BoxedStrategy<Op> {
    prop_oneof![
        12 => (index(), write()).prop_map(|(at, write)| Op::Write(at, write)),
        2 => (value(), kind()).prop_map(|(value, kind)| Op::NewCell { value, kind }),
        1 => Just(Op::NewSource),
        2 => (index(), chain()).prop_map(|(of, chain)| Op::Derive { of, chain, trap: Trap::default() }),
        1 => (index(), any::<bool>()).prop_map(|(plan, mapped)| Op::Consume { plan, mapped }),
        1 => (index(), index()).prop_map(|(left, right)| Op::Join(left, right)),
        2 => (index(), Just(vec![])).prop_map(|(to, script)| Op::Subscribe { to, script }),
        1 => (index(), Just(vec![])).prop_map(|(to, script)| Op::SubscribeChanges { to, script }),
        1 => index().prop_map(Op::CloneHandle),
        2 => index().prop_map(Op::DropHandle),
        2 => index().prop_map(Op::DropGuard),
        1 => Just(Op::DropOwn),
        1 => index().prop_map(Op::DropPlan),
        1 => index().prop_map(Op::Dispose),
        4 => index().prop_map(Op::Read),
        1 => (index(), index()).prop_map(|(owner, guard)| Op::Own { owner, guard }),
        1 => index().prop_map(Op::DropScope),
        1 => (index(), index()).prop_map(|(scope, guard)| Op::OwnByScope { scope, guard }),
        1 => Just(Op::Panic),
    ]
    .boxed()
}

/// What callbacks do: mostly small things, at an early call. Callbacks made in callbacks do something too.
fn inner() -> BoxedStrategy<Op> {
    prop_oneof![
        8 => simple(),
        1 => vec(simple(), 1..4).prop_map(Op::Batch),
        2 => lending(simple()),
        1 => (index(), simple()).prop_map(|(at, op)| Op::RunInScope(at, Box::new(op))),
        1 => vec(simple(), 0..3).prop_map(|ops| Op::NewScope { cleanup: None, ops }),
        2 => nesting(vec((1..4_u8, simple()), 0..2).boxed()),
    ]
    .boxed()
}

fn script() -> BoxedStrategy<Script> {
    vec((1..6_u8, inner()), 0..3).boxed()
}

fn trap(script: BoxedStrategy<Script>) -> impl Strategy<Value = Trap> {
    let script = prop_oneof![4 => Just(vec![]), 1 => script];
    (option::weighted(0.15, value()), script)
        .prop_map(|(panic_on, script)| Trap { panic_on, script })
}

/// Operations with others inside: those that take closures, with these scripts.
fn nesting(script: BoxedStrategy<Script>) -> BoxedStrategy<Op> {
    let derived = (index(), chain(), trap(script.clone()));
    let shared = (index(), chain(), trap(script.clone()));
    let combined = (vec(index(), 2..4), trap(script.clone()));
    let latest = (index(), index(), trap(script.clone()));
    prop_oneof![
        6 => derived.prop_map(|(of, chain, trap)| Op::Derive { of, chain, trap }),
        1 => shared.prop_map(|(of, chain, trap)| Op::Share { of, chain, trap }),
        2 => (index(), any::<bool>()).prop_map(|(plan, mapped)| Op::Consume { plan, mapped }),
        2 => (index(), index()).prop_map(|(left, right)| Op::Join(left, right)),
        2 => vec(index(), 0..5).prop_map(Op::JoinVec),
        3 => (two(), index(), index()).prop_map(|(two, a, b)| Op::Two(two, a, b)),
        1 => (several(), vec(index(), 0..4)).prop_map(|(several, of)| Op::Several(several, of)),
        2 => combined.prop_map(|(of, trap)| Op::Combine { of, trap }),
        1 => latest.prop_map(|(of, beside, trap)| Op::Latest { of, beside, trap }),
        5 => (index(), script.clone()).prop_map(|(to, script)| Op::Subscribe { to, script }),
        2 => (index(), script).prop_map(|(to, script)| Op::SubscribeChanges { to, script }),
    ]
    .boxed()
}

/// An operation in a scope; what it makes there belongs to it.
fn scoped() -> BoxedStrategy<Op> {
    let leaf = || prop_oneof![2 => simple(), 2 => nesting(script())];
    let cleanup = || option::of(inner().prop_map(Box::new));
    let nested =
        (cleanup(), vec(leaf(), 0..4)).prop_map(|(cleanup, ops)| Op::NewScope { cleanup, ops });
    let ops = vec(prop_oneof![5 => leaf(), 1 => nested], 0..5);
    prop_oneof![
        2 => (cleanup(), ops).prop_map(|(cleanup, ops)| Op::NewScope { cleanup, ops }),
        1 => (index(), leaf()).prop_map(|(at, op)| Op::RunInScope(at, Box::new(op))),
    ]
    .boxed()
}

/// An operation while a value is lent.
fn lending(op: BoxedStrategy<Op>) -> BoxedStrategy<Op> {
    (index(), option::of(0..3_i8), op)
        .prop_map(|(at, add, op)| match add {
            Some(add) => Op::UpdateWith(at, add, Box::new(op)),
            None => Op::With(at, Box::new(op)),
        })
        .boxed()
}

fn op() -> BoxedStrategy<Op> {
    let leaf = || {
        prop_oneof![
            5 => simple(),
            1 => nesting(script()),
            1 => lending(inner()),
            1 => scoped(),
        ]
    };
    let in_batch = prop_oneof![6 => leaf(), 1 => vec(leaf(), 0..4).prop_map(Op::Batch)];
    prop_oneof![
        12 => simple(),
        13 => nesting(script()),
        2 => lending(inner()),
        2 => scoped(),
        5 => vec(in_batch, 0..7).prop_map(Op::Batch),
    ]
    .boxed()
}

/// A case: a few sources first, so that what follows has something to work on.
pub fn ops() -> impl Strategy<Value = Vec<Op>> {
    let sources =
        vec((value(), kind()).prop_map(|(value, kind)| Op::NewCell { value, kind }), 1..5);
    (sources, vec(op(), 30..70)).prop_map(|(mut ops, rest)| {
        ops.extend(rest);
        ops
    })
}
