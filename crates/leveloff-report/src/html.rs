//! What every HTML page is made of: escaped markup, and the frame with style, scripts and policy.

pub(crate) mod document;
pub(crate) mod markup;
