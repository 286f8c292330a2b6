//! The spans of the feature `profiling`: which there are, what they say, and that they nest whatever happens.
#![cfg(feature = "profiling")]

mod capture;
mod extent;
mod filter;
#[cfg(feature = "flame")]
mod folded;
mod listener;
mod names;
mod nesting;
mod random;
#[path = "../field_reports/support.rs"]
#[allow(dead_code, reason = "other test programs need more of it")]
mod support;
mod tree;
#[path = "../observe/world.rs"]
mod world;
