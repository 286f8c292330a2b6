//! Runs a case over the library and the model and compares them after each operation.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use hyphae::arena;

use super::model::{Model, Naive};
use super::op::Op;
use super::real::Real;
use super::world::{Api, Boom, State, World};

/// How often each kind of operation took effect.
pub type Effects = BTreeMap<&'static str, u64>;

/// What can be seen of a world between two operations.
#[derive(Debug, PartialEq)]
struct Shot {
    /// The panic that came out of the operation.
    boom: Option<Boom>,
    cells: Vec<(bool, Option<State>)>,
    /// Live cells, edges and subscribers; deliveries so far.
    totals: [usize; 5],
}

/// Runs a case; an error tells what differs.
pub fn run(ops: &[Op]) -> Result<Effects, String> {
    let ops = ops.to_vec();
    // A thread of its own has a store of its own, also after a case that failed.
    let case = std::thread::spawn(move || run_here(&ops));
    case.join().unwrap_or_else(|payload| Err(text_of(&*payload)))
}

/// Runs a case in the store of this thread.
pub fn run_here(ops: &[Op]) -> Result<Effects, String> {
    let (real, model) = (World::new(Real::default()), World::new(Naive(Rc::new(Model::default()))));
    for (at, op) in ops.iter().enumerate() {
        let expected = step(&model, op)?;
        let got = step(&real, op)?;
        let context = |what: String| format!("after operation {at}, {op:?}: {what}");
        same("state", &got, &expected).map_err(context)?;
        same_logs(&real, &model).map_err(context)?;
        in_order(&real).map_err(context)?;
    }
    let effects = real.effects.borrow().clone();
    finish(&real, &model)?;
    again(ops, &real)?;
    Ok(effects)
}

fn step<A: Api>(world: &Rc<World<A>>, op: &Op) -> Result<Shot, String> {
    let boom = run_op(world, op)?;
    Ok(shot(world, boom))
}

/// Runs an operation; a panic that is none of the case's own is an error.
fn run_op<A: Api>(world: &Rc<World<A>>, op: &Op) -> Result<Option<Boom>, String> {
    match catch_unwind(AssertUnwindSafe(|| world.run(op, None))) {
        Ok(()) => Ok(None),
        Err(payload) => match payload.downcast_ref::<Boom>() {
            Some(boom) => Ok(Some(*boom)),
            None => Err(format!("{op:?} panicked: {}", text_of(&*payload))),
        },
    }
}

fn text_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_string());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a payload that is not text".to_string())
}

fn shot<A: Api>(world: &World<A>, boom: Option<Boom>) -> Shot {
    let totals = world.api.totals();
    let look = |key: &A::Key| {
        let state = world.api.upgrade(*key).map(|handle| world.api.state(&handle));
        (world.api.contains(*key), state)
    };
    let cells = world.keys.borrow().iter().map(look).collect();
    Shot { boom, cells, totals }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, got: &T, expected: &T) -> Result<(), String> {
    if got == expected {
        return Ok(());
    }
    Err(format!("{what}\n     got {got:?}\nexpected {expected:?}"))
}

/// What subscribers heard, each for itself; what was read; how often closures ran.
fn same_logs<A: Api, B: Api>(got: &World<A>, expected: &World<B>) -> Result<(), String> {
    let heard = (got.heard.borrow(), expected.heard.borrow());
    same("number of subscribers", &heard.0.len(), &heard.1.len())?;
    for (number, (got, expected)) in heard.0.iter().zip(heard.1.iter()).enumerate() {
        same(&format!("heard by subscriber {number}"), got, expected)?;
    }
    same("reads", &*got.reads.borrow(), &*expected.reads.borrow())?;
    same("runs of closures", &*got.runs.borrow(), &*expected.runs.borrow())
}

/// P0: in each round a cell's subscribers are called after those of all that it depends on.
fn in_order(real: &World<Real>) -> Result<(), String> {
    let turns = std::mem::take(&mut *real.turns.borrow_mut());
    let (inputs, listens_to) = (real.inputs.borrow(), real.listens_to.borrow());
    let depends = |cell: usize, on: usize| {
        let mut open = vec![cell];
        while let Some(cell) = open.pop() {
            if cell == on {
                return true;
            }
            open.extend(inputs.get(cell).into_iter().flatten());
        }
        false
    };
    for (at, (round, later)) in turns.iter().enumerate() {
        let earlier = turns[..at].iter().filter(|turn| turn.0 == *round);
        let later = listens_to[*later];
        for cell in earlier.map(|turn| listens_to[turn.1]) {
            if cell != later && depends(cell, later) {
                return Err(format!("cell {cell} was delivered before its input {later}"));
            }
        }
    }
    Ok(())
}

/// Drops everything: nothing lives on.
fn finish(real: &World<Real>, model: &World<Naive>) -> Result<(), String> {
    model.clear();
    real.clear();
    same_logs(real, model)?;
    same("cells at the end", &real.api.totals(), &model.api.totals())?;
    arena::assert_no_live();
    Ok(())
}

/// P0: another run of the same program does the same things in the same order.
fn again(ops: &[Op], first: &World<Real>) -> Result<(), String> {
    let second = World::new(Real::default());
    for op in ops {
        run_op(&second, op)?;
        second.turns.borrow_mut().clear();
    }
    second.clear();
    same_logs(&second, first).map_err(|what| format!("in another run: {what}"))
}
