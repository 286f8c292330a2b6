//! What the contract makes of a script before any combinator sees it: when each input changes and ends.
//!
//! A wave is its steps: first a settle for each read in the batch, then its rounds (P4, P12). Of a plain source a step has
//! the last value written since the step before; events wait for the rounds, one of a source for each.

use crate::script::{Act, Kind, Run, Step, Wire, start_of};

/// A step of a wave; wave 0 is the construction.
pub(crate) type At = (usize, usize);

/// The place of a write in the order of arrival; what is derived changes after all that was written before it settles.
pub(crate) type Place = (At, usize);

const DERIVED: usize = usize::MAX;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum End {
    Complete,
    /// The number of the source that failed.
    Error(usize),
}

/// All that an input brings, the value at construction first.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    pub(crate) values: Vec<(Place, i64)>,
    pub(crate) end: Option<(Place, End)>,
}

impl Lane {
    /// What it holds after a step.
    pub(crate) fn value_at(&self, at: At) -> i64 {
        let past = self.values.iter().rev().find(|(place, _)| place.0 <= at);
        past.expect("an input has a value at construction").1
    }

    pub(crate) fn end_at(&self) -> Option<At> {
        self.end.map(|end| end.0.0)
    }

    pub(crate) fn failed_at(&self) -> Option<At> {
        self.end.filter(|end| end.1 != End::Complete).map(|end| end.0.0)
    }

    fn seen_through(&self, wire: Wire, kind: Kind) -> Self {
        let derived = wire.plus.is_some() || kind == Kind::Fed;
        let place =
            |place: Place| if derived && place.0.0 > 0 { (place.0, DERIVED) } else { place };
        let plus = wire.plus.unwrap_or(0);
        Self {
            values: self.values.iter().map(|&(at, value)| (place(at), value + plus)).collect(),
            end: self.end.map(|(at, end)| (place(at), end)),
        }
    }
}

/// The inputs of a run, and how many reads each wave has.
#[derive(Debug)]
pub(crate) struct History {
    pub(crate) lanes: Vec<Lane>,
    pub(crate) reads: Vec<usize>,
}

impl History {
    pub(crate) fn of(run: &Run) -> Self {
        let mut sources: Vec<Lane> =
            (0..run.kinds.len()).map(|source| source_before(run, source)).collect();
        let mut reads = vec![0];
        for (wave, acts) in run.after.iter().enumerate() {
            reads.push(acts.iter().filter(|act| **act == Act::Read).count());
            let rounds = rounds(run, acts);
            for (source, lane) in sources.iter_mut().enumerate() {
                let steps = steps_of(run.kinds[source], source, acts, &rounds);
                take_in(lane, run.kinds[source], source, wave + 1, &steps);
            }
        }
        let wire = |wire: &Wire| sources[wire.source].seen_through(*wire, run.kinds[wire.source]);
        Self { lanes: run.wires.iter().map(wire).collect(), reads }
    }
}

/// The source's value and end before the combinator is made.
fn source_before(run: &Run, source: usize) -> Lane {
    let mut lane = Lane { values: vec![(((0, 0), 0), start_of(source))], end: None };
    for (_, step) in run.before.iter().filter(|write| write.0 == source) {
        match (lane.end, end_of(run.kinds[source], source, *step)) {
            (Some(_), _) => (),
            (None, None) => lane.values[0].1 = value_of(*step),
            (None, end) => lane.end = end.map(|end| (((0, 0), 0), end)),
        }
    }
    lane
}

fn value_of(step: Step) -> i64 {
    let Step::Value(value) = step else { unreachable!("an end has no value") };
    value
}

fn end_of(kind: Kind, source: usize, step: Step) -> Option<End> {
    match step {
        Step::Value(_) => None,
        Step::Fail if kind != Kind::Fed => Some(End::Error(source)),
        Step::Complete | Step::Fail => Some(End::Complete),
    }
}

fn keeps_events(kind: Kind) -> bool {
    matches!(kind, Kind::Kept | Kind::Fed)
}

/// The round of each write of an event, by the place of the write in the batch.
fn rounds(run: &Run, acts: &[Act]) -> Vec<usize> {
    let mut last = 0;
    let mut of_source = vec![None; run.kinds.len()];
    let round = |act: &Act| match act {
        Act::Write(source, _) if keeps_events(run.kinds[*source]) => {
            if of_source[*source] == Some(last) {
                last += 1;
            }
            of_source[*source] = Some(last);
            last
        }
        _ => 0,
    };
    acts.iter().map(round).collect()
}

/// The writes of one source: step, place in the batch, what.
fn steps_of(
    kind: Kind,
    source: usize,
    acts: &[Act],
    rounds: &[usize],
) -> Vec<(usize, usize, Step)> {
    let reads = acts.iter().filter(|act| **act == Act::Read).count();
    let mut past = 0;
    let mut steps = Vec::new();
    for (number, act) in acts.iter().enumerate() {
        match act {
            Act::Read => past += 1,
            Act::Write(to, step) if *to == source => {
                let at = if keeps_events(kind) { reads + rounds[number] } else { past };
                steps.push((at, number, *step));
            }
            Act::Write(..) => (),
        }
    }
    steps
}

/// Adds what one wave brings: the last value of each step, and nothing after the end.
fn take_in(
    lane: &mut Lane,
    kind: Kind,
    source: usize,
    wave: usize,
    steps: &[(usize, usize, Step)],
) {
    for chunk in steps.chunk_by(|a, b| a.0 == b.0) {
        let mut last = None;
        for &(step, number, write) in chunk {
            if lane.end.is_some() {
                break;
            }
            let place = ((wave, step), number);
            match end_of(kind, source, write) {
                None => last = Some((place, value_of(write))),
                Some(end) => lane.end = Some((place, end)),
            }
        }
        let held = lane.values.last().map(|held| held.1);
        let changes = |value: i64| kind != Kind::CutOff || held != Some(value);
        lane.values.extend(last.filter(|last| changes(last.1)));
    }
}
