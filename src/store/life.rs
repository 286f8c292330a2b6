//! Birth and death of cells: links to inputs, reference counts, disposal, the graveyard.
//!
//! A cell whose last reference goes is dead at once: out of the graph and the lists, and so is, in a loop, every cell that
//! only it kept; writes that wait for it are skipped by its dead id. Its closure, value and memory go when no user code
//! is on the stack, since some of it may be running or lent: at once outside callbacks, else from the graveyard.

use std::panic::Location;

use super::callback::CallbackBox;
use super::kernel::{End, Kernel, Over, Turn, end_of_kernel};
use super::node::NodeRef;
use super::queue::{Origin, Waiting};
use super::tables::{Ending, Leftovers};
use super::{Store, flag, sign};
use crate::error::Fallible;
use crate::graph::{CellKey, EdgeKind, NONE, Rank};

/// What waits in the graveyard.
pub(crate) enum Remains {
    /// A dead node with all it has.
    Node(NodeRef),
    /// The behaviour of a cell that ended or was disposed of.
    Behaviour(NodeRef),
    Callback(CallbackBox),
    Leftovers(Leftovers),
    /// What else is the user's.
    #[cfg(feature = "trace")]
    Other(Box<dyn std::any::Any>),
}

impl Remains {
    /// Drops it. A panic of the user's `Drop` comes out, after the memory is freed.
    pub(crate) fn bury(self, store: &Store) {
        match self {
            Remains::Node(node) => {
                let freed = FreeOnDrop(node, store);
                node.drop_behaviour();
                drop(freed);
            }
            Remains::Behaviour(node) => node.drop_behaviour(),
            Remains::Callback(callback) => drop(callback),
            #[cfg(feature = "trace")]
            Remains::Other(other) => drop(other),
            Remains::Leftovers(mut leftovers) => {
                while let Some(guard) = leftovers.owned.pop() {
                    drop(guard);
                }
            }
        }
    }
}

/// Frees the node even if its behaviour's `Drop` panics.
struct FreeOnDrop<'a>(NodeRef, &'a Store);

impl Drop for FreeOnDrop<'_> {
    fn drop(&mut self) {
        self.0.free(self.1);
    }
}

impl Store {
    /// The live node of an id.
    #[inline]
    pub(crate) fn find(&self, id: CellKey) -> Option<NodeRef> {
        let graph = self.graph.borrow();
        let rank = graph.rank_of(id)?;
        graph.payload(rank)
    }

    pub(crate) fn id_of(&self, node: NodeRef) -> CellKey {
        self.graph.borrow().id(node.rank.get())
    }

    pub(crate) fn intern(&self, place: &'static Location<'static>) -> u32 {
        self.places.borrow_mut().intern(place)
    }

    pub(crate) fn place(&self, number: u32) -> &'static Location<'static> {
        self.places.borrow().get(number)
    }

    /// Puts a new node, which has one reference, into the arena.
    pub(crate) fn admit(&self, node: NodeRef) -> NodeRef {
        self.admit_above(node, None);
        node
    }

    /// The same for a node whose highest input is at `floor`.
    fn admit_above(&self, node: NodeRef, floor: Option<Rank>) -> CellKey {
        let mut graph = self.graph.borrow_mut();
        let (id, rank) = match self.lowest_place(floor) {
            Some(from) => graph.insert_from(from, node),
            None => graph.insert_ranked(node),
        };
        drop(graph);
        node.rank.set(rank);
        self.note_born(node);
        self.order_behind_maker(node);
        if self.keep_events.get() > 0 {
            node.raise(flag::EVENT);
        }
        if self.signs.has(sign::SCOPED)
            && let Some(scope) = self.current_scope()
        {
            if scope.is_closure() {
                scope.note_made(id);
                self.note_making(id);
            } else {
                self.retain(node);
                scope.take_cell(id);
            }
        }
        id
    }

    /// Computes the seed of a derived cell and puts it into the arena, linked to its inputs.
    pub(crate) fn derive<K: Kernel>(
        &self,
        mut kernel: K,
        place: &'static Location<'static>,
    ) -> Fallible<NodeRef> {
        let mut lent = None;
        kernel.inputs(&mut |input| {
            let checked = self.check_lent(input.node(), place);
            lent = lent.take().or(checked.err());
            self.settle_to_observe(input.node());
        });
        if let Some(error) = lent {
            return Err(error);
        }
        let busy = self.enter();
        let mut upstream = Upstreams(self, self.upstream.take());
        kernel.inputs(&mut |input| {
            upstream.1.push((input.node(), input.kind()));
            input.linked();
        });
        let mut value = None;
        let aside = self.untrack();
        let over = kernel.turn(Turn::SEED, |seed| value = Some(seed));
        drop(aside);
        if K::TRACKED {
            kernel.inputs(&mut |input| upstream.1.push((input.node(), input.kind())));
        }
        let Some(value) = value else {
            unreachable!("a definite pipeline gives a value at construction")
        };
        let end = (over != Over::No).then(|| end_of_kernel(&kernel, over));
        let place = self.intern(place);
        let node = NodeRef::derived(self, value, kernel, place);
        self.tick();
        let floor = upstream.1.iter().map(|up| up.0.rank.get()).max();
        let id = self.admit_above(node, floor);
        match end {
            None => self.link_all(&mut upstream.1, node),
            Some(end) => {
                self.record_end(node, id, end);
                self.entomb(Remains::Behaviour(node));
            }
        }
        drop(upstream);
        if K::TRACKED {
            let closing = self.seed_closing.take();
            self.keep_closing(node, closing, None);
        }
        // Nobody has taken the new cell's reference yet.
        let kept = Kept(self, node);
        busy.leave()?;
        std::mem::forget(kept);
        Ok(node)
    }

    /// Links each input once; the edge takes over the reference that came with it.
    fn link_all(&self, upstream: &mut Vec<(NodeRef, EdgeKind)>, node: NodeRef) {
        if let [(up, kind)] = upstream[..] {
            upstream.clear();
            return self.link_input(up, node, kind);
        }
        // An input that triggers is not needed as a passive one too.
        if upstream.iter().any(|up| up.1 == EdgeKind::Passive) {
            upstream.sort_by_key(|&(_, kind)| kind == EdgeKind::Passive);
        }
        let mut seen = Seen::default();
        for (up, kind) in upstream.drain(..) {
            if seen.is_new(up) {
                self.link_input(up, node, kind);
            } else {
                up.strong.set(up.strong.get() - 1);
            }
        }
    }

    fn link_input(&self, up: NodeRef, node: NodeRef, kind: EdgeKind) {
        // A new node has no dependents and is above its inputs, so that no order can be against it.
        let moved = |moved: NodeRef, rank| moved.rank.set(rank);
        let (src, dst) = (up.rank.get(), node.rank.get());
        if up.has(flag::RUNNING) {
            self.waiters_feed.set(true);
        }
        let _ = self.graph.borrow_mut().link_new(src, dst, kind, moved);
        node.ask_ends_of(up);
        self.watch_observed(up);
    }

    #[inline]
    pub(crate) fn retain(&self, node: NodeRef) {
        debug_assert!(!node.has(flag::DEAD));
        node.strong.set(node.strong.get() + 1);
    }

    /// Gives one reference back.
    #[inline]
    pub(crate) fn release(&self, node: NodeRef) {
        let strong = node.strong.get() - 1;
        node.strong.set(strong);
        if strong == 0 {
            self.kill(node);
        }
    }

    /// Puts something into the graveyard for the time when no user code is on the stack.
    pub(crate) fn entomb(&self, remains: Remains) {
        self.graveyard.borrow_mut().push(remains);
        self.signs.raise(sign::PENDING);
    }

    /// Drops something as soon as no user code is on the stack: now, or from the graveyard.
    pub(super) fn drop_soon(&self, remains: Remains) {
        if self.busy.get() != 0 {
            return self.entomb(remains);
        }
        self.busy.set(1);
        self.guarded(|| remains.bury(self));
        self.busy.set(0);
        if self.signs.has(sign::PENDING | sign::TROUBLED) {
            self.rest_and_report();
        }
    }

    /// Takes a node without references, and all that only it kept, out of the graph.
    fn kill(&self, node: NodeRef) {
        let mut at = self.graveyard.borrow().len();
        self.detach(node);
        while let Some(next) = self.next_dying(&mut at) {
            self.detach(next);
        }
        self.close_dead();
        self.drop_soon(Remains::Node(node));
    }

    fn next_dying(&self, at: &mut usize) -> Option<NodeRef> {
        let yard = self.graveyard.borrow();
        loop {
            let remains = yard.get(*at)?;
            *at += 1;
            if let Remains::Node(node) = remains {
                return Some(*node);
            }
        }
    }

    fn detach(&self, node: NodeRef) {
        // Read once: a load of what was just stored in part waits for it.
        let flags = node.flags.get();
        node.flags.set(flags | flag::DEAD);
        self.note_dead(node);
        // What was known of its address may not be true of the next node there.
        self.marks.set(self.marks.get() + 1);
        if node.subs.get() != NONE {
            self.drop_subscribers(node);
        }
        if flags & flag::CLOSING != 0 {
            self.entomb_closing(node);
        }
        if flags & flag::TABLED != 0 {
            let id = self.id_of(node);
            let leftovers = self.tables.borrow_mut().take(id);
            self.entomb(Remains::Leftovers(leftovers));
        }
        if flags & flag::ON_CYCLE != 0 {
            self.wake_refused(node);
        }
        self.unlink_inputs(node);
        self.graph.borrow_mut().remove(node.rank.get());
    }

    /// Takes all subscribers away; tells how many kept the node alive.
    fn drop_subscribers(&self, node: NodeRef) -> u32 {
        let mut yard = self.graveyard.borrow_mut();
        let mut subs = self.subs.borrow_mut();
        let counted = subs.remove_all(&self.cursor, node.subs.get(), |callback| {
            yard.push(Remains::Callback(callback));
        });
        node.subs.set(NONE);
        self.signs.raise(sign::PENDING);
        counted
    }

    /// A disposed cell has nothing more to tell: its subscriptions end, also those that were leaked.
    #[cold]
    pub(crate) fn end_subscriptions(&self, node: NodeRef) {
        // Its last reference may have gone in the callbacks.
        if node.has(flag::DEAD) {
            return;
        }
        self.retain(node);
        for _ in 0..self.drop_subscribers(node) {
            self.release(node);
        }
        self.release(node);
    }

    /// Cuts all edges to the inputs; inputs that lose their last reference join the dying (the caller is `kill`, or
    /// calls [`Self::let_go_of_inputs`]).
    #[inline]
    fn unlink_inputs(&self, node: NodeRef) {
        if self.graph.borrow().has_inputs(node.rank.get()) {
            self.unlink_each(node);
        }
    }

    fn unlink_each(&self, node: NodeRef) {
        loop {
            let mut graph = self.graph.borrow_mut();
            let Some((rank, kind)) = graph.pop_in(node.rank.get()) else {
                return;
            };
            let input = graph.payload(rank).expect("an edge joins live cells");
            drop(graph);
            if kind == EdgeKind::Order {
                continue;
            }
            let strong = input.strong.get() - 1;
            input.strong.set(strong);
            if strong == 0 {
                self.entomb(Remains::Node(input));
            } else {
                self.watch_observed(input);
            }
        }
    }

    /// [`Self::unlink_inputs`] for a node that lives on.
    pub(crate) fn let_go_of_inputs(&self, node: NodeRef) {
        let mut at = self.graveyard.borrow().len();
        self.wake_refused(node);
        self.unlink_inputs(node);
        while let Some(next) = self.next_dying(&mut at) {
            self.detach(next);
        }
        self.close_dead();
    }

    /// Frees what is in the graveyard. No user code is on the stack, so nothing there is lent or running.
    pub(crate) fn bury(&self) {
        loop {
            let mut yard = self.graveyard.take();
            if yard.is_empty() {
                break;
            }
            for remains in yard.drain(..) {
                self.guarded(|| remains.bury(self));
            }
            if yard.capacity() <= 4096 && self.graveyard.borrow().is_empty() {
                *self.graveyard.borrow_mut() = yard;
                if self.graveyard.borrow().is_empty() {
                    break;
                }
            }
        }
    }

    /// Squeezes unused ranks out when they are many.
    pub(crate) fn tidy(&self) {
        let mut graph = self.graph.borrow_mut();
        if graph.needs_compaction() {
            graph.compact(|node: NodeRef, rank| node.rank.set(rank));
        }
    }

    /// Ends a cell although references are left (rule C7).
    pub(crate) fn dispose(&self, node: NodeRef) -> Fallible<()> {
        if node.has(flag::DISPOSED) {
            return Ok(());
        }
        self.retain(node);
        // Also when a panic goes on from here.
        let _kept = Kept(self, node);
        node.raise(flag::DISPOSED);
        let id = self.id_of(node);
        self.write_as_callback_or_wave(
            || {
                self.strip(node, id);
                // What it had goes before anybody hears of the end.
                if self.busy.get() == 0 && self.signs.has(sign::PENDING) {
                    self.rest();
                }
            },
            || self.end_by_disposal(node, id),
            || self.queue_disposal(id),
        )
    }

    /// Takes away all that a disposed cell has: closure, edges to inputs, guards, hooks. Writes that wait are skipped.
    fn strip(&self, node: NodeRef, id: CellKey) {
        self.graph.borrow_mut().take_dirty(node.rank.get());
        // Nobody will see what a cut-off has not compared yet.
        node.lower(flag::PENDING | flag::FORCED);
        self.entomb_closing(node);
        self.let_go_of_inputs(node);
        if node.has(flag::KERNEL) {
            self.entomb(Remains::Behaviour(node));
        }
        if node.has(flag::OWNS | flag::HOOKED) {
            let mut tables = self.tables.borrow_mut();
            let mut owned = tables.owned.remove(id).unwrap_or_default();
            let hooks = tables.hooks.remove(id).unwrap_or_default();
            drop(tables);
            node.lower(flag::OWNS | flag::HOOKED);
            self.entomb(Remains::Leftovers(Leftovers::of(hooks)));
            while let Some(guard) = owned.pop() {
                self.guarded(|| drop(guard));
            }
        }
    }

    /// The signal of a disposal, in an open wave: `Complete`, if the cell had not ended. Its delivery also ends the
    /// subscriptions.
    pub(crate) fn end_by_disposal(&self, node: NodeRef, id: CellKey) {
        if !node.has(flag::ENDED) {
            self.record_end(node, id, End::Complete);
            self.touch_end(node);
        } else if node.subs.get() != NONE {
            self.mark_deliver(node);
        }
    }

    fn queue_disposal(&self, id: CellKey) {
        let waiting = Waiting {
            cell: id,
            group: self.group.get(),
            generation: self.generation.get() + 1,
            origin: Origin { on: id, place: None },
            disposal: true,
        };
        self.queue.borrow_mut().push(waiting);
        self.signs.raise(sign::PENDING);
    }

    pub(crate) fn record_end(&self, node: NodeRef, id: CellKey, end: End) {
        node.raise(flag::ENDED);
        let graph = self.graph.borrow();
        let readers = graph.outs(node.rank.get()).filter_map(|(reader, _)| graph.payload(reader));
        readers.for_each(|reader| reader.raise(flag::ASKS_ENDS));
        drop(graph);
        if matches!(end, End::Error(_)) {
            node.raise(flag::FAILED);
        }
        let stamp = self.clock.get();
        let ending = Ending { end, stamp, written: stamp };
        self.tables.borrow_mut().ends.insert(id, ending);
    }

    /// A kernel ended in its turn: it lets go of its inputs at once.
    #[cold]
    pub(crate) fn ended_in_turn(&self, node: NodeRef, end: End) {
        let id = self.id_of(node);
        self.record_end(node, id, end);
        // It may have been woken meanwhile.
        self.graph.borrow_mut().take_dirty(node.rank.get());
        // Before the node itself, which may die of the clean-up of an input.
        self.entomb(Remains::Behaviour(node));
        self.let_go_of_inputs(node);
    }

    pub(crate) fn end_written(&self, node: NodeRef) -> Option<u32> {
        let id = self.id_of(node);
        self.tables.borrow().ends.get(id).map(|ending| ending.written)
    }

    pub(crate) fn end_of(&self, node: NodeRef) -> Option<End> {
        if !node.has(flag::ENDED) {
            return None;
        }
        let id = self.id_of(node);
        self.tables.borrow().ends.get(id).map(|ending| ending.end.clone())
    }
}

/// References to the inputs of a kernel on their way into edges; those that do not get there are given back.
struct Upstreams<'a>(&'a Store, Vec<(NodeRef, EdgeKind)>);

impl Drop for Upstreams<'_> {
    fn drop(&mut self) {
        self.1.drain(..).for_each(|(node, _)| self.0.release(node));
        *self.0.upstream.borrow_mut() = std::mem::take(&mut self.1);
    }
}

/// A reference that is given back at the end of a block, also by unwinding.
struct Kept<'a>(&'a Store, NodeRef);

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        self.0.release(self.1);
    }
}

/// Which inputs were linked already: a list for a few, a set for many.
#[derive(Default)]
struct Seen {
    few: Vec<NodeRef>,
    many: std::collections::HashSet<u32>,
}

impl Seen {
    const FEW: usize = 16;

    fn is_new(&mut self, node: NodeRef) -> bool {
        if self.many.is_empty() && self.few.len() < Self::FEW {
            let new = !self.few.contains(&node);
            if new {
                self.few.push(node);
            }
            return new;
        }
        self.many.extend(self.few.drain(..).map(|node| node.rank.get()));
        self.many.insert(node.rank.get())
    }
}
