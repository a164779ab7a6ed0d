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

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use leveloff_classifier::verdict::RunVerdict;
use leveloff_model::process::ProcessIndex;
use leveloff_model::sample::{Event, Tick};

use crate::error::SetupError;
use endpoint::{Endpoint, Listener};
pub use identity::Identity;
use latest::Latest;
use snapshot::{ProcessLabels, Snapshot, VerdictNumbers};
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
    processes: HashMap<ProcessIndex, ProcessLabels>,
    verdict: Option<VerdictNumbers>,
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
            processes: HashMap::new(),
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

    /// Publishes a tick. `verdict` is called only if the last one is old.
    pub fn take(&mut self, tick: &Tick, verdict: impl FnOnce() -> Option<RunVerdict>) {
        for event in &tick.events {
            match event {
                Event::Appeared(info) | Event::Changed(info) => {
                    self.processes.insert(info.index, ProcessLabels::of(info));
                }
                Event::Exited(index) => {
                    self.processes.remove(index);
                }
                Event::Mark(_) | Event::Software(_) | Event::Gap(_) => {}
            }
        }
        if self.judged.is_none_or(|at| at.elapsed() >= JUDGED_EVERY) {
            self.verdict = verdict().as_ref().map(VerdictNumbers::of);
            self.judged = Some(Instant::now());
        }
        let snapshot = Snapshot::of(&self.identity, &tick.sample, &self.processes, self.verdict);
        self.latest.publish(snapshot);
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
