//! incremental: a sink is an observer with a subscription.

use std::sync::Arc;

use incremental::{Incr, IncrState, Observer, Update, Var};

use crate::library::{Hear, Library, One, Two};

pub(crate) struct Incremental {
    state: IncrState,
}

impl Library for Incremental {
    type Source = Var<u64>;
    type Node = Incr<u64>;
    type Sink = Observer<u64>;

    fn new(depth: usize) -> Self {
        Self { state: IncrState::new_with_height(depth.max(128) + 8) }
    }

    fn source(&mut self, value: u64) -> Self::Source {
        self.state.var(value)
    }

    fn node(&self, source: &Self::Source) -> Self::Node {
        source.watch()
    }

    fn map(&mut self, input: &Self::Node, f: impl One) -> Self::Node {
        input.map(move |v| f(*v))
    }

    fn map_source(&mut self, input: &Self::Source, f: impl One) -> Self::Node {
        input.map(move |v| f(*v))
    }

    fn map2(&mut self, a: &Self::Node, b: &Self::Node, f: impl Two) -> Self::Node {
        a.map2(b, move |a, b| f(*a, *b))
    }

    fn fold(&mut self, inputs: &[Self::Node], f: impl Two, then: impl One) -> Self::Node {
        // `then` belongs to the same node: the last input ends the fold.
        let (mut left, n) = (inputs.len(), inputs.len());
        self.state.fold(inputs.to_vec(), 0, move |sum, v| {
            left -= 1;
            let sum = f(sum, *v);
            if left > 0 {
                return sum;
            }
            left = n;
            then(sum)
        })
    }

    fn map_distinct(&mut self, input: &Self::Node, f: impl One) -> Self::Node {
        // All its nodes cut off.
        self.map(input, f)
    }

    fn switch(
        &mut self,
        selector: &Self::Node,
        choices: &Arc<[Self::Node]>,
        pick: impl One,
    ) -> Self::Node {
        let choices = choices.clone();
        selector.bind(move |v| choices[pick(*v) as usize % choices.len()].clone())
    }

    fn sink(&mut self, input: &Self::Node, f: impl Hear) -> Self::Sink {
        let observer = input.observe();
        observer.subscribe(move |update| {
            if let Update::Initialised(v) | Update::Changed(v) = update {
                f(*v);
            }
        });
        observer
    }

    fn settle(&mut self) {
        self.state.stabilise();
    }

    fn set(&mut self, source: &Self::Source, value: u64) {
        source.set(value);
        self.state.stabilise();
    }

    fn batch<'a>(&mut self, writes: impl Iterator<Item = (&'a Self::Source, u64)>) {
        writes.for_each(|(source, value)| source.set(value));
        self.state.stabilise();
    }
}
