//! The [`Api`] over the model.

use std::rc::Rc;

use super::kernel::{Kernel, Plan, Work};
use super::model::{Guard, Handle, Naive};
use super::op::{CellKind, Chain, Heard, Several, Two, Val, Write, work};
use super::scopes::Scope;
use super::sequence::{Backlog, Sequence};
use super::stages::Stage;
use super::world::{Api, Callback, Class, State, Tick};

impl Naive {
    fn class_of(&self, cell: usize) -> Class {
        self.s().cells[cell].class
    }
}

fn numbers(of: &[Handle]) -> Vec<usize> {
    of.iter().map(|handle| handle.cell).collect()
}

impl Api for Naive {
    type Handle = Handle;
    type Guard = Guard;
    type Plan = Rc<Plan>;
    type Key = usize;
    type Scope = Rc<Scope>;

    fn new_cell(&self, value: i64, kind: CellKind) -> Handle {
        let made = self.admit(Class::Cell, Val::Int(value));
        let mut state = self.s();
        let node = &mut state.cells[made.cell];
        match kind {
            CellKind::Plain => (),
            CellKind::Parity => node.same = Some(work::same_parity),
            CellKind::Equal => node.same = Some(|a, b| a == b),
            CellKind::NoCoalesce => node.event = true,
        }
        drop(state);
        made
    }

    fn new_source(&self) -> Handle {
        let made = self.admit(Class::Source, Val::Int(0));
        self.s().cells[made.cell].event = true;
        made
    }

    fn derive(&self, of: &Handle, chain: Chain, tick: Tick) -> Handle {
        let (stages, empty) = Stage::of(chain, &tick);
        let of_source = self.class_of(of.cell) == Class::Source;
        let optional = empty || of_source;
        let class = if optional { Class::Opt } else { Class::Int };
        let work = Work::Chain { of: of.cell, stages, optional, of_source };
        Naive::derive(self, class, Kernel::new(work, vec![of.clone()]))
    }

    fn share(&self, of: &Handle, chain: Chain, tick: Tick) -> Option<Rc<Plan>> {
        let (stages, empty) = Stage::of(chain, &tick);
        let has_seed = !empty && self.class_of(of.cell) != Class::Source;
        has_seed.then(|| Plan::new(of.clone(), stages))
    }

    fn consume(&self, plan: &Rc<Plan>, mapped: bool) -> Handle {
        let (plan, of) = (plan.clone(), None);
        let work = Work::Consumer { plan, of, mapped };
        Naive::derive(self, Class::Int, Kernel::new(work, Vec::new()))
    }

    fn join(&self, left: &Handle, right: &Handle) -> Handle {
        let work = Work::Join(left.cell, right.cell);
        let held = vec![left.clone(), right.clone()];
        Naive::derive(self, Class::Pair, Kernel::new(work, held))
    }

    fn join_vec(&self, of: &[Handle]) -> Handle {
        let work = Work::List(numbers(of));
        Naive::derive(self, Class::List, Kernel::new(work, of.to_vec()))
    }

    fn combine(&self, of: &[Handle], tick: Tick) -> Handle {
        let work = Work::Combine(numbers(of), tick);
        Naive::derive(self, Class::Int, Kernel::new(work, of.to_vec()))
    }

    fn two(&self, two: Two, left: &Handle, right: &Handle) -> Handle {
        let (a, b) = (left.cell, right.cell);
        let work = match two {
            Two::Zip => Work::Sequence(Sequence::zip(&[a, b], false)),
            Two::Sample | Two::SampleOn => Work::Sample(a, b),
            Two::Merge => Work::Sequence(Sequence::Merge(vec![a, b], Backlog::default(), false)),
            Two::Concat => {
                let (of, backlog) = ([a, b], Backlog::default());
                Work::Sequence(Sequence::Concat { of, over: false, backlog })
            }
            Two::TakeUntil => {
                Work::Sequence(Sequence::TakeUntil { of: a, stop: b, stopped: false })
            }
        };
        let class = if two == Two::Zip { Class::Pair } else { Class::Int };
        Naive::derive(self, class, Kernel::new(work, vec![left.clone(), right.clone()]))
    }

    fn several(&self, several: Several, of: &[Handle]) -> Handle {
        let (class, sequence) = match several {
            Several::Zip => (Class::OptList, Sequence::zip(&numbers(of), true)),
            Several::Merge => (Class::Opt, Sequence::Merge(numbers(of), Backlog::default(), true)),
        };
        Naive::derive(self, class, Kernel::new(Work::Sequence(sequence), of.to_vec()))
    }

    fn latest(&self, of: &Handle, beside: &Handle, tick: Tick) -> Handle {
        let work = Work::Latest(of.cell, beside.cell, tick);
        let held = vec![of.clone(), beside.clone()];
        Naive::derive(self, Class::Int, Kernel::new(work, held))
    }

    fn subscribe(&self, to: &Handle, first: bool, mut callback: Callback) -> Guard {
        if self.class_of(to.cell) == Class::Source {
            // A source replays nothing.
            return Naive::subscribe(self, to.cell, callback);
        }
        self.observe(to.cell);
        self.user(|| {
            if first {
                let value = self.s().cells[to.cell].value.clone();
                callback(Heard::Value(value));
                let end = self.s().cells[to.cell].end.clone();
                end.into_iter().for_each(&mut callback);
            }
            Naive::subscribe(self, to.cell, callback)
        })
    }

    fn write(&self, to: &Handle, write: Write) -> Option<i64> {
        match write {
            Write::Update(n) => self.update_by(to.cell, &mut |v| work::bump(v, n)),
            Write::Replace(v) => return Some(self.replace(to.cell, v)),
            _ => Naive::write(self, to.cell, write),
        }
        None
    }

    fn update(&self, to: &Handle, change: &mut dyn FnMut(i64) -> i64) {
        self.update_by(to.cell, change);
    }

    fn dispose(&self, what: &Handle) {
        Naive::dispose(self, what.cell);
    }

    fn own(&self, owner: &Handle, guard: Guard) {
        Naive::own(self, owner.cell, guard);
    }

    fn batch(&self, body: &mut dyn FnMut()) {
        self.run_batch(body);
    }

    fn new_scope(&self) -> Rc<Scope> {
        Scope::new(self)
    }

    fn run_in(&self, scope: &Self::Scope, body: &mut dyn FnMut()) {
        scope.run(body);
    }

    fn on_cleanup(&self, scope: &Self::Scope, cleanup: Box<dyn FnOnce()>) {
        scope.on_cleanup(cleanup);
    }

    fn own_by_scope(&self, scope: &Self::Scope, guard: Guard) {
        scope.own(guard);
    }

    fn with(&self, what: &Handle, body: &mut dyn FnMut(Val)) -> bool {
        if self.is_lent(what.cell) {
            return false;
        }
        // P4: reading a source is no settle point for its cut-off; it gives your own writes.
        let is_derived = !self.s().cells[what.cell].inputs.is_empty();
        if is_derived {
            self.settle_for(what.cell);
        }
        let value = self.s().cells[what.cell].value.clone();
        self.user(|| body(value));
        true
    }

    fn class(&self, what: &Handle) -> Class {
        self.class_of(what.cell)
    }

    fn readable(&self, what: &Handle) -> bool {
        !self.is_lent(what.cell)
    }

    fn usable(&self, what: &Handle) -> bool {
        !self.s().cells[what.cell].disposed
    }

    fn key(&self, what: &Handle) -> usize {
        what.cell
    }

    fn contains(&self, key: usize) -> bool {
        !self.s().cells[key].dead
    }

    fn upgrade(&self, key: usize) -> Option<Handle> {
        let open = {
            let node = &self.s().cells[key];
            !node.dead && !node.disposed
        };
        open.then(|| self.hold(key))
    }

    fn state(&self, what: &Handle) -> State {
        let state = self.s();
        let node = &state.cells[what.cell];
        let has_value = node.class != Class::Source && !node.disposed;
        (has_value.then(|| node.value.clone()), node.end.clone())
    }

    fn totals(&self) -> [usize; 5] {
        let state = self.s();
        let live = state.cells.iter().filter(|node| !node.dead);
        let edges = live.clone().map(|node| node.inputs.len()).sum();
        let subs = state.subs.iter().filter(|sub| !sub.gone).count();
        [live.count(), edges, subs, self.0.deliveries.get(), self.0.rounds.get() as usize]
    }

    fn round(&self) -> u64 {
        self.0.rounds.get()
    }

    fn inputs(&self, _: usize, _: &[usize]) -> Vec<usize> {
        Vec::new()
    }
}
