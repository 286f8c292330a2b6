//! The operators. A stage makes a new value from each value, a gate lets values pass or not; both are a few lines, since
//! terminal signals, seeds and ownership are the pipeline's business. Multi-input operators are kernels of their own.
//!
//! Stages and gates know neither store nor graph; `combine` knows what a kernel and its inputs are.

// The types of operators are public because the pipeline trait names them, hidden because nobody else should.
#![allow(unreachable_pub)]

pub(crate) mod combine;
pub(crate) mod computed;
mod flat;
pub(crate) mod flatten;
mod flowing;
pub(crate) mod lazy;
pub(crate) mod machine;
pub(crate) mod merge;
pub(crate) mod pair;
pub(crate) mod pure;
pub(crate) mod retry;
pub(crate) mod sample;
pub(crate) mod selector;
pub(crate) mod sequence;
pub(crate) mod switch;
pub(crate) mod timed;
mod waits;

use crate::pipeline::Seedness;

/// A stage that makes a new value.
#[doc(hidden)]
#[allow(private_interfaces)]
pub trait Stage<In>: 'static {
    /// What it makes.
    type Out: 'static;
    /// Whether it gives a value at construction, if upstream does.
    type Seed<Up: Seedness>: Seedness;
    /// Its name, for diagnostics.
    const NAME: &'static str;

    /// Takes a value; `seed` says that it is the one that was there at construction.
    fn step(&mut self, value: &In, seed: bool) -> Option<Self::Out>;

    /// Upstream ends, well (`completed`) or not: what is left to give comes before the end.
    fn finish(&mut self, _completed: bool) -> Option<Self::Out> {
        None
    }

    /// Forgets all values.
    fn restart(&mut self) {}
}

/// A stage that lets values pass or not.
#[doc(hidden)]
pub trait Gate<In>: 'static {
    /// Whether it gives a value at construction, if upstream does.
    type Seed<Up: Seedness>: Seedness;
    /// Its name, for diagnostics.
    const NAME: &'static str;

    /// Judges a value; `seed` says that it is the one that was there at construction.
    fn admit(&mut self, value: &In, seed: bool) -> Verdict;

    /// The pipeline ends here.
    fn finish(&mut self) {}

    /// Whether it lets nothing more through: from the start (`take(0)`), or since its last value.
    fn spent(&self) -> bool {
        false
    }

    /// Forgets all values.
    fn restart(&mut self) {}
}

/// What a gate does with a value.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    pub(crate) passes: bool,
    pub(crate) closes: bool,
}

impl Verdict {
    pub(crate) const PASS: Self = Self { passes: true, closes: false };
    pub(crate) const PASS_LAST: Self = Self { passes: true, closes: true };
    pub(crate) const CLOSE: Self = Self { passes: false, closes: true };

    pub(crate) fn pass_if(passes: bool) -> Self {
        Self { passes, closes: false }
    }
}
