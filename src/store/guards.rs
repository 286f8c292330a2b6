//! Subscriptions as guards: made, ended, owned by cells.
//!
//! A guard keeps its cell alive, unless it is owned by that cell or by one upstream of it: that would be a ring which
//! nobody can free (rule C1). Whether it is upstream is asked when the guard is owned, and when an edge is made later.
//!
//! Costs: to subscribe and to unsubscribe is O(1); to own a guard searches upstream of its cell where the owner has dependents;
//! an edge made later searches upstream of its source for owners, once a cell of the store has owned a guard.

use std::panic::Location;

use uuid::Uuid;

use super::callback::CallbackBox;
use super::life::Remains;
use super::node::NodeRef;
use super::subscribers::SubKey;
use super::tables::Owned;
use super::{Store, flag};
use crate::subscription::SubscriptionGuard;

impl Store {
    /// Adds a subscriber that has seen all that happened so far.
    pub(crate) fn link_subscriber(
        &self,
        node: NodeRef,
        place: &'static Location<'static>,
        callback: CallbackBox,
    ) -> SubscriptionGuard {
        let source = self.id_of(node);
        let place = self.intern(place);
        let since = self.clock.get();
        self.tick();
        let (key, head) =
            self.subs.borrow_mut().append(node.subs.get(), source, since, place, callback);
        node.subs.set(head);
        self.retain(node);
        self.watch_observed(node);
        SubscriptionGuard::subscription(source, key)
    }

    /// Takes a subscriber out; an unknown key does nothing.
    pub(crate) fn unsubscribe(&self, key: SubKey) {
        let Some(source) = self.subs.borrow().source(key) else {
            return;
        };
        let Some(node) = self.find(source) else {
            return;
        };
        let mut subs = self.subs.borrow_mut();
        let counted = subs.is_counted(key);
        let (head, callback) = subs.remove(&self.cursor, node.subs.get(), key);
        drop(subs);
        node.subs.set(head);
        self.watch_observed(node);
        if counted {
            self.release(node);
        }
        if let Some(callback) = callback {
            self.drop_soon(Remains::Callback(callback));
        }
    }

    /// Makes `owner` keep a guard. A guard on the owner itself, or on a cell downstream of it, does not count (C1).
    pub(crate) fn own(&self, owner: NodeRef, key: Option<Uuid>, guard: SubscriptionGuard) {
        let id = self.id_of(owner);
        if let Some(on) = guard.key().and_then(|on| self.find(on))
            && self.is_upstream(owner, on)
        {
            self.stop_counting(&guard, on);
        }
        self.guards_owned.set(true);
        owner.raise(flag::OWNS);
        let mut tables = self.tables.borrow_mut();
        if !tables.owned.contains_key(id) {
            tables.owned.insert(id, Owned::default());
        }
        let replaced = tables.owned[id].add(key, guard);
        drop(tables);
        drop(replaced);
    }

    fn stop_counting(&self, guard: &SubscriptionGuard, on: NodeRef) {
        let counted = guard.sub_key().is_some_and(|key| self.subs.borrow_mut().stop_counting(key));
        if counted {
            self.release(on);
        }
    }

    /// A new edge may put a cell that owns a guard upstream of the guard's cell: such a guard does not count (rule C1).
    pub(super) fn settle_rings(&self, src: NodeRef, dst: NodeRef) {
        let mut ranks = self.scratch.take();
        self.graph.borrow_mut().ancestors(src.rank.get(), &mut ranks);
        let mut rings = Vec::new();
        for &rank in &ranks {
            let owner = self.graph.borrow().payload(rank);
            let Some(owner) = owner.filter(|owner| owner.has(flag::OWNS)) else { continue };
            let id = self.id_of(owner);
            let keys: Vec<_> = self.tables.borrow().owned[id].subscriptions().collect();
            rings.extend(keys);
        }
        *self.scratch.borrow_mut() = ranks;
        for key in rings {
            let on = self.subs.borrow().source(key).and_then(|on| self.find(on));
            if let Some(on) = on
                && self.is_upstream(dst, on)
                && self.subs.borrow_mut().stop_counting(key)
            {
                self.release(on);
            }
        }
    }
}
