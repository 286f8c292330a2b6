//! Demand: lazy cells, which are computed when somebody wants them.
//!
//! A lazy cell is *wanted* while it has a subscriber, or a dependent that is not lazy or wanted itself: then it is computed
//! in each wave like any other. Else a change of its inputs makes it *stale*, and its dependents with it, once: a turn of a
//! cell that is stale already puts it to *sleep*: its inputs do not trigger it any more. Who reads a stale cell brings it up to date first.
//!
//! It does not know operators: a kernel says that it is lazy, and which of its inputs are stale.
//!
//! Invariants: **D1** what is wanted is not stale, or dirty as well. **D2** the dependents of a stale cell are stale or dirty. **D3** all inputs of a
//! wanted cell are wanted or not lazy.
//!
//! Costs: a cell that nobody wants costs two looks after a read, in waves that change an input of it, and then nothing. A
//! read of a stale cell is O(its stale upstream), by a list rather than recursion.

use super::kernel::End;
use super::node::NodeRef;
use super::{Store, flag, sign};
use crate::graph::EdgeKind;

/// Whether a cell has its turn in each wave.
fn is_awake(node: NodeRef) -> bool {
    !node.has(flag::LAZY) || node.has(flag::WANTED)
}

impl Store {
    /// Whether a lazy cell puts its turn off: then it is stale, and so are its dependents.
    #[inline(never)]
    pub(crate) fn puts_off(&self, node: NodeRef) -> bool {
        if node.has(flag::WANTED) || self.pulling.get() {
            return false;
        }
        let turns = &self.counters.recomputations;
        turns.set(turns.get() - 1);
        self.note_put_off(node);
        if node.has(flag::STALE) {
            self.put_to_sleep(node);
        } else {
            node.raise(flag::STALE);
            self.graph.borrow_mut().mark_dependents_outside(node.rank.get());
        }
        true
    }

    /// A second change without a read between: there is nothing more that its inputs could tell, so that they stop.
    fn put_to_sleep(&self, node: NodeRef) {
        node.raise(flag::ASLEEP);
        self.turn_edges(node, EdgeKind::Trigger, EdgeKind::Passive);
    }

    /// Lets the inputs of a cell trigger it again, before it is computed.
    fn wake(&self, node: NodeRef) {
        if node.has(flag::ASLEEP) {
            node.lower(flag::ASLEEP);
            self.turn_edges(node, EdgeKind::Passive, EdgeKind::Trigger);
        }
    }

    fn turn_edges(&self, node: NodeRef, from: EdgeKind, to: EdgeKind) {
        let mut graph = self.graph.borrow_mut();
        let rank = node.rank.get();
        let ups: Vec<_> = graph.ins(rank).filter(|up| up.1 == from).map(|up| up.0).collect();
        for up in ups {
            graph.unlink(up, rank, from);
            // The way of the edge stays the same, so that no order is against it.
            let linked = graph.link_new(up, rank, to, |_, _| ());
            debug_assert!(linked.is_ok(), "the order holds");
        }
    }

    /// Looks anew whether a lazy cell is wanted, after it has got or lost a subscriber or dependent; then at its inputs.
    #[cold]
    pub(super) fn weigh(&self, node: NodeRef) {
        if node.has(flag::STALE) && !node.has(flag::WANTED) {
            self.make_stale_after(node);
        }
        let mut due = vec![node];
        while let Some(node) = due.pop() {
            let wanted = !node.has(flag::DEAD) && self.is_wanted(node);
            if wanted == node.has(flag::WANTED) {
                continue;
            }
            if wanted {
                node.raise(flag::WANTED);
            } else {
                node.lower(flag::WANTED);
            }
            if wanted && node.has(flag::STALE) {
                self.wake(node);
                node.lower(flag::STALE);
                self.mark_dirty(node);
                self.signs.raise(sign::PENDING);
            }
            due.extend(self.inputs_of(node).into_iter().filter(|up| up.has(flag::LAZY)));
        }
    }

    fn is_wanted(&self, node: NodeRef) -> bool {
        node.subs.get() != crate::graph::NONE || self.dependents_of(node).into_iter().any(is_awake)
    }

    /// Makes the lazy dependents of a stale cell stale that have been linked since (D2).
    fn make_stale_after(&self, node: NodeRef) {
        let unaware = |node: &NodeRef| !is_awake(*node) && !node.has(flag::STALE);
        let mut due = vec![node];
        while let Some(node) = due.pop() {
            for next in self.dependents_of(node).into_iter().filter(unaware) {
                next.raise(flag::STALE);
                due.push(next);
            }
        }
    }

    /// Marks what a turn of a cell that nobody wants changed: stale dependents need not be told.
    pub(super) fn mark_unaware(&self, node: NodeRef) {
        self.note_emit(node);
        for next in self.dependents_of(node) {
            if !next.has(flag::STALE) {
                self.mark_dirty(next);
            }
        }
    }

    /// Brings a stale cell up to date for a read: in idle and in the body of a batch with all that it depends on; in the
    /// middle of other user code from the values of the moment, since what is lent there must stay as it is.
    #[cold]
    #[inline(never)]
    pub(crate) fn refresh(&self, node: NodeRef) {
        if self.busy.get() == 0 {
            self.settle_cone(node);
            if self.signs.has(sign::TROUBLED) {
                // The caller is told when the call ends that asked for this.
                self.signs.raise(sign::PENDING);
            }
            return;
        }
        if !self.has_stack() {
            let cell =
                self.info(self.id_of(node)).map_or_else(String::new, |cell| cell.to_string());
            log::error!(
                "lazy cells that read each other in closures go too deep: {cell} is read as it is; read it before"
            );
            return;
        }
        let momentary = self.momentary.replace(true);
        let current = self.current.get();
        let aside = self.set_aside();
        self.settle_stale(node, false);
        drop(aside);
        self.tick();
        self.current.set(current);
        self.momentary.set(momentary);
    }

    /// How a cell ended, looked at anew.
    pub(crate) fn end_now(&self, node: NodeRef) -> Option<End> {
        if node.has(flag::STALE) {
            self.refresh(node);
            drop(self.enter());
        }
        self.end_of(node)
    }

    /// Computes what is stale among a cell and all that it depends on, in the order of reading: an input that has changed
    /// spares those that were read after it. Gives `false` where a run was abandoned and it is to stop there.
    #[cold]
    pub(super) fn settle_stale(&self, node: NodeRef, stops: bool) -> bool {
        let mut path = self.stale_path.take();
        path.push(node);
        let settled = self.settle_path(&mut path, stops);
        path.clear();
        *self.stale_path.borrow_mut() = path;
        settled
    }

    fn settle_path(&self, path: &mut Vec<NodeRef>, stops: bool) -> bool {
        while let Some(&top) = path.last() {
            if !top.has(flag::STALE) || top.has(flag::DEAD) {
                path.pop();
                continue;
            }
            let len = path.len();
            top.stale_inputs(path);
            if path.len() == len && !self.settle_one(top) && stops {
                return false;
            }
        }
        true
    }

    /// Computes a cell without stale inputs; `false` if its run was abandoned, which leaves it stale.
    fn settle_one(&self, node: NodeRef) -> bool {
        node.lower(flag::STALE);
        if node.has(flag::ENDED | flag::DISPOSED) {
            return true;
        }
        self.wake(node);
        let rank = node.rank.get();
        let settled = if self.momentary.get() || !self.graph.borrow().has_dirty_up_to(rank) {
            self.graph.borrow_mut().take_dirty(rank);
            self.turn_alone(node)
        } else {
            self.mark_dirty(node);
            self.settle_dirty(node, true)
        };
        if !settled && !node.has(flag::DEAD) {
            self.graph.borrow_mut().take_dirty(node.rank.get());
            node.raise(flag::STALE);
        }
        settled
    }

    /// After the clock has started anew: the inputs of stale cells are news to them.
    pub(super) fn keep_stale(&self, nodes: &[NodeRef]) {
        for node in nodes.iter().filter(|node| node.has(flag::STALE)) {
            self.inputs_of(*node).iter().for_each(|up| up.stamp.set(1));
        }
    }

    fn inputs_of(&self, node: NodeRef) -> Vec<NodeRef> {
        let graph = self.graph.borrow();
        let ups = graph.ins(node.rank.get()).filter(|up| up.1 != EdgeKind::Order);
        ups.filter_map(|(rank, _)| graph.payload(rank)).collect()
    }

    fn dependents_of(&self, node: NodeRef) -> Vec<NodeRef> {
        let graph = self.graph.borrow();
        let outs = graph.outs(node.rank.get()).filter(|out| out.1 != EdgeKind::Order);
        outs.filter_map(|(rank, _)| graph.payload(rank)).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::store::{wave::CLOCK_LIMIT, with_store};
    use crate::{Cell, Pipeline, combine};

    #[test]
    fn what_is_stale_stays_so_when_the_clock_starts_anew() {
        let (source, other) = (Cell::new(1), Cell::new(0));
        let lazy = (&source).map(|n| n + 1).materialize_lazy();
        let sums = (&source).scan(0, |sum, n| sum + n).materialize();
        let both = combine((&sums, &other), |(sum, other)| sum + other);
        source.set(2);
        assert!(with_store(|store| store.clock.set(CLOCK_LIMIT)).is_ok());
        other.set(10);
        assert_eq!(with_store(|store| store.clock.get() < 100).ok(), Some(true));
        assert_eq!((lazy.get(), sums.get(), both.get()), (3, 3, 13));
        source.set(3);
        assert_eq!((lazy.get(), sums.get(), both.get()), (4, 6, 16));
    }
}
