//! Runs operations against the library and notes what closures saw, did and heard.

use std::cell::{Cell as StdCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::panic::resume_unwind;
use std::rc::Rc;

use hyphae::{Cell, CellId, CellImmutable, Selector, Signal, SubscriptionGuard, arena, untracked};

use super::op::{CellKind, Formula, Op, Script};
use super::table::{End, Event, Kind, Log, Node, Num, Seen, Sub};

pub type Handle = Cell<i64, CellImmutable>;

/// The payload of every panic that a case makes on purpose.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub struct Boom(pub u64);

/// Who runs an operation: the owner of a guard by its number, or somebody else.
pub type By = Option<usize>;

/// Operations in callbacks for each operation outside of them: more than that would often go on for ever.
const FUEL: u32 = 40;

/// A closure or callback that is running.
pub struct Frame {
    pub tracked: bool,
    /// What it sees belongs to the frame below.
    pub transparent: bool,
    pub log: Option<usize>,
    pub seen: Vec<Seen>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guarded {
    Sub(usize),
    Effect(usize),
}

pub struct Chooser {
    pub selector: Option<Selector<i64>>,
    pub of: Num,
}

#[derive(Default)]
pub struct World {
    pub nodes: RefCell<Vec<Node>>,
    pub numbers: RefCell<HashMap<CellId, Num>>,
    pub handles: RefCell<Vec<Option<(Num, Handle)>>>,
    pub selectors: RefCell<Vec<Chooser>>,
    pub guards: RefCell<Vec<Option<SubscriptionGuard>>>,
    pub guarded: RefCell<Vec<Guarded>>,
    pub subs: RefCell<Vec<Sub>>,
    pub logs: RefCell<Vec<Log>>,
    /// For each effect its log.
    pub effects: RefCell<Vec<usize>>,
    pub formulas: RefCell<Vec<Rc<Vec<super::formula::Part>>>>,
    pub frames: RefCell<Vec<Frame>>,
    pub events: RefCell<Vec<Event>>,
    /// What went wrong.
    pub errors: RefCell<Vec<String>>,
    pub table: RefCell<BTreeMap<&'static str, u64>>,
    /// Grows with each operation outside of callbacks: in a batch each may settle cells.
    pub settles: StdCell<u64>,
    pub merges: StdCell<u32>,
    batches: StdCell<u32>,
    fuel: StdCell<u32>,
    /// All runs of closures.
    pub runs: StdCell<u32>,
    pub booms: StdCell<u64>,
    /// How often closures run in a round can't be told for the operation under way.
    pub unclear: StdCell<bool>,
    /// A closure was refused what it had made itself.
    pub self_made: StdCell<bool>,
    /// It has a batch.
    pub batched: StdCell<bool>,
    /// A read was refused in it.
    pub refused: StdCell<bool>,
    /// A panic came out of it.
    pub panicked: StdCell<bool>,
    pub closing: StdCell<bool>,
    /// The round whose deliveries were checked last.
    pub checked: StdCell<u64>,
    /// The cells delivered in the last round.
    pub delivered: RefCell<(u64, Vec<Num>)>,
}

impl World {
    /// Runs an operation outside of callbacks.
    pub fn step(self: &Rc<Self>, op: &Op) {
        self.fuel.set(FUEL);
        // What was refused before may be tried again, in the middle of a wave.
        let waits = |log: &Log| log.unlinked || !log.refusals().is_empty();
        self.refused.set(self.logs.borrow().iter().any(waits));
        self.unclear.set(false);
        self.batched.set(false);
        self.self_made.set(false);
        self.logs.borrow_mut().iter_mut().for_each(|log| log.rounds.clear());
        self.subs.borrow_mut().iter_mut().for_each(|sub| sub.rounds = Some(BTreeSet::new()));
        self.run(op, None);
    }

    pub fn count(&self, what: &'static str) {
        *self.table.borrow_mut().entry(what).or_default() += 1;
    }

    pub fn fault(&self, what: String) {
        self.errors.borrow_mut().push(what);
    }

    pub fn note(&self, event: Event) {
        self.events.borrow_mut().push(event);
    }

    pub fn all_cells(&self) -> Range<Num> {
        0..self.nodes.borrow().len()
    }

    /// Whether no closure or callback is running.
    pub fn is_outside(&self) -> bool {
        self.frames.borrow().is_empty()
    }

    pub fn run(self: &Rc<Self>, op: &Op, by: By) {
        if self.is_outside() {
            self.settles.set(self.settles.get() + 1);
        } else {
            self.blur();
        }
        if self.try_run(op, by) {
            self.count(op.name());
        }
    }

    /// A callback does something: what it writes in a batch joins that, and may be settled at once.
    fn blur(&self) {
        if !self.is_outside() && self.batches.get() > 0 {
            self.unclear.set(true);
        }
    }

    fn try_run(self: &Rc<Self>, op: &Op, by: By) -> bool {
        match op {
            Op::NewCell(value, kind) => self.new_cell(i64::from(*value), *kind),
            Op::Make(make) => self.make(make).is_some_and(|made| self.keep(made)),
            Op::Write(at, value) => self.write(*at, i64::from(*value)),
            Op::Complete(at) => self.end(*at, End::Complete),
            Op::Fail(at) => self.end(*at, End::Error),
            Op::Edit(at, formula) => self.edit(*at, formula),
            Op::NewSelector(of) => self.new_selector(*of),
            Op::DropSelector(at) => self.drop_selector(*at),
            Op::Effect(formula, trap) => self.effect(formula, trap),
            Op::Subscribe(to, script) => self.subscribe(*to, script),
            Op::CloneHandle(at) => self.pick(*at).is_some_and(|picked| self.keep(picked)),
            Op::DropHandle(at) => take_live(&self.handles, *at).map(drop).is_some(),
            Op::DropGuard(at) => self.drop_some_guard(*at),
            Op::DropOwn => by.is_some_and(|own| self.drop_guard(own)),
            Op::Dispose(at) => self.dispose(*at),
            Op::Batch(ops) => self.batch(ops, by),
            Op::Read(at) => self.read_one(*at),
            Op::With(at, op) => self.with(*at, op, by),
            Op::Panic => self.boom("panic"),
        }
    }

    pub fn boom(&self, what: &'static str) -> ! {
        self.count(what);
        let number = self.booms.get();
        self.booms.set(number + 1);
        // `resume_unwind` calls no panic hook, so the output stays readable.
        resume_unwind(Box::new(Boom(number)))
    }

    /// The operations of a script for the n-th call.
    pub fn play(self: &Rc<Self>, script: &Script, call: u32, by: By) {
        for (at, op) in script {
            if u32::from(*at) != call || self.closing.get() || self.fuel.get() == 0 {
                continue;
            }
            self.fuel.set(self.fuel.get() - 1);
            self.run(op, by);
        }
    }

    /// The handle of a cell, if it can still be used.
    pub fn handle(&self, of: Num) -> Option<Handle> {
        let id = self.nodes.borrow()[of].id;
        arena::cell::<i64>(id)
    }

    /// Value and end of a cell that can be used.
    pub fn state(&self, of: Num) -> Option<(i64, Option<End>)> {
        let cell = self.handle(of)?;
        let value = untracked(|| cell.try_get()).ok()?;
        let end = match cell.error() {
            Some(_) => Some(End::Error),
            None => cell.is_complete().then_some(End::Complete),
        };
        Some((value, end))
    }

    pub fn is_dead(&self, of: Num) -> bool {
        let id = self.nodes.borrow()[of].id;
        !arena::contains(id)
    }

    /// The n-th live handle, modulo their number, of a cell that suits.
    pub fn pick_of(&self, at: u8, suits: impl Fn(&Kind) -> bool) -> Option<(Num, Handle)> {
        let (handles, nodes) = (self.handles.borrow(), self.nodes.borrow());
        let usable = handles
            .iter()
            .flatten()
            .filter(|(of, cell)| suits(&nodes[*of].kind) && cell.downgrade().is_alive());
        let usable: Vec<&(Num, Handle)> = usable.collect();
        let at = usize::from(at).checked_rem(usable.len())?;
        Some(usable[at].clone())
    }

    pub fn pick(&self, at: u8) -> Option<(Num, Handle)> {
        self.pick_of(at, |_| true)
    }

    pub fn keep(&self, (of, cell): (Num, Handle)) -> bool {
        self.handles.borrow_mut().push(Some((of, cell)));
        true
    }

    /// Notes a new cell.
    pub fn register(&self, cell: &Handle, kind: Kind, log: Option<usize>) -> Num {
        let of = self.nodes.borrow().len();
        let id = cell.cell_id();
        let maker = self.frames.borrow().iter().rev().find_map(|frame| frame.log);
        let (ended, disposed) = (None, false);
        self.nodes.borrow_mut().push(Node { id, kind, log, maker, ended, disposed });
        self.numbers.borrow_mut().insert(id, of);
        of
    }

    pub fn new_source(&self, value: i64, kind: CellKind) -> (Num, Handle) {
        let cell = match kind {
            CellKind::Plain => Cell::new(value),
            CellKind::Equal => Cell::with_cutoff(value, i64::eq),
            CellKind::NoCoalesce => Cell::new(value).no_coalesce(),
        };
        let kind = Kind::Source { value, end: None, writer: cell.downgrade() };
        let cell = cell.lock();
        (self.register(&cell, kind, None), cell)
    }

    fn new_cell(&self, value: i64, kind: CellKind) -> bool {
        self.keep(self.new_source(value, kind))
    }

    fn write(&self, at: u8, value: i64) -> bool {
        let picked = self.pick_of(at, |kind| matches!(kind, Kind::Source { .. }));
        picked.is_some_and(|(of, _)| self.write_to(of, value))
    }

    /// Writes in callbacks are applied in the order in which they were made (P3).
    pub fn write_to(&self, of: Num, new: i64) -> bool {
        let writer = match &mut self.nodes.borrow_mut()[of].kind {
            Kind::Source { value, end, writer } => {
                *value = if end.is_none() { new } else { *value };
                writer.upgrade()
            }
            _ => None,
        };
        writer.map(|cell| cell.set(new)).is_some()
    }

    fn end(&self, at: u8, with: End) -> bool {
        let picked = self.pick_of(at, |kind| matches!(kind, Kind::Source { .. }));
        picked.is_some_and(|(of, _)| self.end_of(of, with))
    }

    pub fn end_of(&self, of: Num, with: End) -> bool {
        self.blur();
        let writer = match &mut self.nodes.borrow_mut()[of].kind {
            Kind::Source { end, writer, .. } => {
                end.get_or_insert(with);
                writer.upgrade()
            }
            _ => None,
        };
        let Some(cell) = writer else { return false };
        match with {
            End::Complete => cell.complete(),
            End::Error => cell.fail("an error"),
        }
        true
    }

    fn edit(&self, at: u8, formula: &Formula) -> bool {
        let editable = |kind: &Kind| matches!(kind, Kind::Computed { formula: Some(_), .. });
        let Some((of, _)) = self.pick_of(at, editable) else { return false };
        let Kind::Computed { formula: Some(cell), .. } = self.nodes.borrow()[of].kind else {
            return false;
        };
        let number = self.new_formula(formula);
        self.write_to(cell, number)
    }

    fn new_selector(&self, of: u8) -> bool {
        let Some((of, cell)) = self.pick(of) else { return false };
        let selector = Some(hyphae::selector(&cell));
        self.selectors.borrow_mut().push(Chooser { selector, of });
        true
    }

    fn drop_selector(&self, at: u8) -> bool {
        let taken = {
            let mut selectors = self.selectors.borrow_mut();
            let live: Vec<usize> =
                (0..selectors.len()).filter(|&i| selectors[i].selector.is_some()).collect();
            let Some(at) = usize::from(at).checked_rem(live.len()) else { return false };
            selectors[live[at]].selector.take()
        };
        taken.is_some()
    }

    /// A place for a guard that is on its way.
    pub fn new_guard(&self, of: Guarded) -> usize {
        self.guards.borrow_mut().push(None);
        self.guarded.borrow_mut().push(of);
        self.guards.borrow().len() - 1
    }

    fn subscribe(self: &Rc<Self>, to: u8, script: &Script) -> bool {
        let Some((on, cell)) = self.pick(to) else { return false };
        let number = self.subs.borrow().len();
        let own = self.new_guard(Guarded::Sub(number));
        let gone = false;
        let (heard, end, round, rounds) = (None, None, None, None);
        let sub = Sub { on, linked: false, gone, heard, end, round, rounds };
        self.subs.borrow_mut().push(sub);
        // Until it is there.
        self.subs.borrow_mut()[number].gone = true;
        let (world, script, mut calls) = (self.clone(), script.clone(), 0);
        let guard = cell.subscribe(move |signal: &Signal<'_, i64>| {
            let _frame = world.enter(false);
            match signal {
                Signal::Value(value) => world.hear(number, **value),
                Signal::Complete => world.hear_end(number, End::Complete),
                Signal::Error(_) => world.hear_end(number, End::Error),
            }
            calls += 1;
            world.play(&script, calls, Some(own));
        });
        let sub = &mut self.subs.borrow_mut()[number];
        (sub.linked, sub.gone) = (true, false);
        self.guards.borrow_mut()[own] = Some(guard);
        true
    }

    fn drop_some_guard(&self, at: u8) -> bool {
        let live: Vec<usize> = {
            let guards = self.guards.borrow();
            (0..guards.len()).filter(|&i| guards[i].is_some()).collect()
        };
        let at = usize::from(at).checked_rem(live.len());
        at.is_some_and(|at| self.drop_guard(live[at]))
    }

    pub fn drop_guard(&self, at: usize) -> bool {
        let Some(guard) = self.guards.borrow_mut()[at].take() else { return false };
        if let Guarded::Sub(sub) = self.guarded.borrow()[at] {
            self.subs.borrow_mut()[sub].gone = true;
        }
        drop(guard);
        true
    }

    fn dispose(&self, at: u8) -> bool {
        let Some((of, cell)) = self.pick(at) else { return false };
        self.nodes.borrow_mut()[of].disposed = true;
        cell.dispose();
        true
    }

    fn batch(self: &Rc<Self>, ops: &[Op], by: By) -> bool {
        struct Leave<'a>(&'a World);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                self.0.batches.set(self.0.batches.get() - 1);
                self.0.settles.set(self.0.settles.get() + 1);
            }
        }
        self.batched.set(true);
        hyphae::batch(|| {
            self.batches.set(self.batches.get() + 1);
            let _leave = Leave(self);
            ops.iter().for_each(|op| self.run(op, by));
        });
        true
    }

    fn read_one(&self, at: u8) -> bool {
        let Some((of, _)) = self.pick(at) else { return false };
        let value = self.read(of);
        self.note(Event::Read(of, value.ok()));
        if self.is_outside() {
            self.check_upstream(of);
        }
        true
    }

    fn with(self: &Rc<Self>, at: u8, op: &Op, by: By) -> bool {
        let Some((of, cell)) = self.pick(at) else { return false };
        let read = cell.try_with(|value| {
            self.saw(Seen::Value(of, *value));
            let _frame = self.enter_same();
            self.run(op, by);
        });
        match read {
            Err(hyphae::Error::Cycle { .. }) => self.saw_refused(of),
            Err(error) => self.fault(format!("with of cell {of}: {error}")),
            Ok(()) => (),
        }
        true
    }

    /// Drops all that the case still holds.
    pub fn clear(&self) {
        self.closing.set(true);
        let (guards, selectors) = (self.guards.borrow().len(), self.selectors.borrow().len());
        for at in 0..guards {
            self.drop_guard(at);
        }
        for at in 0..selectors {
            let taken = self.selectors.borrow_mut()[at].selector.take();
            drop(taken);
        }
        while take_live(&self.handles, 0).map(drop).is_some() {}
    }
}

/// Takes the n-th of those that are there, modulo their number. The caller drops it with nothing borrowed.
fn take_live<T>(slots: &RefCell<Vec<Option<T>>>, at: u8) -> Option<T> {
    let mut slots = slots.borrow_mut();
    let live: Vec<usize> = (0..slots.len()).filter(|&i| slots[i].is_some()).collect();
    let at = usize::from(at).checked_rem(live.len())?;
    slots[live[at]].take()
}
