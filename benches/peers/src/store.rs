//! Many cells: what they take, whether they slow down a small set, and how long a chain may be.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::clock::{Budget, time, time_steps};
use crate::graph::{Built, ears};
use crate::heap;
use crate::library::Library;
use crate::shapes::chain_of;
use crate::worker::{Figures, Task, WRONG};

/// Requested bytes and allocations of each of many: a source, with a map, with a subscriber on the map. The handles that
/// the program keeps lie in vectors made before and are not counted.
pub(crate) fn bytes<L: Library>(task: Task) -> Result<Figures, String> {
    let n = task.size.pick(1_000_000, 10_000);
    let heard = ears(n);
    let mut library = L::new(4);
    let mut sources = Vec::with_capacity(n);
    let mut maps = Vec::with_capacity(n);
    let mut sinks = Vec::with_capacity(n);
    heap::start();
    (0..n as u64).for_each(|i| sources.push(library.source(i)));
    library.settle();
    let with_source = heap::held();
    sources.iter().for_each(|source| maps.push(library.map_source(source, |v| v + 1)));
    library.settle();
    let with_map = heap::held();
    for (map, ear) in maps.iter().zip(heard) {
        sinks.push(library.sink(map, |v| ear.store(v, Relaxed)));
    }
    library.settle();
    let with_sink = heap::held();
    if heard.iter().zip(1..).any(|(ear, i)| ear.load(Relaxed) != i) {
        return Err(format!("{WRONG}a subscriber has not heard the value of its map"));
    }
    std::mem::forget((library, sources, maps, sinks));
    let each = |count: u64| count as f64 / n as f64;
    Ok(vec![
        ("source", each(with_source.bytes)),
        ("map", each(with_map.bytes)),
        ("sink", each(with_sink.bytes)),
        ("source_calls", each(with_source.calls)),
        ("map_calls", each(with_map.calls)),
        ("sink_calls", each(with_sink.calls)),
    ])
}

/// A set that reaches three cells, first with little else in the world, then with very much.
pub(crate) fn store<L: Library>(task: Task) -> Result<Figures, String> {
    let budget = task.budget.part(2);
    let few = filled::<L>(10, budget)?;
    let many = filled::<L>(task.size.pick(1_000_000, 10_000), budget)?;
    Ok(vec![("few", few), ("many", many)])
}

/// The set in a world of `cells`, which the other cells fill in pairs, each observed.
fn filled<L: Library>(cells: usize, budget: Budget) -> Result<f64, String> {
    let heard = ears(cells / 2);
    let mut library = L::new(5);
    let mut keep = Vec::with_capacity(heard.len());
    let pair = |library: &mut L, ear: &'static AtomicU64| {
        let source = library.source(0);
        let map = library.map_source(&source, |v| v + 1);
        let sink = library.sink(&map, |v| ear.store(v, Relaxed));
        (source, map, sink)
    };
    // The three cells lie in the middle of the others.
    let others = heard.len() - 2;
    (0..others / 2).for_each(|i| keep.push(pair(&mut library, &heard[i])));
    let source = library.source(0);
    let first = library.map_source(&source, |v| v + 1);
    let second = library.map(&first, |v| v + 1);
    let last = &heard[heard.len() - 1];
    let sink = library.sink(&second, |v| last.store(v, Relaxed));
    (others / 2..others).for_each(|i| keep.push(pair(&mut library, &heard[i])));
    library.settle();
    let mut state = (library, 0);
    let ns = time_steps(
        budget,
        &mut state,
        |(library, value)| {
            *value += 1;
            library.set(&source, *value);
        },
        |(_, value)| match last.load(Relaxed) == *value + 2 {
            true => Ok(()),
            false => Err(format!("{WRONG}the subscriber has not heard the last value")),
        },
    )?;
    std::mem::forget((state, keep, source, first, second, sink));
    Ok(ns)
}

/// Builds a chain, sets it and drops it, all on a small stack.
pub(crate) fn depth<L: Library>(task: Task) -> Result<Figures, String> {
    let nodes = task.size.pick(1_000_000, 50_000);
    let run = move || {
        let graph = chain_of(nodes);
        let mut values = vec![0];
        let mut built = Built::<L>::new::<false>(&graph);
        let mut took = f64::MAX;
        for value in 1..4 {
            took = took.min(time(|| built.write(0, 1, value)).1);
            values[0] = value;
            graph.compute(&mut values);
            built.check(&graph, &values)?;
        }
        drop(built);
        Ok(took / nodes as f64)
    };
    let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(run);
    let joined = thread.map_err(|e| e.to_string())?.join();
    let ns = joined.unwrap_or_else(|_| Err("panicked".to_owned()))?;
    Ok(vec![("depth", ns)])
}
