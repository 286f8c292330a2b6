//! What the world notes of the cells, closures and subscribers of a case.

use std::collections::BTreeSet;

use hyphae::{CellId, WeakCell};

use super::op::{Over, Two};

/// The number of a cell, in order of creation.
pub type Num = usize;

/// How a cell has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Complete,
    Error,
}

#[derive(Debug)]
pub enum Kind {
    Source {
        /// What the writes so far make of it.
        value: i64,
        end: Option<End>,
        writer: WeakCell<i64>,
    },
    Map(Num),
    Combine(Vec<Num>),
    Latest(Num, Num),
    Two(Two, Num, Num),
    Computed {
        /// The cell of its formula.
        formula: Option<Num>,
        cutoff: bool,
    },
    Switch(Num, Over),
    MergeMap {
        of: Num,
        over: Over,
        limited: bool,
    },
    Is {
        selector: usize,
        key: i64,
    },
}

#[derive(Debug)]
pub struct Node {
    pub id: CellId,
    pub kind: Kind,
    /// Its closure.
    pub log: Option<usize>,
    /// The closure that made it.
    pub maker: Option<usize>,
    /// What it had when it was seen to have ended.
    pub ended: Option<(i64, End)>,
    pub disposed: bool,
}

/// What a run of a closure has seen of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    Value(Num, i64),
    /// Reading it would have closed a cycle.
    Refused(Num),
    /// It was dead, or disposed of.
    Gone(Num),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Gave(i64),
    Panicked,
}

/// A run that was not abandoned.
#[derive(Clone, Debug)]
pub struct Run {
    pub number: u32,
    /// The round and the settle in it.
    pub turn: (u64, u64),
    pub seen: Vec<Seen>,
    pub outcome: Outcome,
    /// The cell that it gave.
    pub gave: Option<Num>,
}

#[derive(Debug)]
pub struct Cleanup {
    pub run: u32,
    pub done: bool,
}

/// Whose closure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// It was not made in the end, or is not made yet.
    Nobody,
    Cell(Num),
    /// An effect, with the number of its guard.
    Effect(usize),
}

/// The log of one closure.
#[derive(Debug)]
pub struct Log {
    pub owner: Owner,
    /// How many runs have begun.
    pub started: u32,
    pub running: bool,
    pub last: Option<Run>,
    /// The rounds of this operation in which it gave something.
    pub rounds: BTreeSet<u64>,
    /// The result of the last run that did not panic.
    pub good: Option<i64>,
    /// The cell that the last run gave, as long as it is followed.
    pub inner: Option<Num>,
    /// Whether it was refused when it was looked at last.
    pub unlinked: bool,
    /// All cells that were given, each with the number of the run.
    pub given: Vec<(u32, Num)>,
    /// Cells that earlier runs had read when the last ones panicked.
    pub kept: Vec<Num>,
    /// Cells that they were refused, and may have read before.
    pub stale: Vec<Num>,
    pub cleanups: Vec<Cleanup>,
}

impl Log {
    pub fn new() -> Self {
        Self {
            owner: Owner::Nobody,
            started: 0,
            running: false,
            last: None,
            rounds: BTreeSet::new(),
            good: None,
            inner: None,
            unlinked: false,
            given: Vec::new(),
            kept: Vec::new(),
            stale: Vec::new(),
            cleanups: Vec::new(),
        }
    }

    /// The cells that the last run has read.
    pub fn reads(&self) -> Vec<Num> {
        let seen = self.last.iter().flat_map(|run| &run.seen);
        let mut reads: Vec<Num> = seen
            .filter_map(|seen| match seen {
                Seen::Value(of, _) => Some(*of),
                _ => None,
            })
            .collect();
        reads.sort_unstable();
        reads.dedup();
        reads
    }

    /// The cells that the last run was refused.
    pub fn refusals(&self) -> Vec<Num> {
        let seen = self.last.iter().flat_map(|run| &run.seen);
        let refused = seen.filter_map(|seen| match seen {
            Seen::Refused(of) => Some(*of),
            _ => None,
        });
        refused.collect()
    }
}

pub struct Sub {
    pub on: Num,
    /// Its subscription is done.
    pub linked: bool,
    pub gone: bool,
    pub heard: Option<i64>,
    pub end: Option<End>,
    /// The round of its last value.
    pub round: Option<u64>,
    /// The rounds of this operation in which it heard a value; none in that in which it subscribed.
    pub rounds: Option<BTreeSet<u64>>,
}

/// What happened, in order: the same in every run of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Started(usize, u32),
    Done(usize, Outcome),
    Abandoned(usize),
    Cleaned(usize, u32),
    Heard(usize, i64),
    Ended(usize, End),
    Read(Num, Option<i64>),
}
