//! `switch_map` and `merge_map` as methods of cells and of pipelines.

use std::panic::Location;

use super::combine::named;
use super::sequence::{BufferCount, Window};
use super::{flatten, switch};
use crate::cell::{Cell, CellImmutable};
use crate::pipeline::{Chain, Pipeline, Plan, Root, Seedness, SharedPipeline, Then};
use crate::store::expect;

impl<T: 'static, M> Cell<T, M> {
    /// A cell that follows the cell which `choose` gives for this cell's value: it has that one's value, and changes when
    /// that one does or another is chosen. `choose` runs once for each change of this cell.
    ///
    /// Before `choose` runs again, the switch lets go of the cell it followed, and runs what the closure has registered with
    /// [`on_cleanup`](crate::on_cleanup). A cell that nobody else holds is gone then, and is not computed in that wave any
    /// more; one that is kept elsewhere lives on. If `choose` panics, the switch keeps its last value and follows
    /// nothing until this cell's next change. The cell it gives may be of any age, but not depend on the switch: that is the
    /// panic of a refused cycle.
    ///
    /// Completes when this cell and the one it follows have; fails when either does. Cost of a switch: two edges, and the
    /// closure; the order of cells changes only where the chosen cell is younger than the switch and takes no vacant place.
    ///
    /// ```
    /// use hyphae::Cell;
    /// let (a, b, use_a) = (Cell::new(1), Cell::new(2), Cell::new(true));
    /// let shown = use_a.switch_map({
    ///     let (a, b) = (a.clone(), b.clone());
    ///     move |&use_a| if use_a { a.clone() } else { b.clone() }
    /// });
    /// use_a.set(false);
    /// b.set(3);
    /// assert_eq!(shown.get(), 3);
    /// assert_eq!(a.dependents(), 0);
    /// ```
    ///
    /// # Panics
    /// When the cell was disposed of or is lent to an `update`, or the store is gone; and when `choose` does, now.
    #[track_caller]
    pub fn switch_map<U: Clone + 'static, N: 'static>(
        &self,
        choose: impl FnMut(&T) -> Cell<U, N> + 'static,
    ) -> Cell<U, CellImmutable> {
        let switch = switch::switch_map(Root::of(self.strong.clone()), choose, Location::caller());
        named(expect(switch), self.name(), "switch_map")
    }

    /// A cell with the values of all cells that `choose` has given, one for each value of this cell: it starts with that of
    /// the first. Of several that change in one wave each is emitted in a round of its own, in the order of their changes,
    /// else in that in which they were given. A cell that has ended is let go, and what its closure has registered with [`on_cleanup`](crate::on_cleanup)
    /// runs.
    ///
    /// Completes when this cell and all the others have; fails when one does.
    ///
    /// # Panics
    /// As [`Cell::switch_map`].
    #[track_caller]
    pub fn merge_map<U: Clone + 'static, N: 'static>(
        &self,
        choose: impl FnMut(&T) -> Cell<U, N> + 'static,
    ) -> Cell<U, CellImmutable> {
        let root = Root::of(self.strong.clone());
        let keep = |_: &T| unreachable!("without a limit nothing waits");
        let merged = flatten::merge_map(root, usize::MAX, keep, choose, Location::caller());
        named(expect(merged), self.name(), "merge_map")
    }

    /// [`Cell::merge_map`] that has no more than `limit` cells at a time which have not ended: further values of this cell
    /// wait, without bound, and `choose` is called with them in their order.
    ///
    /// # Panics
    /// As [`Cell::switch_map`]; and when `limit` is 0.
    #[track_caller]
    pub fn merge_map_limit<U: Clone + 'static, N: 'static>(
        &self,
        limit: usize,
        choose: impl FnMut(&T) -> Cell<U, N> + 'static,
    ) -> Cell<U, CellImmutable>
    where
        T: Clone,
    {
        let root = Root::of(self.strong.clone());
        let keep = |value: &T| Some(value.clone());
        let merged = flatten::merge_map(root, limit, keep, choose, Location::caller());
        named(expect(merged), self.name(), "merge_map")
    }

    /// The start of a pipeline, for an operator that gives a cell when it is called on one.
    ///
    /// ```
    /// use hyphae::{Cell, Pipeline};
    /// let level = Cell::new(1.0);
    /// let mean = level.plan().window(2).map(|last| last.iter().sum::<f64>() / last.len() as f64).materialize();
    /// level.set(2.0);
    /// assert_eq!((mean.get(), level.dependents()), (1.5, 1)); // one node for both
    /// ```
    ///
    /// # Panics
    /// When the cell was disposed of or is lent to an `update`, or the store is gone.
    #[track_caller]
    pub fn plan(&self) -> Plan<Root<T>> {
        Plan(Root::of(self.strong.clone()))
    }

    /// A cell with the last `n` values, oldest first; fewer until there are `n`. The same as
    /// [`Plan::window`], on a cell.
    ///
    /// ```
    /// use hyphae::Cell;
    /// let level = Cell::new(1);
    /// let last = level.window(2);
    /// (2..=3).for_each(|n| level.set(n));
    /// assert_eq!(last.get(), [2, 3]);
    /// ```
    ///
    /// # Panics
    /// When `n` is 0; else as [`plan`](Cell::plan).
    #[track_caller]
    pub fn window(&self, n: usize) -> Cell<Vec<T>, CellImmutable>
    where
        T: Clone,
    {
        self.plan().window(n).materialize()
    }

    /// A cell that collects `n` values and has them together; what is left when this cell completes comes before the end.
    /// It starts with an empty list, in which the current value is not. The same as [`Plan::buffer_count`],
    /// on a cell.
    ///
    /// ```
    /// use hyphae::Cell;
    /// let level = Cell::new(1);
    /// let pairs = level.buffer_count(2);
    /// (2..=4).for_each(|n| level.set(n));
    /// assert_eq!(pairs.get(), [2, 3]);
    /// ```
    ///
    /// # Panics
    /// As [`window`](Cell::window).
    #[track_caller]
    pub fn buffer_count(&self, n: usize) -> Cell<Vec<T>, CellImmutable>
    where
        T: Clone,
    {
        let collected = self.plan().buffer_count(n).materialize();
        named(collected, self.name(), "buffer_count")
    }
}

/// What a switch over a chain gives.
type Flowing<C, U> = Cell<<<C as Chain>::Seed as Seedness>::Value<U>, CellImmutable>;

/// A chain with one stage more.
type Staged<C, S> = Plan<Then<C, S>>;

impl<C: Chain> Plan<C> {
    /// The last `n` values, oldest first; fewer until there are `n`.
    ///
    /// # Panics
    /// When `n` is 0.
    #[track_caller]
    pub fn window(self, n: usize) -> Staged<C, Window<C::Out>>
    where
        C::Out: Clone,
    {
        Plan(Then { prev: self.0, stage: Window::new(n) })
    }

    /// Collects `n` values and emits them together; what is left when upstream completes comes before the end. The
    /// initial value of a cell is not collected: the pipeline starts as an empty list.
    ///
    /// # Panics
    /// When `n` is 0.
    #[track_caller]
    pub fn buffer_count(self, n: usize) -> Staged<C, BufferCount<C::Out>>
    where
        C::Out: Clone,
    {
        Plan(Then { prev: self.0, stage: BufferCount::new(n) })
    }

    /// [`Cell::switch_map`] over what the pipeline gives; one that may have no value yet starts with `None`.
    #[track_caller]
    pub fn switch_map<U: Clone + 'static, N: 'static>(
        self,
        choose: impl FnMut(&C::Out) -> Cell<U, N> + 'static,
    ) -> Flowing<C, U> {
        expect(switch::switch_map(self.0, choose, Location::caller()))
    }

    /// [`Cell::merge_map`] over what the pipeline gives; one that may have no value yet starts with `None`.
    #[track_caller]
    pub fn merge_map<U: Clone + 'static, N: 'static>(
        self,
        choose: impl FnMut(&C::Out) -> Cell<U, N> + 'static,
    ) -> Flowing<C, U> {
        let keep = |_: &C::Out| unreachable!("without a limit nothing waits");
        expect(flatten::merge_map(self.0, usize::MAX, keep, choose, Location::caller()))
    }

    /// [`Cell::merge_map_limit`] over what the pipeline gives; one that may have no value yet starts with `None`.
    #[track_caller]
    pub fn merge_map_limit<U: Clone + 'static, N: 'static>(
        self,
        limit: usize,
        choose: impl FnMut(&C::Out) -> Cell<U, N> + 'static,
    ) -> Flowing<C, U>
    where
        C::Out: Clone,
    {
        let keep = |value: &C::Out| Some(value.clone());
        expect(flatten::merge_map(self.0, limit, keep, choose, Location::caller()))
    }
}

impl<C: Chain> SharedPipeline<C>
where
    Self: Pipeline<C::Out, C::Seed>,
{
    /// [`Plan::window`] over what the shared pipeline gives.
    #[track_caller]
    pub fn window(self, n: usize) -> Staged<SharedChain<C>, Window<C::Out>>
    where
        C::Out: Clone,
    {
        Plan(self.into_chain()).window(n)
    }

    /// [`Plan::buffer_count`] over what the shared pipeline gives.
    #[track_caller]
    pub fn buffer_count(self, n: usize) -> Staged<SharedChain<C>, BufferCount<C::Out>>
    where
        C::Out: Clone,
    {
        Plan(self.into_chain()).buffer_count(n)
    }
}

/// The chain of what follows a shared pipeline.
type SharedChain<C> = <SharedPipeline<C> as Pipeline<<C as Chain>::Out, <C as Chain>::Seed>>::Chain;
