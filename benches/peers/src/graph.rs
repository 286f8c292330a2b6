//! A graph as data, what it must answer, and how a library builds it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::library::Library;
use crate::worker::WRONG;

/// The number of a cell: sources first, then nodes.
pub(crate) type Id = usize;

/// How a node comes by its value.
pub(crate) enum Op {
    /// The input and a constant.
    Add(Id, u64),
    /// See [`mix`].
    Mix(Id, Id),
    /// The sum of all.
    Sum(Vec<Id>),
    /// The upper half of the input; passes on only what differs.
    Upper(Id),
    /// What the selector chooses.
    Switch(Id, Arc<[Id]>),
}

/// A value of two that goes on changing however many rows deep.
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    a.rotate_left(5).wrapping_add(b)
}

/// A graph: nodes in an order in which each follows its inputs.
#[derive(Default)]
pub(crate) struct Graph {
    /// How many sources there are.
    pub sources: usize,
    /// The derived cells.
    pub nodes: Vec<Op>,
    /// The cells that are observed.
    pub sinks: Vec<Id>,
    /// The most nodes in a row.
    pub depth: usize,
}

impl Graph {
    /// A graph of sources alone.
    pub(crate) fn new(sources: usize) -> Self {
        Self { sources, ..Self::default() }
    }

    /// Adds a node.
    pub(crate) fn add(&mut self, op: Op) -> Id {
        self.nodes.push(op);
        self.sources + self.nodes.len() - 1
    }

    /// The value that each cell must have. `values` starts with the sources'.
    pub(crate) fn compute(&self, values: &mut Vec<u64>) {
        values.truncate(self.sources);
        for op in &self.nodes {
            let value = match op {
                Op::Add(a, n) => values[*a].wrapping_add(*n),
                Op::Mix(a, b) => mix(values[*a], values[*b]),
                Op::Sum(inputs) => {
                    inputs.iter().fold(0, |sum: u64, &i| sum.wrapping_add(values[i]))
                }
                Op::Upper(a) => values[*a] >> 32,
                Op::Switch(selector, choices) => {
                    values[choices[values[*selector] as usize % choices.len()]]
                }
            };
            values.push(value);
        }
    }
}

static NODE_RUNS: AtomicU64 = AtomicU64::new(0);
static SINK_RUNS: AtomicU64 = AtomicU64::new(0);

/// How often closures and callbacks ran since the last call. Only of graphs built to count.
pub(crate) fn take_runs() -> (u64, u64) {
    (NODE_RUNS.swap(0, Relaxed), SINK_RUNS.swap(0, Relaxed))
}

fn count<const COUNT: bool>(runs: &AtomicU64) {
    if COUNT {
        runs.fetch_add(1, Relaxed);
    }
}

/// Where sinks write what they hear. Never freed: closures hold references, which cost a library 8 bytes.
pub(crate) fn ears(n: usize) -> &'static [AtomicU64] {
    Vec::leak((0..n).map(|_| AtomicU64::new(u64::MAX)).collect())
}

/// A graph in a library.
pub(crate) struct Built<L: Library> {
    /// Subscriptions; the first to go.
    _sinks: Vec<L::Sink>,
    /// All cells, by number.
    _nodes: Vec<L::Node>,
    sources: Vec<L::Source>,
    /// What the sinks heard last.
    heard: &'static [AtomicU64],
    /// The world they live in.
    library: L,
}

impl<L: Library> Built<L> {
    /// Builds `graph`. With `COUNT`, runs are counted.
    pub(crate) fn new<const COUNT: bool>(graph: &Graph) -> Self {
        let mut library = L::new(graph.depth);
        let sources: Vec<_> = (0..graph.sources).map(|_| library.source(0)).collect();
        let mut nodes: Vec<_> = sources.iter().map(|s| library.node(s)).collect();
        for op in &graph.nodes {
            let node = Self::node::<COUNT>(&mut library, &nodes, op);
            nodes.push(node);
        }
        let heard = ears(graph.sinks.len());
        let sinks = graph
            .sinks
            .iter()
            .zip(heard)
            .map(|(&id, ear)| {
                library.sink(&nodes[id], move |v| {
                    count::<COUNT>(&SINK_RUNS);
                    ear.store(v, Relaxed);
                })
            })
            .collect();
        library.settle();
        Self { _sinks: sinks, _nodes: nodes, sources, heard, library }
    }

    fn node<const COUNT: bool>(library: &mut L, nodes: &[L::Node], op: &Op) -> L::Node {
        match op {
            Op::Add(a, n) => {
                let n = *n;
                library.map(&nodes[*a], move |v| {
                    count::<COUNT>(&NODE_RUNS);
                    v.wrapping_add(n)
                })
            }
            Op::Mix(a, b) => library.map2(&nodes[*a], &nodes[*b], |a, b| {
                count::<COUNT>(&NODE_RUNS);
                mix(a, b)
            }),
            Op::Sum(inputs) => {
                let inputs: Vec<_> = inputs.iter().map(|&i| nodes[i].clone()).collect();
                library.fold(&inputs, u64::wrapping_add, |v| {
                    count::<COUNT>(&NODE_RUNS);
                    v
                })
            }
            Op::Upper(a) => library.map_distinct(&nodes[*a], |v| {
                count::<COUNT>(&NODE_RUNS);
                v >> 32
            }),
            Op::Switch(selector, choices) => {
                let choices = choices.iter().map(|&i| nodes[i].clone()).collect();
                library.switch(&nodes[*selector], &choices, |v| {
                    count::<COUNT>(&NODE_RUNS);
                    v
                })
            }
        }
    }

    /// Writes `value + i` to each source `i` in turn, `count` of them from `first` on.
    pub(crate) fn write(&mut self, first: usize, count: usize, value: u64) {
        if count == 1 {
            self.library.set(&self.sources[first], value.wrapping_add(first as u64));
        } else {
            let end = first + count;
            let wrapped = end.saturating_sub(self.sources.len());
            let ranges = (first..end - wrapped).chain(0..wrapped);
            let sources = &self.sources;
            self.library.batch(ranges.map(|i| (&sources[i], value.wrapping_add(i as u64))));
        }
    }

    /// What the sinks heard, and the first that heard something else than it should.
    pub(crate) fn check(&self, graph: &Graph, values: &[u64]) -> Result<(), String> {
        for (sink, (&id, ear)) in graph.sinks.iter().zip(self.heard).enumerate() {
            let got = ear.load(Relaxed);
            if got != values[id] {
                return Err(format!("{WRONG}sink {sink} heard {got}, not {}", values[id]));
            }
        }
        Ok(())
    }
}
