//! The graphs that are measured, each with a way to drive it and the answer it must give.

#[allow(dead_code)] // not all benches have shows
pub(crate) mod show;

use hyphae::{Cell, CellImmutable, Pipeline, SubscriptionGuard, join_vec};

/// A derived cell of numbers.
pub(crate) type Node = Cell<u64, CellImmutable>;

/// A graph ready to be driven.
pub(crate) struct Shape {
    /// The sources that a step sets.
    pub sources: Vec<Cell<u64>>,
    /// The cells whose sum is the answer.
    pub leaves: Vec<Node>,
    /// Cells that run in a step.
    pub nodes: u64,
    guards: Vec<SubscriptionGuard>,
}

impl Shape {
    fn new(sources: Vec<Cell<u64>>, leaves: Vec<Node>, nodes: u64) -> Self {
        Self { sources, leaves, nodes, guards: Vec::new() }
    }

    /// Puts a subscriber on each leaf.
    pub(crate) fn observed(mut self) -> Self {
        self.guards = self
            .leaves
            .iter()
            .map(|leaf| {
                leaf.watch(|v| {
                    std::hint::black_box(v);
                })
            })
            .collect();
        self
    }

    /// Sets all sources to `value` in one batch (one source: by a plain `set`).
    pub(crate) fn step(&self, value: u64) {
        match &self.sources[..] {
            [source] => source.set(value),
            sources => {
                hyphae::batch(|| sources.iter().zip(0..).for_each(|(s, i)| s.set(value + i)));
            }
        }
    }

    /// The sum over the leaves.
    pub(crate) fn answer(&self) -> u64 {
        self.leaves.iter().map(|leaf| leaf.get()).fold(0, u64::wrapping_add)
    }
}

fn plus_one(cell: &Node) -> Node {
    cell.clone().map(|v| v.wrapping_add(1)).materialize()
}

fn sum_of(a: &Node, b: &Node) -> Node {
    a.join(b).map(|(a, b)| a.wrapping_add(*b)).materialize()
}

/// `n` maps, each on the one before. Answer: value + n.
pub(crate) fn chain(n: u64) -> Shape {
    let source = Cell::new(0);
    let last = (0..n).fold(source.clone().lock(), |cell, _| plus_one(&cell));
    Shape::new(vec![source], vec![last], n)
}

/// `n` maps of one source. Answer: n * (value + 1).
pub(crate) fn fan(n: u64) -> Shape {
    let source = Cell::new(0);
    let base = source.clone().lock();
    let leaves = (0..n).map(|_| plus_one(&base)).collect();
    Shape::new(vec![source], leaves, n)
}

/// `n` maps of one source, summed. Answer: n * (value + 1).
pub(crate) fn diamond(n: u64) -> Shape {
    let source = Cell::new(0);
    let base = source.clone().lock();
    let sides: Vec<Node> = (0..n).map(|_| plus_one(&base)).collect();
    let sum = join_vec(sides).map(|v| v.iter().sum()).materialize();
    Shape::new(vec![source], vec![sum], n + 2)
}

/// A chain of `n`, all of whose cells are summed. Answer: n * value + n(n + 1)/2.
pub(crate) fn triangle(n: u64) -> Shape {
    let source = Cell::new(0);
    let mut cells = vec![source.clone().lock()];
    (0..n).for_each(|i| cells.push(plus_one(&cells[i as usize])));
    let sum = join_vec(cells.drain(1..)).map(|v| v.iter().sum()).materialize();
    Shape::new(vec![source], vec![sum], n + 2)
}

/// `layers` of `width` cells, each the sum of two of the layer before. Answer: width * 2^layers * value.
pub(crate) fn grid(width: usize, layers: usize) -> Shape {
    let source = Cell::new(0);
    let mut row: Vec<Node> = vec![source.clone().lock(); width];
    for _ in 0..layers {
        row = (0..width).map(|i| sum_of(&row[i], &row[(i + 1) % width])).collect();
    }
    Shape::new(vec![source], row, 2 * (width * layers) as u64)
}

/// `n` sources summed by a binary tree. Answer: n * value + n(n - 1)/2.
pub(crate) fn tree(n: u64) -> Shape {
    let sources: Vec<Cell<u64>> = (0..n).map(|_| Cell::new(0)).collect();
    let mut row: Vec<Node> = sources.iter().map(|s| s.clone().lock()).collect();
    let mut nodes = 0;
    while row.len() > 1 {
        row = row
            .chunks(2)
            .map(|pair| if let [a, b] = pair { sum_of(a, b) } else { pair[0].clone() })
            .collect();
        nodes += 2 * row.len() as u64;
    }
    Shape::new(sources, row, nodes)
}

/// The frame of a show: 200 sources, 20 000 cells in 6 levels with two inputs each, 500 observed.
pub(crate) fn storm() -> Shape {
    const SOURCES: u64 = 200;
    const LEVELS: usize = 6;
    const CELLS: usize = 20_000;
    let sources: Vec<Cell<u64>> = (0..SOURCES).map(|_| Cell::new(0)).collect();
    let mut random = Random(42);
    let mut row: Vec<Node> = sources.iter().map(|s| s.clone().lock()).collect();
    for _ in 0..LEVELS {
        row = (0..CELLS / LEVELS).map(|_| sum_of(random.pick(&row), random.pick(&row))).collect();
    }
    row.truncate(500);
    Shape::new(sources, row, 2 * CELLS as u64)
}

/// A small generator of pseudo-random numbers, so that runs can be compared.
pub(crate) struct Random(pub u64);

impl Random {
    /// The next number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// What [`storm`] answers when its sources are set to `value`, `value + 1`, ...: computed without cells.
pub(crate) fn storm_answer(value: u64) -> u64 {
    let mut random = Random(42);
    let mut row: Vec<u64> = (value..value + 200).collect();
    for _ in 0..6 {
        row = (0..20_000 / 6).map(|_| random.pick(&row).wrapping_add(*random.pick(&row))).collect();
    }
    row.truncate(500);
    row.into_iter().fold(0, u64::wrapping_add)
}

/// The limit: boxed closures, each adding one to what the one before gave, called in order.
pub(crate) struct Limit {
    closures: Vec<Box<dyn FnMut(u64) -> u64>>,
    value: u64,
    steps: u64,
}

impl Limit {
    /// `nodes` closures.
    pub(crate) fn new(nodes: u64) -> Self {
        let closure = |n: u64| -> Box<dyn FnMut(u64) -> u64> {
            // Like a cell, each keeps the value that it gave last.
            let mut last = n;
            Box::new(move |v| {
                last = std::hint::black_box(v).max(last & 1);
                last + 1
            })
        };
        Self { closures: (0..nodes).map(closure).collect(), value: 0, steps: 0 }
    }

    /// Calls all of them.
    pub(crate) fn step(&mut self) {
        self.steps += 1;
        self.value = self.closures.iter_mut().fold(self.steps, |v, f| f(v));
    }

    /// Whether the last step gave what it must.
    pub(crate) fn is_right(&self) -> bool {
        self.value == self.steps + self.closures.len() as u64
    }
}

/// A switch between two cells that stay; the answer after an odd step is 1007.
pub(crate) fn switch_cached() -> Shape {
    let source = Cell::new(0_u64);
    let (even, odd) = (Cell::new(1000_u64), Cell::new(1007_u64));
    let chosen =
        source.switch_map(move |v| if v.is_multiple_of(2) { even.clone() } else { odd.clone() });
    Shape::new(vec![source], vec![chosen], 2).observed()
}

/// A switch to a new map of a cell each time.
pub(crate) fn switch_fresh() -> Shape {
    let (source, base) = (Cell::new(0_u64), Cell::new(1000_u64));
    let chosen = source.switch_map(move |&v| (&base).map(move |base| base + v).materialize());
    Shape::new(vec![source], vec![chosen], 3).observed()
}

/// A computed cell that reads one of two cells.
pub(crate) fn computed_branch() -> Shape {
    let source = Cell::new(0_u64);
    let (even, odd) = (Cell::new(1000_u64), Cell::new(1000_u64));
    let chosen = Cell::computed({
        let source = source.clone();
        move || {
            let v = source.get();
            v + if v.is_multiple_of(2) { even.get() } else { odd.get() }
        }
    });
    Shape::new(vec![source], vec![chosen], 1).observed()
}

/// What a switch costs without a store.
pub(crate) struct SwitchLimit {
    value: u64,
    choices: [Box<dyn Fn(u64) -> u64>; 2],
}

impl SwitchLimit {
    pub(crate) fn new() -> Self {
        Self { value: 0, choices: [Box::new(|v| v + 1000), Box::new(|v| v + 2000)] }
    }

    pub(crate) fn step(&mut self) -> u64 {
        self.value += 1;
        let choice = &self.choices[(self.value % 2) as usize];
        std::hint::black_box(choice(std::hint::black_box(self.value)))
    }
}

/// Switches that go over a row of cells which exist already; a step sends each to another one.
pub(crate) fn relinks(switches: u64, cells: u64) -> Shape {
    let base = Cell::new(0_u64);
    let row: std::rc::Rc<Vec<Node>> =
        std::rc::Rc::new((0..cells).map(|i| (&base).map(move |b| b + i).materialize()).collect());
    let sources: Vec<_> = (0..switches).map(|_| Cell::new(0_u64)).collect();
    let leaves = sources
        .iter()
        .map(|source| {
            let row = row.clone();
            source.switch_map(move |&v| row[(v * 7 % cells) as usize].clone())
        })
        .collect();
    Shape::new(sources, leaves, switches).observed()
}

/// The answer of [`relinks`] after a step to `value`.
pub(crate) fn relinks_answer(value: u64, switches: u64, cells: u64) -> u64 {
    (0..switches).map(|i| (value + i) * 7 % cells).sum()
}
