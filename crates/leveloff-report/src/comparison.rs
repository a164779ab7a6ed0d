//! Two sides compared, in every format.

pub mod compared;
pub mod html;
pub mod json;
pub mod markdown;
mod table;
pub mod text;
