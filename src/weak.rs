//! [`WeakCell`]: a reference that does not keep its cell alive, and the typed upgrade of an id.

use std::fmt;
use std::marker::PhantomData;

use crate::cell::{Cell, CellMutable, Strong, debug_handle};
use crate::graph::CellKey;
use crate::id::CellId;
use crate::store::{add, flag, with_store};

/// A reference to a cell that does not keep it alive.
pub struct WeakCell<T: 'static, M = CellMutable> {
    id: CellKey,
    _type: PhantomData<(fn() -> T, M, *const ())>,
}

impl<T: 'static, M> Clone for WeakCell<T, M> {
    fn clone(&self) -> Self {
        Self { id: self.id, _type: PhantomData }
    }
}

impl<T: 'static, M> WeakCell<T, M> {
    /// Refers to a cell whose value is a `T`.
    pub(crate) fn of(id: CellKey) -> Self {
        Self { id, _type: PhantomData }
    }

    /// A handle, if the cell still lives and was not disposed of.
    pub fn upgrade(&self) -> Option<Cell<T, M>> {
        upgrade::<T>(self.id).map(Cell::adopt)
    }

    /// Whether [`WeakCell::upgrade`] would give a handle.
    pub fn is_alive(&self) -> bool {
        with_store(|store| store.find(self.id).is_some_and(|node| !node.has(flag::DISPOSED)))
            .unwrap_or(false)
    }

    /// The id of the cell, alive or not.
    pub fn cell_id(&self) -> CellId {
        CellId::of(self.id)
    }
}

impl<T: 'static, M> fmt::Debug for WeakCell<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug_handle(f, "WeakCell", self.id)
    }
}

/// Counts a reference to a live node whose value is a `T`.
pub(crate) fn upgrade<T: 'static>(id: CellKey) -> Option<Strong> {
    let found = with_store(|store| {
        let node = store.find(id).filter(|node| node.holds::<T>() && !node.has(flag::DISPOSED));
        match node {
            Some(node) => store.retain(node),
            None => add(&store.counters.stale, 1),
        }
        node
    });
    found.ok().flatten().map(Strong::adopt)
}
