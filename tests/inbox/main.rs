//! Inboxes: values from other threads.

mod soak;
mod states;
