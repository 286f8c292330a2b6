//! The fused chain: roots, and the two adaptors that carry all operators.

use crate::cell::Strong;
use crate::error::Error;
use crate::operators::{Gate, Stage, Verdict};
use crate::pipeline::seed::{Definite, Empty, Seedness};
use crate::store::node::{End, Event, Input, Over, Turn, Upstream, Yield};
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

    /// Runs one turn and lends the value that comes out, if any.
    fn lend<R>(&mut self, turn: Turn, with: impl FnOnce(&Self::Out) -> R) -> Yield<R>;

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
    /// Runs one turn and gives the value that comes out, if any.
    #[doc(hidden)]
    fn take(&mut self, turn: Turn) -> Yield<Self::Out>;
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
    input: Input<T>,
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
pub(crate) fn input_of<T: 'static>(strong: Strong) -> Result<Input<T>, Error> {
    with_store(|store| {
        let node = store.usable(strong.id())?;
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
    fn lend<R>(&mut self, turn: Turn, with: impl FnOnce(&T) -> R) -> Yield<R> {
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
    fn take(&mut self, turn: Turn) -> Yield<T> {
        self.lend(turn, T::clone)
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
    fn lend<R>(&mut self, turn: Turn, with: impl FnOnce(&T) -> R) -> Yield<R> {
        // An event in flight is not replayed to a chain that is being built.
        if turn.is_seed() {
            return Yield { value: None, over: Over::upstream_if(self.0.input.ended()) };
        }
        let given = self.0.lend(turn, |event| event.0.as_ref().map(with));
        Yield { value: given.value.flatten(), over: given.over }
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
    fn take(&mut self, turn: Turn) -> Yield<T> {
        self.lend(turn, T::clone)
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
    fn lend<R>(&mut self, turn: Turn, with: impl FnOnce(&N::Out) -> R) -> Yield<R> {
        self.take(turn).map(|value| with(&value))
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
    fn take(&mut self, turn: Turn) -> Yield<N::Out> {
        let stage = &mut self.stage;
        let given = self.prev.lend(turn, |value| stage.step(value, turn.is_seed()));
        let value = given.value.flatten();
        if given.over == Over::No {
            Yield { value, over: Over::No }
        } else {
            self.take_last(value, given.over)
        }
    }
}

impl<C: Chain, N: Stage<C::Out>> Then<C, N> {
    /// The last turn: what the stage still has comes before the end.
    #[cold]
    fn take_last(&mut self, value: Option<N::Out>, over: Over) -> Yield<N::Out> {
        let completed = over == Over::Closed || matches!(self.prev.end(), End::Complete);
        Yield { value: self.stage.finish(completed).or(value), over }
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
    fn lend<R>(&mut self, turn: Turn, with: impl FnOnce(&C::Out) -> R) -> Yield<R> {
        if Self::is_closed(&self.gate) {
            return Yield { value: None, over: over_at(&mut self.gate, true, Over::No) };
        }
        let gate = &mut self.gate;
        let mut verdict = Verdict::DROP;
        let given = self.prev.lend(turn, |value| {
            verdict = gate.admit(value, turn.is_seed());
            verdict.passes.then(|| with(value))
        });
        let over = over_at(&mut self.gate, verdict.closes, given.over);
        Yield { value: given.value.flatten(), over }
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
    fn take(&mut self, turn: Turn) -> Yield<C::Out> {
        if Self::is_closed(&self.gate) {
            return Yield { value: None, over: over_at(&mut self.gate, true, Over::No) };
        }
        let given = self.prev.take(turn);
        let verdict = given
            .value
            .as_ref()
            .map_or(Verdict::DROP, |value| self.gate.admit(value, turn.is_seed()));
        let over = over_at(&mut self.gate, verdict.closes, given.over);
        Yield { value: given.value.filter(|_| verdict.passes), over }
    }
}
