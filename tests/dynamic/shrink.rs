//! Makes a failing case smaller: proptest keeps to the least length of a case and to its shape.

use std::time::{Duration, Instant};

use super::check;
use super::op::{Make, Op, Over, Pick, Trap};

/// After that the case is small enough.
const PATIENCE: Duration = Duration::from_secs(60);

/// Leaves out and flattens whatever the failure does not need.
pub fn shortest(mut ops: Vec<Op>) -> (String, Vec<Op>) {
    let mut reason = check::run(&ops).err().unwrap_or_default();
    let start = Instant::now();
    let mut at = ops.len();
    while at > 0 && start.elapsed() < PATIENCE {
        at -= 1;
        let others = simpler(&ops[at]).into_iter().map(|instead| with(&ops, at, instead));
        let others = others.filter(|others| size(others) < size(&ops));
        let mut smaller = others.filter_map(|ops| check::run(&ops).err().map(|what| (what, ops)));
        if let Some(found) = smaller.next() {
            (reason, ops) = found;
            at = ops.len();
        }
    }
    (reason, ops)
}

fn size(ops: &[Op]) -> usize {
    format!("{ops:?}").len()
}

fn with(ops: &[Op], at: usize, instead: Vec<Op>) -> Vec<Op> {
    let mut ops = ops.to_vec();
    ops.splice(at..=at, instead);
    ops
}

/// What an operation may be replaced by.
fn simpler(op: &Op) -> Vec<Vec<Op>> {
    let mut found = vec![Vec::new()];
    match op {
        Op::Batch(ops) => {
            found.push(ops.clone());
            found.extend(without_one(ops).map(|ops| vec![Op::Batch(ops)]));
            for at in 0..ops.len() {
                let inner = simpler(&ops[at]).into_iter();
                found.extend(inner.map(|instead| vec![Op::Batch(with(ops, at, instead))]));
            }
        }
        Op::With(of, op) => {
            found.push(vec![(**op).clone()]);
            let inner = simpler(op).into_iter().flatten();
            found.extend(inner.map(|op| vec![Op::With(*of, Box::new(op))]));
        }
        Op::Make(make) => found.extend(simpler_make(make).map(|make| vec![Op::Make(make)])),
        Op::Edit(of, formula) => {
            found.extend(without_one(formula).map(|formula| vec![Op::Edit(*of, formula)]));
        }
        Op::Effect(formula, trap) => {
            let fewer = without_one(formula).map(|formula| vec![Op::Effect(formula, trap.clone())]);
            found.extend(fewer);
            found.extend(simpler_trap(trap).map(|trap| vec![Op::Effect(formula.clone(), trap)]));
        }
        Op::Subscribe(to, script) => {
            found.extend(without_one(script).map(|script| vec![Op::Subscribe(*to, script)]));
        }
        _ => (),
    }
    found
}

fn without_one<T: Clone>(all: &[T]) -> impl Iterator<Item = Vec<T>> {
    let all = all.to_vec();
    (0..all.len()).map(move |at| {
        let mut fewer = all.clone();
        fewer.remove(at);
        fewer
    })
}

fn simpler_trap(trap: &Trap) -> impl Iterator<Item = Trap> + use<> {
    let is_simple = trap.panic_on.is_none() && trap.cleanups == 0 && trap.script.is_empty();
    let mut found = vec![Trap::default()];
    found.push(Trap { panic_on: None, ..trap.clone() });
    found.push(Trap { cleanups: 0, ..trap.clone() });
    found.extend(without_one(&trap.script).map(|script| Trap { script, ..trap.clone() }));
    found.into_iter().filter(move |_| !is_simple)
}

fn simpler_make(make: &Make) -> impl Iterator<Item = Make> + use<> {
    let mut found = Vec::new();
    let mut vary = |trap: &Trap, make: &dyn Fn(Trap) -> Make| {
        found.extend(simpler_trap(trap).map(make));
    };
    match make {
        Make::Map(of, trap) => vary(trap, &|trap| Make::Map(*of, trap)),
        Make::Combine(a, b, c, trap) => {
            vary(trap, &|trap| Make::Combine(*a, *b, *c, trap));
        }
        Make::Computed { formula, editable, cutoff, trap } => {
            let make = |formula, trap| Make::Computed {
                formula,
                editable: *editable,
                cutoff: *cutoff,
                trap,
            };
            vary(trap, &|trap| make(formula.clone(), trap));
            found.extend(without_one(formula).map(|formula| make(formula, trap.clone())));
        }
        Make::Switch { of, over, picks, trap } => {
            let make = |over, picks, trap| Make::Switch { of: *of, over, picks, trap };
            vary(trap, &|trap| make(*over, picks.clone(), trap));
            found.extend(fewer_picks(picks).map(|picks| make(*over, picks, trap.clone())));
            if *over != Over::Cell {
                found.push(make(Over::Cell, picks.clone(), trap.clone()));
            }
        }
        Make::MergeMap { of, over, limit, picks, trap } => {
            let make =
                |picks, trap| Make::MergeMap { of: *of, over: *over, limit: *limit, picks, trap };
            vary(trap, &|trap| make(picks.clone(), trap));
            found.extend(fewer_picks(picks).map(|picks| make(picks, trap.clone())));
        }
        _ => (),
    }
    found.into_iter()
}

fn fewer_picks(picks: &[Pick]) -> impl Iterator<Item = Vec<Pick>> + use<> {
    let mut found: Vec<Vec<Pick>> = without_one(picks).filter(|picks| !picks.is_empty()).collect();
    for (at, pick) in picks.iter().enumerate() {
        let (Pick::Fresh(make) | Pick::Kept(make)) = pick else { continue };
        for made in simpler_make(make) {
            let mut picks = picks.to_vec();
            let made = Box::new(made);
            picks[at] = match pick {
                Pick::Fresh(_) => Pick::Fresh(made),
                _ => Pick::Kept(made),
            };
            found.push(picks);
        }
    }
    found.into_iter()
}
