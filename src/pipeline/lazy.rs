//! The wrapper that makes any kernel lazy.

use crate::store::kernel::{End, Kernel, Over, Turn, Upstream};
use crate::store::node::NodeRef;

/// A kernel that waits to be asked.
pub(crate) struct Lazy<K>(pub(crate) K);

impl<K: Kernel> Kernel for Lazy<K> {
    type Out = K::Out;
    const OPERATOR: &'static str = K::OPERATOR;
    const TRACKED: bool = K::TRACKED;
    const LAZY: bool = true;

    #[inline]
    fn turn(&mut self, turn: Turn, emit: impl FnOnce(K::Out)) -> Over {
        self.0.turn(turn, emit)
    }

    fn end(&self) -> End {
        self.0.end()
    }

    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream)) {
        self.0.inputs(visit);
    }

    fn stale_inputs(&mut self, turn: Turn, again: bool, found: &mut Vec<NodeRef>) {
        self.0.stale_inputs(turn, again, found);
    }
}
