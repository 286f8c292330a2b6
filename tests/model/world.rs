//! The interpreter of operations. It runs them over an [`Api`]: the library or the model. Both get the same closures, so
//! that callbacks do the same things; what they hear, run and see is noted here, for comparison.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::rc::Rc;

use super::op::{CellKind, Chain, Heard, Op, Script, Several, Trap, Two, Val, Write, work};
use super::running::{Counted, Running};

/// Called by the closures of a chain with each value they take.
pub type Tick = Rc<dyn Fn(i64)>;
pub type Callback = Box<dyn FnMut(Heard)>;

/// The payload of every panic that a case makes on purpose.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub struct Boom(pub u64);

/// What a handle can be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A source cell.
    Cell,
    /// A derived cell of numbers.
    Int,
    Opt,
    Pair,
    List,
    OptList,
    /// A stream of events.
    Source,
}

/// Value and end of a cell that can be read.
pub type State = (Option<Val>, Option<Heard>);

/// The part of the library's API that cases use.
pub trait Api: 'static {
    type Handle: Clone + 'static;
    type Guard: 'static;
    type Plan: Clone + 'static;
    type Key: Copy + PartialEq;
    type Scope: Clone + 'static;

    fn new_cell(&self, value: i64, kind: CellKind) -> Self::Handle;
    fn new_source(&self) -> Self::Handle;
    fn derive(&self, of: &Self::Handle, chain: Chain, tick: Tick) -> Self::Handle;
    /// `None` if a pipeline of this chain can't be shared.
    fn share(&self, of: &Self::Handle, chain: Chain, tick: Tick) -> Option<Self::Plan>;
    fn consume(&self, plan: &Self::Plan, mapped: bool) -> Self::Handle;
    fn join(&self, left: &Self::Handle, right: &Self::Handle) -> Self::Handle;
    fn join_vec(&self, of: &[Self::Handle]) -> Self::Handle;
    fn combine(&self, of: &[Self::Handle], tick: Tick) -> Self::Handle;
    fn two(&self, two: Two, left: &Self::Handle, right: &Self::Handle) -> Self::Handle;
    fn several(&self, several: Several, of: &[Self::Handle]) -> Self::Handle;
    fn latest(&self, of: &Self::Handle, beside: &Self::Handle, tick: Tick) -> Self::Handle;
    fn subscribe(&self, to: &Self::Handle, first: bool, callback: Callback) -> Self::Guard;
    /// Gives what `replace` gave.
    fn write(&self, to: &Self::Handle, write: Write) -> Option<i64>;
    fn update(&self, to: &Self::Handle, change: &mut dyn FnMut(i64) -> i64);
    fn dispose(&self, what: &Self::Handle);
    fn own(&self, owner: &Self::Handle, guard: Self::Guard);
    fn batch(&self, body: &mut dyn FnMut());
    fn new_scope(&self) -> Self::Scope;
    fn run_in(&self, scope: &Self::Scope, body: &mut dyn FnMut());
    fn on_cleanup(&self, scope: &Self::Scope, cleanup: Box<dyn FnOnce()>);
    fn own_by_scope(&self, scope: &Self::Scope, guard: Self::Guard);
    /// Lends the value; false if that is refused.
    fn with(&self, what: &Self::Handle, body: &mut dyn FnMut(Val)) -> bool;

    fn class(&self, what: &Self::Handle) -> Class;
    /// Whether no `update` under way has it, or a cell that it depends on (asked inside one only).
    fn readable(&self, what: &Self::Handle) -> bool;
    /// Whether it was not disposed of.
    fn usable(&self, what: &Self::Handle) -> bool;
    fn key(&self, what: &Self::Handle) -> Self::Key;
    fn contains(&self, key: Self::Key) -> bool;
    fn upgrade(&self, key: Self::Key) -> Option<Self::Handle>;
    fn state(&self, what: &Self::Handle) -> State;
    /// Live cells, edges and subscribers; deliveries in waves so far.
    fn totals(&self) -> [usize; 5];
    /// The number of the round under way.
    fn round(&self) -> u64;
    /// Numbers (not keys) of what a new cell reads, by the keys of all cells so far.
    fn inputs(&self, of: Self::Key, among: &[Self::Key]) -> Vec<usize>;
}

/// A delivery in a wave: the round, and the subscriber.
pub type Turn = (u64, usize);

pub struct World<A: Api> {
    pub api: A,
    handles: RefCell<Vec<Option<A::Handle>>>,
    guards: RefCell<Vec<Option<A::Guard>>>,
    scopes: RefCell<Vec<Option<A::Scope>>>,
    /// Shared pipelines, each with the number of its trap.
    plans: RefCell<Vec<Option<(A::Plan, usize)>>>,
    /// Source cells without a cut-off.
    pub plain: RefCell<Vec<A::Key>>,
    /// All cells that a handle was ever made for, in order of creation.
    pub keys: RefCell<Vec<A::Key>>,
    /// For each cell the numbers of its inputs.
    pub inputs: RefCell<Vec<Vec<usize>>>,
    /// What each subscriber heard and read.
    pub heard: RefCell<Vec<Vec<Heard>>>,
    /// The cell of each subscriber, if it is among `keys`.
    pub listens_to: RefCell<Vec<usize>>,
    /// Deliveries in the order in which they came (first ones, at subscription, apart).
    pub turns: RefCell<Vec<Turn>>,
    /// What was read outside callbacks.
    pub reads: RefCell<Vec<Option<Val>>>,
    /// How often the closures of each trap ran.
    pub runs: RefCell<Vec<u64>>,
    /// How many runs of each trap's closures are under way.
    running: RefCell<Vec<u32>>,
    /// How many closures of updates run.
    pub lent: Cell<u32>,
    booms: Cell<u64>,
    /// Scripts don't run any more.
    closing: Cell<bool>,
    pub effects: RefCell<BTreeMap<&'static str, u64>>,
}

/// Who runs an operation: a subscriber by number, or somebody else.
type By = Option<usize>;

impl<A: Api> World<A> {
    pub fn new(api: A) -> Rc<Self> {
        Rc::new(Self {
            api,
            handles: RefCell::default(),
            guards: RefCell::default(),
            scopes: RefCell::default(),
            plans: RefCell::default(),
            plain: RefCell::default(),
            keys: RefCell::default(),
            inputs: RefCell::default(),
            heard: RefCell::default(),
            listens_to: RefCell::default(),
            turns: RefCell::default(),
            reads: RefCell::default(),
            runs: RefCell::default(),
            running: RefCell::default(),
            lent: Cell::new(0),
            booms: Cell::new(0),
            closing: Cell::new(false),
            effects: RefCell::default(),
        })
    }

    /// Runs an operation. A panic that it makes on purpose comes out as one.
    pub fn run(self: &Rc<Self>, op: &Op, by: By) {
        if self.try_run(op, by) {
            *self.effects.borrow_mut().entry(op.name()).or_default() += 1;
        }
    }

    fn try_run(self: &Rc<Self>, op: &Op, by: By) -> bool {
        match op {
            Op::NewCell { value, kind } => self.new_cell(i64::from(*value), *kind),
            Op::NewSource => self.keep(self.api.new_source()),
            Op::Derive { of, chain, trap } => self.derive(*of, *chain, trap),
            Op::Share { of, chain, trap } => self.share(*of, *chain, trap),
            Op::Consume { plan, mapped } => self.consume(*plan, *mapped),
            Op::DropPlan(at) => take_live(&self.plans, *at).map(drop).is_some(),
            Op::Join(left, right) => self.join(*left, *right),
            Op::JoinVec(of) => self.join_vec(of),
            Op::Combine { of, trap } => self.combine(of, trap),
            Op::Two(two, left, right) => self.two(*two, *left, *right),
            Op::Several(several, of) => self.several(*several, of),
            Op::Latest { of, beside, trap } => self.latest(*of, *beside, trap),
            Op::Subscribe { to, script } => self.subscribe(*to, true, script),
            Op::SubscribeChanges { to, script } => self.subscribe(*to, false, script),
            Op::CloneHandle(at) => self.clone_handle(*at),
            Op::DropHandle(at) => take_live(&self.handles, *at).map(drop).is_some(),
            Op::DropGuard(at) => take_live(&self.guards, *at).map(drop).is_some(),
            Op::DropOwn => by.is_some_and(|own| self.drop_guard(own)),
            Op::Dispose(at) => self.dispose(*at),
            Op::Write(at, write) => self.write(*at, *write, by),
            Op::Batch(ops) => self.batch(ops, by),
            Op::Read(at) => self.with(*at, None, by),
            Op::With(at, op) => self.with(*at, Some(op), by),
            Op::UpdateWith(at, add, op) => self.update(*at, *add, op, by),
            Op::NewScope { cleanup, ops } => self.new_scope(cleanup.as_deref(), ops, by),
            Op::RunInScope(at, op) => self.run_in_scope(*at, op, by),
            Op::OwnByScope { scope, guard } => self.own_by_scope(*scope, *guard),
            Op::DropScope(at) => take_live(&self.scopes, *at).map(drop).is_some(),
            Op::Own { owner, guard } => self.own(*owner, *guard),
            Op::Panic => self.boom(op.name()),
        }
    }

    /// The n-th live handle, modulo their number, of those that are usable and suit.
    pub fn pick_any(&self, at: u8, suits: impl Fn(&A::Handle, Class) -> bool) -> Option<A::Handle> {
        let handles = self.handles.borrow();
        let suitable: Vec<&A::Handle> = handles
            .iter()
            .flatten()
            .filter(|handle| self.api.usable(handle) && suits(handle, self.api.class(handle)))
            .collect();
        let at = usize::from(at).checked_rem(suitable.len())?;
        Some(suitable[at].clone())
    }

    /// The same among those that can be read (C8).
    pub fn pick(&self, at: u8, suits: impl Fn(Class) -> bool) -> Option<A::Handle> {
        let in_update = self.lent.get() > 0;
        self.pick_any(at, |handle, class| suits(class) && (!in_update || self.api.readable(handle)))
    }

    pub fn keep(&self, handle: A::Handle) -> bool {
        let key = self.api.key(&handle);
        let inputs = self.api.inputs(key, &self.keys.borrow());
        self.keys.borrow_mut().push(key);
        self.inputs.borrow_mut().push(inputs);
        self.handles.borrow_mut().push(Some(handle));
        true
    }

    fn new_cell(&self, value: i64, kind: CellKind) -> bool {
        let made = self.api.new_cell(value, kind);
        if matches!(kind, CellKind::Plain | CellKind::NoCoalesce) {
            self.plain.borrow_mut().push(self.api.key(&made));
        }
        self.keep(made)
    }

    fn derive(self: &Rc<Self>, of: u8, chain: Chain, trap: &Trap) -> bool {
        let Some(input) = self.pick(of, |_| true) else {
            return false;
        };
        let derived = self.api.derive(&input, chain, self.tick(trap));
        self.keep(derived)
    }

    fn share(self: &Rc<Self>, of: u8, chain: Chain, trap: &Trap) -> bool {
        let Some(of) = self.pick(of, |_| true) else {
            return false;
        };
        let number = self.runs.borrow().len();
        let plan = self.api.share(&of, chain, self.tick(trap));
        plan.map(|plan| self.plans.borrow_mut().push(Some((plan, number)))).is_some()
    }

    /// Not in a closure of the pipeline itself: if its first value is on the way, that is refused as a cycle (P7).
    fn consume(&self, at: u8, mapped: bool) -> bool {
        if self.lent.get() > 0 {
            return false;
        }
        let plan = {
            let (plans, running) = (self.plans.borrow(), self.running.borrow());
            let open = plans.iter().flatten().filter(|(_, trap)| running[*trap] == 0);
            let open: Vec<&A::Plan> = open.map(|(plan, _)| plan).collect();
            usize::from(at).checked_rem(open.len()).map(|at| open[at].clone())
        };
        plan.map(|plan| self.keep(self.api.consume(&plan, mapped))).is_some()
    }

    fn clone_handle(&self, at: u8) -> bool {
        let found = self.pick(at, |_| true);
        found.map(|handle| self.handles.borrow_mut().push(Some(handle))).is_some()
    }

    fn dispose(&self, at: u8) -> bool {
        let what = self.pick_any(at, |_, _| true);
        what.map(|what| self.api.dispose(&what)).is_some()
    }

    fn write(&self, at: u8, write: Write, by: By) -> bool {
        let suits = |class| match write {
            Write::Set(_) | Write::Complete => matches!(class, Class::Cell | Class::Source),
            _ => class == Class::Cell,
        };
        let picked = match write {
            Write::Update(_) | Write::Replace(_) => self.pick(at, suits),
            _ => self.pick_any(at, |_, class| suits(class)),
        };
        let Some(to) = picked else {
            return false;
        };
        if let Some(former) = self.api.write(&to, write) {
            self.note_read(by, Some(Val::Int(former)));
        }
        true
    }

    fn batch(self: &Rc<Self>, ops: &[Op], by: By) -> bool {
        self.api.batch(&mut || ops.iter().for_each(|op| self.run(op, by)));
        true
    }

    fn with(self: &Rc<Self>, at: u8, op: Option<&Op>, by: By) -> bool {
        let Some(what) = self.pick_any(at, |_, class| class != Class::Source) else {
            return false;
        };
        let read = self.api.with(&what, &mut |value| {
            self.note_read(by, Some(value));
            if let Some(op) = op {
                self.run(op, by);
            }
        });
        if !read {
            self.note_read(by, None);
        }
        true
    }

    fn update(self: &Rc<Self>, at: u8, add: i8, op: &Op, by: By) -> bool {
        let Some(to) = self.pick(at, |class| class == Class::Cell) else {
            return false;
        };
        self.api.update(&to, &mut |value| {
            let _lent = Counted::enter(&self.lent);
            self.run(op, by);
            work::bump(value, add)
        });
        true
    }

    fn new_scope(self: &Rc<Self>, cleanup: Option<&Op>, ops: &[Op], by: By) -> bool {
        let scope = self.api.new_scope();
        if let Some(op) = cleanup.cloned() {
            let world = self.clone();
            let cleanup = move || {
                if !world.closing.get() {
                    world.run(&op, None);
                }
            };
            self.api.on_cleanup(&scope, Box::new(cleanup));
        }
        self.api.run_in(&scope, &mut || ops.iter().for_each(|op| self.run(op, by)));
        self.scopes.borrow_mut().push(Some(scope));
        true
    }

    fn pick_scope(&self, at: u8) -> Option<A::Scope> {
        let scopes = self.scopes.borrow();
        let live: Vec<&A::Scope> = scopes.iter().flatten().collect();
        usize::from(at).checked_rem(live.len()).map(|at| live[at].clone())
    }

    fn run_in_scope(self: &Rc<Self>, at: u8, op: &Op, by: By) -> bool {
        let scope = self.pick_scope(at);
        scope.map(|scope| self.api.run_in(&scope, &mut || self.run(op, by))).is_some()
    }

    fn own_by_scope(&self, scope: u8, guard: u8) -> bool {
        let Some(scope) = self.pick_scope(scope) else {
            return false;
        };
        let guard = take_live(&self.guards, guard);
        guard.map(|guard| self.api.own_by_scope(&scope, guard)).is_some()
    }

    fn note_read(&self, by: By, value: Option<Val>) {
        match by {
            Some(by) => self.heard.borrow_mut()[by].push(Heard::Read(value)),
            None => self.reads.borrow_mut().push(value),
        }
    }

    fn own(&self, owner: u8, guard: u8) -> bool {
        let Some(owner) = self.pick(owner, |_| true) else {
            return false;
        };
        let guard = take_live(&self.guards, guard);
        guard.map(|guard| self.api.own(&owner, guard)).is_some()
    }

    fn drop_guard(&self, at: usize) -> bool {
        let guard = self.guards.borrow_mut()[at].take();
        guard.map(drop).is_some()
    }

    fn subscribe(self: &Rc<Self>, to: u8, first: bool, script: &Script) -> bool {
        let Some(to) = self.pick(to, |_| true) else {
            return false;
        };
        let number = self.guards.borrow().len();
        self.guards.borrow_mut().push(None);
        self.heard.borrow_mut().push(Vec::new());
        self.listens_to.borrow_mut().push(self.number_of(&to));
        let (world, script) = (self.clone(), script.clone());
        let linked = Rc::new(Cell::new(false));
        let (mut calls, in_wave) = (0, linked.clone());
        let callback = move |heard| {
            calls += 1;
            world.heard.borrow_mut()[number].push(heard);
            if in_wave.get() {
                let turn = (world.api.round(), number);
                world.turns.borrow_mut().push(turn);
            }
            world.play(&script, calls, Some(number));
        };
        let guard = self.api.subscribe(&to, first, Box::new(callback));
        linked.set(true);
        self.guards.borrow_mut()[number] = Some(guard);
        true
    }

    /// The number of a cell among those that were made; clones of a handle have the same.
    fn number_of(&self, what: &A::Handle) -> usize {
        let key = self.api.key(what);
        let found = self.keys.borrow().iter().position(|other| *other == key);
        found.unwrap_or(usize::MAX)
    }

    fn play(self: &Rc<Self>, script: &Script, calls: u8, by: By) {
        if self.closing.get() {
            return;
        }
        for (_, op) in script.iter().filter(|(at, _)| *at == calls) {
            self.run(op, by);
        }
    }

    /// The closure that the closures of a chain call with each value.
    pub fn tick(self: &Rc<Self>, trap: &Trap) -> Tick {
        let number = self.runs.borrow().len();
        self.runs.borrow_mut().push(0);
        self.running.borrow_mut().push(0);
        let (world, trap) = (self.clone(), trap.clone());
        Rc::new(move |value| {
            world.runs.borrow_mut()[number] += 1;
            let runs = world.runs.borrow()[number];
            let _running = Running::enter(&world.running, number);
            world.play(&trap.script, u8::try_from(runs).unwrap_or(u8::MAX), None);
            let panics = trap.panic_on.is_some_and(|at| i64::from(at) == value);
            if panics && !world.closing.get() {
                world.boom("panic in a closure");
            }
        })
    }

    fn boom(&self, what: &'static str) -> ! {
        *self.effects.borrow_mut().entry(what).or_default() += 1;
        let number = self.booms.get();
        self.booms.set(number + 1);
        // `resume_unwind` calls no panic hook, so the output stays readable.
        resume_unwind(Box::new(Boom(number)))
    }

    /// Drops all that the case still holds, then disposes of what rings of owned guards keep alive.
    pub fn clear(&self) {
        self.closing.set(true);
        while take_live(&self.guards, 0).map(drop).is_some() {}
        while take_live(&self.scopes, 0).map(drop).is_some() {}
        while take_live(&self.plans, 0).map(drop).is_some() {}
        while take_live(&self.handles, 0).map(drop).is_some() {}
        for at in 0..self.keys.borrow().len() {
            let key = self.keys.borrow()[at];
            if let Some(handle) = self.api.upgrade(key) {
                self.api.dispose(&handle);
            }
        }
    }
}

pub fn is_number(class: Class) -> bool {
    matches!(class, Class::Cell | Class::Int)
}

/// Takes the n-th of those that are there, modulo their number. The caller drops it with nothing borrowed.
fn take_live<T>(slots: &RefCell<Vec<Option<T>>>, at: u8) -> Option<T> {
    let mut slots = slots.borrow_mut();
    let live: Vec<usize> = (0..slots.len()).filter(|&i| slots[i].is_some()).collect();
    let at = usize::from(at).checked_rem(live.len())?;
    slots[live[at]].take()
}
