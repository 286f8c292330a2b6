//! Scripts: which combinator reads what, what is written before it is made and after, and all that as text.

/// A combinator. Those of one cell and a pipeline are made on the first input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Op {
    Zip,
    ZipVec,
    Merge,
    MergeVec,
    Concat,
    TakeUntil,
    Join,
    JoinVec,
    /// By a closure over 2 to 8 cells that lists their values.
    Combine,
    /// By a closure over a list of cells.
    CombineVec,
    WithLatest,
    /// A consumer of the shared pipeline.
    SharedLatest,
    /// The first input's value when the second changes.
    Sample,
    /// The same, where the second is a `Source`.
    SampleOn,
    /// Whether the first input has this value.
    Selector(i64),
}

pub(crate) const OPS: [Op; 15] = [
    Op::Zip,
    Op::ZipVec,
    Op::Merge,
    Op::MergeVec,
    Op::Concat,
    Op::TakeUntil,
    Op::Join,
    Op::JoinVec,
    Op::Combine,
    Op::CombineVec,
    Op::WithLatest,
    Op::SharedLatest,
    Op::Sample,
    Op::SampleOn,
    Op::Selector(1),
];

impl Op {
    /// The least and the highest number of inputs.
    pub(crate) fn inputs(self) -> (usize, usize) {
        match self {
            Op::ZipVec | Op::MergeVec | Op::JoinVec | Op::CombineVec => (0, 6),
            Op::Combine => (2, 8),
            Op::Selector(_) => (1, 1),
            _ => (2, 2),
        }
    }

    /// Whether it matters which of several inputs of a batch was written first.
    pub(crate) fn knows_order(self) -> bool {
        matches!(self, Op::Merge | Op::MergeVec | Op::Concat | Op::TakeUntil)
    }
}

/// What is written: the sources of a run are of these kinds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// A cell: a batch keeps the last value.
    Plain,
    /// A cell that keeps each write of a batch.
    Kept,
    /// A cell to which an equal value is no change.
    CutOff,
    /// A `Source` behind a cell that holds its last event; it can't fail.
    Fed,
}

pub(crate) const KINDS: [Kind; 4] = [Kind::Plain, Kind::Kept, Kind::CutOff, Kind::Fed];

/// An input of the combinator: a source itself, or a map of it that adds a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wire {
    pub(crate) source: usize,
    pub(crate) plus: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Step {
    Value(i64),
    Complete,
    Fail,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Act {
    /// Writes source number so-and-so.
    Write(usize, Step),
    /// Reads the combined cell.
    Read,
}

/// One run. Each source starts with its own number times ten.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) op: Op,
    pub(crate) kinds: Vec<Kind>,
    pub(crate) wires: Vec<Wire>,
    /// What is written, one by one, before the combinator is made.
    pub(crate) before: Vec<(usize, Step)>,
    /// Waves: batches, each of one act or more.
    pub(crate) after: Vec<Vec<Act>>,
}

impl Run {
    /// A run whose inputs are the sources themselves, all of one kind.
    pub(crate) fn direct(op: Op, kind: Kind, inputs: usize, before: &str, after: &str) -> Self {
        let wires = (0..inputs).map(|source| Wire { source, plus: None }).collect();
        let mut kinds = vec![kind; inputs];
        if op == Op::SampleOn {
            kinds[1] = Kind::Fed;
        }
        Self { op, kinds, wires, before: writes(before), after: waves(after) }
    }
}

pub(crate) fn start_of(source: usize) -> i64 {
    10 * i64::try_from(source).expect("a few sources")
}

fn writes(text: &str) -> Vec<(usize, Step)> {
    let one = |wave: Vec<Act>| match wave[..] {
        [Act::Write(source, step)] => (source, step),
        _ => panic!("before it is made there is nothing to read, and no batch"),
    };
    waves(text).into_iter().map(one).collect()
}

fn waves(text: &str) -> Vec<Vec<Act>> {
    let mut waves = Vec::new();
    let mut open: Option<Vec<Act>> = None;
    for word in text.split_whitespace() {
        let inner = word.trim_start_matches('[').trim_end_matches(']');
        if word.starts_with('[') {
            open = Some(Vec::new());
        }
        match &mut open {
            Some(batch) => batch.push(act(inner)),
            None => waves.push(vec![act(inner)]),
        }
        if word.ends_with(']') {
            waves.extend(open.take());
        }
    }
    assert!(open.is_none(), "a batch is not closed in {text}");
    waves
}

fn act(word: &str) -> Act {
    if word == "?" {
        return Act::Read;
    }
    let (source, step) = word.split_at(1);
    let source = source.parse().expect("the number of a source");
    let step = match step {
        "|" => Step::Complete,
        "!" => Step::Fail,
        value => Step::Value(value[1..].parse().expect("a number")),
    };
    Act::Write(source, step)
}

/// A value as a list; `None` is none.
pub(crate) type Shown = Option<Vec<i64>>;

pub(crate) fn show(value: &Shown) -> String {
    match value {
        Some(list) if list.is_empty() => "()".to_owned(),
        Some(list) => list.iter().map(i64::to_string).collect::<Vec<_>>().join(","),
        None => "-".to_owned(),
    }
}
