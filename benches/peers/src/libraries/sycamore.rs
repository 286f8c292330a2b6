//! sycamore-reactive: all lives in a root; a sink is an effect in a scope of its own, so that it can be ended.

use std::sync::Arc;

use sycamore_reactive::{
    NodeHandle, ReadSignal, RootHandle, Signal, batch, create_child_scope, create_effect,
    create_memo, create_root, create_selector, create_signal,
};

use crate::library::{Hear, Library, One, Two};

pub(crate) struct Sycamore {
    root: RootHandle,
}

impl Drop for Sycamore {
    fn drop(&mut self) {
        self.root.dispose();
    }
}

impl Library for Sycamore {
    type Source = Signal<u64>;
    type Node = ReadSignal<u64>;
    type Sink = NodeHandle;

    fn new(_: usize) -> Self {
        Self { root: create_root(|| ()) }
    }

    fn source(&mut self, value: u64) -> Self::Source {
        self.root.run_in(|| create_signal(value))
    }

    fn node(&self, source: &Self::Source) -> Self::Node {
        **source
    }

    fn map(&mut self, input: &Self::Node, f: impl One) -> Self::Node {
        let input = *input;
        self.root.run_in(|| create_memo(move || f(input.get())))
    }

    fn map2(&mut self, a: &Self::Node, b: &Self::Node, f: impl Two) -> Self::Node {
        let (a, b) = (*a, *b);
        self.root.run_in(|| create_memo(move || f(a.get(), b.get())))
    }

    fn fold(&mut self, inputs: &[Self::Node], f: impl Two, then: impl One) -> Self::Node {
        let inputs = inputs.to_vec();
        self.root.run_in(|| {
            create_memo(move || then(inputs.iter().fold(0, |sum, input| f(sum, input.get()))))
        })
    }

    fn map_distinct(&mut self, input: &Self::Node, f: impl One) -> Self::Node {
        let input = *input;
        self.root.run_in(|| create_selector(move || f(input.get())))
    }

    fn switch(
        &mut self,
        selector: &Self::Node,
        choices: &Arc<[Self::Node]>,
        pick: impl One,
    ) -> Self::Node {
        let (selector, choices) = (*selector, choices.clone());
        self.root.run_in(|| {
            create_memo(move || choices[pick(selector.get()) as usize % choices.len()].get())
        })
    }

    fn sink(&mut self, input: &Self::Node, f: impl Hear) -> Self::Sink {
        let input = *input;
        self.root.run_in(|| create_child_scope(|| create_effect(move || f(input.get()))))
    }

    fn unsubscribe(&mut self, sink: Self::Sink) {
        sink.dispose();
    }

    fn set(&mut self, source: &Self::Source, value: u64) {
        source.set(value);
    }

    fn batch<'a>(&mut self, writes: impl Iterator<Item = (&'a Self::Source, u64)>) {
        let write = || writes.for_each(|(source, value)| source.set(value));
        self.root.run_in(|| batch(write));
    }
}
