//! What the processes of a run share: PSS readings, taken where most is uncertain, within a budget.

use std::time::Duration;

use leveloff_model::process::{Pid, ProcessIndex};
use leveloff_model::sample::{Gap, MappingReading, Subject};
use leveloff_model::units::{Bytes, Seconds};
use rustix::io::Errno;

use crate::budget::CpuBudget;
use crate::clock::Moment;
use crate::detail::{Detail, DetailReader, Outcome, Request};
use crate::doubt::tolerable;
use crate::pss_plan;
use crate::roster::Roster;

/// Plans PSS readings and takes them in.
#[derive(Debug)]
pub struct SharedMemory {
    started: Moment,
    detail: DetailReader,
    /// Readings that were waited for, to be taken in by the next tick.
    arrived: Vec<Detail>,
    budget: CpuBudget,
    kin: KinFlux,
    mappings: Option<MappingReading>,
}

/// Forks come in bursts. Reading PSS in the middle of one gives numbers that the next fork makes
/// wrong, so readings wait until it is over, within reason.
#[derive(Debug, Default)]
struct KinFlux {
    last_change: Option<Seconds>,
    unsettled_since: Option<Seconds>,
}

/// A burst of forks is over when nobody came or went for this long.
const KIN_SETTLED: Seconds = Seconds(0.9);

/// Forks that never stop must not keep PSS from being read.
const KIN_PATIENCE: Seconds = Seconds(10.0);

impl SharedMemory {
    /// Nothing read yet; `percent` of one core may be spent.
    pub fn new(detail: DetailReader, percent: f64, started: Moment) -> SharedMemory {
        SharedMemory {
            started,
            detail,
            arrived: Vec::new(),
            budget: CpuBudget::percent(percent),
            kin: KinFlux::default(),
            mappings: None,
        }
    }

    /// The biggest process's memory by kind, as last read.
    pub fn mappings(&self) -> Option<MappingReading> {
        self.mappings.clone()
    }

    /// Waits for the readings that are under way.
    pub fn wait(&mut self) {
        self.arrived.extend(self.detail.wait());
    }

    /// A fork came: whoever shares must be read again, once the burst of forks is over.
    pub fn kin_came(&mut self, roster: &mut Roster, t: Seconds) {
        roster.doubt_sharers(None);
        self.kin.changed(t);
    }

    /// Takes in what was read since the last call; what could not be is a gap.
    ///
    /// A reading that a fork overtook counts pages as shared with somebody who is not read yet: the
    /// run would seem to lose them for seconds. It is dropped, and taken again when the burst of
    /// forks is over. So forks have to be noticed first.
    pub fn take(&mut self, roster: &mut Roster, total: Bytes, t: Seconds) -> Vec<Gap> {
        let mut details = std::mem::take(&mut self.arrived);
        details.extend(self.detail.finished());
        // Before the first is taken in: what it says of the others is no fork.
        let overtaken = self.overtaken(&details, roster, t);
        let mut gaps = Vec::new();
        for (detail, overtaken) in details.iter().zip(overtaken) {
            self.budget.spend(detail.cost);
            if !overtaken {
                gaps.extend(self.take_one(detail, roster, total));
            } else if let Some(process) = roster.find_mut(detail.process) {
                process.pss_failed(false);
            }
        }
        gaps
    }

    fn overtaken(&mut self, details: &[Detail], roster: &mut Roster, t: Seconds) -> Vec<bool> {
        let waits = !self.kin.is_settled(t);
        details
            .iter()
            .map(|detail| {
                let process = roster.find_mut(detail.process);
                waits && process.is_some_and(|process| process.was_overtaken())
            })
            .collect()
    }

    fn take_one(&mut self, detail: &Detail, roster: &mut Roster, total: Bytes) -> Option<Gap> {
        let at = detail.at.since(&self.started);
        let process = roster.find_mut(detail.process)?;
        match &detail.outcome {
            Outcome::Read(rollup, base, kinds) => {
                let surprise = process.take_pss(at, detail.cost, rollup, *base, kinds.as_ref());
                // A share that is not what it was thought to be changed the shares of those it
                // shares with: a page that one copies is the other's alone from then on.
                if surprise > tolerable(total) && roster.shares(detail.process) {
                    roster.doubt_sharers(Some(detail.process));
                }
                if let Some(kinds) = *kinds {
                    self.mappings = Some(MappingReading {
                        process: detail.process,
                        at,
                        kinds,
                    });
                }
                None
            }
            Outcome::Gone => {
                process.pss_failed(false);
                None
            }
            Outcome::Unreadable(errno) => {
                process.pss_failed(true);
                Some(pss_gap(detail.process, process.handle().key().pid, *errno))
            }
        }
    }

    /// Asks for what is worth reading now.
    pub fn plan(&mut self, roster: &mut Roster, t: Seconds, elapsed: Duration, page_size: Bytes) {
        self.budget.earn(elapsed);
        if !self.budget.is_open() || self.detail.is_busy() || !self.kin.is_settled(t) {
            return;
        }
        let candidates = pss_plan::candidates(roster.watched(), t, page_size);
        let income = self.budget.income(elapsed);
        for candidate in pss_plan::affordable(&candidates, &self.budget, income) {
            let process = &mut roster.watched_mut()[candidate.place];
            if let Ok(directory) = process.handle().directory() {
                process.pss_asked();
                self.detail.request(Request {
                    process: process.index(),
                    directory,
                    by_kind: candidate.by_kind,
                });
            }
        }
    }
}

impl KinFlux {
    fn changed(&mut self, t: Seconds) {
        self.last_change = Some(t);
        self.unsettled_since.get_or_insert(t);
    }

    fn is_settled(&mut self, t: Seconds) -> bool {
        let quiet = self
            .last_change
            .is_none_or(|at| (t - at).0 >= KIN_SETTLED.0);
        let patient = self
            .unsettled_since
            .is_some_and(|since| (t - since).0 < KIN_PATIENCE.0);
        if quiet || !patient {
            self.unsettled_since = None;
        }
        quiet || !patient
    }
}

fn pss_gap(process: ProcessIndex, pid: Pid, errno: Errno) -> Gap {
    let next = match errno {
        Errno::ACCESS | Errno::PERM => {
            "; its share is estimated from its RSS. Run leveloff as the same user or as root"
        }
        _ => "; its share is estimated from its RSS",
    };
    Gap {
        subject: Subject::Pss,
        process: Some(process),
        text: format!("cannot read memory detail of {pid}: {errno}{next}"),
    }
}
