//! Whether a pipeline has a value from the start, as types.

use std::panic::Location;

use super::chain::Give;
use super::lazy::Lazy;
use crate::cell::{Cell, CellImmutable, Strong};
use crate::error::Fallible;
use crate::store::kernel::{End, Kernel, Over, Turn, Upstream};
use crate::store::with_store;

mod sealed {
    pub trait Sealed {}
}

/// [`Definite`] or [`Empty`].
pub trait Seedness: sealed::Sealed + 'static {
    /// Whether there is a value from the start.
    #[doc(hidden)]
    const DEFINITE: bool;
    /// What the materialized cell holds: `T` or `Option<T>`.
    type Value<T: 'static>: 'static;

    #[doc(hidden)]
    fn cell<C: Give>(
        chain: C,
        place: &'static Location<'static>,
    ) -> Fallible<Cell<Self::Value<C::Out>, CellImmutable>>;

    /// What the cell holds when there is a value.
    #[doc(hidden)]
    fn some<T: 'static>(value: T) -> Self::Value<T>;

    /// What the cell holds before there is one; only where that can be.
    #[doc(hidden)]
    fn none<T: 'static>() -> Option<Self::Value<T>>;
}

/// There is a value from the start.
#[derive(Debug, Clone, Copy)]
pub struct Definite;

/// There may be no value yet.
#[derive(Debug, Clone, Copy)]
pub struct Empty;

impl sealed::Sealed for Definite {}
impl sealed::Sealed for Empty {}

impl Seedness for Definite {
    const DEFINITE: bool = true;
    type Value<T: 'static> = T;

    fn cell<C: Give>(
        chain: C,
        place: &'static Location<'static>,
    ) -> Fallible<Cell<C::Out, CellImmutable>> {
        derive(Whole(chain), place)
    }

    fn some<T: 'static>(value: T) -> T {
        value
    }

    fn none<T: 'static>() -> Option<T> {
        None
    }
}

impl Seedness for Empty {
    const DEFINITE: bool = false;
    type Value<T: 'static> = Option<T>;

    fn cell<C: Give>(
        chain: C,
        place: &'static Location<'static>,
    ) -> Fallible<Cell<Option<C::Out>, CellImmutable>> {
        derive(Optional(chain), place)
    }

    fn some<T: 'static>(value: T) -> Option<T> {
        Some(value)
    }

    fn none<T: 'static>() -> Option<Option<T>> {
        Some(None)
    }
}

/// Makes a derived cell of a kernel.
pub(crate) fn derive<K: Kernel>(
    kernel: K,
    place: &'static Location<'static>,
) -> Fallible<Cell<K::Out, CellImmutable>> {
    let node = with_store(|store| store.derive(kernel, place))??;
    Ok(Cell::adopt(Strong::adopt(node)))
}

/// Makes the lazy cell of a definite chain.
pub(super) fn lazy_cell<C: Give>(
    chain: C,
    place: &'static Location<'static>,
) -> Fallible<Cell<C::Out, CellImmutable>> {
    derive(Lazy(Whole(chain)), place)
}

/// The kernel of a definite chain.
struct Whole<C>(C);

impl<C: Give> Kernel for Whole<C> {
    type Out = C::Out;
    const OPERATOR: &'static str = C::OPERATOR;

    #[inline]
    fn turn(&mut self, turn: Turn, emit: impl FnOnce(C::Out)) -> Over {
        self.0.give(turn, emit)
    }

    fn end(&self) -> End {
        self.0.end()
    }

    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream)) {
        self.0.inputs(visit);
    }
}

/// The kernel of a chain that may have no value yet.
struct Optional<C>(C);

impl<C: Give> Kernel for Optional<C> {
    type Out = Option<C::Out>;
    const OPERATOR: &'static str = C::OPERATOR;

    #[inline]
    fn turn(&mut self, turn: Turn, emit: impl FnOnce(Option<C::Out>)) -> Over {
        if !turn.is_seed() {
            return self.0.give(turn, |value| emit(Some(value)));
        }
        let mut seed = None;
        let over = self.0.give(turn, |value| seed = Some(value));
        emit(seed);
        over
    }

    fn end(&self) -> End {
        self.0.end()
    }

    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream)) {
        self.0.inputs(visit);
    }
}
