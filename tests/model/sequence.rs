//! The model's cells that give the values of several cells in step (`zip`) or one after the other (`merge`, `concat`,
//! `take_until`).

use std::collections::VecDeque;

use super::kernel::{end_of, end_of_all, given, number};
use super::model::Naive;
use super::op::{Heard, Val};
use super::stages::Given;

/// Values that wait until their cell may give one: one a round (P12).
#[derive(Default)]
pub struct Backlog {
    waiting: VecDeque<i64>,
    /// The round in which the last one went.
    gone: Option<u64>,
}

impl Backlog {
    /// The next value. A turn for a read in a batch takes the last (P4).
    fn next(&mut self, model: &Naive) -> Option<i64> {
        if self.waiting.is_empty() {
            return None;
        }
        if model.0.batch.get() > 0 {
            return self.waiting.drain(..).next_back();
        }
        let round = Some(model.0.rounds.get());
        let next = if self.gone == round { None } else { self.waiting.pop_front() };
        self.gone = round;
        next
    }
}

pub enum Sequence {
    /// With the values that wait for their partners; of `zip_vec` or not.
    Zip(Vec<(usize, VecDeque<i64>)>, bool),
    /// Of `merge_vec` or not.
    Merge(Vec<usize>, Backlog, bool),
    /// With whether an earlier turn has seen the end of the first.
    Concat {
        of: [usize; 2],
        over: bool,
        backlog: Backlog,
    },
    TakeUntil {
        of: usize,
        stop: usize,
        stopped: bool,
    },
}

impl Sequence {
    pub fn zip(of: &[usize], list: bool) -> Self {
        Self::Zip(of.iter().map(|&of| (of, VecDeque::new())).collect(), list)
    }

    pub fn inputs(&self) -> Vec<usize> {
        match self {
            Self::Zip(lanes, _) => lanes.iter().map(|lane| lane.0).collect(),
            Self::Merge(of, ..) => of.clone(),
            Self::Concat { of, .. } => of.to_vec(),
            Self::TakeUntil { of, stop, .. } => vec![*of, *stop],
        }
    }

    pub fn turn(&mut self, model: &Naive, fresh: &[usize], seed: bool) -> Given<Val> {
        match self {
            Self::Zip(lanes, list) => zip(model, lanes, *list, fresh),
            Self::Merge(of, backlog, list) => {
                let typed = |value| if *list { Val::Opt(Some(value)) } else { Val::Int(value) };
                let Some(last) = of.last() else {
                    return given(Some(Val::Opt(None)), Some(Heard::Complete));
                };
                if seed {
                    return given(Some(typed(number(model, *last))), end_of_all(model, of));
                }
                merge(model, of, backlog, fresh, typed)
            }
            Self::Concat { of, over, backlog } => {
                let seen = std::mem::replace(over, end_of(model, of[0]).is_some());
                if seed {
                    let value = Some(Val::Int(number(model, of[0])));
                    return given(value, end_of_concat(model, of));
                }
                concat(model, *of, seen, backlog, fresh)
            }
            Self::TakeUntil { of, stop, stopped } => {
                *stopped |= !seed && fresh.contains(stop);
                take_until(model, *of, *stop, *stopped, fresh)
            }
        }
    }
}

fn zip(
    model: &Naive,
    lanes: &mut [(usize, VecDeque<i64>)],
    list: bool,
    fresh: &[usize],
) -> Given<Val> {
    if lanes.is_empty() {
        return given(Some(Val::OptList(None)), Some(Heard::Complete));
    }
    for (of, waiting) in lanes.iter_mut().filter(|lane| fresh.contains(&lane.0)) {
        waiting.push_back(number(model, *of));
    }
    let complete = lanes.iter().all(|lane| !lane.1.is_empty());
    let row: Vec<i64> = match complete {
        true => lanes.iter_mut().filter_map(|lane| lane.1.pop_front()).collect(),
        false => Vec::new(),
    };
    let value =
        complete.then(|| if list { Val::OptList(Some(row)) } else { Val::Pair(row[0], row[1]) });
    let ends: Vec<Option<Heard>> = lanes.iter().map(|lane| end_of(model, lane.0)).collect();
    let failed = ends.iter().flatten().find(|end| **end != Heard::Complete);
    let drained = lanes.iter().zip(&ends).any(|(lane, end)| lane.1.is_empty() && end.is_some());
    given(value, failed.cloned().or(drained.then_some(Heard::Complete)))
}

fn arrival(model: &Naive, of: usize) -> u64 {
    model.s().cells[of].arrival
}

/// What waits comes before the good end; an error overtakes.
fn emit(
    model: &Naive,
    backlog: &mut Backlog,
    end: Option<Heard>,
    typed: impl Fn(i64) -> Val,
) -> Given<Val> {
    let value = backlog.next(model).map(typed);
    let more = !backlog.waiting.is_empty();
    let end = end.filter(|end| !more || *end != Heard::Complete);
    Given { value, end, more }
}

fn merge(
    model: &Naive,
    of: &[usize],
    backlog: &mut Backlog,
    fresh: &[usize],
    typed: impl Fn(i64) -> Val,
) -> Given<Val> {
    let changed = of.iter().filter(|of| fresh.contains(of));
    let mut changed: Vec<(u64, usize)> = changed.map(|&of| (arrival(model, of), of)).collect();
    changed.sort_by_key(|changed| changed.0);
    backlog.waiting.extend(changed.into_iter().map(|(_, of)| number(model, of)));
    emit(model, backlog, end_of_all(model, of), typed)
}

/// It fails as the first does, else ends when both have ended.
fn end_of_concat(model: &Naive, of: &[usize]) -> Option<Heard> {
    let (first, second) = (end_of(model, of[0])?, end_of(model, of[1]));
    if first == Heard::Complete { second } else { Some(first) }
}

fn concat(
    model: &Naive,
    of: [usize; 2],
    seen: bool,
    backlog: &mut Backlog,
    fresh: &[usize],
) -> Given<Val> {
    let [first, second] = of;
    if fresh.contains(&first) {
        backlog.waiting.push_back(number(model, first));
    }
    let ended = end_of(model, first).map(|_| model.s().cells[first].end_arrival);
    let after = |end| seen || arrival(model, second) > end;
    if fresh.contains(&second) && ended.is_some_and(after) {
        backlog.waiting.push_back(number(model, second));
    }
    emit(model, backlog, end_of_concat(model, &of), Val::Int)
}

/// Of a batch it takes what was written before the stop.
fn take_until(model: &Naive, of: usize, stop: usize, stopped: bool, fresh: &[usize]) -> Given<Val> {
    let last = arrival(model, stop);
    let in_time = |arrival: u64| !stopped || arrival <= last;
    let takes = fresh.contains(&of) && in_time(arrival(model, of));
    let value = takes.then(|| Val::Int(number(model, of)));
    let end = end_of(model, of).filter(|_| in_time(model.s().cells[of].end_arrival));
    given(value, end.or(stopped.then_some(Heard::Complete)))
}
