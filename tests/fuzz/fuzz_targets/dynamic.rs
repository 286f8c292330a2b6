//! Runs operations that libFuzzer chose on graphs that change, and aborts where something does not hold.
//!
//! `cargo +nightly fuzz run --fuzz-dir tests/fuzz dynamic`
#![no_main]

#[path = "../../dynamic/check.rs"]
mod check;
#[path = "decode_dynamic.rs"]
mod decode;
#[path = "../../dynamic/ends.rs"]
mod ends;
#[path = "../../dynamic/evidence.rs"]
mod evidence;
#[path = "../../dynamic/formula.rs"]
mod formula;
#[path = "../../dynamic/lives.rs"]
mod lives;
#[path = "../../dynamic/make.rs"]
mod make;
#[path = "../../dynamic/op.rs"]
mod op;
#[path = "../../dynamic/runs.rs"]
mod runs;
#[path = "../../dynamic/table.rs"]
mod table;
#[path = "../../dynamic/world.rs"]
mod world;

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    check::hide_cycles();
    let mut bytes = Unstructured::new(bytes);
    let Ok(ops) = decode::ops(&mut bytes) else { return };
    // The operations' own panics call no hook, so that only what does not hold ends the run.
    if let Err(what) = check::run(&ops) {
        panic!("{what}\nin the case {ops:#?}");
    }
});
