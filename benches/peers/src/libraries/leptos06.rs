//! leptos_reactive 0.6: a runtime; a sink is an isomorphic effect, for the others do not run outside of a browser.

use std::sync::Arc;

use leptos_reactive::{
    Effect, Memo, RuntimeId, RwSignal, SignalDispose, SignalGet, SignalSet, batch,
    create_isomorphic_effect, create_memo, create_runtime, create_rw_signal,
};

use crate::library::{Hear, Library, One, Two};

pub(crate) struct Leptos {
    runtime: RuntimeId,
}

impl Drop for Leptos {
    fn drop(&mut self) {
        self.runtime.dispose();
    }
}

/// A signal and a memo are two types that read alike.
#[derive(Clone, Copy)]
pub(crate) enum Node {
    Source(RwSignal<u64>),
    Memo(Memo<u64>),
}

impl Node {
    fn get(self) -> u64 {
        match self {
            Node::Source(source) => source.get(),
            Node::Memo(memo) => memo.get(),
        }
    }
}

impl Library for Leptos {
    type Source = RwSignal<u64>;
    type Node = Node;
    type Sink = Effect<()>;

    fn new(_: usize) -> Self {
        Self { runtime: create_runtime() }
    }

    fn source(&mut self, value: u64) -> Self::Source {
        create_rw_signal(value)
    }

    fn node(&self, source: &Self::Source) -> Self::Node {
        Node::Source(*source)
    }

    fn map(&mut self, input: &Self::Node, f: impl One) -> Self::Node {
        let input = *input;
        Node::Memo(create_memo(move |_| f(input.get())))
    }

    fn map2(&mut self, a: &Self::Node, b: &Self::Node, f: impl Two) -> Self::Node {
        let (a, b) = (*a, *b);
        Node::Memo(create_memo(move |_| f(a.get(), b.get())))
    }

    fn fold(&mut self, inputs: &[Self::Node], f: impl Two, then: impl One) -> Self::Node {
        let inputs = inputs.to_vec();
        Node::Memo(create_memo(move |_| {
            then(inputs.iter().fold(0, |sum, input| f(sum, input.get())))
        }))
    }

    fn map_distinct(&mut self, input: &Self::Node, f: impl One) -> Self::Node {
        // All its memos cut off.
        self.map(input, f)
    }

    fn switch(
        &mut self,
        selector: &Self::Node,
        choices: &Arc<[Self::Node]>,
        pick: impl One,
    ) -> Self::Node {
        let (selector, choices) = (*selector, choices.clone());
        Node::Memo(create_memo(move |_| {
            choices[pick(selector.get()) as usize % choices.len()].get()
        }))
    }

    fn sink(&mut self, input: &Self::Node, f: impl Hear) -> Self::Sink {
        let input = *input;
        create_isomorphic_effect(move |_| f(input.get()))
    }

    fn unsubscribe(&mut self, sink: Self::Sink) {
        sink.dispose();
    }

    fn set(&mut self, source: &Self::Source, value: u64) {
        source.set(value);
    }

    fn batch<'a>(&mut self, writes: impl Iterator<Item = (&'a Self::Source, u64)>) {
        batch(|| writes.for_each(|(source, value)| source.set(value)));
    }
}
