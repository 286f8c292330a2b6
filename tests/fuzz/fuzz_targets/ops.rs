//! Runs operations that libFuzzer chose over the library and the model, and aborts where they differ.
//!
//! `cargo +nightly fuzz run --fuzz-dir tests/fuzz ops`
#![no_main]

#[path = "../../model/check.rs"]
mod check;
mod decode;
#[path = "../../model/kernel.rs"]
mod kernel;
#[path = "../../model/model.rs"]
mod model;
#[path = "../../model/naive.rs"]
mod naive;
#[path = "../../model/op.rs"]
mod op;
#[path = "../../model/real.rs"]
mod real;
#[path = "../../model/running.rs"]
mod running;
#[path = "../../model/scopes.rs"]
mod scopes;
#[path = "../../model/sequence.rs"]
mod sequence;
#[path = "../../model/several.rs"]
mod several;
#[path = "../../model/stages.rs"]
mod stages;
#[path = "../../model/wave.rs"]
mod wave;
#[path = "../../model/world.rs"]
mod world;
#[path = "../../model/write.rs"]
mod write;

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Unstructured::new(bytes);
    let Ok(ops) = decode::ops(&mut bytes) else { return };
    // The operations' own panics call no hook, so that only a difference ends the run.
    if let Err(difference) = check::run(&ops) {
        panic!("{difference}\nin the case {ops:#?}");
    }
});
