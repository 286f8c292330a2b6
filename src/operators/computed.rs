//! `computed` and `effect`: closures whose reads are their dependencies.
//!
//! A computed cell is a node whose turn runs the closure. An effect is a node without value that is dirty when a cell it read has
//! changed, and a subscriber of that node which runs the closure, so that it belongs to the delivery.

use std::cell::Cell as StdCell;
use std::panic::Location;
use std::rc::Rc;

use super::combine::end_when_all;
use crate::cell::{Cell, CellImmutable};
use crate::error::Fallible;
use crate::pipeline::derive;
use crate::signal::Signal;
use crate::store::kernel::{End, Kernel, Over, Turn, Upstream};
use crate::store::node::NodeRef;
use crate::store::track::{Deps, Waits};
use crate::store::{Store, end_of, expect, flag, with_store};
use crate::subscription::SubscriptionGuard;

/// A cell that a closure has read, on its way to becoming an input.
struct Found(NodeRef);

impl Upstream for Found {
    fn node(&self) -> NodeRef {
        self.0
    }

    fn linked(&mut self) {}
}

pub(super) struct Computed<F, S> {
    f: F,
    /// Whether a value is no change of the one before.
    same: S,
    deps: Deps,
}

impl<F, S> Computed<F, S> {
    pub(super) fn new(f: F, same: S) -> Self {
        Self { f, same, deps: Deps::default() }
    }
}

impl<T, F, S> Kernel for Computed<F, S>
where
    T: 'static,
    F: FnMut() -> T + 'static,
    S: FnMut(&T, &T) -> bool + 'static,
{
    type Out = T;
    const OPERATOR: &'static str = "computed";
    const TRACKED: bool = true;

    fn turn(&mut self, turn: Turn, emit: impl FnOnce(T)) -> Over {
        let Self { f, same, deps } = self;
        let refused = with_store(|store| {
            if turn.is_seed() {
                emit(store.seed_reader(deps, f));
                return false;
            }
            let Some(me) = store.current_node().filter(|_| !turn.is_quiet()) else { return false };
            if deps.fresh(turn) || me.has(flag::REFUSED | flag::REPEAT) {
                let waits = store.waits_at_most(Waits::OrAbandons);
                let value = store.turn_reader(me, waits, deps, f);
                let value = value.filter(|value| !me.with::<T, _>(|last| same(last, value)));
                if let Some(value) = value {
                    emit(value);
                }
            }
            me.has(flag::REFUSED)
        });
        let waits = refused.unwrap_or(false);
        Over::upstream_if(!waits && deps.cells().iter().all(|node| node.has(flag::ENDED)))
    }

    fn end(&self) -> End {
        end_when_all(self.deps.cells().iter().map(|&node| end_of(node)))
    }

    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream)) {
        self.deps.hand_over(|node| visit(&mut Found(node)));
    }

    fn stale_inputs(&mut self, turn: Turn, again: bool, found: &mut Vec<NodeRef>) {
        // In the order of the last run: what it read after something that has changed may not be read this time.
        for &node in self.deps.cells() {
            if node.has(flag::STALE) {
                return found.push(node);
            }
            if turn.sees(node) && !again {
                return;
            }
        }
    }
}

impl<T: 'static> Cell<T, CellImmutable> {
    /// A cell with what `f` gives, kept up to date: `f` runs now and again whenever a cell has changed that its last run
    /// read (by `get`, `with` and their `try_` forms). What it did not read this time is no dependency any more.
    ///
    /// In a wave `f` runs once, after the cells it reads: if it reads one that is not computed yet, that one is computed first;
    /// where this would go too deep, the run is abandoned by unwinding and repeated later. Reads in closures that are
    /// called by the way (of a `map` that is made in `f`, say) and in [`untracked`] are not tracked. Writes are queued.
    /// Cells that `f` makes belong to their handles; those that nobody else holds go before the next run.
    ///
    /// It completes when all cells that the last run read have ended, and fails if one of them failed.
    ///
    /// ```
    /// use hyphae::Cell;
    /// let (celsius, unit) = (Cell::new(20.0), Cell::new("C"));
    /// let shown = {
    ///     let (celsius, unit) = (celsius.clone(), unit.clone());
    ///     Cell::computed(move || match unit.get() {
    ///         "F" => celsius.get() * 1.8 + 32.0,
    ///         "C" => celsius.get(),
    ///         _ => f64::NAN, // `celsius` is no dependency here
    ///     })
    /// };
    /// unit.set("F");
    /// assert_eq!(shown.get(), 68.0);
    /// ```
    ///
    /// A cell can come to read itself only by way of cells that are made later. Such a read is refused: `get` panics (the cell
    /// keeps its last value, as after any panic), `try_get` gives [`Error::Cycle`](crate::Error::Cycle) with the path. `f` runs again when a
    /// cell on the path gets other inputs.
    ///
    /// # Panics
    /// When `f` does, now; or the store is gone.
    #[track_caller]
    pub fn computed(f: impl FnMut() -> T + 'static) -> Self {
        Self::computed_with_cutoff(f, |_, _| false)
    }

    /// [`Cell::computed`] that takes a run for no change where `same(last, new)` holds: the last value stays, and nobody
    /// hears of it.
    ///
    /// ```
    /// use hyphae::Cell;
    /// let n = Cell::new(1);
    /// let even = Cell::computed_with_cutoff({ let n = n.clone(); move || n.get() % 2 == 0 }, bool::eq);
    /// let shown = Cell::computed({ let even = even.clone(); move || format!("even: {}", even.get()) });
    /// let before = hyphae::arena::totals().recomputations;
    /// n.set(3);
    /// assert_eq!(hyphae::arena::totals().recomputations, before + 1); // `shown` did not run
    /// # drop(shown);
    /// ```
    ///
    /// # Panics
    /// As [`Cell::computed`].
    #[track_caller]
    pub fn computed_with_cutoff(
        f: impl FnMut() -> T + 'static,
        same: impl FnMut(&T, &T) -> bool + 'static,
    ) -> Self {
        expect(derive(Computed::new(f, same), Location::caller()))
    }
}

/// Calls `f`; what it reads is no dependency of the [`computed`](Cell::computed) cell or [`effect`] that is running.
///
/// ```
/// use hyphae::{Cell, untracked};
/// let (a, b) = (Cell::new(1), Cell::new(10));
/// let sum = {
///     let (a, b) = (a.clone(), b.clone());
///     Cell::computed(move || a.get() + untracked(|| b.get()))
/// };
/// b.set(20);
/// assert_eq!(sum.get(), 11);
/// a.set(2);
/// assert_eq!(sum.get(), 22);
/// ```
pub fn untracked<R>(f: impl FnOnce() -> R) -> R {
    let guard = with_store(|store| store.untrack_guard());
    let given = f();
    drop(guard);
    given
}

/// The node of an effect.
struct EffectTrigger {
    deps: Rc<StdCell<Deps>>,
}

impl Kernel for EffectTrigger {
    type Out = ();
    const OPERATOR: &'static str = "effect";

    fn turn(&mut self, turn: Turn, emit: impl FnOnce(())) -> Over {
        let deps = self.deps.take();
        if turn.is_seed() || (!turn.is_quiet() && deps.fresh(turn)) {
            emit(());
        }
        self.deps.set(deps);
        Over::No
    }

    fn end(&self) -> End {
        End::Complete
    }

    fn inputs(&mut self, _: &mut dyn FnMut(&mut dyn Upstream)) {}
}

/// Runs `f` now, and again in the delivery of every wave in which a cell has changed that its last run read, until the
/// guard is dropped. It is a subscriber of all of them at once: one call a wave, after all cells are computed, in
/// topological order among the subscribers.
///
/// Reads are tracked as in [`Cell::computed`]; writes are queued and settle before the outermost call returns. Clean-ups that `f`
/// registers with [`on_cleanup`](crate::on_cleanup) run before its next run and when the guard goes.
///
/// ```
/// use std::{cell::RefCell, rc::Rc};
/// use hyphae::{Cell, effect};
/// let (width, height) = (Cell::new(2), Cell::new(3));
/// let areas = Rc::new(RefCell::new(vec![]));
/// let guard = effect({
///     let (width, height, areas) = (width.clone(), height.clone(), areas.clone());
///     move || areas.borrow_mut().push(width.get() * height.get())
/// });
/// hyphae::batch(|| { width.set(4); height.set(5); });
/// assert_eq!(*areas.borrow(), [6, 20]);
/// # drop(guard);
/// ```
///
/// # Panics
/// When `f` does, now (nothing stays behind); or the store is gone.
#[track_caller]
pub fn effect(f: impl FnMut() + 'static) -> SubscriptionGuard {
    expect(make_effect(f, Location::caller()))
}

fn make_effect(
    mut f: impl FnMut() + 'static,
    place: &'static Location<'static>,
) -> Fallible<SubscriptionGuard> {
    let deps = Rc::new(StdCell::new(Deps::default()));
    let trigger = derive(EffectTrigger { deps: deps.clone() }, place)?;
    let id = trigger.key();
    let mut first = true;
    trigger.subscribe_at(place, true, move |signal: &Signal<'_, ()>| {
        if !signal.is_value() {
            return;
        }
        let waits = if std::mem::take(&mut first) { Waits::InPlace } else { Waits::Never };
        let _ = with_store(|store| {
            // Once it is disposed of, its inputs may be gone.
            let Some(me) = store.find(id).filter(|me| !me.has(flag::DISPOSED)) else { return };
            run_effect(store, me, waits, &deps, &mut f);
        });
    })
}

fn run_effect(
    store: &Store,
    me: NodeRef,
    waits: Waits,
    shared: &StdCell<Deps>,
    f: &mut impl FnMut(),
) {
    /// Puts the inputs back, also by unwinding.
    struct PutBack<'a>(&'a StdCell<Deps>, Deps);
    impl Drop for PutBack<'_> {
        fn drop(&mut self) {
            self.0.set(std::mem::take(&mut self.1));
        }
    }
    let mut deps = PutBack(shared, shared.take());
    let _ = store.turn_reader(me, store.waits_at_most(waits), &mut deps.1, f);
}
