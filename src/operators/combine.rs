//! Operators over the values of several inputs: `join`, `join_vec`, `combine`, `combine_vec`. Each is one node with an edge
//! from every distinct input.

use std::panic::Location;

use crate::cell::{Cell, CellImmutable};
use crate::error::Fallible;
use crate::pipeline::{Root, derive, input_of};
use crate::store::expect;
use crate::store::kernel::{End, Kernel, Over, Turn, Upstream};
use crate::store::node::Input;

/// Whether a node is over that goes on as long as one of its inputs does: an error of any input ends it at once,
/// otherwise all must have completed.
#[inline]
pub(crate) fn over_when_all<'a, T: 'static>(
    turn: Turn,
    mut inputs: impl Iterator<Item = &'a Input<T>> + Clone,
) -> Over {
    let fails = turn.asks_ends() && inputs.clone().any(Input::failed);
    Over::upstream_if(fails || turn.asks_ends() && inputs.all(Input::ended))
}

/// How such a node ended: the first error, else well.
pub(crate) fn end_when_all(mut ends: impl Iterator<Item = Option<End>>) -> End {
    ends.find(|end| matches!(end, Some(End::Error(_)))).flatten().unwrap_or(End::Complete)
}

/// Names a cell after the one it was made from.
pub(crate) fn named<T, M>(cell: Cell<T, M>, from: Option<String>, operator: &str) -> Cell<T, M> {
    match from {
        Some(from) => cell.with_name(format!("{from}::{operator}")),
        None => cell,
    }
}

pub(super) struct Join<A: 'static, B: 'static> {
    pub(super) left: Input<A>,
    pub(super) right: Input<B>,
}

impl<A: Clone + 'static, B: Clone + 'static> Kernel for Join<A, B> {
    type Out = (A, B);
    const OPERATOR: &'static str = "join";

    fn turn(&mut self, turn: Turn, emit: impl FnOnce((A, B))) -> Over {
        let (left, right) = (&self.left, &self.right);
        if left.fresh(turn) || right.fresh(turn) {
            emit((left.with(A::clone), right.with(B::clone)));
        }
        let failed = turn.failed(left) || turn.failed(right);
        Over::upstream_if(failed || turn.ended(left) && turn.ended(right))
    }

    fn end(&self) -> End {
        end_when_all([self.left.end(), self.right.end()].into_iter())
    }

    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream)) {
        visit(&mut self.left);
        visit(&mut self.right);
    }
}

impl<T: Clone + 'static, M> Cell<T, M> {
    /// A cell with the values of both: computed once a wave, whichever of the two changed. Completes when both have,
    /// fails when either does.
    ///
    /// # Panics
    /// When one of them was disposed of or is lent to an `update`, or the store is gone.
    #[track_caller]
    pub fn join<U: Clone + 'static, N>(&self, other: &Cell<U, N>) -> Cell<(T, U), CellImmutable> {
        named(expect(self.try_join(other, Location::caller())), self.name(), "join")
    }

    fn try_join<U: Clone + 'static, N>(
        &self,
        other: &Cell<U, N>,
        place: &'static Location<'static>,
    ) -> Fallible<Cell<(T, U), CellImmutable>> {
        let left = input_of(self.strong.clone())?;
        let right = input_of(other.strong.clone())?;
        derive(Join { left, right }, place)
    }
}

/// What `f` makes of the values of a list of cells.
pub(super) struct OverList<T: 'static, F, const JOINS: bool> {
    inputs: Vec<Input<T>>,
    f: F,
}

impl<T: 'static, F> OverList<T, F, false> {
    /// The kernel of [`combine_vec`].
    pub(super) fn of<'c, M: 'c>(
        cells: impl IntoIterator<Item = &'c Cell<T, M>>,
        f: F,
    ) -> Fallible<Self> {
        let inputs = cells.into_iter().map(|cell| input_of(cell.strong.clone()));
        Ok(Self { inputs: inputs.collect::<Fallible<_>>()?, f })
    }
}

impl<T: 'static, R: 'static, F, const JOINS: bool> Kernel for OverList<T, F, JOINS>
where
    F: FnMut(Values<'_, T>) -> R + 'static,
{
    type Out = R;
    const OPERATOR: &'static str = if JOINS { "join_vec" } else { "combine_vec" };

    fn turn(&mut self, turn: Turn, emit: impl FnOnce(R)) -> Over {
        if turn.is_seed() || self.inputs.iter().any(|input| input.fresh(turn)) {
            emit((self.f)(Values { inputs: &self.inputs }));
        }
        over_when_all(turn, self.inputs.iter())
    }

    fn end(&self) -> End {
        end_when_all(self.inputs.iter().map(Input::end))
    }

    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream)) {
        self.inputs.iter_mut().for_each(|input| visit(input));
    }
}

/// A cell with the values of all, in the order given: one node, computed once a wave. Without cells it is `[]` and
/// complete. Completes when all have, fails when one does.
///
/// ```
/// use hyphae::{Cell, Pipeline, join_vec};
/// let cells: Vec<_> = (1..=3).map(Cell::new).collect();
/// let sum = join_vec(cells.iter().cloned()).map(|v| v.iter().sum::<i32>()).materialize();
/// cells[0].set(10);
/// assert_eq!(sum.get(), 15);
/// ```
///
/// # Panics
/// When one of them was disposed of or is lent to an `update`, or the store is gone.
#[track_caller]
pub fn join_vec<T: Clone + 'static, M>(
    cells: impl IntoIterator<Item = Cell<T, M>>,
) -> Cell<Vec<T>, CellImmutable> {
    let place = Location::caller();
    let inputs: Fallible<_> = cells.into_iter().map(|cell| input_of(cell.strong)).collect();
    let f = |values: Values<'_, T>| values.iter().collect();
    expect(inputs.and_then(|inputs| derive(OverList::<_, _, true> { inputs, f }, place)))
}

/// The values of the inputs of [`combine_vec`], in the order given. Each is lent where it lies, so that nothing is
/// cloned or collected.
pub struct Values<'a, T: 'static> {
    inputs: &'a [Input<T>],
}

impl<T: std::fmt::Debug> std::fmt::Debug for Values<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.fold(&mut f.debug_list(), |list, value| list.entry(value)).finish()
    }
}

impl<T: 'static> Values<'_, T> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.inputs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty()
    }

    /// Lends one of them to `f`.
    ///
    /// # Panics
    /// When there are not that many.
    #[track_caller]
    pub fn with<R>(&self, index: usize, f: impl FnOnce(&T) -> R) -> R {
        self.inputs[index].with(f)
    }

    /// Lends each in turn to `f`, which gets what it gave for the one before, first `init`.
    #[inline]
    pub fn fold<A>(&self, init: A, mut f: impl FnMut(A, &T) -> A) -> A {
        self.inputs.iter().fold(init, |sum, input| input.with(|value| f(sum, value)))
    }

    /// Clones each in turn.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = T> + ExactSizeIterator
    where
        T: Clone,
    {
        self.inputs.iter().map(|input| input.with(T::clone))
    }
}

/// A cell with what `f` makes of the values of any number of cells of one type: one node, computed once a wave, however
/// many of them changed. [`combine`] for lists: `f` looks at the values where they lie, so nothing is cloned or
/// collected. Without cells `f` runs once, and the cell is complete. Completes when all have, fails when one does.
///
/// A wave costs a look at each cell, and what `f` does.
///
/// ```
/// use hyphae::{Cell, combine_vec};
/// let words: Vec<_> = ["one", "two"].map(|word| Cell::new(word.to_string())).into();
/// let letters = combine_vec(&words, |words| words.fold(0, |sum, word| sum + word.len()));
/// let longest = combine_vec(&[letters.clone(), Cell::new(4).lock()], |n| n.iter().max());
/// words[1].set("three".to_string());
/// assert_eq!((letters.get(), longest.get()), (8, Some(8)));
/// ```
///
/// # Panics
/// When one of them was disposed of or is lent to an `update`, or the store is gone; and when `f` does, now.
#[track_caller]
pub fn combine_vec<'c, T: 'static, M: 'c, R: 'static, F>(
    cells: impl IntoIterator<Item = &'c Cell<T, M>>,
    f: F,
) -> Cell<R, CellImmutable>
where
    F: FnMut(Values<'_, T>) -> R + 'static,
{
    let place = Location::caller();
    expect(OverList::of(cells, f).and_then(|kernel| derive(kernel, place)))
}

mod sealed {
    /// Not public, so that only tuples of cells are [`Cells`](super::Cells).
    pub trait Sealed {}
}

/// The inputs of a node that combines cells.
trait Inputs: 'static {
    type Values<'a>;
    fn fresh(&self, turn: Turn) -> bool;
    fn lend<R>(&self, f: impl FnOnce(Self::Values<'_>) -> R) -> R;
    fn over(&self, turn: Turn) -> Over;
    fn end(&self) -> End;
    fn visit(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream));
}

/// References to 2 to 8 cells, for [`combine`].
#[allow(private_interfaces, private_bounds)]
pub trait Cells: sealed::Sealed {
    /// References to their values.
    type Values<'a>;
    #[doc(hidden)]
    type Inputs: for<'a> Inputs<Values<'a> = Self::Values<'a>>;
    #[doc(hidden)]
    fn inputs(self) -> Fallible<Self::Inputs>;
}

/// Lends the values of all inputs at once.
macro_rules! lend_all {
    ($f:ident ($($value:ident)*)) => { $f(($($value,)*)) };
    ($f:ident ($($value:ident)*) $next:ident $($rest:ident)*) => {
        $next.input.with(|$next| lend_all!($f ($($value)* $next) $($rest)*))
    };
}

macro_rules! cells {
    ($($t:ident $m:ident $v:ident),*) => {
        impl<$($t: 'static),*> Inputs for ($(Root<$t>,)*) {
            type Values<'a> = ($(&'a $t,)*);

            fn fresh(&self, turn: Turn) -> bool {
                let ($($v,)*) = self;
                $($v.input.fresh(turn))||*
            }

            fn lend<R>(&self, f: impl FnOnce(Self::Values<'_>) -> R) -> R {
                let ($($v,)*) = self;
                lend_all!(f () $($v)*)
            }

            #[inline]
            fn over(&self, turn: Turn) -> Over {
                let ($($v,)*) = self;
                let fails = $(turn.failed(&$v.input))||*;
                Over::upstream_if(fails || $(turn.ended(&$v.input))&&*)
            }

            fn end(&self) -> End {
                let ($($v,)*) = self;
                end_when_all([$($v.input.end()),*].into_iter())
            }

            fn visit(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream)) {
                let ($($v,)*) = self;
                $(visit(&mut $v.input);)*
            }
        }

        impl<$($t: 'static, $m),*> sealed::Sealed for ($(&Cell<$t, $m>,)*) {}

        #[allow(private_interfaces)]
        impl<$($t: 'static, $m),*> Cells for ($(&Cell<$t, $m>,)*) {
            type Values<'a> = ($(&'a $t,)*);
            type Inputs = ($(Root<$t>,)*);

            fn inputs(self) -> Fallible<Self::Inputs> {
                let ($($v,)*) = self;
                Ok(($(Root { input: input_of($v.strong.clone())? },)*))
            }
        }
    };
}

cells!(A MA a, B MB b);
cells!(A MA a, B MB b, C MC c);
cells!(A MA a, B MB b, C MC c, D MD d);
cells!(A MA a, B MB b, C MC c, D MD d, E ME e);
cells!(A MA a, B MB b, C MC c, D MD d, E ME e, F MF f_);
cells!(A MA a, B MB b, C MC c, D MD d, E ME e, F MF f_, G MG g);
cells!(A MA a, B MB b, C MC c, D MD d, E ME e, F MF f_, G MG g, H MH h);

pub(super) struct Combine<I, F> {
    pub(super) inputs: I,
    pub(super) f: F,
}

impl<I: Inputs, R: 'static, F> Kernel for Combine<I, F>
where
    F: for<'a> FnMut(I::Values<'a>) -> R + 'static,
{
    type Out = R;
    const OPERATOR: &'static str = "combine";

    fn turn(&mut self, turn: Turn, emit: impl FnOnce(R)) -> Over {
        if self.inputs.fresh(turn) {
            emit(self.inputs.lend(&mut self.f));
        }
        self.inputs.over(turn)
    }

    fn end(&self) -> End {
        self.inputs.end()
    }

    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream)) {
        self.inputs.visit(visit);
    }
}

/// A cell with what `f` makes of the values of 2 to 8 cells: one node, computed once a wave, whichever of them changed.
/// `f` gets a flat tuple of references, so nothing is cloned. Completes when all have, fails when one does.
///
/// ```
/// use hyphae::{Cell, combine};
/// let (name, width, height) = (Cell::new("box"), Cell::new(2), Cell::new(3));
/// let label = combine((&name, &width, &height), |(n, w, h)| format!("{n}: {}", w * h));
/// height.set(5);
/// assert_eq!(label.get(), "box: 10");
/// ```
///
/// # Panics
/// When one of them was disposed of or is lent to an `update`, or the store is gone; and when `f` does, now.
#[track_caller]
pub fn combine<Cs: Cells, R: 'static, F>(cells: Cs, f: F) -> Cell<R, CellImmutable>
where
    F: for<'a> FnMut(Cs::Values<'a>) -> R + 'static,
{
    let place = Location::caller();
    expect(cells.inputs().and_then(|inputs| derive(Combine { inputs, f }, place)))
}
