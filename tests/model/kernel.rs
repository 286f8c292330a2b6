//! What the model's derived cells compute.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::model::{Handle, Naive};
use super::op::{Heard, Val};
use super::stages::{Given, Stage, flow, is_spent};

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
            Work::List(of) => of.clone(),
            Work::Hidden(plan) => vec![plan.root.cell],
            Work::Consumer { of, .. } => of.iter().copied().collect(),
        }
    }

    /// One run. Without `news` only ends are looked at.
    pub fn turn(&mut self, model: &Naive, news: bool, seed: bool) -> Given<Val> {
        match &mut self.work {
            Work::Chain { of, stages, optional, of_source } => {
                if seed && *optional && is_spent(stages) {
                    let (value, end) = (Some(Val::Opt(None)), Some(Heard::Complete));
                    return Given { value, end };
                }
                // A source has events, and no value for a chain to start with.
                let news = news && !(seed && *of_source);
                let given = flow(stages, root(model, *of, news), seed);
                typed(given, *optional, seed)
            }
            Work::Join(left, right) => {
                let pair = || Val::Pair(number(model, *left), number(model, *right));
                let value = news.then(pair);
                Given { value, end: end_of_all(model, &[*left, *right]) }
            }
            Work::List(of) => {
                let list = || Val::List(of.iter().map(|&cell| number(model, cell)).collect());
                let value = news.then(list);
                Given { value, end: end_of_all(model, of) }
            }
            Work::Hidden(plan) => {
                let from = root(model, plan.root.cell, news);
                typed(plan.with_stages(|stages| flow(stages, from, seed)), false, seed)
            }
            Work::Consumer { of, mapped, .. } => {
                let add = i64::from(*mapped);
                let Some(of) = *of else { return Given::default() };
                let given = root(model, of, news);
                let value = given.value.map(|value| Val::Int(value + add));
                Given { value, end: given.end }
            }
        }
    }
}

fn number(model: &Naive, cell: usize) -> i64 {
    model.s().cells[cell].value.number()
}

fn root(model: &Naive, of: usize, news: bool) -> Given<i64> {
    let value = news.then(|| number(model, of));
    let end = model.s().cells[of].end.clone();
    Given { value, end }
}

fn typed(given: Given<i64>, optional: bool, seed: bool) -> Given<Val> {
    let value = match (given.value, optional) {
        (Some(value), false) => Some(Val::Int(value)),
        (Some(value), true) => Some(Val::Opt(Some(value))),
        (None, _) => seed.then_some(Val::Opt(None)),
    };
    Given { value, end: given.end }
}

/// An error of any input at once, in the order of the inputs, `Complete` when all have completed.
fn end_of_all(model: &Naive, of: &[usize]) -> Option<Heard> {
    let state = model.s();
    let ends: Vec<_> = of.iter().map(|&cell| state.cells[cell].end.clone()).collect();
    let failed = ends.iter().flatten().find(|end| **end != Heard::Complete);
    match failed {
        Some(error) => Some(error.clone()),
        None => ends.iter().all(Option::is_some).then_some(Heard::Complete),
    }
}
