//! Lazy cells: what they give, how often they run, and who makes them run.

mod counts;
mod edges;
mod random;
