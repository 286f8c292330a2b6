//! The references: each operator as a plain function on a finished vector of values, with no state and no turns.

use crate::script::{Root, Run, Step};
use crate::support::Heard;

/// An operator from numbers to numbers, with its one parameter. What gives lists or pairs is followed by a map that
/// writes them as decimal digits: `[1, 2]` is 12, `[]` is 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Op {
    /// Adds the parameter.
    Map(i64),
    /// Lets numbers pass that the parameter plus 2 does not divide.
    Filter(i64),
    /// `try_map`, where multiples of 3 are errors, then `catch_error`: adds the parameter to those.
    Catch(i64),
    /// The same, `map_ok` that adds 100, `unwrap_or` the parameter.
    OrDefault(i64),
    /// The same, `map_err` that negates, `unwrap_or_else` that adds the parameter.
    OrElse(i64),
    Tap(i64),
    /// Sums up, from the parameter on.
    Scan(i64),
    Pairwise(i64),
    Distinct(i64),
    Deduped(i64),
    /// Two numbers are the same if they are as to division by the parameter plus 2.
    UntilChangedBy(i64),
    /// Sizes are the parameter plus 1.
    Window(i64),
    Buffer(i64),
    Take(i64),
    /// While below the parameter.
    TakeWhile(i64),
    First(i64),
    Last(i64),
    LastOr(i64),
    Skip(i64),
    /// While below the parameter.
    SkipWhile(i64),
    Cold(i64),
    Finalize(i64),
}

/// All operators.
pub(crate) const MAKERS: [fn(i64) -> Op; 22] = [
    Op::Map,
    Op::Filter,
    Op::Catch,
    Op::OrDefault,
    Op::OrElse,
    Op::Tap,
    Op::Scan,
    Op::Pairwise,
    Op::Distinct,
    Op::Deduped,
    Op::UntilChangedBy,
    Op::Window,
    Op::Buffer,
    Op::Take,
    Op::TakeWhile,
    Op::First,
    Op::Last,
    Op::LastOr,
    Op::Skip,
    Op::SkipWhile,
    Op::Cold,
    Op::Finalize,
];

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum End {
    Complete,
    Error,
}

/// All that a pipeline brings. The first value may be there at construction.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    seed: Option<i64>,
    later: Vec<i64>,
    /// How it ends and whether that was at construction.
    end: Option<(End, bool)>,
    /// Whether its type says that there is a value from the start.
    definite: bool,
}

impl Stream {
    /// What the root brings.
    pub(crate) fn of(run: &Run) -> Self {
        let (before, end_before) = cut(run.root, &run.before);
        let (mut later, end_after) = cut(run.root, &run.after);
        let keeps_last = matches!(run.root, Root::Plain | Root::Filtered);
        if run.batched && keeps_last {
            later.drain(..later.len().saturating_sub(1));
        }
        let seed = before.last().copied().unwrap_or(run.start);
        let definite = matches!(run.root, Root::Plain | Root::Kept);
        let end = end_after.map(|end| (end, false));
        let mut stream = Self { seed: Some(seed), later, end, definite };
        if run.root == Root::Source {
            stream.seed = None;
        }
        if let Some(end) = end_before {
            stream.later.clear();
            stream.end = Some((end, true));
        }
        if run.root == Root::Filtered {
            stream.seed = stream.seed.filter(|v| *v >= 0);
            stream.later.retain(|v| *v >= 0);
        }
        stream
    }

    /// What a subscriber hears that subscribes right after construction.
    pub(crate) fn deliveries(&self) -> Vec<Heard<Option<i64>>> {
        let mut heard = vec![Heard::Value(self.seed)];
        heard.extend(self.later.iter().map(|v| Heard::Value(Some(*v))));
        heard.extend(self.end.map(|end| match end.0 {
            End::Complete => Heard::Complete,
            End::Error => Heard::Error("boom".to_owned()),
        }));
        heard
    }

    /// The same as a pipeline that may have no value yet.
    pub(crate) fn optional(self) -> Self {
        Self { definite: false, ..self }
    }

    fn all(&self) -> Vec<i64> {
        self.seed.iter().chain(&self.later).copied().collect()
    }

    fn completes(&self) -> bool {
        matches!(self.end, Some((End::Complete, _)))
    }

    /// Replaces each value by one value.
    fn each(self, f: impl Fn(&[i64]) -> i64) -> Self {
        let all = self.all();
        let new = |i: usize| f(&all[..=i]);
        let from = self.seed.iter().len();
        let later = (from..all.len()).map(new).collect();
        Self { seed: self.seed.map(|_| new(0)), later, ..self }
    }

    /// Keeps the values for which `f` holds; it gets all values up to each.
    fn keep(self, f: impl Fn(&[i64]) -> bool) -> Self {
        let all = self.all();
        let from = self.seed.iter().len();
        let kept = (from..all.len()).filter(|&i| f(&all[..=i])).map(|i| all[i]).collect();
        Self { seed: self.seed.filter(|_| f(&all[..1])), later: kept, ..self }
    }

    /// The first `n` values; if they are `closing`, the end comes with the last of them.
    fn cut_after(mut self, n: usize, closing: bool) -> Self {
        let at_start = n == 0 || (n == 1 && self.seed.is_some());
        let seeds = self.seed.iter().len().min(n);
        self.seed = self.seed.filter(|_| seeds == 1);
        self.later.truncate(n - seeds);
        if closing {
            self.end = Some((End::Complete, at_start));
        }
        self
    }

    /// At the end a value instead of all others, if it ends well.
    fn only_at_the_end(self, value: Option<i64>) -> Self {
        let value = value.filter(|_| self.completes());
        let at_start = matches!(self.end, Some((_, true)));
        let seed = value.filter(|_| at_start);
        let later = value.filter(|_| !at_start).into_iter().collect();
        Self { seed, later, ..self }
    }
}

fn cut(root: Root, steps: &[Step]) -> (Vec<i64>, Option<End>) {
    let mut values = Vec::new();
    for step in steps {
        match step {
            Step::Value(value) => values.push(*value),
            Step::Fail if root != Root::Source => return (values, Some(End::Error)),
            Step::Complete | Step::Fail => return (values, Some(End::Complete)),
        }
    }
    (values, None)
}

/// Numbers as the digits of one.
pub(crate) fn digits(values: &[i64]) -> i64 {
    values.iter().fold(0, |sum, v| sum.wrapping_mul(10).wrapping_add(*v))
}

/// Values past the last that `same` takes for the one before.
fn changes(values: &[i64], same: impl Fn(&i64, &i64) -> bool) -> Vec<i64> {
    let mut kept: Vec<i64> = Vec::new();
    for value in values {
        if !kept.last().is_some_and(|last| same(value, last)) {
            kept.push(*value);
        }
    }
    kept
}

fn last(values: &[i64]) -> i64 {
    values[values.len() - 1]
}

fn size(k: i64) -> usize {
    usize::try_from(k).expect("a small number")
}

impl Op {
    /// The operator on a finished stream.
    pub(crate) fn refer(self, input: Stream) -> Stream {
        let opens = matches!(
            self,
            Op::Filter(_)
                | Op::Pairwise(_)
                | Op::TakeWhile(_)
                | Op::Last(_)
                | Op::LastOr(_)
                | Op::Skip(_)
                | Op::SkipWhile(_)
                | Op::Cold(_)
        );
        let output = self.refer_values(input);
        if opens { output.optional() } else { output }
    }

    fn refer_values(self, input: Stream) -> Stream {
        match self {
            Op::Map(_)
            | Op::Catch(_)
            | Op::OrDefault(_)
            | Op::OrElse(_)
            | Op::Tap(_)
            | Op::Finalize(_) => input.each(|values| self.value_of(last(values))),
            Op::Scan(k) => input.each(|values| values.iter().fold(k, |a, v| a.wrapping_add(*v))),
            Op::Window(k) => {
                let n = size(k) + 1;
                input.each(|values| digits(&values[values.len().saturating_sub(n)..]))
            }
            Op::Filter(k) => input.keep(|values| last(values) % (k + 2) != 0),
            Op::Distinct(_) => {
                input.keep(|values| !values[..values.len() - 1].contains(&last(values)))
            }
            Op::Deduped(_) => input.keep(|values| is_change(values, |a, b| a == b)),
            Op::UntilChangedBy(k) => {
                input.keep(|values| is_change(values, |a, b| a % (k + 2) == b % (k + 2)))
            }
            Op::Skip(k) => input.keep(|values| values.len() > size(k)),
            Op::SkipWhile(k) => input.keep(|values| values.iter().any(|v| *v >= k)),
            Op::Cold(_) => Stream { seed: None, ..input },
            _ => self.refer_whole(input),
        }
    }

    fn value_of(self, v: i64) -> i64 {
        match self {
            Op::Map(k) => v + k,
            Op::Catch(k) if v % 3 == 0 => v + k,
            Op::OrDefault(k) => {
                if v % 3 == 0 {
                    k
                } else {
                    v + 100
                }
            }
            Op::OrElse(k) if v % 3 == 0 => k - v,
            _ => v,
        }
    }

    fn refer_whole(self, input: Stream) -> Stream {
        match self {
            Op::Pairwise(_) => {
                let pairs = input.all().windows(2).map(digits).collect();
                Stream { seed: None, later: pairs, ..input }
            }
            Op::Buffer(k) => {
                let chunks = input.later.chunks(size(k) + 1);
                let full = chunks.filter(|chunk| chunk.len() == size(k) + 1 || input.completes());
                let later = full.map(digits).collect();
                Stream { seed: input.seed.map(|_| 0), later, ..input }
            }
            // A definite pipeline must have a value: `take(0)` keeps the first.
            Op::Take(k) if input.definite => take(input, size(k).max(1)),
            Op::Take(k) => take(input, size(k)),
            Op::First(_) => take(input, 1),
            Op::TakeWhile(k) => match input.all().iter().position(|v| *v >= k) {
                // The value that closes is not emitted; it may be the one at construction.
                Some(0) if input.seed.is_some() => input.cut_after(0, true),
                Some(n) => {
                    let mut cut = input.cut_after(n, true);
                    cut.end = Some((End::Complete, false));
                    cut
                }
                None => input,
            },
            Op::Last(_) => {
                let last = input.later.last().copied();
                input.only_at_the_end(last)
            }
            Op::LastOr(k) => {
                let last = input.later.last().copied().unwrap_or(k);
                input.only_at_the_end(Some(last))
            }
            _ => unreachable!("the other operators go value by value"),
        }
    }
}

fn is_change(values: &[i64], same: impl Fn(&i64, &i64) -> bool) -> bool {
    changes(values, &same).len() > changes(&values[..values.len() - 1], &same).len()
}

fn take(input: Stream, n: usize) -> Stream {
    let closing = input.all().len() >= n;
    input.cut_after(n, closing)
}
