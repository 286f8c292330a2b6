//! What a library must be able to do to be measured. One implementation a library, in `libraries/`.
//!
//! All values are `u64`. A node has run when its closure was called; whether it runs without being asked for is the
//! library's business, but when `set`, `batch` or `settle` returns, each sink must have heard the last value of its node.

use std::sync::Arc;

use crate::shapes::Shape;

/// A closure of one input. `Send` and `Sync` because some libraries ask for it.
pub(crate) trait One: Fn(u64) -> u64 + Send + Sync + 'static {}
impl<F: Fn(u64) -> u64 + Send + Sync + 'static> One for F {}

/// A closure of two inputs.
pub(crate) trait Two: Fn(u64, u64) -> u64 + Send + Sync + 'static {}
impl<F: Fn(u64, u64) -> u64 + Send + Sync + 'static> Two for F {}

/// A callback.
pub(crate) trait Hear: Fn(u64) + Send + Sync + 'static {}
impl<F: Fn(u64) + Send + Sync + 'static> Hear for F {}

/// A library, with all that its nodes live in.
pub(crate) trait Library: Sized + 'static {
    /// What is written to.
    type Source;
    /// What others are derived from.
    type Node: Clone + 'static;
    /// A subscription.
    type Sink;

    /// A world for graphs of at most `depth` nodes in a row.
    fn new(depth: usize) -> Self;

    /// Why this library has no part in `shape`.
    fn lacks(_shape: &Shape) -> Option<&'static str> {
        None
    }

    /// Makes a source.
    fn source(&mut self, value: u64) -> Self::Source;

    /// The source as an input.
    fn node(&self, source: &Self::Source) -> Self::Node;

    /// Makes a node of one input.
    fn map(&mut self, input: &Self::Node, f: impl One) -> Self::Node;

    /// [`map`](Library::map) of a source.
    fn map_source(&mut self, input: &Self::Source, f: impl One) -> Self::Node {
        let node = self.node(input);
        self.map(&node, f)
    }

    /// Makes a node of two inputs.
    fn map2(&mut self, a: &Self::Node, b: &Self::Node, f: impl Two) -> Self::Node;

    /// Makes a node that folds many inputs with `f`, from 0, in order, and has what `then` makes of that.
    fn fold(&mut self, inputs: &[Self::Node], f: impl Two, then: impl One) -> Self::Node;

    /// [`map`](Library::map) that passes on only what differs from its last value.
    fn map_distinct(&mut self, input: &Self::Node, f: impl One) -> Self::Node;

    /// Makes a node that has the value of one of `choices`: the one that `pick` tells of the selector's value, modulo
    /// their count.
    fn switch(
        &mut self,
        selector: &Self::Node,
        choices: &Arc<[Self::Node]>,
        pick: impl One,
    ) -> Self::Node;

    /// Calls `f` with the value of `input` now or when settled, and with each that follows.
    fn sink(&mut self, input: &Self::Node, f: impl Hear) -> Self::Sink;

    /// Ends a subscription.
    fn unsubscribe(&mut self, sink: Self::Sink) {
        drop(sink);
    }

    /// Brings everything up to date after building.
    fn settle(&mut self) {}

    /// One write, settled.
    fn set(&mut self, source: &Self::Source, value: u64);

    /// Many writes, settled as one.
    fn batch<'a>(&mut self, writes: impl Iterator<Item = (&'a Self::Source, u64)>);
}
