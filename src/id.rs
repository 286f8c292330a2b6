//! [`CellId`]: the public form of an arena key.

use std::fmt;
use std::marker::PhantomData;

use slotmap::Key;

use crate::graph::CellKey;

/// The handle of a cell in its thread's arena: eight bytes, `Copy`, never taken for a later cell of the same slot.
///
/// An id does not keep its cell alive; whatever is asked with a dead one answers `None`. It means nothing to another
/// thread's arena and can't be sent there; the identity that travels is the [UUID](crate::Cell::id).
///
/// ```compile_fail
/// let id = hyphae::Cell::new(1).cell_id();
/// std::thread::spawn(move || hyphae::arena::contains(id));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellId {
    key: CellKey,
    _not_send: PhantomData<*const ()>,
}

impl CellId {
    pub(crate) fn of(key: CellKey) -> Self {
        Self { key, _not_send: PhantomData }
    }

    pub(crate) fn key(self) -> CellKey {
        self.key
    }
}

impl fmt::Debug for CellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug_key(self.key, f)
    }
}

/// Writes a key as users know it: slot and version.
pub(crate) fn debug_key(key: CellKey, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "CellId({:?})", key.data())
}
