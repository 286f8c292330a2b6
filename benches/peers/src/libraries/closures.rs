//! The first limit: boxed closures, called one after the other, all of them at each step. No library that runs closures
//! of its users can settle faster when all cells change; when few do, it can, for this one does not look.

use std::sync::Arc;

use crate::library::{Hear, Library, One, Two};
use crate::shapes::{Kind, Shape};

/// The values of all cells, and what is called.
pub(crate) struct Closures {
    values: Vec<u64>,
    calls: Vec<Box<dyn Fn(&mut [u64])>>,
}

impl Closures {
    fn node_of(&mut self, call: impl Fn(&[u64]) -> u64 + 'static) -> usize {
        let at = self.values.len();
        self.values.push(call(&self.values));
        self.calls.push(Box::new(move |values| values[at] = call(values)));
        at
    }
}

impl Library for Closures {
    type Source = usize;
    type Node = usize;
    type Sink = ();

    fn new(_: usize) -> Self {
        Self { values: Vec::new(), calls: Vec::new() }
    }

    fn lacks(shape: &Shape) -> Option<&'static str> {
        match shape.kind {
            Kind::Churn => Some("a list of closures has no subscriptions to end"),
            Kind::Store => Some("it always calls all closures"),
            _ => None,
        }
    }

    fn source(&mut self, value: u64) -> usize {
        self.values.push(value);
        self.values.len() - 1
    }

    fn node(&self, source: &usize) -> usize {
        *source
    }

    fn map(&mut self, input: &usize, f: impl One) -> usize {
        let input = *input;
        self.node_of(move |values| f(values[input]))
    }

    fn map2(&mut self, a: &usize, b: &usize, f: impl Two) -> usize {
        let (a, b) = (*a, *b);
        self.node_of(move |values| f(values[a], values[b]))
    }

    fn fold(&mut self, inputs: &[usize], f: impl Two, then: impl One) -> usize {
        let inputs = inputs.to_vec();
        self.node_of(move |values| then(inputs.iter().fold(0, |sum, i| f(sum, values[*i]))))
    }

    fn map_distinct(&mut self, input: &usize, f: impl One) -> usize {
        self.map(input, f)
    }

    fn switch(&mut self, selector: &usize, choices: &Arc<[usize]>, pick: impl One) -> usize {
        let (selector, choices) = (*selector, choices.clone());
        self.node_of(move |values| values[choices[pick(values[selector]) as usize % choices.len()]])
    }

    fn sink(&mut self, input: &usize, f: impl Hear) {
        let input = *input;
        f(self.values[input]);
        self.calls.push(Box::new(move |values| f(values[input])));
    }

    fn set(&mut self, source: &usize, value: u64) {
        self.batch([(source, value)].into_iter());
    }

    fn batch<'a>(&mut self, writes: impl Iterator<Item = (&'a usize, u64)>) {
        writes.for_each(|(source, value)| self.values[*source] = value);
        self.calls.iter().for_each(|call| call(&mut self.values));
    }
}
