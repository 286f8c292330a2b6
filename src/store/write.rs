//! Writes: at once where no user code is on the stack, joined to an open batch, queued in a callback.

use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};

use super::kernel::End;
use super::node::{Event, NodeRef, drop_guarded};
use super::probe::frames;
use super::queue::{Inbox, Write};
use super::{Payload, Store, add, flag, sign};
use crate::error::Fallible;
use crate::graph::{Links, NONE};

impl Store {
    /// Applies a plain `set` now or queues it, as rule P0 says. What each caller holds of it is the access to the store.
    #[inline(never)]
    pub(crate) fn set<T: 'static>(&self, node: NodeRef, value: T) -> Fallible<()> {
        let ordinary = self.busy.get() | self.batch.get() | self.signs.all() == 0;
        if ordinary && !node.has(flag::SPECIAL) && !self.is_clock_full() {
            return self.set_alone(node, value, false);
        }
        self.set_inside(node, value)
    }

    /// A `set` that is not ordinary; the usual one is in the body of a batch.
    #[inline(never)]
    fn set_inside<T: 'static>(&self, node: NodeRef, value: T) -> Fallible<()> {
        // What a logger has written in the opening of the batch waits for a write like this one.
        let waits = self.busy.get() != 0 || self.signs.has(sign::PENDING);
        if waits || self.batch.get() == 0 || node.has(flag::SPECIAL | flag::EVENT) {
            return self.set_specially(node, value);
        }
        self.set_in_batch(node, value)
    }

    #[inline(never)]
    fn set_specially<T: 'static>(&self, node: NodeRef, value: T) -> Fallible<()> {
        let node = self.usable(node)?;
        self.write(node, Write::Set(value))
    }

    /// A plain `set` joins the open batch. Where values have no `Drop`, no user code runs.
    #[inline(always)]
    fn set_in_batch<T: 'static>(&self, node: NodeRef, value: T) -> Fallible<()> {
        let _busy = std::mem::needs_drop::<T>().then(|| self.enter());
        let now = self.tick();
        let old = node.swap(value);
        node.stamp.set(now);
        self.touch_live(node);
        drop(old);
        Ok(())
    }

    /// Applies a write now or queues it.
    #[inline]
    pub(crate) fn write<T: 'static>(&self, node: NodeRef, write: Write<T>) -> Fallible<()> {
        if self.busy.get() != 0 {
            self.enqueue(node, write);
            return Ok(());
        }
        if self.batch.get() != 0 {
            let _busy = self.enter();
            // Stamps tell the order in which the cells of a batch were written.
            self.tick();
            self.apply(node, write);
            return Ok(());
        }
        match write {
            Write::Set(value) if !node.has(flag::SPECIAL) => {
                self.set_alone(node, value, self.signs.has(sign::SCOPED))
            }
            write => self.wave_of(|| self.apply_event(node, write)),
        }
    }

    /// The wave of a plain `set`. What follows the store of the value is the same code for all types without a `Drop`.
    #[inline(always)]
    fn set_alone<T: 'static>(&self, node: NodeRef, value: T, scoped: bool) -> Fallible<()> {
        self.busy.set(1);
        self.open_wave();
        let old = frames::Cell::write_value(node, value, self);
        if std::mem::needs_drop::<T>() || scoped {
            self.tell_of_set(node, scoped, || drop_guarded(old, self))
        } else {
            self.tell_of_plain_set(node)
        }
    }

    #[inline(never)]
    fn tell_of_plain_set(&self, node: NodeRef) -> Fallible<()> {
        self.tell_of_set(node, false, || ())
    }

    /// Settles and delivers a `set`. Without dependents there is nothing to settle, and the only cell to deliver is known.
    #[inline(always)]
    fn tell_of_set(&self, node: NodeRef, scoped: bool, drop_old: impl FnOnce()) -> Fallible<()> {
        let links = self.graph.borrow().links(node.rank.get());
        if !links.is_empty() || scoped || self.visits_all() {
            self.touch_set(node, links);
            drop_old();
            return if scoped { self.finish_wave() } else { self.finish_plain_wave() };
        }
        drop_old();
        self.note_emit_alone(node);
        self.note_lap();
        self.deliver_to(node);
        add(&self.counters.rounds, 1);
        add(&self.counters.waves, 1);
        self.settle_rest()
    }

    #[inline(never)]
    fn touch_set(&self, node: NodeRef, links: Links) {
        self.marks.set(self.marks.get() + 1);
        self.mark_emit(node);
        self.graph.borrow_mut().mark_links_outside(links);
    }

    #[inline(never)]
    fn finish_plain_wave(&self) -> Fallible<()> {
        self.run_plain_wave();
        self.settle_rest()
    }

    /// Runs `apply` as a wave of its own, then all that it caused.
    #[inline]
    pub(crate) fn wave_of(&self, apply: impl FnOnce()) -> Fallible<()> {
        self.busy.set(1);
        self.open_wave();
        self.guarded(apply);
        self.finish_wave()
    }

    /// Settles and delivers the open wave, then all that it caused.
    #[inline(never)]
    fn finish_wave(&self) -> Fallible<()> {
        self.run_wave();
        self.settle_rest()
    }

    #[inline]
    fn settle_rest(&self) -> Fallible<()> {
        self.busy.set(0);
        if self.signs.has(sign::PENDING | sign::TROUBLED) { self.rest_of_call() } else { Ok(()) }
    }

    #[cold]
    #[inline(never)]
    fn rest_of_call(&self) -> Fallible<()> {
        if self.signs.has(sign::PENDING) {
            self.rest();
        }
        self.outcome()
    }

    /// Runs `prepare` now; then `apply` as a write, or `queue` where writes wait.
    pub(crate) fn write_as_callback_or_wave(
        &self,
        prepare: impl FnOnce(),
        apply: impl FnOnce(),
        queue: impl FnOnce(),
    ) -> Fallible<()> {
        prepare();
        if self.busy.get() != 0 {
            queue();
            return Ok(());
        }
        if self.batch.get() != 0 {
            let _busy = self.enter();
            self.tick();
            apply();
            return Ok(());
        }
        self.wave_of(apply)
    }

    /// Makes the writes of `f` one wave (rules P3, P4, P8).
    pub(crate) fn in_batch<R>(&self, f: impl FnOnce() -> R) -> Fallible<R> {
        if self.busy.get() != 0 {
            return Ok(self.in_group(f));
        }
        if self.batch.get() == 0 {
            self.open_wave();
        }
        self.batch.set(self.batch.get() + 1);
        let given = catch_unwind(AssertUnwindSafe(f));
        self.batch.set(self.batch.get() - 1);
        if self.batch.get() > 0 {
            return Ok(given.unwrap_or_else(|payload| resume_unwind(payload)));
        }
        self.busy.set(1);
        let given = given.map_err(|payload| self.caught(payload));
        self.finish_wave()?;
        Ok(given.unwrap_or_else(|()| unreachable!("the panic of the body went on in `outcome`")))
    }

    /// A batch in a callback: what it writes waits as one group.
    fn in_group<R>(&self, f: impl FnOnce() -> R) -> R {
        struct Close<'a>(&'a Store, u32);
        impl Drop for Close<'_> {
            fn drop(&mut self) {
                self.0.group.set(self.1);
            }
        }
        let outer = self.group.get();
        let _close = Close(self, outer);
        if outer == 0 {
            self.group.set(self.queue.borrow_mut().open_group());
        }
        f()
    }

    /// Applies a write inside an open wave; an event waits for its round (P12).
    fn apply<T: 'static>(&self, node: NodeRef, write: Write<T>) {
        if node.has(flag::EVENT) {
            // Behind the events of the cell, before what callbacks have written to it since.
            let before = self.queue.borrow().events_before_waiting(self.id_of(node));
            self.with_inbox(node, |inbox: &mut Inbox<T>| {
                inbox.insert(before.min(inbox.len()), write);
            });
            self.await_round(node);
        } else {
            self.apply_event(node, write);
        }
    }

    /// Applies a write to the cell itself. Runs user code (the old value's `Drop`, a `modify`).
    pub(crate) fn apply_event<T: 'static>(&self, node: NodeRef, write: Write<T>) {
        if node.has(flag::ENDED | flag::DISPOSED | flag::DEAD) {
            return;
        }
        match write {
            Write::Set(value) => self.put(node, value),
            Write::SetUnless(value, same) => {
                if !node.with(|current| same(current, &value)) {
                    self.put(node, value);
                }
            }
            Write::Modify(change) => {
                let place = self.place(node.place);
                let changed = self.change_in_place(node, place, change);
                changed.unwrap_or_else(|payload| self.caught(payload));
            }
            Write::Complete => self.end(node, End::Complete),
            Write::Fail(error) => self.end(node, End::Error(error)),
        }
    }

    /// Stores a value; the old one is dropped when dependents know.
    #[inline]
    fn put<T: 'static>(&self, node: NodeRef, value: T) {
        let old = node.swap(value);
        if node.has(flag::CUTOFF | flag::SOURCE) {
            return self.put_special(node, old);
        }
        self.touch(node);
        drop(old);
    }

    #[cold]
    fn put_special<T: 'static>(&self, node: NodeRef, old: T) {
        if node.has(flag::CUTOFF) {
            let seen = if node.has(flag::FORCED) { node.take_base::<T>() } else { None };
            let spare = node.set_base(old, self.clock.get());
            node.lower(flag::FORCED);
            node.raise(flag::PENDING);
            self.mark_dirty(node);
            drop((seen, spare));
        } else {
            self.lit.borrow_mut().push(self.id_of(node));
            self.signs.raise(sign::EVENTFUL);
            self.touch(node);
            drop(old);
        }
    }

    /// Lets `change` work on the value where it is, then tells dependents, even if it panics.
    fn change_in_place<T: 'static>(
        &self,
        node: NodeRef,
        place: &'static Location<'static>,
        change: impl FnOnce(&mut T),
    ) -> Result<(), Payload> {
        node.raise(flag::LENT);
        self.lend(node, place);
        let outcome = catch_unwind(AssertUnwindSafe(|| node.with_mut(change)));
        self.take_back();
        node.lower(flag::LENT);
        if node.has(flag::CUTOFF) {
            node.lower(flag::PENDING | flag::FORCED);
            drop(node.take_base::<T>());
        }
        self.touch(node);
        outcome
    }

    fn lend(&self, node: NodeRef, place: &'static Location<'static>) {
        self.lent.borrow_mut().push((node, place));
        self.lent_count.set(self.lent_count.get() + 1);
    }

    fn take_back(&self) {
        self.lent.borrow_mut().pop();
        self.lent_count.set(self.lent_count.get() - 1);
    }

    /// Marks a value as changed now and its dependents as dirty.
    #[inline]
    pub(crate) fn touch(&self, node: NodeRef) {
        node.stamp.set(self.clock.get());
        self.touch_end(node);
    }

    /// Makes dependents and subscribers look at a cell.
    #[inline]
    pub(crate) fn touch_end(&self, node: NodeRef) {
        self.marks.set(self.marks.get() + 1);
        self.mark_followers(node);
    }

    /// The same for a change that a turn made: what was up to date before and is not downstream stays so.
    #[inline]
    pub(crate) fn mark_followers(&self, node: NodeRef) {
        if !node.has(flag::DEAD) {
            self.mark_followers_of_live(node);
        }
    }

    #[inline]
    fn touch_live(&self, node: NodeRef) {
        self.marks.set(self.marks.get() + 1);
        self.mark_followers_of_live(node);
    }

    #[inline]
    fn mark_followers_of_live(&self, node: NodeRef) {
        self.mark_emit(node);
        self.graph.borrow_mut().mark_dependents_outside(node.rank.get());
    }

    /// Notes that a cell has something to tell those who listen.
    #[inline(always)]
    fn mark_emit(&self, node: NodeRef) {
        self.note_emit(node);
        if node.subs.get() != NONE || self.visits_all() {
            self.mark_deliver(node);
        }
    }

    pub(crate) fn mark_dirty(&self, node: NodeRef) {
        if node.has(flag::DEAD | flag::ENDED | flag::DISPOSED) {
            return;
        }
        self.marks.set(self.marks.get() + 1);
        self.graph.borrow_mut().mark_dirty(node.rank.get());
    }

    fn end(&self, node: NodeRef, end: End) {
        self.record_end(node, self.id_of(node), end);
        self.touch_end(node);
    }

    /// Writes by a closure that runs at once (C8): in place where that can be, else on a clone of the last queued value.
    pub(crate) fn update<T: Clone + 'static>(
        &self,
        node: NodeRef,
        place: &'static Location<'static>,
        change: impl FnOnce(&mut T),
    ) -> Fallible<()> {
        self.check_lent(node, place)?;
        if node.has(flag::ENDED) {
            return Ok(());
        }
        if self.busy.get() != 0 {
            // Its place in the order is that of the call: before what the closure itself writes.
            let at = self.queue.borrow().len();
            let inbox_at = self.with_inbox(node, |inbox: &mut Inbox<T>| inbox.len());
            let value = self.update_clone(node, place, change);
            self.enqueue_at(node, Write::Set(value), at, inbox_at);
            return Ok(());
        }
        let batched = self.batch.get() != 0;
        let on_clone = node.has(flag::CUTOFF) || (batched && node.has(flag::EVENT));
        let apply = || -> Result<(), Payload> {
            if !on_clone {
                return self.change_in_place(node, place, change);
            }
            let value = self.update_clone(node, place, change);
            if batched {
                self.apply(node, Write::Set(value));
            } else {
                self.apply_event(node, Write::Set(value));
            }
            Ok(())
        };
        if batched {
            let _busy = self.enter();
            self.tick();
            // The closure is the caller's own: its panic goes straight on, out of the batch's body.
            apply().unwrap_or_else(|payload| resume_unwind(payload));
            return Ok(());
        }
        self.wave_of(|| apply().unwrap_or_else(|payload| self.caught(payload)))
    }

    /// Runs `change` on a clone of the last queued value. The cell counts as lent meanwhile, as it does in place.
    fn update_clone<T: Clone + 'static>(
        &self,
        node: NodeRef,
        place: &'static Location<'static>,
        change: impl FnOnce(&mut T),
    ) -> T {
        struct Lent<'a>(&'a Store);
        impl Drop for Lent<'_> {
            fn drop(&mut self) {
                self.0.take_back();
            }
        }
        let _busy = self.enter();
        let mut value = self.last_queued::<T>(node);
        self.lend(node, place);
        let _lent = Lent(self);
        change(&mut value);
        value
    }

    /// Sends an event: the value of a `Source` is the event itself.
    pub(crate) fn emit<T: 'static>(&self, node: NodeRef, value: T) -> Fallible<()> {
        self.write(node, Write::Set(Event(Some(value))))
    }
}
