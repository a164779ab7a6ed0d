//! Plans and collects the PSS readings of a run.

use std::time::Duration;

use leveloff_model::process::{Pid, ProcessIndex};
use leveloff_model::sample::{Gap, Kinds, MappingReading, Subject};
use leveloff_model::units::{Bytes, Seconds};
use rustix::io::Errno;

use super::cpu_budget::CpuBudget;
use super::filling_mapping::FillingMappings;
use super::plan;
use super::reader::{PssReader, PssRequest, PssResult};
use crate::clock::Moment;
use crate::kernel::large_mappings::LargeMappings;
use crate::processes::WatchedProcesses;
use crate::processes::handle::ReadError;
use crate::processes::pss_uncertainty::tolerable;

#[derive(Debug)]
pub struct PssTracker {
    started: Moment,
    reader: PssReader,
    /// Readings that were waited for; the next tick takes them.
    arrived: Vec<PssResult>,
    budget: CpuBudget,
    fork_burst: ForkBurst,
    filling: FillingMappings,
    /// The memory of the largest process by kind, as last read.
    pub mappings: Option<MappingReading>,
}

/// Forks come in bursts. A PSS reading within one is outdated by the next fork, so readings wait until the
/// burst is over, within a limit.
#[derive(Debug, Default)]
struct ForkBurst {
    last_change: Option<Seconds>,
    started: Option<Seconds>,
}

/// A burst of forks is over when none started or exited for this long.
const QUIET_TIME: Seconds = Seconds(0.9);

/// After this long, PSS is read even while forks go on.
const LONGEST_WAIT: Seconds = Seconds(10.0);

impl PssTracker {
    /// `percent` is the budget of CPU time, of one core.
    pub fn new(reader: PssReader, percent: f64, started: Moment) -> PssTracker {
        PssTracker {
            started,
            reader,
            arrived: Vec::new(),
            budget: CpuBudget::percent(percent),
            fork_burst: ForkBurst::default(),
            filling: FillingMappings::default(),
            mappings: None,
        }
    }

    /// Waits for the requested readings.
    pub fn wait(&mut self) {
        self.arrived.extend(self.reader.wait());
    }

    /// Notes a new fork: all processes that share pages must be read again after the burst.
    pub fn fork_started(&mut self, processes: &mut WatchedProcesses, t: Seconds) {
        processes.mark_sharers_uncertain(None);
        self.fork_burst.changed(t);
    }

    /// Notes that a fork exited. Dataloader workers that exit with their epoch are replaced within
    /// milliseconds. A parent that is read in between shares its pages with processes that are not known
    /// yet, and the run would seem to shrink until all are read.
    pub fn fork_exited(&mut self, t: Seconds) {
        self.fork_burst.changed(t);
    }

    /// Stores the readings that finished since the last call; a failed one is a gap.
    ///
    /// A reading that is older than a fork counts pages as shared with a process that is not read yet: the run
    /// would seem to lose them for seconds. It is dropped and repeated after the burst of forks. So forks must
    /// be noticed first.
    pub fn take(&mut self, processes: &mut WatchedProcesses, total: Bytes, t: Seconds) -> Vec<Gap> {
        self.arrived.extend(self.reader.finished());
        // Relatives are read together, and count together.
        if self.reader.is_busy() {
            return Vec::new();
        }
        let results = std::mem::take(&mut self.arrived);
        // Before the first is stored, because that may mark the others as uncertain without a fork.
        let outdated = self.outdated(&results, processes, t);
        let mut gaps = Vec::new();
        let mut read = Vec::new();
        for (result, outdated) in results.iter().zip(outdated) {
            self.budget.spend(result.cost);
            if !outdated {
                if result.outcome.is_ok() && !result.without_relatives {
                    read.push(result.process);
                }
                gaps.extend(self.take_one(result, processes, total));
            } else if let Some(process) = processes.find_mut(result.process) {
                process.pss_failed(false);
            }
        }
        if !read.is_empty() {
            processes.learn_from(&read);
        }
        gaps
    }

    fn outdated(
        &mut self,
        results: &[PssResult],
        processes: &mut WatchedProcesses,
        t: Seconds,
    ) -> Vec<bool> {
        let waits = !self.fork_burst.is_over(t);
        results
            .iter()
            .map(|result| {
                let process = processes.find_mut(result.process);
                waits && process.is_some_and(|process| process.relatives_changed())
            })
            .collect()
    }

    fn take_one(
        &mut self,
        result: &PssResult,
        processes: &mut WatchedProcesses,
        total: Bytes,
    ) -> Option<Gap> {
        let at = result.at.since(&self.started);
        let process = processes.find_mut(result.process)?;
        match &result.outcome {
            Ok(values) if result.without_relatives => {
                process.sample_taken(at, result.cost, values);
                if let Some(kinds) = values.kinds {
                    process.set_kinds_at(at);
                    self.take_kinds(result.process, at, kinds, &values.large);
                }
                processes.learn_from_sample(result.process, values);
                None
            }
            Ok(values) => {
                let error = process.take_pss(at, result.cost, values);
                // A share that differs from the estimate also changed the shares of its relatives: a page
                // that one process copies belongs to the other alone from then on.
                if error > tolerable(total) && processes.shares(result.process) {
                    processes.mark_sharers_uncertain(Some(result.process));
                }
                if let Some(kinds) = values.kinds {
                    self.take_kinds(result.process, at, kinds, &values.large);
                }
                None
            }
            Err(ReadError::Exited) => {
                process.pss_failed(false);
                None
            }
            Err(ReadError::Unreadable(errno)) => {
                process.pss_failed(true);
                Some(pss_gap(result.process, process.pid(), *errno))
            }
        }
    }

    fn take_kinds(
        &mut self,
        process: ProcessIndex,
        at: Seconds,
        kinds: Kinds,
        large: &LargeMappings,
    ) {
        self.mappings = Some(MappingReading {
            process,
            at,
            kinds,
            filling: self.filling.observe(process, large),
        });
    }

    /// Requests the readings that are worth their cost now.
    pub fn plan(
        &mut self,
        processes: &mut WatchedProcesses,
        t: Seconds,
        elapsed: Duration,
        page_size: Bytes,
    ) {
        self.budget.earn(elapsed);
        if !self.budget.is_open() || self.reader.is_busy() || !self.fork_burst.is_over(t) {
            return;
        }
        let candidates = plan::candidates(processes, &self.budget, t, page_size);
        let income = self.budget.income(elapsed);
        for candidate in plan::affordable(&candidates, &self.budget, income) {
            let process = &mut processes.all_mut()[candidate.place];
            if let Ok(directory) = process.handle.directory() {
                match candidate.without_relatives {
                    true => process.sample_requested(),
                    false => process.pss_requested(),
                }
                self.reader.request(PssRequest {
                    process: process.index(),
                    directory,
                    by_kind: candidate.by_kind,
                    without_relatives: candidate.without_relatives,
                });
            }
        }
    }
}

impl ForkBurst {
    fn changed(&mut self, t: Seconds) {
        self.last_change = Some(t);
        self.started.get_or_insert(t);
    }

    fn is_over(&mut self, t: Seconds) -> bool {
        let quiet = self.last_change.is_none_or(|at| (t - at).0 >= QUIET_TIME.0);
        let waited = self
            .started
            .is_none_or(|since| (t - since).0 >= LONGEST_WAIT.0);
        if quiet || waited {
            self.started = None;
        }
        quiet || waited
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
