//! Hooks on a cell that gets its first, or loses its last, subscriber or dependent.
//!
//! They run when the call that caused them ends, once for each change that is left by then.

use super::node::NodeRef;
use super::tables::Hook;
use super::{Store, flag, sign};
use crate::graph::NONE;

impl Store {
    /// Notes that a cell with hooks may have got its first or lost its last subscriber or dependent.
    #[inline]
    pub(crate) fn watch_observed(&self, node: NodeRef) {
        if node.has(flag::HOOKED | flag::LAZY) {
            self.note_observed(node);
        }
    }

    #[cold]
    #[inline(never)]
    fn note_observed(&self, node: NodeRef) {
        if node.has(flag::HOOKED) {
            self.hooks_due.borrow_mut().push(self.id_of(node));
            self.signs.raise(sign::PENDING);
        }
        if node.has(flag::LAZY) {
            self.weigh(node);
        }
    }

    pub(crate) fn is_observed(&self, node: NodeRef) -> bool {
        node.subs.get() != NONE || self.graph.borrow().has_dependents(node.rank.get())
    }

    pub(crate) fn add_hook(&self, node: NodeRef, hook: Hook) {
        let id = self.id_of(node);
        if !node.has(flag::HOOKED) && self.is_observed(node) {
            node.raise(flag::OBSERVED);
        }
        node.raise(flag::HOOKED);
        let mut tables = self.tables.borrow_mut();
        if !tables.hooks.contains_key(id) {
            tables.hooks.insert(id, Vec::new());
        }
        tables.hooks[id].push(hook);
    }

    /// Calls the hooks of cells that changed between observed and not.
    pub(crate) fn call_hooks(&self) {
        if self.hooks_due.borrow().is_empty() {
            return;
        }
        let due = self.hooks_due.take();
        for id in due {
            let Some(node) = self.find(id) else { continue };
            let now = self.is_observed(node);
            if now == node.has(flag::OBSERVED) {
                continue;
            }
            if now {
                node.raise(flag::OBSERVED);
            } else {
                node.lower(flag::OBSERVED);
            }
            let calls: Vec<_> = self.tables.borrow().hooks.get(id).map_or_else(Vec::new, |hooks| {
                hooks
                    .iter()
                    .filter(|hook| hook.on_first == now)
                    .map(|hook| hook.call.clone())
                    .collect()
            });
            for call in calls {
                self.guarded(|| {
                    if let Ok(mut call) = call.try_borrow_mut() {
                        call();
                    }
                });
            }
        }
    }
}
