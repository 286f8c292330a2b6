//! Kernels: what a derived cell is to the store, and what its turns tell.
//!
//! An operator implements [`Kernel`]; the store visits its inputs and gives it turns. It knows no memory: where a kernel lives
//! and when it runs is `node`'s.
//!
//! Costs: none but what an operator does; a turn is generic over the operator, so that its closures are inlined.

use super::flag;
use super::node::{Input, NodeRef};
use crate::error::CellError;
use crate::graph::EdgeKind;

/// How a cell ended.
#[derive(Clone, Debug)]
pub(crate) enum End {
    Complete,
    Error(CellError),
}

/// Whether a turn was the last one, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Over {
    No,
    /// A stage closed: the cell completes.
    Closed,
    /// The inputs ended; how, [`Kernel::end`] tells.
    Upstream,
}

impl Over {
    #[inline]
    pub(crate) fn upstream_if(ended: bool) -> Self {
        if ended { Self::Upstream } else { Self::No }
    }
}

/// Which changes of the inputs are news to the turn under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(super) since: u32,
    /// Whether an input may have ended. As a constant, it takes all that is done about ends out of a turn.
    asks_ends: bool,
}

impl Turn {
    /// The turn at construction: everything is news.
    pub(crate) const SEED: Self = Self { since: 0, asks_ends: true };
    /// A turn that sees what changed after `stamp`.
    #[inline]
    pub(super) fn after(stamp: u32, asks_ends: bool) -> Self {
        Self { since: stamp.wrapping_add(1), asks_ends }
    }

    /// Whether an input may have ended.
    #[inline]
    pub(crate) fn asks_ends(self) -> bool {
        self.asks_ends
    }

    /// Whether an input has ended.
    #[inline]
    pub(crate) fn ended<T>(self, input: &Input<T>) -> bool {
        self.asks_ends && input.ended()
    }

    /// Whether an input has ended with an error.
    #[inline]
    pub(crate) fn failed<T>(self, input: &Input<T>) -> bool {
        self.asks_ends && input.failed()
    }

    pub(crate) fn is_seed(self) -> bool {
        self.since == 0
    }

    /// Whether only ends count (see [`NodeRef::quiet_turn`]).
    pub(crate) fn is_quiet(self) -> bool {
        self.since == u32::MAX
    }

    /// Whether a change of a node is news.
    #[inline]
    pub(crate) fn sees(self, node: NodeRef) -> bool {
        node.stamp.get() >= self.since
    }
}

/// What a turn did to its node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Outcome(u8);

impl Outcome {
    pub(crate) const NOTHING: Self = Self(0);
    pub(crate) const CHANGED: Self = Self(1);
    const ENDED: u8 = 2;

    pub(crate) fn with_end(self) -> Self {
        Self(self.0 | Self::ENDED)
    }
}

/// The computation of a derived cell: one for each pipeline, one for each multi-input operator.
pub(crate) trait Kernel: 'static {
    type Out: 'static;
    /// The operator's name, for diagnostics.
    const OPERATOR: &'static str;
    /// Computes once, from what is news; gives a value to `emit` if one comes out.
    fn turn(&mut self, turn: Turn, emit: impl FnOnce(Self::Out)) -> Over;
    /// How its inputs ended, after a turn that was over for that.
    fn end(&self) -> End;
    /// Whether the turn at construction finds the inputs, so that they are to be visited after it.
    const TRACKED: bool = false;
    /// Visits each input once.
    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream));
    /// Whether it is computed when it is wanted.
    const LAZY: bool = false;
    /// Adds the inputs that have to be brought up to date before it can be told whether it is. `again` if its last turn
    /// was abandoned.
    fn stale_inputs(&mut self, _: Turn, _again: bool, found: &mut Vec<NodeRef>) {
        self.inputs(&mut |input| found.extend(Some(input.node()).filter(|up| up.has(flag::STALE))));
    }
}

/// An input seen without its type.
pub(crate) trait Upstream {
    fn node(&self) -> NodeRef;
    /// Gives up the input's own reference to whoever links it.
    fn linked(&mut self);
    /// What the edge means.
    fn kind(&self) -> EdgeKind {
        EdgeKind::Trigger
    }
    /// Whether it is made anew at each start of a shared pipeline, so that only its edge may keep its cell.
    fn is_transient(&self) -> bool {
        false
    }
}

/// An input that is read, but whose changes cause no turn.
pub(crate) struct Passive<T: 'static>(pub(crate) Input<T>);

impl<T: 'static> Upstream for Passive<T> {
    fn node(&self) -> NodeRef {
        self.0.node()
    }

    fn linked(&mut self) {
        self.0.linked();
    }

    fn kind(&self) -> EdgeKind {
        EdgeKind::Passive
    }
}

/// How a kernel ended, after a turn that was over.
#[cold]
pub(crate) fn end_of_kernel<K: Kernel>(kernel: &K, over: Over) -> End {
    if over == Over::Upstream { kernel.end() } else { End::Complete }
}
