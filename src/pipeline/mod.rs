//! Pipelines: lazy plans of a derived cell, composed like iterators and fused into one node.
//!
//! A [`Chain`] is pulled: a turn asks the last stage, which asks the one before, down to the root that reads a cell. Two
//! adaptors serve all operators: [`Then`] for a stage that makes a new value, [`Through`] for a gate that lets values
//! pass or not. Terminal signals are handled here, once. Operators know neither store nor node.
//!
//! Costs: a materialized pipeline is one node and one edge for each root, whatever its length; each closure runs once at
//! construction and once for an input. A pipeline that was not materialized costs nothing.

// The types of chains and operators are public because the trait names them, hidden because nobody else should.
#![allow(unreachable_pub)]

mod chain;
mod lazy;
mod seed;
mod share;

use std::hash::Hash;
use std::panic::Location;

pub(crate) use chain::input_of;
pub use chain::{Chain, Give, Plan, Root, SourceRoot, Then, Through};
pub(crate) use lazy::Lazy;
pub(crate) use seed::derive;
use seed::lazy_cell;
pub use seed::{Definite, Empty, Seedness};
pub use share::SharedPipeline;

use crate::cell::{Cell, CellImmutable};
use crate::operators::lazy::Memoryless;
use crate::operators::pure::{
    CatchError, Filter, Map, MapErr, MapOk, ResultLike, Tap, UnwrapOr, UnwrapOrElse,
};
use crate::operators::sample::{Beside, WithLatestFrom};
use crate::operators::sequence::{
    Cold, Deduped, Distinct, DistinctUntilChangedBy, Finalize, Last, LastOr, Pairwise, Scan, Skip,
    SkipWhile, Take, TakeWhile,
};
use crate::store::expect;

/// A chain with one stage more.
type Staged<C, S> = Plan<Then<C, S>>;
/// A chain with one gate more.
type Gated<C, G> = Plan<Through<C, G>>;

/// A lazy plan of a derived cell of `T`, and all operators on it.
///
/// `S` says whether there is a value from the start: [`Definite`] pipelines materialize to `Cell<T>`, [`Empty`] ones (after
/// `filter`, from a [`Source`](crate::Source), ...) to `Cell<Option<T>>`, which starts as `None` and never goes back to it. Nothing runs
/// before [`materialize`](Pipeline::materialize), which makes one node of the whole chain.
///
/// The initial value of a cell counts as a value for every stage unless the stage says otherwise. `Complete` and errors
/// pass through; a stage that ends early completes.
///
/// Implemented by [`Cell`] (and `&Cell`), [`Source`](crate::Source), and what the methods return.
pub trait Pipeline<T: 'static, S: Seedness = Definite>: Sized {
    /// The fused chain; see [`Give`] for the bound that generic code needs.
    type Chain: Chain<Out = T, Seed = S>;

    #[doc(hidden)]
    #[track_caller]
    fn into_chain(self) -> Self::Chain;

    /// Makes the derived cell: computes its value once, now, and keeps it up to date.
    ///
    /// # Panics
    /// When a cell it reads was disposed of or is lent to an `update`, or the store is gone. A panic of a closure goes
    /// through and leaves nothing behind.
    #[track_caller]
    fn materialize(self) -> Cell<S::Value<T>, CellImmutable>
    where
        Self::Chain: Give,
    {
        expect(S::cell(self.into_chain(), Location::caller()))
    }

    /// Makes a *lazy* derived cell. It is computed now, once; after that only when somebody wants its value: while it has a
    /// subscriber or a dependent that is not lazy itself, it is kept up to date as by
    /// [`materialize`](Pipeline::materialize); else a change of what it reads costs nothing but a note, and who reads it
    /// brings it up to date first. Then its lazy inputs are brought up to date before it, and its closures run if one has
    /// changed: once, however many changes there were. A read in a callback does so too, from the values of the moment.
    ///
    /// Only stages without memory can be lazy, since changes are passed over: a `scan` is refused by the compiler.
    ///
    /// ```
    /// use hyphae::{Cell, Pipeline};
    /// use std::{cell::Cell as StdCell, rc::Rc};
    /// let (level, runs) = (Cell::new(1), Rc::new(StdCell::new(0)));
    /// let count = runs.clone();
    /// let shown = (&level).map(move |n| { count.set(count.get() + 1); n * 100 }).materialize_lazy();
    /// (2..50).for_each(|n| level.set(n));
    /// assert_eq!(runs.get(), 1);
    /// assert_eq!((shown.get(), shown.get(), runs.get()), (4900, 4900, 2));
    /// let guard = shown.watch(|_| ());
    /// level.set(5);
    /// assert_eq!(runs.get(), 3); // it has a subscriber now
    /// # drop(guard);
    /// ```
    /// ```compile_fail,E0277
    /// # use hyphae::{Cell, Pipeline};
    /// let sums = Cell::new(1).scan(0, |sum, n| sum + n).materialize_lazy(); // would lose what it does not see
    /// ```
    ///
    /// # Panics
    /// As [`materialize`](Pipeline::materialize). A closure that panics in a read: the read panics, and the cell keeps its
    /// last value until an input changes.
    #[track_caller]
    fn materialize_lazy(self) -> Cell<T, CellImmutable>
    where
        Self::Chain: Give + Chain<Seed = Definite> + Memoryless,
    {
        expect(lazy_cell(self.into_chain(), Location::caller()))
    }

    /// A pipeline that several consumers share: upstream is computed once, by a hidden cell that the first consumer
    /// makes and the last one lets go. After that it starts again with the next consumer, from the current values.
    #[track_caller]
    fn share(self) -> SharedPipeline<Self::Chain>
    where
        Self::Chain: Give + Chain<Seed = Definite>,
    {
        SharedPipeline::new(self.into_chain())
    }

    #[doc(hidden)]
    #[track_caller]
    fn then<N>(self, stage: N) -> Staged<Self::Chain, N> {
        Plan(Then { prev: self.into_chain(), stage })
    }

    #[doc(hidden)]
    #[track_caller]
    fn through<G>(self, gate: G) -> Gated<Self::Chain, G> {
        Plan(Through { prev: self.into_chain(), gate })
    }

    /// A new value from each value.
    #[track_caller]
    fn map<U: 'static, F: FnMut(&T) -> U + 'static>(self, f: F) -> Staged<Self::Chain, Map<F>> {
        self.then(Map(f))
    }

    /// Lets values pass for which `keep` holds.
    #[track_caller]
    fn filter<F: FnMut(&T) -> bool + 'static>(self, keep: F) -> Gated<Self::Chain, Filter<F>> {
        self.through(Filter(keep))
    }

    /// A map that can fail; `Err` is a value, not an end.
    #[track_caller]
    fn try_map<U: 'static, E: 'static, F>(self, f: F) -> Staged<Self::Chain, Map<F>>
    where
        F: FnMut(&T) -> Result<U, E> + 'static,
    {
        self.then(Map(f))
    }

    /// Each value together with the value that `other` has then, settled. Changes of `other` alone, and its end, give
    /// nothing.
    ///
    /// ```
    /// use hyphae::{Cell, Pipeline};
    /// let (key, mode) = (Cell::new('a'), Cell::new(1));
    /// let pressed = (&key).with_latest_from(&mode).materialize();
    /// mode.set(2);
    /// assert_eq!(pressed.get(), ('a', 1));
    /// key.set('b');
    /// assert_eq!(pressed.get(), ('b', 2));
    /// ```
    ///
    /// # Panics
    /// When `other` was disposed of, or the store is gone.
    #[track_caller]
    fn with_latest_from<U: Clone + 'static, M>(
        self,
        other: &Cell<U, M>,
    ) -> Plan<Beside<WithLatestFrom, Self::Chain, U>>
    where
        T: Clone,
    {
        Plan(Beside::new(self.into_chain(), other))
    }

    /// Calls `f` with each value and lets it pass.
    #[track_caller]
    fn tap<F: FnMut(&T) + 'static>(self, f: F) -> Gated<Self::Chain, Tap<F>> {
        self.through(Tap(f))
    }

    /// Maps the `Ok`s of results.
    #[track_caller]
    fn map_ok<U: 'static, F>(self, f: F) -> Staged<Self::Chain, MapOk<F>>
    where
        T: ResultLike<Err: Clone>,
        F: FnMut(&T::Ok) -> U + 'static,
    {
        self.then(MapOk(f))
    }

    /// Maps the `Err`s of results.
    #[track_caller]
    fn map_err<U: 'static, F>(self, f: F) -> Staged<Self::Chain, MapErr<F>>
    where
        T: ResultLike<Ok: Clone>,
        F: FnMut(&T::Err) -> U + 'static,
    {
        self.then(MapErr(f))
    }

    /// Replaces each `Err` by what `f` makes of it.
    #[track_caller]
    fn catch_error<F>(self, f: F) -> Staged<Self::Chain, CatchError<F>>
    where
        T: ResultLike<Ok: Clone>,
        F: FnMut(&T::Err) -> T::Ok + 'static,
    {
        self.then(CatchError(f))
    }

    /// Replaces each `Err` by `default`.
    #[track_caller]
    fn unwrap_or(self, default: T::Ok) -> Staged<Self::Chain, UnwrapOr<T::Ok>>
    where
        T: ResultLike<Ok: Clone>,
    {
        self.then(UnwrapOr(default))
    }

    /// Replaces each `Err` by what `f` makes of it (the same as [`catch_error`](Pipeline::catch_error)).
    #[track_caller]
    fn unwrap_or_else<F>(self, f: F) -> Staged<Self::Chain, UnwrapOrElse<F>>
    where
        T: ResultLike<Ok: Clone>,
        F: FnMut(&T::Err) -> T::Ok + 'static,
    {
        self.then(CatchError(f))
    }

    /// Accumulates: emits `f(accumulated, value)` for each value, the first one with `init`.
    #[track_caller]
    fn scan<A: Clone + 'static, F>(self, init: A, f: F) -> Staged<Self::Chain, Scan<A, F>>
    where
        F: FnMut(&A, &T) -> A + 'static,
    {
        self.then(Scan::new(init, f))
    }

    /// Each value with the one before it; nothing for the first.
    #[track_caller]
    fn pairwise(self) -> Staged<Self::Chain, Pairwise<T>>
    where
        T: Clone,
    {
        self.then(Pairwise::default())
    }

    /// Drops every value that came before, however long ago. Remembers all of them.
    #[track_caller]
    fn distinct(self) -> Gated<Self::Chain, Distinct<T>>
    where
        T: Clone + Eq + Hash,
    {
        self.through(Distinct::default())
    }

    /// Drops a value that equals the last one that passed.
    #[track_caller]
    fn deduped(self) -> Gated<Self::Chain, Deduped<T>>
    where
        T: Clone + PartialEq,
    {
        self.through(Deduped::default())
    }

    /// Drops a value for which `same(new, last)` holds, `last` being the last one that passed.
    #[track_caller]
    fn distinct_until_changed_by<F>(
        self,
        same: F,
    ) -> Gated<Self::Chain, DistinctUntilChangedBy<T, F>>
    where
        T: Clone,
        F: FnMut(&T, &T) -> bool + 'static,
    {
        self.through(DistinctUntilChangedBy::new(same))
    }

    /// The first `n` values (the initial one counts), then completes. `take(0)` of a definite pipeline has the initial
    /// value and is complete.
    #[track_caller]
    fn take(self, n: usize) -> Gated<Self::Chain, Take> {
        self.through(Take::new(n))
    }

    /// Values as long as `keep` holds; the first for which it does not ends the pipeline and is not emitted.
    #[track_caller]
    fn take_while<F: FnMut(&T) -> bool + 'static>(
        self,
        keep: F,
    ) -> Gated<Self::Chain, TakeWhile<F>> {
        self.through(TakeWhile(keep))
    }

    /// The first value, then completes.
    #[track_caller]
    fn first(self) -> Gated<Self::Chain, Take> {
        self.through(Take::new(1))
    }

    /// The last value that came after construction, emitted when upstream completes; nothing if none came.
    #[track_caller]
    fn last(self) -> Staged<Self::Chain, Last<T>>
    where
        T: Clone,
    {
        self.then(Last::default())
    }

    /// [`last`](Pipeline::last), or `default` if no value came.
    #[track_caller]
    fn last_or(self, default: T) -> Staged<Self::Chain, LastOr<T>>
    where
        T: Clone,
    {
        self.then(LastOr::new(default))
    }

    /// Drops the first `n` values (the initial one counts).
    #[track_caller]
    fn skip(self, n: usize) -> Gated<Self::Chain, Skip> {
        self.through(Skip::new(n))
    }

    /// Drops values until `drop` does not hold; that one and all later ones pass.
    #[track_caller]
    fn skip_while<F: FnMut(&T) -> bool + 'static>(
        self,
        drop: F,
    ) -> Gated<Self::Chain, SkipWhile<F>> {
        self.through(SkipWhile::new(drop))
    }

    /// Drops the initial value only: what is there already is not replayed. Values come in an `Arc`, as in hyphae 1.3.3;
    /// [`skip(1)`](Self::skip) of a cell is the same without.
    #[track_caller]
    fn cold(self) -> Staged<Self::Chain, Cold>
    where
        T: Clone,
    {
        self.then(Cold)
    }

    /// Calls `f` once, just before the end (either one) is passed on. Not called when the cell is dropped.
    #[track_caller]
    fn finalize<F: FnOnce() + 'static>(self, f: F) -> Gated<Self::Chain, Finalize<F>> {
        self.through(Finalize(Some(f)))
    }
}

impl<T: 'static, M> Pipeline<T, Definite> for Cell<T, M> {
    type Chain = Root<T>;

    #[track_caller]
    fn into_chain(self) -> Root<T> {
        Root::of(self.strong)
    }

    /// The same cell, locked: there is nothing to compute.
    fn materialize(self) -> Cell<T, CellImmutable> {
        self.lock()
    }
}

impl<T: 'static, M> Pipeline<T, Definite> for &Cell<T, M> {
    type Chain = Root<T>;

    #[track_caller]
    fn into_chain(self) -> Root<T> {
        Root::of(self.strong.clone())
    }
}

impl<C: Chain> Pipeline<C::Out, C::Seed> for Plan<C> {
    type Chain = C;

    fn into_chain(self) -> C {
        self.0
    }
}
