//! The kernel's counters of OOM kills, for when its log cannot be read.

use std::path::{Path, PathBuf};

use leveloff_model::recording::EndReason;
use leveloff_model::sample::Tick;
use leveloff_model::units::{Bytes, Seconds};
use leveloff_sampler::kernel::keyed::number_of;
use leveloff_sampler::proc_root::ProcRoot;
use leveloff_sampler::system::cgroup::CgroupReader;
use rustix::process::Signal;

use super::report::OomReport;
use super::run_pids::RunPids;

/// The counters, with their values at the begin.
#[derive(Debug)]
pub struct KillCounters {
    job: Option<JobCgroup>,
    surrounding: Option<SurroundingCgroup>,
    machine: RecentCount,
}

/// The control group that was made for the run.
#[derive(Debug)]
struct JobCgroup {
    directory: PathBuf,
    limit: Bytes,
}

/// The control group that the run is in, perhaps with other processes.
#[derive(Debug)]
struct SurroundingCgroup {
    reader: CgroupReader,
    before: u64,
}

/// The machine's counter as it was some seconds ago: an earlier kill did not end the run now.
#[derive(Debug, Default)]
struct RecentCount {
    older: Option<u64>,
    newer: Option<(Seconds, u64)>,
}

/// The age at which a reading of the machine's counter is replaced. The sampler reads it every five seconds.
const RECENT: Seconds = Seconds(10.0);

impl KillCounters {
    /// Begins to count.
    pub fn begin() -> KillCounters {
        KillCounters {
            job: None,
            surrounding: None,
            machine: RecentCount {
                older: machine_kills(),
                newer: None,
            },
        }
    }

    /// Counts the kills of this new control group as well.
    pub fn set_job_cgroup(&mut self, group: &Path, limit: Bytes) {
        self.job = Some(JobCgroup {
            directory: group.to_owned(),
            limit,
        });
    }

    /// The limit of the run's own control group.
    pub fn job_limit(&self) -> Option<Bytes> {
        self.job.as_ref().map(|job| job.limit)
    }

    /// Takes a tick.
    pub fn observe(&mut self, tick: &Tick, pids: &RunPids) {
        if self.surrounding.is_none() {
            self.surrounding = pids.pids().next().and_then(|pid| {
                let mut reader = CgroupReader::new(&ProcRoot::live(), "/", pid);
                let before = reader.read(true)?.oom_kills?;
                Some(SurroundingCgroup { reader, before })
            });
        }
        if let Some(kills) = tick.sample.machine.oom_kills {
            self.machine.push(tick.sample.t, kills);
        }
    }

    /// What the counters say, given how the run ended. With `log_has_no_kill`, a complete log names no process of the run: if
    /// its command was ended by signal 9, then not by the OOM killer. Only a process that no tick has seen may have been
    /// killed.
    pub fn report(&mut self, reason: EndReason, log_has_no_kill: bool) -> Option<OomReport> {
        let end = End::of(reason);
        if let Some(job) = &self.job
            && cgroup_kills(&job.directory).is_some_and(|kills| kills > 0)
        {
            return Some(OomReport::JobCgroup { limit: job.limit });
        }
        if log_has_no_kill && end == End::Killed {
            return None;
        }
        if end >= End::Unknown
            && let Some(limit) = self
                .surrounding
                .as_mut()
                .and_then(SurroundingCgroup::limit_if_risen)
        {
            let is_certain = end == End::Killed;
            return Some(OomReport::Cgroup { limit, is_certain });
        }
        (end == End::Killed && self.machine.has_risen()).then_some(OomReport::Machine)
    }
}

impl SurroundingCgroup {
    /// If its counter has risen: its limit, where it has one.
    fn limit_if_risen(&mut self) -> Option<Option<Bytes>> {
        let now = self.reader.read(true)?;
        (now.oom_kills? > self.before).then_some(now.limit)
    }
}

impl RecentCount {
    fn push(&mut self, t: Seconds, kills: u64) {
        match self.newer {
            Some((then, _)) if (t - then).0 < RECENT.0 => {}
            newer => {
                self.older = newer.map(|(_, kills)| kills).or(self.older);
                self.newer = Some((t, kills));
            }
        }
    }

    fn has_risen(&self) -> bool {
        let before_and_now = self.older.zip(machine_kills());
        before_and_now.is_some_and(|(before, now)| now > before)
    }
}

/// How a run ended, ordered by how likely an OOM kill is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// With success, or it still runs.
    Success,
    /// Not known: leveloff did not start it.
    Unknown,
    /// With an error, perhaps because it lost a process.
    Failure,
    /// By signal 9.
    Killed,
}

/// A shell's exit code for a command that was ended by signal 9.
const SHELL_CODE_OF_KILLED: i32 = 128 + Signal::KILL.as_raw();

impl End {
    fn of(reason: EndReason) -> End {
        match reason {
            EndReason::Signalled(signal) if signal == Signal::KILL.as_raw() => End::Killed,
            EndReason::Exited(SHELL_CODE_OF_KILLED) => End::Killed,
            EndReason::Exited(0) | EndReason::Duration | EndReason::Stopped => End::Success,
            EndReason::Exited(_) | EndReason::Signalled(_) => End::Failure,
            EndReason::TargetGone | EndReason::Other => End::Unknown,
        }
    }
}

fn machine_kills() -> Option<u64> {
    number_of(&std::fs::read("/proc/vmstat").ok()?, b"oom_kill")
}

/// The counter of a control group of version 2 or 1.
fn cgroup_kills(directory: &Path) -> Option<u64> {
    let read = |file| std::fs::read(directory.join(file));
    let text = read("memory.events")
        .or_else(|_| read("memory.oom_control"))
        .ok()?;
    number_of(&text, b"oom_kill")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counter_of_a_cgroup_is_read_in_both_versions() {
        let place = tempfile::tempdir().unwrap();
        assert_eq!(cgroup_kills(place.path()), None);
        let v1 = "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n";
        std::fs::write(place.path().join("memory.oom_control"), v1).unwrap();
        assert_eq!(cgroup_kills(place.path()), Some(2));
        let v2 = "low 0\nhigh 0\nmax 8\noom 1\noom_kill 3\noom_group_kill 1\n";
        std::fs::write(place.path().join("memory.events"), v2).unwrap();
        assert_eq!(cgroup_kills(place.path()), Some(3));
    }

    #[test]
    fn a_kill_in_the_job_cgroup_is_reported_however_the_run_ended() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("memory.events"), "oom_kill 1\n").unwrap();
        let mut counters = KillCounters::begin();
        counters.set_job_cgroup(place.path(), Bytes(28 << 30));
        let message = counters
            .report(EndReason::Exited(0), true)
            .unwrap()
            .message();
        assert!(
            message.contains("limit of --isolate (28.0 GiB)"),
            "{message}"
        );
    }

    #[test]
    fn an_old_reading_of_the_machines_counter_is_replaced() {
        let mut recent = RecentCount {
            older: Some(0),
            newer: None,
        };
        for t in 0..=25 {
            recent.push(Seconds(f64::from(t)), if t < 8 { 3 } else { 4 });
        }
        assert_eq!(recent.older, Some(4));
        assert_eq!(recent.newer, Some((Seconds(20.0), 4)));
    }

    #[test]
    fn only_signal_9_and_its_code_are_a_kill() {
        assert_eq!(End::of(EndReason::Signalled(9)), End::Killed);
        assert_eq!(End::of(EndReason::Exited(137)), End::Killed);
        assert_eq!(End::of(EndReason::Signalled(15)), End::Failure);
        assert_eq!(End::of(EndReason::TargetGone), End::Unknown);
        assert_eq!(End::of(EndReason::Exited(0)), End::Success);
    }
}
