//! Edges that come and go while the program runs, and the cycles they must not close.
//!
//! It knows no closures: who re-links says between which nodes.
//!
//! Invariants: **R1** an edge that is not of kind `Order` holds one reference to its source. **R2** a cell on a cycle
//! that was refused has, in the table of refused edges, those for which that cycle is the reason; when it has got or lost an
//! input, and all else has settled, they are tried again.
//!
//! Costs: O(1) where the order holds, else what the graph says of a reorder; `disconnect` looks through the shorter list.

use super::node::NodeRef;
use super::tables::Refusal;
use super::{Store, flag, sign};
use crate::error::{Error, Feedback};
use crate::graph::{CellKey, EdgeKind};

impl Store {
    /// Makes `src` an input of `dst`, which it is not yet.
    ///
    /// # Errors
    /// The path, if the edge would close a cycle of dependencies.
    pub(crate) fn connect_new(
        &self,
        src: NodeRef,
        dst: NodeRef,
        kind: EdgeKind,
    ) -> Result<(), Vec<CellKey>> {
        let moved = |moved: NodeRef, rank| moved.rank.set(rank);
        loop {
            let mut graph = self.graph.borrow_mut();
            let linked = graph.link_new(src.rank.get(), dst.rank.get(), kind, moved);
            match linked {
                Ok(()) => break,
                // A wish gives way to a dependency.
                Err(found) if graph.drop_order_edges(&found.path) => (),
                Err(found) => return Err(found.path),
            }
        }
        self.retain(src);
        self.after_connect(src, dst);
        Ok(())
    }

    /// Makes `new` a trigger input of `dst` in the place of `old`. The path, if that would close a cycle: then `dst` has
    /// neither.
    pub(crate) fn reconnect(
        &self,
        old: NodeRef,
        new: NodeRef,
        dst: NodeRef,
    ) -> Result<(), Vec<CellKey>> {
        let kind = EdgeKind::Trigger;
        let (from, to) = (old.rank.get(), new.rank.get());
        if !self.graph.borrow_mut().replace_input(dst.rank.get(), from, to, kind) {
            self.disconnect(old, dst, kind);
            return self.connect_new(new, dst, kind);
        }
        self.retain(new);
        self.after_connect(new, dst);
        self.watch_observed(old);
        self.release(old);
        Ok(())
    }

    fn after_connect(&self, src: NodeRef, dst: NodeRef) {
        dst.ask_ends_of(src);
        self.watch_observed(src);
        self.wake_refused(dst);
        if self.guards_owned.get() {
            self.settle_rings(src, dst);
        }
    }

    /// Makes `src` no input of `dst` any more.
    pub(crate) fn disconnect(&self, src: NodeRef, dst: NodeRef, kind: EdgeKind) {
        if dst.has(flag::DEAD) {
            // Its edges are gone already, and the references with them.
            return;
        }
        let was = self.graph.borrow_mut().unlink(src.rank.get(), dst.rank.get(), kind);
        if was {
            self.watch_observed(src);
            self.wake_refused(dst);
            self.release(src);
        }
    }

    /// Notes that a cycle has kept the closure of `reader` from reading `node`; gives the error.
    #[cold]
    pub(crate) fn refuse(&self, reader: NodeRef, node: NodeRef, path: Vec<CellKey>) -> Box<Error> {
        let id = self.id_of(reader);
        let refusal = Refusal { reader: id, src: self.id_of(node), dst: id };
        self.note_refusal(reader, refusal, &path);
        // Others were refused what depends on it, since it waited for this: it does not any more.
        self.wake_refused(reader);
        self.cycle(path)
    }

    fn note_refusal(&self, reader: NodeRef, refusal: Refusal, path: &[CellKey]) {
        // Cells on the cycle may have had their turn already, with what the reader gave before.
        self.tick();
        reader.raise(flag::REFUSED);
        for &on in path.iter().filter(|&&on| on != refusal.reader) {
            let Some(node) = self.find(on) else { continue };
            node.raise(flag::ON_CYCLE);
            let mut tables = self.tables.borrow_mut();
            if !tables.refused.contains_key(on) {
                tables.refused.insert(on, Vec::new());
            }
            self.add_refusal(&mut tables.refused[on], refusal);
        }
    }

    /// A switch wants one cell at a time; what a closure was refused counts as long as that lives.
    fn add_refusal(&self, refused: &mut Vec<Refusal>, refusal: Refusal) {
        if refused.contains(&refusal) {
            return;
        }
        if refusal.reader != refusal.dst {
            refused.retain(|old| (old.reader, old.dst) != (refusal.reader, refusal.dst));
        } else if refused.len() >= 8 && refused.len().is_power_of_two() {
            refused.retain(|old| self.find(old.src).is_some());
        }
        refused.push(refusal);
    }

    /// Notes that a switch chose a cell that depends on it. If that is still so when the graph has settled, it counts as a
    /// panic of its closure.
    #[cold]
    pub(crate) fn refuse_switch(
        &self,
        switcher: NodeRef,
        inner: NodeRef,
        output: NodeRef,
        path: Vec<CellKey>,
    ) {
        let reader = self.id_of(switcher);
        let refusal = Refusal { reader, src: self.id_of(inner), dst: self.id_of(output) };
        self.note_refusal(switcher, refusal, &path);
        self.refused.borrow_mut().push((reader, self.cycle(path)));
        self.signs.raise(sign::REFUSED);
    }

    /// Tells the caller of switches that were refused in this settle, and have not found an edge since.
    #[cold]
    pub(crate) fn report_refused(&self) {
        self.signs.lower(sign::REFUSED);
        let refused = self.refused.take();
        // The last refusal of a switch tells how it is now.
        for (place, (id, error)) in refused.iter().enumerate() {
            let again = refused[place + 1..].iter().any(|later| later.0 == *id);
            let stays = self.find(*id).is_some_and(|node| node.has(flag::REFUSED));
            if stays && !again {
                self.caught(Box::new(error.to_string()));
            }
        }
    }

    /// The error of a refused edge.
    pub(crate) fn cycle(&self, path: Vec<CellKey>) -> Box<Error> {
        Box::new(Error::Cycle { path: path.into_iter().filter_map(|id| self.info(id)).collect() })
    }

    /// An input of `node` comes or goes, or its closure was not refused this time: readers that a cycle through it has
    /// stopped may try again, when all else has settled.
    #[inline]
    pub(crate) fn wake_refused(&self, node: NodeRef) {
        if node.has(flag::ON_CYCLE) {
            self.note_relinked(node);
        }
    }

    #[cold]
    fn note_relinked(&self, node: NodeRef) {
        self.relinked.borrow_mut().push(self.id_of(node));
        self.signs.raise(sign::RELINKED | sign::PENDING);
    }

    /// Wakes the refused readers that may read now. Tells whether there are any.
    #[cold]
    pub(crate) fn retry_refused(&self) -> bool {
        self.signs.lower(sign::RELINKED);
        // What they give now is later than what their dependents have seen of this round.
        self.tick();
        let relinked = self.relinked.take();
        for node in relinked.into_iter().filter_map(|id| self.find(id)) {
            if node.has(flag::ON_CYCLE) {
                self.wake_readers(node);
            }
        }
        self.graph.borrow().has_dirty()
    }

    fn wake_readers(&self, node: NodeRef) {
        let id = self.id_of(node);
        let mut refused = self.tables.borrow_mut().refused.remove(id).unwrap_or_default();
        refused.retain(|&refusal| self.still_refused(refusal, id));
        if refused.is_empty() && !self.tables.borrow().refused.contains_key(id) {
            node.lower(flag::ON_CYCLE);
            return;
        }
        let mut tables = self.tables.borrow_mut();
        let noted = tables.refused.remove(id).unwrap_or_default();
        refused.extend(
            noted.into_iter().filter(|refusal| !refused.contains(refusal)).collect::<Vec<_>>(),
        );
        tables.refused.insert(id, refused);
    }

    /// Whether a refused edge would close a cycle still; if not, its reader is woken.
    fn still_refused(&self, refusal: Refusal, relinked: CellKey) -> bool {
        let Some(reader) = self.find(refusal.reader).filter(|reader| reader.has(flag::REFUSED))
        else {
            return false;
        };
        if let (Some(src), Some(dst)) = (self.find(refusal.src), self.find(refusal.dst)) {
            let graph = self.graph.borrow();
            let way = graph.route(src.rank.get(), dst.rank.get());
            let path: Vec<_> = way.into_iter().map(|rank| graph.id(rank)).collect();
            drop(graph);
            if !path.is_empty() {
                // Now by another way, maybe.
                self.note_refusal(reader, refusal, &path);
                return true;
            }
        }
        // It may have been woken already, for another refusal.
        let woken = self.graph.borrow().is_dirty(reader.rank.get());
        if !woken && self.may_wake(reader, relinked) {
            self.mark_dirty(reader);
        }
        false
    }

    /// Whether a reader may try again in this round: not for ever, if each try makes and breaks a cycle.
    fn may_wake(&self, reader: NodeRef, relinked: CellKey) -> bool {
        let (round, count) = self.wakes.get();
        let count = if round == self.round.get() { count + 1 } else { 1 };
        self.wakes.set((self.round.get(), count));
        let limit = self.limits.get().generations;
        if count == limit.saturating_add(1) {
            let callback = Some(self.place(reader.place));
            let on = self.info(self.id_of(reader));
            let feedback = vec![Feedback { on, callback, wrote: self.info(relinked) }];
            self.signs.raise(sign::TROUBLED);
            *self.trip.borrow_mut() =
                Some(Error::NoConvergence { generation: count, waiting: 0, feedback });
        }
        count <= limit
    }

    /// Runs the wave of readers that were woken outside of one.
    pub(crate) fn run_woken(&self) {
        if self.signs.has(sign::RELINKED) || self.graph.borrow().has_dirty() {
            self.open_wave();
            self.run_wave();
        }
    }

    /// Whether `low` is `high` or upstream of it.
    pub(crate) fn is_upstream(&self, low: NodeRef, high: NodeRef) -> bool {
        let mut graph = self.graph.borrow_mut();
        low == high
            || (graph.has_dependents(low.rank.get())
                && graph.reaches(low.rank.get(), high.rank.get()))
    }
}
