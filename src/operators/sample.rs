//! `with_latest_from`, `sample`, `sample_on`: a cell that is read when another one changes. The edge from it orders, but
//! does not trigger.

use std::panic::Location;

use crate::cell::{Cell, CellImmutable};
use crate::error::Fallible;
use crate::pipeline::{Chain, Give, Plan, Root, input_of};
use crate::store::expect;
use crate::store::node::{End, Input, Kernel, Over, Passive, Turn, Upstream};

/// A chain, and a cell that is read beside it.
#[doc(hidden)]
pub struct Beside<C: Chain, U: 'static, R> {
    prev: C,
    other: Passive<U>,
    pick: fn(&C::Out, &U) -> R,
}

impl<C: Chain, U: 'static, R> Beside<C, U, R> {
    #[track_caller]
    pub(crate) fn new<M>(prev: C, other: &Cell<U, M>, pick: fn(&C::Out, &U) -> R) -> Self {
        Self { prev, other: Passive(expect(input_of(other.strong.clone()))), pick }
    }
}

impl<C: Chain, U: 'static, R> std::fmt::Debug for Beside<C, U, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Beside")
    }
}

#[allow(private_interfaces)]
impl<C: Chain, U: 'static, R: 'static> Chain for Beside<C, U, R> {
    type Out = R;
    type Seed = C::Seed;
    const OPERATOR: &'static str = "with_latest_from";

    fn lend(&mut self, turn: Turn, with: impl FnOnce(&R)) -> Over {
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
impl<C: Chain, U: 'static, R: 'static> Give for Beside<C, U, R> {
    fn give(&mut self, turn: Turn, emit: impl FnOnce(R)) -> Over {
        let Self { prev, other, pick } = self;
        prev.lend(turn, |value| emit(other.0.with(|other| pick(value, other))))
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
    pub fn sample<U: 'static, N>(&self, trigger: &Cell<U, N>) -> Plan<Beside<Root<U>, T, T>> {
        Plan(Beside::new(Root::of(trigger.strong.clone()), self, |_, value| value.clone()))
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
