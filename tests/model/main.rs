//! The whole API against a naive model: random operations run over both, and after each one values, ends, lives, totals,
//! what subscribers heard and how often closures ran must be the same.
//!
//! A failing case is shrunk and printed. The cases are the same in every run; `MODEL_RANDOM` asks for other ones each time,
//! `PROPTEST_CASES` sets how many run.

// The fuzz target takes these modules too.
#![allow(unreachable_pub)]

mod check;
mod found;
mod kernel;
mod model;
mod naive;
mod op;
mod real;
mod running;
mod scopes;
mod sequence;
mod several;
mod stages;
mod strategy;
mod wave;
mod world;
mod write;

use std::cell::RefCell;

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use check::Effects;
use op::Op;

const CASES: u32 = 2_000;

#[test]
fn library_and_model_agree() {
    let mut config = Config {
        max_shrink_iters: 20_000,
        failure_persistence: None,
        // Making cases took most of the time with the default generator.
        rng_algorithm: RngAlgorithm::XorShift,
        ..Config::default()
    };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = CASES;
    }
    let total = RefCell::new(Effects::new());
    let mut runner = match std::env::var_os("MODEL_RANDOM") {
        Some(_) => TestRunner::new(config),
        None => {
            let rng = TestRng::deterministic_rng(config.rng_algorithm);
            TestRunner::new_with_rng(config, rng)
        }
    };
    let outcome = runner.run(&strategy::ops(), |ops| {
        let effects = check::run(&ops).map_err(TestCaseError::fail)?;
        let mut total = total.borrow_mut();
        for (name, times) in effects {
            *total.entry(name).or_default() += times;
        }
        Ok(())
    });
    print_table(&total.borrow());
    if let Err(TestError::Fail(_, ops)) = outcome {
        let (reason, ops) = shortest(ops);
        let ops: Vec<String> = ops.iter().map(|op| format!("\n  {op:?},")).collect();
        panic!("{reason}\nin the case{}", ops.concat());
    }
}

/// Leaves out whatever the failure does not need (proptest keeps to the least length of a case).
fn shortest(mut ops: Vec<Op>) -> (String, Vec<Op>) {
    let mut reason = check::run(&ops).err().unwrap_or_default();
    let mut at = ops.len();
    while at > 0 {
        at -= 1;
        let mut fewer = ops.clone();
        fewer.remove(at);
        if let Err(what) = check::run(&fewer) {
            (reason, ops) = (what, fewer);
            at = at.min(ops.len());
        }
    }
    (reason, ops)
}

fn print_table(effects: &Effects) {
    println!("operations that took effect:");
    for (name, times) in effects {
        println!("{times:>9}  {name}");
    }
    println!("{:>9}  in all", effects.values().sum::<u64>());
}
