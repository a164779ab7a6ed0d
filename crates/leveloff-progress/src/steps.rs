//! Decides which printed counts are training steps.

pub(crate) mod bar_tracker;
mod epoch_passes;
mod other_bars;
pub(crate) mod step_counter;
