//! Reactive cells for one thread: values, derived values that are always up to date, and callbacks that hear of changes.
//!
//! Values of this crate, in order: correct and free of glitches; a cheap settle and small cells; few deep modules; few
//! dependencies.
//!
//! ```
//! use hyphae::{Cell, Pipeline, Signal};
//!
//! let price = Cell::new(10).with_name("price");
//! let quantity = Cell::new(3).with_name("quantity");
//! let total = price.join(&quantity).map(|(p, q)| p * q).materialize();
//! let guard = total.subscribe(|signal| {
//!     if let Signal::Value(v) = signal {
//!         println!("total: {v}");
//!     }
//! });
//! price.set(20);
//! hyphae::batch(|| {
//!     price.set(1);
//!     quantity.set(7); // one wave: `total` is computed once
//! });
//! assert_eq!(total.get(), 7);
//! # drop(guard);
//! ```
//!
//! # How it works
//! Each thread has one store, an arena of cells. A cell is a row; everything about it is a column; a settle visits the
//! changed rows in topological order, each at most once. A write outside callbacks has settled when it returns; writes
//! in callbacks are queued and settle before the outermost call returns; a [`batch`] makes many writes one wave.
//!
//! # What to know
//! - `set` has no equality check. Ask for one: [`Cell::with_cutoff`], [`Pipeline::deduped`].
//! - A cell lives while it has a handle, a dependent or a guard; dropping a [`SubscriptionGuard`] unsubscribes.
//! - Any call is legal in any callback. What can't be done now is queued; there is no borrow panic and no hang.
//! - A panic in a callback reaches the caller of the outermost call after the wave is done; the store stays usable.
//! - Methods that can be misused come in pairs: `x` panics with the message of the [`Error`] that `try_x` returns.
//!
//! # Costs
//! See `docs/performance.md` for measured figures: a source takes about 84 bytes, a derived cell about as much plus its
//! closure; a settle allocates nothing.
//!
//! # Features
//! None is on by default; what is off is not compiled.
//! - `trace` (also under its 1.3.3 name, `metrics`): counters for each cell, and times when asked for; `hot_traced_cells`, `log_hot_cells`,
//!   `census`, `Cell::metrics`, `profiling::pass`.
//! - `profiling`: `trace`, frames that a sampling profiler can tell apart, and `tracing` spans for waves, turns and fan-outs.
//! - `frames`: `trace`, and `FrameLoop` with what each frame cost and how late it was.
//! - `flame`: `profiling`, and `FoldedLayer`, whose flame graphs name cells.
//! - `async`: cells as streams, waiting for a change, cells fed by futures and streams.
//! - `compat`: names and import paths of hyphae 1.3.3 (`MapExt`, `scheduler::batch`, ...).
//! - `scheduler`: nothing of its own; hyphae 1.3.3 has `batch` under it, which is always here.
//! - `serde`: reports can be serialized.
//!
//! `docs/profiling.md` tells which of them answers which question, and what each costs.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod arena;
mod bounded;
#[doc(hidden)]
pub mod cell;
mod error;
mod graph;
mod id;
mod inbox;
#[cfg(feature = "compat")]
mod names;
#[cfg(feature = "trace")]
mod observe;
mod operators;
#[doc(hidden)]
pub mod pipeline;
mod scope;
#[doc(hidden)]
pub mod signal;
#[doc(hidden)]
pub mod source;
mod store;
#[cfg(feature = "async")]
mod stream;
#[doc(hidden)]
pub mod subscription;
#[cfg(feature = "trace")]
mod system;
mod ticks;
mod time;
#[doc(hidden)]
pub mod traits;
mod uuids;
mod weak;

pub use bounded::{BoundedInput, BoundedInputMetrics, BoundedOutput, OverflowPolicy, RecvError};
pub use cell::{Cell, CellImmutable, CellMutable, same_float};
pub use error::{CellError, CellInfo, Error, Feedback, Reentry};
pub use id::CellId;
pub use inbox::{Capacity, Inbox, InboxSender, SendError, drain_inboxes};
#[cfg(feature = "flame")]
pub use observe::folded::{Folded, FoldedError, FoldedLayer, FoldedStack};
#[cfg(feature = "trace")]
pub use observe::{
    census::{Census, CensusRow, census},
    hot::{CellTraceSnapshot, HotCells, hot_cells, hot_traced_cells, reset_trace},
    metrics::{CellMetrics, SlowSubscriberAlert},
    periodic::{log_hot_cells, log_hot_cells_every},
    timing::{set_timing, set_timing_clock, timing},
};
pub use operators::combine::{Cells, Values, combine, combine_vec, join_vec};
pub use operators::computed::{effect, untracked};
pub use operators::lazy::{Memoryless, combine_lazy, combine_vec_lazy};
pub use operators::machine::StateMachineBuilder;
pub use operators::merge::merge_vec;
pub use operators::pair::zip_vec;
pub use operators::pure::ResultLike;
pub use operators::retry::{Retry, retry};
pub use operators::selector::{Selector, selector};
pub use operators::timed::{
    Edges, IntervalTick, Waiting, from_iter_with_delay, interval, interval_with_elapsed,
};
pub use pipeline::{Definite, Empty, Give, Pipeline, Plan, Seedness, SharedPipeline};
pub use scope::{Scope, on_cleanup};
pub use signal::Signal;
pub use source::{Source, WeakSource};
pub use store::Limits;
#[cfg(feature = "trace")]
pub use store::probe::Timing;
#[cfg(feature = "async")]
pub use stream::{AsyncWatchableExt, CellResults, CellStream};
pub use subscription::{SubscriptionGuard, SubscriptionId};
pub use ticks::{
    IntervalTickSource, Tick, TickGuard, TickSource, interval_source, interval_source_with_elapsed,
};
pub use time::clock::{Clock, ManualClock, MonotonicClock};
#[cfg(feature = "frames")]
pub use time::{
    frame::FrameLoop,
    report::{Frame, FrameReport},
    spread::{Bar, Percentiles},
    stats::{FrameStats, FrameSummary},
};
pub use traits::{DepNode, Gettable, Mutable, Watchable};
pub use weak::WeakCell;

#[cfg(feature = "compat")]
#[doc(hidden)]
pub use names::*;

/// Timers: what is to happen later, and the calls that drive it. The library starts no thread and sleeps nowhere but in
/// [`run_for`](timers::run_for) and in a `FrameLoop`.
pub mod timers {
    pub use crate::time::timers::{
        Timer, advance_to, after, next_deadline_ns, now_ns, poll, run_for, set_clock, try_poll,
        waiting,
    };
}

/// Passes: which cells fire more than once in a piece of work.
#[cfg(feature = "trace")]
pub mod profiling {
    pub use crate::observe::pass::{PassReport, pass, take_report};
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(doctest)]
#[doc = include_str!("../docs/semantics.md")]
struct Semantics;

#[cfg(all(doctest, feature = "flame", feature = "frames"))]
#[doc = include_str!("../docs/profiling.md")]
struct Profiling;

/// Makes the writes of `f` one wave: each affected cell is computed once, subscribers are called once, when the outermost
/// batch ends. Nested batches join. If `f` panics, what it wrote is settled and the panic goes on.
///
/// Reads inside see your own writes: a derived cell is brought up to date when it is read. Events of a [`Source`] or a
/// [`no_coalesce`](Cell::no_coalesce) cell happen at the end, each in a round of its own where that is needed.
///
/// # Panics
/// When the store is gone or feedback does not converge; a panic of a callback goes on to the outermost caller.
///
/// ```
/// let cell = hyphae::Cell::new(0);
/// let doubled = cell.join(&cell);
/// let sum = hyphae::batch(|| { cell.set(1); doubled.get() });
/// assert_eq!(sum, (1, 1));
/// ```
#[track_caller]
pub fn batch<R>(f: impl FnOnce() -> R) -> R {
    store::expect(in_batch(f))
}

/// [`batch`] that gives errors back. What was written before the error is settled.
pub fn try_batch<R>(f: impl FnOnce() -> R) -> Result<R, Error> {
    Ok(in_batch(f)?)
}

fn in_batch<R>(f: impl FnOnce() -> R) -> error::Fallible<R> {
    store::with_store(|store| store.in_batch(f))?
}

/// Calls `f`; cells made meanwhile keep each write of a batch as an event of its own, as with
/// [`Cell::no_coalesce`].
///
/// ```
/// use hyphae::{Pipeline, no_coalesce, Cell, batch};
/// let pulse = no_coalesce(|| Cell::new(0));
/// let count = (&pulse).scan(0, |n, _| n + 1).materialize();
/// batch(|| { pulse.set(1); pulse.set(2); });
/// assert_eq!(count.get(), 3); // the initial value and two events
/// ```
#[track_caller]
pub fn no_coalesce<R>(f: impl FnOnce() -> R) -> R {
    struct Leave<'a>(&'a store::Store);
    impl Drop for Leave<'_> {
        fn drop(&mut self) {
            self.0.keep_events.set(self.0.keep_events.get() - 1);
        }
    }
    store::expect(store::with_store(|store| {
        store.keep_events.set(store.keep_events.get() + 1);
        let _leave = Leave(store);
        f()
    }))
}

/// Sets how far feedback between callbacks may go before it is stopped with [`Error::NoConvergence`].
pub fn set_limits(limits: Limits) {
    let _ = store::with_store(|store| store.limits.set(limits));
}

/// The limits in force.
pub fn limits() -> Limits {
    store::with_store(|store| store.limits.get()).unwrap_or_default()
}
