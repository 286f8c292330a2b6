//! The frames of a stack without the feature `profiling`: none, what they would frame is inlined as it is.

use std::marker::PhantomData;

use crate::store::Store;
use crate::store::kernel::Outcome;
use crate::store::node::NodeRef;

/// See the other version.
#[allow(clippy::extra_unused_type_parameters)]
#[inline(always)]
pub(crate) fn tell_apart<T: ?Sized + 'static>() {}

/// See the other version.
pub(crate) struct Cell<T>(PhantomData<T>);

impl<T: 'static> Cell<T> {
    #[inline(always)]
    pub(crate) fn notify(
        node: NodeRef,
        store: &Store,
        compute: fn(NodeRef, &Store) -> Outcome,
    ) -> Outcome {
        compute(node, store)
    }

    #[inline(always)]
    pub(crate) fn write_value(node: NodeRef, value: T, store: &Store) -> T {
        node.put_value(value, store)
    }

    #[inline(always)]
    pub(crate) fn fanout(node: NodeRef, store: &Store, deliver: fn(NodeRef, &Store)) {
        deliver(node, store);
    }
}

// The type is the name of the other version's frame.
#[allow(clippy::extra_unused_type_parameters)]
#[inline(always)]
pub(crate) fn operator<Op: 'static, R>(work: impl FnOnce() -> R) -> R {
    work()
}
