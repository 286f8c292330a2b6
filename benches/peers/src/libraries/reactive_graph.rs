//! reactive_graph: a sink is an effect, which is a task of a pool on this thread; the pool is run after each write.

use std::sync::Arc;

use any_spawner::Executor;
use reactive_graph::computed::Memo;
use reactive_graph::effect::Effect;
use reactive_graph::owner::{LocalStorage, Owner};
use reactive_graph::signal::RwSignal;
use reactive_graph::traits::{Dispose, Get, Set};

use crate::library::{Hear, Library, One, Two};

pub(crate) struct ReactiveGraph {
    owner: Owner,
}

impl Drop for ReactiveGraph {
    fn drop(&mut self) {
        self.owner.cleanup();
        // The effects' tasks end.
        Executor::poll_local();
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

impl Library for ReactiveGraph {
    type Source = RwSignal<u64>;
    type Node = Node;
    type Sink = Effect<LocalStorage>;

    fn new(_: usize) -> Self {
        // Fails when it is there already.
        let _ = Executor::init_futures_executor();
        let owner = Owner::new();
        owner.set();
        Self { owner }
    }

    fn source(&mut self, value: u64) -> Self::Source {
        RwSignal::new(value)
    }

    fn node(&self, source: &Self::Source) -> Self::Node {
        Node::Source(*source)
    }

    fn map(&mut self, input: &Self::Node, f: impl One) -> Self::Node {
        let input = *input;
        Node::Memo(Memo::new(move |_| f(input.get())))
    }

    fn map2(&mut self, a: &Self::Node, b: &Self::Node, f: impl Two) -> Self::Node {
        let (a, b) = (*a, *b);
        Node::Memo(Memo::new(move |_| f(a.get(), b.get())))
    }

    fn fold(&mut self, inputs: &[Self::Node], f: impl Two, then: impl One) -> Self::Node {
        let inputs = inputs.to_vec();
        Node::Memo(Memo::new(move |_| {
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
        Node::Memo(Memo::new(move |_| choices[pick(selector.get()) as usize % choices.len()].get()))
    }

    fn sink(&mut self, input: &Self::Node, f: impl Hear) -> Self::Sink {
        let input = *input;
        Effect::new(move |_: Option<()>| f(input.get()))
    }

    fn unsubscribe(&mut self, sink: Self::Sink) {
        sink.dispose();
    }

    fn settle(&mut self) {
        Executor::poll_local();
    }

    fn set(&mut self, source: &Self::Source, value: u64) {
        source.set(value);
        Executor::poll_local();
    }

    fn batch<'a>(&mut self, writes: impl Iterator<Item = (&'a Self::Source, u64)>) {
        writes.for_each(|(source, value)| source.set(value));
        Executor::poll_local();
    }
}
