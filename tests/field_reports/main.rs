//! Faults that users of other reactive libraries reported in public, each under the number of its case.
//!
//! Notation in the comments: what went wrong in the wild; the test shows that it does not happen here.

mod dy;
mod gl;
mod pa;
mod pa_wide;
mod re;
mod sd;
mod sn;
mod support;
