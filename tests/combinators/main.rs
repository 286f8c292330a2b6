//! The static combinators (`zip`, `merge`, `concat`, `take_until`, `with_latest_from`, `sample`, `join`, `combine`, `selector`):
//! each against a hand-written table and a plain reference on vectors, with the ends of its inputs in every state, on every
//! kind of input, in batches of every order and with reads in them; diamonds; what they cost; panics, disposal, scopes.
//!
//! Notation of writes: `0:5` sets input 0 to 5, `0|` completes it, `0!` fails it, `?` reads the combined cell, `[..]` is a batch.
//! Of deliveries: `5` or `1,2` are values, `-` is `None`, `|` is `Complete`, `!0` the error of input 0, `?5` what was read.

mod costs;
mod diamonds;
mod faults;
mod history;
mod latest;
mod lives;
mod model;
mod random;
mod real;
mod script;
mod selector;
mod states;
#[allow(dead_code)] // each binary uses a part of it
#[path = "../field_reports/support.rs"]
mod support;
mod table;
