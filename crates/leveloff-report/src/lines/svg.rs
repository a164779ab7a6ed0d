//! A flame graph of what grew.

use inferno::flamegraph::{self, Options};

use super::folded::folded;
use crate::run_report::RunReport;

/// Why there is no flame graph.
#[derive(Debug, thiserror::Error)]
pub enum FlameGraphError {
    /// Nothing grew, or the run was not started with `--blame`.
    #[error("there is nothing to draw: no line's memory grew")]
    NothingGrew,
    /// The graph cannot be drawn.
    #[error("cannot draw the flame graph: {0}")]
    Drawing(String),
}

/// The flame graph: the width of a frame is what it allocated and what stayed.
pub fn svg(report: &RunReport) -> Result<Vec<u8>, FlameGraphError> {
    if report.lines.is_empty() {
        return Err(FlameGraphError::NothingGrew);
    }
    let mut options = Options::default();
    options.title = format!("Memory that is not freed: {}", report.input);
    options.count_name = "KiB".to_owned();
    let mut picture = Vec::new();
    flamegraph::from_reader(&mut options, folded(report).as_bytes(), &mut picture)
        .map_err(|error| FlameGraphError::Drawing(error.to_string()))?;
    Ok(picture)
}
