//! Random graphs of lazy and eager cells against plain recomputation.

use std::cell::{Cell as Count, RefCell};
use std::rc::Rc;

use hyphae::{Cell, CellImmutable, Pipeline, SubscriptionGuard, batch, combine, combine_lazy};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Op {
    Make { lazy: bool, kind: u8, inputs: [usize; 3] },
    Set { source: usize, value: u64 },
    Batch { sets: Vec<(usize, u64)>, reads: Vec<usize> },
    Read { node: usize },
    ReadInCallback { source: usize, node: usize, value: u64 },
    Subscribe { node: usize },
    Unsubscribe { which: usize },
    Forget { node: usize },
}

fn op() -> impl Strategy<Value = Op> {
    let index = 0..1000_usize;
    let set = || (0..4_usize, 0..6_u64);
    prop_oneof![
        3 => (any::<bool>(), 0..3_u8, [index.clone(), index.clone(), index.clone()])
            .prop_map(|(lazy, kind, inputs)| Op::Make { lazy, kind, inputs }),
        3 => set().prop_map(|(source, value)| Op::Set { source, value }),
        2 => (prop::collection::vec(set(), 1..4), prop::collection::vec(index.clone(), 0..3))
            .prop_map(|(sets, reads)| Op::Batch { sets, reads }),
        3 => index.clone().prop_map(|node| Op::Read { node }),
        1 => (set(), index.clone())
            .prop_map(|((source, value), node)| Op::ReadInCallback { source, node, value }),
        1 => index.clone().prop_map(|node| Op::Subscribe { node }),
        1 => index.clone().prop_map(|which| Op::Unsubscribe { which }),
        1 => index.prop_map(|node| Op::Forget { node }),
    ]
}

#[derive(Clone)]
enum Formula {
    Source(usize),
    Map(usize),
    Sum(usize, usize),
    /// The second or the third, as the first says.
    Pick(usize, usize, usize),
}

struct Node {
    cell: Option<Cell<u64, CellImmutable>>,
    formula: Formula,
    lazy: bool,
    runs: Rc<Count<usize>>,
}

#[derive(Default)]
struct World {
    sources: Vec<Cell<u64>>,
    values: Vec<u64>,
    nodes: Vec<Node>,
    guards: Vec<(usize, SubscriptionGuard, Rc<RefCell<Vec<u64>>>)>,
}

impl World {
    fn new() -> Self {
        let mut world = Self::default();
        for source in 0..4 {
            let cell = Cell::new(0);
            world.nodes.push(Node {
                cell: Some(cell.clone().lock()),
                formula: Formula::Source(source),
                lazy: false,
                runs: Rc::default(),
            });
            world.sources.push(cell);
            world.values.push(0);
        }
        world
    }

    fn expected(&self, node: usize) -> u64 {
        match self.nodes[node].formula {
            Formula::Source(source) => self.values[source],
            Formula::Map(a) => self.expected(a) + 1,
            Formula::Sum(a, b) => self.expected(a).wrapping_add(self.expected(b)),
            Formula::Pick(a, b, c) => {
                self.expected(if self.expected(a).is_multiple_of(2) { b } else { c })
            }
        }
    }

    fn inputs(&self, node: usize) -> Vec<usize> {
        match self.nodes[node].formula {
            Formula::Source(_) => vec![],
            Formula::Map(a) => vec![a],
            Formula::Sum(a, b) => vec![a, b],
            Formula::Pick(a, b, c) => vec![a, b, c],
        }
    }

    /// The nearest node at or below an index whose handle is still there: sources always are.
    fn held(&self, index: usize) -> usize {
        let index = index % self.nodes.len();
        (0..=index).rev().find(|&at| self.nodes[at].cell.is_some()).unwrap_or(0)
    }

    fn cell(&self, node: usize) -> Cell<u64, CellImmutable> {
        self.nodes[node].cell.clone().expect("held")
    }

    fn make(&mut self, lazy: bool, kind: u8, inputs: [usize; 3]) {
        let [a, b, c] = inputs.map(|input| self.held(input));
        let runs = Rc::new(Count::new(0));
        let count = runs.clone();
        let count = move || count.set(count.get() + 1);
        let cells = [a, b, c].map(|input| self.cell(input));
        let (formula, cell) = match kind {
            0 => {
                let map = cells[0].clone().map(move |n| {
                    count();
                    n + 1
                });
                let cell = if lazy { map.materialize_lazy() } else { map.materialize() };
                (Formula::Map(a), cell)
            }
            1 => {
                let both = (&cells[0], &cells[1]);
                let f = move |(a, b): (&u64, &u64)| {
                    count();
                    a.wrapping_add(*b)
                };
                (Formula::Sum(a, b), if lazy { combine_lazy(both, f) } else { combine(both, f) })
            }
            _ => {
                let f = move || {
                    count();
                    cells[if cells[0].get().is_multiple_of(2) { 1 } else { 2 }].get()
                };
                (
                    Formula::Pick(a, b, c),
                    if lazy { Cell::computed_lazy(f) } else { Cell::computed(f) },
                )
            }
        };
        self.nodes.push(Node { cell: Some(cell), formula, lazy, runs });
        assert_eq!(
            runs_of(&self.nodes),
            self.nodes.iter().map(|n| n.runs.get()).collect::<Vec<_>>()
        );
    }

    /// Whether anything that is computed in each wave may read a node, directly or not.
    fn may_be_wanted(&self) -> Vec<bool> {
        let mut wanted: Vec<bool> = self.nodes.iter().map(|node| !node.lazy).collect();
        self.guards.iter().for_each(|guard| wanted[guard.0] = true);
        for node in (0..self.nodes.len()).rev() {
            if wanted[node] {
                self.inputs(node).into_iter().for_each(|input| wanted[input] = true);
            }
        }
        wanted
    }

    fn read(&self, node: usize) {
        assert_eq!(self.cell(node).get(), self.expected(node), "node {node}");
    }

    fn step(&mut self, op: &Op) {
        let before = runs_of(&self.nodes);
        let wanted = self.may_be_wanted();
        match op {
            Op::Make { lazy, kind, inputs } => return self.make(*lazy, *kind, *inputs),
            Op::Set { source, value } => {
                self.values[*source] = *value;
                self.sources[*source].set(*value);
                let unwanted = wanted.iter().zip(before.iter().zip(runs_of(&self.nodes)));
                for (node, (wanted, (before, after))) in unwanted.enumerate() {
                    assert!(*wanted || *before == after, "node {node} ran for nobody");
                    assert!(after <= before + 1, "node {node} ran twice");
                }
            }
            Op::Batch { sets, reads } => batch(|| {
                for (at, &(source, value)) in sets.iter().enumerate() {
                    self.values[source] = value;
                    self.sources[source].set(value);
                    if let Some(&node) = reads.get(at) {
                        self.read(self.held(node));
                    }
                }
            }),
            Op::Read { node } => self.read(self.held(*node)),
            Op::ReadInCallback { source, node, value } => {
                let node = self.held(*node);
                let (cell, seen) = (self.cell(node), Rc::new(Count::new(0)));
                let log = seen.clone();
                let guard = self.sources[*source].watch(move |_| log.set(cell.get()));
                assert_eq!(seen.get(), self.expected(node), "at once");
                self.values[*source] = *value;
                self.sources[*source].set(*value);
                assert_eq!(seen.get(), self.expected(node), "in the delivery");
                drop(guard);
            }
            Op::Subscribe { node } => {
                let node = self.held(*node);
                let seen = Rc::new(RefCell::new(vec![]));
                let log = seen.clone();
                let guard = self.cell(node).watch(move |n| log.borrow_mut().push(*n));
                self.guards.push((node, guard, seen));
            }
            Op::Unsubscribe { which } => {
                if !self.guards.is_empty() {
                    drop(self.guards.swap_remove(which % self.guards.len()));
                }
            }
            Op::Forget { node } => {
                let node = self.held(*node);
                if node >= 4 {
                    self.nodes[node].cell = None;
                }
            }
        }
        for (node, _, seen) in &self.guards {
            assert_eq!(seen.borrow().last(), Some(&self.expected(*node)), "subscriber of {node}");
        }
    }
}

fn runs_of(nodes: &[Node]) -> Vec<usize> {
    nodes.iter().map(|node| node.runs.get()).collect()
}

proptest! {
    #[test]
    fn lazy_cells_give_what_eager_ones_would(ops in prop::collection::vec(op(), 1..80)) {
        let mut world = World::new();
        ops.iter().for_each(|op| world.step(op));
        for node in 0..world.nodes.len() {
            world.read(world.held(node));
        }
        drop(world);
        assert_eq!(hyphae::arena::totals().cells, 0);
    }
}
