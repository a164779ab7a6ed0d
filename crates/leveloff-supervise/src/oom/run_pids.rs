//! The pids of the run at each moment.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;

use leveloff_model::process::{Pid, ProcessIndex};
use leveloff_model::sample::{Event, Tick};

use super::kill::Kill;

/// The living processes of the run, and the control group that was made for it.
#[derive(Debug)]
pub struct RunPids {
    pids: HashMap<ProcessIndex, Pid>,
    command: Option<Pid>,
    job_cgroup: Option<String>,
    /// The log has pids of the first pid namespace; in a container ours differ.
    match_the_log: bool,
}

/// The first pid namespace has this number on every Linux (PROC_PID_INIT_INO).
const FIRST_PID_NAMESPACE: &str = "pid:[4026531836]";

impl Default for RunPids {
    fn default() -> RunPids {
        let namespace = std::fs::read_link("/proc/self/ns/pid");
        RunPids {
            pids: HashMap::new(),
            command: None,
            job_cgroup: None,
            match_the_log: namespace.is_ok_and(|it| it == Path::new(FIRST_PID_NAMESPACE)),
        }
    }
}

impl RunPids {
    /// Adds the command's process before the first tick.
    pub fn add_command(&mut self, pid: Pid) {
        self.command = Some(pid);
    }

    /// Every process in this control group belongs to the run.
    pub fn set_job_cgroup(&mut self, group: &Path) {
        let name = group.file_name().and_then(OsStr::to_str);
        self.job_cgroup = name.map(str::to_owned);
    }

    /// Adds the processes that appeared.
    pub fn add_appeared(&mut self, tick: &Tick) {
        for event in &tick.events {
            if let Event::Appeared(info) | Event::Changed(info) = event {
                self.pids.insert(info.index, info.key.pid);
            }
        }
    }

    /// Removes the processes that exited; their pids may be reused.
    pub fn remove_exited(&mut self, tick: &Tick) {
        for event in &tick.events {
            if let Event::Exited(index) = event {
                let gone = self.pids.remove(index);
                self.command = self.command.filter(|&pid| gone != Some(pid));
            }
        }
    }

    /// Whether the killed process belonged to the run.
    pub fn include(&self, kill: &Kill) -> bool {
        let by_cgroup = self.job_cgroup.is_some() && kill.cgroup == self.job_cgroup;
        by_cgroup || self.match_the_log && self.pids().any(|pid| pid == kill.pid)
    }

    /// Whether the log has the pids that we see.
    pub fn match_the_log(&self) -> bool {
        self.match_the_log
    }

    /// All pids.
    pub fn pids(&self) -> impl Iterator<Item = Pid> {
        self.pids.values().copied().chain(self.command)
    }
}
