//! Graphs that change while they run: random operations over switches, merges, computed cells, effects and selectors. After
//! each one the values must be those that computing from scratch would give, and what lives, and on what it hangs, must be
//! what the contract says.
//!
//! The order of unrelated cells is open, so that there is no second implementation to compare with, as `tests/model` has
//! one: closures note what they see and do, and what they noted is checked.
//!
//! A failing case is shrunk and printed; `PROPTEST_CASES` sets how many cases run.

// The fuzz target takes these modules too.
#![allow(unreachable_pub)]

mod check;
mod ends;
mod evidence;
mod formula;
mod found;
mod lives;
mod make;
mod op;
mod runs;
mod strategy;
mod table;
mod world;

use std::cell::RefCell;

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRunner};

use check::Effects;
use op::Op;

const CASES: u32 = 1_000;

#[test]
fn changing_graphs_keep_the_contract() {
    let mut config = Config {
        max_shrink_iters: 20_000,
        max_shrink_time: 60_000,
        failure_persistence: None,
        // Making cases took most of the time with the default generator.
        rng_algorithm: RngAlgorithm::XorShift,
        ..Config::default()
    };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = CASES;
    }
    check::hide_cycles();
    let total = RefCell::new(Effects::new());
    let outcome = TestRunner::new(config).run(&strategy::ops(), |ops| {
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
