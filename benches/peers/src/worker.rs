//! One library on one shape, in a process of its own: checks the answers, counts runs or takes times, prints a line a
//! figure.
//!
//! The protocol is `name<TAB>number` a line on standard output; a process that ends with another status than 0 has
//! failed, with the reason on its last line of standard error.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use crate::clock::{Budget, time_steps};
use crate::graph::{Built, Graph, take_runs};
use crate::hand;
use crate::library::Library;
use crate::lives;
use crate::shapes::{Kind, STEP, Shape, Size, Steps, Writes};
use crate::store;

/// How the reason starts when a library has no part in a shape.
pub(crate) const CANNOT: &str = "cannot: ";
/// How it starts when a sink has heard a wrong value.
pub(crate) const WRONG: &str = "wrong: ";

/// What to do.
#[derive(Clone, Copy)]
pub(crate) struct Task {
    /// How large.
    pub size: Size,
    /// Check answers and count runs, or take times.
    pub check: bool,
    /// Do so many steps and nothing else: for those who count instructions.
    pub steps: Option<u64>,
    /// For how long.
    pub budget: Budget,
}

/// The figures of a process.
pub(crate) type Figures = Vec<(&'static str, f64)>;

/// The metrics of a checked process of steps.
pub(crate) const NODE_RUNS: &str = "node_runs";
/// How many nodes a graph has.
pub(crate) const NODES: &str = "nodes";
/// The callbacks of a step.
pub(crate) const SINK_RUNS: &str = "sink_runs";

/// Measures a library.
pub(crate) fn measure<L: Library>(shape: &'static Shape, task: Task) -> Result<Figures, String> {
    if let Some(reason) = L::lacks(shape) {
        return Err(format!("{CANNOT}{reason}"));
    }
    match &shape.kind {
        Kind::Steps(steps) if task.check => check::<L>(steps, task),
        Kind::Steps(steps) if task.steps.is_some() => go::<L>(steps, task),
        Kind::Steps(steps) => time::<L>(steps, task),
        Kind::Lives => lives::lives::<L>(task),
        Kind::Churn => lives::churn::<L>(task),
        Kind::Bytes => store::bytes::<L>(task),
        Kind::Store => store::store::<L>(task),
        Kind::Depth => store::depth::<L>(task),
    }
}

/// The sources' values, and what step comes next.
pub(crate) struct Play {
    graph: Graph,
    writes: Writes,
    values: Vec<u64>,
    step: u64,
    /// Where the last step began.
    first: usize,
}

impl Play {
    fn new(steps: &Steps, size: Size) -> Self {
        let graph = (steps.graph)(size);
        let writes = (steps.writes)(&graph);
        let values = vec![0; graph.sources];
        Self { first: writes.from, graph, writes, values, step: 0 }
    }

    /// First source and value of the next step.
    fn next(&mut self) -> (usize, u64) {
        self.step += 1;
        // As `Writes::first` tells, without a division in each step.
        self.first += self.writes.count;
        if self.first >= self.writes.from + self.writes.among {
            self.first -= self.writes.among;
        }
        (self.first, self.step)
    }

    /// Notes what a step has written.
    fn note(&mut self, first: usize, value: u64) {
        for i in first..first + self.writes.count {
            let i = if i < self.graph.sources { i } else { i - self.graph.sources };
            self.values[i] = value.wrapping_add(i as u64);
        }
    }

    /// Notes all steps since `from`, as far as they can be seen now.
    fn catch_up(&mut self, from: u64) {
        let round = self.writes.among.div_ceil(self.writes.count) as u64;
        for step in (from + 1).max((self.step + 1).saturating_sub(round))..=self.step {
            self.note(self.writes.first(step), step);
        }
    }

    fn expect(&mut self) -> (&Graph, &[u64]) {
        self.graph.compute(&mut self.values);
        (&self.graph, &self.values)
    }
}

fn check<L: Library>(steps: &Steps, task: Task) -> Result<Figures, String> {
    let start = Instant::now();
    let some = |n: u64| n == 0 || n < 6 && start.elapsed() < Duration::from_secs(1);
    let mut play = Play::new(steps, task.size);
    let mut built = Built::<L>::new::<true>(&play.graph);
    let check = |built: &Built<L>, play: &mut Play| {
        let (graph, values) = play.expect();
        built.check(graph, values)
    };
    check(&built, &mut play)?;
    // Loud steps pass every cut-off.
    let mut checked = 0;
    while some(checked) {
        checked += 1;
        let (first, value) = play.next();
        let loud = value + ((value % 2) << 32);
        built.write(first, play.writes.count, loud);
        play.note(first, loud);
        check(&built, &mut play)?;
    }
    // From here on as in the steps whose times are taken, the first of which may still pass a cut-off.
    let (first, value) = play.next();
    built.write(first, play.writes.count, value);
    play.note(first, value);
    take_runs();
    checked = 0;
    while some(checked) {
        checked += 1;
        let (first, value) = play.next();
        built.write(first, play.writes.count, value);
        play.note(first, value);
        check(&built, &mut play)?;
    }
    let (nodes, sinks) = take_runs();
    std::mem::forget(built);
    let each = |runs: u64| runs as f64 / checked as f64;
    Ok(vec![(NODE_RUNS, each(nodes)), (SINK_RUNS, each(sinks))])
}

/// Builds the graph and does a number of steps.
fn go<L: Library>(steps: &Steps, task: Task) -> Result<Figures, String> {
    let mut play = Play::new(steps, task.size);
    let mut built = Built::<L>::new::<false>(&play.graph);
    for _ in 0..task.steps.unwrap_or(0) {
        let (first, value) = play.next();
        built.write(first, play.writes.count, value);
    }
    std::mem::forget(built);
    Ok(vec![(NODES, play.graph.nodes.len() as f64)])
}

fn time<L: Library>(steps: &Steps, task: Task) -> Result<Figures, String> {
    let play = Play::new(steps, task.size);
    let units = (steps.units)(&play.graph) as f64;
    let built = Built::<L>::new::<false>(&play.graph);
    let mut state = (built, play, 0);
    let ns = time_steps(
        task.budget,
        &mut state,
        |(built, play, _)| {
            let (first, value) = play.next();
            built.write(first, play.writes.count, value);
        },
        |(built, play, from)| {
            play.catch_up(*from);
            *from = play.step;
            let (graph, values) = play.expect();
            built.check(graph, values)
        },
    )?;
    // The process ends here; taking all down would only cost time.
    std::mem::forget(state);
    Ok(vec![(STEP, ns / units)])
}

fn no_loop() -> String {
    format!("{CANNOT}there is no loop of this shape")
}

/// Measures the loops written by hand.
pub(crate) fn measure_hand(shape: &'static Shape, task: Task) -> Result<Figures, String> {
    let Kind::Steps(steps) = &shape.kind else { return Err(no_loop()) };
    let mut play = Play::new(steps, task.size);
    let Some(mut hand) = hand::written(shape.name, &play.graph) else {
        return Err(no_loop());
    };
    let units = (steps.units)(&play.graph) as f64;
    let heard = crate::graph::ears(play.graph.sinks.len());
    // All are written once, so that all that follows has been computed.
    for _ in 0..play.writes.among.div_ceil(play.writes.count) {
        let (first, value) = play.next();
        hand.step(first, play.writes.count, value, heard);
    }
    let mut state = (play, 0);
    let ns = time_steps(
        task.budget,
        &mut state,
        |(play, _)| {
            let (first, value) = play.next();
            hand.step(first, play.writes.count, value, heard);
        },
        |(play, from)| {
            play.catch_up(*from);
            *from = play.step;
            let (graph, values) = play.expect();
            match graph.sinks.iter().zip(heard).find(|(id, ear)| ear.load(Relaxed) != values[**id])
            {
                Some((id, _)) => Err(format!("{WRONG}the value of cell {id}")),
                None => Ok(()),
            }
        },
    )?;
    Ok(if task.check { Vec::new() } else { vec![(STEP, ns / units)] })
}
