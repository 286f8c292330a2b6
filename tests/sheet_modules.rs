//! Runs the unit tests that stand in the modules of the example `sheet`.
//!
//! The modules are taken in here, where `crate::` means the same to them; `tests/vitals_modules.rs`
//! tells why.

// What only the example's `main` uses is unused here.
#![allow(dead_code)]

#[path = "../examples/sheet/address.rs"]
mod address;
#[path = "../examples/sheet/args.rs"]
mod args;
#[path = "../examples/sheet/csv.rs"]
mod csv;
#[path = "../examples/sheet/evaluation.rs"]
mod evaluation;
#[path = "../examples/sheet/expression.rs"]
mod expression;
#[path = "../examples/sheet/formula.rs"]
mod formula;
#[path = "../examples/sheet/load.rs"]
mod load;
#[path = "../examples/sheet/mistake.rs"]
mod mistake;
#[path = "../examples/sheet/script.rs"]
mod script;
#[path = "../examples/sheet/session.rs"]
mod session;
#[path = "../examples/sheet/sheet.rs"]
mod sheet;
#[path = "../examples/sheet/table.rs"]
mod table;
#[path = "../examples/sheet/token.rs"]
mod token;
#[path = "../examples/sheet/typed.rs"]
mod typed;
#[path = "../examples/sheet/value.rs"]
mod value;
