//! The library's side: one operator put on a pipeline, at run time or fused at compile time.

use hyphae::{Cell, CellImmutable, Pipeline, Seedness};

use crate::model::Op;

/// Puts one operator, written as in [`Op`], on a pipeline of numbers.
macro_rules! stage {
    ($p:expr, Map($k:expr)) => {{
        let k = $k;
        $p.map(move |v| v + k)
    }};
    ($p:expr, Filter($k:expr)) => {{
        let k = $k;
        $p.filter(move |v| v % (k + 2) != 0)
    }};
    ($p:expr, Catch($k:expr)) => {{
        let k = $k;
        $p.try_map(crate::build::thirds).catch_error(move |v| v + k)
    }};
    ($p:expr, OrDefault($k:expr)) => {
        $p.try_map(crate::build::thirds).map_ok(|v| v + 100).unwrap_or($k)
    };
    ($p:expr, OrElse($k:expr)) => {{
        let k = $k;
        $p.try_map(crate::build::thirds).map_err(|v| -v).unwrap_or_else(move |v| v + k)
    }};
    ($p:expr, Tap($k:expr)) => {{
        let k = $k;
        $p.tap(move |v| assert!(v.checked_add(k).is_some()))
    }};
    ($p:expr, Scan($k:expr)) => {
        $p.scan($k, |a: &i64, v: &i64| a.wrapping_add(*v))
    };
    ($p:expr, Pairwise($k:expr)) => {{
        let _ = $k;
        $p.pairwise().map(|(a, b)| crate::model::digits(&[*a, *b]))
    }};
    ($p:expr, Distinct($k:expr)) => {{
        let _ = $k;
        $p.distinct()
    }};
    ($p:expr, Deduped($k:expr)) => {{
        let _ = $k;
        $p.deduped()
    }};
    ($p:expr, UntilChangedBy($k:expr)) => {{
        let k = $k;
        $p.distinct_until_changed_by(move |a, b| a % (k + 2) == b % (k + 2))
    }};
    ($p:expr, Window($k:expr)) => {
        $p.window($k as usize + 1).map(|v| crate::model::digits(v))
    };
    ($p:expr, Buffer($k:expr)) => {
        $p.buffer_count($k as usize + 1).map(|v| crate::model::digits(v))
    };
    ($p:expr, Take($k:expr)) => {
        $p.take($k as usize)
    };
    ($p:expr, TakeWhile($k:expr)) => {{
        let k = $k;
        $p.take_while(move |v| *v < k)
    }};
    ($p:expr, First($k:expr)) => {{
        let _ = $k;
        $p.first()
    }};
    ($p:expr, Last($k:expr)) => {{
        let _ = $k;
        $p.last()
    }};
    ($p:expr, LastOr($k:expr)) => {
        $p.last_or($k)
    };
    ($p:expr, Skip($k:expr)) => {
        $p.skip($k as usize)
    };
    ($p:expr, SkipWhile($k:expr)) => {{
        let k = $k;
        $p.skip_while(move |v| *v < k)
    }};
    ($p:expr, Cold($k:expr)) => {{
        let _ = $k;
        $p.cold().map(|v| **v)
    }};
    ($p:expr, Finalize($k:expr)) => {{
        let k = $k;
        $p.finalize(move || assert!(k >= 0))
    }};
}
pub(crate) use stage;

pub(crate) fn thirds(v: &i64) -> Result<i64, i64> {
    if v % 3 == 0 { Err(*v) } else { Ok(*v) }
}

/// Makes the arms of a match over all operators.
macro_rules! dispatch {
    ($op:expr, $p:expr, $end:ident: $($name:ident)*) => {
        match $op { $(Op::$name(k) => stage!($p, $name(k)).$end(|_| true).materialize(),)* }
    };
}

/// A cell of the pipeline with one operator more. The last filter lets everything pass: it makes all of them alike.
pub(crate) fn build<S: Seedness>(
    p: impl Pipeline<i64, S>,
    op: Op,
) -> Cell<Option<i64>, CellImmutable> {
    let p = p.map(|v| *v);
    dispatch!(op, p, filter: Map Filter Catch OrDefault OrElse Tap Scan Pairwise Distinct Deduped
        UntilChangedBy Window Buffer Take TakeWhile First Last LastOr Skip SkipWhile Cold Finalize)
}

/// The same on a cell that may have no value yet.
pub(crate) fn append(
    cell: &Cell<Option<i64>, CellImmutable>,
    op: Op,
) -> Cell<Option<i64>, CellImmutable> {
    build(cell.filter(Option::is_some).map(|v| v.unwrap_or_default()), op)
}

/// The operators that keep a value from the start, on a definite cell and without anything around them.
pub(crate) fn build_definite(cell: &Cell<i64>, op: Op) -> Option<Cell<i64, CellImmutable>> {
    Some(match op {
        Op::Map(k) => stage!(cell, Map(k)).materialize(),
        Op::Catch(k) => stage!(cell, Catch(k)).materialize(),
        Op::OrDefault(k) => stage!(cell, OrDefault(k)).materialize(),
        Op::OrElse(k) => stage!(cell, OrElse(k)).materialize(),
        Op::Tap(k) => stage!(cell, Tap(k)).materialize(),
        Op::Scan(k) => stage!(cell, Scan(k)).materialize(),
        Op::Distinct(k) => stage!(cell, Distinct(k)).materialize(),
        Op::Deduped(k) => stage!(cell, Deduped(k)).materialize(),
        Op::UntilChangedBy(k) => stage!(cell, UntilChangedBy(k)).materialize(),
        Op::Window(k) => stage!(cell, Window(k)).materialize(),
        Op::Buffer(k) => stage!(cell, Buffer(k)).materialize(),
        Op::Take(k) => stage!(cell, Take(k)).materialize(),
        Op::First(k) => stage!(cell, First(k)).materialize(),
        Op::Finalize(k) => stage!(cell, Finalize(k)).materialize(),
        _ => return None,
    })
}
