//! What is counted. Each work makes its cells, runs its marked part, checks what came out, and tells how many units the
//! part had.
//!
//! Whatever is added here gets a baseline with `just gates-renew`.

use std::hint::black_box;

use hyphae::{Cell, CellImmutable, Pipeline, SubscriptionGuard};

use crate::shapes::show::{Apart, Inputs, Show};
use crate::shapes::{self, Shape};

/// What is counted of the marked part.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    /// Instructions under valgrind, a unit.
    Instructions,
    /// Bytes that are held after it and were not before, a unit.
    Bytes,
    /// Calls of the allocator that take memory, a unit.
    Allocations,
}

impl Counted {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::Bytes => "bytes",
            Self::Allocations => "allocations",
        }
    }
}

/// Runs the marked part.
pub(crate) type Mark<'a> = &'a mut dyn FnMut(&mut dyn FnMut());

/// A gate.
pub(crate) struct Work {
    /// Its name in the baseline.
    pub name: &'static str,
    /// What is counted of it.
    pub counted: Counted,
    /// Does it; tells how many units the marked part had.
    pub run: fn(Mark<'_>) -> u64,
}

const fn instructions(name: &'static str, run: fn(Mark<'_>) -> u64) -> Work {
    Work { name, counted: Counted::Instructions, run }
}

const fn bytes(name: &'static str, run: fn(Mark<'_>) -> u64) -> Work {
    Work { name, counted: Counted::Bytes, run }
}

const fn allocations(name: &'static str, run: fn(Mark<'_>) -> u64) -> Work {
    Work { name, counted: Counted::Allocations, run }
}

/// All gates, in the order of the baseline.
pub(crate) static ALL: &[Work] = &[
    instructions("chain:node", |mark| steps(mark, &shapes::chain(1000), 10, 1007)),
    instructions("chain_100000:node", |mark| steps(mark, &shapes::chain(100_000), 10, 100_007)),
    instructions("fan:node", |mark| steps(mark, &shapes::fan(1000).observed(), 10, 8000)),
    instructions("storm:node", |mark| frames(mark, 20_000)),
    instructions("storm_1000:node", |mark| frames(mark, 1000)),
    instructions("storm_200000:node", |mark| frames(mark, 200_000)),
    instructions("create_storm_1000:node", |mark| create_show(mark, 1000)),
    instructions("create_storm_200000:node", |mark| create_show(mark, 200_000)),
    instructions("drop_storm_1000:node", |mark| drop_show(mark, 1000)),
    instructions("drop_storm_200000:node", |mark| drop_show(mark, 200_000)),
    instructions("set", set),
    instructions("get", get),
    instructions("set_3_of_10", |mark| apart(mark, 10)),
    instructions("set_3_of_1000000", |mark| apart(mark, 1_000_000)),
    instructions("switch", |mark| each_step(mark, &shapes::switch_cached(), 1007)),
    instructions("switch_fresh", |mark| each_step(mark, &shapes::switch_fresh(), 1007)),
    instructions("computed_branch", |mark| each_step(mark, &shapes::computed_branch(), 1007)),
    instructions("relinks:each", relinks),
    instructions("create_source", |mark| create(mark, (), source)),
    instructions("drop_source", |mark| discard(mark, (), source)),
    instructions("create_map", |mark| create(mark, Cell::new(0), map)),
    instructions("drop_map", |mark| discard(mark, Cell::new(0), map)),
    instructions("subscribe", |mark| create(mark, watched(), watch)),
    instructions("unsubscribe", |mark| discard(mark, watched(), watch)),
    bytes("source", |mark| create(mark, (), source)),
    bytes("map", |mark| create(mark, Cell::new(0), map)),
    bytes("subscriber", |mark| create(mark, watched(), watch)),
    allocations("storm:frame", |mark| frames(mark, 20_000) / 20_000),
    allocations("set", set),
    allocations("switch", |mark| each_step(mark, &shapes::switch_cached(), 1007)),
    allocations("switch_fresh", |mark| each_step(mark, &shapes::switch_fresh(), 1007)),
    allocations("relinks:each", relinks),
    allocations("map", |mark| create(mark, Cell::new(0), map)),
    allocations("subscriber", |mark| create(mark, watched(), watch)),
];

/// Pairs of works, and by which part of the first they may differ: what is linear takes the same in a store of any size.
pub(crate) const EQUAL: &[(&str, &str, f64)] = &[
    ("set_3_of_10", "set_3_of_1000000", 0.01),
    ("chain:node", "chain_100000:node", 0.01),
    // In a small show the dependents of a source share words of the set of what is due; in a large one hardly two do.
    ("storm_1000:node", "storm_200000:node", 0.08),
    ("create_storm_1000:node", "create_storm_200000:node", 0.05),
    ("drop_storm_1000:node", "drop_storm_200000:node", 0.1),
];

const MANY: u64 = 100_000;

/// `n` steps of a shape, a node. A step of 7 must answer `expected`.
fn steps(mark: Mark<'_>, shape: &Shape, n: u64, expected: u64) -> u64 {
    (0..5).for_each(|v| shape.step(v));
    mark(&mut || (0..n).for_each(|v| shape.step(v)));
    shape.step(7);
    assert_eq!(shape.answer(), expected);
    n * shape.nodes
}

/// 1000 steps, each of them a unit.
fn each_step(mark: Mark<'_>, shape: &Shape, expected: u64) -> u64 {
    steps(mark, shape, 1000, expected) / shape.nodes
}

fn frames(mark: Mark<'_>, cells: usize) -> u64 {
    let show = Show::new(cells, Inputs::Far);
    (0..5).for_each(|v| show.frame(v));
    mark(&mut || (0..10).for_each(|v| show.frame(v)));
    assert!(show.is_right(9));
    10 * show.len() as u64
}

fn create_show(mark: Mark<'_>, cells: usize) -> u64 {
    drop(Show::new(cells, Inputs::Far));
    let mut show = None;
    mark(&mut || show = Some(Show::new(cells, Inputs::Far)));
    show.map_or(0, |show| show.len() as u64)
}

fn drop_show(mark: Mark<'_>, cells: usize) -> u64 {
    let mut show = Some(Show::new(cells, Inputs::Far));
    mark(&mut || show = None);
    assert_eq!(hyphae::arena::totals().cells, 0);
    cells as u64
}

fn set(mark: Mark<'_>) -> u64 {
    let cell = Cell::new(0);
    let guard = cell.watch(|v| {
        black_box(v);
    });
    (0..5).for_each(|v| cell.set(v));
    mark(&mut || (0..1000).for_each(|v| cell.set(v)));
    assert_eq!(cell.get(), 999);
    drop(guard);
    1000
}

fn get(mark: Mark<'_>) -> u64 {
    let cell = Cell::new(5_u64);
    let mut sum = 0;
    mark(&mut || sum = (0..1000).map(|_| black_box(&cell).get()).sum());
    assert_eq!(sum, 5000);
    1000
}

fn apart(mark: Mark<'_>, cells: usize) -> u64 {
    let apart = Apart::new(cells);
    (0..5).for_each(|v| apart.set(v));
    mark(&mut || (0..1000).for_each(|v| apart.set(v)));
    assert!(apart.is_right(999));
    1000
}

fn relinks(mark: Mark<'_>) -> u64 {
    const SWITCHES: u64 = 1000;
    let shape = shapes::relinks(SWITCHES, 10_000);
    let expected = shapes::relinks_answer(7, SWITCHES, 10_000);
    steps(mark, &shape, 10, expected) / shape.nodes * SWITCHES
}

fn source((): &(), i: u64) -> Cell<u64> {
    Cell::new(i)
}

fn map(base: &Cell<u64>, i: u64) -> Cell<u64, CellImmutable> {
    base.map(move |v| v + i).materialize()
}

#[allow(clippy::ptr_arg)] // what `create` needs is sized
fn watch(cells: &Vec<Cell<u64>>, i: u64) -> SubscriptionGuard {
    cells[i as usize].watch(|v| {
        black_box(v);
    })
}

/// What subscribers are put on.
fn watched() -> Vec<Cell<u64>> {
    (0..MANY).map(Cell::new).collect()
}

/// Makes many of what needs `needs`.
fn create<K, R>(mark: Mark<'_>, needs: K, make: impl Fn(&K, u64) -> R) -> u64 {
    let mut made = Vec::with_capacity(MANY as usize);
    mark(&mut || made.extend((0..MANY).map(|i| make(&needs, i))));
    assert_eq!(made.len() as u64, MANY);
    drop(made);
    MANY
}

/// Drops them.
fn discard<K, R>(mark: Mark<'_>, needs: K, make: impl Fn(&K, u64) -> R) -> u64 {
    let mut made: Vec<_> = (0..MANY).map(|i| make(&needs, i)).collect();
    mark(&mut || made.clear());
    drop(needs);
    assert_eq!(hyphae::arena::totals().cells, 0);
    MANY
}
