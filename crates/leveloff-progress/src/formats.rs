//! Formats with a structure of their own: progress bars and dictionaries of metrics.

pub mod bar;
pub mod bar_purpose;
pub mod metrics;
