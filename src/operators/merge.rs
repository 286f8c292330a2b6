//! `merge`, `merge_vec`, `concat`: several cells' values as one sequence, and values that need a round of their own.

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::panic::Location;

use super::combine::{end_when_all, named, over_when_all};
use crate::cell::{Cell, CellImmutable};
use crate::error::Fallible;
use crate::pipeline::{Definite, Empty, Seedness, derive, input_of};
use crate::store::kernel::{End, Kernel, Over, Turn, Upstream};
use crate::store::node::Input;
use crate::store::{expect, with_store};

/// Values that wait until their cell may emit again: once a round (rule P12).
pub(crate) struct Backlog<T> {
    waiting: VecDeque<T>,
    /// The round in which the last one went.
    gone: u64,
}

impl<T> Default for Backlog<T> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), gone: 0 }
    }
}

impl<T> Backlog<T> {
    pub(crate) fn push(&mut self, value: T) {
        self.waiting.push_back(value);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Emits what [`Self::next`] gives.
    pub(crate) fn emit_next(&mut self, emit: impl FnOnce(T)) {
        if let Some(value) = self.next() {
            emit(value);
        }
    }

    /// The value for the turn under way. If more wait, the node gets a turn in the next round. A turn for a read in a batch
    /// is the only one before the end of the batch: it takes the last value (rule P4).
    fn next(&mut self) -> Option<T> {
        if self.waiting.is_empty() {
            return None;
        }
        let round = with_store(|store| store.round_of_turn()).ok()?;
        let Some(round) = round else {
            return self.waiting.drain(..).last();
        };
        let given = if round == self.gone { None } else { self.waiting.pop_front() };
        self.gone = round;
        if !self.waiting.is_empty() {
            let _ = with_store(|store| store.turn_again());
        }
        given
    }
}

struct Merge<T: 'static, S> {
    inputs: Vec<Input<T>>,
    /// The inputs that changed, each with when that was written.
    fresh: Vec<(u32, usize)>,
    backlog: Backlog<T>,
    seed: PhantomData<fn() -> S>,
}

impl<T: Clone + 'static, S> Merge<T, S> {
    /// Queues the values of the inputs that changed, in the order in which they were written.
    fn queue_fresh(&mut self, turn: Turn) {
        let inputs = self.inputs.iter().enumerate();
        let changed = inputs.filter(|(_, input)| input.fresh(turn));
        self.fresh.clear();
        self.fresh.extend(changed.map(|(at, input)| (input.arrival(), at)));
        self.fresh.sort_unstable();
        for &(_, at) in &self.fresh {
            self.backlog.push(self.inputs[at].with(T::clone));
        }
    }
}

impl<T: Clone + 'static, S: Seedness> Kernel for Merge<T, S> {
    type Out = S::Value<T>;
    const OPERATOR: &'static str = "merge";

    fn turn(&mut self, turn: Turn, emit: impl FnOnce(S::Value<T>)) -> Over {
        if turn.is_seed() {
            let last = self.inputs.last().map(|input| S::some(input.with(T::clone)));
            if let Some(seed) = last.or_else(S::none) {
                emit(seed);
            }
        } else {
            self.queue_fresh(turn);
            self.backlog.emit_next(|value| emit(S::some(value)));
        }
        let over = over_when_all(turn, self.inputs.iter());
        // An error overtakes, the good end does not.
        let failed = over != Over::No && self.inputs.iter().any(Input::failed);
        if failed || self.backlog.is_empty() { over } else { Over::No }
    }

    fn end(&self) -> End {
        end_when_all(self.inputs.iter().map(Input::end))
    }

    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream)) {
        self.inputs.iter_mut().for_each(|input| visit(input));
    }
}

fn merged<T: Clone + 'static, S: Seedness>(
    inputs: Fallible<Vec<Input<T>>>,
    place: &'static Location<'static>,
) -> Cell<S::Value<T>, CellImmutable> {
    let merge = |inputs| Merge::<T, S> {
        inputs,
        fresh: Vec::new(),
        backlog: Backlog::default(),
        seed: PhantomData,
    };
    expect(inputs.and_then(|inputs| derive(merge(inputs), place)))
}

/// A cell with each new value of any of the cells. It starts with the last one's value; without cells it is `None` and
/// complete. Where several change in one wave, it emits one after the other, each in a round of the wave, in the order in
/// which they were written, else in that of the arguments. Completes when all have, fails when one does.
///
/// ```
/// use hyphae::{Cell, merge_vec};
/// let cells: Vec<_> = (1..=3).map(Cell::new).collect();
/// let any = merge_vec(cells.iter().cloned());
/// cells[0].set(10);
/// assert_eq!(any.get(), Some(10));
/// ```
///
/// # Panics
/// When one of them was disposed of or is lent to an `update`, or the store is gone.
#[track_caller]
pub fn merge_vec<T: Clone + 'static, M>(
    cells: impl IntoIterator<Item = Cell<T, M>>,
) -> Cell<Option<T>, CellImmutable> {
    let place = Location::caller();
    merged::<T, Empty>(cells.into_iter().map(|cell| input_of(cell.strong)).collect(), place)
}

struct Concat<T: 'static> {
    first: Input<T>,
    second: Input<T>,
    /// Whether an earlier turn has seen the end of the first.
    over: bool,
    backlog: Backlog<T>,
}

impl<T: Clone + 'static> Kernel for Concat<T> {
    type Out = T;
    const OPERATOR: &'static str = "concat";

    fn turn(&mut self, turn: Turn, emit: impl FnOnce(T)) -> Over {
        let (first, second) = (&self.first, &self.second);
        if turn.is_seed() {
            emit(first.with(T::clone));
        } else {
            if first.fresh(turn) {
                self.backlog.push(first.with(T::clone));
            }
            let after = |end| self.over || second.arrival() > end;
            if second.fresh(turn) && first.end_arrival().is_some_and(after) {
                self.backlog.push(second.with(T::clone));
            }
            self.backlog.emit_next(emit);
        }
        self.over = first.ended();
        // An error overtakes, the good end does not.
        let second_over = second.failed() || (second.ended() && self.backlog.is_empty());
        Over::upstream_if(first.failed() || (self.over && second_over))
    }

    fn end(&self) -> End {
        end_when_all([self.first.end(), self.second.end()].into_iter())
    }

    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream)) {
        visit(&mut self.first);
        visit(&mut self.second);
    }
}

struct TakeUntil<T: 'static, N: 'static> {
    input: Input<T>,
    stop: Input<N>,
    stopped: bool,
}

impl<T: Clone + 'static, N: 'static> Kernel for TakeUntil<T, N> {
    type Out = T;
    const OPERATOR: &'static str = "take_until";

    fn turn(&mut self, turn: Turn, emit: impl FnOnce(T)) -> Over {
        let (input, stop) = (&self.input, &self.stop);
        self.stopped |= !turn.is_seed() && stop.fresh(turn);
        let in_time = |arrival: u32| !self.stopped || arrival <= stop.arrival();
        if input.fresh(turn) && in_time(input.arrival()) {
            emit(input.with(T::clone));
        }
        if input.end_arrival().is_some_and(in_time) {
            return Over::Upstream;
        }
        if self.stopped { Over::Closed } else { Over::No }
    }

    fn end(&self) -> End {
        self.input.end().unwrap_or(End::Complete)
    }

    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream)) {
        visit(&mut self.input);
        visit(&mut self.stop);
    }
}

impl<T: Clone + 'static, M> Cell<T, M> {
    /// A cell with each new value of either. It starts with `other`'s value. Where both change in one wave it emits twice,
    /// each time in a round of the wave: first what was written first, else its own value. Completes when both have, fails
    /// when either does.
    ///
    /// # Panics
    /// When one of them was disposed of or is lent to an `update`, or the store is gone.
    #[track_caller]
    pub fn merge<N>(&self, other: &Cell<T, N>) -> Cell<T, CellImmutable> {
        let inputs = [self.strong.clone(), other.strong.clone()].map(input_of);
        let merged = merged::<T, Definite>(inputs.into_iter().collect(), Location::caller());
        named(merged, self.name(), "merge")
    }

    /// A cell with this cell's values until it completes, then with `next`'s, from the first change of `next` on that
    /// comes after that; the value that `next` has then is not repeated. Completes when both have; fails when this cell
    /// does, or when it has completed and `next` has failed.
    ///
    /// # Panics
    /// When one of them was disposed of or is lent to an `update`, or the store is gone.
    #[track_caller]
    pub fn concat<N>(&self, next: &Cell<T, N>) -> Cell<T, CellImmutable> {
        let place = Location::caller();
        let kernel = input_of(self.strong.clone()).and_then(|first| {
            let second = input_of(next.strong.clone())?;
            derive(Concat { first, second, over: false, backlog: Backlog::default() }, place)
        });
        named(expect(kernel), self.name(), "concat")
    }

    /// A cell with this cell's values until `stop` changes; then it completes. The value that `stop` has now, and its
    /// end, do not count. Of a batch it takes what was written before `stop`.
    ///
    /// # Panics
    /// When one of them was disposed of or is lent to an `update`, or the store is gone.
    #[track_caller]
    pub fn take_until<U: 'static, N>(&self, stop: &Cell<U, N>) -> Cell<T, CellImmutable> {
        let place = Location::caller();
        let kernel = input_of(self.strong.clone()).and_then(|input| {
            let stop = input_of::<U>(stop.strong.clone())?;
            derive(TakeUntil { input, stop, stopped: false }, place)
        });
        named(expect(kernel), self.name(), "take_until")
    }
}
