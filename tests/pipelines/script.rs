//! Inputs as text, the kinds of roots, and the run of one pipeline over one input.

use hyphae::{Cell, CellImmutable, Source, batch};

use crate::build::build;
use crate::model::{Op, Stream};
use crate::support::{Heard, Log};

/// One write.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Step {
    Value(i64),
    Complete,
    Fail,
}

/// What the pipeline reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Root {
    /// A cell: definite, a batch keeps the last value.
    Plain,
    /// A cell that keeps each write of a batch.
    Kept,
    /// A stream of events: no value at the start, no error channel.
    Source,
    /// A cell behind a filter that lets numbers from 0 on pass: empty, with or without a value at the start.
    Filtered,
}

pub(crate) const ROOTS: [Root; 4] = [Root::Plain, Root::Kept, Root::Source, Root::Filtered];

/// One run: what the root holds at first, what is written before the pipeline is made, and after.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) root: Root,
    pub(crate) start: i64,
    pub(crate) before: Vec<Step>,
    pub(crate) after: Vec<Step>,
    pub(crate) batched: bool,
}

enum Input {
    Cell(Cell<i64>),
    Source(Source<i64>),
}

impl Input {
    fn of(run: &Run) -> Self {
        match run.root {
            Root::Source => Self::Source(Source::new()),
            Root::Kept => Self::Cell(Cell::new(run.start).no_coalesce()),
            Root::Plain | Root::Filtered => Self::Cell(Cell::new(run.start)),
        }
    }

    fn feed(&self, step: Step) {
        match (self, step) {
            (Self::Cell(cell), Step::Value(value)) => cell.set(value),
            (Self::Cell(cell), Step::Complete) => cell.complete(),
            (Self::Cell(cell), Step::Fail) => cell.fail("boom"),
            (Self::Source(source), Step::Value(value)) => source.emit(value),
            (Self::Source(source), Step::Complete | Step::Fail) => source.complete(),
        }
    }

    fn feed_all(&self, steps: &[Step], batched: bool) {
        let feed = || steps.iter().for_each(|&step| self.feed(step));
        if batched { batch(feed) } else { feed() }
    }

    fn dependents(&self) -> usize {
        match self {
            Self::Cell(cell) => cell.dependents(),
            Self::Source(source) => source.subscriber_count(),
        }
    }
}

type Chain = Cell<Option<i64>, CellImmutable>;

impl Run {
    fn chain(&self, input: &Input, ops: &[Op]) -> Chain {
        let (first, rest) = ops.split_first().expect("at least one operator");
        let first = match (self.root, input) {
            (Root::Filtered, Input::Cell(cell)) => {
                use hyphae::Pipeline;
                build(cell.filter(|v| *v >= 0), *first)
            }
            (_, Input::Cell(cell)) => build(cell, *first),
            (_, Input::Source(source)) => build(source.clone(), *first),
        };
        rest.iter().fold(first, |cell, op| crate::build::append(&cell, *op))
    }

    /// What a subscriber of the chain hears, as text; checks on the way what must hold at the end.
    pub(crate) fn heard(&self, ops: &[Op]) -> String {
        let input = Input::of(self);
        input.feed_all(&self.before, false);
        let chain = self.chain(&input, ops);
        self.listen(&input, &chain)
    }

    /// The same for a pipeline that was made of this run's cell by hand.
    pub(crate) fn heard_by(&self, make: impl FnOnce(&Cell<i64>) -> Chain) -> String {
        let input = Input::of(self);
        input.feed_all(&self.before, false);
        let Input::Cell(cell) = &input else { panic!("the root is not a cell") };
        let chain = make(cell);
        self.listen(&input, &chain)
    }

    fn listen(&self, input: &Input, chain: &Chain) -> String {
        let log = Log::new();
        let guard = log.hear(chain);
        input.feed_all(&self.after, self.batched);
        let heard = log.take();
        check_end(input, chain, &heard);
        drop(guard);
        show(&heard)
    }

    /// What the references say of operators that are materialized one by one, each as an optional value.
    pub(crate) fn expected(&self, ops: &[Op]) -> String {
        let step = |stream, op: &Op| op.refer(stream).optional();
        show(&ops.iter().fold(Stream::of(self), step).deliveries())
    }

    /// What the references say of operators in one chain.
    pub(crate) fn expected_fused(&self, ops: &[Op]) -> String {
        show(&ops.iter().fold(Stream::of(self), |stream, op| op.refer(stream)).deliveries())
    }

    /// Compares both.
    #[track_caller]
    pub(crate) fn check(&self, ops: &[Op]) {
        assert_eq!(self.heard(ops), self.expected(ops), "{ops:?} over {self:?}");
    }
}

/// The cell reads as what was heard last, and one that ended has let go of its input (C5, C6).
fn check_end(input: &Input, chain: &Chain, heard: &[Heard<Option<i64>>]) {
    let last = heard.iter().rev().find_map(|one| match one {
        Heard::Value(value) => Some(*value),
        _ => None,
    });
    assert_eq!(Some(chain.get()), last);
    assert_eq!(chain.is_complete(), heard.last() == Some(&Heard::Complete));
    assert_eq!(chain.is_error(), matches!(heard.last(), Some(Heard::Error(_))));
    if chain.is_complete() || chain.is_error() {
        assert_eq!(input.dependents(), 0, "an ended cell holds its input");
    }
}

/// Reads an input from text.
pub(crate) fn steps(text: &str) -> Vec<Step> {
    text.split_whitespace()
        .map(|word| match word {
            "|" => Step::Complete,
            "!" => Step::Fail,
            number => Step::Value(number.parse().expect("a number")),
        })
        .collect()
}

/// Deliveries as text.
pub(crate) fn show(heard: &[Heard<Option<i64>>]) -> String {
    let words: Vec<String> = heard
        .iter()
        .map(|one| match one {
            Heard::Value(Some(value)) => value.to_string(),
            Heard::Value(None) => "-".to_owned(),
            Heard::Complete => "|".to_owned(),
            Heard::Error(text) => {
                assert_eq!(text, "boom");
                "!".to_owned()
            }
        })
        .collect();
    words.join(" ")
}
