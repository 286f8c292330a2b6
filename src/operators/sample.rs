//! `with_latest_from`, `sample`, `sample_on`: a cell that is read when another one changes. The edge from it orders, but
//! does not trigger.

use std::marker::PhantomData;
use std::panic::Location;

use crate::cell::{Cell, CellImmutable};
use crate::error::Fallible;
use crate::pipeline::{Chain, Give, Plan, Root, input_of};
use crate::store::expect;
use crate::store::kernel::{End, Kernel, Over, Passive, Turn, Upstream};
use crate::store::node::Input;

/// What an operator makes of a chain's value and the one that is read beside it.
#[doc(hidden)]
pub trait Pick<T, U>: 'static {
    /// What it makes.
    type Out: 'static;
    /// The operator's name, for diagnostics.
    const NAME: &'static str;

    /// Makes it.
    fn pick(value: &T, other: &U) -> Self::Out;
}

/// Both values.
#[doc(hidden)]
#[derive(Debug)]
pub struct WithLatestFrom;

impl<T: Clone + 'static, U: Clone + 'static> Pick<T, U> for WithLatestFrom {
    type Out = (T, U);
    const NAME: &'static str = "with_latest_from";

    fn pick(value: &T, other: &U) -> (T, U) {
        (value.clone(), other.clone())
    }
}

/// The value that is read.
#[doc(hidden)]
#[derive(Debug)]
pub struct Sample;

impl<T, U: Clone + 'static> Pick<T, U> for Sample {
    type Out = U;
    const NAME: &'static str = "sample";

    fn pick(_: &T, other: &U) -> U {
        other.clone()
    }
}

/// A chain, and a cell that is read beside it, for an operator.
#[doc(hidden)]
pub struct Beside<Op, C: Chain, U: 'static> {
    prev: C,
    other: Passive<U>,
    operator: PhantomData<fn() -> Op>,
}

impl<Op, C: Chain, U: 'static> Beside<Op, C, U> {
    #[track_caller]
    pub(crate) fn new<M>(prev: C, other: &Cell<U, M>) -> Self {
        let other = Passive(expect(input_of(other.strong.clone())));
        Self { prev, other, operator: PhantomData }
    }
}

impl<Op, C: Chain, U: 'static> std::fmt::Debug for Beside<Op, C, U> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Beside")
    }
}

#[allow(private_interfaces)]
impl<Op: Pick<C::Out, U>, C: Chain, U: 'static> Chain for Beside<Op, C, U> {
    type Out = Op::Out;
    type Seed = C::Seed;
    const OPERATOR: &'static str = Op::NAME;

    fn lend(&mut self, turn: Turn, with: impl FnOnce(&Op::Out)) -> Over {
        self.give(turn, |value| with(&value))
    }

    fn end(&self) -> End {
        self.prev.end()
    }

    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream)) {
        self.prev.inputs(visit);
        visit(&mut self.other);
    }

    fn restart(&mut self) {
        self.prev.restart();
    }
}

#[allow(private_interfaces)]
impl<Op: Pick<C::Out, U>, C: Chain, U: 'static> Give for Beside<Op, C, U> {
    fn give(&mut self, turn: Turn, emit: impl FnOnce(Op::Out)) -> Over {
        let Self { prev, other, .. } = self;
        prev.lend(turn, |value| emit(other.0.with(|other| Op::pick(value, other))))
    }
}

impl<T: Clone + 'static, M> Cell<T, M> {
    /// This cell's value each time `trigger` changes, and now. Ends as `trigger` does; that this cell has ended does not
    /// matter.
    ///
    /// ```
    /// use hyphae::{Cell, Pipeline};
    /// let (level, tick) = (Cell::new(1), Cell::new(()));
    /// let shown = level.sample(&tick).materialize();
    /// level.set(2);
    /// assert_eq!(shown.get(), 1);
    /// tick.set(());
    /// assert_eq!(shown.get(), 2);
    /// ```
    ///
    /// # Panics
    /// When one of them was disposed of, or the store is gone.
    #[track_caller]
    pub fn sample<U: 'static, N>(&self, trigger: &Cell<U, N>) -> Plan<Beside<Sample, Root<U>, T>> {
        Plan(Beside::new(Root::of(trigger.strong.clone()), self))
    }
}

/// A cell that takes another one's value at each event.
struct SampleOn<T: 'static, E: 'static> {
    cell: Passive<T>,
    event: Input<E>,
}

impl<T: Clone + 'static, E: 'static> Kernel for SampleOn<T, E> {
    type Out = T;
    const OPERATOR: &'static str = "sample_on";

    fn turn(&mut self, turn: Turn, emit: impl FnOnce(T)) -> Over {
        if turn.is_seed() || self.event.fresh(turn) {
            emit(self.cell.0.with(T::clone));
        }
        Over::upstream_if(self.event.ended())
    }

    fn end(&self) -> End {
        self.event.end().unwrap_or(End::Complete)
    }

    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream)) {
        visit(&mut self.event);
        visit(&mut self.cell);
    }
}

/// Makes a cell that takes a cell's value each time a node of `E` changes.
pub(crate) fn sample_on<T: Clone + 'static, M, E: 'static, N>(
    cell: &Cell<T, M>,
    event: &Cell<E, N>,
    place: &'static Location<'static>,
) -> Fallible<Cell<T, CellImmutable>> {
    let cell = Passive(input_of(cell.strong.clone())?);
    crate::pipeline::derive(SampleOn { cell, event: input_of::<E>(event.strong.clone())? }, place)
}
