//! Whose numbers are the run's, at each moment.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;

use leveloff_model::process::{Pid, ProcessIndex};
use leveloff_model::sample::{Event, Tick};

use super::kill::Kill;

/// The living processes of the run, and the control group that is its own.
#[derive(Debug)]
pub struct Members {
    pids: HashMap<ProcessIndex, Pid>,
    expected: Option<Pid>,
    own_group: Option<String>,
    /// The log has the numbers of the first pid namespace; in a container ours are others.
    numbers_are_the_kernels: bool,
}

/// The first pid namespace has this number on every Linux (PROC_PID_INIT_INO).
const FIRST_PID_NAMESPACE: &str = "pid:[4026531836]";

impl Default for Members {
    fn default() -> Members {
        let namespace = std::fs::read_link("/proc/self/ns/pid");
        Members {
            pids: HashMap::new(),
            expected: None,
            own_group: None,
            numbers_are_the_kernels: namespace.is_ok_and(|it| it == Path::new(FIRST_PID_NAMESPACE)),
        }
    }
}

impl Members {
    /// One that is known before the first tick.
    pub fn expect(&mut self, pid: Pid) {
        self.expected = Some(pid);
    }

    /// Whoever is in this control group is one of us.
    pub fn belong_to(&mut self, group: &Path) {
        let name = group.file_name().and_then(OsStr::to_str);
        self.own_group = name.map(str::to_owned);
    }

    /// Those who joined.
    pub fn welcome(&mut self, tick: &Tick) {
        for event in &tick.events {
            if let Event::Appeared(info) | Event::Changed(info) = event {
                self.pids.insert(info.index, info.key.pid);
            }
        }
    }

    /// Those who left; their numbers may soon be others'.
    pub fn part_with(&mut self, tick: &Tick) {
        for event in &tick.events {
            if let Event::Exited(index) = event {
                let gone = self.pids.remove(index);
                self.expected = self.expected.filter(|&pid| gone != Some(pid));
            }
        }
    }

    /// Whether it was one of us who was killed.
    pub fn include(&self, kill: &Kill) -> bool {
        let by_group = self.own_group.is_some() && kill.group == self.own_group;
        by_group || self.numbers_are_the_kernels && self.pids().any(|pid| pid == kill.pid)
    }

    /// Whether the log would have named one of us.
    pub fn are_known_to_the_kernel(&self) -> bool {
        self.numbers_are_the_kernels
    }

    /// All numbers.
    pub fn pids(&self) -> impl Iterator<Item = Pid> {
        self.pids.values().copied().chain(self.expected)
    }
}
