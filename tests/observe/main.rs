//! What the feature `trace` counts and measures: exact numbers on graphs that are counted by hand.
//!
//! Times are told by a clock of the test's own, so that they are exact too.
#![cfg(feature = "trace")]

mod census;
mod counts;
mod dynamic;
mod ends;
mod events;
mod hot;
#[cfg(feature = "serde")]
mod json;
mod log;
mod metrics;
mod pass;
mod random;
mod rows;
mod slow;
#[path = "../field_reports/support.rs"]
#[allow(dead_code, reason = "other test programs need more of it")]
mod support;
mod times;
mod tools;
mod waits;
mod world;
