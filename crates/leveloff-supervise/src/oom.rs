//! When the kernel's OOM killer was faster: says so, where otherwise only "signal 9" would stand.
//!
//! Evidence, best first: the kernel's log names a process of the run; the count of kills of a control
//! group that is the job's own, or that the run is in, rose; the machine's count rose just when
//! a process was ended by signal 9. What is only likely is said to be so.

mod kernel_log;
mod kill;
mod line;
mod members;
mod report;
mod tally;

use std::io;
use std::path::Path;

use leveloff_model::process::Pid;
use leveloff_model::recording::EndReason;
use leveloff_model::sample::Tick;
use leveloff_model::units::Bytes;

use kernel_log::KernelLog;
use kill::{Kill, Story};
use line::Line;
use members::Members;
use tally::Tally;

pub use report::{Evidence, OomReport};

/// The lines of the kernel's log that tell of OOM kills, oldest first, as far back as it reaches. An
/// error, when we may not read it.
pub fn kernel_log_lines() -> io::Result<Vec<String>> {
    let mut lines = Vec::new();
    KernelLog::from_the_start()?.each(|record| {
        if line::is_telling(record.text) {
            lines.push(record.printed());
        }
    });
    Ok(lines)
}

/// Watches for OOM kills in a run, from its beginning to its end.
#[derive(Debug)]
pub struct OomWatch {
    /// `None` when we may not read it.
    log: Option<KernelLog>,
    story: Story,
    kills: Vec<Kill>,
    members: Members,
    tally: Tally,
}

/// Further kills of the same run are not remembered: by then it is clear.
const MOST_KILLS: usize = 100;

impl OomWatch {
    /// Begins; what happened before is not the run's. To be called before the command is started.
    pub fn begin() -> OomWatch {
        OomWatch {
            log: KernelLog::from_now_on().ok(),
            story: Story::default(),
            kills: Vec::new(),
            members: Members::default(),
            tally: Tally::begin(),
        }
    }

    /// A process of the run, before the first tick has seen it.
    pub fn expect(&mut self, pid: Pid) {
        self.members.expect(pid);
    }

    /// The run has a control group of its own, new and with this limit.
    pub fn isolated_in(&mut self, group: &Path, limit: Bytes) {
        self.members.belong_to(group);
        self.tally.count_in(group, limit);
    }

    /// Takes a tick. The log is read at each, while it is known whose numbers are whose.
    pub fn see(&mut self, tick: &Tick) {
        self.members.welcome(tick);
        self.read_log();
        self.members.part_with(tick);
        self.tally.see(tick, &self.members);
    }

    /// What the OOM killer did to the run; `None` when there is no sign of it.
    pub fn report(&mut self, reason: EndReason) -> Option<OomReport> {
        self.read_log();
        if let Some(report) = OomReport::from_log(&self.kills, self.tally.own_limit()) {
            return Some(report);
        }
        let has_whole_log = self.log.as_ref().is_some_and(|log| !log.has_lost_some());
        let is_cleared = has_whole_log && self.members.are_known_to_the_kernel();
        self.tally.report(reason, is_cleared)
    }

    fn read_log(&mut self) {
        let Some(log) = &mut self.log else { return };
        let OomWatch {
            story,
            kills,
            members,
            ..
        } = self;
        log.each(|record| {
            let kill = Line::parse(record.text).and_then(|line| story.hear(line));
            kills.extend(kill.filter(|kill| kills.len() < MOST_KILLS && members.include(kill)));
        });
    }
}

#[cfg(test)]
mod tests;
