//! A whole run, in every format.

pub mod chart;
pub mod html;
pub mod json;
pub mod markdown;
mod ruled_out;
pub mod text_chart;
mod trim;
