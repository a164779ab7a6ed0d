//! The verdict on one input: for a terminal and for programs.

pub mod json;
pub mod text;
