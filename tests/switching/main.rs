//! Cells whose inputs change: switches, computed cells, effects (rules P5, P6, P7, P14), and what re-linking costs.

mod abandoned;
mod closure;
mod cycle;
mod depth;
mod effect;
mod found;
mod nested;
mod order;
mod panic;
mod random;
mod reads;
mod refused;
mod relink;
#[allow(dead_code, reason = "shared with the field reports, which need more of it")]
#[path = "../field_reports/support.rs"]
mod support;
mod values;
