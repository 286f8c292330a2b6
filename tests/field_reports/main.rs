//! Faults that users of other reactive libraries reported in public, each under the number of its case.
//!
//! Notation in the comments: what went wrong in the wild; the test shows that it does not happen here.

mod ba;
#[cfg(feature = "profiling")]
#[path = "../spans/capture.rs"]
#[allow(dead_code, reason = "the tests of spans need more of it")]
mod capture;
mod cy;
mod cy_cycle;
mod de;
mod de_inner;
mod dy;
mod dy_guard;
mod dy_switch;
mod eq;
mod gl;
mod gl_dynamic;
mod gl_sample;
mod lk;
mod lk_switch;
mod op;
mod or;
mod or_cleanup;
mod pa;
mod pa_wide;
mod pf;
mod pf_selector;
mod pr;
mod rc;
mod re;
mod sd;
mod sd_switch;
mod sn;
mod st;
mod support;
mod sw;
mod tm;
#[cfg(feature = "profiling")]
mod tr;
mod zm;
