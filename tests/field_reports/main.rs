//! Faults that users of other reactive libraries reported in public, each under the number of its case.
//!
//! Notation in the comments: what went wrong in the wild; the test shows that it does not happen here.

mod ba;
mod cy;
mod de;
mod dy;
mod eq;
mod gl;
mod lk;
mod op;
mod or;
mod pa;
mod pa_wide;
mod pf;
mod rc;
mod re;
mod sd;
mod sn;
mod st;
mod support;
