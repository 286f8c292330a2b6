//! Lazy forms of operators: the same kernels, computed when somebody wants their value (see `store::demand`).

use std::panic::Location;

use super::combine::{Cells, Combine, Join, OverList, Values, named};
use super::computed::Computed;
use super::pure::{CatchError, Map, MapErr, MapOk, UnwrapOr};
use crate::cell::{Cell, CellImmutable};
use crate::pipeline::{Lazy, Root, Then, derive, input_of};
use crate::store::expect;

/// A chain of stages, or a stage, whose value depends on its last input alone, so that it may pass inputs over: what
/// [`materialize_lazy`](crate::Pipeline::materialize_lazy) asks for. `map` and its kin are; `scan`, `pairwise`, `take`
/// and the like are not.
#[diagnostic::on_unimplemented(
    message = "a stage of this pipeline remembers earlier values, so that its cell cannot be lazy",
    note = "`materialize` the part with memory, and make what follows lazy"
)]
pub trait Memoryless {}

impl<T: 'static> Memoryless for Root<T> {}
impl<C: Memoryless, N: Memoryless> Memoryless for Then<C, N> {}
impl<F> Memoryless for Map<F> {}
impl<F> Memoryless for MapOk<F> {}
impl<F> Memoryless for MapErr<F> {}
impl<F> Memoryless for CatchError<F> {}
impl<T> Memoryless for UnwrapOr<T> {}

/// [`combine`](crate::combine) as a lazy cell: computed now, then when somebody wants its value (see
/// [`materialize_lazy`](crate::Pipeline::materialize_lazy)).
///
/// ```
/// use hyphae::{Cell, combine_lazy};
/// let (width, height) = (Cell::new(2), Cell::new(3));
/// let area = combine_lazy((&width, &height), |(w, h)| w * h);
/// let before = hyphae::arena::totals().recomputations;
/// width.set(4);
/// height.set(5);
/// assert_eq!(hyphae::arena::totals().recomputations, before);
/// assert_eq!(area.get(), 20);
/// assert_eq!(hyphae::arena::totals().recomputations, before + 1);
/// ```
///
/// # Panics
/// As [`combine`](crate::combine).
#[track_caller]
pub fn combine_lazy<Cs: Cells, R: 'static, F>(cells: Cs, f: F) -> Cell<R, CellImmutable>
where
    F: for<'a> FnMut(Cs::Values<'a>) -> R + 'static,
{
    let place = Location::caller();
    expect(cells.inputs().and_then(|inputs| derive(Lazy(Combine { inputs, f }), place)))
}

/// [`combine_vec`](crate::combine_vec) as a lazy cell: computed now, then when somebody wants its value (see
/// [`materialize_lazy`](crate::Pipeline::materialize_lazy)).
///
/// ```
/// use hyphae::{Cell, combine_vec_lazy};
/// let cells: Vec<_> = (1..=3).map(Cell::new).collect();
/// let sum = combine_vec_lazy(&cells, |values| values.iter().sum::<i32>());
/// cells.iter().for_each(|cell| cell.set(10));
/// assert_eq!(sum.get(), 30);
/// ```
///
/// # Panics
/// As [`combine_vec`](crate::combine_vec).
#[track_caller]
pub fn combine_vec_lazy<'c, T: 'static, M: 'c, R: 'static, F>(
    cells: impl IntoIterator<Item = &'c Cell<T, M>>,
    f: F,
) -> Cell<R, CellImmutable>
where
    F: FnMut(Values<'_, T>) -> R + 'static,
{
    let place = Location::caller();
    expect(OverList::of(cells, f).and_then(|kernel| derive(Lazy(kernel), place)))
}

impl<T: Clone + 'static, M> Cell<T, M> {
    /// [`join`](Cell::join) as a lazy cell: computed now, then when somebody wants its value (see
    /// [`materialize_lazy`](crate::Pipeline::materialize_lazy)).
    ///
    /// ```
    /// use hyphae::Cell;
    /// let (a, b) = (Cell::new(1), Cell::new("x"));
    /// let both = a.join_lazy(&b);
    /// a.set(2);
    /// assert_eq!(both.get(), (2, "x"));
    /// ```
    ///
    /// # Panics
    /// As [`join`](Cell::join).
    #[track_caller]
    pub fn join_lazy<U: Clone + 'static, N>(
        &self,
        other: &Cell<U, N>,
    ) -> Cell<(T, U), CellImmutable> {
        let place = Location::caller();
        let left = input_of(self.strong.clone());
        let right = input_of(other.strong.clone());
        let joined = left.and_then(|left| derive(Lazy(Join { left, right: right? }), place));
        named(expect(joined), self.name(), "join")
    }
}

impl<T: 'static> Cell<T, CellImmutable> {
    /// [`computed`](Cell::computed) as a lazy cell: `f` runs now, then when somebody wants the value and a cell has changed
    /// that the last run read (see [`materialize_lazy`](crate::Pipeline::materialize_lazy)). Lazy cells among those are brought up to
    /// date in the order of reading, up to the first that has changed: what `f` read after that may not be read any more.
    ///
    /// ```
    /// use hyphae::{Cell, Pipeline};
    /// let (open, detail) = (Cell::new(true), Cell::new(1));
    /// let costly = (&detail).map(|n| n * 1000).materialize_lazy();
    /// let shown = Cell::computed_lazy({
    ///     let open = open.clone();
    ///     move || if open.get() { costly.get() } else { 0 }
    /// });
    /// detail.set(2);
    /// assert_eq!(shown.get(), 2000);
    /// let before = hyphae::arena::totals().recomputations;
    /// open.set(false);
    /// detail.set(3);
    /// assert_eq!(shown.get(), 0);
    /// assert_eq!(hyphae::arena::totals().recomputations, before + 1); // `costly` did not run
    /// ```
    ///
    /// # Panics
    /// As [`computed`](Cell::computed), and a read panics when `f` does.
    #[track_caller]
    pub fn computed_lazy(f: impl FnMut() -> T + 'static) -> Self {
        expect(derive(Lazy(Computed::new(f, |_: &T, _: &T| false)), Location::caller()))
    }
}
