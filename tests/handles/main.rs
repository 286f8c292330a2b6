//! Handles of cells: identity (C2, C3), lifetime and ownership (C1, C7), writes (C4, C5, C6, C8), values of any type,
//! and what errors say and where they point.

mod disposal;
mod errors;
mod hooks;
mod identity;
mod lifetime;
mod logs;
mod places;
mod signals;
#[allow(dead_code)] // each binary uses a part of it
#[path = "../field_reports/support.rs"]
mod support;
mod traits;
mod values;
mod writes;
