//! Checkpoints: what a training needs to go on as if it had never ended.
//!
//! One safetensors file has the parameters, both moments of the optimiser, and what belongs to
//! them. A file is written under another name, synced, and renamed: what bears a checkpoint's name
//! is whole, whatever happened in between.

mod contents;
mod directory;

pub use contents::{CheckpointError, Origin};
pub use directory::{Directory, Saved, Skipped, resume_from};
