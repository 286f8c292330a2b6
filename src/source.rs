//! [`Source`]: a stream of events without a current value.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::rc::Rc;

use uuid::Uuid;

use crate::CellImmutable;
use crate::cell::{Cell, Strong, debug_handle};
use crate::error::Error;
use crate::graph::CellKey;
use crate::id::CellId;
use crate::inbox::{Capacity, Inbox};
use crate::operators::combine::named;
use crate::operators::sample;
use crate::operators::sequence::{BufferCount, Window};
use crate::pipeline::{Empty, Pipeline, Plan, Root, SourceRoot, Then};
use crate::signal::Signal;
use crate::store::callback::CallbackBox;
use crate::store::node::{Event, NodeRef};
use crate::store::{Write, expect, with_store};
use crate::subscription::SubscriptionGuard;
use crate::weak::upgrade;

/// A stream of events: nothing is replayed, each event of a batch is kept (rule P12).
///
/// ```
/// use hyphae::{Pipeline, Source};
/// let keys = Source::new();
/// let count = keys.clone().scan(0, |n, _key: &char| n + 1).materialize();
/// keys.emit('a');
/// hyphae::batch(|| { keys.emit('b'); keys.emit('c'); });
/// assert_eq!(count.get(), Some(3));
/// ```
pub struct Source<T: 'static> {
    /// The cell that holds the event of the round under way.
    pub(crate) cell: Cell<Event<T>, CellImmutable>,
}

impl<T: 'static> Clone for Source<T> {
    fn clone(&self) -> Self {
        Self { cell: self.cell.clone() }
    }
}

impl<T: 'static> Default for Source<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}

impl<T: 'static> Source<T> {
    /// A source without subscribers.
    ///
    /// # Panics
    /// When the thread's store is gone.
    #[track_caller]
    pub fn new() -> Self {
        let place = Location::caller();
        let node = expect(with_store(|store| {
            store.admit(NodeRef::event::<T>(store, store.intern(place)))
        }));
        Self { cell: Cell::adopt(Strong::adopt(node)) }
    }

    /// An inbox whose values this source emits, each as an event of its own. It holds the source, and closes when that has
    /// ended or was disposed of.
    ///
    /// # Panics
    /// When the capacity is 0.
    #[track_caller]
    pub fn inbox(&self, capacity: Capacity) -> Inbox<T>
    where
        T: Send,
    {
        let source = self.clone();
        Inbox::open(capacity, move |event| source.try_emit(event).is_ok())
    }

    /// Sends an event to all subscribers and dependents. After `complete` it is dropped.
    ///
    /// # Panics
    /// As [`Cell::set`].
    #[track_caller]
    pub fn emit(&self, event: T) {
        expect(with_store(|store| store.emit(self.cell.node(store)?, event)).and_then(|sent| sent));
    }

    /// [`Source::emit`] that gives errors back, also [`Error::Ended`].
    pub fn try_emit(&self, event: T) -> Result<(), Error> {
        let sent =
            with_store(|store| store.emit(store.writable(self.cell.strong.node(store))?, event));
        Ok(sent.and_then(|sent| sent)?)
    }

    /// Ends the stream; events sent before in the same batch are delivered first.
    #[track_caller]
    pub fn complete(&self) {
        let done =
            with_store(|store| store.write::<Event<T>>(self.cell.node(store)?, Write::Complete));
        expect(done.and_then(|done| done));
    }

    /// Whether the stream has ended.
    pub fn is_complete(&self) -> bool {
        self.cell.is_complete()
    }

    /// Calls `f` with every event to come and with the end, in the order of subscription. Nothing is replayed: a late
    /// subscriber of an ended source hears nothing.
    ///
    /// # Panics
    /// When the source was disposed of or the store is gone.
    #[track_caller]
    pub fn subscribe(&self, f: impl FnMut(&Signal<'_, T>) + 'static) -> SubscriptionGuard {
        let place = Location::caller();
        let linked = with_store(|store| {
            Ok(store.link_subscriber(self.cell.node(store)?, place, CallbackBox::new(f)))
        });
        expect(linked.and_then(|linked| linked))
    }

    /// In published hyphae this made the whole fan-out of an event one batch. Here it always is; the method is kept for
    /// programs that call it.
    #[must_use]
    pub fn batched(self) -> Self {
        self
    }

    /// Lets the source own a guard, as [`Cell::own`].
    #[track_caller]
    pub fn own(&self, guard: SubscriptionGuard) {
        self.cell.own(guard);
    }

    /// Names the source for errors, listings and traces.
    #[must_use]
    pub fn with_name(self, name: impl Into<Rc<str>>) -> Self {
        self.cell.set_name(name);
        self
    }

    /// Ends the source although handles are left, as [`Cell::dispose`].
    #[track_caller]
    pub fn dispose(&self) {
        self.cell.dispose();
    }

    /// The source's id in the arena.
    pub fn cell_id(&self) -> CellId {
        self.cell.cell_id()
    }

    /// The source's UUID, as [`Cell::id`].
    #[track_caller]
    pub fn id(&self) -> Uuid {
        self.cell.id()
    }

    /// Callbacks and direct dependents together.
    pub fn subscriber_count(&self) -> usize {
        self.cell.subscriber_count()
    }

    /// A reference that does not keep the source alive.
    pub fn downgrade(&self) -> WeakSource<T> {
        WeakSource { id: self.cell.key(), _type: PhantomData }
    }
}

impl<T: 'static> Source<T> {
    /// [`Cell::switch_map`] over the events: `None` before the first.
    #[track_caller]
    pub fn switch_map<U: Clone + 'static, N: 'static>(
        &self,
        choose: impl FnMut(&T) -> Cell<U, N> + 'static,
    ) -> Cell<Option<U>, CellImmutable> {
        Plan(self.clone().into_chain()).switch_map(choose)
    }

    /// [`Cell::merge_map`] over the events: `None` before the first.
    #[track_caller]
    pub fn merge_map<U: Clone + 'static, N: 'static>(
        &self,
        choose: impl FnMut(&T) -> Cell<U, N> + 'static,
    ) -> Cell<Option<U>, CellImmutable> {
        Plan(self.clone().into_chain()).merge_map(choose)
    }

    /// [`Cell::merge_map_limit`] over the events: `None` before the first.
    #[track_caller]
    pub fn merge_map_limit<U: Clone + 'static, N: 'static>(
        &self,
        limit: usize,
        choose: impl FnMut(&T) -> Cell<U, N> + 'static,
    ) -> Cell<Option<U>, CellImmutable>
    where
        T: Clone,
    {
        Plan(self.clone().into_chain()).merge_map_limit(limit, choose)
    }

    /// The last `n` events, oldest first, as a pipeline; fewer until there are `n`.
    ///
    /// # Panics
    /// When `n` is 0, the source was disposed of, or the store is gone.
    #[track_caller]
    pub fn window(&self, n: usize) -> Plan<Then<SourceRoot<T>, Window<T>>>
    where
        T: Clone,
    {
        Plan(self.clone().into_chain()).window(n)
    }

    /// Lists of `n` events, as a pipeline; what is left when the source completes comes before the end.
    ///
    /// # Panics
    /// As [`window`](Self::window).
    #[track_caller]
    pub fn buffer_count(&self, n: usize) -> Plan<Then<SourceRoot<T>, BufferCount<T>>>
    where
        T: Clone,
    {
        Plan(self.clone().into_chain()).buffer_count(n)
    }
}

impl<T: Clone + 'static, M> Cell<T, M> {
    /// A cell with this cell's value now and at each event of `source`, of a batch too. Completes when the source does; that
    /// this cell has ended does not matter.
    ///
    /// # Panics
    /// When one of them was disposed of, or the store is gone.
    #[track_caller]
    pub fn sample_on<E: 'static>(&self, source: &Source<E>) -> Cell<T, CellImmutable> {
        let sampled = sample::sample_on(self, &source.cell, Location::caller());
        named(expect(sampled), self.name(), "sample_on")
    }
}

impl<T: 'static> Pipeline<T, Empty> for Source<T> {
    type Chain = SourceRoot<T>;

    #[track_caller]
    fn into_chain(self) -> SourceRoot<T> {
        SourceRoot(Root::of(self.cell.strong))
    }
}

impl<T: 'static> fmt::Debug for Source<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug_handle(f, "Source", self.cell.key())
    }
}

/// A reference to a [`Source`] that does not keep it alive.
pub struct WeakSource<T: 'static> {
    id: CellKey,
    _type: PhantomData<(fn() -> T, *const ())>,
}

impl<T: 'static> Clone for WeakSource<T> {
    fn clone(&self) -> Self {
        Self { id: self.id, _type: PhantomData }
    }
}

impl<T: 'static> WeakSource<T> {
    /// A handle, if the source still lives.
    pub fn upgrade(&self) -> Option<Source<T>> {
        upgrade::<Event<T>>(self.id).map(|strong| Source { cell: Cell::adopt(strong) })
    }
}

impl<T: 'static> fmt::Debug for WeakSource<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug_handle(f, "WeakSource", self.id)
    }
}
