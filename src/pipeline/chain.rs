//! The fused chain: roots, and the two adaptors that carry all operators.

use crate::cell::Strong;
use crate::error::Fallible;
use crate::operators::{Gate, Stage};
use crate::pipeline::seed::{Definite, Empty, Seedness};
use crate::store::kernel::{End, Over, Turn, Upstream};
use crate::store::node::{Event, Input};
use crate::store::probe::frames::operator;
use crate::store::{expect, with_store};

/// A chain of stages that ends in a root. Sealed: its methods speak of types that are not public.
#[doc(hidden)]
#[allow(private_interfaces)]
pub trait Chain: Sized + 'static {
    /// What comes out.
    type Out: 'static;
    /// Whether something comes out at construction.
    type Seed: Seedness;
    /// The last operator's name.
    const OPERATOR: &'static str;

    /// Runs one turn and lends the value that comes out, if any, to `with`.
    fn lend(&mut self, turn: Turn, with: impl FnOnce(&Self::Out)) -> Over;

    /// How the roots ended, after a turn that was over for that.
    fn end(&self) -> End;

    /// Visits the inputs of the roots.
    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream));

    /// Forgets what its stages remember, for a start from the current values.
    fn restart(&mut self) {}
}

/// A chain that can give its value away, as the last stage must to be materialized: a gate over a cell needs `Clone` for
/// that, a map does not. Implemented for all chains of which that is true; generic code names it as a bound.
///
/// ```
/// use hyphae::{Cell, CellImmutable, Definite, Give, Pipeline};
/// fn rounded<P: Pipeline<f64, Definite>>(pipeline: P) -> Cell<i64, CellImmutable>
/// where
///     P::Chain: Give,
/// {
///     pipeline.map(|v| v.round() as i64).materialize()
/// }
/// assert_eq!(rounded(Cell::new(2.6)).get(), 3);
/// ```
#[allow(private_interfaces)]
pub trait Give: Chain {
    /// Runs one turn and gives the value that comes out, if any, to `emit`.
    #[doc(hidden)]
    fn give(&mut self, turn: Turn, emit: impl FnOnce(Self::Out)) -> Over;
}

/// A pipeline under composition: what the operators of [`Pipeline`](crate::Pipeline) return.
pub struct Plan<C>(pub(crate) C);

impl<C: Chain> std::fmt::Debug for Plan<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Plan(.. {})", C::OPERATOR)
    }
}

/// The start of a chain: reads a cell.
#[doc(hidden)]
pub struct Root<T: 'static> {
    pub(crate) input: Input<T>,
}

impl<T: 'static> std::fmt::Debug for Root<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Root")
    }
}

impl<T: 'static> Root<T> {
    /// Reads the cell of a handle.
    #[track_caller]
    pub(crate) fn of(strong: Strong) -> Self {
        Self { input: expect(input_of(strong)) }
    }
}

/// Makes an input of a handle whose cell holds a `T`.
pub(crate) fn input_of<T: 'static>(strong: Strong) -> Fallible<Input<T>> {
    with_store(|store| {
        let node = store.usable(strong.node(store))?;
        store.retain(node);
        Ok(Input::adopt(node))
    })?
}

#[allow(private_interfaces)]
impl<T: 'static> Chain for Root<T> {
    type Out = T;
    type Seed = Definite;
    const OPERATOR: &'static str = "cell";

    #[inline]
    fn lend(&mut self, turn: Turn, with: impl FnOnce(&T)) -> Over {
        self.input.lend(turn, with)
    }

    fn end(&self) -> End {
        self.input.end().unwrap_or(End::Complete)
    }

    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream)) {
        visit(&mut self.input);
    }
}

#[allow(private_interfaces)]
impl<T: Clone + 'static> Give for Root<T> {
    #[inline]
    fn give(&mut self, turn: Turn, emit: impl FnOnce(T)) -> Over {
        self.lend(turn, |value| emit(value.clone()))
    }
}

/// The start of a chain: reads a source's events.
#[doc(hidden)]
#[derive(Debug)]
pub struct SourceRoot<T: 'static>(pub(crate) Root<Event<T>>);

#[allow(private_interfaces)]
impl<T: 'static> Chain for SourceRoot<T> {
    type Out = T;
    type Seed = Empty;
    const OPERATOR: &'static str = "source";

    #[inline]
    fn lend(&mut self, turn: Turn, with: impl FnOnce(&T)) -> Over {
        // An event in flight is not replayed to a chain that is being built.
        if turn.is_seed() {
            return Over::upstream_if(self.0.input.ended());
        }
        self.0.lend(turn, |event| {
            if let Some(event) = &event.0 {
                with(event);
            }
        })
    }

    fn end(&self) -> End {
        self.0.end()
    }

    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream)) {
        self.0.inputs(visit);
    }
}

#[allow(private_interfaces)]
impl<T: Clone + 'static> Give for SourceRoot<T> {
    #[inline]
    fn give(&mut self, turn: Turn, emit: impl FnOnce(T)) -> Over {
        self.lend(turn, |value| emit(value.clone()))
    }
}

/// A chain, then a stage that makes a new value.
#[doc(hidden)]
#[derive(Debug)]
pub struct Then<C, N> {
    pub(crate) prev: C,
    pub(crate) stage: N,
}

#[allow(private_interfaces)]
impl<C: Chain, N: Stage<C::Out>> Chain for Then<C, N> {
    type Out = N::Out;
    type Seed = N::Seed<C::Seed>;
    const OPERATOR: &'static str = N::NAME;

    #[inline]
    fn lend(&mut self, turn: Turn, with: impl FnOnce(&N::Out)) -> Over {
        self.give(turn, |value| with(&value))
    }

    fn end(&self) -> End {
        self.prev.end()
    }

    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream)) {
        self.prev.inputs(visit);
    }

    fn restart(&mut self) {
        self.prev.restart();
        self.stage.restart();
    }
}

#[allow(private_interfaces)]
impl<C: Chain, N: Stage<C::Out>> Give for Then<C, N> {
    #[inline]
    fn give(&mut self, turn: Turn, emit: impl FnOnce(N::Out)) -> Over {
        let stage = &mut self.stage;
        let mut emit = Some(emit);
        let over = self.prev.lend(turn, |value| {
            if let Some(out) = operator::<N, _>(|| stage.step(value, turn.is_seed()))
                && let Some(emit) = emit.take()
            {
                emit(out);
            }
        });
        if over != Over::No {
            self.finish(over, emit);
        }
        over
    }
}

impl<C: Chain, N: Stage<C::Out>> Then<C, N> {
    /// The last turn: what the stage still has comes before the end. A stage that has just given a value has nothing
    /// left.
    #[cold]
    #[inline(never)]
    fn finish(&mut self, over: Over, emit: Option<impl FnOnce(N::Out)>) {
        let completed = over == Over::Closed || matches!(self.prev.end(), End::Complete);
        if let (Some(out), Some(emit)) = (self.stage.finish(completed), emit) {
            emit(out);
        }
    }
}

/// A chain, then a gate.
#[doc(hidden)]
#[derive(Debug)]
pub struct Through<C, G> {
    pub(crate) prev: C,
    pub(crate) gate: G,
}

impl<C: Chain, G: Gate<C::Out>> Through<C, G> {
    /// Whether upstream need not be asked any more: a gate that is spent lets nothing through, except the value that a
    /// definite pipeline must have.
    #[inline]
    fn is_closed(gate: &G) -> bool {
        !C::Seed::DEFINITE && gate.spent()
    }
}

/// Whether a turn was the last one: the gate's own word comes first. A gate that is spent says so again, in case its
/// verdict was lost in a panic of a later stage.
#[inline]
fn over_at<T, G: Gate<T>>(gate: &mut G, closed: bool, over: Over) -> Over {
    let over = if closed || gate.spent() { Over::Closed } else { over };
    if over != Over::No {
        gate.finish();
    }
    over
}

#[allow(private_interfaces)]
impl<C: Chain, G: Gate<C::Out>> Chain for Through<C, G> {
    type Out = C::Out;
    type Seed = G::Seed<C::Seed>;
    const OPERATOR: &'static str = G::NAME;

    #[inline]
    fn lend(&mut self, turn: Turn, with: impl FnOnce(&C::Out)) -> Over {
        if Self::is_closed(&self.gate) {
            return over_at(&mut self.gate, true, Over::No);
        }
        let gate = &mut self.gate;
        let mut closes = false;
        let over = self.prev.lend(turn, |value| {
            let verdict = operator::<G, _>(|| gate.admit(value, turn.is_seed()));
            closes = verdict.closes;
            if verdict.passes {
                with(value);
            }
        });
        over_at(&mut self.gate, closes, over)
    }

    fn end(&self) -> End {
        self.prev.end()
    }

    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream)) {
        self.prev.inputs(visit);
    }

    fn restart(&mut self) {
        self.prev.restart();
        self.gate.restart();
    }
}

#[allow(private_interfaces)]
impl<C: Give, G: Gate<C::Out>> Give for Through<C, G> {
    #[inline]
    fn give(&mut self, turn: Turn, emit: impl FnOnce(C::Out)) -> Over {
        if Self::is_closed(&self.gate) {
            return over_at(&mut self.gate, true, Over::No);
        }
        let gate = &mut self.gate;
        let mut closes = false;
        let over = self.prev.give(turn, |value| {
            let verdict = operator::<G, _>(|| gate.admit(&value, turn.is_seed()));
            closes = verdict.closes;
            if verdict.passes {
                emit(value);
            }
        });
        over_at(&mut self.gate, closes, over)
    }
}
