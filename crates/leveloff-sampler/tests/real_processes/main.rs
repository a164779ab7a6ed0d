//! The sampler against real processes that do known things.

#![allow(
    clippy::unwrap_used,
    reason = "a test may fail by panicking, in its functions as well"
)]

mod filling;
mod forks;
mod memory;
mod python_child;
mod tree;
