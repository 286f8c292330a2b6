//! Operators and pipelines: every operator against a hand-written table and against plain references on vectors, in every
//! state (before a value, after it, while a remainder is held, upstream ended before), on every kind of input, in batches;
//! random chains; costs; shared pipelines; joins; and the facts that programs rely on.
//!
//! Notation of inputs and deliveries: numbers are values, `-` is `None`, `|` is `Complete`, `!` an error.

mod build;
mod combine;
mod costs;
mod facts;
mod fused;
mod model;
mod random;
mod script;
mod share;
mod states;
#[allow(dead_code)] // each binary uses a part of it
#[path = "../field_reports/support.rs"]
mod support;
mod table;
mod waves;
