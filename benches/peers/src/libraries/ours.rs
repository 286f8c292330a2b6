//! Ours, by path.

use std::sync::Arc;

use hyphae::{
    Cell, CellImmutable, Pipeline, SubscriptionGuard, Values, combine, combine_lazy, combine_vec,
    combine_vec_lazy,
};

use crate::library::{Hear, Library, One, Two};

/// The store is the thread's. `LAZY` if its cells are computed when they are wanted.
pub(crate) struct Ours<const LAZY: bool = false>;

impl<const LAZY: bool> Library for Ours<LAZY> {
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
        let plan = input.map(move |v| f(*v));
        if LAZY { plan.materialize_lazy() } else { plan.materialize() }
    }

    fn map_source(&mut self, input: &Self::Source, f: impl One) -> Self::Node {
        let plan = input.map(move |v| f(*v));
        if LAZY { plan.materialize_lazy() } else { plan.materialize() }
    }

    fn map2(&mut self, a: &Self::Node, b: &Self::Node, f: impl Two) -> Self::Node {
        let f = move |(a, b): (&u64, &u64)| f(*a, *b);
        if LAZY { combine_lazy((a, b), f) } else { combine((a, b), f) }
    }

    fn fold(&mut self, inputs: &[Self::Node], f: impl Two, then: impl One) -> Self::Node {
        let f = move |values: Values<'_, u64>| then(values.fold(0, |sum, v| f(sum, *v)));
        if LAZY { combine_vec_lazy(inputs, f) } else { combine_vec(inputs, f) }
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
