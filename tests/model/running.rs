//! What closures are running.

use std::cell::{Cell, RefCell};

/// A closure of an update runs while this lives.
pub struct Counted<'a>(&'a Cell<u32>);

impl<'a> Counted<'a> {
    pub fn enter(count: &'a Cell<u32>) -> Self {
        count.set(count.get() + 1);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// A closure runs while this lives.
pub struct Running<'a>(&'a RefCell<Vec<u32>>, usize);

impl<'a> Running<'a> {
    pub fn enter(running: &'a RefCell<Vec<u32>>, number: usize) -> Self {
        running.borrow_mut()[number] += 1;
        Self(running, number)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.borrow_mut()[self.1] -= 1;
    }
}
