//! What is measured, by name. Which of them a build holds is told by its features.

#[cfg(feature = "others")]
mod floem;
#[cfg(feature = "others")]
mod futures_signals;
#[cfg(feature = "hyphae")]
mod hyphae133;
#[cfg(feature = "hyphae")]
mod hyphae3;
#[cfg(feature = "others")]
mod incremental;
#[cfg(feature = "others")]
mod leptos06;
#[cfg(feature = "ours")]
mod ours;
#[cfg(feature = "others")]
mod reactive_graph;
#[cfg(feature = "others")]
mod sycamore;

mod closures;

use crate::shapes::Shape;
use crate::worker::{Figures, Task, measure, measure_hand};

/// The builds of this program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Build {
    /// The one that was started.
    Main,
    /// With the scheduler of hyphae 1.3.3 and 3.
    Batch,
    /// Ours in cargo's own release profile.
    Plain,
    /// Ours with its counters.
    Trace,
    /// Ours with frames and spans.
    Profiling,
}

impl Build {
    /// Its profile and its features. The one that runs is there.
    pub(crate) fn how(self) -> Option<[&'static str; 2]> {
        match self {
            Build::Main => None,
            Build::Batch => Some(["batch", "batch"]),
            Build::Plain => Some(["plain", "ours"]),
            Build::Trace => Some(["trace", "trace"]),
            Build::Profiling => Some(["profiling", "profiling"]),
        }
    }
}

/// What a column is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// No library can do better.
    Limit,
    /// This one.
    Ours,
    /// Another library.
    Peer,
    /// This one while it observes: of the targets, not of the table.
    Observed,
}

/// A column.
pub(crate) struct Entry {
    /// Its name on the command line.
    pub name: &'static str,
    /// What the table calls it.
    pub title: &'static str,
    /// What it is.
    pub role: Role,
    /// The build that holds it.
    pub build: Build,
    /// What it is called there.
    pub worker: &'static str,
}

impl Entry {
    /// Whether it has a part in a shape.
    pub(crate) fn covers(&self, shape: &Shape) -> bool {
        self.role != Role::Observed || ["chain", "storm"].contains(&shape.name)
    }
}

const fn entry(name: &'static str, title: &'static str, role: Role) -> Entry {
    Entry { name, title, role, build: Build::Main, worker: name }
}

const fn built(
    name: &'static str,
    title: &'static str,
    role: Role,
    build: Build,
    worker: &'static str,
) -> Entry {
    Entry { name, title, role, build, worker }
}

/// All columns, in the order of the table.
pub(crate) static ALL: &[Entry] = &[
    entry("hand", "hand-written loops", Role::Limit),
    entry("closures", "closures in order", Role::Limit),
    entry("ours", "ours", Role::Ours),
    entry("ours_lazy", "ours, lazy", Role::Ours),
    built("ours_plain", "ours, plain release", Role::Ours, Build::Plain, "ours"),
    entry("hyphae133", "hyphae 1.3.3", Role::Peer),
    built("hyphae133_batch", "hyphae 1.3.3 batch", Role::Peer, Build::Batch, "hyphae133"),
    entry("hyphae3", "hyphae 3", Role::Peer),
    built("hyphae3_batch", "hyphae 3 batch", Role::Peer, Build::Batch, "hyphae3"),
    entry("incremental", "incremental", Role::Peer),
    entry("sycamore", "sycamore-reactive", Role::Peer),
    entry("leptos06", "leptos_reactive 0.6", Role::Peer),
    entry("reactive_graph", "reactive_graph", Role::Peer),
    entry("futures_signals", "futures-signals", Role::Peer),
    entry("floem", "floem_reactive", Role::Peer),
    built("ours_trace", "ours, trace", Role::Observed, Build::Trace, "ours"),
    built("ours_timed", "ours, every wave timed", Role::Observed, Build::Trace, "ours_timed"),
    built(
        "ours_sampled",
        "ours, one wave in 16 timed",
        Role::Observed,
        Build::Trace,
        "ours_sampled",
    ),
    built("ours_profiling", "ours, profiling", Role::Observed, Build::Profiling, "ours"),
];

/// Measures the library of that name in this process.
pub(crate) fn run(name: &str, shape: &'static Shape, task: Task) -> Result<Figures, String> {
    match name {
        "hand" => measure_hand(shape, task),
        "closures" => measure::<closures::Closures>(shape, task),
        #[cfg(feature = "ours")]
        "ours" => measure::<ours::Ours<false>>(shape, task),
        #[cfg(feature = "ours")]
        "ours_lazy" => measure::<ours::Ours<true>>(shape, task),
        #[cfg(feature = "trace")]
        "ours_timed" => {
            hyphae::set_timing(hyphae::Timing::EveryWave);
            measure::<ours::Ours<false>>(shape, task)
        }
        #[cfg(feature = "trace")]
        "ours_sampled" => {
            hyphae::set_timing(hyphae::Timing::OneWaveIn(16));
            // Each block has its share of the waves that are timed.
            let budget = crate::clock::Budget { least: 16, ..task.budget };
            measure::<ours::Ours<false>>(shape, Task { budget, ..task })
        }
        #[cfg(feature = "hyphae")]
        "hyphae133" => measure::<hyphae133::Hyphae133>(shape, task),
        #[cfg(feature = "hyphae")]
        "hyphae3" => measure::<hyphae3::Hyphae3>(shape, task),
        #[cfg(feature = "others")]
        "incremental" => measure::<incremental::Incremental>(shape, task),
        #[cfg(feature = "others")]
        "sycamore" => measure::<sycamore::Sycamore>(shape, task),
        #[cfg(feature = "others")]
        "leptos06" => measure::<leptos06::Leptos>(shape, task),
        #[cfg(feature = "others")]
        "reactive_graph" => measure::<reactive_graph::ReactiveGraph>(shape, task),
        #[cfg(feature = "others")]
        "futures_signals" => measure::<futures_signals::FuturesSignals>(shape, task),
        #[cfg(feature = "others")]
        "floem" => measure::<floem::Floem>(shape, task),
        _ => Err(format!("this build has no library named {name}")),
    }
}
