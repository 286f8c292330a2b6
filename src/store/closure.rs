//! Closures of the user that make cells and register clean-ups each time they run: the scope of a run, and where in the
//! order its cells go.
//!
//! It knows no operators; who runs a closure says which node it belongs to.
//!
//! Invariants: **K1** the clean-ups of a run are in the table of closings exactly while the node has [`flag::CLOSING`].
//! **K2** each clean-up is called once, with no scope, no maker and no tracking set.
//!
//! Costs: a run without clean-ups allocates nothing: the scope is used again.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

use super::node::NodeRef;
use super::{Store, flag, sign};
use crate::graph::{CellKey, EdgeKind, Rank};
use crate::scope::ScopeBody;

/// How deep clean-ups may cause clean-ups on the stack.
const DEEP: u32 = 16;

/// What a run of a closure has left to clean up.
pub(crate) struct Closing {
    body: Rc<ScopeBody>,
    /// The items from here on are younger than the cell that the closure gave.
    at: u64,
}

/// Where cells go that a closure makes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Making {
    /// To the end of the order.
    Outside,
    /// To vacant ranks, as low as their inputs allow.
    Inside,
    /// The same, but behind this node, which decides whether they still exist.
    Behind(NodeRef),
}

/// Puts back what was set aside.
pub(crate) struct Aside<'a> {
    store: &'a Store,
    scope: Option<Rc<ScopeBody>>,
    making: Making,
    tracking: bool,
}

impl Drop for Aside<'_> {
    fn drop(&mut self) {
        self.store.set_scope(self.scope.take());
        self.store.making.set(self.making);
        self.store.tracking.set(self.tracking);
    }
}

impl Store {
    /// Sets scope, maker and tracking aside, for code that does not belong to the closure that is running.
    pub(crate) fn set_aside(&self) -> Aside<'_> {
        Aside {
            store: self,
            scope: if self.signs.has(sign::SCOPED) { self.set_scope(None) } else { None },
            making: self.making.replace(Making::Outside),
            tracking: self.tracking.replace(false),
        }
    }

    /// Calls `f`; what it makes is hidden in another cell, and belongs to that rather than to a scope.
    pub(crate) fn hidden<R>(&self, f: impl FnOnce() -> R) -> R {
        if self.signs.has(sign::SCOPED) { self.in_scope(None, f) } else { f() }
    }

    /// Runs a closure with a scope of its own. If it panics, what it has registered is called at once.
    pub(crate) fn call_closure<R>(
        &self,
        making: Making,
        f: impl FnOnce() -> R,
    ) -> (R, Option<Closing>) {
        let body = self.spare_scope.take().unwrap_or_else(|| Rc::new(ScopeBody::of_closure()));
        let aside = Aside {
            store: self,
            scope: self.set_scope(Some(body.clone())),
            making: self.making.replace(making),
            tracking: self.tracking.get(),
        };
        let given = catch_unwind(AssertUnwindSafe(f));
        drop(aside);
        match given {
            Ok(given) => (given, self.closing_of(body)),
            Err(payload) => {
                self.after_first_panic(|| body.dispose_from(0));
                resume_unwind(payload)
            }
        }
    }

    fn closing_of(&self, body: Rc<ScopeBody>) -> Option<Closing> {
        if body.is_untouched() {
            *self.spare_scope.borrow_mut() = Some(body);
            return None;
        }
        Some(Closing { body, at: 0 })
    }

    /// Keeps the clean-ups of a run for the next one. `given` is the cell that the closure gave.
    pub(crate) fn keep_closing(
        &self,
        node: NodeRef,
        closing: Option<Closing>,
        given: Option<CellKey>,
    ) {
        let Some(mut closing) = closing else { return };
        if node.has(flag::DEAD | flag::DISPOSED) {
            return closing.body.dispose_from(0);
        }
        closing.at = given.map_or(0, |given| closing.body.items_before(given));
        node.raise(flag::CLOSING);
        let id = self.id_of(node);
        self.tables.borrow_mut().closings.insert(id, closing);
    }

    /// Calls the clean-ups of a run that has nothing to keep.
    pub(crate) fn close_now(&self, closing: Option<Closing>) {
        if let Some(closing) = closing {
            closing.body.dispose_from(0);
        }
    }

    #[inline]
    fn take_closing(&self, node: NodeRef) -> Option<Closing> {
        if node.has(flag::CLOSING) { self.closing_kept(node) } else { None }
    }

    #[cold]
    fn closing_kept(&self, node: NodeRef) -> Option<Closing> {
        node.lower(flag::CLOSING);
        let id = self.id_of(node);
        self.tables.borrow_mut().closings.remove(id)
    }

    /// Calls the clean-ups of the last run, the last first; `between` where the cell that the closure gave has its turn.
    pub(crate) fn close(&self, node: NodeRef, between: impl FnOnce()) {
        let Some(closing) = self.take_closing(node) else {
            return between();
        };
        closing.body.dispose_from(closing.at);
        between();
        closing.body.dispose_from(0);
    }

    /// Puts the clean-ups of a dying node where [`Self::close_dead`] finds them.
    #[inline]
    pub(crate) fn entomb_closing(&self, node: NodeRef) {
        if let Some(closing) = self.take_closing(node) {
            self.closings_due.borrow_mut().push(closing);
        }
    }

    /// Calls the clean-ups of nodes that died together: those before which a closure gave its cell come last, after what
    /// that cell kept.
    #[inline]
    pub(crate) fn close_dead(&self) {
        if !self.closings_due.borrow().is_empty() {
            self.close_due();
        }
    }

    #[cold]
    fn close_due(&self) {
        let depth = self.closing_depth.get();
        if depth >= DEEP {
            // Clean-ups that kill cells whose clean-ups kill cells ..: the outermost calls them.
            return;
        }
        self.closing_depth.set(depth + 1);
        let busy = self.busy.get();
        self.busy.set(busy + 1);
        while !self.closings_due.borrow().is_empty() {
            self.close_each(&self.closings_due.take());
        }
        self.busy.set(busy);
        self.closing_depth.set(depth);
        self.signs.raise(sign::PENDING);
    }

    fn close_each(&self, due: &[Closing]) {
        due.iter().filter(|one| one.at > 0).for_each(|one| one.body.dispose_from(one.at));
        due.iter().filter(|one| one.at == 0).for_each(|one| one.body.dispose_from(0));
        due.iter().rev().for_each(|one| one.body.dispose_from(0));
    }

    /// The lowest rank that a new node with inputs up to `floor` may have, where it may take a vacant one.
    pub(crate) fn lowest_place(&self, floor: Option<Rank>) -> Option<Rank> {
        let above = |rank: Rank| rank + 1;
        let from = floor.map_or(0, above);
        match self.making.get() {
            Making::Outside => None,
            Making::Inside => Some(from),
            Making::Behind(node) if node.has(flag::DEAD) => Some(from),
            Making::Behind(node) => Some(from.max(above(node.rank.get()))),
        }
    }

    /// Puts a new derived node, which is behind its maker, there for good: as long as no dependency is against it.
    pub(crate) fn order_behind_maker(&self, node: NodeRef) {
        if let Making::Behind(maker) = self.making.get()
            && !maker.has(flag::DEAD)
            && node.has(flag::KERNEL)
        {
            let (src, dst) = (maker.rank.get(), node.rank.get());
            let moved = |moved: NodeRef, rank| moved.rank.set(rank);
            let _ = self.graph.borrow_mut().link_new(src, dst, EdgeKind::Order, moved);
        }
    }
}
