//! Cells and subscribers that come and go.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use crate::clock::{Budget, median, time, time_steps};
use crate::graph::ears;
use crate::library::Library;
use crate::worker::{Figures, Task, WRONG};

/// What is made of each source.
#[derive(Clone, Copy, PartialEq, Eq)]
enum With {
    Nothing,
    Map,
    MapAndSink,
}

/// Makes many cells and drops them, with nothing else in the world.
pub(crate) fn lives<L: Library>(task: Task) -> Result<Figures, String> {
    let n = task.size.pick(10_000, 500);
    let budget = task.budget.part(3);
    let [create, drop] = life::<L>(With::Map, n, budget)?;
    let [create_observed, drop_observed] = life::<L>(With::MapAndSink, n, budget)?;
    let [create_source, drop_source] = life::<L>(With::Nothing, n, budget)?;
    Ok(vec![
        ("create", create),
        ("drop", drop),
        ("create_observed", create_observed),
        ("drop_observed", drop_observed),
        ("create_source", create_source),
        ("drop_source", drop_source),
    ])
}

/// Nanoseconds a cell, of making and of dropping. The first round warms the allocator and does not count.
fn life<L: Library>(with: With, n: usize, budget: Budget) -> Result<[f64; 2], String> {
    let cells = if with == With::Nothing { n } else { 2 * n } as f64;
    let heard = ears(n);
    let (mut made, mut dropped) = (Vec::new(), Vec::new());
    let start = Instant::now();
    for round in 0.. {
        heard.iter().for_each(|ear| ear.store(u64::MAX, Relaxed));
        let (world, create) = time_of_making::<L>(with, heard);
        let wrong = with == With::MapAndSink
            && heard.iter().zip(1..).any(|(ear, i)| ear.load(Relaxed) != i);
        if wrong {
            return Err(format!("{WRONG}a subscriber has not heard the value of its map"));
        }
        let ((), drop) = time(|| world.drop());
        if round > 0 {
            made.push(create / cells);
            dropped.push(drop / cells);
        }
        if round > 2 && start.elapsed() > budget.whole {
            break;
        }
    }
    Ok([median(made), median(dropped)])
}

struct World<L: Library> {
    library: L,
    sources: Vec<L::Source>,
    maps: Vec<L::Node>,
    sinks: Vec<L::Sink>,
}

impl<L: Library> World<L> {
    /// In the order in which a program would: what listens first.
    fn drop(self) {
        drop(self.sinks);
        drop(self.maps);
        drop(self.sources);
        drop(self.library);
    }
}

fn time_of_making<L: Library>(with: With, heard: &'static [AtomicU64]) -> (World<L>, f64) {
    let n = heard.len();
    let mut world = World {
        library: L::new(4),
        sources: Vec::with_capacity(n),
        maps: Vec::with_capacity(n),
        sinks: Vec::with_capacity(n),
    };
    let ((), took) = time(|| {
        for (i, ear) in heard.iter().enumerate() {
            let source = world.library.source(i as u64);
            if with != With::Nothing {
                let map = world.library.map_source(&source, |v| v + 1);
                if with == With::MapAndSink {
                    world.sinks.push(world.library.sink(&map, |v| ear.store(v, Relaxed)));
                }
                world.maps.push(map);
            }
            world.sources.push(source);
        }
        world.library.settle();
    });
    (world, took)
}

/// One subscriber less and one more, beside many others.
pub(crate) fn churn<L: Library>(task: Task) -> Result<Figures, String> {
    let others = task.size.pick(1000, 50);
    let mut library = L::new(4);
    let source = library.source(0);
    let node = library.node(&source);
    let heard = ears(others);
    let hear = |ear: &'static AtomicU64| move |v| ear.store(v, Relaxed);
    let sinks = heard.iter().map(|ear| Some(library.sink(&node, hear(ear)))).collect::<Vec<_>>();
    library.settle();
    let mut state = (library, sinks, 0_usize, 1);
    let ns = time_steps(
        task.budget,
        &mut state,
        |(library, sinks, oldest, _)| {
            if let Some(sink) = sinks[*oldest].take() {
                library.unsubscribe(sink);
            }
            sinks[*oldest] = Some(library.sink(&node, hear(&heard[*oldest])));
            library.settle();
            *oldest = (*oldest + 1) % others;
        },
        |(library, _, _, value)| {
            *value += 1;
            library.set(&source, *value);
            match heard.iter().all(|ear| ear.load(Relaxed) == *value) {
                true => Ok(()),
                false => Err(format!("{WRONG}a subscriber has not heard the last value")),
            }
        },
    )?;
    std::mem::forget((state, source));
    Ok(vec![("churn", ns)])
}
