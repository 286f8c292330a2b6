//! Operations from the fuzzer's bytes. A few bytes make an operation, so that a small change of the input is a small change
//! of the case.

use arbitrary::{Arbitrary, Result, Unstructured};

use crate::op::{CellKind, Chain, Op, Script, Several, Trap, Two, Write};

/// Nesting deeper than this adds nothing but time.
const DEPTH: u8 = 3;
const LONGEST: usize = 200;

/// All operations that the bytes give.
pub fn ops(from: &mut Unstructured<'_>) -> Result<Vec<Op>> {
    let mut ops = Vec::new();
    while !from.is_empty() && ops.len() < LONGEST {
        ops.push(op(from, DEPTH)?);
    }
    Ok(ops)
}

fn value(from: &mut Unstructured<'_>) -> Result<i8> {
    from.int_in_range(-1..=6)
}

fn index(from: &mut Unstructured<'_>) -> Result<u8> {
    u8::arbitrary(from)
}

fn few(from: &mut Unstructured<'_>, most: u8) -> Result<u8> {
    from.int_in_range(0..=most)
}

/// One operation; with `depth` 0 one without others inside.
fn op(from: &mut Unstructured<'_>, depth: u8) -> Result<Op> {
    let most = if depth == 0 { 15 } else { 26 };
    Ok(match few(from, most)? {
        0..=2 => Op::Write(index(from)?, write(from)?),
        3 => Op::NewCell { value: value(from)?, kind: kind(from)? },
        4 => Op::NewSource,
        5 => Op::Consume { plan: index(from)?, mapped: bool::arbitrary(from)? },
        6 => Op::Join(index(from)?, index(from)?),
        7 => Op::JoinVec(list(from, 4, index)?),
        8 => handles(from)?,
        9 => Op::DropGuard(index(from)?),
        10 => Op::DropOwn,
        11 => Op::Read(index(from)?),
        12 => Op::Own { owner: index(from)?, guard: index(from)? },
        13 => Op::Panic,
        14 => Op::Two(two(from)?, index(from)?, index(from)?),
        15 => several(from)?,
        16 => Op::Derive { of: index(from)?, chain: chain(from)?, trap: trap(from, depth)? },
        17 => Op::Share { of: index(from)?, chain: chain(from)?, trap: trap(from, depth)? },
        18 => Op::Subscribe { to: index(from)?, script: script(from, depth)? },
        19 => Op::SubscribeChanges { to: index(from)?, script: script(from, depth)? },
        20 => Op::Batch(list(from, 6, |from| op(from, depth - 1))?),
        21 => Op::With(index(from)?, Box::new(op(from, depth - 1)?)),
        22 => Op::UpdateWith(index(from)?, value(from)?, Box::new(op(from, depth - 1)?)),
        23 => Op::RunInScope(index(from)?, Box::new(op(from, depth - 1)?)),
        24 => combine(from, depth)?,
        25 => Op::Latest { of: index(from)?, beside: index(from)?, trap: trap(from, depth)? },
        _ => new_scope(from, depth)?,
    })
}

fn two(from: &mut Unstructured<'_>) -> Result<Two> {
    Ok(match few(from, 5)? {
        0 => Two::Zip,
        1 => Two::Sample,
        2 => Two::SampleOn,
        3 => Two::Merge,
        4 => Two::Concat,
        _ => Two::TakeUntil,
    })
}

fn several(from: &mut Unstructured<'_>) -> Result<Op> {
    let several = if bool::arbitrary(from)? { Several::Zip } else { Several::Merge };
    Ok(Op::Several(several, list(from, 3, index)?))
}

fn combine(from: &mut Unstructured<'_>, depth: u8) -> Result<Op> {
    let mut of = vec![index(from)?, index(from)?];
    if bool::arbitrary(from)? {
        of.push(index(from)?);
    }
    Ok(Op::Combine { of, trap: trap(from, depth)? })
}

fn new_scope(from: &mut Unstructured<'_>, depth: u8) -> Result<Op> {
    let cleanup = bool::arbitrary(from)?.then(|| op(from, depth - 1)).transpose()?;
    let ops = list(from, 4, |from| op(from, depth - 1))?;
    Ok(Op::NewScope { cleanup: cleanup.map(Box::new), ops })
}

fn handles(from: &mut Unstructured<'_>) -> Result<Op> {
    Ok(match few(from, 5)? {
        0 => Op::CloneHandle(index(from)?),
        1 => Op::DropHandle(index(from)?),
        2 => Op::DropPlan(index(from)?),
        3 => Op::DropScope(index(from)?),
        4 => Op::OwnByScope { scope: index(from)?, guard: index(from)? },
        _ => Op::Dispose(index(from)?),
    })
}

fn kind(from: &mut Unstructured<'_>) -> Result<CellKind> {
    Ok(match few(from, 3)? {
        0 => CellKind::Plain,
        1 => CellKind::Parity,
        2 => CellKind::Equal,
        _ => CellKind::NoCoalesce,
    })
}

fn write(from: &mut Unstructured<'_>) -> Result<Write> {
    Ok(match few(from, 8)? {
        0..=2 => Write::Set(value(from)?),
        3 => Write::SetIfChanged(value(from)?),
        4 => Write::Replace(value(from)?),
        5 => Write::Update(value(from)?),
        6 => Write::Modify(value(from)?),
        7 => Write::Complete,
        _ => Write::Fail(few(from, 2)?),
    })
}

fn chain(from: &mut Unstructured<'_>) -> Result<Chain> {
    Ok(match few(from, 13)? {
        0 => Chain::Map,
        1 => Chain::Halve,
        2 => Chain::Filter,
        3 => Chain::Scan,
        4 => Chain::Deduped,
        5 => Chain::DedupedTap,
        6 => Chain::Pairwise,
        7 => Chain::TakeTap(few(from, 3)?),
        8 => Chain::TapTake(few(from, 3)?),
        9 => Chain::Skip(few(from, 2)?),
        10 => Chain::Last,
        11 => Chain::TapMaps,
        12 => Chain::FilterScan,
        _ => Chain::HalveDeduped,
    })
}

fn trap(from: &mut Unstructured<'_>, depth: u8) -> Result<Trap> {
    let panic_on = if from.ratio(1, 8)? { Some(value(from)?) } else { None };
    Ok(Trap { panic_on, script: script(from, depth)? })
}

fn script(from: &mut Unstructured<'_>, depth: u8) -> Result<Script> {
    list(from, 2, |from| Ok((from.int_in_range(1..=5)?, op(from, depth - 1)?)))
}

fn list<'a, T>(
    from: &mut Unstructured<'a>,
    most: u8,
    mut one: impl FnMut(&mut Unstructured<'a>) -> Result<T>,
) -> Result<Vec<T>> {
    (0..few(from, most)?).map(|_| one(from)).collect()
}
