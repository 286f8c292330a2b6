//! The hooks without the feature `trace`: nothing.

use crate::store::Store;
use crate::store::kernel::Outcome;
use crate::store::node::NodeRef;

/// Nothing, at every node.
#[derive(Default, Debug)]
pub(crate) struct Row(());

/// Nothing, in the store.
#[derive(Default)]
pub(crate) struct Probe(());

pub(crate) const SHORT: u8 = 0;
pub(crate) const TIMED: u8 = 1;
pub(crate) const TALLIED: u8 = 2;
pub(crate) const FULL: u8 = 4;

impl Probe {
    pub(crate) fn bytes(&self) -> usize {
        0
    }

    pub(crate) fn shrink_to_fit(&self) {}
}

/// Nothing, in the place of a span.
pub(crate) struct NoSpan;

impl Store {
    #[inline(always)]
    pub(crate) fn note_born(&self, node: NodeRef) {
        // What takes no room has to be read somewhere all the same.
        let (Probe(()), Row(())) = (&self.probe, &node.row);
    }

    #[inline(always)]
    pub(crate) fn note_dead(&self, _: NodeRef) {}

    #[inline(always)]
    pub(crate) fn note_wave(&self) {}

    #[inline(always)]
    pub(crate) fn note_lap(&self) {}

    #[inline(always)]
    pub(crate) fn counting(&self) -> u8 {
        SHORT
    }

    #[inline(always)]
    pub(crate) fn time_turn(&self, _: NodeRef) {}

    #[inline(always)]
    pub(crate) fn note_again(&self) {}

    #[inline(always)]
    pub(crate) fn note_outcome(&self, _: NodeRef, _: Outcome) {}

    #[inline(always)]
    pub(crate) fn note_put_off(&self, _: NodeRef) {}

    #[inline(always)]
    pub(crate) fn note_tallied(&self, _: NodeRef, _: u32) {}

    #[inline(always)]
    pub(crate) fn note_turn_due(&self, _: NodeRef) {}

    #[inline(always)]
    pub(crate) fn note_turn(&self, _: NodeRef, _: Outcome) {}

    #[inline(always)]
    pub(crate) fn note_part(&self, _: Option<NodeRef>) {}

    #[inline(always)]
    pub(crate) fn note_emit_alone(&self, _: NodeRef) {}

    #[inline(always)]
    pub(crate) fn note_emit(&self, _: NodeRef) {}

    #[inline(always)]
    pub(crate) fn note_first_call(&self, _: NodeRef) {}

    #[inline(always)]
    pub(crate) fn note_call(&self, _: NodeRef, _: u32) {}

    #[inline(always)]
    pub(crate) fn note_calls(&self, _: NodeRef, _: u64) {}

    #[inline(always)]
    pub(crate) fn note_settle(&self) {}

    #[inline(always)]
    pub(crate) fn note_settled(&self) {}

    #[inline(always)]
    pub(crate) fn note_deliver(&self) {}

    #[inline(always)]
    pub(crate) fn note_delivered(&self) {}

    #[inline(always)]
    pub(crate) fn note_clock_reset(&self) {}

    #[inline(always)]
    pub(crate) fn unheard<R>(&self, f: impl FnOnce() -> R) -> R {
        f()
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

    /// Whether the delivery half is to visit cells without subscribers too.
    #[inline(always)]
    pub(crate) fn visits_all(&self) -> bool {
        false
    }
}
