//! `selector`: for each key a cell that tells whether it is the selected one, where a change wakes two of them.
//!
//! The chooser reads the selecting cell and knows the cell of each key; it marks the two whose answer flips. Their edges
//! from it order and keep it alive, but do not trigger.

use std::cell::{Cell as StdCell, RefCell};
use std::collections::HashMap;
use std::hash::Hash;
use std::panic::Location;
use std::rc::Rc;

use crate::cell::{Cell, CellImmutable};
use crate::error::{Error, Fallible, Reentry};
use crate::graph::CellKey;
use crate::pipeline::{derive, input_of};
use crate::store::kernel::{End, Kernel, Over, Passive, Turn, Upstream};
use crate::store::node::Input;
use crate::store::{Store, expect, with_store};
use crate::weak::WeakCell;

/// The cell of each key that somebody asked for.
struct Keys<T> {
    cells: RefCell<HashMap<T, CellKey>>,
    place: &'static Location<'static>,
}

impl<T: Eq + Hash> Keys<T> {
    /// Works on the table. The keys' own code runs then, which must not call the selector.
    fn with<R>(&self, f: impl FnOnce(&mut HashMap<T, CellKey>) -> R) -> Fallible<R> {
        match self.cells.try_borrow_mut() {
            Ok(mut cells) => Ok(f(&mut cells)),
            Err(_) => Err(Box::new(Error::Reentrant { call: Reentry::Lookup, place: self.place })),
        }
    }
}

struct SelectorChooser<T: Eq + Hash + 'static> {
    input: Input<T>,
    last: Option<T>,
    keys: Rc<Keys<T>>,
}

impl<T: Clone + Eq + Hash + 'static> SelectorChooser<T> {
    /// The cell of a key.
    fn cell(&self, key: &T) -> Option<CellKey> {
        expect(self.keys.with(|cells| cells.get(key).copied()))
    }

    fn wake_all(&self, store: &Store) {
        let mut cells: Vec<_> = expect(self.keys.with(|cells| cells.values().copied().collect()));
        cells.sort_unstable();
        let nodes = cells.into_iter().filter_map(|cell| store.find(cell));
        nodes.for_each(|node| store.mark_dirty(node));
    }
}

impl<T: Clone + Eq + Hash + 'static> Kernel for SelectorChooser<T> {
    type Out = T;
    const OPERATOR: &'static str = "selector";

    fn turn(&mut self, turn: Turn, emit: impl FnOnce(T)) -> Over {
        let now = if self.input.fresh(turn) { Some(self.input.with(T::clone)) } else { None };
        let over = Over::upstream_if(self.input.ended());
        let _ = with_store(|store| {
            if let Some(now) = now
                && self.last.as_ref() != Some(&now)
            {
                // All code of the keys runs before anything is noted.
                let flipping =
                    [self.last.as_ref().and_then(|last| self.cell(last)), self.cell(&now)];
                self.last = Some(now.clone());
                let nodes = flipping.into_iter().flatten().filter_map(|cell| store.find(cell));
                nodes.for_each(|node| store.mark_dirty(node));
                emit(now);
            }
            if over != Over::No {
                self.wake_all(store);
            }
        });
        over
    }

    fn end(&self) -> End {
        self.input.end().unwrap_or(End::Complete)
    }

    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream)) {
        visit(&mut self.input);
    }
}

/// The cell of one key.
struct SelectorAnswer<T: Eq + Hash + 'static> {
    chooser: Passive<T>,
    key: T,
    answer: Option<bool>,
    /// Its own id, once it has one.
    me: Rc<StdCell<Option<CellKey>>>,
    keys: Rc<Keys<T>>,
}

impl<T: Clone + Eq + Hash + 'static> Kernel for SelectorAnswer<T> {
    type Out = bool;
    const OPERATOR: &'static str = "selector";

    fn turn(&mut self, turn: Turn, emit: impl FnOnce(bool)) -> Over {
        if self.chooser.0.fresh(turn) {
            let answer = self.chooser.0.with(|selected| *selected == self.key);
            // It also has a turn when the selecting cell ends.
            if self.answer.replace(answer) != Some(answer) {
                emit(answer);
            }
        }
        Over::upstream_if(self.chooser.0.ended())
    }

    fn end(&self) -> End {
        self.chooser.0.end().unwrap_or(End::Complete)
    }

    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream)) {
        visit(&mut self.chooser);
    }
}

impl<T: Eq + Hash + 'static> Drop for SelectorAnswer<T> {
    fn drop(&mut self) {
        let (key, me) = (&self.key, self.me.get());
        // A later cell of the same key may be in the place.
        let removed = self.keys.with(|cells| {
            if cells.get(key).copied() == me { cells.remove_entry(key) } else { None }
        });
        drop(removed);
    }
}

/// Asks a cell for keys: see [`selector`].
pub struct Selector<T: Eq + Hash + 'static> {
    chooser: Cell<T, CellImmutable>,
    keys: Rc<Keys<T>>,
}

impl<T: Eq + Hash + 'static> Clone for Selector<T> {
    fn clone(&self) -> Self {
        Self { chooser: self.chooser.clone(), keys: self.keys.clone() }
    }
}

impl<T: Eq + Hash + 'static> std::fmt::Debug for Selector<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Selector").field("chooser", &self.chooser).finish()
    }
}

/// Asks which of many keys a cell holds, at a cost that does not depend on their number: a list of 10 000 rows where one
/// is selected, say.
///
/// ```
/// use hyphae::{Cell, selector};
/// let selected = Cell::new(1);
/// let selector = selector(&selected);
/// let rows: Vec<_> = (0..1000).map(|row| selector.is(row)).collect();
/// selected.set(5); // computes rows 1 and 5
/// assert!(rows[5].get() && !rows[1].get());
/// ```
///
/// # Panics
/// When the cell was disposed of or is lent to an `update`, or the store is gone.
#[track_caller]
pub fn selector<T: Clone + Eq + Hash + 'static, M>(cell: &Cell<T, M>) -> Selector<T> {
    let place = Location::caller();
    let keys = Rc::new(Keys { cells: RefCell::default(), place });
    let chooser = input_of(cell.strong.clone())
        .and_then(|input| derive(SelectorChooser { input, last: None, keys: keys.clone() }, place));
    Selector { chooser: expect(chooser), keys }
}

impl<T: Clone + Eq + Hash + 'static> Selector<T> {
    /// A cell that is true while the selecting cell holds `key`: computed when that begins or ends to be so. All who ask for
    /// one key share a cell, which goes with its last handle, and its entry here with it. Ends as the selecting cell does.
    ///
    /// # Panics
    /// When the store is gone, or in the `Hash` or `Eq` of a key.
    #[track_caller]
    pub fn is(&self, key: T) -> Cell<bool, CellImmutable> {
        expect(self.answer(key, Location::caller()))
    }

    /// How many keys have a cell now.
    pub fn len(&self) -> usize {
        self.keys.cells.try_borrow().map_or(0, |cells| cells.len())
    }

    /// Whether no key has a cell.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn known(&self, key: &T) -> Fallible<Option<Cell<bool, CellImmutable>>> {
        let known = self.keys.with(|cells| cells.get(key).copied())?;
        Ok(known.and_then(|id| WeakCell::of(id).upgrade()))
    }

    fn answer(
        &self,
        key: T,
        place: &'static Location<'static>,
    ) -> Fallible<Cell<bool, CellImmutable>> {
        if let Some(cell) = self.known(&key)? {
            return Ok(cell);
        }
        let me = Rc::new(StdCell::new(None));
        let chooser = Passive(input_of(self.chooser.strong.clone())?);
        let (kept, keys) = (key.clone(), self.keys.clone());
        let cell =
            derive(SelectorAnswer { chooser, key, answer: None, me: me.clone(), keys }, place)?;
        // In a batch, the selecting cell has been brought up to date: its closures may have asked for the same key.
        if let Some(known) = self.known(&kept)? {
            return Ok(known);
        }
        me.set(Some(cell.key()));
        self.keys.with(|cells| cells.insert(kept, cell.key()))?;
        Ok(cell)
    }
}
