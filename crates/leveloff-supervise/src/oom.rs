//! Finds out whether the kernel's OOM killer ended a process of the run, where otherwise only "signal 9" would be known.
//!
//! Evidence, strongest first: the kernel's log names a process of the run; the kill counter of the job's own control group, or
//! of the one that the run is in, rose; the machine's kill counter rose just when a process was ended by signal 9. A report
//! from weaker evidence says "probably".

mod kernel_log;
mod kill;
mod kill_counters;
mod log_line;
mod report;
mod run_pids;

use std::io;
use std::path::Path;

use leveloff_model::process::Pid;
use leveloff_model::recording::EndReason;
use leveloff_model::sample::Tick;
use leveloff_model::units::Bytes;

use kernel_log::KernelLog;
use kill::{Kill, KillParser};
use kill_counters::KillCounters;
use log_line::LogLine;
use run_pids::RunPids;

pub use report::OomReport;

/// The lines of the kernel's log about OOM kills, oldest first, as far back as it reaches. An error if we may not read it.
pub fn kernel_log_lines() -> io::Result<Vec<String>> {
    let mut lines = Vec::new();
    KernelLog::open_at_start()?.for_each(|record| {
        if log_line::is_about_oom(record.text) {
            lines.push(record.printed());
        }
    });
    Ok(lines)
}

/// Watches for OOM kills in a run, from its beginning to its end.
#[derive(Debug)]
pub struct OomWatch {
    /// `None` if we may not read it.
    log: Option<KernelLog>,
    parser: KillParser,
    kills: Vec<Kill>,
    pids: RunPids,
    counters: KillCounters,
}

/// The most kills of one run that are kept.
const MOST_KILLS: usize = 100;

impl OomWatch {
    /// Begins at the present end of the log. Call this before the command is started.
    pub fn begin() -> OomWatch {
        OomWatch {
            log: KernelLog::open_at_end().ok(),
            parser: KillParser::default(),
            kills: Vec::new(),
            pids: RunPids::default(),
            counters: KillCounters::begin(),
        }
    }

    /// Adds the command's process before the first tick.
    pub fn add_command(&mut self, pid: Pid) {
        self.pids.add_command(pid);
    }

    /// The run has a new control group of its own with this limit.
    pub fn set_job_cgroup(&mut self, group: &Path, limit: Bytes) {
        self.pids.set_job_cgroup(group);
        self.counters.set_job_cgroup(group, limit);
    }

    /// Takes a tick. The log is read at each, before the pids of exited processes can be reused.
    pub fn observe(&mut self, tick: &Tick) {
        self.pids.add_appeared(tick);
        self.read_log();
        self.pids.remove_exited(tick);
        self.counters.observe(tick, &self.pids);
    }

    /// What the OOM killer did to the run; `None` if there is no evidence of a kill.
    pub fn report(&mut self, reason: EndReason) -> Option<OomReport> {
        self.read_log();
        if let Some(report) = OomReport::from_log(&self.kills, self.counters.job_limit()) {
            return Some(report);
        }
        let has_whole_log = self.log.as_ref().is_some_and(KernelLog::is_complete);
        let log_has_no_kill = has_whole_log && self.pids.match_the_log();
        self.counters.report(reason, log_has_no_kill)
    }

    fn read_log(&mut self) {
        let Some(log) = &mut self.log else { return };
        log.for_each(|record| {
            let line = LogLine::parse(record.text);
            let kill = line.and_then(|line| self.parser.push(line));
            let kill = kill.filter(|kill| self.kills.len() < MOST_KILLS && self.pids.include(kill));
            self.kills.extend(kill);
        });
    }
}

#[cfg(test)]
mod tests;
