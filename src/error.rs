//! The errors of the crate: one enum for what a caller did wrong, one handle for what a cell failed with.
//!
//! A message names the cells it is about (name, id, place of creation) and says what to do.

use std::fmt;
use std::panic::Location;
use std::rc::Rc;

use uuid::Uuid;

use crate::graph::CellKey;
use crate::id::debug_key;

/// The error a cell failed with: a shared, cheap handle (`fail` made it, subscribers see it).
#[derive(Clone)]
pub struct CellError(Rc<dyn std::error::Error>);

impl CellError {
    /// Wraps an error or a message.
    ///
    /// ```
    /// let e = hyphae::CellError::new("no signal");
    /// assert_eq!(e.to_string(), "no signal");
    /// ```
    pub fn new(error: impl Into<Box<dyn std::error::Error>>) -> Self {
        Self(Rc::from(error.into()))
    }

    /// The error itself, for `downcast_ref`.
    pub fn get(&self) -> &(dyn std::error::Error + 'static) {
        &*self.0
    }
}

impl fmt::Display for CellError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for CellError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// Which cell an error speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellInfo {
    pub(crate) key: CellKey,
    /// The number of the store it lives in.
    pub(crate) store: u64,
    /// The name given by `with_name`, if any.
    pub name: Option<String>,
    /// Where the cell was made.
    pub place: &'static Location<'static>,
}

impl fmt::Display for CellInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "cell \"{name}\" (")?,
            None => f.write_str("unnamed cell (")?,
        }
        debug_key(self.key, f)?;
        write!(f, ", made at {})", self.place)
    }
}

/// One edge of a feedback that did not converge: a callback and the cell it wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feedback {
    /// The cell the callback is on.
    pub on: Option<CellInfo>,
    /// Where the callback was registered (for a derived cell: where the cell was made).
    pub callback: Option<&'static Location<'static>>,
    /// The cell that the callback wrote.
    pub wrote: Option<CellInfo>,
}

/// What was called from inside what may not call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reentry {
    /// A selector, by the `Hash` or `Eq` of a key that it was looking up.
    Lookup,
    /// A frame, in a callback, a closure or a batch.
    Frame,
    /// The timers, in a callback, a closure or a batch.
    Timers,
}

/// What can be wrong with a call. Nothing is lost when one is returned: the store stays usable.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The thread's store is gone (its thread is ending); the handle is inert.
    StoreClosed,
    /// The cell was disposed of.
    Disposed(CellInfo),
    /// The cell has completed or failed and takes no more writes.
    Ended(CellInfo),
    /// The cell is lent to a running `update`; it can't be read meanwhile (a write waits).
    Lent {
        /// The cell that is being updated.
        cell: CellInfo,
        /// Where the `update` was called.
        update: &'static Location<'static>,
        /// Where the refused read was made.
        read: &'static Location<'static>,
    },
    /// Another live cell has this UUID, or it lies in the range of computed ones.
    DuplicateUuid {
        /// The refused UUID.
        uuid: Uuid,
        /// The cell that was to get it.
        cell: CellInfo,
    },
    /// The computed UUID of the cell was handed out already; it can't change any more.
    UuidHandedOut {
        /// The UUID that the cell keeps.
        uuid: Uuid,
        /// The cell.
        cell: CellInfo,
    },
    /// Writes made in callbacks caused ever more writes; the rest of the queue was dropped.
    NoConvergence {
        /// The generation reached (each write in a callback is one more than the wave it runs in).
        generation: u32,
        /// How many writes were waiting.
        waiting: usize,
        /// The callbacks in the loop and what each wrote.
        feedback: Vec<Feedback>,
    },
    /// A cell would have become an input of itself; the edge was refused.
    Cycle {
        /// The cells of the cycle: each reads the next, and the last is the first again.
        path: Vec<CellInfo>,
    },
    /// `on_cleanup` was called where no scope is current.
    NoScope {
        /// Where it was called.
        place: &'static Location<'static>,
    },
    /// Something was called from inside what may not call it.
    Reentrant {
        /// What was called.
        call: Reentry,
        /// Where the selector was made that was looking up, or where the frame was to be run.
        place: &'static Location<'static>,
    },
    /// A manual clock was to be moved backwards.
    ClockBackwards {
        /// What it reads, and goes on reading.
        now_ns: u64,
        /// What it was to read.
        to_ns: u64,
    },
    /// A frame loop was to have no frames, or endlessly many.
    FrameRate {
        /// Where it was to be made.
        place: &'static Location<'static>,
    },
    /// A shared pipeline is consumed by one of its own closures before it has its first value.
    SharedLoop {
        /// Where it was shared.
        place: &'static Location<'static>,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::StoreClosed => f.write_str(
                "the cell store of this thread is closed (the thread is ending); drop handles before the thread's end",
            ),
            Error::Disposed(cell) => {
                write!(f, "{cell} was disposed of; keep a WeakCell and upgrade it if the cell may be gone")
            }
            Error::Ended(cell) => {
                write!(f, "{cell} has completed or failed and takes no more writes; make a new cell")
            }
            Error::Lent { cell, update, read } => write!(
                f,
                "{cell} is lent to the update at {update} and can't be read at {read}; read it before the update"
            ),
            Error::DuplicateUuid { uuid, cell } => {
                write!(f, "{uuid} is taken, so {cell} can't get it; give each cell a UUID of its own")
            }
            Error::UuidHandedOut { uuid, cell } => {
                write!(f, "{cell} has handed out {uuid} already; call with_uuid before anything asks for the UUID")
            }
            Error::NoConvergence { generation, waiting, feedback } => {
                write!(f, "writes in callbacks do not converge (generation {generation}, {waiting} writes waiting)")?;
                feedback.iter().try_for_each(|one| write_feedback(f, one))?;
                f.write_str("; the waiting writes were dropped; break the loop or raise the limits")
            }
            Error::Cycle { path } => {
                f.write_str("a cycle of cells was refused: ")?;
                for (place, cell) in path.iter().enumerate() {
                    write!(f, "{}{cell}", if place == 0 { "" } else { " reads " })?;
                }
                f.write_str("; let one of them read something else, or read without tracking (`untracked`)")
            }
            Error::NoScope { place } => write!(
                f,
                "on_cleanup at {place} is not inside a scope; call it in the body of Scope::run, or in a closure that is run again"
            ),
            Error::Reentrant { call: Reentry::Lookup, place } => write!(
                f,
                "the Hash or Eq of a key has called the selector made at {place} that was looking it up; let it compare values only"
            ),
            Error::Reentrant { call: Reentry::Frame, place } => write!(
                f,
                "the frame at {place} was to run inside a callback or a batch; run it from the program's own loop, or only write there: that settles with the call under way"
            ),
            Error::Reentrant { call: Reentry::Timers, place } => write!(
                f,
                "the timers were to be driven at {place} inside a callback or a batch; drive them from the program's own loop"
            ),
            Error::ClockBackwards { now_ns, to_ns } => write!(
                f,
                "the manual clock reads {now_ns} ns and can't go back to {to_ns} ns; make a new one with ManualClock::at"
            ),
            Error::FrameRate { place } => write!(
                f,
                "the frame loop made at {place} has no rate; give it more than 0 and up to 1e9 frames a second, or a period of 1 ns to 292 years"
            ),
            Error::SharedLoop { place } => write!(
                f,
                "the pipeline shared at {place} is consumed by one of its own closures before it has a value; materialize it outside of them"
            ),
        }
    }
}

fn write_feedback(f: &mut fmt::Formatter<'_>, one: &Feedback) -> fmt::Result {
    match one.callback {
        Some(place) => write!(f, "; the callback made at {place}")?,
        None => f.write_str("; a callback")?,
    }
    if let Some(on) = &one.on {
        write!(f, " on {on}")?;
    }
    match &one.wrote {
        Some(wrote) => write!(f, " wrote {wrote}"),
        None => f.write_str(" wrote a cell that is gone"),
    }
}

impl std::error::Error for Error {}

/// An error on its way through the crate: boxed, so that the good path carries one word.
pub(crate) type Fallible<R> = Result<R, Box<Error>>;

impl From<Box<Error>> for Error {
    fn from(boxed: Box<Error>) -> Self {
        *boxed
    }
}
