//! The rounds of a wave after its first: for events, each in its own (P12), and for cells that have more to give.

use super::node::NodeRef;
use super::queue::WaitingEvent;
use super::tables::LastEvent;
use super::{Store, add, flag, sign};

impl Store {
    /// [`Self::run_wave`] with events, each in its round, and with a scope to which callbacks do not belong.
    #[cold]
    #[inline(never)]
    pub(super) fn run_rounds(&self) {
        let scope = self.set_scope(None);
        loop {
            self.take_events();
            self.take_more();
            self.run_round();
            self.put_out_events();
            if !self.queue.borrow().has_events() && !self.signs.has(sign::MORE) {
                break;
            }
            self.next_round();
        }
        debug_assert_eq!(self.rounds_ahead.get(), 0, "the last round of an event is over");
        self.signs.lower(sign::EVENTFUL);
        self.set_scope(scope);
    }

    #[cold]
    pub(super) fn next_round(&self) {
        self.round_start.set(self.tick());
        add(&self.round, 1);
        self.rounds_ahead.set(self.rounds_ahead.get().saturating_sub(1));
    }

    /// Gives the last write in the node's inbox a round.
    pub(super) fn await_round(&self, node: NodeRef) {
        let id = self.id_of(node);
        let mut tables = self.tables.borrow_mut();
        if !tables.events.contains_key(id) {
            tables.events.insert(id, LastEvent::default());
        }
        let last = &mut tables.events[id];
        if last.round == self.round.get() + self.rounds_ahead.get() {
            add(&self.rounds_ahead, 1);
        }
        last.round = self.round.get() + self.rounds_ahead.get();
        let written = self.clock.get();
        let event = WaitingEvent { cell: id, round: last.round, written };
        self.queue.borrow_mut().push_event(event);
        self.signs.raise(sign::EVENTFUL);
    }

    /// Applies the events of the round.
    fn take_events(&self) {
        loop {
            let event = self.queue.borrow_mut().pop_event(self.round.get());
            let Some(event) = event else { return };
            if let Some(node) = self.find(event.cell) {
                let had_ended = node.has(flag::ENDED);
                // A later round comes after all that was written for the first: there, stamps tell the order.
                let later = event.written < self.round_start.get();
                if later {
                    self.tick();
                }
                self.guarded(|| node.apply(self));
                if !later {
                    self.note_written(node, event, had_ended);
                }
            }
        }
    }

    /// Notes when what an event brought was written: that is its place among what arrived in the first round.
    fn note_written(&self, node: NodeRef, event: WaitingEvent, had_ended: bool) {
        if node.has(flag::DEAD) {
            return;
        }
        let mut tables = self.tables.borrow_mut();
        if let Some(last) = tables.events.get_mut(event.cell) {
            (last.stamp, last.written) = (node.stamp.get(), event.written);
        }
        if !had_ended && let Some(ending) = tables.ends.get_mut(event.cell) {
            ending.written = event.written;
        }
    }

    /// The store's clock when the last change of an event cell was written.
    pub(crate) fn written(&self, node: NodeRef) -> u32 {
        let id = self.id_of(node);
        let stamp = node.stamp.get();
        let last = self.tables.borrow().events.get(id).copied();
        last.filter(|last| last.stamp == stamp).map_or(stamp, |last| last.written)
    }

    /// Drops an event when its round is over.
    fn put_out_events(&self) {
        let mut lit = self.lit.take();
        for id in lit.drain(..) {
            if let Some(node) = self.find(id) {
                self.guarded(|| node.clear());
            }
        }
        *self.lit.borrow_mut() = lit;
    }

    /// Gives a node a turn in the next round of the wave.
    pub(crate) fn turn_next_round(&self, node: NodeRef) {
        let id = self.id_of(node);
        let mut more = self.more.borrow_mut();
        if !more.contains(&id) {
            more.push(id);
        }
        self.signs.raise(sign::MORE);
    }

    /// Gives the node whose turn it is another one in the next round.
    pub(crate) fn turn_again(&self) {
        if let Some(node) = self.current.get() {
            self.turn_next_round(node);
        }
    }

    /// The round, for the turn under way; none if the turn is for a read in a batch.
    pub(crate) fn round_of_turn(&self) -> Option<u64> {
        (self.batch.get() == 0).then(|| self.round.get())
    }

    fn take_more(&self) {
        if !self.signs.take(sign::MORE) {
            return;
        }
        let mut more = self.more.take();
        for id in more.drain(..) {
            if let Some(node) = self.find(id) {
                self.mark_dirty(node);
            }
        }
        *self.more.borrow_mut() = more;
    }
}
