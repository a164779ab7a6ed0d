//! The numbers of a run for programs that collect them: an OpenMetrics endpoint, a file for node_exporter.
//!
//! [`Metrics`] makes a `snapshot` of every tick: the run at one moment, in plain numbers, labelled by its
//! [`Identity`]. `families` names the numbers, `exposition` formats them. `latest` hands the newest snapshot to the
//! `endpoint` and the `textfile`, each on a thread of its own: neither waits for the sampler, nor the sampler for
//! them. `docs/METRICS.md` lists the metrics.

mod endpoint;
mod exposition;
mod families;
mod identity;
mod latest;
mod response;
mod snapshot;
mod textfile;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use leveloff_classifier::run_analysis::RunAnalysis;
use leveloff_classifier::verdict::RunVerdict;
use leveloff_model::sample::Tick;

use crate::error::SetupError;
use endpoint::{Endpoint, Listener};
pub use identity::Identity;
use latest::Latest;
use snapshot::Snapshot;
use textfile::{TextFile, TextFilePath};

/// Prints a message for the user. Called from the threads of the endpoint and the file as well.
pub type Notify = fn(&str);

/// Where the metrics of a run are published.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MetricsOptions {
    /// The address of the endpoint.
    pub address: Option<SocketAddr>,
    /// A file for node_exporter's textfile collector.
    pub file: Option<PathBuf>,
}

/// Publishes the metrics of a run until it is dropped.
#[derive(Debug)]
pub struct Metrics {
    identity: Arc<Identity>,
    verdict: Option<RunVerdict>,
    judged: Option<Instant>,
    latest: Arc<Latest>,
    listener: Option<Listener>,
    path: Option<TextFilePath>,
    endpoint: Option<Endpoint>,
    file: Option<TextFile>,
}

/// A verdict takes up to half a millisecond, and scrapers come less often than this. A little less than a second,
/// so that a sample that comes early does not wait for the next.
const JUDGED_EVERY: Duration = Duration::from_millis(900);

impl Metrics {
    /// Opens the address and checks the file. Done before anything is started, so that a wrong option does not
    /// cost a run. No request is answered yet.
    ///
    /// # Errors
    /// If the address cannot be bound or the file cannot be written.
    pub fn open(
        options: &MetricsOptions,
        identity: Identity,
        notify: Notify,
    ) -> Result<Metrics, SetupError> {
        let listener = options
            .address
            .map(|address| Listener::open(address, notify))
            .transpose()?;
        let path = options
            .file
            .as_deref()
            .map(|path| TextFilePath::check(path, notify))
            .transpose()?;
        if let Some(listener) = &listener {
            notify(&location(listener.address()));
        }
        let identity = Arc::new(identity);
        Ok(Metrics {
            latest: Arc::new(Latest::new(Snapshot::nothing_yet(&identity))),
            identity,
            verdict: None,
            judged: None,
            listener,
            path,
            endpoint: None,
            file: None,
        })
    }

    /// Starts to answer requests and to write the file.
    #[must_use]
    pub fn begin(mut self) -> Metrics {
        self.endpoint = self
            .listener
            .take()
            .and_then(|listener| listener.serve(&self.latest));
        self.file = self.path.take().and_then(|path| path.keep(&self.latest));
        self
    }

    /// Publishes a tick, which the analysis has taken already.
    pub fn take(&mut self, tick: &Tick, run: &RunAnalysis) {
        if self.judged.is_none_or(|at| at.elapsed() >= JUDGED_EVERY) {
            self.verdict = run.verdict();
            self.judged = Some(Instant::now());
        }
        let account = run.account_of(self.verdict.clone());
        self.latest
            .publish(Snapshot::of(&self.identity, &tick.sample, account.as_ref()));
    }
}

impl Drop for Metrics {
    fn drop(&mut self) {
        self.latest.close();
    }
}

fn location(address: SocketAddr) -> String {
    let readers = match address.ip().is_loopback() {
        true => "for this machine only",
        false => "for every host that can reach it, without a password",
    };
    format!("metrics at http://{address}/metrics, {readers}")
}

#[cfg(test)]
mod tests;
