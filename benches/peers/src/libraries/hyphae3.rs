//! hyphae 3: eager, or with its scheduler and each write inside `batch`.

use std::sync::Arc;

use hyphae3::{
    Cell, CellImmutable, DedupedExt, JoinExt, MapExt, Materialize, Mutable, Signal,
    SubscriptionGuard, SwitchMapExt, Watchable, join_vec,
};

use crate::library::{Hear, Library, One, Two};

pub(crate) struct Hyphae3;

impl Library for Hyphae3 {
    type Source = Cell<u64, hyphae3::CellMutable>;
    type Node = Cell<u64, CellImmutable>;
    type Sink = SubscriptionGuard;

    fn new(_: usize) -> Self {
        Self
    }

    fn source(&mut self, value: u64) -> Self::Source {
        Cell::new(value)
    }

    fn node(&self, source: &Self::Source) -> Self::Node {
        source.clone().lock()
    }

    fn map(&mut self, input: &Self::Node, f: impl One) -> Self::Node {
        input.clone().map(move |v| f(*v)).materialize()
    }

    fn map_source(&mut self, input: &Self::Source, f: impl One) -> Self::Node {
        input.clone().map(move |v| f(*v)).materialize()
    }

    fn map2(&mut self, a: &Self::Node, b: &Self::Node, f: impl Two) -> Self::Node {
        a.clone().join(b.clone()).map(move |(a, b)| f(*a, *b)).materialize()
    }

    fn fold(&mut self, inputs: &[Self::Node], f: impl Two, then: impl One) -> Self::Node {
        join_vec(inputs.to_vec())
            .map(move |values| then(values.iter().fold(0, |sum, v| f(sum, *v))))
            .materialize()
    }

    fn map_distinct(&mut self, input: &Self::Node, f: impl One) -> Self::Node {
        input.clone().map(move |v| f(*v)).deduped().materialize()
    }

    fn switch(
        &mut self,
        selector: &Self::Node,
        choices: &Arc<[Self::Node]>,
        pick: impl One,
    ) -> Self::Node {
        let choices = choices.clone();
        selector
            .clone()
            .switch_map(move |v| choices[pick(*v) as usize % choices.len()].clone())
            .materialize()
    }

    fn sink(&mut self, input: &Self::Node, f: impl Hear) -> Self::Sink {
        input.subscribe(move |signal| {
            if let Signal::Value(v) = signal {
                f(**v);
            }
        })
    }

    #[cfg(not(feature = "batch"))]
    fn set(&mut self, source: &Self::Source, value: u64) {
        source.set(value);
    }

    #[cfg(feature = "batch")]
    fn set(&mut self, source: &Self::Source, value: u64) {
        hyphae3::batch(|| source.set(value));
    }

    #[cfg(not(feature = "batch"))]
    fn batch<'a>(&mut self, writes: impl Iterator<Item = (&'a Self::Source, u64)>) {
        writes.for_each(|(source, value)| source.set(value));
    }

    #[cfg(feature = "batch")]
    fn batch<'a>(&mut self, writes: impl Iterator<Item = (&'a Self::Source, u64)>) {
        hyphae3::batch(|| writes.for_each(|(source, value)| source.set(value)));
    }
}
