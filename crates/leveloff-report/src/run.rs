//! A whole run, in every format.

pub mod chart;
pub(crate) mod environment;
pub mod html;
pub mod json;
pub mod markdown;
mod ruled_out;
mod sizing;
pub mod text_chart;
mod trim;
