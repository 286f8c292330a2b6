//! State machines, retrying, and bounded buffers at the edges of the graph.

mod input;
mod machine;
mod output;
mod retry;
