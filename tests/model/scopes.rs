//! The model's scopes: owners of what is made in them. What goes, goes in reverse order: clean-ups and inner scopes first,
//! then guards and cells, of each scope for itself.

use std::cell::{Cell, RefCell};
use std::panic::resume_unwind;
use std::rc::{Rc, Weak};

use super::model::{Guard, Handle, Naive};
use super::wave::caught;

enum Item {
    Cell(Handle),
    Guard(Guard),
    Cleanup(Box<dyn FnOnce()>),
    Inner(Rc<Body>),
}

#[derive(Default)]
pub struct Body {
    items: RefCell<Vec<(u64, Item)>>,
    next: Cell<u64>,
    outer: RefCell<Option<(Weak<Body>, u64)>>,
}

impl Body {
    fn add(&self, item: Item) -> u64 {
        let at = self.next.get();
        self.next.set(at + 1);
        self.items.borrow_mut().push((at, item));
        at
    }

    pub fn add_cell(&self, cell: Handle) {
        self.add(Item::Cell(cell));
    }

    /// Takes what was added from a number on.
    fn take_from(&self, from: u64) -> Vec<Item> {
        let mut items = self.items.borrow_mut();
        let first = items.partition_point(|item| item.0 < from);
        items.split_off(first).into_iter().map(|item| item.1).collect()
    }

    fn leave_outer(&self) {
        let outer = self.outer.take().and_then(|(outer, at)| Some((outer.upgrade()?, at)));
        if let Some((outer, at)) = outer {
            outer.items.borrow_mut().retain(|item| item.0 != at);
        }
    }
}

pub struct Scope {
    model: Naive,
    body: Rc<Body>,
}

impl Drop for Scope {
    fn drop(&mut self) {
        self.body.leave_outer();
        self.model.dispose_all(self.body.take_from(0));
    }
}

impl Scope {
    pub fn new(model: &Naive) -> Rc<Self> {
        let body = Rc::new(Body::default());
        let outer = model.0.scope.borrow().clone();
        if let Some(outer) = outer {
            let at = outer.add(Item::Inner(body.clone()));
            *body.outer.borrow_mut() = Some((Rc::downgrade(&outer), at));
        }
        Rc::new(Self { model: model.clone(), body })
    }

    /// P6: if the body panics, what it made goes.
    pub fn run(&self, body: &mut dyn FnMut()) {
        let from = self.body.next.get();
        let outcome = caught(|| self.model.in_scope(Some(self.body.clone()), body));
        if let Err(payload) = outcome {
            let half_made = self.body.take_from(from);
            let _ = caught(|| self.model.dispose_all(half_made));
            resume_unwind(payload);
        }
    }

    pub fn own(&self, guard: Guard) {
        self.body.add(Item::Guard(guard));
    }

    pub fn on_cleanup(&self, cleanup: Box<dyn FnOnce()>) {
        self.body.add(Item::Cleanup(cleanup));
    }
}

impl Naive {
    pub fn in_scope<R>(&self, body: Option<Rc<Body>>, f: impl FnOnce() -> R) -> R {
        let outer = self.0.scope.replace(body);
        let given = caught(f);
        self.0.scope.replace(outer);
        given.unwrap_or_else(|payload| resume_unwind(payload))
    }

    fn dispose_all(&self, items: Vec<Item>) {
        self.user(|| self.in_scope(None, || self.dispose_items(items)));
    }

    fn dispose_items(&self, items: Vec<Item>) {
        let mut values = Vec::new();
        for item in items.into_iter().rev() {
            match item {
                Item::Cleanup(cleanup) => {
                    self.guarded(cleanup);
                }
                Item::Inner(inner) => self.dispose_items(inner.take_from(0)),
                value => values.push(value),
            }
        }
        for value in values {
            match value {
                Item::Cell(cell) => self.dispose(cell.cell),
                Item::Guard(guard) => drop(guard),
                Item::Cleanup(_) | Item::Inner(_) => unreachable!("they went first"),
            }
        }
    }
}
