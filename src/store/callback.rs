//! Callbacks, and how a signal reaches them without its type being known on the way.
//!
//! The second of the store's two files with `unsafe`; invariants N1 to N6 are those of `node`. It knows neither lists nor
//! waves: the store says which callback comes next.
#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::ptr::NonNull;

use super::kernel::End;
use super::node::{Event, NodeRef};
use super::probe::frames;
use super::{Store, flag};
use crate::signal::Signal;

/// A signal whose value type is erased on the way to a subscriber.
#[derive(Clone, Copy)]
pub(crate) struct Lent<'a>(NonNull<()>, PhantomData<&'a ()>);

impl<'a> Lent<'a> {
    fn new<T>(signal: &'a Signal<'a, T>) -> Self {
        Self(NonNull::from(signal).cast(), PhantomData)
    }
}

/// A callback in the list of a node.
trait Callback {
    fn call(&mut self, signal: Lent<'_>);
    /// Calls it with the value of its node.
    ///
    /// # Safety
    /// It was put on this node, whose fan-out makes signals of the node's own value.
    unsafe fn call_with_value(&mut self, node: NodeRef);
}

/// A callback at an address that stays, so that it can be called while its entry in the list is taken away.
pub(crate) struct CallbackBox(NonNull<dyn Callback>);

/// A callback that is about to be called (see N6).
#[derive(Clone, Copy)]
pub(crate) struct CallbackRef(NonNull<dyn Callback>);

impl CallbackBox {
    /// Boxes a callback for a node whose fan-out makes `Signal<T>`; it must be put on such a node alone.
    pub(crate) fn new<T: 'static>(callback: impl FnMut(&Signal<'_, T>) + 'static) -> Self {
        let boxed: Box<dyn Callback> = Box::new(Typed { callback, _value: PhantomData });
        // SAFETY: `Box::into_raw` never gives null.
        Self(unsafe { NonNull::new_unchecked(Box::into_raw(boxed)) })
    }

    pub(crate) fn handle(&self) -> CallbackRef {
        CallbackRef(self.0)
    }
}

impl Drop for CallbackBox {
    fn drop(&mut self) {
        // SAFETY: it came from `Box::into_raw`, and by N6 no call of it is under way.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

impl CallbackRef {
    #[inline]
    fn call(self, signal: Lent<'_>) {
        // SAFETY: N6: the box is alive, and no other call of it is under way.
        unsafe { (*self.0.as_ptr()).call(signal) }
    }

    /// Calls it with the value of the node that it was put on, which is not that of a `Source`: there the value is an event.
    #[inline]
    pub(crate) fn call_with_value(self, node: NodeRef) {
        debug_assert!(!node.has(flag::SOURCE));
        // SAFETY: N6, as in `call`. N2: the flag says that the node has the vtable of `fanout`, not of `fanout_event`.
        unsafe { (*self.0.as_ptr()).call_with_value(node) }
    }
}

/// A callback for cells of `T`.
struct Typed<T, F> {
    callback: F,
    _value: PhantomData<fn(&T)>,
}

impl<T: 'static, F: FnMut(&Signal<'_, T>) + 'static> Callback for Typed<T, F> {
    #[inline]
    fn call(&mut self, signal: Lent<'_>) {
        // SAFETY: N2: this callback was put on a node whose value is a `T` (`callback` is called by typed handles
        // only), and `fanout::<T>` of that node made the signal, which is alive for the call.
        let signal: &Signal<'_, T> = unsafe { signal.0.cast::<Signal<'_, T>>().as_ref() };
        frames::tell_apart::<F>();
        (self.callback)(signal);
    }

    #[inline]
    unsafe fn call_with_value(&mut self, node: NodeRef) {
        // SAFETY: N2: by the caller's promise the value is a `T`. N3: lent for the call only.
        let value: &T = unsafe { &*node.value_ptr::<T>() };
        frames::tell_apart::<fn(F)>();
        (self.callback)(&Signal::Value(value));
    }
}

/// # Safety
/// The node's value is a `T`.
pub(super) unsafe fn fanout<T: 'static>(node: NodeRef, store: &Store) {
    // SAFETY: the caller's promise; it is called at once.
    frames::Cell::<T>::fanout(node, store, |node, store| unsafe {
        deliver::<T>(node, store);
    });
}

/// # Safety
/// The node's value is a `T`.
unsafe fn deliver<T: 'static>(node: NodeRef, store: &Store) {
    frames::tell_apart::<Signal<'static, T>>();
    if store.brought_value(node) {
        store.call_subscribers(node, node.stamp.get(), |callback| {
            // SAFETY: N2 and N3: lent for the call only.
            let value: &T = unsafe { &*node.value_ptr::<T>() };
            callback.call(Lent::new(&Signal::Value(value)));
        });
    }
    if let Some((end, stamp)) = store.brought_end(node) {
        let signal: Signal<'_, T> = match &end {
            End::Complete => Signal::Complete,
            End::Error(error) => Signal::Error(error),
        };
        store.call_subscribers(node, stamp, |callback| callback.call(Lent::new(&signal)));
    }
}

/// # Safety
/// The node's value is an `Event<T>`.
pub(super) unsafe fn fanout_event<T: 'static>(node: NodeRef, store: &Store) {
    // SAFETY: the caller's promise; it is called at once.
    frames::Cell::<T>::fanout(node, store, |node, store| unsafe {
        deliver_event::<T>(node, store);
    });
}

/// # Safety
/// The node's value is an `Event<T>`.
unsafe fn deliver_event<T: 'static>(node: NodeRef, store: &Store) {
    frames::tell_apart::<Event<T>>();
    if store.brought_value(node) {
        store.call_subscribers(node, node.stamp.get(), |callback| {
            // SAFETY: N2 and N3: lent for the call only.
            let event: &Event<T> = unsafe { &*node.value_ptr::<Event<T>>() };
            if let Some(value) = &event.0 {
                callback.call(Lent::new(&Signal::Value(value)));
            }
        });
    }
    if let Some((_, stamp)) = store.brought_end(node) {
        store.call_subscribers(node, stamp, |callback| {
            callback.call(Lent::new(&Signal::<T>::Complete));
        });
    }
}
