//! The operations of a case: plain data. An index picks from what is there when the operation runs, modulo its number, so
//! that most operations take effect. Operations nest: in batches, in callbacks, in closures that make cells.

use std::fmt;

/// How a source cell takes writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    Plain,
    /// A cut-off that compares values.
    Equal,
    NoCoalesce,
}

/// What a closure does beside its work.
#[derive(Clone, Default)]
pub struct Trap {
    /// It panics with this result.
    pub panic_on: Option<i8>,
    /// How many clean-ups it registers, where it can.
    pub cleanups: u8,
    /// What the first of them does.
    pub cleanup: Option<Box<Op>>,
    /// What it does at certain runs (the first is number 1).
    pub script: Script,
}

impl fmt::Debug for Trap {
    /// Short, so that a case that failed can be read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self { panic_on: None, cleanups: 0, script, .. } if script.is_empty() => {
                f.write_str("no")
            }
            Self { panic_on, cleanups, cleanup, script } => {
                write!(f, "Trap({panic_on:?}, {cleanups}, {cleanup:?}, {script:?})")
            }
        }
    }
}

pub type Script = Vec<(u8, Op)>;

/// A part of a formula. The cells are those that are there when the formula is given.
#[derive(Clone, Debug)]
pub enum Term {
    /// `try_get`; an error is the result of the formula.
    Read(u8),
    /// Reads the second if the first is even, else the third.
    If(u8, u8, u8),
    /// Reads the second if the first is refused.
    Or(u8, u8),
    /// `get`: a refused read panics.
    Demand(u8),
    /// A read that is no dependency.
    Quiet(u8),
    /// Makes a cell that nobody else holds, and reads it.
    Fresh(Box<Make>),
}

pub type Formula = Vec<Term>;

/// The cell that a closure gives.
#[derive(Clone, Debug)]
pub enum Pick {
    /// One that is there, of any age.
    Existing(u8),
    /// That of the last run, if it lives.
    Again,
    /// A new one that nobody else holds.
    Fresh(Box<Make>),
    /// A new one whose handle is kept.
    Kept(Box<Make>),
    /// A new source cell.
    Source(i8),
}

/// What a switch or merge is made over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    Cell,
    /// A pipeline that has a value from the start.
    Mapped,
    /// One that may have none.
    Filtered,
}

/// Combinators of two cells without a closure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Two {
    Merge,
    Zip,
    Concat,
    TakeUntil,
    Sample,
}

/// How a cell is made.
#[derive(Clone, Debug)]
pub enum Make {
    Map(u8, Trap),
    Combine(u8, u8, Option<u8>, Trap),
    Latest(u8, u8, Trap),
    Two(Two, u8, u8),
    Computed {
        formula: Formula,
        /// It reads the formula from a cell.
        editable: bool,
        /// An equal value is no change.
        cutoff: bool,
        trap: Trap,
    },
    Switch {
        of: u8,
        over: Over,
        picks: Vec<Pick>,
        trap: Trap,
    },
    MergeMap {
        of: u8,
        over: Over,
        limit: Option<u8>,
        picks: Vec<Pick>,
        trap: Trap,
    },
    Is(u8, i8),
}

#[derive(Clone, Debug)]
pub enum Op {
    NewCell(i8, CellKind),
    Make(Make),
    Write(u8, i8),
    Complete(u8),
    Fail(u8),
    /// Gives an editable computed cell another formula.
    Edit(u8, Formula),
    NewSelector(u8),
    DropSelector(u8),
    Effect(Formula, Trap),
    Subscribe(u8, Script),
    CloneHandle(u8),
    DropHandle(u8),
    DropGuard(u8),
    /// In a callback or effect: drops its own guard.
    DropOwn,
    Dispose(u8),
    Batch(Vec<Op>),
    Read(u8),
    /// Runs an operation while a cell's value is lent.
    With(u8, Box<Op>),
    Panic,
}

impl Op {
    /// Its row in the table of effects.
    pub fn name(&self) -> &'static str {
        match self {
            Op::NewCell(_, CellKind::Plain) => "new cell",
            Op::NewCell(_, CellKind::Equal) => "new cell, cut-off by equality",
            Op::NewCell(_, CellKind::NoCoalesce) => "new cell, no_coalesce",
            Op::Make(make) => make.name(),
            Op::Write(..) => "set",
            Op::Complete(_) => "complete",
            Op::Fail(_) => "fail",
            Op::Edit(..) => "edit a formula",
            Op::NewSelector(_) => "selector",
            Op::DropSelector(_) => "drop a selector",
            Op::Effect(..) => "effect",
            Op::Subscribe(..) => "subscribe",
            Op::CloneHandle(_) => "clone a handle",
            Op::DropHandle(_) => "drop a handle",
            Op::DropGuard(_) => "drop a guard",
            Op::DropOwn => "drop the own guard",
            Op::Dispose(_) => "dispose",
            Op::Batch(_) => "batch",
            Op::Read(_) => "read",
            Op::With(..) => "with",
            Op::Panic => "panic",
        }
    }
}

impl Make {
    pub fn name(&self) -> &'static str {
        match self {
            Make::Map(..) => "map",
            Make::Combine(..) => "combine",
            Make::Latest(..) => "with_latest_from",
            Make::Two(two, ..) => two.name(),
            Make::Computed { editable: true, .. } => "computed, editable",
            Make::Computed { .. } => "computed",
            Make::Switch { over: Over::Cell, .. } => "switch_map",
            Make::Switch { .. } => "switch_map over a pipeline",
            Make::MergeMap { limit: Some(_), .. } => "merge_map_limit",
            Make::MergeMap { .. } => "merge_map",
            Make::Is(..) => "is selected",
        }
    }
}

impl Two {
    fn name(self) -> &'static str {
        match self {
            Two::Merge => "merge",
            Two::Zip => "zip",
            Two::Concat => "concat",
            Two::TakeUntil => "take_until",
            Two::Sample => "sample",
        }
    }
}

/// What closures compute. All values are digits.
pub mod work {
    /// The value of a cell that reads itself.
    pub const CYCLE: i64 = 9;
    /// What a formula reads of a cell that is no more.
    pub const GONE: i64 = 8;

    pub fn map(v: i64) -> i64 {
        (2 * v + 1) % 10
    }
    pub fn combine(values: &[i64]) -> i64 {
        values.iter().fold(3, |sum, v| (3 * sum + v) % 10)
    }
    pub fn keep(v: i64) -> bool {
        v % 3 != 0
    }
}
