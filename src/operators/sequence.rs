//! Operators that remember: accumulate, compare with earlier values, count, collect.

use std::collections::{HashSet, VecDeque};
use std::hash::Hash;
use std::sync::Arc;

use super::{Gate, Stage, Verdict};
use crate::pipeline::{Empty, Seedness};

/// Declares a type of this module's operators: hidden from the docs, with a `Debug` that shows no values.
macro_rules! operator {
    ($name:ident<$($p:ident),*> { $($field:ident: $type:ty),* $(,)? }) => {
        #[doc(hidden)]
        pub struct $name<$($p),*> { $($field: $type),* }

        impl<$($p),*> std::fmt::Debug for $name<$($p),*> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    };
}

operator!(Scan<A, F> { init: A, sum: Option<A>, f: F });

impl<A, F> Scan<A, F> {
    pub(crate) fn new(init: A, f: F) -> Self {
        Self { init, sum: None, f }
    }
}

impl<T, A: Clone + 'static, F: FnMut(&A, &T) -> A + 'static> Stage<T> for Scan<A, F> {
    type Out = A;
    type Seed<Up: Seedness> = Up;
    const NAME: &'static str = "scan";

    fn step(&mut self, value: &T, _: bool) -> Option<A> {
        let sum = (self.f)(self.sum.as_ref().unwrap_or(&self.init), value);
        self.sum = Some(sum.clone());
        Some(sum)
    }

    fn restart(&mut self) {
        self.sum = None;
    }
}

operator!(Pairwise<T> { last: Option<T> });

impl<T> Default for Pairwise<T> {
    fn default() -> Self {
        Self { last: None }
    }
}

impl<T: Clone + 'static> Stage<T> for Pairwise<T> {
    type Out = (T, T);
    type Seed<Up: Seedness> = Empty;
    const NAME: &'static str = "pairwise";

    fn step(&mut self, value: &T, _: bool) -> Option<(T, T)> {
        let before = self.last.replace(value.clone())?;
        Some((before, value.clone()))
    }

    fn restart(&mut self) {
        self.last = None;
    }
}

operator!(Distinct<T> { seen: HashSet<T> });

impl<T> Default for Distinct<T> {
    fn default() -> Self {
        Self { seen: HashSet::new() }
    }
}

impl<T: Clone + Eq + Hash + 'static> Gate<T> for Distinct<T> {
    type Seed<Up: Seedness> = Up;
    const NAME: &'static str = "distinct";

    fn admit(&mut self, value: &T, _: bool) -> Verdict {
        Verdict::pass_if(!self.seen.contains(value) && self.seen.insert(value.clone()))
    }

    fn restart(&mut self) {
        self.seen.clear();
    }
}

operator!(Deduped<T> { last: Option<T> });

impl<T> Default for Deduped<T> {
    fn default() -> Self {
        Self { last: None }
    }
}

impl<T: Clone + PartialEq + 'static> Gate<T> for Deduped<T> {
    type Seed<Up: Seedness> = Up;
    const NAME: &'static str = "deduped";

    #[inline]
    fn admit(&mut self, value: &T, _: bool) -> Verdict {
        let new = self.last.as_ref() != Some(value);
        if new {
            self.last = Some(value.clone());
        }
        Verdict::pass_if(new)
    }

    fn restart(&mut self) {
        self.last = None;
    }
}

operator!(DistinctUntilChangedBy<T, F> { last: Option<T>, same: F });

impl<T, F> DistinctUntilChangedBy<T, F> {
    pub(crate) fn new(same: F) -> Self {
        Self { last: None, same }
    }
}

impl<T: Clone + 'static, F: FnMut(&T, &T) -> bool + 'static> Gate<T>
    for DistinctUntilChangedBy<T, F>
{
    type Seed<Up: Seedness> = Up;
    const NAME: &'static str = "distinct_until_changed_by";

    fn admit(&mut self, value: &T, _: bool) -> Verdict {
        let new = self.last.as_ref().is_none_or(|last| !(self.same)(value, last));
        if new {
            self.last = Some(value.clone());
        }
        Verdict::pass_if(new)
    }

    fn restart(&mut self) {
        self.last = None;
    }
}

operator!(Window<T> { size: usize, values: VecDeque<T> });

impl<T> Window<T> {
    #[track_caller]
    pub(crate) fn new(size: usize) -> Self {
        assert!(size > 0, "window(0) can't hold a value; give it a size of at least 1");
        Self { size, values: VecDeque::new() }
    }
}

impl<T: Clone + 'static> Stage<T> for Window<T> {
    type Out = Vec<T>;
    type Seed<Up: Seedness> = Up;
    const NAME: &'static str = "window";

    fn step(&mut self, value: &T, _: bool) -> Option<Vec<T>> {
        if self.values.len() == self.size {
            self.values.pop_front();
        }
        self.values.push_back(value.clone());
        Some(self.values.iter().cloned().collect())
    }

    fn restart(&mut self) {
        self.values.clear();
    }
}

operator!(BufferCount<T> { size: usize, values: Vec<T> });

impl<T> BufferCount<T> {
    #[track_caller]
    pub(crate) fn new(size: usize) -> Self {
        assert!(size > 0, "buffer_count(0) can't hold a value; give it a size of at least 1");
        Self { size, values: Vec::new() }
    }
}

impl<T: Clone + 'static> Stage<T> for BufferCount<T> {
    type Out = Vec<T>;
    type Seed<Up: Seedness> = Up;
    const NAME: &'static str = "buffer_count";

    fn step(&mut self, value: &T, seed: bool) -> Option<Vec<T>> {
        if seed {
            return Some(Vec::new());
        }
        self.values.push(value.clone());
        (self.values.len() == self.size).then(|| std::mem::take(&mut self.values))
    }

    fn finish(&mut self, completed: bool) -> Option<Vec<T>> {
        let left = std::mem::take(&mut self.values);
        (completed && !left.is_empty()).then_some(left)
    }

    fn restart(&mut self) {
        self.values.clear();
    }
}

operator!(Take<> { limit: usize, taken: usize });

impl Take {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, taken: 0 }
    }
}

impl<T> Gate<T> for Take {
    type Seed<Up: Seedness> = Up;
    const NAME: &'static str = "take";

    fn admit(&mut self, _: &T, _: bool) -> Verdict {
        self.taken += 1;
        if self.taken < self.limit { Verdict::PASS } else { Verdict::PASS_LAST }
    }

    fn spent(&self) -> bool {
        self.taken >= self.limit
    }

    fn restart(&mut self) {
        self.taken = 0;
    }
}

operator!(Skip<> { limit: usize, skipped: usize });

impl Skip {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, skipped: 0 }
    }
}

impl<T> Gate<T> for Skip {
    type Seed<Up: Seedness> = Empty;
    const NAME: &'static str = "skip";

    fn admit(&mut self, _: &T, _: bool) -> Verdict {
        let passes = self.skipped == self.limit;
        if !passes {
            self.skipped += 1;
        }
        Verdict::pass_if(passes)
    }

    fn restart(&mut self) {
        self.skipped = 0;
    }
}

#[doc(hidden)]
pub struct TakeWhile<F>(pub(crate) F);

impl<F> std::fmt::Debug for TakeWhile<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TakeWhile")
    }
}

impl<T, F: FnMut(&T) -> bool + 'static> Gate<T> for TakeWhile<F> {
    type Seed<Up: Seedness> = Empty;
    const NAME: &'static str = "take_while";

    fn admit(&mut self, value: &T, _: bool) -> Verdict {
        if (self.0)(value) { Verdict::PASS } else { Verdict::CLOSE }
    }
}

operator!(SkipWhile<F> { skip: F, open: bool });

impl<F> SkipWhile<F> {
    pub(crate) fn new(skip: F) -> Self {
        Self { skip, open: false }
    }
}

impl<T, F: FnMut(&T) -> bool + 'static> Gate<T> for SkipWhile<F> {
    type Seed<Up: Seedness> = Empty;
    const NAME: &'static str = "skip_while";

    fn admit(&mut self, value: &T, _: bool) -> Verdict {
        self.open = self.open || !(self.skip)(value);
        Verdict::pass_if(self.open)
    }

    fn restart(&mut self) {
        self.open = false;
    }
}

#[doc(hidden)]
#[derive(Debug)]
pub struct Cold;

impl<T: Clone + 'static> Stage<T> for Cold {
    type Out = Arc<T>;
    type Seed<Up: Seedness> = Empty;
    const NAME: &'static str = "cold";

    fn step(&mut self, value: &T, seed: bool) -> Option<Arc<T>> {
        (!seed).then(|| Arc::new(value.clone()))
    }
}

#[doc(hidden)]
pub struct Finalize<F>(pub(crate) Option<F>);

impl<F> std::fmt::Debug for Finalize<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Finalize")
    }
}

impl<T, F: FnOnce() + 'static> Gate<T> for Finalize<F> {
    type Seed<Up: Seedness> = Up;
    const NAME: &'static str = "finalize";

    fn admit(&mut self, _: &T, _: bool) -> Verdict {
        Verdict::PASS
    }

    fn finish(&mut self) {
        if let Some(f) = self.0.take() {
            f();
        }
    }
}

operator!(Last<T> { held: Option<T> });

impl<T> Default for Last<T> {
    fn default() -> Self {
        Self { held: None }
    }
}

impl<T: Clone + 'static> Stage<T> for Last<T> {
    type Out = T;
    type Seed<Up: Seedness> = Empty;
    const NAME: &'static str = "last";

    fn step(&mut self, value: &T, seed: bool) -> Option<T> {
        if !seed {
            self.held = Some(value.clone());
        }
        None
    }

    fn finish(&mut self, completed: bool) -> Option<T> {
        self.held.take().filter(|_| completed)
    }

    fn restart(&mut self) {
        self.held = None;
    }
}

operator!(LastOr<T> { last: Last<T>, default: T });

impl<T> LastOr<T> {
    pub(crate) fn new(default: T) -> Self {
        Self { last: Last::default(), default }
    }
}

impl<T: Clone + 'static> Stage<T> for LastOr<T> {
    type Out = T;
    type Seed<Up: Seedness> = Empty;
    const NAME: &'static str = "last_or";

    fn step(&mut self, value: &T, seed: bool) -> Option<T> {
        self.last.step(value, seed)
    }

    fn finish(&mut self, completed: bool) -> Option<T> {
        completed.then(|| {
            Stage::<T>::finish(&mut self.last, true).unwrap_or_else(|| self.default.clone())
        })
    }

    fn restart(&mut self) {
        Stage::<T>::restart(&mut self.last);
    }
}
