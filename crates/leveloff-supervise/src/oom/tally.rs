//! How many kills are counted, for when the log cannot be read.

use std::path::{Path, PathBuf};

use leveloff_model::recording::EndReason;
use leveloff_model::sample::Tick;
use leveloff_model::units::{Bytes, Seconds};
use leveloff_sampler::kernel::keyed::number_of;
use leveloff_sampler::proc_root::ProcRoot;
use leveloff_sampler::system::cgroup::CgroupReader;
use rustix::process::Signal;

use super::members::Members;
use super::report::{Evidence, OomReport};

/// The counters that may tell, and what they said before.
#[derive(Debug)]
pub struct Tally {
    own: Option<OwnGroup>,
    around: Option<Around>,
    machine: Recent,
}

/// A group that was made for the run.
#[derive(Debug)]
struct OwnGroup {
    directory: PathBuf,
    limit: Bytes,
}

/// The group that the run is in, perhaps with others.
#[derive(Debug)]
struct Around {
    reader: CgroupReader,
    before: u64,
}

/// The machine's count as it was a little while ago: a kill of yesterday did not end the run now.
#[derive(Debug, Default)]
struct Recent {
    older: Option<u64>,
    newer: Option<(Seconds, u64)>,
}

/// How old the machine's count gets before another takes its place. The sampler reads it every five
/// seconds.
const RECENT: Seconds = Seconds(10.0);

impl Tally {
    /// From now on.
    pub fn begin() -> Tally {
        Tally {
            own: None,
            around: None,
            machine: Recent {
                older: machine_kills(),
                newer: None,
            },
        }
    }

    /// Also in this group, which is new.
    pub fn count_in(&mut self, group: &Path, limit: Bytes) {
        self.own = Some(OwnGroup {
            directory: group.to_owned(),
            limit,
        });
    }

    /// The limit of the run's own group.
    pub fn own_limit(&self) -> Option<Bytes> {
        self.own.as_ref().map(|own| own.limit)
    }

    /// Takes a tick.
    pub fn see(&mut self, tick: &Tick, members: &Members) {
        if self.around.is_none() {
            self.around = members.pids().next().and_then(|pid| {
                let mut reader = CgroupReader::new(&ProcRoot::live(), "/", pid);
                let before = reader.read(true)?.oom_kills?;
                Some(Around { reader, before })
            });
        }
        if let Some(kills) = tick.sample.machine.oom_kills {
            self.machine.take(tick.sample.t, kills);
        }
    }

    /// What the counters tell, beside how the run ended. `is_cleared` is a log that would have named
    /// the process and does not: a command that was ended by signal 9 was then ended by somebody
    /// else. Only a process that was never seen may have been killed unnamed.
    pub fn report(&mut self, reason: EndReason, is_cleared: bool) -> Option<OomReport> {
        let end = End::of(reason);
        if let Some(own) = &self.own
            && group_kills(&own.directory).is_some_and(|kills| kills > 0)
        {
            return Some(OomReport::counted(Evidence::OwnGroup { limit: own.limit }));
        }
        if is_cleared && end == End::Killed {
            return None;
        }
        if end >= End::Unknown
            && let Some(limit) = self.around.as_mut().and_then(Around::rose)
        {
            let is_certain = end == End::Killed;
            return Some(OomReport::counted(Evidence::Group { limit, is_certain }));
        }
        (end == End::Killed && self.machine.rose()).then(|| OomReport::counted(Evidence::Machine))
    }
}

impl Around {
    /// If it counts more than before: its limit, where it has one.
    fn rose(&mut self) -> Option<Option<Bytes>> {
        let now = self.reader.read(true)?;
        (now.oom_kills? > self.before).then_some(now.limit)
    }
}

impl Recent {
    fn take(&mut self, t: Seconds, kills: u64) {
        match self.newer {
            Some((then, _)) if (t - then).0 < RECENT.0 => {}
            newer => {
                self.older = newer.map(|(_, kills)| kills).or(self.older);
                self.newer = Some((t, kills));
            }
        }
    }

    fn rose(&self) -> bool {
        let rose = |(before, now)| now > before;
        self.older.zip(machine_kills()).is_some_and(rose)
    }
}

/// How a run ended, from what no OOM kill does to what every one does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// It goes on, or ended well.
    Well,
    /// Nobody knows: it was not started by us.
    Unknown,
    /// With an error; perhaps because it lost a process.
    Badly,
    /// By signal 9.
    Killed,
}

/// What a shell makes of a command that was ended by signal 9.
const SHELLS_CODE_OF_KILLED: i32 = 128 + Signal::KILL.as_raw();

impl End {
    fn of(reason: EndReason) -> End {
        match reason {
            EndReason::Signalled(signal) if signal == Signal::KILL.as_raw() => End::Killed,
            EndReason::Exited(SHELLS_CODE_OF_KILLED) => End::Killed,
            EndReason::Exited(0) | EndReason::Duration | EndReason::Stopped => End::Well,
            EndReason::Exited(_) | EndReason::Signalled(_) => End::Badly,
            EndReason::TargetGone | EndReason::Other => End::Unknown,
        }
    }
}

fn machine_kills() -> Option<u64> {
    number_of(&std::fs::read("/proc/vmstat").ok()?, b"oom_kill")
}

/// Of version 2 or 1.
fn group_kills(directory: &Path) -> Option<u64> {
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
    fn the_count_of_a_group_is_read_in_both_versions() {
        let place = tempfile::tempdir().unwrap();
        assert_eq!(group_kills(place.path()), None);
        let v1 = "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n";
        std::fs::write(place.path().join("memory.oom_control"), v1).unwrap();
        assert_eq!(group_kills(place.path()), Some(2));
        let v2 = "low 0\nhigh 0\nmax 8\noom 1\noom_kill 3\noom_group_kill 1\n";
        std::fs::write(place.path().join("memory.events"), v2).unwrap();
        assert_eq!(group_kills(place.path()), Some(3));
    }

    #[test]
    fn a_kill_in_the_own_group_is_told_however_the_run_ended() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("memory.events"), "oom_kill 1\n").unwrap();
        let mut tally = Tally::begin();
        tally.count_in(place.path(), Bytes(28 << 30));
        let words = tally.report(EndReason::Exited(0), true).unwrap().words();
        assert!(words.contains("limit of --isolate (28.0 GiB)"), "{words}");
    }

    #[test]
    fn the_machines_count_is_forgotten_after_a_while() {
        let mut recent = Recent {
            older: Some(0),
            newer: None,
        };
        for t in 0..=25 {
            recent.take(Seconds(f64::from(t)), if t < 8 { 3 } else { 4 });
        }
        assert_eq!(recent.older, Some(4));
        assert_eq!(recent.newer, Some((Seconds(20.0), 4)));
    }

    #[test]
    fn only_signal_9_and_its_code_are_a_kill() {
        assert_eq!(End::of(EndReason::Signalled(9)), End::Killed);
        assert_eq!(End::of(EndReason::Exited(137)), End::Killed);
        assert_eq!(End::of(EndReason::Signalled(15)), End::Badly);
        assert_eq!(End::of(EndReason::TargetGone), End::Unknown);
        assert_eq!(End::of(EndReason::Exited(0)), End::Well);
    }
}
