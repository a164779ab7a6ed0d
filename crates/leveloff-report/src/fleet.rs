//! Many runs, worst first, in every format.

pub mod html;
pub mod json;
pub mod text;
