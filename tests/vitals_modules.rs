//! Runs the unit tests that stand in the modules of the example `vitals`.
//!
//! An example with `test = true` is built as a test only, and then the program that `tests/vitals.rs`
//! runs would not be built. So the modules are taken in here, where `crate::` means the same to them.

// What only the example's `main` uses is unused here.
#![allow(dead_code)]

#[path = "../examples/vitals/alarm.rs"]
mod alarm;
#[path = "../examples/vitals/args.rs"]
mod args;
#[path = "../examples/vitals/frame.rs"]
mod frame;
#[path = "../examples/vitals/gauge.rs"]
mod gauge;
#[path = "../examples/vitals/input.rs"]
mod input;
#[path = "../examples/vitals/measure.rs"]
mod measure;
#[path = "../examples/vitals/page.rs"]
mod page;
#[path = "../examples/vitals/panel.rs"]
mod panel;
#[path = "../examples/vitals/parse.rs"]
mod parse;
#[path = "../examples/vitals/parts.rs"]
mod parts;
#[path = "../examples/vitals/proc.rs"]
mod proc;
#[path = "../examples/vitals/reading.rs"]
mod reading;
#[path = "../examples/vitals/record.rs"]
mod record;
#[path = "../examples/vitals/rows.rs"]
mod rows;
#[path = "../examples/vitals/screen.rs"]
mod screen;
#[path = "../examples/vitals/summary.rs"]
mod summary;
#[path = "../examples/vitals/text.rs"]
mod text;
#[path = "../examples/vitals/verdict.rs"]
mod verdict;
#[path = "../examples/vitals/view.rs"]
mod view;
#[path = "../examples/vitals/words.rs"]
mod words;
