//! Runs of which a Prometheus server has the memory.
//!
//! `address`, `credentials` and `client` talk to the server; `error` lists what can go wrong, `response` parses
//! what the server sends while it arrives. `window` is the period of time, `ranges` fetches [`Series`] for it.
//! [`list_ranks`] finds the runs that leveloff itself published, [`CustomQuery`] those of any PromQL query; both give
//! a [`RunHistory`] for each run. `restarts` finds where the newest start of a run is.

mod address;
mod client;
mod client_options;
mod credentials;
mod custom;
mod error;
mod promql;
mod ranges;
mod ranks;
mod response;
mod restarts;
mod run_history;
mod series;
mod window;

pub use address::Address;
pub use client::Client;
pub use client_options::ClientOptions;
pub use custom::CustomQuery;
pub use error::QueryError;
pub use ranks::{MEMORY, RankBatch, jobs, list_ranks};
pub use response::{Sample, SeriesResponse};
pub use restarts::{Restart, last_restart, repetition};
pub use run_history::RunHistory;
pub use series::Series;
pub use window::Window;
