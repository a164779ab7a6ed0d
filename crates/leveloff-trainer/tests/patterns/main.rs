//! The patterns against the kernel: what they claim is what `smaps_rollup` shows, and what they take
//! they give back. Nothing of leveloff is used.

#![allow(
    clippy::unwrap_used,
    reason = "a test may fail by panicking, in its functions as well"
)]

mod driven;
mod ends;
mod limits;
mod machine;
mod rates;
mod shapes;
