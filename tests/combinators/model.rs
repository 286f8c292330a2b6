//! The references: each combinator as a plain function on the finished histories of its inputs.

use crate::history::{At, End, History, Lane, Place};
use crate::script::{Op, Run, Shown, show};

/// All that a combinator brings, the value at construction first.
#[derive(Debug)]
pub(crate) struct Output {
    values: Vec<(At, Shown)>,
    end: Option<(At, End)>,
    reads: Vec<usize>,
}

impl Output {
    pub(crate) fn of(run: &Run) -> Self {
        let History { lanes, reads } = History::of(run);
        let (mut values, end) = refer(run.op, &lanes, &reads);
        if let Some((at, _)) = end {
            values.retain(|value| value.0 <= at);
        }
        Self { values, end, reads }
    }

    /// What is read and heard. A subscriber hears of the settles for reads and of the first round together the last
    /// value, then that of each round.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        for (wave, reads) in self.reads.iter().enumerate() {
            words.extend((0..*reads).map(|read| format!("?{}", show(self.value_at((wave, read))))));
            let round = |at: At| at.1.saturating_sub(*reads);
            let here: Vec<_> = self.values.iter().filter(|value| value.0.0 == wave).collect();
            for values in here.chunk_by(|a, b| round(a.0) == round(b.0)) {
                words.extend(values.last().map(|value| show(&value.1)));
            }
            let end = self.end.filter(|end| end.0.0 == wave);
            words.extend(end.map(|end| match end.1 {
                End::Complete => "|".to_owned(),
                End::Error(source) => format!("!{source}"),
            }));
        }
        words
    }

    fn value_at(&self, at: At) -> &Shown {
        let past = self.values.iter().rev().find(|value| value.0 <= at);
        &past.expect("there is a value at construction").1
    }
}

type Referred = (Vec<(At, Shown)>, Option<(At, End)>);

const CONSTRUCTION: At = (0, 0);

fn refer(op: Op, lanes: &[Lane], reads: &[usize]) -> Referred {
    match op {
        Op::Zip | Op::ZipVec => zip(lanes),
        Op::Merge | Op::MergeVec => merge(lanes, reads),
        Op::Concat => concat(&lanes[0], &lanes[1], reads),
        Op::TakeUntil => take_until(&lanes[0], &lanes[1]),
        Op::Join | Op::JoinVec | Op::Combine | Op::CombineVec => join(lanes),
        Op::WithLatest | Op::SharedLatest => {
            let both = |at| vec![lanes[0].value_at(at), lanes[1].value_at(at)];
            at_changes(&lanes[0], both)
        }
        Op::Sample | Op::SampleOn => at_changes(&lanes[1], |at| vec![lanes[0].value_at(at)]),
        Op::Selector(key) => selector(&lanes[0], key),
    }
}

/// The first error among those up to a step, in the order of the arguments, else the good end.
fn end_by(lanes: &[Lane], at: At) -> (At, End) {
    let ends = lanes.iter().filter_map(|lane| lane.end).filter(|end| end.0.0 <= at);
    let error = ends.map(|end| end.1).find(|end| *end != End::Complete);
    (at, error.unwrap_or(End::Complete))
}

/// An error of any input ends it, else the last good end.
fn end_of_all(lanes: &[Lane]) -> Option<(At, End)> {
    let failed = lanes.iter().filter_map(Lane::failed_at).min();
    let all: Option<Vec<At>> = lanes.iter().map(Lane::end_at).collect();
    let last = all.map(|ends| ends.into_iter().max().unwrap_or(CONSTRUCTION));
    failed.or(last).map(|at| end_by(lanes, at))
}

fn zip(lanes: &[Lane]) -> Referred {
    if lanes.is_empty() {
        return nothing();
    }
    let rows = lanes.iter().map(|lane| lane.values.len()).min().unwrap_or(0);
    let values: Vec<(At, Shown)> = (0..rows)
        .map(|row| {
            let places = lanes.iter().map(|lane| lane.values[row].0.0);
            let list = lanes.iter().map(|lane| lane.values[row].1).collect();
            (places.max().unwrap_or(CONSTRUCTION), Some(list))
        })
        .collect();
    let drained = |lane: &Lane| {
        let used_up = values.get(lane.values.len() - 1)?.0;
        Some(lane.end_at()?.max(used_up))
    };
    let ends = lanes.iter().filter_map(|lane| lane.failed_at().or(drained(lane)));
    let end = ends.min().map(|at| end_by(lanes, at));
    (values, end)
}

/// What a list operator without inputs is.
fn nothing() -> Referred {
    (vec![(CONSTRUCTION, None)], Some((CONSTRUCTION, End::Complete)))
}

fn join(lanes: &[Lane]) -> Referred {
    let mut places: Vec<At> =
        lanes.iter().flat_map(|lane| &lane.values).map(|value| value.0.0).collect();
    places.push(CONSTRUCTION);
    places.sort_unstable();
    places.dedup();
    let all = |at: At| (at, Some(lanes.iter().map(|lane| lane.value_at(at)).collect()));
    (places.into_iter().map(all).collect(), end_of_all(lanes))
}

/// Gives each of these values, which are sorted, a step: one a round, a settle for a read takes the last.
fn one_a_round(sorted: &[(Place, i64)], reads: &[usize]) -> Vec<(At, Shown)> {
    let mut given: Vec<(At, Shown)> = Vec::new();
    for ((at, _), value) in sorted {
        let in_read = at.1 < reads[at.0];
        let taken = given.last().map(|last| last.0).filter(|last| *last >= *at);
        let shown = Some(vec![*value]);
        match taken {
            Some(_) if in_read => *given.last_mut().expect("there is one") = (*at, shown),
            Some(last) => given.push(((last.0, last.1 + 1), shown)),
            None => given.push((*at, shown)),
        }
    }
    given
}

fn merge(lanes: &[Lane], reads: &[usize]) -> Referred {
    let Some(last) = lanes.last() else { return nothing() };
    let mut later: Vec<(Place, i64)> =
        lanes.iter().flat_map(|lane| lane.values[1..].iter().copied()).collect();
    later.sort_by_key(|value| value.0); // stable: else in the order of the arguments
    let mut values = vec![(CONSTRUCTION, Some(vec![last.values[0].1]))];
    values.extend(one_a_round(&later, reads));
    let end = end_of_all(lanes).map(|(at, end)| match end {
        End::Complete => (at.max(values[values.len() - 1].0), end),
        End::Error(_) => (at, end),
    });
    (values, end)
}

fn concat(first: &Lane, second: &Lane, reads: &[usize]) -> Referred {
    let mut later: Vec<(Place, i64)> = first.values[1..].to_vec();
    if let Some((end, _)) = first.end {
        later.extend(second.values[1..].iter().filter(|value| value.0 > end));
    }
    let mut values = vec![(CONSTRUCTION, Some(vec![first.values[0].1]))];
    values.extend(one_a_round(&later, reads));
    let last = values[values.len() - 1].0;
    let end = match (first.end, second.end) {
        (Some(((at, _), end @ End::Error(_))), _) => Some((at, end)),
        (Some(((at, _), _)), Some(((other, _), end))) => Some((at.max(other).max(last), end)),
        _ => None,
    };
    (values, end)
}

/// The value and the end of the input count where they came before the stop, or with it.
fn take_until(input: &Lane, stop: &Lane) -> Referred {
    let stop = stop.values.get(1).map(|value| value.0);
    let in_time = |place: Place| stop.is_none_or(|stop| place <= stop);
    let values = input.values.iter().filter(|value| in_time(value.0));
    let values = values.map(|(place, value)| (place.0, Some(vec![*value]))).collect();
    let ended = input.end.filter(|end| in_time(end.0));
    let end = ended.or(stop.map(|stop| (stop, End::Complete)));
    (values, end.map(|(place, end)| (place.0, end)))
}

/// Something at each change of a lane, and its end.
fn at_changes(lane: &Lane, value: impl Fn(At) -> Vec<i64>) -> Referred {
    let values = lane.values.iter().map(|(place, _)| (place.0, Some(value(place.0)))).collect();
    (values, lane.end.map(|(place, end)| (place.0, end)))
}

fn selector(lane: &Lane, key: i64) -> Referred {
    let answers = lane.values.iter().map(|(place, value)| (place.0, *value == key));
    let mut values: Vec<(At, bool)> = answers.collect();
    values.dedup_by_key(|answer| answer.1);
    let values = values.into_iter().map(|(at, is)| (at, Some(vec![i64::from(is)]))).collect();
    (values, lane.end.map(|(place, end)| (place.0, end)))
}
