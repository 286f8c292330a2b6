//! The operations of a case: plain data. An index picks from what is alive when the operation runs, modulo its number, so
//! that most operations take effect. Operations nest: in batches, in callbacks, in closures of derived cells.

/// How a source cell takes writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    Plain,
    /// A cut-off that compares parities.
    Parity,
    /// A cut-off that compares values.
    Equal,
    NoCoalesce,
}

/// A write to a cell or source (a source takes `Set` as an event, and `Complete`).
#[derive(Clone, Copy, Debug)]
pub enum Write {
    Set(i8),
    SetIfChanged(i8),
    Replace(i8),
    Update(i8),
    Modify(i8),
    Complete,
    Fail(u8),
}

/// A pipeline of a few stages. What has a closure calls the trap with each value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chain {
    Map,
    Halve,
    Filter,
    Scan,
    Deduped,
    DedupedTap,
    Pairwise,
    TakeTap(u8),
    TapTake(u8),
    Skip(u8),
    Last,
    TapMaps,
    FilterScan,
    HalveDeduped,
}

/// Combinators of two cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Two {
    Zip,
    Sample,
    /// The second is a source.
    SampleOn,
    // Of these both are cells that keep what was written when, without a cut-off.
    Merge,
    Concat,
    TakeUntil,
}

/// Combinators of any number of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Several {
    Zip,
    /// Of cells without a cut-off.
    Merge,
}

/// What a closure does beside its work: panics at a certain value, and runs an operation at its n-th run.
#[derive(Clone, Debug, Default)]
pub struct Trap {
    pub panic_on: Option<i8>,
    pub script: Script,
}

/// Operations that a callback runs at certain calls of it (the first is number 1).
pub type Script = Vec<(u8, Op)>;

#[derive(Clone, Debug)]
pub enum Op {
    NewCell {
        value: i8,
        kind: CellKind,
    },
    NewSource,
    Derive {
        of: u8,
        chain: Chain,
        trap: Trap,
    },
    Share {
        of: u8,
        chain: Chain,
        trap: Trap,
    },
    Consume {
        plan: u8,
        mapped: bool,
    },
    DropPlan(u8),
    Join(u8, u8),
    JoinVec(Vec<u8>),
    /// A closure over two or three cells.
    Combine {
        of: Vec<u8>,
        trap: Trap,
    },
    Two(Two, u8, u8),
    Several(Several, Vec<u8>),
    /// `with_latest_from` and a closure.
    Latest {
        of: u8,
        beside: u8,
        trap: Trap,
    },
    Subscribe {
        to: u8,
        script: Script,
    },
    SubscribeChanges {
        to: u8,
        script: Script,
    },
    CloneHandle(u8),
    DropHandle(u8),
    DropGuard(u8),
    /// In a callback: drops its own guard.
    DropOwn,
    Dispose(u8),
    Write(u8, Write),
    Batch(Vec<Op>),
    /// Reads one cell.
    Read(u8),
    /// Runs an operation while a cell's value is lent.
    With(u8, Box<Op>),
    /// Runs an operation in the closure of an `update` that adds something.
    UpdateWith(u8, i8, Box<Op>),
    Own {
        owner: u8,
        guard: u8,
    },
    /// Makes a scope with a clean-up and runs operations in it.
    NewScope {
        cleanup: Option<Box<Op>>,
        ops: Vec<Op>,
    },
    RunInScope(u8, Box<Op>),
    OwnByScope {
        scope: u8,
        guard: u8,
    },
    DropScope(u8),
    Panic,
}

impl Op {
    /// Its row in the table of effects.
    pub fn name(&self) -> &'static str {
        match self {
            Op::NewCell { kind, .. } => match kind {
                CellKind::Plain => "new cell",
                CellKind::Parity => "new cell, cut-off by parity",
                CellKind::Equal => "new cell, cut-off by equality",
                CellKind::NoCoalesce => "new cell, no_coalesce",
            },
            Op::NewSource => "new source",
            Op::Derive { chain, .. } => chain.name(),
            Op::Share { .. } => "share",
            Op::Consume { .. } => "consume a shared pipeline",
            Op::DropPlan(_) => "drop a shared pipeline",
            Op::Join(..) => "join",
            Op::JoinVec(_) => "join_vec",
            Op::Combine { .. } => "combine",
            Op::Two(two, ..) => two.name(),
            Op::Several(Several::Zip, _) => "zip_vec",
            Op::Several(Several::Merge, _) => "merge_vec",
            Op::Latest { .. } => "with_latest_from",
            Op::Subscribe { .. } => "subscribe",
            Op::SubscribeChanges { .. } => "subscribe_changes",
            Op::CloneHandle(_) => "clone a handle",
            Op::DropHandle(_) => "drop a handle",
            Op::DropGuard(_) => "drop a guard",
            Op::DropOwn => "drop the own guard",
            Op::Dispose(_) => "dispose",
            Op::Write(_, write) => write.name(),
            Op::Batch(_) => "batch",
            Op::Read(_) => "read",
            Op::With(..) => "with",
            Op::UpdateWith(..) => "update that does more",
            Op::NewScope { .. } => "new scope",
            Op::RunInScope(..) => "run in a scope",
            Op::OwnByScope { .. } => "own a guard by a scope",
            Op::DropScope(_) => "drop a scope",
            Op::Own { .. } => "own a guard",
            Op::Panic => "panic",
        }
    }
}

impl Chain {
    fn name(self) -> &'static str {
        match self {
            Chain::Map => "map",
            Chain::Halve => "map that merges values",
            Chain::Filter => "filter",
            Chain::Scan => "scan",
            Chain::Deduped => "deduped",
            Chain::DedupedTap => "deduped + tap",
            Chain::Pairwise => "pairwise + map",
            Chain::TakeTap(_) => "take + tap",
            Chain::TapTake(_) => "tap + take",
            Chain::Skip(_) => "skip",
            Chain::Last => "tap + last",
            Chain::TapMaps => "tap + map + map",
            Chain::FilterScan => "filter + scan",
            Chain::HalveDeduped => "map + deduped",
        }
    }
}

impl Two {
    fn name(self) -> &'static str {
        match self {
            Two::Zip => "zip",
            Two::Sample => "sample",
            Two::SampleOn => "sample_on",
            Two::Merge => "merge",
            Two::Concat => "concat",
            Two::TakeUntil => "take_until",
        }
    }
}

impl Write {
    fn name(self) -> &'static str {
        match self {
            Write::Set(_) => "set or emit",
            Write::SetIfChanged(_) => "set_if_changed",
            Write::Replace(_) => "replace",
            Write::Update(_) => "update",
            Write::Modify(_) => "modify",
            Write::Complete => "complete",
            Write::Fail(_) => "fail",
        }
    }
}

/// The value of a cell, of whatever type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Val {
    Int(i64),
    Opt(Option<i64>),
    Pair(i64, i64),
    List(Vec<i64>),
    OptList(Option<Vec<i64>>),
}

impl Val {
    /// The number that pipelines on such a cell work with.
    pub fn number(&self) -> i64 {
        match self {
            Val::Int(v) => *v,
            Val::Opt(v) => v.unwrap_or(-1),
            Val::Pair(a, b) => (3 * a + b) % 100,
            Val::List(list) | Val::OptList(Some(list)) => list.iter().sum::<i64>() % 100,
            Val::OptList(None) => -1,
        }
    }
}

/// What the closures of chains compute, for the library and the model alike.
pub mod work {
    pub fn map(v: i64) -> i64 {
        (2 * v + 1) % 50
    }
    pub fn halve(v: i64) -> i64 {
        v / 3
    }
    pub fn keep(v: i64) -> bool {
        v % 3 != 0
    }
    pub fn add(sum: i64, v: i64) -> i64 {
        (sum + v) % 1000
    }
    pub fn pair(a: i64, b: i64) -> i64 {
        (7 * a + b) % 100
    }
    pub fn combine(values: &[i64]) -> i64 {
        values.iter().fold(1, |sum, v| (3 * sum + v) % 100)
    }
    /// What `update` and `modify` make of a value.
    pub fn bump(v: i64, n: i8) -> i64 {
        (v + i64::from(n)) % 100
    }
    pub fn same_parity(a: i64, b: i64) -> bool {
        (a - b) % 2 == 0
    }
}

/// What a subscriber hears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    Value(Val),
    Complete,
    Error(String),
    /// Not a signal: what the callback itself read.
    Read(Option<Val>),
}
