//! What the tests of this folder share: logs of deliveries, counted closures, caught panics, small stacks.

use std::cell::RefCell;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

use hyphae::{Cell, Signal, SubscriptionGuard, arena};

/// A shared list of what was heard.
pub(crate) struct Log<T>(Rc<RefCell<Vec<T>>>);

impl<T> Clone for Log<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Log<T> {
    pub(crate) fn new() -> Self {
        Self(Rc::default())
    }

    pub(crate) fn push(&self, entry: T) {
        self.0.borrow_mut().push(entry);
    }

    /// All entries since the last `take`; the log is empty afterwards.
    pub(crate) fn take(&self) -> Vec<T> {
        self.0.take()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.borrow().len()
    }

    /// Checks all entries since the last `take`, and leaves them.
    #[track_caller]
    pub(crate) fn check<U: Debug>(&self, expected: &[U])
    where
        T: PartialEq<U> + Debug,
    {
        let entries = self.0.borrow();
        assert_eq!(*entries, *expected);
    }
}

impl<T: Clone + 'static> Log<T> {
    /// Subscribes: the log gets the current value now and each one to come.
    #[track_caller]
    pub(crate) fn on<M>(&self, cell: &Cell<T, M>) -> SubscriptionGuard {
        let log = self.clone();
        cell.watch(move |value| log.push(value.clone()))
    }
}

/// One delivery, kept.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Heard<T> {
    Value(T),
    Complete,
    Error(String),
}

impl<T: Clone> Heard<T> {
    pub(crate) fn of(signal: &Signal<'_, T>) -> Self {
        match signal {
            Signal::Value(value) => Self::Value((*value).clone()),
            Signal::Complete => Self::Complete,
            Signal::Error(error) => Self::Error(error.to_string()),
        }
    }
}

impl<T: Clone + 'static> Log<Heard<T>> {
    /// [`Log::on`] with the terminal signals.
    #[track_caller]
    pub(crate) fn hear<M>(&self, cell: &Cell<T, M>) -> SubscriptionGuard {
        let log = self.clone();
        cell.subscribe(move |signal| log.push(Heard::of(signal)))
    }
}

/// Counts the runs of closures.
#[derive(Clone, Default)]
pub(crate) struct Count(Rc<std::cell::Cell<usize>>);

impl Count {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn up(&self) {
        self.0.set(self.0.get() + 1);
    }

    pub(crate) fn get(&self) -> usize {
        self.0.get()
    }

    /// The same closure, counted.
    pub(crate) fn of<A: ?Sized, B, F: FnMut(&A) -> B>(
        &self,
        mut f: F,
    ) -> impl FnMut(&A) -> B + use<A, B, F> {
        let count = self.clone();
        move |a| {
            count.up();
            f(a)
        }
    }
}

/// The message of the panic of `f`, if it panics.
pub(crate) fn caught<R>(f: impl FnOnce() -> R) -> Option<String> {
    let payload = catch_unwind(AssertUnwindSafe(f)).err()?;
    let text = match payload.downcast_ref::<&'static str>() {
        Some(text) => (*text).to_owned(),
        None => {
            payload.downcast_ref::<String>().map_or_else(|| "(not text)".to_owned(), Clone::clone)
        }
    };
    Some(text)
}

/// Runs `f` on a thread (and thus a store) of its own with a stack of `kib` KiB; its panic goes on to the caller.
pub(crate) fn run_on_small_stack<R: Send + 'static>(
    kib: usize,
    f: impl FnOnce() -> R + Send + 'static,
) -> R {
    let thread = std::thread::Builder::new().stack_size(kib * 1024).spawn(f);
    let outcome = thread.expect("the thread starts").join();
    outcome.unwrap_or_else(|payload| resume_unwind(payload))
}

/// A closure that owns clones of the variables named in front of it.
#[allow(unused_macros, reason = "other test programs mount this file for its other parts")]
macro_rules! owning {
    ([$($name:ident),*] $closure:expr) => {{
        $(let $name = $name.clone();)*
        $closure
    }};
}
#[allow(unused_imports, reason = "as above")]
pub(crate) use owning;

/// What must not grow: cells, edges, subscriptions, bytes of the arena's tables.
pub(crate) fn live() -> [usize; 4] {
    let now = arena::totals();
    [now.cells, now.edges, now.subscribers, now.table_bytes]
}

/// Turns of derived cells that `f` causes.
pub(crate) fn turns(f: impl FnOnce()) -> u64 {
    let before = arena::totals().recomputations;
    f();
    arena::totals().recomputations - before
}

/// A place that closures fill, or read, later.
pub(crate) struct Slot<T>(Rc<RefCell<Option<T>>>);

impl<T> Clone for Slot<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Slot<T> {
    pub(crate) fn new() -> Self {
        Self(Rc::default())
    }

    /// Puts `thing` in; what was there is dropped after that.
    pub(crate) fn put(&self, thing: T) {
        let former = self.0.borrow_mut().replace(thing);
        drop(former);
    }

    pub(crate) fn take(&self) -> Option<T> {
        self.0.borrow_mut().take()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.borrow().is_none()
    }
}

impl<T: Clone> Slot<T> {
    pub(crate) fn get(&self) -> Option<T> {
        self.0.borrow().clone()
    }

    /// What was put in.
    #[track_caller]
    pub(crate) fn full(&self) -> T {
        self.get().expect("it was filled")
    }
}

/// Counts its drops.
pub(crate) struct Token(Count);

impl Count {
    pub(crate) fn token(&self) -> Token {
        Token(self.clone())
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        self.0.up();
    }
}
