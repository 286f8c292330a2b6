//! Timers, and the operators that wait, on a manual clock.

mod chains;
mod clocks;
mod lives;
mod moments;
mod operators;
mod plain;
mod reference;
mod ticks;
mod timeline;
