//! A run's numbers for programs that collect them: an OpenMetrics endpoint, a file for node_exporter.
//!
//! A session hands every tick to [`Metrics`], which makes a [`snapshot`] of it: the run at one moment, in
//! plain numbers, labelled by its [`identity`]. [`families`] names them, [`exposition`] writes them down. A
//! [`board`] shows the newest to the [`endpoint`] and the [`textfile`], each on a thread of its own: they
//! never wait for the sampler, and it never waits for them. `docs/METRICS.md` is for whoever reads them.

pub mod board;
pub mod endpoint;
pub mod exposition;
pub mod families;
pub mod identity;
mod reply;
pub mod snapshot;
pub mod textfile;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use leveloff_model::process::ProcessIndex;
use leveloff_model::sample::{Event, Tick};

use crate::judge::live::LiveJudge;
use crate::notice::notice;
use crate::session::Plan;
use board::Board;
use endpoint::{Door, Endpoint};
use identity::Identity;
use snapshot::{Outlook, Person, Snapshot};
use textfile::{Place, TextFile};

/// A run's numbers, published as long as this lives.
#[derive(Debug)]
pub struct Metrics {
    identity: Arc<Identity>,
    people: HashMap<ProcessIndex, Person>,
    outlook: Option<Outlook>,
    judged: Option<Instant>,
    board: Arc<Board>,
    door: Option<Door>,
    place: Option<Place>,
    endpoint: Option<Endpoint>,
    file: Option<TextFile>,
}

/// A verdict takes up to half a millisecond, and nobody scrapes more often than this. A little less than
/// a second, so that a sample which comes early does not wait for the next.
const JUDGED_EVERY: Duration = Duration::from_millis(900);

impl Metrics {
    /// Takes the address and the file that were asked for, if any were. Done before anything is started,
    /// so that what cannot be had costs nobody a run. Nothing is answered yet.
    pub fn open(plan: &Plan<'_>) -> Result<Option<Metrics>> {
        let asked = &plan.watch.metrics;
        if !asked.is_asked_for() {
            return Ok(None);
        }
        let door = asked.metrics.map(Door::open).transpose()?;
        let place = asked
            .metrics_file
            .as_deref()
            .map(Place::check)
            .transpose()?;
        let identity = Arc::new(Identity::of(plan));
        if let Some(door) = &door {
            notice(&whereabouts(door.address()));
        }
        Ok(Some(Metrics {
            board: Arc::new(Board::new(Snapshot::nothing_yet(&identity))),
            identity,
            people: HashMap::new(),
            outlook: None,
            judged: None,
            door,
            place,
            endpoint: None,
            file: None,
        }))
    }

    /// Lets others in.
    #[must_use]
    pub fn begin(mut self) -> Metrics {
        self.endpoint = self.door.take().and_then(|door| door.serve(&self.board));
        self.file = self.place.take().and_then(|place| place.keep(&self.board));
        self
    }

    /// Takes a tick.
    pub fn take(&mut self, tick: &Tick, judge: Option<&LiveJudge>) {
        for event in &tick.events {
            match event {
                Event::Appeared(info) | Event::Changed(info) => {
                    self.people.insert(info.index, Person::of(info));
                }
                Event::Exited(index) => {
                    self.people.remove(index);
                }
                Event::Mark(_) | Event::Software(_) | Event::Gap(_) => {}
            }
        }
        self.ask(judge);
        let snapshot = Snapshot::of(&self.identity, &tick.sample, &self.people, self.outlook);
        self.board.show(snapshot);
    }

    fn ask(&mut self, judge: Option<&LiveJudge>) {
        let is_due = self.judged.is_none_or(|at| at.elapsed() >= JUDGED_EVERY);
        if let Some(judge) = judge.filter(|_| is_due) {
            self.outlook = judge.verdict().as_ref().map(Outlook::of);
            self.judged = Some(Instant::now());
        }
    }
}

impl Drop for Metrics {
    fn drop(&mut self) {
        self.board.close();
    }
}

fn whereabouts(address: SocketAddr) -> String {
    let who = match address.ip().is_loopback() {
        true => "for this machine",
        false => "for whoever can reach it, without a password",
    };
    format!("metrics at http://{address}/metrics, {who}")
}

#[cfg(test)]
mod tests;
