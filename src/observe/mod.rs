//! What a program can learn of its cells while it runs: reports on the counters that the store keeps in columns.
//!
//! Everything here is compiled for a feature: `trace` for the reports, `profiling` for spans, `frames` and `flame` for what is named
//! so. The hooks that fill the counters are the store's (`store::probe`).
//!
//! Costs: a report walks all live cells and allocates; it is not for every frame.

#[cfg(feature = "trace")]
pub(crate) mod census;
#[cfg(feature = "flame")]
pub(crate) mod folded;
#[cfg(feature = "trace")]
pub(crate) mod hot;
#[cfg(feature = "trace")]
pub(crate) mod metrics;
#[cfg(feature = "trace")]
pub(crate) mod pass;
#[cfg(feature = "trace")]
pub(crate) mod periodic;
#[cfg(feature = "trace")]
mod table;
#[cfg(feature = "trace")]
pub(crate) mod timing;
