//! Metrics of a run for Prometheus, and the runs that a Prometheus server has collected.
//!
//! [`metrics`] publishes one run: an OpenMetrics endpoint and a file for node_exporter's textfile collector.
//! [`query`] fetches the memory of many runs from a server that speaks Prometheus' HTTP API.

mod error;
pub mod metrics;
pub mod query;

pub use error::SetupError;
