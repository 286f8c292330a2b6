//! Spans without the feature `profiling`: none.

use crate::store::Store;
use crate::store::node::NodeRef;

/// Nothing.
#[derive(Default)]
pub(super) struct Spans(());

/// Nothing, in the place of a span.
pub(crate) struct NoSpan;

impl Store {
    #[inline(always)]
    pub(crate) fn listens(&self) -> bool {
        false
    }

    #[inline(always)]
    pub(crate) fn unheard<R>(&self, f: impl FnOnce() -> R) -> R {
        f()
    }

    #[inline(always)]
    pub(crate) fn look_for_listener(&self) {
        let Spans(()) = &self.probe.spans;
    }

    #[cfg(feature = "frames")]
    #[inline(always)]
    pub(crate) fn frame_span(&self, _: u64, _: u64) -> NoSpan {
        NoSpan
    }

    #[inline(always)]
    pub(crate) fn wave_span(&self) -> NoSpan {
        NoSpan
    }

    #[inline(always)]
    pub(crate) fn compute_span(&self, _: NodeRef) -> NoSpan {
        NoSpan
    }

    #[inline(always)]
    pub(crate) fn fanout_span(&self, _: NodeRef) -> NoSpan {
        NoSpan
    }
}
