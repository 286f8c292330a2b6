//! The second limit: each shape as a program without any library would be written, its values in plain vectors.
//!
//! It knows the shape, so it looks at no list of dependents, calls no closure, and asks nothing. Each loop keeps the
//! value of every cell, as the libraries do, and writes what a sink would hear.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::graph::{Graph, Op, mix};

/// A shape written out.
pub(crate) trait Hand {
    /// Writes `value + i` to `count` sources from `first` on, and all that follows.
    fn step(&mut self, first: usize, count: usize, value: u64, heard: &[AtomicU64]);
}

/// The loops of a shape, if it has any.
pub(crate) fn written(shape: &str, graph: &Graph) -> Option<Box<dyn Hand>> {
    Some(match shape {
        "chain" => Box::new(Chain::new(graph)),
        "fan" => Box::new(Fan::new(graph)),
        "diamond" => Box::new(Diamond { sides: Fan::new(graph) }),
        "triangle" => Box::new(Triangle { chain: Chain::new(graph) }),
        "grid" => Box::new(Grid { rows: vec![[0; 4]; graph.nodes.len() / 4] }),
        "mux" => Box::new(Mux { sources: vec![0; 100], outputs: Fan::new(graph) }),
        "cutoff" => Box::new(Cutoff { quiet: 0, tail: Chain::new(graph) }),
        "switch" => Box::new(Switch { sides: [0; 2], output: 0, tail: 0 }),
        "batch" => Box::new(Tree::new(graph)),
        "storm" | "storm_all" => Box::new(Levels::new(graph)),
        "set" => Box::new(Single { value: 0 }),
        "rship" => Box::new(Chains::new(graph)),
        "relink" => Box::new(Links::new(graph)),
        _ => return None,
    })
}

fn constants(graph: &Graph) -> Vec<u64> {
    graph
        .nodes
        .iter()
        .filter_map(|op| if let Op::Add(_, n) = op { Some(*n) } else { None })
        .collect()
}

struct Chain {
    constants: Vec<u64>,
    values: Vec<u64>,
}

impl Chain {
    fn new(graph: &Graph) -> Self {
        let constants = constants(graph);
        Self { values: vec![0; constants.len()], constants }
    }

    fn run(&mut self, mut value: u64) -> u64 {
        for (cell, n) in self.values.iter_mut().zip(&self.constants) {
            value = value.wrapping_add(*n);
            *cell = value;
        }
        value
    }
}

impl Hand for Chain {
    fn step(&mut self, _: usize, _: usize, value: u64, heard: &[AtomicU64]) {
        heard[0].store(self.run(value), Relaxed);
    }
}

struct Fan {
    constants: Vec<u64>,
    values: Vec<u64>,
}

impl Fan {
    fn new(graph: &Graph) -> Self {
        let constants = constants(graph);
        Self { values: vec![0; constants.len()], constants }
    }

    fn run(&mut self, value: u64) {
        for (cell, n) in self.values.iter_mut().zip(&self.constants) {
            *cell = value.wrapping_add(*n);
        }
    }

    fn tell(&self, heard: &[AtomicU64]) {
        self.values.iter().zip(heard).for_each(|(v, ear)| ear.store(*v, Relaxed));
    }
}

impl Hand for Fan {
    fn step(&mut self, _: usize, _: usize, value: u64, heard: &[AtomicU64]) {
        self.run(value);
        self.tell(heard);
    }
}

fn sum(values: &[u64]) -> u64 {
    values.iter().fold(0, |sum, v| sum.wrapping_add(*v))
}

struct Diamond {
    sides: Fan,
}

impl Hand for Diamond {
    fn step(&mut self, _: usize, _: usize, value: u64, heard: &[AtomicU64]) {
        self.sides.run(value);
        heard[0].store(sum(&self.sides.values), Relaxed);
    }
}

struct Triangle {
    chain: Chain,
}

impl Hand for Triangle {
    fn step(&mut self, _: usize, _: usize, value: u64, heard: &[AtomicU64]) {
        self.chain.run(value);
        heard[0].store(sum(&self.chain.values), Relaxed);
    }
}

struct Grid {
    rows: Vec<[u64; 4]>,
}

impl Hand for Grid {
    fn step(&mut self, _: usize, _: usize, value: u64, heard: &[AtomicU64]) {
        let mut row = [1, 2, 3, 4].map(|n| value.wrapping_add(n));
        self.rows[0] = row;
        for cells in &mut self.rows[1..] {
            row = [0, 1, 2, 3].map(|i| mix(row[i], row[(i + 1) % 4]));
            *cells = row;
        }
        row.iter().zip(heard).for_each(|(v, ear)| ear.store(*v, Relaxed));
    }
}

/// Sets some of a row of sources.
fn write(sources: &mut [u64], first: usize, count: usize, value: u64) {
    for i in first..first + count {
        let i = if i < sources.len() { i } else { i - sources.len() };
        sources[i] = value.wrapping_add(i as u64);
    }
}

struct Mux {
    sources: Vec<u64>,
    outputs: Fan,
}

impl Hand for Mux {
    fn step(&mut self, first: usize, count: usize, value: u64, heard: &[AtomicU64]) {
        write(&mut self.sources, first, count, value);
        self.outputs.run(sum(&self.sources));
        self.outputs.tell(heard);
    }
}

struct Cutoff {
    quiet: u64,
    tail: Chain,
}

impl Hand for Cutoff {
    fn step(&mut self, _: usize, _: usize, value: u64, heard: &[AtomicU64]) {
        let quiet = value >> 32;
        if quiet != self.quiet || heard[0].load(Relaxed) == u64::MAX {
            self.quiet = quiet;
            heard[0].store(self.tail.run(quiet), Relaxed);
        }
    }
}

struct Switch {
    sides: [u64; 2],
    output: u64,
    tail: u64,
}

impl Hand for Switch {
    fn step(&mut self, _: usize, _: usize, value: u64, heard: &[AtomicU64]) {
        self.sides = [value.wrapping_add(2), value.wrapping_add(7)];
        self.output = self.sides[(value % 2) as usize];
        self.tail = self.output.wrapping_add(1);
        heard[0].store(self.output, Relaxed);
        heard[1].store(self.tail, Relaxed);
    }
}

struct Tree {
    /// The sources first, each row behind the one that it is made of.
    rows: Vec<Vec<u64>>,
}

impl Tree {
    fn new(graph: &Graph) -> Self {
        let mut rows = vec![vec![0; graph.sources]];
        while rows[rows.len() - 1].len() > 1 {
            rows.push(vec![0; rows[rows.len() - 1].len().div_ceil(2)]);
        }
        Self { rows }
    }
}

impl Hand for Tree {
    fn step(&mut self, first: usize, count: usize, value: u64, heard: &[AtomicU64]) {
        write(&mut self.rows[0], first, count, value);
        for i in 1..self.rows.len() {
            let (before, row) = self.rows.split_at_mut(i);
            let (before, row) = (&before[i - 1], &mut row[0]);
            for (cell, pair) in row.iter_mut().zip(before.chunks(2)) {
                *cell = if let [a, b] = *pair { mix(a, b) } else { pair[0] };
            }
        }
        heard[0].store(self.rows[self.rows.len() - 1][0], Relaxed);
    }
}

struct Levels {
    values: Vec<u64>,
    inputs: Vec<[u32; 2]>,
    sources: usize,
    sinks: Vec<usize>,
}

impl Levels {
    fn new(graph: &Graph) -> Self {
        let inputs = graph.nodes.iter().filter_map(|op| {
            if let Op::Mix(a, b) = op { Some([*a as u32, *b as u32]) } else { None }
        });
        Self {
            values: vec![0; graph.sources + graph.nodes.len()],
            inputs: inputs.collect(),
            sources: graph.sources,
            sinks: graph.sinks.clone(),
        }
    }
}

impl Hand for Levels {
    fn step(&mut self, first: usize, count: usize, value: u64, heard: &[AtomicU64]) {
        write(&mut self.values[..self.sources], first, count, value);
        for (i, [a, b]) in self.inputs.iter().enumerate() {
            self.values[self.sources + i] = mix(self.values[*a as usize], self.values[*b as usize]);
        }
        self.sinks.iter().zip(heard).for_each(|(id, ear)| ear.store(self.values[*id], Relaxed));
    }
}

struct Single {
    value: u64,
}

impl Hand for Single {
    fn step(&mut self, _: usize, _: usize, value: u64, heard: &[AtomicU64]) {
        self.value = value;
        heard[0].store(value, Relaxed);
    }
}

struct Chains {
    sources: Vec<u64>,
    /// The constants and the values of each.
    chains: Vec<Chain>,
}

impl Chains {
    fn new(graph: &Graph) -> Self {
        let mut chains: Vec<Chain> = Vec::new();
        for op in &graph.nodes {
            let Op::Add(input, n) = op else { continue };
            if *input < graph.sources {
                chains.push(Chain { constants: Vec::new(), values: Vec::new() });
            }
            let last = chains.len() - 1;
            chains[last].constants.push(*n);
            chains[last].values.push(0);
        }
        Self { sources: vec![0; graph.sources], chains }
    }
}

impl Hand for Chains {
    fn step(&mut self, first: usize, count: usize, value: u64, heard: &[AtomicU64]) {
        write(&mut self.sources, first, count, value);
        for i in first..first + count {
            let i = if i < self.sources.len() { i } else { i - self.sources.len() };
            heard[i].store(self.chains[i].run(self.sources[i]), Relaxed);
        }
    }
}

/// The chains have been computed and stay; only the choices change.
struct Links {
    selectors: Vec<u64>,
    outputs: Vec<u64>,
    ends: Vec<u64>,
    first: usize,
    choices: usize,
}

impl Links {
    fn new(graph: &Graph) -> Self {
        let mut values = vec![0; graph.sources];
        graph.compute(&mut values);
        let choices = graph.nodes.iter().find_map(|op| match op {
            Op::Switch(_, choices) => Some(Arc::clone(choices)),
            _ => None,
        });
        let outputs = graph.nodes.iter().filter(|op| matches!(op, Op::Switch(..))).count();
        Self {
            selectors: vec![0; outputs],
            outputs: vec![0; outputs],
            ends: graph.sinks[..graph.sources - outputs].iter().map(|&id| values[id]).collect(),
            first: graph.sources - outputs,
            choices: choices.map_or(1, |choices| choices.len()),
        }
    }
}

impl Hand for Links {
    fn step(&mut self, first: usize, count: usize, value: u64, heard: &[AtomicU64]) {
        let (chains, outputs) = heard.split_at(self.first);
        if chains[0].load(Relaxed) == u64::MAX {
            self.ends.iter().zip(chains).for_each(|(v, ear)| ear.store(*v, Relaxed));
        }
        for i in first..first + count {
            let number = i - self.first;
            self.selectors[number] = value.wrapping_add(i as u64);
            let output = self.ends[self.selectors[number] as usize % self.choices];
            self.outputs[number] = output;
            outputs[number].store(output, Relaxed);
        }
    }
}
