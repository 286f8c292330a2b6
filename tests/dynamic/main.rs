//! Graphs that change while they run: random operations over switches, merges, computed cells, effects and selectors. After
//! each one the values must be those that computing from scratch would give, and what lives, and on what it hangs, must be
//! what the contract says.
//!
//! The order of unrelated cells is open, so that there is no second implementation to compare with, as `tests/model` has
//! one: closures note what they see and do, and what they noted is checked.
//!
//! A failing case is shrunk and printed. `PROPTEST_CASES` sets how many cases run, `MODEL_RANDOM` makes them other ones each time.

// The fuzz target takes these modules too.
#![allow(unreachable_pub)]

mod cases;
mod check;
mod ends;
mod evidence;
mod formula;
mod lives;
mod make;
mod op;
mod runs;
mod shrink;
mod strategy;
mod table;
mod world;

use std::cell::RefCell;

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use check::Effects;

const CASES: u32 = 300;

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
    // The same cases in every run, unless other ones are asked for with MODEL_RANDOM.
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
        let (reason, ops) = shrink::shortest(ops);
        let ops: Vec<String> = ops.iter().map(|op| format!("\n  {op:?},")).collect();
        panic!("{reason}\nin the case{}", ops.concat());
    }
}

fn print_table(effects: &Effects) {
    println!("operations that took effect:");
    for (name, times) in effects {
        println!("{times:>9}  {name}");
    }
    println!("{:>9}  in all", effects.values().sum::<u64>());
}
