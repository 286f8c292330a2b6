//! The backlog: writes that were made in callbacks, from the queue into the waves, or the open batch, in which they are applied.
//!
//! A write waits in two places: what is written in the inbox of its cell, whose type it has, and its turn in the queue of the
//! store. Nothing is borrowed while user code runs, which may write again.

use super::kernel::End;
use super::node::NodeRef;
use super::queue::{Inbox, Origin, Waiting, Write};
use super::{Store, flag, sign};
use crate::error::{Error, Feedback};
use crate::graph::NONE;

impl Store {
    /// The callback that is running.
    fn origin(&self) -> Origin {
        if self.calling.get() != NONE {
            let (on, place) = self.subs.borrow().whose(self.calling.get());
            // A callback that has unsubscribed itself has no place any more.
            let place = (place != NONE).then(|| self.place(place));
            return Origin { on, place };
        }
        match self.current.get() {
            Some(node) if !node.has(flag::DEAD) => {
                Origin { on: self.id_of(node), place: Some(self.place(node.place)) }
            }
            _ => Origin { on: Default::default(), place: None },
        }
    }

    #[inline(never)]
    pub(super) fn enqueue<T: 'static>(&self, node: NodeRef, write: Write<T>) {
        self.enqueue_at(node, write, usize::MAX, usize::MAX);
    }

    /// Queues a write as number `at` of all and number `inbox_at` of its cell.
    pub(super) fn enqueue_at<T: 'static>(
        &self,
        node: NodeRef,
        write: Write<T>,
        at: usize,
        inbox_at: usize,
    ) {
        if node.has(flag::DEAD) {
            return;
        }
        self.with_inbox(node, |inbox: &mut Inbox<T>| {
            inbox.insert(inbox_at.min(inbox.len()), write);
        });
        let waiting = Waiting {
            cell: self.id_of(node),
            group: self.group.get(),
            generation: self.generation.get() + 1,
            origin: self.origin(),
            disposal: false,
        };
        self.queue.borrow_mut().insert(at, waiting);
        self.signs.raise(sign::PENDING);
    }

    pub(crate) fn pop_write<T: 'static>(&self, node: NodeRef) -> Option<Write<T>> {
        self.with_inbox(node, Inbox::<T>::pop_front)
    }

    /// Borrows the inbox of a cell, making it if need be. `f` must not run user code.
    pub(super) fn with_inbox<T: 'static, R>(
        &self,
        node: NodeRef,
        f: impl FnOnce(&mut Inbox<T>) -> R,
    ) -> R {
        let id = self.id_of(node);
        let mut tables = self.tables.borrow_mut();
        if !node.has(flag::INBOX) {
            node.raise(flag::INBOX);
            tables.inboxes.insert(id, Box::new(Inbox::<T>::new()));
        }
        let inbox: &mut dyn std::any::Any = &mut *tables.inboxes[id];
        f(inbox.downcast_mut().expect("an inbox has the type of its cell"))
    }

    /// A clone of the value that the cell will have once all that waits for it is applied.
    pub(super) fn last_queued<T: Clone + 'static>(&self, node: NodeRef) -> T {
        if !node.has(flag::INBOX) {
            return node.with(T::clone);
        }
        let len = self.with_inbox(node, |inbox: &mut Inbox<T>| inbox.len());
        let mut value: Option<T> = None;
        let mut from = 0;
        for at in (0..len).rev() {
            if self.is_set::<T>(node, at) {
                value = self.clone_queued(node, at);
                from = at + 1;
                break;
            }
        }
        let mut value = value.unwrap_or_else(|| node.with(T::clone));
        for at in from..len {
            self.work_off_modify(node, at, &mut value);
        }
        value
    }

    fn is_set<T: 'static>(&self, node: NodeRef, at: usize) -> bool {
        self.with_inbox(node, |inbox: &mut Inbox<T>| {
            matches!(inbox[at], Write::Set(_) | Write::SetUnless(..))
        })
    }

    /// Clones a queued value: it is taken out meanwhile, since `Clone` is user code.
    fn clone_queued<T: Clone + 'static>(&self, node: NodeRef, at: usize) -> Option<T> {
        let write = self.with_inbox(node, |inbox: &mut Inbox<T>| {
            std::mem::replace(&mut inbox[at], Write::Complete)
        });
        let value = match &write {
            Write::Set(value) | Write::SetUnless(value, _) => Some(value.clone()),
            _ => None,
        };
        self.with_inbox(node, |inbox: &mut Inbox<T>| inbox[at] = write);
        value
    }

    /// Runs a queued `modify` on `value` now and queues what it gave in its place.
    fn work_off_modify<T: Clone + 'static>(&self, node: NodeRef, at: usize, value: &mut T) {
        let write = self.with_inbox(node, |inbox: &mut Inbox<T>| match inbox[at] {
            Write::Modify(_) => Some(std::mem::replace(&mut inbox[at], Write::Complete)),
            _ => None,
        });
        if let Some(Write::Modify(change)) = write {
            change(value);
            let given = value.clone();
            // Still a `modify`: on a cell with a cut-off it counts as a change.
            let change = Box::new(move |held: &mut T| *held = given);
            self.with_inbox(node, |inbox: &mut Inbox<T>| inbox[at] = Write::Modify(change));
        }
    }

    /// Applies the writes that callbacks made while a batch is open: they join it.
    pub(crate) fn join_batch(&self) {
        loop {
            let waiting = self.queue.borrow_mut().pop();
            let Some(waiting) = waiting else { break };
            if !self.converges(waiting) {
                break;
            }
            self.generation.set(waiting.generation);
            self.apply_waiting(waiting);
        }
        self.generation.set(0);
    }

    fn apply_waiting(&self, waiting: Waiting) {
        self.tick();
        let Some(node) = self.find(waiting.cell) else {
            return;
        };
        if waiting.disposal {
            self.end_by_disposal(node, waiting.cell);
        } else if node.has(flag::EVENT) {
            self.await_round(node);
        } else {
            self.guarded(|| node.apply(self));
        }
    }

    /// Runs queued writes, each wave with all that it causes, until none is left or feedback does not converge.
    pub(crate) fn run_queue(&self) {
        loop {
            let waiting = self.queue.borrow_mut().pop();
            let Some(first) = waiting else { break };
            if !self.converges(first) {
                break;
            }
            self.generation.set(first.generation);
            self.open_wave();
            self.apply_waiting(first);
            loop {
                let more = self.queue.borrow_mut().pop_of_group(first.group);
                let Some(more) = more else { break };
                self.apply_waiting(more);
            }
            self.run_wave();
            self.bury();
            self.call_hooks();
        }
        self.generation.set(0);
    }

    fn converges(&self, next: Waiting) -> bool {
        let limits = self.limits.get();
        let waiting = self.queue.borrow().len();
        if next.generation.saturating_add(64) > limits.generations
            || waiting.saturating_mul(2) > limits.waiting
        {
            self.queue.borrow_mut().leave_trail(next);
        }
        if next.generation <= limits.generations && waiting < limits.waiting {
            return true;
        }
        self.stop_feedback(next, waiting + 1);
        false
    }

    /// Drops what waits and keeps a report for the outermost caller.
    #[cold]
    fn stop_feedback(&self, next: Waiting, waiting: usize) {
        let mut dropped = self.queue.borrow_mut().take_waiting();
        dropped.push_front(next);
        let trail = self.queue.borrow_mut().take_trail();
        let feedback =
            trail.into_iter().map(|(origin, wrote)| self.feedback(origin, wrote)).collect();
        for waiting in dropped {
            let Some(node) = self.find(waiting.cell) else {
                continue;
            };
            if waiting.disposal {
                self.record_end(node, waiting.cell, End::Complete);
                continue;
            }
            let inbox = self.tables.borrow_mut().inboxes.remove(waiting.cell);
            node.lower(flag::INBOX);
            self.guarded(|| drop(inbox));
        }
        self.signs.raise(sign::TROUBLED);
        *self.trip.borrow_mut() =
            Some(Error::NoConvergence { generation: next.generation, waiting, feedback });
    }

    fn feedback(&self, origin: Origin, wrote: crate::graph::CellKey) -> Feedback {
        let on = self.info(origin.on);
        Feedback { on, callback: origin.place, wrote: self.info(wrote) }
    }
}
