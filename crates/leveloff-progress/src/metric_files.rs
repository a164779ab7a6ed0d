//! Files in which frameworks keep metrics by step.
//!
//! - [`EventFile`]: TensorBoard's event files, record by record.
//! - [`metrics_csv`]: tables such as Lightning's `metrics.csv`.
//! - [`trainer_state`]: the `trainer_state.json` of a Hugging Face checkpoint.
//!
//! The last two are written anew again and again, so each of them is read from its start and its end at once.

mod event_file;
mod metrics_csv;
mod trainer_state;

pub use event_file::EventFile;
pub use metrics_csv::metrics_csv;
pub use trainer_state::trainer_state;
