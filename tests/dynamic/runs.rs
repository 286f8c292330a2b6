//! The closures of a case: each run notes what it saw, gave and cleaned up. What must hold of a single run is checked here.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

use hyphae::{Error, arena, on_cleanup, untracked};

use super::op::{Trap, work};
use super::table::{Cleanup, End, Event, Log, Num, Outcome, Owner, Run, Seen};
use super::world::{Boom, By, Frame, World};

/// More runs in one case than any that ends has.
const ENDLESS: u32 = 1_000_000;

/// What a closure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closure {
    /// Of a cell with fixed inputs.
    Plain,
    /// Of a switch or merge: it has a scope.
    Choosing,
    /// Its reads are dependencies, and it has a scope.
    Tracking,
}

/// What a run gives: the number that may panic, the cell that it chose, and what the library gets.
pub struct Given<R> {
    pub number: i64,
    pub cell: Option<Num>,
    pub result: R,
}

/// A frame of the stack while this lives.
pub struct Entered<'a>(&'a World, usize);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.frames.borrow_mut().truncate(self.1);
    }
}

impl World {
    /// A callback begins.
    pub fn enter(&self, tracked: bool) -> Entered<'_> {
        self.push(Frame { tracked, transparent: false, log: None, seen: Vec::new() })
    }

    /// One begins whose reads are those of the closure that it is in.
    pub fn enter_same(&self) -> Entered<'_> {
        self.push(Frame { tracked: false, transparent: true, log: None, seen: Vec::new() })
    }

    fn push(&self, frame: Frame) -> Entered<'_> {
        let depth = self.frames.borrow().len();
        self.frames.borrow_mut().push(frame);
        Entered(self, depth)
    }

    /// Notes what the closure that is running has seen, if its reads are tracked.
    pub fn saw(&self, seen: Seen) {
        let mut frames = self.frames.borrow_mut();
        let frame = frames.iter_mut().rev().find(|frame| !frame.transparent);
        if let Some(frame) = frame.filter(|frame| frame.tracked) {
            frame.seen.push(seen);
        }
    }

    pub fn saw_refused(&self, of: Num) {
        self.refused.set(true);
        self.count("a read was refused");
        let reader = self.frames.borrow().iter().rev().find_map(|frame| frame.log);
        if reader.is_some() && self.nodes.borrow()[of].maker == reader {
            self.self_made.set(true);
        }
        self.saw(Seen::Refused(of));
    }

    /// The cell whose closure tracks what is read now.
    fn reader(&self) -> Option<Num> {
        let frames = self.frames.borrow();
        let frame = frames.iter().rev().find(|frame| !frame.transparent);
        let log = frame.filter(|frame| frame.tracked)?.log?;
        match self.logs.borrow()[log].owner {
            Owner::Cell(of) => Some(of),
            _ => None,
        }
    }

    /// Reads a cell, in whatever is running.
    pub fn read(&self, of: Num) -> Result<i64, Seen> {
        let Some(cell) = self.handle(of) else {
            self.saw(Seen::Gone(of));
            return Err(Seen::Gone(of));
        };
        if self.reader().is_some_and(|reader| self.upstream(of).contains(&reader)) {
            // Refused, or what makes it one ends meanwhile.
            self.refused.set(true);
        }
        match cell.try_get() {
            Ok(value) => {
                self.saw(Seen::Value(of, value));
                Ok(value)
            }
            Err(Error::Cycle { path }) => {
                let ids: Vec<_> = path.iter().map(hyphae::CellInfo::id).collect();
                if ids.len() < 2 || ids.first() != ids.last() {
                    self.fault(format!("a cycle with the path {path:?}"));
                }
                self.saw_refused(of);
                Err(Seen::Refused(of))
            }
            Err(error) => {
                self.fault(format!("read of cell {of}: {error}"));
                Err(Seen::Gone(of))
            }
        }
    }

    /// What a formula makes of a read.
    pub fn number_of(read: Result<i64, Seen>) -> Result<i64, i64> {
        read.map_err(|seen| match seen {
            Seen::Refused(_) => work::CYCLE,
            _ => work::GONE,
        })
    }

    pub fn read_quietly(&self, of: Num) -> Result<i64, Seen> {
        let _frame = self.enter(false);
        untracked(|| self.read(of))
    }

    pub fn new_log(&self) -> usize {
        self.logs.borrow_mut().push(Log::new());
        self.logs.borrow().len() - 1
    }

    /// Runs a closure's work and notes it. `seen` is what it is given.
    pub fn turn<R>(
        self: &Rc<Self>,
        log: usize,
        closure: Closure,
        trap: &Trap,
        seen: Vec<Seen>,
        work: impl FnOnce() -> Given<R>,
    ) -> R {
        let run = self.begin(log, closure);
        let frame = self.enter(closure == Closure::Tracking);
        if let Some(frame) = self.frames.borrow_mut().last_mut() {
            (frame.seen, frame.log) = (seen, Some(log));
        }
        let given = catch_unwind(AssertUnwindSafe(|| {
            if closure != Closure::Plain {
                self.register_cleanups(log, run, trap);
            }
            self.play(&trap.script, run, self.own_guard(log));
            let given = work();
            let panics = trap.panic_on.is_some_and(|at| i64::from(at) == given.number);
            if panics && !self.closing.get() {
                self.boom("panic in a closure");
            }
            given
        }));
        let seen = std::mem::take(&mut self.frames.borrow_mut()[frame.1].seen);
        drop(frame);
        self.logs.borrow_mut()[log].running = false;
        match given {
            Ok(given) => {
                self.finish(log, run, seen, Outcome::Gave(given.number), given.cell);
                given.result
            }
            Err(payload) if is_panic(&*payload) => {
                self.finish(log, run, seen, Outcome::Panicked, None);
                resume_unwind(payload)
            }
            Err(payload) => {
                self.count("a run was abandoned");
                self.note(Event::Abandoned(log));
                resume_unwind(payload)
            }
        }
    }

    fn own_guard(&self, log: usize) -> By {
        match self.logs.borrow()[log].owner {
            Owner::Effect(guard) => Some(guard),
            _ => None,
        }
    }

    fn begin(&self, log: usize, closure: Closure) -> u32 {
        let (run, left, nested) = {
            let entry = &mut self.logs.borrow_mut()[log];
            entry.started += 1;
            let nested = std::mem::replace(&mut entry.running, true);
            (entry.started, entry.cleanups.iter().any(|one| !one.done), nested)
        };
        if nested {
            self.fault(format!("closure {log} was called while it ran"));
        }
        if left && closure != Closure::Plain && !self.is_merging(log) {
            self.fault(format!(
                "run {run} of closure {log} began before the clean-ups of the last"
            ));
        }
        self.note(Event::Started(log, run));
        self.runs.set(self.runs.get() + 1);
        if self.runs.get() == ENDLESS {
            // From now on closures do nothing, so that it comes to an end.
            self.fault("closures run without end".to_string());
            self.closing.set(true);
        }
        run
    }

    fn register_cleanups(self: &Rc<Self>, log: usize, run: u32, trap: &Trap) {
        for number in 0..trap.cleanups {
            let at = {
                let cleanups = &mut self.logs.borrow_mut()[log].cleanups;
                cleanups.push(Cleanup { run, done: false });
                cleanups.len() - 1
            };
            let (world, op) = (self.clone(), trap.cleanup.clone().filter(|_| number == 0));
            on_cleanup(move || {
                let _frame = world.enter(false);
                world.clean(log, at);
                if let Some(op) = op {
                    world.play(&vec![(1, *op)], 1, None);
                }
            });
        }
    }

    /// A clean-up runs: once, and after those of the same run that were registered later.
    fn clean(&self, log: usize, at: usize) {
        let (run, twice, early) = {
            let cleanups = &mut self.logs.borrow_mut()[log].cleanups;
            let run = cleanups[at].run;
            let twice = std::mem::replace(&mut cleanups[at].done, true);
            let early = cleanups[at + 1..].iter().any(|one| one.run == run && !one.done);
            (run, twice, early)
        };
        if twice || early {
            self.fault(format!("clean-up {at} of closure {log}: twice {twice}, early {early}"));
        }
        self.count("a clean-up ran");
        self.note(Event::Cleaned(log, run));
    }

    fn finish(&self, log: usize, run: u32, seen: Vec<Seen>, outcome: Outcome, gave: Option<Num>) {
        let owner = self.logs.borrow()[log].owner;
        let (mut given, mut unlinked) = (gave, false);
        if let (Some(inner), Owner::Cell(of)) = (gave, owner)
            && self.upstream(inner).contains(&of)
        {
            // It will be refused, by a switch maybe only until another has its turn.
            self.refused.set(true);
            unlinked = true;
            given = given.filter(|_| !self.is_merging(log));
        }
        let turn = (arena::totals().rounds, self.settles.get());
        let twice = {
            let entry = &mut self.logs.borrow_mut()[log];
            let last = entry.last.as_ref().filter(|last| last.turn == turn && last.number > 1);
            let twice = last.is_some();
            if let Outcome::Gave(value) = outcome {
                entry.good = Some(value);
                entry.rounds.insert(turn.0);
                entry.kept.clear();
                entry.stale.clear();
            } else {
                let reads = entry.reads();
                entry.kept.extend(reads);
                let refusals = entry.refusals();
                entry.stale.extend(refusals);
            }
            entry.inner = gave;
            entry.unlinked = unlinked;
            entry.given.extend(given.map(|given| (run, given)));
            entry.last = Some(Run { number: run, turn, seen, outcome, gave });
            twice && entry.owner != Owner::Nobody
        };
        if twice && !self.refused.get() && !self.unclear.get() && !self.is_limited(log) {
            self.fault(format!("closure {log} ran twice in one round"));
        }
        self.note(Event::Done(log, outcome));
    }

    /// A subscriber gets a value: the cell's own, once a round.
    pub fn hear(&self, number: usize, value: i64) {
        self.note(Event::Heard(number, value));
        let rounds = arena::totals().rounds;
        let (on, linked, gone) = {
            let sub = &self.subs.borrow()[number];
            (sub.on, sub.linked, sub.gone)
        };
        let twice = {
            let sub = &mut self.subs.borrow_mut()[number];
            sub.heard = Some(value);
            if let Some(heard) = &mut sub.rounds {
                heard.insert(rounds);
            }
            let twice = linked && sub.round == Some(rounds);
            sub.round = Some(rounds).filter(|_| linked);
            twice || sub.end.is_some()
        };
        if linked && (gone || twice) {
            self.fault(format!("subscriber {number} heard {value}: gone {gone}, again {twice}"));
        }
        if self.state(on).is_some_and(|state| state.0 != value) {
            self.fault(format!("subscriber {number} heard {value}, the cell has another value"));
        }
        if linked {
            self.check_delivery(on, rounds);
        }
    }

    pub fn hear_end(&self, number: usize, end: End) {
        self.note(Event::Ended(number, end));
        let before = self.subs.borrow_mut()[number].end.replace(end);
        let sub = &self.subs.borrow()[number];
        if before.is_some() || (sub.linked && sub.gone) {
            self.errors.borrow_mut().push(format!("subscriber {number} heard {end:?} too late"));
        }
    }
}

/// Whether a payload is that of a panic, not of a run that will be repeated.
fn is_panic(payload: &(dyn Any + Send)) -> bool {
    payload.is::<Boom>() || payload.is::<String>() || payload.is::<&str>()
}
