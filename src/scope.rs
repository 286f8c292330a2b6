//! Scopes: owners of cells, guards and clean-ups that go together, in reverse order of creation.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::rc::{Rc, Weak};

use crate::error::{Error, Fallible};
use crate::graph::CellKey;
use crate::store::{Store, expect, with_store};
use crate::subscription::SubscriptionGuard;

enum Item {
    /// Holds one counted reference.
    Cell(CellKey),
    Guard(SubscriptionGuard),
    Cleanup(Box<dyn FnOnce()>),
    Child(Rc<ScopeBody>),
}

/// What a scope owns, in order of creation.
#[derive(Default)]
pub(crate) struct ScopeBody {
    items: RefCell<BTreeMap<u64, Item>>,
    next: Cell<u64>,
    parent: RefCell<Option<(Weak<ScopeBody>, u64)>>,
    /// In the scope of a closure: the cells made after its first item, each with the number of items before it.
    made: RefCell<Vec<(CellKey, u64)>>,
    is_closure: bool,
}

/// Nobody has disposed of it: the thread ends.
impl Drop for ScopeBody {
    fn drop(&mut self) {
        self.dispose_from(0);
    }
}

impl ScopeBody {
    /// The scope of one run of a closure. Cells made in it belong to their handles (rule P5).
    pub(crate) fn of_closure() -> Self {
        let mut body = Self::default();
        body.is_closure = true;
        body
    }

    pub(crate) fn is_closure(&self) -> bool {
        self.is_closure
    }

    /// Whether nothing was ever added.
    pub(crate) fn is_untouched(&self) -> bool {
        self.next.get() == 0
    }

    /// Notes that a closure has made a cell.
    pub(crate) fn note_made(&self, id: CellKey) {
        if !self.is_untouched() {
            self.made.borrow_mut().push((id, self.next.get()));
        }
    }

    /// How many items are older than a cell; none, if the closure did not make it.
    pub(crate) fn items_before(&self, id: CellKey) -> u64 {
        self.made.take().into_iter().find(|made| made.0 == id).map_or(0, |made| made.1)
    }

    /// Disposes of the items from number `from` on, the last first.
    pub(crate) fn dispose_from(&self, from: u64) {
        let items = self.take_from(from);
        if !items.is_empty() {
            dispose(items);
        }
    }

    fn add(&self, item: Item) -> u64 {
        let at = self.next.get();
        self.next.set(at + 1);
        self.items.borrow_mut().insert(at, item);
        at
    }

    /// Takes over one counted reference to a cell.
    pub(crate) fn take_cell(&self, id: CellKey) {
        self.add(Item::Cell(id));
    }

    fn take_from(&self, from: u64) -> Vec<Item> {
        self.items.borrow_mut().split_off(&from).into_values().collect()
    }

    fn leave_parent(&self) {
        let parent = self.parent.borrow_mut().take();
        if let Some((parent, at)) = parent.and_then(|(parent, at)| Some((parent.upgrade()?, at))) {
            let removed = parent.items.borrow_mut().remove(&at);
            drop(removed);
        }
    }
}

/// An owner: the cells made while [`Scope::run`] runs, guards and clean-ups given to it, and scopes made inside it.
///
/// When it is dropped, clean-ups run first (the last registered first, inner scopes before what was registered earlier),
/// then guards are dropped and cells disposed of in reverse order of creation. Cells that other scopes or handles also
/// hold are disposed of all the same: the scope owns them.
///
/// ```
/// use hyphae::{Cell, Scope, on_cleanup};
/// let total = Cell::new(0);
/// let scope = Scope::new();
/// let row = scope.run(|| {
///     let row = Cell::new(5);
///     on_cleanup({ let (row, total) = (row.clone(), total.clone()); move || total.set(row.get()) });
///     row.downgrade()
/// });
/// drop(scope);
/// assert_eq!(total.get(), 5);
/// assert!(row.upgrade().is_none());
/// ```
pub struct Scope {
    body: Rc<ScopeBody>,
}

impl Default for Scope {
    fn default() -> Self {
        Self::new()
    }
}

impl Scope {
    /// An empty scope. Made inside another scope's [`run`](Scope::run) it is owned by that one too.
    pub fn new() -> Self {
        let body = Rc::new(ScopeBody::default());
        if let Ok(Some(parent)) = with_store(Store::current_scope) {
            let at = parent.add(Item::Child(body.clone()));
            *body.parent.borrow_mut() = Some((Rc::downgrade(&parent), at));
        }
        Self { body }
    }

    /// Calls `f`; the scope owns the cells and scopes made meanwhile (not those that callbacks of a wave make). If `f`
    /// panics, what it made is disposed of and the panic goes on.
    pub fn run<R>(&self, f: impl FnOnce() -> R) -> R {
        let from = self.body.next.get();
        let outcome = catch_unwind(AssertUnwindSafe(|| expect(self.call_inside(f))));
        outcome.unwrap_or_else(|payload| {
            let half_made = self.body.take_from(from);
            let _ = catch_unwind(AssertUnwindSafe(|| dispose(half_made)));
            resume_unwind(payload)
        })
    }

    fn call_inside<R>(&self, f: impl FnOnce() -> R) -> Fallible<R> {
        with_store(|store| store.in_scope(Some(self.body.clone()), f))
    }

    /// Gives the scope a guard to keep.
    pub fn own(&self, guard: SubscriptionGuard) {
        self.body.add(Item::Guard(guard));
    }

    /// Registers a clean-up with this scope.
    pub fn on_cleanup(&self, f: impl FnOnce() + 'static) {
        self.body.add(Item::Cleanup(Box::new(f)));
    }

    /// How many cells, guards, clean-ups and inner scopes it owns.
    pub fn len(&self) -> usize {
        self.body.items.borrow().len()
    }

    /// Whether it owns nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Disposes of all it owns: the same as dropping it.
    pub fn dispose(self) {}
}

impl Drop for Scope {
    fn drop(&mut self) {
        self.body.leave_parent();
        self.body.dispose_from(0);
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("owns", &self.len()).finish()
    }
}

/// Registers a clean-up with the scope that is current: it runs when the scope goes, before its cells do.
///
/// The closures of [`switch_map`](crate::Cell::switch_map), [`merge_map`](crate::Cell::merge_map), [`computed`](crate::Cell::computed) and
/// [`effect`](crate::effect) have a scope for each run: what was registered in it runs before the next run, or when the cell
/// dies, the last registered first.
///
/// # Panics
/// Where no scope is current.
#[track_caller]
pub fn on_cleanup(f: impl FnOnce() + 'static) {
    let place = Location::caller();
    let scope = expect(with_store(Store::current_scope));
    match scope {
        Some(scope) => {
            scope.add(Item::Cleanup(Box::new(f)));
        }
        None => expect(Err(Box::new(Error::NoScope { place }))),
    }
}

/// One scope on its way out: what still has its turn, and the values for when the clean-ups are done.
struct Frame {
    items: Vec<Item>,
    values: Vec<Item>,
}

/// Disposes of items, the last first, clean-ups and inner scopes before values; a loop, however deep scopes nest.
fn dispose(items: Vec<Item>) {
    let mut items = Some(items);
    let _ = with_store(|store| {
        let _busy = store.enter();
        let _aside = store.set_aside();
        dispose_in(store, items.take().unwrap_or_default());
    });
    // The store is gone, and with it the cells; the clean-ups may be of something else.
    for item in items.into_iter().flatten().rev() {
        if let Item::Cleanup(f) = item {
            let _ = catch_unwind(AssertUnwindSafe(f));
        }
    }
}

fn dispose_in(store: &Store, items: Vec<Item>) {
    let mut frames = vec![Frame { items, values: Vec::new() }];
    while let Some(frame) = frames.last_mut() {
        match frame.items.pop() {
            Some(Item::Cleanup(f)) => {
                store.guarded(f);
            }
            Some(Item::Child(child)) => {
                frames.push(Frame { items: child.take_from(0), values: Vec::new() });
            }
            Some(value) => frame.values.push(value),
            None => {
                let done = frames.pop().map_or_else(Vec::new, |frame| frame.values);
                done.into_iter().for_each(|value| drop_value(store, value));
            }
        }
    }
}

fn drop_value(store: &Store, value: Item) {
    match value {
        Item::Cell(id) => {
            if let Some(node) = store.find(id) {
                // In a callback (the caller entered) a disposal only queues its signal, so that it can't fail.
                let _ = store.dispose(node);
                store.release(node);
            }
        }
        Item::Guard(guard) => {
            store.guarded(|| drop(guard));
        }
        Item::Cleanup(_) | Item::Child(_) => unreachable!("clean-ups and inner scopes go first"),
    }
}
