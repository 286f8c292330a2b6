//! Reads that make dependencies: which cells a closure read, and what a read does that comes before its cell is computed.
//!
//! It knows no operators: a reader is a node whose closure runs inside [`Store::run_tracked`].
//!
//! Invariants: **T1** the cells in a reader's [`Deps`] are those that an edge leads from to it (before the reader has a
//! node: those of which a reference is held for the edge to come). **T2** while a closure waits for a cell, nothing is lent on the stack above
//! the reader's turn, so that other nodes may take theirs (see N3 of `node`).
//!
//! Costs: a read in the same order as in the last run is one comparison. A read out of that order looks through the
//! reader's inputs where these are few, in a set where they are many.

use std::collections::HashSet;
use std::panic::resume_unwind;

use indexmap::IndexSet;

use super::closure::{Closing, Making};
use super::kernel::Turn;
use super::node::NodeRef;
use super::tables::NumberHash;
use super::{Store, flag};
use crate::error::Fallible;
use crate::graph::{CellKey, EdgeKind};

/// Up to so many inputs are looked through one by one.
const FEW: usize = 32;

/// How much of the stack closures may use that wait for each other.
const STACK: usize = 64 * 1024;

/// What unwinds a closure that has to be run again later.
pub(crate) struct Abandoned;

/// What a closure does that reads a cell before that is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Waits {
    /// Takes the value of the moment: the reader runs again if it changes.
    Never,
    /// Lets the cell have its turn first, if that can be.
    InPlace,
    /// The same; else its run is abandoned and repeated later.
    OrAbandons,
}

/// How waiting for a cell has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Settled {
    /// The cell is up to date.
    Now,
    /// Something that it depends on has to be run again first, from further down the stack.
    Later,
    /// Nobody waits for the reader any more.
    Postponed,
}

/// The cells that a reader has read, in the order of its last run.
#[derive(Default)]
pub(crate) struct Deps {
    cells: Vec<NodeRef>,
    /// How many were read in this run.
    at: usize,
    wide: Option<Box<Wide>>,
    /// The cells that the last run made.
    made: Vec<CellKey>,
    /// Whether it holds a reference to each cell, for the edge that is to be made.
    owned: bool,
}

impl Drop for Deps {
    fn drop(&mut self) {
        if self.owned {
            self.cells.drain(..).for_each(super::release_node);
        }
    }
}

/// For a run that has left the order of many cells: `cells` then holds those read in this run only.
struct Wide {
    seen: HashSet<NodeRef, NumberHash>,
    rest: IndexSet<NodeRef, NumberHash>,
}

/// What is known of a cell that is read.
enum Place {
    Seen,
    Known,
    New,
}

impl Deps {
    /// Hands the cells over to edges, with the references held.
    pub(crate) fn hand_over(&mut self, mut visit: impl FnMut(NodeRef)) {
        self.owned = false;
        self.cells.iter().for_each(|&node| visit(node));
    }

    pub(crate) fn cells(&self) -> &[NodeRef] {
        &self.cells
    }

    /// Whether any has changed that the turn has not seen.
    pub(crate) fn fresh(&self, turn: Turn) -> bool {
        self.cells.iter().any(|&node| turn.sees(node))
    }

    fn is_next(&mut self, node: NodeRef) -> bool {
        let next = self.wide.is_none() && self.cells.get(self.at) == Some(&node);
        self.at += usize::from(next);
        next
    }

    fn place(&mut self, node: NodeRef) -> Place {
        if self.wide.is_none() && self.cells.len() > FEW {
            let rest = self.cells.drain(self.at..).collect();
            let seen = self.cells.iter().copied().collect();
            self.wide = Some(Box::new(Wide { seen, rest }));
        }
        if let Some(wide) = &mut self.wide {
            if wide.rest.swap_remove(&node) {
                self.push(node);
                return Place::Known;
            }
            return if wide.seen.contains(&node) { Place::Seen } else { Place::New };
        }
        match self.cells.iter().position(|&known| known == node) {
            Some(at) if at < self.at => Place::Seen,
            Some(at) => {
                self.cells[self.at..=at].rotate_right(1);
                self.at += 1;
                Place::Known
            }
            None => Place::New,
        }
    }

    /// Adds a cell as read in this run.
    fn push(&mut self, node: NodeRef) {
        match &mut self.wide {
            Some(wide) => {
                wide.seen.insert(node);
                self.cells.push(node);
            }
            None => self.cells.insert(self.at, node),
        }
        self.at += 1;
    }

    /// After a run that came to its end: takes out one of the cells that it did not read.
    fn pop_unread(&mut self) -> Option<NodeRef> {
        if let Some(wide) = &mut self.wide {
            let unread = wide.rest.pop();
            if unread.is_none() {
                self.wide = None;
            }
            return unread;
        }
        if self.cells.len() > self.at { self.cells.pop() } else { None }
    }

    /// Ends a run that did not: all cells stay.
    fn keep_all(&mut self) {
        if let Some(wide) = self.wide.take() {
            self.cells.extend(wide.rest);
        }
    }

    /// Takes the youngest of the cells out that the last run made.
    fn pop_made(&mut self) -> Option<CellKey> {
        self.made.pop()
    }

    /// Takes a cell out, if it is among them and nobody else holds it.
    fn take_orphan(&mut self, node: NodeRef) -> bool {
        let orphan = node.strong.get() == 1;
        let at = self.cells.iter().position(|&known| known == node).filter(|_| orphan);
        at.map(|at| self.cells.remove(at)).is_some()
    }
}

/// The closure that is running.
pub(crate) struct Tracker {
    /// Its node; none while that is being made.
    reader: Option<NodeRef>,
    deps: Deps,
    waits: Waits,
    /// The count of user code on the stack at its start: where it is higher, a value may be lent.
    busy: u32,
    /// Whether its run is being unwound, to be repeated later.
    abandoned: bool,
    /// Whether it is in the list of those that wait meanwhile.
    parked: bool,
}

/// A run under way; its drop puts everything back, also by unwinding.
struct Run<'a> {
    store: &'a Store,
    deps: &'a mut Deps,
    outer: Option<Tracker>,
    tracking: bool,
    reader: Option<NodeRef>,
    done: bool,
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        let tracker = self.store.tracker.replace(self.outer.take());
        self.store.tracking.set(self.tracking);
        let mut parked = false;
        if let Some(tracker) = tracker {
            *self.deps = tracker.deps;
            parked = tracker.parked;
        }
        if !self.done {
            self.deps.keep_all();
        }
        if let Some(reader) = self.reader.filter(|_| !parked) {
            reader.lower(flag::RUNNING);
        }
    }
}

/// Reads are not tracked while this lives.
pub(crate) struct Untracked<'a>(&'a Store, bool);

impl Drop for Untracked<'_> {
    fn drop(&mut self) {
        self.0.tracking.set(self.1);
    }
}

/// The same for a caller that keeps no store.
pub(crate) struct UntrackedHere(bool);

impl Drop for UntrackedHere {
    fn drop(&mut self) {
        let _ = super::with_store(|store| store.tracking.set(self.0));
    }
}

impl Store {
    /// [`Store::untrack`] for a caller that keeps no store.
    pub(crate) fn untrack_guard(&self) -> UntrackedHere {
        UntrackedHere(self.tracking.replace(false))
    }

    /// Reads are not tracked while what it gives lives.
    pub(crate) fn untrack(&self) -> Untracked<'_> {
        Untracked(self, self.tracking.replace(false))
    }

    /// The run at construction, before there is a node.
    pub(crate) fn seed_reader<R>(&self, deps: &mut Deps, f: impl FnOnce() -> R) -> R {
        deps.owned = true;
        let (given, closing) = self.run_closure(None, self.waits_at_most(Waits::InPlace), deps, f);
        self.seed_closing.replace(closing);
        given
    }

    /// A later run: what the last one has left is cleaned up first. `None` if that has killed the reader.
    pub(crate) fn turn_reader<R>(
        &self,
        reader: NodeRef,
        waits: Waits,
        deps: &mut Deps,
        f: impl FnOnce() -> R,
    ) -> Option<R> {
        self.close(reader, || ());
        while let Some(made) = deps.pop_made() {
            let made = self.find(made).filter(|&made| deps.take_orphan(made));
            made.into_iter().for_each(|made| self.disconnect(made, reader, EdgeKind::Trigger));
        }
        if reader.has(flag::DEAD | flag::DISPOSED) {
            return None;
        }
        let (given, closing) = self.run_closure(Some(reader), waits, deps, f);
        self.keep_closing(reader, closing, None);
        Some(given)
    }

    /// Whether a run at construction may wait for what it reads: not inside other user code, where a value may be lent.
    pub(crate) fn waits_at_most(&self, waits: Waits) -> Waits {
        if self.momentary.get() || waits == Waits::InPlace && self.busy.get() > 1 {
            Waits::Never
        } else {
            waits
        }
    }

    /// Runs the closure of a node: what it reads becomes its inputs.
    fn run_closure<R>(
        &self,
        reader: Option<NodeRef>,
        waits: Waits,
        deps: &mut Deps,
        f: impl FnOnce() -> R,
    ) -> (R, Option<Closing>) {
        self.call_closure(Making::Inside, || self.run_tracked(reader, waits, deps, f))
    }

    fn run_tracked<R>(
        &self,
        reader: Option<NodeRef>,
        waits: Waits,
        deps: &mut Deps,
        f: impl FnOnce() -> R,
    ) -> R {
        let mut taken = std::mem::take(deps);
        taken.at = 0;
        let tracker = Tracker {
            reader,
            deps: taken,
            waits,
            busy: self.busy.get(),
            abandoned: false,
            parked: false,
        };
        let refused = reader.is_some_and(|reader| reader.has(flag::REFUSED));
        if let Some(reader) = reader {
            reader.lower(flag::REFUSED | flag::REPEAT);
            reader.raise(flag::RUNNING);
        }
        let outer = self.tracker.replace(Some(tracker));
        let tracking = self.tracking.replace(true);
        let mut run = Run { store: self, deps, outer, tracking, reader, done: false };
        let given = f();
        if self.with_tracker(|tracker| tracker.abandoned) {
            // The closure has caught what was to unwind it.
            resume_unwind(Box::new(Abandoned));
        }
        run.done = true;
        drop(run);
        if let Some(reader) = reader {
            while let Some(unread) = deps.pop_unread() {
                self.disconnect(unread, reader, EdgeKind::Trigger);
            }
            if refused {
                // Its cycle may be gone, and no edge with it: those that it has stopped too may try again.
                self.wake_refused(reader);
            }
        }
        given
    }

    fn with_tracker<R>(&self, f: impl FnOnce(&mut Tracker) -> R) -> R {
        f(self.tracker.borrow_mut().as_mut().expect("a closure is running"))
    }

    /// Notes that the closure that is running makes a cell.
    pub(crate) fn note_making(&self, id: CellKey) {
        if let Some(tracker) = self.tracker.borrow_mut().as_mut() {
            tracker.deps.made.push(id);
        }
    }

    /// Makes a cell that is about to be read an input of the closure that is running, and brings it up to date.
    #[inline(never)]
    pub(crate) fn track(&self, node: NodeRef) -> Fallible<()> {
        let next = self.with_tracker(|tracker| !tracker.abandoned && tracker.deps.is_next(node));
        if next && !node.has(flag::RUNNING | flag::STALE) { Ok(()) } else { self.track_other(node) }
    }

    #[inline(never)]
    fn track_other(&self, node: NodeRef) -> Fallible<()> {
        let (reader, abandoned) = self.with_tracker(|t| (t.reader, t.abandoned));
        if abandoned {
            resume_unwind(Box::new(Abandoned));
        }
        if reader.is_some_and(|reader| reader.has(flag::DEAD | flag::DISPOSED)) {
            return Ok(());
        }
        match self.with_tracker(|tracker| tracker.deps.place(node)) {
            Place::New => self.track_new(reader, node),
            Place::Seen | Place::Known if node.has(flag::STALE) => self.wait_for(reader, node),
            Place::Seen | Place::Known => self.check_waiting(reader, node),
        }
    }

    fn track_new(&self, reader: Option<NodeRef>, node: NodeRef) -> Fallible<()> {
        if reader == Some(node) {
            return Err(self.refuse(node, node, vec![self.id_of(node); 2]));
        }
        self.wait_for(reader, node)?;
        if let Some(reader) = reader {
            if reader.has(flag::DEAD | flag::DISPOSED) {
                return Ok(());
            }
            self.connect_new(node, reader, EdgeKind::Trigger)
                .map_err(|path| self.refuse(reader, node, path))?;
        } else {
            self.retain(node);
        }
        self.with_tracker(|tracker| tracker.deps.push(node));
        self.force_pending(node);
        Ok(())
    }

    /// Lets a cell that is not up to date have its turn.
    fn wait_for(&self, reader: Option<NodeRef>, node: NodeRef) -> Fallible<()> {
        let waits = self.with_tracker(|tracker| tracker.waits);
        if waits == Waits::Never || !(node.has(flag::STALE) || self.is_behind(reader, node)) {
            return self.check_waiting(reader, node);
        }
        let lent = self.with_tracker(|tracker| self.busy.get() > tracker.busy);
        let settled = if !lent && self.has_stack() {
            self.settle_in_place(reader, node)
        } else {
            Settled::Later
        };
        match (settled, reader) {
            (Settled::Postponed, Some(reader)) => self.unwind(reader),
            // It has died meanwhile.
            (_, Some(reader)) if reader.has(flag::DEAD) => Ok(()),
            (Settled::Now, _) => self.check_waiting(reader, node),
            (Settled::Later, Some(reader)) if waits == Waits::OrAbandons => {
                self.abandon(reader, node)
            }
            _ => Ok(()),
        }
    }

    /// Ends the run of a closure, which is repeated when `node` is up to date.
    fn abandon(&self, reader: NodeRef, node: NodeRef) -> Fallible<()> {
        if cfg!(panic = "abort") {
            // Nothing can be unwound: the run goes on with the value of the moment, and is repeated when that changes.
            return self.check_waiting(Some(reader), node);
        }
        if self.waiting.borrow().is_empty() {
            if self.with_tracker(|tracker| matches!(tracker.deps.place(node), Place::New)) {
                self.connect_new(node, reader, EdgeKind::Trigger)
                    .map_err(|path| self.refuse(reader, node, path))?;
                self.with_tracker(|tracker| tracker.deps.push(node));
            }
        } else {
            if !self.waits_already(reader) {
                self.check_waiting(Some(reader), node)?;
                self.push_waiting(reader, node);
            }
            self.with_tracker(|tracker| tracker.parked = true);
        }
        self.unwind(reader)
    }

    /// Unwinds the closure of a reader, which is left dirty.
    fn unwind(&self, reader: NodeRef) -> ! {
        self.with_tracker(|tracker| tracker.abandoned = true);
        reader.raise(flag::REPEAT);
        if !reader.has(flag::DEAD) {
            self.graph.borrow_mut().mark_dirty(reader.rank.get());
        }
        resume_unwind(Box::new(Abandoned));
    }

    /// Whether one closure more may run on top of those that wait.
    pub(super) fn has_stack(&self) -> bool {
        let marker = 0_u8;
        let here = std::ptr::from_ref(&marker).addr();
        if self.waiting.borrow().is_empty() && !self.momentary.get() {
            self.stack_base.set(here);
        }
        self.stack_base.get().abs_diff(here) < STACK
    }

    /// Runs what `node` depends on, as far as it is dirty, while the closure of `reader` waits.
    ///
    /// Runs that were abandoned meanwhile stay in the list of those that wait. The outermost one works it off from its end,
    /// so that a cell has its turn before the one that reads it, however long the chain.
    fn settle_in_place(&self, reader: Option<NodeRef>, node: NodeRef) -> Settled {
        let depth = self.waiting.borrow().len();
        let current = self.current.get();
        self.note_part(reader);
        let _aside = self.set_aside();
        self.push_waiting(reader.unwrap_or(node), node);
        let settled = self.settle_waiting(node, depth);
        if depth == 0 {
            self.waiters_feed.set(false);
        }
        // Some may have had their turn with what a waiting one gave before: what that gives now is news to them.
        self.tick();
        self.current.set(current);
        settled
    }

    /// Works the list of those that wait off, down to `depth`; stops where a run is abandoned, unless it is the outermost.
    fn settle_waiting(&self, node: NodeRef, depth: usize) -> Settled {
        loop {
            let target = self.waiting.borrow().last().map_or(node, |waiting| waiting.1);
            if !target.has(flag::DEAD) && !self.settle_upstream(target, true) {
                match self.waiting.borrow().len() {
                    _ if depth == 0 => continue,
                    len if len <= depth => return Settled::Postponed,
                    _ => return Settled::Later,
                }
            }
            let Some((waiter, _)) = self.waiting.borrow_mut().pop() else { return Settled::Now };
            if self.waiting.borrow().len() <= depth {
                return Settled::Now;
            }
            waiter.lower(flag::RUNNING);
        }
    }

    /// Whether the list of those that wait has an entry of the reader: it has, once it has waited in place.
    fn waits_already(&self, reader: NodeRef) -> bool {
        self.waiting.borrow().iter().rev().any(|&(waiter, _)| waiter == reader)
    }

    fn push_waiting(&self, waiter: NodeRef, target: NodeRef) {
        self.waiting.borrow_mut().push((waiter, target));
        if self.graph.borrow().has_dependents(waiter.rank.get()) {
            self.waiters_feed.set(true);
        }
    }

    /// Refuses to read a cell that depends on a closure that waits, directly or not, for the one that is running.
    fn check_waiting(&self, reader: Option<NodeRef>, node: NodeRef) -> Fallible<()> {
        let Some(reader) = reader else { return Ok(()) };
        let waits = self.with_tracker(|tracker| tracker.waits);
        let told = node.has(flag::RUNNING) || self.waiters_feed.get();
        if !told || waits != Waits::OrAbandons {
            return Ok(());
        }
        // Those that wait for the reader come before it; those after it, it waits for.
        let mut waiting = self.waiting.borrow().clone();
        let own = waiting.iter().position(|&(waiter, _)| waiter == reader);
        waiting.truncate(own.unwrap_or(waiting.len()));
        // One that has died meanwhile has no place in the order any more.
        let feeds = |waiter: NodeRef| !waiter.has(flag::DEAD) && self.is_upstream(waiter, node);
        let found = waiting.iter().rposition(|&(waiter, _)| feeds(waiter));
        let Some(at) = found else { return Ok(()) };
        let mut path = vec![self.id_of(reader)];
        self.extend_path(&mut path, node, waiting[at].0);
        for (place, &(_, target)) in waiting.iter().enumerate().skip(at) {
            let low = waiting.get(place + 1).map_or(reader, |next| next.0);
            if !self.extend_path(&mut path, target, low) {
                return self.postpone(reader, place);
            }
        }
        path.dedup();
        Err(self.refuse(reader, node, path))
    }

    /// What number `place` of those that wait is waiting for does not depend on the next any more: all from there on, and
    /// the reader that runs, have their turns when that one is done.
    #[cold]
    fn postpone(&self, reader: NodeRef, place: usize) -> Fallible<()> {
        if cfg!(panic = "abort") {
            return Ok(());
        }
        for (waiter, _) in self.waiting.borrow_mut().drain(place + 1..) {
            waiter.lower(flag::RUNNING);
        }
        self.unwind(reader)
    }

    /// Adds the way by which `high` reads `low`, and tells whether there is one.
    fn extend_path(&self, path: &mut Vec<CellKey>, high: NodeRef, low: NodeRef) -> bool {
        if high.has(flag::DEAD) || low.has(flag::DEAD) {
            return false;
        }
        let graph = self.graph.borrow();
        let way = graph.route(high.rank.get(), low.rank.get());
        path.extend(way.iter().map(|&rank| graph.id(rank)));
        !way.is_empty()
    }
}

/// Whether a payload is that of an abandoned run.
pub(crate) fn is_abandoned(payload: &super::Payload) -> bool {
    payload.is::<Abandoned>()
}
