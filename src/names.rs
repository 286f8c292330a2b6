//! The names and import paths of published hyphae 1.3.3, so that programs written against it find what they import.
//!
//! There each operator has a trait of its own; here one trait, [`Pipeline`](crate::Pipeline), or the handle itself has them all, so that
//! those names stand for that trait. What exists only for threads is absent. The compiler may take any name of a trait for its
//! messages, which is why all this is a feature, `compat`.

#[doc(hidden)]
pub use crate::pipeline::{
    Pipeline as AuditExt, Pipeline as BackpressureExt, Pipeline as BufferCountExt,
    Pipeline as BufferTimeExt, Pipeline as CatchErrorExt, Pipeline as ColdExt,
    Pipeline as ConcatExt, Pipeline as DebounceExt, Pipeline as DedupedExt, Pipeline as DelayExt,
    Pipeline as DistinctExt, Pipeline as DistinctUntilChangedByExt, Pipeline as FilterExt,
    Pipeline as FinalizeExt, Pipeline as FirstExt, Pipeline as JoinExt, Pipeline as LastExt,
    Pipeline as MapErrExt, Pipeline as MapExt, Pipeline as MapOkExt,
    Pipeline as MaterializeDefinite, Pipeline as MaterializeEmpty, Pipeline as MergeExt,
    Pipeline as MergeMapExt, Pipeline as PairwiseExt, Pipeline as PipelineShareExt,
    Pipeline as RetryExt, Pipeline as SampleExt, Pipeline as SampleOnSourceExt,
    Pipeline as ScanExt, Pipeline as SkipExt, Pipeline as SkipWhileExt,
    Pipeline as StateTransitionExt, Pipeline as SwitchMapExt, Pipeline as TakeExt,
    Pipeline as TakeUntilExt, Pipeline as TakeWhileExt, Pipeline as TapExt,
    Pipeline as ThrottleExt, Pipeline as TimeoutExt, Pipeline as TryMapExt,
    Pipeline as UnwrapOrExt, Pipeline as WindowExt, Pipeline as WithLatestFromExt,
    Pipeline as ZipExt,
};
#[doc(hidden)]
pub use crate::traits::Watchable as WatchableResult;

pub use crate::traits::CellValue;

/// Constructors, by their old path and names: each interval is precise here.
pub mod constructors {
    pub use crate::ticks::{
        interval_source, interval_source as interval_precise_source,
        interval_source_with_elapsed as interval_precise_with_elapsed_source,
    };

    pub use crate::operators::timed::{
        IntervalTick, from_iter_with_delay, interval, interval as interval_precise,
        interval_with_elapsed as interval_precise_with_elapsed,
    };
}

pub use constructors::{
    interval_precise, interval_precise_source, interval_precise_with_elapsed,
    interval_precise_with_elapsed_source,
};

/// Batches, by their old path.
pub mod scheduler {
    pub use crate::{batch, no_coalesce};
}

/// Streams, by their old path.
#[cfg(feature = "async")]
pub mod async_support {
    pub use crate::stream::{AsyncWatchableExt, CellStream};
}

/// Bounded inputs, by their old path.
pub mod bounded_input {
    pub use crate::bounded::{BoundedInput, BoundedInputMetrics, OverflowPolicy};
}

/// Bounded outputs, by their old path.
pub mod bounded_output {
    pub use crate::bounded::BoundedOutput;
}

/// Clocks, by their old path.
pub mod clock {
    pub use crate::ticks::{IntervalTickSource, Tick, TickGuard, TickSource};
    pub use crate::time::clock::{Clock, MonotonicClock};
}

/// Metrics, by their old path.
#[cfg(feature = "trace")]
pub mod metrics {
    pub use crate::observe::metrics::CellMetrics;
}

/// Counters, by their old path.
#[cfg(feature = "trace")]
pub mod tracing {
    pub use crate::observe::hot::{CellTraceSnapshot, hot_cells};
    pub use crate::observe::periodic::log_hot_cells;
}
