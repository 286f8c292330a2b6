//! The shapes: what is built, what a step writes, and in what unit the figure is told.

use std::sync::Arc;

use crate::graph::{Graph, Id, Op};

/// How large the shapes are made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// As the table tells.
    Full,
    /// Small, so that only the answers mean something.
    Quick,
}

impl Size {
    /// `full`, or `quick`.
    pub(crate) fn pick<T>(self, full: T, quick: T) -> T {
        match self {
            Size::Full => full,
            Size::Quick => quick,
        }
    }
}

/// In what a figure is told. Times are measured in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Nanoseconds.
    Nanos,
    /// Microseconds.
    Micros,
    /// Bytes.
    Bytes,
    /// A count.
    Count,
}

/// A figure that a shape gives.
pub(crate) struct Row {
    /// Its name in the protocol between processes.
    pub metric: &'static str,
    /// What the table calls it.
    pub title: &'static str,
    /// Its unit.
    pub unit: Unit,
}

/// What is done with a graph again and again.
pub(crate) struct Steps {
    /// Makes the graph.
    pub graph: fn(Size) -> Graph,
    /// Sources that a step sets, those before them that it never does, and the number of those it goes round.
    pub writes: fn(&Graph) -> Writes,
    /// By how much a step's time is divided.
    pub units: fn(&Graph) -> usize,
}

/// Which sources a step writes to.
#[derive(Clone, Copy)]
pub(crate) struct Writes {
    /// The first that is ever written to.
    pub from: usize,
    /// How many are written to in turn.
    pub among: usize,
    /// How many in each step.
    pub count: usize,
}

impl Writes {
    /// The first source of a step.
    pub(crate) fn first(self, step: u64) -> usize {
        self.from + (step as usize * self.count) % self.among
    }
}

/// How a shape is measured.
pub(crate) enum Kind {
    /// By steps.
    Steps(Steps),
    /// Cells made and dropped.
    Lives,
    /// Subscribers that come and go.
    Churn,
    /// Memory.
    Bytes,
    /// A small set beside many other cells.
    Store,
    /// A very long chain on a small stack.
    Depth,
}

/// A shape.
pub(crate) struct Shape {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it gives.
    pub rows: &'static [Row],
    /// How.
    pub kind: Kind,
}

/// All of them, in the order of the table.
pub(crate) static ALL: &[Shape] = &[
    steps("chain", &[ns("chain of 1 000, a node")], chain, every, nodes),
    steps("fan", &[ns("1 -> 1 000, each observed, a node")], fan, every, nodes),
    steps("diamond", &[ns("diamond of 100, a node")], diamond, every, nodes),
    steps("triangle", &[ns("triangle of 10, a node")], triangle, every, nodes),
    steps("grid", &[ns("grid 4 x 1 000, a node")], grid, every, nodes),
    steps("mux", &[ns("mux of 100, a node")], mux, one_in_turn, nodes),
    steps("cutoff", &[ns("cut-off before a chain of 100, a set")], cutoff, every, once),
    steps("switch", &[ns("inputs that switch, a set")], switch, every, once),
    steps("batch", &[ns("batch of 1 000 into a tree, a source")], tree, every, sources),
    steps("storm", &[us("storm, 500 observed, a frame")], storm, every, once),
    steps("storm_all", &[us("storm, all leaves observed, a frame")], storm_all, every, once),
    steps("set", &[ns("single set, one subscriber")], single, every, once),
    steps("rship", &[us("rship: 49 000 cells, 153 sets, a frame")], rship, emits, once),
    steps("relink", &[ns("rship: 125 re-links a frame, each")], relink, selectors, links),
    Shape { name: "lives", rows: LIVES, kind: Kind::Lives },
    Shape { name: "churn", rows: CHURN, kind: Kind::Churn },
    Shape { name: "store", rows: STORE, kind: Kind::Store },
    Shape { name: "bytes", rows: BYTES, kind: Kind::Bytes },
    Shape { name: "depth", rows: DEPTH, kind: Kind::Depth },
];

/// The metric of a shape that is measured by steps.
pub(crate) const STEP: &str = "step";

const fn ns(title: &'static str) -> Row {
    Row { metric: STEP, title, unit: Unit::Nanos }
}

const fn us(title: &'static str) -> Row {
    Row { metric: STEP, title, unit: Unit::Micros }
}

const fn row(metric: &'static str, title: &'static str, unit: Unit) -> Row {
    Row { metric, title, unit }
}

const LIVES: &[Row] = &[
    row("create", "create source + map, a cell", Unit::Nanos),
    row("drop", "drop source + map, a cell", Unit::Nanos),
    row("create_observed", "create source + map + subscriber, a cell", Unit::Nanos),
    row("drop_observed", "drop source + map + subscriber, a cell", Unit::Nanos),
    row("create_source", "create a source", Unit::Nanos),
    row("drop_source", "drop a source", Unit::Nanos),
];
const CHURN: &[Row] = &[row("churn", "subscribe + unsubscribe beside 1 000", Unit::Nanos)];
const STORE: &[Row] = &[
    row("few", "set that touches 3 of 10 cells", Unit::Nanos),
    row("many", "set that touches 3 of 1 000 000 cells", Unit::Nanos),
];
const BYTES: &[Row] = &[
    row("source", "bytes: source", Unit::Bytes),
    row("map", "bytes: source + map", Unit::Bytes),
    row("sink", "bytes: source + map + subscriber", Unit::Bytes),
    row("source_calls", "allocations: source", Unit::Count),
    row("map_calls", "allocations: source + map", Unit::Count),
    row("sink_calls", "allocations: source + map + subscriber", Unit::Count),
];
const DEPTH: &[Row] = &[row("depth", "chain of 1 000 000 on 256 KiB, a node", Unit::Nanos)];

const fn steps(
    name: &'static str,
    rows: &'static [Row],
    graph: fn(Size) -> Graph,
    writes: fn(&Graph) -> Writes,
    units: fn(&Graph) -> usize,
) -> Shape {
    Shape { name, rows, kind: Kind::Steps(Steps { graph, writes, units }) }
}

/// The shape of that name.
pub(crate) fn find(name: &str) -> Option<&'static Shape> {
    ALL.iter().find(|shape| shape.name == name)
}

fn every(graph: &Graph) -> Writes {
    Writes { from: 0, among: graph.sources, count: graph.sources }
}

fn one_in_turn(graph: &Graph) -> Writes {
    Writes { from: 0, among: graph.sources, count: 1 }
}

/// 9 200 a second at 60 frames.
fn emits(graph: &Graph) -> Writes {
    Writes { from: 0, among: graph.sources, count: 153 }
}

/// 7 500 a second at 60 frames.
const LINKS: usize = 125;

fn selectors(graph: &Graph) -> Writes {
    Writes { from: graph.sources - LINKS, among: LINKS, count: LINKS }
}

fn once(_: &Graph) -> usize {
    1
}

fn nodes(graph: &Graph) -> usize {
    graph.nodes.len()
}

fn sources(graph: &Graph) -> usize {
    graph.sources
}

fn links(_: &Graph) -> usize {
    LINKS
}

/// Adds a chain of `n` to `last`.
fn extend(graph: &mut Graph, last: Id, n: usize) -> Vec<Id> {
    let mut last = last;
    (1..=n as u64)
        .map(|i| {
            last = graph.add(Op::Add(last, i));
            last
        })
        .collect()
}

fn chain(_: Size) -> Graph {
    chain_of(1000)
}

/// A chain of `n`, its end observed.
pub(crate) fn chain_of(n: usize) -> Graph {
    let mut graph = Graph::new(1);
    let cells = extend(&mut graph, 0, n);
    graph.sinks.push(cells[n - 1]);
    graph.depth = n + 2;
    graph
}

fn fan(_: Size) -> Graph {
    let mut graph = Graph::new(1);
    graph.sinks = (1..=1000).map(|i| graph.add(Op::Add(0, i))).collect();
    graph.depth = 3;
    graph
}

fn diamond(_: Size) -> Graph {
    let mut graph = Graph::new(1);
    let sides = (1..=100).map(|i| graph.add(Op::Add(0, i))).collect();
    let sum = graph.add(Op::Sum(sides));
    graph.sinks.push(sum);
    graph.depth = 5;
    graph
}

fn triangle(_: Size) -> Graph {
    let mut graph = Graph::new(1);
    let cells = extend(&mut graph, 0, 10);
    let sum = graph.add(Op::Sum(cells));
    graph.sinks.push(sum);
    graph.depth = 14;
    graph
}

/// Rows of 4, each cell made of two of the row before.
fn grid(size: Size) -> Graph {
    let rows = size.pick(1000, 8);
    let mut graph = Graph::new(1);
    let mut row: Vec<Id> = (1..=4).map(|i| graph.add(Op::Add(0, i))).collect();
    for _ in 1..rows {
        row = (0..4).map(|i| graph.add(Op::Mix(row[i], row[(i + 1) % 4]))).collect();
    }
    graph.sinks = row;
    // Two cells each where a library has no node of two inputs.
    graph.depth = 2 * rows + 3;
    graph
}

/// 100 sources, one cell of all, 100 of that one.
fn mux(_: Size) -> Graph {
    let mut graph = Graph::new(100);
    let sum = graph.add(Op::Sum((0..100).collect()));
    graph.sinks = (1..=100).map(|i| graph.add(Op::Add(sum, i))).collect();
    graph.depth = 5;
    graph
}

fn cutoff(_: Size) -> Graph {
    let mut graph = Graph::new(1);
    let quiet = graph.add(Op::Upper(0));
    let tail = extend(&mut graph, quiet, 100);
    graph.sinks.push(tail[99]);
    graph.depth = 104;
    graph
}

/// A cell that follows one of two others, which change with the selector, and a cell of it.
fn switch(_: Size) -> Graph {
    let mut graph = Graph::new(1);
    let selector = graph.add(Op::Add(0, 0));
    let sides = [graph.add(Op::Add(0, 2)), graph.add(Op::Add(0, 7))];
    let output = graph.add(Op::Switch(selector, Arc::new(sides)));
    let tail = graph.add(Op::Add(output, 1));
    graph.sinks = vec![output, tail];
    graph.depth = 8;
    graph
}

fn tree(_: Size) -> Graph {
    let mut graph = Graph::new(1000);
    let mut row: Vec<Id> = (0..1000).collect();
    while row.len() > 1 {
        row = row
            .chunks(2)
            .map(|pair| if let [a, b] = *pair { graph.add(Op::Mix(a, b)) } else { pair[0] })
            .collect();
    }
    graph.sinks = row;
    graph.depth = 24;
    graph
}

/// A small generator of pseudo-random numbers, so that all libraries get the same graph.
struct Random(u64);

impl Random {
    fn pick(&mut self, from: &[Id]) -> Id {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        from[(self.0 >> 33) as usize % from.len()]
    }
}

/// 200 sources, 20 000 cells in 6 levels, each of two of the level before.
fn levels(size: Size) -> Graph {
    const LEVELS: usize = 6;
    let cells = size.pick(20_000, 3_000);
    let mut graph = Graph::new(200);
    let mut random = Random(42);
    let mut row: Vec<Id> = (0..200).collect();
    for level in 0..LEVELS {
        let width = cells * (level + 1) / LEVELS - cells * level / LEVELS;
        row =
            (0..width).map(|_| graph.add(Op::Mix(random.pick(&row), random.pick(&row)))).collect();
    }
    graph.sinks = row;
    graph.depth = 2 * LEVELS + 4;
    graph
}

fn storm(size: Size) -> Graph {
    let mut graph = levels(size);
    graph.sinks.truncate(500);
    graph
}

fn storm_all(size: Size) -> Graph {
    levels(size)
}

fn single(_: Size) -> Graph {
    Graph { sources: 1, nodes: Vec::new(), sinks: vec![0], depth: 2 }
}

/// Chains of 8 to 16 cells: each cell has one dependent, each last one a subscriber.
fn rship(size: Size) -> Graph {
    let mut graph = Graph::new(size.pick(4083, 200));
    for source in 0..graph.sources {
        let cells = extend(&mut graph, source, 7 + source % 9);
        graph.sinks.push(cells[cells.len() - 1]);
    }
    graph.depth = 20;
    graph
}

/// The same with cells that follow one of 1 000 of the ends.
fn relink(size: Size) -> Graph {
    let chains = size.pick(4083, 200);
    let mut graph = Graph::new(chains + LINKS);
    for source in 0..chains {
        let cells = extend(&mut graph, source, 7 + source % 9);
        graph.sinks.push(cells[cells.len() - 1]);
    }
    let ends: Arc<[Id]> = graph.sinks.iter().copied().take(1000).collect();
    for selector in chains..graph.sources {
        let output = graph.add(Op::Switch(selector, ends.clone()));
        graph.sinks.push(output);
    }
    graph.depth = 24;
    graph
}
