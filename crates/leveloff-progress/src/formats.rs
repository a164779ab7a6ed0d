//! The formats that trainings print their progress in: each parser turns one piece of text into a value.

pub(crate) mod bar;
pub(crate) mod bar_purpose;
mod evidence;
pub(crate) mod log_line;
pub(crate) mod metrics;
mod words;
