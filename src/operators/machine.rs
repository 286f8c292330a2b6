//! State machines over the values of a cell: what to do at which change of state.
//!
//! A machine is a stage like any other: it knows neither store nor graph.

use std::collections::HashMap;
use std::hash::Hash;

use super::Stage;
use super::combine::named;
use crate::cell::{Cell, CellImmutable};
use crate::pipeline::{Chain, Pipeline, Plan, Seedness};

type Hook<S> = Box<dyn Fn(&S)>;
type Change<S, R> = Box<dyn Fn(&S, &S) -> R>;

/// What a machine does; [`Cell::state_transition`] has the order.
pub struct StateMachineBuilder<S, R> {
    default: Option<R>,
    transitions: HashMap<(S, S), Change<S, R>>,
    guards: HashMap<(S, S), Vec<Change<S, bool>>>,
    enter: HashMap<S, Vec<Hook<S>>>,
    exit: HashMap<S, Vec<Hook<S>>>,
    any: Vec<Hook<S>>,
    invalid: Vec<Change<S, ()>>,
}

impl<S, R> std::fmt::Debug for StateMachineBuilder<S, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StateMachineBuilder({} transitions)", self.transitions.len())
    }
}

impl<S, R> Default for StateMachineBuilder<S, R> {
    fn default() -> Self {
        Self {
            default: None,
            transitions: HashMap::new(),
            guards: HashMap::new(),
            enter: HashMap::new(),
            exit: HashMap::new(),
            any: Vec::new(),
            invalid: Vec::new(),
        }
    }
}

impl<S: Eq + Hash + 'static, R: 'static> StateMachineBuilder<S, R> {
    /// What the machine's cell has before the first transition; without this `R::default()`.
    pub fn with_default(&mut self, value: R) -> &mut Self {
        self.default = Some(value);
        self
    }

    /// Makes the change from one state to another a transition: the cell gets what `f(from, to)` gives. A second one for
    /// the same pair takes its place. A state may have a transition to itself.
    pub fn on(&mut self, from: S, to: S, f: impl Fn(&S, &S) -> R + 'static) -> &mut Self {
        self.transitions.insert((from, to), Box::new(f));
        self
    }

    /// Calls `f` with the new state after each transition into `state`. Of several, in the order given.
    pub fn on_enter(&mut self, state: S, f: impl Fn(&S) + 'static) -> &mut Self {
        self.enter.entry(state).or_default().push(Box::new(f));
        self
    }

    /// Calls `f` with the state that is left before each transition out of `state`.
    pub fn on_exit(&mut self, state: S, f: impl Fn(&S) + 'static) -> &mut Self {
        self.exit.entry(state).or_default().push(Box::new(f));
        self
    }

    /// Calls `f` with the new state after each transition.
    pub fn on_any(&mut self, f: impl Fn(&S) + 'static) -> &mut Self {
        self.any.push(Box::new(f));
        self
    }

    /// Lets a transition happen only where `allows(from, to)` holds; several must all hold. One that is refused calls
    /// nothing and gives nothing.
    pub fn guard(
        &mut self,
        from: S,
        to: S,
        allows: impl Fn(&S, &S) -> bool + 'static,
    ) -> &mut Self {
        self.guards.entry((from, to)).or_default().push(Box::new(allows));
        self
    }

    /// Calls `f(from, to)` when a state follows for which there is no transition.
    pub fn on_invalid(&mut self, f: impl Fn(&S, &S) + 'static) -> &mut Self {
        self.invalid.push(Box::new(f));
        self
    }
}

/// The stage of a machine.
#[doc(hidden)]
pub struct Machine<S, R> {
    rules: StateMachineBuilder<S, R>,
    state: Option<S>,
}

impl<S, R> std::fmt::Debug for Machine<S, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.rules.fmt(f)
    }
}

impl<S, R> Machine<S, R> {
    pub(crate) fn new(configure: impl FnOnce(&mut StateMachineBuilder<S, R>)) -> Self {
        let mut rules = StateMachineBuilder::default();
        configure(&mut rules);
        Self { rules, state: None }
    }
}

impl<S: Clone + Eq + Hash + 'static, R: Clone + Default + 'static> Stage<S> for Machine<S, R> {
    type Out = R;
    type Seed<Up: Seedness> = Up;
    const NAME: &'static str = "state_transition";

    fn step(&mut self, to: &S, seed: bool) -> Option<R> {
        // The state is that of the cell, whatever comes of the change.
        let from = self.state.replace(to.clone());
        match from {
            Some(from) => self.rules.change(from, to.clone()),
            None if seed => Some(self.rules.default.clone().unwrap_or_default()),
            None => None,
        }
    }

    fn restart(&mut self) {
        self.state = None;
    }
}

impl<S: Eq + Hash, R> StateMachineBuilder<S, R> {
    fn change(&self, from: S, to: S) -> Option<R> {
        let pair = (from, to);
        let Some(transition) = self.transitions.get(&pair) else {
            self.invalid.iter().for_each(|report| report(&pair.0, &pair.1));
            return None;
        };
        let mut guards = self.guards.get(&pair).into_iter().flatten();
        if !guards.all(|allows| allows(&pair.0, &pair.1)) {
            return None;
        }
        let (from, to) = &pair;
        self.exit.get(from).into_iter().flatten().for_each(|hook| hook(from));
        let given = transition(from, to);
        let entered = self.enter.get(to).into_iter().flatten();
        entered.chain(&self.any).for_each(|hook| hook(to));
        Some(given)
    }
}

impl<S: Clone + Eq + Hash + 'static, M> Cell<S, M> {
    /// A state machine over the values of this cell, which are its states: `configure` says which changes of state are
    /// transitions, and what each gives. The initial value is the first state and calls nothing; the machine's cell has
    /// [`with_default`](StateMachineBuilder::with_default)'s value then. For each further value, in this order: the guards
    /// of the pair, the exit hooks of the old state, the transition, whose result the cell gets, the enter hooks of the
    /// new state, and the hooks for any. A change without a transition calls
    /// [`on_invalid`](StateMachineBuilder::on_invalid) and gives nothing, one that a guard refuses gives nothing. In each
    /// case the new value is the state from then on, since it is this cell's. Completes and fails with this cell.
    ///
    /// ```
    /// use hyphae::Cell;
    /// let door = Cell::new("closed");
    /// let creaks = door.state_transition(|machine| {
    ///     machine.with_default(0).on("closed", "open", |_, _| 1).on("open", "closed", |_, _| 2);
    /// });
    /// door.set("open");
    /// assert_eq!(creaks.get(), 1);
    /// door.set("broken");
    /// assert_eq!(creaks.get(), 1);
    /// ```
    ///
    /// # Panics
    /// When the cell was disposed of or is lent to an `update`, or the store is gone.
    #[track_caller]
    pub fn state_transition<R: Clone + Default + 'static>(
        &self,
        configure: impl FnOnce(&mut StateMachineBuilder<S, R>),
    ) -> Cell<R, CellImmutable> {
        let machine = self.then(Machine::new(configure)).materialize();
        named(machine, self.name(), "state_transition")
    }
}

impl<C: Chain<Out: Clone + Eq + Hash>> Plan<C> {
    /// [`Cell::state_transition`] over what the pipeline gives. Where it may have no value yet the first value is the first
    /// state, and the cell starts with `None`.
    #[track_caller]
    pub fn state_transition<R: Clone + Default + 'static>(
        self,
        configure: impl FnOnce(&mut StateMachineBuilder<C::Out, R>),
    ) -> Cell<<C::Seed as Seedness>::Value<R>, CellImmutable> {
        self.then(Machine::new(configure)).materialize()
    }
}
