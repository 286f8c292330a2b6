//! What profilers see of the store: the hooks of the settle loop. All that is compiled for the features `trace` and
//! `profiling` below the reports is in this folder; each hook comes in two versions with one signature, one of them empty, so that the
//! loop names no feature and with them off has no field, no branch and no instruction more.
//!
//! It knows nodes by their row and operators by their type; it knows nothing of reports, which read the rows.
//!
//! Reading order: `rows` (the columns), `counting` (what fills them), `tally` and `levels` (what a pass, a frame of the program or a
//! wave adds up), `costs` (what a frame of the program takes), `spans`, `frames` (of the stack).

#[cfg(feature = "trace")]
mod counting;
#[cfg(feature = "trace")]
mod levels;
#[cfg(feature = "trace")]
mod rows;
#[cfg(not(feature = "trace"))]
mod silent;
#[cfg(feature = "trace")]
mod tally;

#[cfg(feature = "frames")]
pub(crate) mod costs;
#[cfg(all(feature = "trace", not(feature = "frames")))]
#[path = "no_costs.rs"]
mod costs;

#[cfg(feature = "profiling")]
pub(crate) mod frames;
#[cfg(not(feature = "profiling"))]
#[path = "no_frames.rs"]
pub(crate) mod frames;

#[cfg(all(feature = "trace", not(feature = "profiling")))]
#[path = "no_spans.rs"]
mod spans;
#[cfg(feature = "profiling")]
mod spans;

#[cfg(feature = "trace")]
pub use counting::Timing;
#[cfg(feature = "trace")]
pub(crate) use counting::{FULL, Probe, Row, SHORT, SlowCall, TALLIED, TIMED, Timer};
#[cfg(feature = "trace")]
pub(crate) use rows::Times;
#[cfg(not(feature = "trace"))]
pub(crate) use silent::{FULL, Probe, Row, SHORT, TALLIED, TIMED};
