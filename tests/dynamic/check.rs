//! Runs a case and checks after each operation what must hold; then runs it again, which must do the same.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Once;

use hyphae::{Limits, arena};

use super::op::Op;
use super::table::Event;
use super::world::{Boom, World};

/// Feedback is stopped after so many generations.
const GENERATIONS: u32 = 300;

/// How the panic of a refused cycle begins.
const CYCLE: &str = "a cycle of cells was refused";

/// How often each kind of operation took effect.
pub type Effects = BTreeMap<&'static str, u64>;

/// Runs a case; an error tells what is wrong.
pub fn run(ops: &[Op]) -> Result<Effects, String> {
    let (first, again) = (in_thread(ops), in_thread(ops));
    let ((effects, events), (_, again)) = (first?, again?);
    let at = events.iter().zip(&again).position(|(first, second)| first != second);
    if let Some(at) = at {
        let (first, second) = (&events[at], &again[at]);
        return Err(format!("in another run event {at} was {second:?}, not {first:?}"));
    }
    Ok(effects)
}

/// Runs a case in a store of its own.
fn in_thread(ops: &[Op]) -> Result<(Effects, Vec<Event>), String> {
    let ops = ops.to_vec();
    let case = std::thread::spawn(move || run_here(&ops));
    case.join().unwrap_or_else(|payload| Err(text_of(&*payload)))
}

fn run_here(ops: &[Op]) -> Result<(Effects, Vec<Event>), String> {
    hyphae::set_limits(Limits { generations: GENERATIONS, ..Limits::default() });
    let world = Rc::new(World::default());
    let done = steps(&world, ops)
        .and_then(|()| finish(&world).map_err(|what| format!("at the end: {what}")));
    // What a case that failed leaves behind does nothing more.
    world.closing.set(true);
    done?;
    let effects = world.table.borrow().clone();
    Ok((effects, world.events.take()))
}

fn steps(world: &Rc<World>, ops: &[Op]) -> Result<(), String> {
    for (at, op) in ops.iter().enumerate() {
        let runs = world.runs.get();
        let done = step(world, op);
        // A closure that makes what reads it may make it again and again, until that is stopped (P7).
        let many = world.runs.get() - runs > GENERATIONS;
        if many && world.self_made.get() && !world.closing.get() {
            world.count("a case that does not converge");
            world.errors.borrow_mut().clear();
            return Ok(());
        }
        done.map_err(|what| format!("after operation {at}, {op:?}: {what}"))?;
    }
    Ok(())
}

fn step(world: &Rc<World>, op: &Op) -> Result<(), String> {
    let booms = world.booms.get();
    let given = catch_unwind(AssertUnwindSafe(|| world.step(op)));
    world.frames.borrow_mut().clear();
    let boom = match &given {
        Err(payload) => boom_of(&**payload)?,
        Ok(()) => None,
    };
    // P6: the first payload goes to the caller.
    if (given.is_ok() && world.booms.get() > booms) || boom.is_some_and(|boom| boom.0 != booms) {
        return Err(format!("of the panics from {booms} on came {boom:?}"));
    }
    no_faults(world)?;
    world.check_switches(given.is_err())?;
    world.check_values()?;
    world.check_ends()?;
    world.check_lives()?;
    no_faults(world)
}

fn no_faults(world: &World) -> Result<(), String> {
    world.errors.borrow().first().map_or(Ok(()), |fault| Err(fault.clone()))
}

/// The panic of a case's own, or that of a refused cycle; every other is an error.
fn boom_of(payload: &(dyn Any + Send)) -> Result<Option<Boom>, String> {
    if let Some(boom) = payload.downcast_ref::<Boom>() {
        return Ok(Some(*boom));
    }
    let text = text_of(payload);
    if text.starts_with(CYCLE) { Ok(None) } else { Err(text) }
}

/// Keeps the panics of refused cycles, of which a case may have many, out of the output.
pub fn hide_cycles() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !info.payload_as_str().is_some_and(|text| text.starts_with(CYCLE)) {
                hook(info);
            }
        }));
    });
}

fn text_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_string());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a payload that is not text".to_string())
}

/// Drops everything: nothing lives on.
fn finish(world: &Rc<World>) -> Result<(), String> {
    world.clear();
    no_faults(world)?;
    let totals = arena::totals();
    let left = (totals.cells, totals.edges, totals.subscribers);
    if left != (0, 0, 0) {
        return Err(format!("cells, edges and subscribers: {left:?}"));
    }
    world.check_lives()
}
