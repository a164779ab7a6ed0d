//! The lines of a program whose memory grew: what `leveloff blame` prints.

mod folded;
pub(crate) mod frame_tree;
mod pprof;
mod svg;
mod text;

pub use folded::folded;
pub use pprof::pprof;
pub use svg::{FlameGraphError, svg};
pub use text::text;

#[cfg(test)]
mod tests;
