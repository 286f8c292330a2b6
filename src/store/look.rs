//! Reads and the checks before them; what errors tell of a cell.

use std::panic::Location;

use super::node::NodeRef;
use super::{Store, add, flag};
use crate::error::{CellInfo, Error, Fallible};
use crate::graph::CellKey;

/// So many rows are warmed at a time: some microseconds, also where they are in no cache.
#[cfg(feature = "frames")]
const WARMED: u32 = 256;

impl Store {
    /// Reads some rows of the graph and their nodes, only so that they are in the processor's caches: those from rank `from`
    /// on. Gives the rank to go on with, 0 after the last.
    #[cfg(feature = "frames")]
    pub(crate) fn warm(&self, from: u32) -> u32 {
        let graph = self.graph.borrow();
        let end = from.saturating_add(WARMED);
        graph.warm(from..end).for_each(|node| {
            std::hint::black_box(node.stamp.get());
            self.warm_row(node);
        });
        if (end as usize) < graph.ranks() { end } else { 0 }
    }

    /// Whether the call is made inside a callback, a closure or a batch.
    pub(crate) fn is_inside(&self) -> bool {
        self.busy.get() != 0 || self.batch.get() != 0
    }

    /// What errors tell of a live cell.
    pub(crate) fn info(&self, id: CellKey) -> Option<CellInfo> {
        let node = self.find(id)?;
        Some(self.info_of(node, id))
    }

    fn info_of(&self, node: NodeRef, id: CellKey) -> CellInfo {
        let name = if node.has(flag::NAMED) {
            self.tables.borrow().names.get(id).map(|name| name.to_string())
        } else {
            None
        };
        CellInfo { key: id, store: self.number, name, place: self.place(node.place) }
    }

    /// The node of a handle, unless the cell was disposed of.
    #[inline]
    pub(crate) fn usable(&self, node: NodeRef) -> Fallible<NodeRef> {
        if node.has(flag::DISPOSED) { Err(self.unusable(node)) } else { Ok(node) }
    }

    #[cold]
    fn unusable(&self, node: NodeRef) -> Box<Error> {
        add(&self.counters.stale, 1);
        Box::new(Error::Disposed(self.info_of(node, self.id_of(node))))
    }

    /// The node of a handle that is to be written.
    #[inline]
    pub(crate) fn writable(&self, node: NodeRef) -> Fallible<NodeRef> {
        let node = self.usable(node)?;
        if node.has(flag::ENDED) {
            Err(Box::new(Error::Ended(self.info_of(node, self.id_of(node)))))
        } else {
            Ok(node)
        }
    }

    /// Refuses to read a cell that a running `update` has, directly or through cells it depends on (C8).
    #[inline]
    pub(crate) fn check_lent(
        &self,
        node: NodeRef,
        read: &'static Location<'static>,
    ) -> Fallible<()> {
        if self.lent_count.get() == 0 { Ok(()) } else { self.check_each_lent(node, read) }
    }

    #[cold]
    fn check_each_lent(&self, node: NodeRef, read: &'static Location<'static>) -> Fallible<()> {
        let lent = self
            .lent
            .borrow()
            .iter()
            .copied()
            .find(|lent| !lent.0.has(flag::DEAD) && self.is_upstream(lent.0, node));
        let Some((lent, update)) = lent else { return Ok(()) };
        let id = self.id_of(lent);
        Err(Box::new(Error::Lent { cell: self.info_of(lent, id), update, read }))
    }

    /// Lends the value of a cell as rule P4 gives it.
    #[inline]
    pub(crate) fn read<T: 'static, R>(
        &self,
        node: NodeRef,
        place: &'static Location<'static>,
        f: impl FnOnce(&T) -> R,
    ) -> Fallible<R> {
        let special = self.batch.get() | self.lent_count.get() | u32::from(self.tracking.get());
        if special != 0 || node.has(flag::DISPOSED | flag::STALE) {
            self.prepare_read(node, place)?;
        }
        let busy = self.enter();
        let given = node.with(f);
        busy.leave()?;
        Ok(given)
    }

    /// What a read may have to do before the value is there.
    #[inline(never)]
    fn prepare_read(&self, node: NodeRef, place: &'static Location<'static>) -> Fallible<()> {
        let node = self.usable(node)?;
        if self.tracking.get() {
            self.track(node)?;
        }
        self.check_lent(node, place)?;
        if node.has(flag::STALE) {
            self.refresh(node);
        }
        self.settle_for(node);
        Ok(())
    }
}

#[cfg(all(test, feature = "frames"))]
mod tests {
    use crate::store::with_store;
    use crate::{Cell, Pipeline};

    #[test]
    fn warming_comes_to_the_end_of_the_rows_and_begins_anew() {
        let warm = |from| with_store(|store| store.warm(from)).unwrap();
        assert_eq!((warm(0), warm(u32::MAX)), (0, 0));
        let source = Cell::new(1);
        let cells: Vec<_> = (0..600).map(|n| (&source).map(move |v| v + n).materialize()).collect();
        assert_eq!((warm(0), warm(256), warm(512)), (256, 512, 0));
        // Vacant rows are passed over.
        drop(cells);
        let mut from = warm(0);
        while from != 0 {
            from = warm(from);
        }
        source.set(2);
        assert_eq!(source.get(), 2);
    }
}
