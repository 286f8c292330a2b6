//! Operations of `tests/dynamic` from the fuzzer's bytes. A few bytes make an operation, so that a small change of the input is
//! a small change of the case.

use arbitrary::{Arbitrary, Result, Unstructured};

use crate::op::{CellKind, Formula, Make, Op, Over, Pick, Script, Term, Trap, Two};

/// Nesting deeper than this adds nothing but time.
const DEPTH: u8 = 3;
const LONGEST: usize = 120;

/// All operations that the bytes give.
pub fn ops(from: &mut Unstructured<'_>) -> Result<Vec<Op>> {
    let mut ops = vec![Op::NewCell(0, CellKind::Plain), Op::NewCell(1, CellKind::Plain)];
    while !from.is_empty() && ops.len() < LONGEST {
        ops.push(op(from, DEPTH)?);
    }
    Ok(ops)
}

fn value(from: &mut Unstructured<'_>) -> Result<i8> {
    from.int_in_range(0..=5)
}

fn index(from: &mut Unstructured<'_>) -> Result<u8> {
    u8::arbitrary(from)
}

fn few(from: &mut Unstructured<'_>, most: u8) -> Result<u8> {
    from.int_in_range(0..=most)
}

/// One operation; with `depth` 0 one without closures inside.
fn op(from: &mut Unstructured<'_>, depth: u8) -> Result<Op> {
    let most = if depth == 0 { 15 } else { 22 };
    Ok(match few(from, most)? {
        0..=3 => Op::Write(index(from)?, value(from)?),
        4 => Op::NewCell(value(from)?, kind(from)?),
        5 | 6 => Op::Edit(index(from)?, list(from, 3, |from| term(from, 0))?),
        7 => Op::NewSelector(index(from)?),
        8 => handles(from)?,
        9 => Op::DropHandle(index(from)?),
        10 => Op::DropGuard(index(from)?),
        11 => ends(from)?,
        12 => Op::Read(index(from)?),
        13 => Op::Subscribe(index(from)?, script(from, depth)?),
        14 | 15 => Op::Make(make(from, depth)?),
        16..=18 => Op::Make(make(from, depth - 1)?),
        19 => Op::Effect(formula(from, depth - 1)?, trap(from, depth - 1)?),
        20 => Op::With(index(from)?, Box::new(op(from, depth - 1)?)),
        _ => Op::Batch(list(from, 6, |from| op(from, depth - 1))?),
    })
}

fn handles(from: &mut Unstructured<'_>) -> Result<Op> {
    Ok(match few(from, 2)? {
        0 => Op::CloneHandle(index(from)?),
        1 => Op::DropSelector(index(from)?),
        _ => Op::DropOwn,
    })
}

fn ends(from: &mut Unstructured<'_>) -> Result<Op> {
    Ok(match few(from, 3)? {
        0 => Op::Complete(index(from)?),
        1 => Op::Fail(index(from)?),
        2 => Op::Dispose(index(from)?),
        _ => Op::Panic,
    })
}

fn kind(from: &mut Unstructured<'_>) -> Result<CellKind> {
    Ok(match few(from, 2)? {
        0 => CellKind::Plain,
        1 => CellKind::Equal,
        _ => CellKind::NoCoalesce,
    })
}

fn over(from: &mut Unstructured<'_>) -> Result<Over> {
    Ok(match few(from, 2)? {
        0 => Over::Cell,
        1 => Over::Mapped,
        _ => Over::Filtered,
    })
}

fn two(from: &mut Unstructured<'_>) -> Result<Two> {
    Ok(match few(from, 4)? {
        0 => Two::Merge,
        1 => Two::Zip,
        2 => Two::Concat,
        3 => Two::TakeUntil,
        _ => Two::Sample,
    })
}

fn make(from: &mut Unstructured<'_>, depth: u8) -> Result<Make> {
    Ok(match few(from, 10)? {
        0 => Make::Map(index(from)?, trap(from, depth)?),
        1 => {
            let third = if bool::arbitrary(from)? { Some(index(from)?) } else { None };
            Make::Combine(index(from)?, index(from)?, third, trap(from, depth)?)
        }
        2 => Make::Latest(index(from)?, index(from)?, trap(from, depth)?),
        3 => Make::Two(two(from)?, index(from)?, index(from)?),
        4 => Make::Is(index(from)?, value(from)?),
        5..=7 => Make::Computed {
            formula: formula(from, depth)?,
            editable: bool::arbitrary(from)?,
            cutoff: bool::arbitrary(from)?,
            trap: trap(from, depth)?,
        },
        8 => Make::MergeMap {
            of: index(from)?,
            over: over(from)?,
            limit: if from.ratio(1, 3)? { Some(from.int_in_range(1..=2)?) } else { None },
            picks: picks(from, depth)?,
            trap: trap(from, depth)?,
        },
        _ => Make::Switch {
            of: index(from)?,
            over: over(from)?,
            picks: picks(from, depth)?,
            trap: trap(from, depth)?,
        },
    })
}

fn picks(from: &mut Unstructured<'_>, depth: u8) -> Result<Vec<Pick>> {
    let mut picks = list(from, 3, |from| pick(from, depth))?;
    picks.push(pick(from, depth)?);
    Ok(picks)
}

fn pick(from: &mut Unstructured<'_>, depth: u8) -> Result<Pick> {
    let most = if depth == 0 { 4 } else { 7 };
    Ok(match few(from, most)? {
        0..=2 => Pick::Existing(index(from)?),
        3 => Pick::Again,
        4 => Pick::Source(value(from)?),
        5 | 6 => Pick::Fresh(Box::new(make(from, depth - 1)?)),
        _ => Pick::Kept(Box::new(make(from, depth - 1)?)),
    })
}

fn formula(from: &mut Unstructured<'_>, depth: u8) -> Result<Formula> {
    list(from, 3, |from| term(from, depth))
}

fn term(from: &mut Unstructured<'_>, depth: u8) -> Result<Term> {
    let most = if depth == 0 { 6 } else { 7 };
    Ok(match few(from, most)? {
        0 | 1 => Term::Read(index(from)?),
        2 | 3 => Term::If(index(from)?, index(from)?, index(from)?),
        4 => Term::Or(index(from)?, index(from)?),
        5 => Term::Demand(index(from)?),
        6 => Term::Quiet(index(from)?),
        _ => Term::Fresh(Box::new(make(from, depth - 1)?)),
    })
}

fn trap(from: &mut Unstructured<'_>, depth: u8) -> Result<Trap> {
    if from.ratio(1, 2)? {
        return Ok(Trap::default());
    }
    let panic_on = if from.ratio(1, 4)? { Some(value(from)?) } else { None };
    let cleanup = if depth > 0 && from.ratio(1, 4)? {
        Some(Box::new(op(from, 0)?))
    } else {
        None
    };
    Ok(Trap { panic_on, cleanups: few(from, 2)?, cleanup, script: script(from, depth)? })
}

fn script(from: &mut Unstructured<'_>, depth: u8) -> Result<Script> {
    if depth == 0 {
        return Ok(Vec::new());
    }
    list(from, 2, |from| Ok((from.int_in_range(1..=4)?, op(from, depth - 1)?)))
}

fn list<'a, T>(
    from: &mut Unstructured<'a>,
    most: u8,
    mut one: impl FnMut(&mut Unstructured<'a>) -> Result<T>,
) -> Result<Vec<T>> {
    (0..few(from, most)?).map(|_| one(from)).collect()
}
