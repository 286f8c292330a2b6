//! Ours, by path.

use std::sync::Arc;

use hyphae::{Cell, CellImmutable, Pipeline, SubscriptionGuard, combine, combine_vec};

use crate::library::{Hear, Library, One, Two};

/// The store is the thread's.
pub(crate) struct Ours;

impl Library for Ours {
    type Source = Cell<u64>;
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
        input.map(move |v| f(*v)).materialize()
    }

    fn map_source(&mut self, input: &Self::Source, f: impl One) -> Self::Node {
        input.map(move |v| f(*v)).materialize()
    }

    fn map2(&mut self, a: &Self::Node, b: &Self::Node, f: impl Two) -> Self::Node {
        combine((a, b), move |(a, b)| f(*a, *b))
    }

    fn fold(&mut self, inputs: &[Self::Node], f: impl Two, then: impl One) -> Self::Node {
        combine_vec(inputs, move |values| then(values.fold(0, |sum, v| f(sum, *v))))
    }

    fn map_distinct(&mut self, input: &Self::Node, f: impl One) -> Self::Node {
        input.map(move |v| f(*v)).deduped().materialize()
    }

    fn switch(
        &mut self,
        selector: &Self::Node,
        choices: &Arc<[Self::Node]>,
        pick: impl One,
    ) -> Self::Node {
        let choices = choices.clone();
        selector.switch_map(move |v| choices[pick(*v) as usize % choices.len()].clone())
    }

    fn sink(&mut self, input: &Self::Node, f: impl Hear) -> Self::Sink {
        input.watch(move |v| f(*v))
    }

    fn set(&mut self, source: &Self::Source, value: u64) {
        source.set(value);
    }

    fn batch<'a>(&mut self, writes: impl Iterator<Item = (&'a Self::Source, u64)>) {
        hyphae::batch(|| writes.for_each(|(source, value)| source.set(value)));
    }
}
