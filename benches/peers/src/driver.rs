//! Runs a process for each library and shape: first all answers are checked and runs counted, then times are taken in
//! rounds, all libraries within each round, so that what disturbs the machine disturbs all alike.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use crate::builds::Builds;
use crate::libraries::{Entry, Role};
use crate::options::Choice;
use crate::process::{Order, Outcome, run};
use crate::shapes::{Kind, Shape, Size};
use crate::worker::{CANNOT, WRONG};

/// All that was measured.
#[derive(Default)]
pub(crate) struct Results {
    /// The least of each metric, by library, shape and metric.
    figures: HashMap<(&'static str, &'static str, String), f64>,
    /// Why a library has no figures for a shape.
    pub failures: Vec<(&'static Entry, &'static Shape, String)>,
}

impl Results {
    /// The figure of a metric.
    pub(crate) fn figure(&self, library: &str, shape: &str, metric: &str) -> Option<f64> {
        self.figures
            .iter()
            .find(|((l, s, m), _)| *l == library && *s == shape && m == metric)
            .map(|(_, figure)| *figure)
    }

    /// Why there is none.
    pub(crate) fn failure(&self, library: &str, shape: &str) -> Option<&str> {
        let mut failures = self.failures.iter();
        failures.find(|(l, s, _)| l.name == library && s.name == shape).map(|(.., why)| &why[..])
    }

    /// What is wrong: a wrong answer of any library, and any failure of ours.
    pub(crate) fn faults(&self) -> Vec<String> {
        let is_fault = |library: &Entry, reason: &str| {
            let own = library.role != Role::Peer;
            reason.starts_with(WRONG) || own && !reason.starts_with(CANNOT)
        };
        let mut faults: Vec<_> = self.failures.iter().collect();
        faults.retain(|(library, _, reason)| is_fault(library, reason));
        let tell = |(library, shape, reason): &&(&Entry, &Shape, String)| {
            format!("{}, {}: {reason}", library.name, shape.name)
        };
        faults.iter().map(tell).collect()
    }

    /// Notes what a process has given.
    pub(crate) fn add(&mut self, library: &'static Entry, shape: &'static Shape, outcome: Outcome) {
        match outcome {
            Ok(figures) => {
                for (metric, figure) in figures {
                    let least =
                        self.figures.entry((library.name, shape.name, metric)).or_insert(f64::MAX);
                    *least = least.min(figure);
                }
            }
            Err(reason) => self.failures.push((library, shape, reason)),
        }
    }
}

type Pair = (&'static Shape, &'static Entry);

/// Measures all that was chosen.
pub(crate) fn drive(choice: &Choice) -> Result<(Results, Builds), String> {
    let builds = Builds::make(&choice.libraries)?;
    let order = |(shape, library): Pair, check, millis| Order {
        program: builds.of(library),
        library: library.worker,
        shape,
        size: choice.size,
        check,
        millis,
        patience: patience(shape, choice.size),
    };
    let pairs: Vec<Pair> = choice
        .shapes
        .iter()
        .flat_map(|&shape| choice.libraries.iter().map(move |&library| (shape, library)))
        .filter(|(shape, library)| library.covers(shape))
        .collect();
    let quick = choice.size == Size::Quick;
    let first: Vec<Pair> =
        pairs.iter().copied().filter(|(shape, _)| quick || is_counted(shape)).collect();
    eprintln!("checking {} answers", first.len());
    let mut results = side_by_side(&first, |pair| run(order(pair, true, 1)));
    let rounds = if quick { 1 } else { choice.processes };
    let millis = if quick { 1 } else { choice.millis };
    let mut slow = Vec::new();
    for round in 0..rounds {
        eprintln!("round {} of {rounds}", round + 1);
        for &shape in choice.shapes.iter().filter(|shape| is_timed(shape, quick)) {
            for i in 0..choice.libraries.len() {
                let library = choice.libraries[(i + round) % choice.libraries.len()];
                let pair = (library.name, shape.name);
                let failed = results.failure(pair.0, pair.1).is_some();
                if failed || slow.contains(&pair) || !library.covers(shape) {
                    continue;
                }
                let start = Instant::now();
                results.add(library, shape, run(order((shape, library), false, millis)));
                if start.elapsed() > SLOW && library.role == Role::Peer {
                    slow.push(pair);
                }
            }
        }
    }
    Ok((results, builds))
}

/// Another library whose process takes longer has no part in the next rounds: it is far from the fastest, and the whole
/// should end.
const SLOW: Duration = Duration::from_millis(1500);

/// After what time a process is taken to never end.
fn patience(shape: &Shape, size: Size) -> Duration {
    let takes_memory = matches!(shape.kind, Kind::Bytes | Kind::Store);
    Duration::from_secs(size.pick(if takes_memory { 60 } else { 8 }, 4))
}

/// Whether a first process finds out something that needs no clock.
fn is_counted(shape: &Shape) -> bool {
    matches!(shape.kind, Kind::Steps(_) | Kind::Bytes | Kind::Depth)
}

/// Whether times are taken, in rounds. (A quick run has done all but the steps in its first processes.)
fn is_timed(shape: &Shape, quick: bool) -> bool {
    match shape.kind {
        Kind::Steps(_) => true,
        Kind::Bytes | Kind::Depth => false,
        _ => !quick,
    }
}

/// Does `work` on all, as many at a time as there are processors.
fn side_by_side(pairs: &[Pair], work: impl Fn(Pair) -> Outcome + Sync) -> Results {
    let results = Mutex::new(Results::default());
    let next = AtomicUsize::new(0);
    let threads = thread::available_parallelism().map_or(1, |n| n.get());
    thread::scope(|scope| {
        for _ in 0..threads.min(pairs.len()) {
            scope.spawn(|| {
                while let Some(&pair) = pairs.get(next.fetch_add(1, Relaxed)) {
                    let outcome = work(pair);
                    if let Ok(mut results) = results.lock() {
                        results.add(pair.1, pair.0, outcome);
                    }
                }
            });
        }
    });
    results.into_inner().unwrap_or_default()
}
