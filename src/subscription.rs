//! Guards: what keeps a subscription, or any clean-up, until it is dropped.

use std::fmt;
use std::marker::PhantomData;

use uuid::Uuid;

use crate::graph::CellKey;
use crate::id::CellId;
use crate::store::{SubKey, with_store};
use crate::uuids;

/// Names a subscription; see [`SubscriptionGuard::id`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SubscriptionId {
    key: SubKey,
    _not_send: PhantomData<*const ()>,
}

impl SubscriptionId {
    #[cfg(feature = "trace")]
    pub(crate) fn of(key: SubKey) -> Self {
        Self { key, _not_send: PhantomData }
    }

    /// Ends the subscription, also one that was [leaked](SubscriptionGuard::leak); does nothing if it has ended.
    pub fn unsubscribe(self) {
        let _ = with_store(|store| store.unsubscribe(self.key));
    }
}

enum Kind {
    Subscription { source: CellKey, key: SubKey },
    Callback(Option<Box<dyn FnOnce()>>),
}

/// Keeps a subscription: dropping it unsubscribes at once, also in the wave under way (rule P2). It keeps the cell it is
/// on alive.
///
/// ```
/// let cell = hyphae::Cell::new(1);
/// let guard = cell.watch(|v| println!("{v}"));
/// assert_eq!(cell.callbacks(), 1);
/// drop(guard);
/// assert_eq!(cell.callbacks(), 0);
/// ```
#[must_use = "dropping the guard unsubscribes at once; keep it, give it to `own`, or call `leak`"]
pub struct SubscriptionGuard {
    kind: Kind,
    _not_send: PhantomData<*const ()>,
}

impl SubscriptionGuard {
    pub(crate) fn subscription(source: CellKey, key: SubKey) -> Self {
        Self { kind: Kind::Subscription { source, key }, _not_send: PhantomData }
    }

    /// A guard that calls `f` when it is dropped, whatever it is kept by.
    ///
    /// ```
    /// use std::{cell::Cell, rc::Rc};
    /// let done = Rc::new(Cell::new(false));
    /// let guard = hyphae::SubscriptionGuard::from_callback({ let done = done.clone(); move || done.set(true) });
    /// drop(guard);
    /// assert!(done.get());
    /// ```
    pub fn from_callback(f: impl FnOnce() + 'static) -> Self {
        Self { kind: Kind::Callback(Some(Box::new(f))), _not_send: PhantomData }
    }

    /// The subscription's id; `None` for a guard made [from a callback](Self::from_callback).
    pub fn id(&self) -> Option<SubscriptionId> {
        match self.kind {
            Kind::Subscription { key, .. } => Some(SubscriptionId { key, _not_send: PhantomData }),
            Kind::Callback(_) => None,
        }
    }

    /// The UUID of the cell it is on.
    pub fn source(&self) -> Option<Uuid> {
        let id = self.key()?;
        with_store(|store| uuids::of(store, id)).ok().flatten()
    }

    /// The cell it is on.
    pub fn cell(&self) -> Option<CellId> {
        self.key().map(CellId::of)
    }

    pub(crate) fn key(&self) -> Option<CellKey> {
        match self.kind {
            Kind::Subscription { source, .. } => Some(source),
            Kind::Callback(_) => None,
        }
    }

    /// Unsubscribes: the same as dropping the guard.
    pub fn unsubscribe(self) {}

    /// Gives up control: the subscription, and with it the cell, stays for ever (until [`SubscriptionId::unsubscribe`],
    /// the cell's `dispose`, or the thread's end). A guard from a callback never calls it.
    pub fn leak(self) -> Option<SubscriptionId> {
        let id = self.id();
        std::mem::forget(self);
        id
    }

    pub(crate) fn sub_key(&self) -> Option<SubKey> {
        self.id().map(|id| id.key)
    }
}

impl Drop for SubscriptionGuard {
    fn drop(&mut self) {
        match &mut self.kind {
            Kind::Subscription { key, .. } => {
                let _ = with_store(|store| store.unsubscribe(*key));
            }
            Kind::Callback(f) => {
                if let Some(f) = f.take() {
                    run_callback(f);
                }
            }
        }
    }
}

/// Runs a guard's callback as user code of the store, so that its writes settle; without a store just so.
fn run_callback(f: Box<dyn FnOnce()>) {
    let mut f = Some(f);
    let _ = with_store(|store| {
        let _busy = store.enter();
        if let Some(f) = f.take() {
            f();
        }
    });
    if let Some(f) = f {
        f();
    }
}

impl fmt::Debug for SubscriptionGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Subscription { source, key } => f
                .debug_struct("SubscriptionGuard")
                .field("on", &CellId::of(source))
                .field("id", &key.bits())
                .finish(),
            Kind::Callback(_) => f.write_str("SubscriptionGuard(callback)"),
        }
    }
}
