//! [`Cell`]: the typed handle of a cell.
//!
//! A handle is eight bytes: a counted reference that pins the cell's node, so that a call finds it without a look-up.
//! Everything it does goes through the thread's store, and nothing once that is gone. It does not know how the store lays cells out.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::rc::Rc;

use uuid::Uuid;

use crate::error::{CellError, Error, Fallible};
use crate::graph::CellKey;
use crate::id::CellId;
use crate::signal::Signal;
use crate::store::callback::CallbackBox;
use crate::store::kernel::End;
use crate::store::node::NodeRef;
use crate::store::{Hook, Store, Write, expect, flag, with_store};
use crate::subscription::{SubscriptionGuard, SubscriptionId};
use crate::uuids;
#[doc(hidden)]
pub use crate::weak::WeakCell;

/// Marks a cell that can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellMutable;

/// Marks a cell that can only be read: a derived one, or one that was [locked](Cell::lock).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellImmutable;

/// A counted reference to a node. The node is looked at inside [`with_store`] alone, since the store frees it when it goes;
/// neither clone nor drop does anything after that.
pub(crate) struct Strong {
    /// Not `Send`: the store is the thread's own.
    node: NodeRef,
}

impl Strong {
    /// Takes over the reference that a new node is born with, or one that was just counted.
    pub(crate) fn adopt(node: NodeRef) -> Self {
        Self { node }
    }

    /// The node, which is there as long as the store is.
    #[inline]
    pub(crate) fn node(&self, _: &Store) -> NodeRef {
        self.node
    }

    /// The id; once the store is gone, that of no cell.
    pub(crate) fn id(&self) -> CellKey {
        with_store(|store| store.id_of(self.node)).unwrap_or_default()
    }
}

impl Clone for Strong {
    #[inline]
    fn clone(&self) -> Self {
        let _ = with_store(|store| store.retain(self.node));
        Self::adopt(self.node)
    }
}

impl Drop for Strong {
    #[inline]
    fn drop(&mut self) {
        let _ = with_store(|store| store.release(self.node));
    }
}

/// A reactive value.
///
/// A cell lives while it has a handle, a dependent or a guard. Cloning a handle gives another handle to the same cell.
/// Writes settle the graph and call subscribers before they return, except in a [batch](crate::batch) or a callback,
/// where they wait. The type bounds are only what a method needs: any `'static` type can live in a cell.
///
/// ```
/// use hyphae::{Cell, Pipeline};
/// let celsius = Cell::new(20.0);
/// let fahrenheit = celsius.clone().map(|c| c * 1.8 + 32.0).materialize();
/// celsius.set(100.0);
/// assert_eq!(fahrenheit.get(), 212.0);
/// ```
///
/// Handles stay on their thread:
///
/// ```compile_fail
/// let cell = hyphae::Cell::new(1);
/// std::thread::spawn(move || cell.get());
/// ```
///
/// ```compile_fail
/// fn shared<T: Sync>(_: T) {}
/// shared(hyphae::Cell::new(1));
/// ```
pub struct Cell<T: 'static, M = CellMutable> {
    pub(crate) strong: Strong,
    _type: PhantomData<(fn() -> T, M)>,
}

impl<T: 'static, M> Clone for Cell<T, M> {
    #[inline]
    fn clone(&self) -> Self {
        Self::adopt(self.strong.clone())
    }
}

impl<T: 'static, M> Cell<T, M> {
    /// Makes a typed handle; the node's value is a `T`.
    pub(crate) fn adopt(strong: Strong) -> Self {
        Self { strong, _type: PhantomData }
    }

    /// The node, if the cell can still be used.
    #[inline]
    pub(crate) fn node(&self, store: &Store) -> Fallible<NodeRef> {
        store.usable(self.strong.node(store))
    }

    /// Calls `f` with the node, disposed of or not; `None` once the store is gone.
    fn look<R>(&self, f: impl FnOnce(&Store, NodeRef) -> R) -> Option<R> {
        with_store(|store| f(store, self.strong.node(store))).ok()
    }

    /// The handle of the cell in the arena: 8 bytes, `Copy`, never taken for a later cell. Once the thread's store is gone, it is
    /// the id of no cell.
    pub fn cell_id(&self) -> CellId {
        CellId::of(self.key())
    }

    #[inline]
    pub(crate) fn key(&self) -> CellKey {
        self.strong.id()
    }

    /// The cell's UUID: stable for its life, unique in the process. Computed when asked for, so a cell that nobody asks
    /// pays nothing. It says nothing secret and does not survive the process unless it was given by [`Cell::with_uuid`].
    ///
    /// # Panics
    /// When the thread's store is gone.
    #[track_caller]
    pub fn id(&self) -> Uuid {
        expect(
            with_store(|store| uuids::of(store, self.key()))
                .and_then(|uuid| uuid.ok_or_else(|| Box::new(Error::StoreClosed))),
        )
    }

    /// Names the cell for errors, listings and traces. Gives the handle back.
    #[must_use]
    pub fn with_name(self, name: impl Into<Rc<str>>) -> Self {
        self.set_name(name);
        self
    }

    /// Names the cell, or names it anew.
    pub fn set_name(&self, name: impl Into<Rc<str>>) {
        let name = name.into();
        self.look(|store, node| {
            let id = store.id_of(node);
            node.raise(flag::NAMED);
            store.tables.borrow_mut().names.insert(id, name);
        });
    }

    /// The cell's name, if it has one.
    pub fn name(&self) -> Option<String> {
        self.look(|store, node| {
            let id = store.id_of(node);
            store.tables.borrow().names.get(id).map(|name| name.to_string())
        })
        .flatten()
    }

    /// Gives the cell a UUID of the application's own.
    ///
    /// # Panics
    /// When another live cell has it ([`Error::DuplicateUuid`]), or the computed one was handed out already
    /// ([`Error::UuidHandedOut`]).
    #[must_use]
    #[track_caller]
    pub fn with_uuid(self, uuid: Uuid) -> Self {
        expect(self.give_uuid(uuid));
        self
    }

    /// [`Cell::with_uuid`] that gives the error back.
    pub fn try_with_uuid(self, uuid: Uuid) -> Result<Self, Error> {
        self.give_uuid(uuid)?;
        Ok(self)
    }

    fn give_uuid(&self, uuid: Uuid) -> Fallible<()> {
        with_store(|store| uuids::give(store, self.strong.node(store), uuid))?
    }

    /// Where the cell was made.
    pub fn place(&self) -> Option<&'static Location<'static>> {
        self.look(|store, node| store.place(node.place))
    }

    /// Clones the value.
    ///
    /// Outside a wave that is the result of your own writes; in an open batch it brings the cell up to date first; in a
    /// callback it is the value of the wave under way. It goes on working after `complete` and `fail`.
    ///
    /// # Panics
    /// When the cell was disposed of, is lent to an `update`, or the store is gone.
    #[track_caller]
    #[inline]
    pub fn get(&self) -> T
    where
        T: Clone,
    {
        expect(self.read(Location::caller(), T::clone))
    }

    /// [`Cell::get`] that gives the error back.
    #[track_caller]
    #[inline]
    pub fn try_get(&self) -> Result<T, Error>
    where
        T: Clone,
    {
        Ok(self.read(Location::caller(), T::clone)?)
    }

    /// Lends the value to `f`; for the rules see [`Cell::get`]. `f` is a callback: writes made in it settle when it has
    /// returned.
    ///
    /// ```
    /// let names = hyphae::Cell::new(vec!["ann", "bob"]);
    /// assert_eq!(names.with(|n| n.len()), 2);
    /// ```
    #[track_caller]
    #[inline]
    pub fn with<R>(&self, f: impl FnOnce(&T) -> R) -> R {
        expect(self.read(Location::caller(), f))
    }

    /// [`Cell::with`] that gives the error back.
    #[track_caller]
    #[inline]
    pub fn try_with<R>(&self, f: impl FnOnce(&T) -> R) -> Result<R, Error> {
        Ok(self.read(Location::caller(), f)?)
    }

    #[inline]
    fn read<R>(&self, place: &'static Location<'static>, f: impl FnOnce(&T) -> R) -> Fallible<R> {
        with_store(|store| store.read(self.strong.node(store), place, f))?
    }

    /// Ends the cell although handles, guards or dependents are left (rule C7).
    ///
    /// Its closure, the guards it owns and its edges to inputs go at once; subscribers get `Complete`; dependents see it
    /// complete and keep its last value. Later calls answer [`Error::Disposed`]. A second `dispose` does nothing.
    #[track_caller]
    pub fn dispose(&self) {
        expect(
            with_store(|store| store.dispose(self.strong.node(store)))
                .and_then(|disposed| disposed),
        );
    }

    /// A reference that does not keep the cell alive.
    pub fn downgrade(&self) -> WeakCell<T, M> {
        WeakCell::of(self.key())
    }

    /// The same cell without the right to write it.
    pub fn lock(self) -> Cell<T, CellImmutable> {
        Cell::adopt(self.strong)
    }

    /// Keeps each write of a batch as an event of its own, in arrival order, instead of the last one only (rule P12).
    #[must_use]
    pub fn no_coalesce(self) -> Self {
        self.look(|_, node| node.raise(flag::EVENT));
        self
    }

    /// Lets the cell own a guard: it is dropped with the cell. A guard on the cell itself, or on a cell downstream of it,
    /// does not keep that cell alive (it would be a ring that nobody can free).
    ///
    /// # Panics
    /// When the cell was disposed of.
    #[track_caller]
    pub fn own(&self, guard: SubscriptionGuard) {
        self.own_under(None, guard);
    }

    /// [`Cell::own`] under a key: a guard that was owned under the same key is dropped.
    #[track_caller]
    pub fn own_keyed(&self, key: Uuid, guard: SubscriptionGuard) {
        self.own_under(Some(key), guard);
    }

    #[track_caller]
    fn own_under(&self, key: Option<Uuid>, guard: SubscriptionGuard) {
        let done = with_store(|store| self.node(store).map(|node| store.own(node, key, guard)));
        expect(done.and_then(|done| done));
    }

    /// How many guards the cell owns.
    pub fn owned_count(&self) -> usize {
        with_store(|store| {
            store.tables.borrow().owned.get(self.key()).map_or(0, |owned| owned.len())
        })
        .unwrap_or(0)
    }

    /// Calls `f` with the current value now (then with the terminal signal, if the cell has ended), and with every
    /// signal to come, until the guard is dropped.
    ///
    /// Subscribers of a cell are called in the order of subscription, after all cells of the wave are computed. Writes
    /// made in `f` are queued and have settled when the outermost call returns. If the first call panics, nothing stays
    /// subscribed. The guard keeps the cell alive.
    ///
    /// # Panics
    /// When the cell was disposed of, is lent to an `update`, or the store is gone.
    #[track_caller]
    pub fn subscribe(&self, f: impl FnMut(&Signal<'_, T>) + 'static) -> SubscriptionGuard {
        expect(self.subscribe_from(true, f))
    }

    /// [`Cell::subscribe`] that gives the error back.
    #[track_caller]
    pub fn try_subscribe(
        &self,
        f: impl FnMut(&Signal<'_, T>) + 'static,
    ) -> Result<SubscriptionGuard, Error> {
        Ok(self.subscribe_from(true, f)?)
    }

    /// [`Cell::subscribe`] without the first call: `f` hears of changes only.
    #[track_caller]
    pub fn subscribe_changes(&self, f: impl FnMut(&Signal<'_, T>) + 'static) -> SubscriptionGuard {
        expect(self.subscribe_from(false, f))
    }

    /// Subscribes to values alone: `f` gets the current one now and each new one.
    ///
    /// ```
    /// use std::{cell::RefCell, rc::Rc};
    /// let cell = hyphae::Cell::new(1);
    /// let seen = Rc::new(RefCell::new(vec![]));
    /// let guard = cell.watch({ let seen = seen.clone(); move |v| seen.borrow_mut().push(*v) });
    /// cell.set(2);
    /// assert_eq!(*seen.borrow(), [1, 2]);
    /// # drop(guard);
    /// ```
    #[track_caller]
    pub fn watch(&self, mut f: impl FnMut(&T) + 'static) -> SubscriptionGuard {
        self.subscribe(move |signal| {
            if let Signal::Value(value) = signal {
                f(value);
            }
        })
    }

    /// [`Cell::watch`] without the first call.
    #[track_caller]
    pub fn watch_changes(&self, mut f: impl FnMut(&T) + 'static) -> SubscriptionGuard {
        self.subscribe_changes(move |signal| {
            if let Signal::Value(value) = signal {
                f(value);
            }
        })
    }

    /// Subscribes a callback that can fail; an `Err` is logged with the cell and goes no further.
    #[track_caller]
    pub fn subscribe_result(
        &self,
        mut f: impl FnMut(&Signal<'_, T>) -> Result<(), String> + 'static,
    ) -> SubscriptionGuard {
        let (place, on) = (Location::caller(), self.key());
        self.subscribe(move |signal| {
            if let Err(error) = f(signal) {
                let on = with_store(|store| store.info(on)).ok().flatten();
                let on = on.map_or_else(|| "a cell that is gone".into(), |cell| cell.to_string());
                log::error!("the subscriber made at {place} on {on} failed: {error}");
            }
        })
    }

    #[track_caller]
    fn subscribe_from(
        &self,
        with_current: bool,
        f: impl FnMut(&Signal<'_, T>) + 'static,
    ) -> Fallible<SubscriptionGuard> {
        self.subscribe_at(Location::caller(), with_current, f)
    }

    pub(crate) fn subscribe_at(
        &self,
        place: &'static Location<'static>,
        with_current: bool,
        mut f: impl FnMut(&Signal<'_, T>) + 'static,
    ) -> Fallible<SubscriptionGuard> {
        with_store(|store| {
            let node = self.node(store)?;
            store.check_lent(node, place)?;
            store.settle_to_observe(node);
            let busy = store.enter();
            if with_current {
                let _untracked = store.untrack();
                node.with(|value| f(&Signal::Value(value)));
                first_end(store, node, &mut f);
            }
            let guard = store.link_subscriber(node, place, CallbackBox::new(f));
            busy.leave()?;
            Ok(guard)
        })?
    }

    /// Ends a subscription by its id; an unknown id does nothing.
    pub fn unsubscribe(&self, id: SubscriptionId) {
        id.unsubscribe();
    }

    /// Callbacks and direct dependents together.
    pub fn subscriber_count(&self) -> usize {
        self.callbacks() + self.dependents()
    }

    /// How many callbacks are subscribed: O(n).
    pub fn callbacks(&self) -> usize {
        self.look(|store, node| store.subs.borrow().count(node.subs.get())).unwrap_or(0)
    }

    /// How many cells depend on this one directly.
    pub fn dependents(&self) -> usize {
        self.look(|store, node| store.graph.borrow().dependents(node.rank.get())).unwrap_or(0)
    }

    /// Calls `f` whenever the cell gets its first subscriber or dependent. Hooks run when the call that caused them
    /// ends, once for each change between observed and not that is left by then.
    #[track_caller]
    pub fn on_first_subscriber(&self, f: impl FnMut() + 'static) {
        self.hook(true, f);
    }

    /// Calls `f` whenever the cell has lost its last subscriber and dependent (and still lives).
    #[track_caller]
    pub fn on_last_unsubscribe(&self, f: impl FnMut() + 'static) {
        self.hook(false, f);
    }

    #[track_caller]
    fn hook(&self, on_first: bool, f: impl FnMut() + 'static) {
        let hook = Hook { on_first, call: Rc::new(std::cell::RefCell::new(f)) };
        expect(
            with_store(|store| self.node(store).map(|node| store.add_hook(node, hook)))
                .and_then(|done| done),
        );
    }

    fn end(&self) -> Option<End> {
        self.look(Store::end_now).flatten()
    }

    /// Whether the cell ended well.
    pub fn is_complete(&self) -> bool {
        matches!(self.end(), Some(End::Complete))
    }

    /// Whether the cell failed.
    pub fn is_error(&self) -> bool {
        matches!(self.end(), Some(End::Error(_)))
    }

    /// What the cell failed with.
    pub fn error(&self) -> Option<CellError> {
        match self.end() {
            Some(End::Error(error)) => Some(error),
            _ => None,
        }
    }
}

/// Tells a new subscriber of an end that lies before it.
fn first_end<T>(store: &Store, node: NodeRef, f: &mut impl FnMut(&Signal<'_, T>)) {
    match store.end_of(node) {
        Some(End::Complete) => f(&Signal::Complete),
        Some(End::Error(error)) => f(&Signal::Error(&error)),
        None => (),
    }
}

impl<T: 'static> Cell<T, CellMutable> {
    /// Makes a source cell. Every `set` notifies; for a cut-off see [`Cell::with_cutoff`] and
    /// [`deduped`](crate::Pipeline::deduped).
    ///
    /// # Panics
    /// When the thread's store is gone (the thread is ending).
    #[track_caller]
    pub fn new(value: T) -> Self {
        expect(Self::make(value, Location::caller()))
    }

    /// [`Cell::new`] that gives the error back.
    #[track_caller]
    pub fn try_new(value: T) -> Result<Self, Error> {
        Ok(Self::make(value, Location::caller())?)
    }

    /// [`Cell::new`] for a caller that knows the place.
    #[cfg(feature = "trace")]
    #[track_caller]
    pub(crate) fn made_at(value: T, place: &'static Location<'static>) -> Self {
        expect(Self::make(value, place))
    }

    fn make(value: T, place: &'static Location<'static>) -> Fallible<Self> {
        let node =
            with_store(|store| store.admit(NodeRef::source(store, value, store.intern(place))))?;
        Ok(Self::adopt(Strong::adopt(node)))
    }

    /// Makes a source cell that takes a write for no change where `same(old, new)` holds. In a batch the comparison is
    /// made once, with the value before the batch (rule P8). A write that is no change leaves the old value in place.
    ///
    /// ```
    /// use hyphae::{Cell, same_float};
    /// let level = Cell::with_cutoff(f64::NAN, same_float);
    /// let calls = std::rc::Rc::new(std::cell::Cell::new(0));
    /// let guard = level.watch({ let calls = calls.clone(); move |_| calls.set(calls.get() + 1) });
    /// level.set(f64::NAN); // the same, under this comparison
    /// assert_eq!(calls.get(), 1);
    /// # drop(guard);
    /// ```
    #[track_caller]
    pub fn with_cutoff(value: T, same: impl FnMut(&T, &T) -> bool + 'static) -> Self {
        let place = Location::caller();
        let node = with_store(|store| {
            store.admit(NodeRef::cutoff(store, value, same, store.intern(place)))
        });
        Self::adopt(Strong::adopt(expect(node)))
    }

    /// Writes the cell and tells everybody, also when the value is equal. On a cell that has ended it does nothing.
    ///
    /// # Panics
    /// When the cell was disposed of, the store is gone, or feedback does not converge; a panic of a callback goes on
    /// to the caller of the outermost call.
    #[track_caller]
    #[inline]
    pub fn set(&self, value: T) {
        expect(with_store(|store| store.set(self.strong.node(store), value)).and_then(|set| set));
    }

    /// [`Cell::set`] that gives errors back, also [`Error::Ended`]. In a callback it tells of the handle only: whether
    /// the cell has ended is decided when the write is applied.
    pub fn try_set(&self, value: T) -> Result<(), Error> {
        let written = with_store(|store| {
            let node = store.writable(self.strong.node(store))?;
            store.write(node, Write::Set(value))
        });
        Ok(written.and_then(|written| written)?)
    }

    /// Writes the cell unless it equals `value` at the time when the write is applied.
    #[track_caller]
    pub fn set_if_changed(&self, value: T)
    where
        T: PartialEq,
    {
        expect(self.write(|| Write::SetUnless(value, T::eq)));
    }

    /// Writes the cell and gives what it held: where writes wait, the last value that was queued.
    #[track_caller]
    pub fn replace(&self, value: T) -> T
    where
        T: Clone,
    {
        let mut former = None;
        self.update(|current| former = Some(std::mem::replace(current, value)));
        former.unwrap_or_else(|| self.get())
    }

    /// Changes the value by a closure that runs at once: in place outside callbacks; in a callback, or on a cell with a
    /// cut-off, on a clone of the last queued value, so that two updates add up. On an ended cell `f` is not called.
    ///
    /// ```
    /// let list = hyphae::Cell::new(vec![1]);
    /// list.update(|l| l.push(2));
    /// assert_eq!(list.get(), [1, 2]);
    /// ```
    ///
    /// # Panics
    /// As [`Cell::set`]. Reading the cell inside `f`, directly or through a derived cell, is [`Error::Lent`].
    #[track_caller]
    pub fn update(&self, f: impl FnOnce(&mut T))
    where
        T: Clone,
    {
        expect(self.change(Location::caller(), f));
    }

    /// [`Cell::update`] that gives the error back.
    #[track_caller]
    pub fn try_update(&self, f: impl FnOnce(&mut T)) -> Result<(), Error>
    where
        T: Clone,
    {
        Ok(self.change(Location::caller(), f)?)
    }

    fn change(&self, place: &'static Location<'static>, f: impl FnOnce(&mut T)) -> Fallible<()>
    where
        T: Clone,
    {
        with_store(|store| store.update(self.node(store)?, place, f))?
    }

    /// Changes the value by a closure that is queued as it is, for types that are not `Clone`. On a cell with a cut-off
    /// it always counts as a change.
    #[track_caller]
    pub fn modify(&self, f: impl FnOnce(&mut T) + 'static) {
        expect(self.write(|| Write::Modify(Box::new(f))));
    }

    /// Ends the cell well. What was written before is delivered first; after it nothing is taken or delivered.
    #[track_caller]
    pub fn complete(&self) {
        expect(self.write(|| Write::Complete));
    }

    /// Ends the cell with an error, which subscribers and dependents get.
    ///
    /// ```
    /// let cell = hyphae::Cell::new(1);
    /// cell.fail("sensor unplugged");
    /// assert_eq!(cell.error().unwrap().to_string(), "sensor unplugged");
    /// assert_eq!(cell.get(), 1);
    /// ```
    #[track_caller]
    pub fn fail(&self, error: impl Into<Box<dyn std::error::Error>>) {
        expect(self.write(|| Write::Fail(CellError::new(error))));
    }

    /// The write is put together inside: what is captured for a number is then two words, which pass in registers. Without
    /// link-time optimization the access to the thread's store is a call, and memory written in halves a slow way there.
    #[inline]
    fn write(&self, write: impl FnOnce() -> Write<T>) -> Fallible<()> {
        with_store(|store| {
            let node = self.node(store)?;
            store.write(node, write())
        })?
    }
}

impl<T: 'static, M> fmt::Debug for Cell<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug_handle(f, "Cell", self.key())
    }
}

pub(crate) fn debug_handle(f: &mut fmt::Formatter<'_>, what: &str, id: CellKey) -> fmt::Result {
    let info = with_store(|store| store.info(id)).ok().flatten();
    let mut out = f.debug_struct(what);
    out.field("id", &CellId::of(id));
    if let Some(info) = info {
        out.field("name", &info.name).field("place", &format_args!("{}", info.place));
    }
    out.finish()
}

/// The comparison of floats for [`Cell::with_cutoff`]: NaN is the same as NaN, and 0.0 the same as -0.0.
///
/// ```
/// assert!(hyphae::same_float(&f64::NAN, &f64::NAN));
/// assert!(hyphae::same_float(&0.0_f32, &-0.0));
/// assert!(!hyphae::same_float(&1.0, &2.0));
/// ```
#[allow(clippy::eq_op)] // a value that differs from itself is NaN
pub fn same_float<F: PartialEq>(old: &F, new: &F) -> bool {
    old == new || (old != old && new != new)
}
