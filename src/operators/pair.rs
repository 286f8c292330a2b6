//! `zip`, `zip_vec`: the first values of all, the second values of all, and so on.

use std::collections::VecDeque;
use std::panic::Location;

use super::combine::{end_when_all, named};
use crate::cell::{Cell, CellImmutable};
use crate::error::Fallible;
use crate::pipeline::{derive, input_of};
use crate::store::expect;
use crate::store::kernel::{End, Kernel, Over, Turn, Upstream};
use crate::store::node::Input;

/// An input with the values that wait for their partners.
struct Lane<T: 'static> {
    input: Input<T>,
    waiting: VecDeque<T>,
}

impl<T: Clone + 'static> Lane<T> {
    fn new(input: Input<T>) -> Self {
        Self { input, waiting: VecDeque::new() }
    }

    fn take_in(&mut self, turn: Turn) {
        if self.input.fresh(turn) {
            self.waiting.push_back(self.input.with(T::clone));
        }
    }

    /// Whether nothing more can come from here.
    fn is_drained(&self) -> bool {
        self.waiting.is_empty() && self.input.ended()
    }
}

struct Zip<A: 'static, B: 'static> {
    left: Lane<A>,
    right: Lane<B>,
}

impl<A: Clone + 'static, B: Clone + 'static> Kernel for Zip<A, B> {
    type Out = (A, B);
    const OPERATOR: &'static str = "zip";

    fn turn(&mut self, turn: Turn, emit: impl FnOnce((A, B))) -> Over {
        let (left, right) = (&mut self.left, &mut self.right);
        left.take_in(turn);
        right.take_in(turn);
        if !right.waiting.is_empty()
            && let Some(first) = left.waiting.pop_front()
            && let Some(second) = right.waiting.pop_front()
        {
            emit((first, second));
        }
        let failed = left.input.failed() || right.input.failed();
        Over::upstream_if(failed || left.is_drained() || right.is_drained())
    }

    fn end(&self) -> End {
        end_when_all([self.left.input.end(), self.right.input.end()].into_iter())
    }

    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream)) {
        visit(&mut self.left.input);
        visit(&mut self.right.input);
    }
}

impl<T: Clone + 'static, M> Cell<T, M> {
    /// A cell with pairs: the current values of both, then the next value of this cell with the next one of `other`, and so
    /// on; what comes first waits for its partner. Completes when one side has completed and its values are used up, fails
    /// when either fails.
    ///
    /// The values that wait are kept without bound: for cells that change at different rates [`join`](Cell::join) is meant.
    ///
    /// # Panics
    /// When one of them was disposed of or is lent to an `update`, or the store is gone.
    #[track_caller]
    pub fn zip<U: Clone + 'static, N>(&self, other: &Cell<U, N>) -> Cell<(T, U), CellImmutable> {
        let place = Location::caller();
        let kernel = input_of(self.strong.clone()).and_then(|left| {
            let right = Lane::new(input_of(other.strong.clone())?);
            derive(Zip { left: Lane::new(left), right }, place)
        });
        named(expect(kernel), self.name(), "zip")
    }
}

struct ZipVec<T: 'static> {
    lanes: Vec<Lane<T>>,
}

impl<T: Clone + 'static> Kernel for ZipVec<T> {
    type Out = Option<Vec<T>>;
    const OPERATOR: &'static str = "zip_vec";

    fn turn(&mut self, turn: Turn, emit: impl FnOnce(Option<Vec<T>>)) -> Over {
        if self.lanes.is_empty() {
            emit(None);
            return Over::Closed;
        }
        self.lanes.iter_mut().for_each(|lane| lane.take_in(turn));
        if self.lanes.iter().all(|lane| !lane.waiting.is_empty()) {
            emit(Some(self.lanes.iter_mut().filter_map(|lane| lane.waiting.pop_front()).collect()));
        }
        let over = |lane: &Lane<T>| lane.input.failed() || lane.is_drained();
        Over::upstream_if(self.lanes.iter().any(over))
    }

    fn end(&self) -> End {
        end_when_all(self.lanes.iter().map(|lane| lane.input.end()))
    }

    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream)) {
        self.lanes.iter_mut().for_each(|lane| visit(&mut lane.input));
    }
}

/// [`Cell::zip`] for any number of cells. Without cells it is `None` and complete.
///
/// ```
/// use hyphae::{Cell, zip_vec};
/// let cells: Vec<_> = (1..=2).map(Cell::new).collect();
/// let rows = zip_vec(cells.iter().cloned());
/// cells[0].set(10);
/// assert_eq!(rows.get(), Some(vec![1, 2])); // 10 waits
/// cells[1].set(20);
/// assert_eq!(rows.get(), Some(vec![10, 20]));
/// ```
///
/// # Panics
/// When one of them was disposed of or is lent to an `update`, or the store is gone.
#[track_caller]
pub fn zip_vec<T: Clone + 'static, M>(
    cells: impl IntoIterator<Item = Cell<T, M>>,
) -> Cell<Option<Vec<T>>, CellImmutable> {
    let place = Location::caller();
    let lanes: Fallible<Vec<_>> =
        cells.into_iter().map(|cell| input_of(cell.strong).map(Lane::new)).collect();
    expect(lanes.and_then(|lanes| derive(ZipVec { lanes }, place)))
}
