//! What the tests of this folder share: logs of deliveries, counted closures, caught panics, small stacks.

use std::cell::RefCell;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

use hyphae::{Cell, Signal, SubscriptionGuard};

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
