//! Operators with several inputs: `join` and `join_vec`. Each is one node with an edge from every distinct input.

use std::panic::Location;

use crate::cell::{Cell, CellImmutable};
use crate::error::Fallible;
use crate::pipeline::derive;
use crate::pipeline::input_of;
use crate::store::expect;
use crate::store::node::{End, Input, Kernel, Over, Turn, Upstream};

/// Whether a node is over that goes on as long as one of its inputs does: an error of any input ends it at once,
/// otherwise all must have completed.
fn over_when_all<'a, T: 'static>(inputs: impl Iterator<Item = &'a Input<T>>) -> Over {
    let mut all = true;
    for input in inputs {
        if input.failed() {
            return Over::Upstream;
        }
        all &= input.ended();
    }
    Over::upstream_if(all)
}

/// How such a node ended: the first error, else well.
fn end_when_all(mut ends: impl Iterator<Item = Option<End>>) -> End {
    ends.find(|end| matches!(end, Some(End::Error(_)))).flatten().unwrap_or(End::Complete)
}

struct Join<A: 'static, B: 'static> {
    left: Input<A>,
    right: Input<B>,
}

impl<A: Clone + 'static, B: Clone + 'static> Kernel for Join<A, B> {
    type Out = (A, B);
    const OPERATOR: &'static str = "join";

    fn turn(&mut self, turn: Turn, emit: impl FnOnce((A, B))) -> Over {
        let (left, right) = (&self.left, &self.right);
        if left.fresh(turn) || right.fresh(turn) {
            emit((left.with(A::clone), right.with(B::clone)));
        }
        Over::upstream_if(left.failed() || right.failed() || (left.ended() && right.ended()))
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
        let joined = expect(self.try_join(other, Location::caller()));
        match self.name() {
            Some(name) => joined.with_name(format!("{name}::join")),
            None => joined,
        }
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

struct JoinVec<T: 'static> {
    inputs: Vec<Input<T>>,
}

impl<T: Clone + 'static> Kernel for JoinVec<T> {
    type Out = Vec<T>;
    const OPERATOR: &'static str = "join_vec";

    fn turn(&mut self, turn: Turn, emit: impl FnOnce(Vec<T>)) -> Over {
        if turn.is_seed() || self.inputs.iter().any(|input| input.fresh(turn)) {
            emit(self.inputs.iter().map(|input| input.with(T::clone)).collect());
        }
        over_when_all(self.inputs.iter())
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
    let inputs: Fallible<Vec<_>> = cells.into_iter().map(|cell| input_of(cell.strong)).collect();
    expect(inputs.and_then(|inputs| derive(JoinVec { inputs }, place)))
}
