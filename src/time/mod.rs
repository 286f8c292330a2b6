//! Time: clocks, and (feature `frames`) the loop that runs an application frame by frame and measures each.
//!
//! The store knows nothing of it but a function that gives nanoseconds, and that only while a frame is open.

pub(crate) mod clock;

#[cfg(feature = "frames")]
pub(crate) mod frame;
#[cfg(feature = "frames")]
mod grid;
#[cfg(feature = "frames")]
mod nanos;
#[cfg(feature = "frames")]
pub(crate) mod report;
#[cfg(feature = "frames")]
pub(crate) mod spread;
#[cfg(feature = "frames")]
pub(crate) mod stats;
pub(crate) mod timers;
#[cfg(feature = "frames")]
mod warmth;
