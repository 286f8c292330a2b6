//! What the model's derived cells compute.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::model::{Handle, Naive};
use super::op::{Heard, Val, work};
use super::sequence::Sequence;
use super::stages::{Given, Stage, flow, is_spent};
use super::world::Tick;

pub enum Work {
    /// A chain over one cell; `optional` if it has no value from the start.
    Chain {
        of: usize,
        stages: Vec<Stage>,
        optional: bool,
        of_source: bool,
    },
    Join(usize, usize),
    List(Vec<usize>),
    /// A closure over several cells.
    Combine(Vec<usize>, Tick),
    /// A closure over a cell and the value of another.
    Latest(usize, usize, Tick),
    /// The value of the first at each change of the second.
    Sample(usize, usize),
    /// The values of several cells as one sequence, or in step.
    Sequence(Sequence),
    /// The hidden cell of a shared pipeline.
    Hidden(Rc<Plan>),
    /// A consumer of one: reads the hidden cell, once there is one.
    Consumer {
        plan: Rc<Plan>,
        of: Option<usize>,
        mapped: bool,
    },
}

pub struct Kernel {
    work: Work,
    /// References to the inputs, until there are edges.
    pub held: Vec<Handle>,
}

/// A shared pipeline. It keeps the cell it starts from.
pub struct Plan {
    root: Handle,
    stages: RefCell<Vec<Stage>>,
    pub hidden: Cell<Option<usize>>,
    pub started: Cell<bool>,
}

impl Plan {
    pub fn new(root: Handle, stages: Vec<Stage>) -> Rc<Self> {
        Rc::new(Self {
            root,
            stages: RefCell::new(stages),
            hidden: Cell::new(None),
            started: Cell::new(false),
        })
    }

    pub fn restart(&self) {
        self.stages.borrow_mut().iter_mut().for_each(Stage::restart);
    }

    /// Works with the stages taken out, so that closures may do what they like.
    fn with_stages<R>(&self, body: impl FnOnce(&mut [Stage]) -> R) -> R {
        struct PutBack<'a>(&'a Plan, Vec<Stage>);
        impl Drop for PutBack<'_> {
            fn drop(&mut self) {
                *self.0.stages.borrow_mut() = std::mem::take(&mut self.1);
            }
        }
        let mut taken = PutBack(self, self.stages.take());
        body(&mut taken.1)
    }
}

impl Kernel {
    pub fn new(work: Work, held: Vec<Handle>) -> Self {
        Self { work, held }
    }

    pub fn hidden(plan: Rc<Plan>) -> Self {
        Self::new(Work::Hidden(plan), Vec::new())
    }

    /// Finds the inputs that are not known yet.
    pub fn prepare(&mut self, model: &Naive) {
        if let Work::Consumer { plan, of, .. } = &mut self.work {
            let hidden = model.hidden(plan);
            *of = Some(hidden.cell);
            self.held.push(hidden);
        }
    }

    pub fn inputs(&self) -> Vec<usize> {
        match &self.work {
            Work::Chain { of, .. } => vec![*of],
            Work::Join(left, right) => vec![*left, *right],
            Work::List(of) | Work::Combine(of, _) => of.clone(),
            Work::Latest(of, beside, _) => vec![*of, *beside],
            Work::Sample(of, trigger) => vec![*trigger, *of],
            Work::Sequence(sequence) => sequence.inputs(),
            Work::Hidden(plan) => vec![plan.root.cell],
            Work::Consumer { of, .. } => of.iter().copied().collect(),
        }
    }

    /// Those of the inputs whose changes and ends don't matter.
    pub fn passive(&self) -> Vec<usize> {
        match &self.work {
            Work::Latest(of, beside, _) if of != beside => vec![*beside],
            Work::Sample(of, trigger) if of != trigger => vec![*of],
            _ => Vec::new(),
        }
    }

    /// One run, in which these inputs are new. Without any only ends are looked at.
    pub fn turn(&mut self, model: &Naive, fresh: &[usize], seed: bool) -> Given<Val> {
        let news = !fresh.is_empty() || seed;
        match &mut self.work {
            Work::Chain { of, stages, optional, of_source } => {
                if seed && *optional && is_spent(stages) {
                    let (value, end) = (Some(Val::Opt(None)), Some(Heard::Complete));
                    return Given { value, end, more: false };
                }
                // A source has events, and no value for a chain to start with.
                let news = news && !(seed && *of_source);
                let given = flow(stages, root(model, *of, news), seed);
                typed(given, *optional, seed)
            }
            Work::Join(left, right) => {
                let pair = || Val::Pair(number(model, *left), number(model, *right));
                given(news.then(pair), end_of_all(model, &[*left, *right]))
            }
            Work::List(of) => {
                let list = || Val::List(of.iter().map(|&cell| number(model, cell)).collect());
                given(news.then(list), end_of_all(model, of))
            }
            Work::Combine(of, tick) => {
                let made = || {
                    let values: Vec<i64> = of.iter().map(|&cell| number(model, cell)).collect();
                    let made = work::combine(&values);
                    tick(made);
                    Val::Int(made)
                };
                given(news.then(made), end_of_all(model, of))
            }
            Work::Latest(of, beside, tick) => {
                let made = || {
                    let (value, other) = (number(model, *of), number(model, *beside));
                    tick(value);
                    Val::Int(work::pair(value, other))
                };
                given(news.then(made), end_of(model, *of))
            }
            Work::Sample(of, trigger) => {
                given(news.then(|| Val::Int(number(model, *of))), end_of(model, *trigger))
            }
            Work::Sequence(sequence) => sequence.turn(model, fresh, seed),
            Work::Hidden(plan) => {
                let from = root(model, plan.root.cell, news);
                typed(plan.with_stages(|stages| flow(stages, from, seed)), false, seed)
            }
            Work::Consumer { of, mapped, .. } => {
                let add = i64::from(*mapped);
                let Some(of) = *of else { return Given::default() };
                let from = root(model, of, news);
                given(from.value.map(|value| Val::Int(value + add)), from.end)
            }
        }
    }
}

pub fn given<V>(value: Option<V>, end: Option<Heard>) -> Given<V> {
    Given { value, end, more: false }
}

pub fn end_of(model: &Naive, cell: usize) -> Option<Heard> {
    model.s().cells[cell].end.clone()
}

pub fn number(model: &Naive, cell: usize) -> i64 {
    model.s().cells[cell].value.number()
}

fn root(model: &Naive, of: usize, news: bool) -> Given<i64> {
    given(news.then(|| number(model, of)), end_of(model, of))
}

fn typed(from: Given<i64>, optional: bool, seed: bool) -> Given<Val> {
    let value = match (from.value, optional) {
        (Some(value), false) => Some(Val::Int(value)),
        (Some(value), true) => Some(Val::Opt(Some(value))),
        (None, _) => seed.then_some(Val::Opt(None)),
    };
    given(value, from.end)
}

/// An error of any input at once, in the order of the inputs, `Complete` when all have completed.
pub fn end_of_all(model: &Naive, of: &[usize]) -> Option<Heard> {
    let state = model.s();
    let ends: Vec<_> = of.iter().map(|&cell| state.cells[cell].end.clone()).collect();
    let failed = ends.iter().flatten().find(|end| **end != Heard::Complete);
    match failed {
        Some(error) => Some(error.clone()),
        None => ends.iter().all(Option::is_some).then_some(Heard::Complete),
    }
}
