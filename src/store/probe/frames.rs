//! The frames that a sampling profiler tells cells and operators apart by: never inlined, one symbol for each type.
//!
//! Two things would fold them, and [`tell_apart`] keeps both away. Bodies that are equal after compilation are merged
//! into one symbol. And a call that is the last act of a function becomes a jump, so that the caller is not on the stack.
//!
//! Costs: about half a nanosecond a frame, and the calls.

use std::any::TypeId;
use std::hint::black_box;
use std::marker::PhantomData;

use crate::store::Store;
use crate::store::kernel::Outcome;
use crate::store::node::NodeRef;

/// Makes the body of a function differ from that for any other type: it uses the address of the type's id, which is the
/// type's own (a name is not: all closures of a function have the same). A local of the function is shown to code that
/// the compiler must not look into, so the function's frame has to last as long as its calls, and none becomes a jump.
/// `tests/capture` looks for both in the program's code.
#[inline(always)]
pub(crate) fn tell_apart<T: ?Sized + 'static>() {
    black_box::<*const TypeId>(const { &TypeId::of::<T>() });
}

/// A cell of `T`s, as profilers see it: `Cell::notify`, `Cell::write_value`, `Cell::fanout`.
pub(crate) struct Cell<T>(PhantomData<T>);

impl<T: 'static> Cell<T> {
    /// The turn of a cell; `compute` is that of its operator.
    #[inline(never)]
    pub(crate) fn notify(
        node: NodeRef,
        store: &Store,
        compute: fn(NodeRef, &Store) -> Outcome,
    ) -> Outcome {
        tell_apart::<fn(T)>();
        compute(node, store)
    }

    /// The store of its value; gives the old one.
    #[inline(never)]
    pub(crate) fn write_value(node: NodeRef, value: T, store: &Store) -> T {
        tell_apart::<fn(T) -> T>();
        node.put_value(value, store)
    }

    /// The calls of its subscribers.
    #[inline(never)]
    pub(crate) fn fanout(node: NodeRef, store: &Store, deliver: fn(NodeRef, &Store)) {
        tell_apart::<fn(&T)>();
        deliver(node, store);
    }
}

/// The work of one stage of a pipeline, named by the type of its operator.
#[inline(never)]
pub(crate) fn operator<Op: 'static, R>(work: impl FnOnce() -> R) -> R {
    tell_apart::<Op>();
    work()
}
