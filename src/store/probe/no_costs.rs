//! Costs of frames without the feature `frames`: none.

use crate::store::Store;

/// Nothing.
#[derive(Default)]
pub(super) struct Costs(());

impl Store {
    #[inline(always)]
    pub(crate) fn note_settle(&self) {
        let Costs(()) = &self.probe.costs;
    }

    #[inline(always)]
    pub(crate) fn note_settled(&self) {}

    #[inline(always)]
    pub(super) fn note_first_fanout(&self) {}

    #[inline(always)]
    pub(crate) fn note_delivered(&self) {}
}
