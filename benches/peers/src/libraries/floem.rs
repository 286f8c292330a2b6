//! floem_reactive: all lives in a scope; a sink is an effect in a scope of its own, so that it can be ended.

use std::sync::Arc;

use floem_reactive::{
    Memo, RwSignal, Scope, SignalGet, SignalUpdate, batch, create_memo, create_rw_signal,
    with_scope,
};

use crate::library::{Hear, Library, One, Two};

pub(crate) struct Floem {
    scope: Scope,
}

impl Drop for Floem {
    fn drop(&mut self) {
        self.scope.dispose();
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

impl Floem {
    fn memo(&self, f: impl Fn() -> u64 + 'static) -> Node {
        Node::Memo(with_scope(self.scope, || create_memo(move |_| f())))
    }
}

impl Library for Floem {
    type Source = RwSignal<u64>;
    type Node = Node;
    type Sink = Scope;

    fn new(_: usize) -> Self {
        Self { scope: Scope::new() }
    }

    fn source(&mut self, value: u64) -> Self::Source {
        with_scope(self.scope, || create_rw_signal(value))
    }

    fn node(&self, source: &Self::Source) -> Self::Node {
        Node::Source(*source)
    }

    fn map(&mut self, input: &Self::Node, f: impl One) -> Self::Node {
        let input = *input;
        self.memo(move || f(input.get()))
    }

    fn map2(&mut self, a: &Self::Node, b: &Self::Node, f: impl Two) -> Self::Node {
        let (a, b) = (*a, *b);
        self.memo(move || f(a.get(), b.get()))
    }

    fn fold(&mut self, inputs: &[Self::Node], f: impl Two, then: impl One) -> Self::Node {
        let inputs = inputs.to_vec();
        self.memo(move || then(inputs.iter().fold(0, |sum, input| f(sum, input.get()))))
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
        self.memo(move || choices[pick(selector.get()) as usize % choices.len()].get())
    }

    fn sink(&mut self, input: &Self::Node, f: impl Hear) -> Self::Sink {
        let input = *input;
        let scope = self.scope.create_child();
        scope.create_effect(move |_| f(input.get()));
        scope
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
