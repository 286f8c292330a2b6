//! What is added up while someone asks: which cells fired how often in a pass.
//!
//! It knows no reports; an emission that is not the first of its round never gets here.
//!
//! Costs: a pass notes eight bytes for each emission; nothing while none is open.

use std::cell::{Cell, RefCell};

use crate::graph::CellKey;
use crate::store::Store;
use crate::store::node::NodeRef;

/// The sums of a store.
#[derive(Default)]
pub(crate) struct Tally {
    open: Cell<bool>,
    /// Passes on the stack.
    passes: Cell<u32>,
    fired: RefCell<Vec<CellKey>>,
    /// What the last pass has noted.
    sealed: RefCell<Option<Vec<CellKey>>>,
}

impl Tally {
    /// Whether levels of turns are asked for.
    #[inline]
    pub(super) fn measures_levels(&self) -> bool {
        false
    }

    /// Whether emissions are to be told.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.open.get()
    }

    /// A pass begins; one inside another joins it.
    pub(crate) fn open_pass(&self) {
        if self.passes.replace(self.passes.get() + 1) == 0 {
            self.fired.borrow_mut().clear();
            self.sealed.take();
            self.open.set(true);
        }
    }

    /// A pass ends.
    pub(crate) fn close_pass(&self) {
        self.passes.set(self.passes.get() - 1);
        if self.passes.get() == 0 {
            self.open.set(false);
            self.sealed.replace(Some(self.fired.take()));
        }
    }

    /// The emissions of the last pass, in order; they are given once.
    pub(crate) fn take_pass(&self) -> Option<Vec<CellKey>> {
        self.sealed.take()
    }
}

impl Store {
    #[cold]
    pub(super) fn note_level(&self, _node: NodeRef, _row: u32) {}

    #[cold]
    pub(super) fn tally_emit(&self, node: NodeRef, _before: u32) {
        if self.probe.tally.passes.get() > 0 {
            self.probe.tally.fired.borrow_mut().push(self.id_of(node));
        }
    }
}
