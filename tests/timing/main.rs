//! Timers, and the operators that wait, on a manual clock.

mod clocks;
mod lives;
mod operators;
mod reference;
mod ticks;
