//! How proptest makes operations.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::op::{CellKind, Formula, Make, Op, Over, Pick, Script, Term, Trap, Two};

fn value() -> impl Strategy<Value = i8> {
    0..6_i8
}

/// Often one of the first few, so that operations meet on the same cells.
fn index() -> impl Strategy<Value = u8> {
    prop_oneof![2 => 0..4_u8, 3 => 0..24_u8]
}

fn kind() -> impl Strategy<Value = CellKind> {
    prop_oneof![
        4 => Just(CellKind::Plain),
        1 => Just(CellKind::Equal),
        1 => Just(CellKind::NoCoalesce),
    ]
}

fn over() -> impl Strategy<Value = Over> {
    prop_oneof![3 => Just(Over::Cell), 1 => Just(Over::Mapped), 1 => Just(Over::Filtered)]
}

fn two() -> impl Strategy<Value = Two> {
    prop_oneof![
        3 => Just(Two::Merge),
        1 => Just(Two::Zip),
        1 => Just(Two::Concat),
        1 => Just(Two::TakeUntil),
        1 => Just(Two::Sample),
    ]
}

fn term(depth: u8) -> BoxedStrategy<Term> {
    let flat = prop_oneof![
        4 => index().prop_map(Term::Read),
        4 => (index(), index(), index()).prop_map(|(of, yes, no)| Term::If(of, yes, no)),
        1 => (index(), index()).prop_map(|(of, other)| Term::Or(of, other)),
        1 => index().prop_map(Term::Demand),
        1 => index().prop_map(Term::Quiet),
    ];
    if depth == 0 {
        return flat.boxed();
    }
    let fresh = make(depth - 1).prop_map(|make| Term::Fresh(Box::new(make)));
    prop_oneof![10 => flat, 1 => fresh].boxed()
}

fn formula(depth: u8) -> BoxedStrategy<Formula> {
    vec(term(depth), 0..4).boxed()
}

fn trap(depth: u8) -> BoxedStrategy<Trap> {
    let none = Just(Trap::default());
    let cleaning = (0..3_u8).prop_map(|cleanups| Trap { cleanups, ..Trap::default() });
    if depth == 0 {
        return prop_oneof![4 => none, 1 => cleaning].boxed();
    }
    let full =
        (option::weighted(0.3, value()), 0..3_u8, option::weighted(0.3, op(0)), script(depth))
            .prop_map(|(panic_on, cleanups, cleanup, script)| Trap {
                panic_on,
                cleanups,
                cleanup: cleanup.map(Box::new),
                script,
            });
    prop_oneof![4 => none, 2 => cleaning, 3 => full].boxed()
}

fn script(depth: u8) -> BoxedStrategy<Script> {
    if depth == 0 {
        return Just(Vec::new()).boxed();
    }
    vec((1..5_u8, op(depth - 1)), 0..3).boxed()
}

fn pick(depth: u8) -> BoxedStrategy<Pick> {
    let flat = prop_oneof![
        5 => index().prop_map(Pick::Existing),
        1 => Just(Pick::Again),
        1 => value().prop_map(Pick::Source),
    ];
    if depth == 0 {
        return flat.boxed();
    }
    prop_oneof![
        4 => flat,
        2 => make(depth - 1).prop_map(|make| Pick::Fresh(Box::new(make))),
        1 => make(depth - 1).prop_map(|make| Pick::Kept(Box::new(make))),
    ]
    .boxed()
}

fn make(depth: u8) -> BoxedStrategy<Make> {
    let map = (index(), trap(depth)).prop_map(|(of, trap)| Make::Map(of, trap));
    let combine = (index(), index(), option::of(index()), trap(depth))
        .prop_map(|(a, b, c, trap)| Make::Combine(a, b, c, trap));
    let latest = (index(), index(), trap(depth))
        .prop_map(|(of, beside, trap)| Make::Latest(of, beside, trap));
    let two = (two(), index(), index()).prop_map(|(two, a, b)| Make::Two(two, a, b));
    let computed = (formula(depth), any::<bool>(), any::<bool>(), trap(depth)).prop_map(
        |(formula, editable, cutoff, trap)| Make::Computed { formula, editable, cutoff, trap },
    );
    let switch = (index(), over(), vec(pick(depth), 1..5), trap(depth))
        .prop_map(|(of, over, picks, trap)| Make::Switch { of, over, picks, trap });
    let merge =
        (index(), over(), option::weighted(0.4, 1..3_u8), vec(pick(depth), 1..5), trap(depth))
            .prop_map(|(of, over, limit, picks, trap)| Make::MergeMap {
                of,
                over,
                limit,
                picks,
                trap,
            });
    let is = (index(), value()).prop_map(|(selector, key)| Make::Is(selector, key));
    prop_oneof![
        3 => map,
        2 => combine,
        1 => latest,
        2 => two,
        8 => computed,
        6 => switch,
        2 => merge,
        2 => is,
    ]
    .boxed()
}

/// Operations without others inside.
fn simple() -> BoxedStrategy<Op> {
    prop_oneof![
        12 => (index(), value()).prop_map(|(at, value)| Op::Write(at, value)),
        4 => (index(), formula(0)).prop_map(|(at, formula)| Op::Edit(at, formula)),
        1 => (value(), kind()).prop_map(|(value, kind)| Op::NewCell(value, kind)),
        1 => index().prop_map(Op::NewSelector),
        1 => index().prop_map(Op::DropSelector),
        2 => (index(), Just(vec![])).prop_map(|(to, script)| Op::Subscribe(to, script)),
        1 => index().prop_map(Op::CloneHandle),
        2 => index().prop_map(Op::DropHandle),
        2 => index().prop_map(Op::DropGuard),
        1 => Just(Op::DropOwn),
        1 => prop_oneof![
            2 => index().prop_map(Op::Complete),
            1 => index().prop_map(Op::Fail),
            2 => index().prop_map(Op::Dispose),
            1 => Just(Op::Panic),
        ],
        3 => index().prop_map(Op::Read),
    ]
    .boxed()
}

fn op(depth: u8) -> BoxedStrategy<Op> {
    if depth == 0 {
        return prop_oneof![8 => simple(), 1 => make(0).prop_map(Op::Make)].boxed();
    }
    let depth = depth - 1;
    prop_oneof![
        10 => simple(),
        10 => make(depth).prop_map(Op::Make),
        3 => (formula(depth), trap(depth)).prop_map(|(formula, trap)| Op::Effect(formula, trap)),
        2 => (index(), script(depth)).prop_map(|(to, script)| Op::Subscribe(to, script)),
        2 => (index(), op(depth)).prop_map(|(at, op)| Op::With(at, Box::new(op))),
        4 => vec(op(depth), 1..7).prop_map(Op::Batch),
    ]
    .boxed()
}

/// A case: a few sources first, so that what follows has something to work on.
pub fn ops() -> impl Strategy<Value = Vec<Op>> {
    let sources = vec((value(), kind()).prop_map(|(value, kind)| Op::NewCell(value, kind)), 1..5);
    (sources, vec(op(3), 20..60)).prop_map(|(mut ops, rest)| {
        ops.extend(rest);
        ops
    })
}
