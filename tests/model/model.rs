//! The model: a naive store that follows the contract's rules (S, C and P) with lists, flags and searches over all cells.
//! Cells are numbered in order of creation, which is a topological order, and everything is done in that order.
//!
//! Birth, death and the tables are here; writes and waves are in `wave`, computing in `kernel`.

use std::any::Any;
use std::cell::{Cell, RefCell, RefMut};
use std::collections::VecDeque;
use std::rc::Rc;

use super::kernel::{Kernel, Plan};
use super::op::{Heard, Val, Write};
use super::scopes::Body;
use super::world::{Callback, Class};

pub type Payload = Box<dyn Any + Send>;

pub struct Node {
    pub class: Class,
    pub value: Val,
    /// The comparison of a cell with a cut-off.
    pub same: Option<fn(i64, i64) -> bool>,
    /// What the value is compared with when the cell settles.
    pub base: Option<Val>,
    /// Keeps each write of a batch.
    pub event: bool,
    /// Handles, and what kernels hold without an edge.
    pub handles: usize,
    /// Cells it depends on, each once.
    pub inputs: Vec<usize>,
    /// Absent in a source, while it runs, and after the end.
    pub kernel: Option<Kernel>,
    pub dirty: bool,
    /// The inputs that changed since it last ran.
    pub fresh: Vec<usize>,
    /// Those of its inputs that it only looks at.
    pub passive: Vec<usize>,
    /// When its last change was written, and its end.
    pub arrival: u64,
    pub end_arrival: u64,
    pub end: Option<Heard>,
    pub disposed: bool,
    pub dead: bool,
    /// In order of subscription.
    pub subs: Vec<usize>,
    pub owned: Vec<Guard>,
}

pub struct Sub {
    pub on: usize,
    /// Keeps its cell alive.
    pub counted: bool,
    pub gone: bool,
    /// The cell changed, or ended, in this round and the subscriber has not been called yet.
    pub due: bool,
    pub end_due: bool,
    /// Absent while it runs.
    pub callback: Option<Callback>,
}

/// A write that waits.
pub enum Waiting {
    Write(Write),
    /// A `modify` that ran before its turn, and what it gave.
    Modified(i64),
    /// The end that a `dispose` brings.
    Disposal,
}

pub struct Queued {
    pub cell: usize,
    /// Writes of one batch in a callback have the same.
    pub group: Option<u64>,
    pub what: Waiting,
}

pub struct Event {
    pub round: u64,
    /// When it was written.
    pub arrival: u64,
    pub cell: usize,
    pub write: Write,
}

/// What is dropped when no user code is on the stack.
pub enum Grave {
    Kernel(Kernel),
    Guards(Vec<Guard>),
}

#[derive(Default)]
pub struct State {
    pub cells: Vec<Node>,
    pub subs: Vec<Sub>,
    pub queue: VecDeque<Queued>,
    pub events: VecDeque<Event>,
    /// The round that each event cell's last event was given, in the open wave.
    pub rounds_taken: Vec<(usize, u64)>,
    pub last_round: u64,
    /// Cells that have more to give in the next round.
    pub more: Vec<usize>,
    /// Counts writes.
    pub clock: u64,
    pub graveyard: Vec<Grave>,
    pub panic: Option<Payload>,
    /// Cells of running updates.
    pub lent: Vec<usize>,
}

/// The naive store.
#[derive(Default)]
pub struct Model {
    state: RefCell<State>,
    /// How much user code is on the stack.
    pub busy: Cell<u32>,
    /// Open batches outside callbacks.
    pub batch: Cell<u32>,
    /// The open batch in a callback.
    pub group: Cell<Option<u64>>,
    pub groups: Cell<u64>,
    pub rounds: Cell<u64>,
    /// The scope that owns what is made.
    pub scope: RefCell<Option<Rc<Body>>>,
    pub deliveries: Cell<usize>,
}

#[derive(Clone)]
pub struct Naive(pub Rc<Model>);

/// A counted reference to a cell.
pub struct Handle {
    pub model: Naive,
    pub cell: usize,
}

impl Clone for Handle {
    fn clone(&self) -> Self {
        self.model.hold(self.cell)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let left = {
            let node = &mut self.model.s().cells[self.cell];
            node.handles -= 1;
            node.handles
        };
        if left == 0 {
            self.model.sweep();
            self.model.rest_if_idle();
        }
    }
}

pub struct Guard {
    pub model: Naive,
    pub sub: usize,
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.model.unsubscribe(self.sub);
        self.model.rest_if_idle();
    }
}

impl Naive {
    pub fn s(&self) -> RefMut<'_, State> {
        self.0.state.borrow_mut()
    }

    pub fn hold(&self, cell: usize) -> Handle {
        self.s().cells[cell].handles += 1;
        let model = self.clone();
        Handle { model, cell }
    }

    /// Adds a cell.
    pub fn admit(&self, class: Class, value: Val) -> Handle {
        let cell = self.s().cells.len();
        self.s().cells.push(Node {
            class,
            value,
            same: None,
            base: None,
            event: false,
            handles: 0,
            inputs: Vec::new(),
            kernel: None,
            dirty: false,
            fresh: Vec::new(),
            passive: Vec::new(),
            arrival: 0,
            end_arrival: 0,
            end: None,
            disposed: false,
            dead: false,
            subs: Vec::new(),
            owned: Vec::new(),
        });
        let scope = self.0.scope.borrow().clone();
        if let Some(scope) = scope {
            scope.add_cell(self.hold(cell));
        }
        self.hold(cell)
    }

    /// C1: whoever has neither handle nor dependent nor counted guard is dead at once, and so on.
    pub fn sweep(&self) {
        let mut state = self.s();
        while let Some(cell) = (0..state.cells.len()).find(|&cell| state.is_dying(cell)) {
            state.kill(cell);
        }
    }

    pub fn subscribe(&self, on: usize, callback: Callback) -> Guard {
        let mut state = self.s();
        let sub = state.subs.len();
        state.subs.push(Sub {
            on,
            counted: true,
            gone: false,
            due: false,
            end_due: false,
            callback: Some(callback),
        });
        state.cells[on].subs.push(sub);
        let model = self.clone();
        Guard { model, sub }
    }

    /// P2: not called again.
    fn unsubscribe(&self, sub: usize) {
        let callback = self.s().take_out(sub);
        drop(callback);
        self.sweep();
    }

    /// C1: a guard on the owner itself or on a cell downstream of it does not count. (Decided when it is given: the
    /// guard stays uncounted if the cell ends later and so lets go of the owner.)
    pub fn own(&self, owner: usize, guard: Guard) {
        let on = self.s().subs[guard.sub].on;
        if self.s().upstream(on).contains(&owner) {
            self.s().subs[guard.sub].counted = false;
        }
        self.s().cells[owner].owned.push(guard);
        self.sweep();
        self.rest_if_idle();
    }

    /// C7.
    pub fn dispose(&self, cell: usize) {
        if self.s().cells[cell].disposed {
            return;
        }
        let kept = self.hold(cell);
        self.strip(cell);
        if self.0.busy.get() > 0 {
            self.enqueue(cell, Waiting::Disposal);
        } else if self.0.batch.get() > 0 {
            self.user(|| self.end_disposed(cell));
        } else {
            self.wave(|| self.end_disposed(cell));
        }
        drop(kept);
    }

    pub fn end_disposed(&self, cell: usize) {
        self.end(cell, Heard::Complete);
        self.end_subscriptions(cell);
    }

    /// C7: a disposed cell has no subscribers once they have heard all that came before, and the end. (The contract
    /// leaves open when they go; guards that are kept, or leaked, keep nothing alive from then on.)
    pub fn end_subscriptions(&self, cell: usize) {
        let mut state = self.s();
        let node = &state.cells[cell];
        let is_due = |sub: &usize| state.subs[*sub].due || state.subs[*sub].end_due;
        if node.dead || !node.disposed || node.end.is_none() || node.subs.iter().any(is_due) {
            return;
        }
        let subs = node.subs.clone();
        let callbacks: Vec<_> = subs.iter().map(|&sub| state.take_out(sub)).collect();
        drop(state);
        drop(callbacks);
        self.sweep();
    }

    fn strip(&self, cell: usize) {
        let owned = {
            let mut state = self.s();
            let node = &mut state.cells[cell];
            node.disposed = true;
            node.dirty = false;
            // What a cut-off has not compared yet stays, and nobody is told. (The contract leaves that open.)
            node.base = None;
            node.inputs.clear();
            let owned = std::mem::take(&mut node.owned);
            if let Some(kernel) = node.kernel.take() {
                state.graveyard.push(Grave::Kernel(kernel));
            }
            owned
        };
        self.sweep();
        // C7: owned guards go at once, so that they don't hear of the end.
        self.user(|| owned.into_iter().rev().for_each(drop));
    }

    /// Drops what waits for a moment without user code.
    pub fn bury(&self) {
        loop {
            let graves = std::mem::take(&mut self.s().graveyard);
            if graves.is_empty() {
                return;
            }
            for grave in graves {
                match grave {
                    Grave::Kernel(kernel) => drop(kernel),
                    Grave::Guards(guards) => guards.into_iter().rev().for_each(drop),
                }
            }
        }
    }

    /// The cell that the consumers of a shared pipeline read, made now if there is none.
    pub fn hidden(&self, plan: &Rc<Plan>) -> Handle {
        if let Some(cell) = plan.hidden.get() {
            let usable = {
                let node = &self.s().cells[cell];
                !node.dead && !node.disposed
            };
            if usable {
                return self.hold(cell);
            }
        }
        if plan.started.replace(true) {
            plan.restart();
        }
        // It belongs to its consumers, not to a scope.
        let hidden = self.in_scope(None, || self.derive(Class::Int, Kernel::hidden(plan.clone())));
        plan.hidden.set(Some(hidden.cell));
        hidden
    }

    /// Makes a derived cell: computes its seed, then links it. P6: a panic leaves nothing behind.
    pub fn derive(&self, class: Class, mut kernel: Kernel) -> Handle {
        kernel.prepare(self);
        kernel.inputs().into_iter().for_each(|input| self.observe(input));
        self.user(|| {
            let seed = kernel.turn(self, &kernel.inputs(), true);
            let value = seed.value.unwrap_or(Val::Opt(None));
            let made = self.admit(class, value);
            if let Some(end) = seed.end {
                // It lets go of its inputs at once.
                kernel.held.clear();
                let mut state = self.s();
                state.cells[made.cell].end = Some(end);
                state.graveyard.push(Grave::Kernel(kernel));
            } else {
                self.link(made.cell, kernel);
            }
            made
        })
    }

    /// The edges take over what the kernel held.
    fn link(&self, cell: usize, mut kernel: Kernel) {
        let held = std::mem::take(&mut kernel.held);
        let passive = kernel.passive();
        let mut inputs = kernel.inputs();
        inputs.sort_unstable();
        inputs.dedup();
        let mut state = self.s();
        state.cells[cell].inputs = inputs;
        state.cells[cell].passive = passive;
        state.cells[cell].kernel = Some(kernel);
        drop(state);
        drop(held);
    }
}

impl State {
    pub fn dependents(&self, of: usize) -> Vec<usize> {
        let reads = |cell: &usize| self.cells[*cell].inputs.contains(&of);
        (0..self.cells.len()).filter(reads).collect()
    }

    /// The cell and all that it depends on, in order.
    pub fn upstream(&self, of: usize) -> Vec<usize> {
        let mut found = vec![of];
        let mut at = 0;
        while at < found.len() {
            let inputs = self.cells[found[at]].inputs.clone();
            found.extend(inputs);
            at += 1;
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn is_dying(&self, cell: usize) -> bool {
        let node = &self.cells[cell];
        let kept = node.subs.iter().any(|&sub| self.subs[sub].counted);
        !node.dead && node.handles == 0 && !kept && self.dependents(cell).is_empty()
    }

    fn kill(&mut self, cell: usize) {
        let node = &mut self.cells[cell];
        node.dead = true;
        node.dirty = false;
        node.inputs.clear();
        let subs = std::mem::take(&mut node.subs);
        let owned = std::mem::take(&mut node.owned);
        let kernel = node.kernel.take();
        subs.iter().for_each(|&sub| self.subs[sub].gone = true);
        self.graveyard.extend(kernel.map(Grave::Kernel));
        self.graveyard.push(Grave::Guards(owned));
    }

    fn take_out(&mut self, sub: usize) -> Option<Callback> {
        let entry = &mut self.subs[sub];
        entry.gone = true;
        let (on, callback) = (entry.on, entry.callback.take());
        self.cells[on].subs.retain(|&other| other != sub);
        callback
    }
}
