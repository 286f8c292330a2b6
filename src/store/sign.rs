//! The signs of the store: what is out of the ordinary, in one word. It is zero on the usual way, where one look at it
//! then answers for all of them.

use std::cell::Cell;

/// Something waits for the moment at which `busy` falls to 0 (S5).
pub(crate) const PENDING: u32 = 1;
/// A panic or an error waits for the outermost caller.
pub(crate) const TROUBLED: u32 = 1 << 1;
/// A scope is current.
pub(crate) const SCOPED: u32 = 1 << 2;
/// The open wave has events.
pub(crate) const EVENTFUL: u32 = 1 << 3;
/// Cells have more to give in the next round.
pub(crate) const MORE: u32 = 1 << 4;
/// Cells on refused cycles have got or lost an input.
pub(crate) const RELINKED: u32 = 1 << 5;
/// Switches were refused in this settle.
pub(crate) const REFUSED: u32 = 1 << 6;

/// The word.
#[derive(Default)]
pub(crate) struct Signs(Cell<u32>);

impl Signs {
    #[inline]
    pub(crate) fn all(&self) -> u32 {
        self.0.get()
    }

    /// Whether any of these is up.
    #[inline]
    pub(crate) fn has(&self, signs: u32) -> bool {
        self.0.get() & signs != 0
    }

    #[inline]
    pub(crate) fn raise(&self, signs: u32) {
        self.0.set(self.0.get() | signs);
    }

    #[inline]
    pub(crate) fn lower(&self, signs: u32) {
        self.0.set(self.0.get() & !signs);
    }

    /// Lowers them; tells whether any was up.
    pub(crate) fn take(&self, signs: u32) -> bool {
        let had = self.has(signs);
        self.lower(signs);
        had
    }
}
