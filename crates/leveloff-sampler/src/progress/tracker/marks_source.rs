//! Finds, checks and follows the marks of one trainer, with times on the recording's clock.

use std::io;

use leveloff_model::process::Pid;
use leveloff_model::units::Seconds;

use crate::proc_root::ProcRoot;
use crate::progress::marks::StopRequest;
use crate::progress::marks::follower::{MarksFollower, Writer};
use crate::progress::marks::location::MarksLocation;
use crate::progress::marks::target::{MARKS_VARIABLE, MarksTarget};
use crate::progress::marks::trust::{self, Owners};
use crate::regular_file::FileId;
use leveloff_progress::{ProgressUpdate, UnixSeconds};

/// How often missing files are searched for, and replaced ones are noticed.
pub const SEARCH_EVERY: Seconds = Seconds(1.0);

/// How often a missing file is searched for at first: a training that starts together with leveloff creates
/// it within a second, and may do dozens of steps in the next.
const EARLY_SEARCH_EVERY: Seconds = Seconds(0.1);

/// How long that lasts.
const EARLY: Seconds = Seconds(10.0);

/// How often a missing file is searched for after [`LATE`], and a present one is checked that still has its name. A search
/// costs as much as the counters of a dozen processes. Marks have times of their own, so those that were written meanwhile
/// are not misplaced.
const LATE_SEARCH_EVERY: Seconds = Seconds(5.0);

/// How often the environment is read again after [`LATE`]: it changes only if the process executes another program.
const LATE_ENVIRONMENT_EVERY: Seconds = Seconds(60.0);

/// By then a training that writes marks has nearly always begun to.
pub const LATE: Seconds = Seconds(60.0);

/// The marks of one trainer, which may not exist yet.
#[derive(Debug)]
pub struct MarksSource {
    proc_root: ProcRoot,
    target: MarksTarget,
    owners: Owners,
    locations: Vec<MarksLocation>,
    first_search: Option<Seconds>,
    last_search: Seconds,
    next_search: Seconds,
    next_environment: Seconds,
    followed: Option<Followed>,
    /// The training said that it obeys stop requests.
    obeys_stop: bool,
}

#[derive(Debug)]
struct Followed {
    location: MarksLocation,
    follower: Box<MarksFollower>,
    /// Nothing was read yet, so the content may be from before the recording.
    is_fresh: bool,
}

/// The time of a mark on the recording's clock.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MarkTime {
    pub t: Seconds,
    /// Before the recording began.
    pub is_history: bool,
}

/// What a poll of the marks found.
#[derive(Debug, Default)]
pub struct SourceUpdates {
    /// Oldest first.
    pub updates: Vec<(MarkTime, ProgressUpdate)>,
    /// Why marks are not read.
    pub troubles: Vec<String>,
}

impl MarksSource {
    /// Reads who the process is and where its marks may be.
    pub fn of(proc_root: &ProcRoot, pid: Pid) -> io::Result<MarksSource> {
        let target = MarksTarget::read(proc_root, pid)?;
        Ok(MarksSource {
            proc_root: proc_root.clone(),
            owners: Owners {
                target: target.uid,
                ours: rustix::process::geteuid().as_raw(),
            },
            locations: MarksLocation::all_of(&target),
            target,
            first_search: None,
            last_search: Seconds(f64::NEG_INFINITY),
            next_search: Seconds(f64::NEG_INFINITY),
            next_environment: Seconds(f64::NEG_INFINITY),
            followed: None,
            obeys_stop: false,
        })
    }

    /// When the trainer started; `None` where the boot time is unknown.
    pub fn started(&self) -> Option<UnixSeconds> {
        self.target.started
    }

    /// A stop request to this trainer, once it has marks.
    pub fn stop_request(&self) -> Option<StopRequest> {
        let followed = self.followed.as_ref()?;
        Some(StopRequest {
            is_obeyed: self.obeys_stop,
            proc_root: self.proc_root.clone(),
            target: self.target.clone(),
            owners: self.owners,
            location: followed.location.clone(),
        })
    }

    /// Reads what is new; searches for the file when that is due.
    pub fn poll(&mut self, now: Seconds, wall_now: UnixSeconds) -> SourceUpdates {
        let mut found = SourceUpdates::default();
        let clock = Clock { now, wall_now };
        self.read(clock, &mut found);
        if self.is_search_due(now) {
            let newer = self.search(now, &mut found.troubles);
            self.last_search = now;
            self.next_search = Seconds(now.0 + self.search_interval(now).0);
            if newer.is_some() {
                // Once more, to its end: a writer that created a new file no longer writes into it.
                self.read(clock, &mut found);
                self.followed = newer;
                self.read(clock, &mut found);
            }
        }
        found
    }

    fn is_search_due(&self, now: Seconds) -> bool {
        let followed = self.followed.as_ref();
        let is_removed = followed.is_some_and(|it| it.follower.is_removed());
        let is_replaced = is_removed && now - self.last_search >= SEARCH_EVERY;
        now >= self.next_search || is_replaced
    }

    fn read(&mut self, clock: Clock, found: &mut SourceUpdates) {
        let Some(followed) = &mut self.followed else {
            return;
        };
        let is_fresh = std::mem::take(&mut followed.is_fresh);
        let path = followed.location.file.display();
        match followed.follower.poll() {
            Err(error) => found
                .troubles
                .push(format!("cannot read the marks {path}: {error}")),
            Ok(marks) => {
                // Marks from before the recording count as well.
                let mut newest_first = marks.updates.iter().rev();
                let obeys_stop = newest_first.find_map(|update| update.obeys_stop);
                self.obeys_stop = obeys_stop.unwrap_or(self.obeys_stop);
                let was_running = clock
                    .of(self.target.started)
                    .is_none_or(|start| start.0 < 0.0);
                found.updates.extend(
                    marks
                        .updates
                        .into_iter()
                        .map(|update| (clock.mark_time(update.at, is_fresh, was_running), update)),
                );
                found.troubles.extend(marks.first_bad.map(|bad| {
                    format!("a line of the marks {path} is invalid: {bad}; invalid fields and lines are ignored")
                }));
            }
        }
    }

    fn search_interval(&mut self, now: Seconds) -> Seconds {
        let first = *self.first_search.get_or_insert(now);
        match now - first {
            _ if self.followed.is_some() => LATE_SEARCH_EVERY,
            age if age < EARLY => EARLY_SEARCH_EVERY,
            age if age < LATE => SEARCH_EVERY,
            _ => LATE_SEARCH_EVERY,
        }
    }

    /// The file to follow from now on, if it is another than before.
    fn search(&mut self, now: Seconds, troubles: &mut Vec<String>) -> Option<Followed> {
        let pid = self.target.pid;
        if !self.owners.may_read() {
            let uid = self.target.uid;
            troubles.push(format!(
                "the marks of process {pid} belong to user {uid} and are not read; run as that user"
            ));
            return None;
        }
        if self.followed.is_none() && now >= self.next_environment {
            self.read_environment(now);
        }
        if self.locations.is_empty() {
            troubles.push(format!(
                "{MARKS_VARIABLE} of process {pid} is not an absolute path; its marks are not read"
            ));
        }
        let mut troubled = None;
        for location in &self.locations {
            let followed = self.followed.as_ref().filter(|it| it.location == *location);
            let name = location.file.display();
            match open(location, self.owners, &self.target, followed) {
                Ok(Found::Same) => return None,
                Ok(Found::Nothing) if followed.is_some() => troubles.push(format!(
                    "the marks {name} of process {pid} were removed; later ones may not be read"
                )),
                Ok(Found::Nothing) => {}
                Ok(Found::Another(follower)) => {
                    return Some(Followed {
                        location: location.clone(),
                        follower,
                        is_fresh: true,
                    });
                }
                Err(why) => {
                    // Also a file that was followed so far: another user may own it by now.
                    troubled = troubled.or(followed.map(|it| it.follower.id()));
                    troubles.push(format!("marks {name} of process {pid} are not read: {why}"));
                }
            }
        }
        if troubled.is_some() {
            self.followed = None;
        }
        None
    }
}

impl MarksSource {
    fn read_environment(&mut self, now: Seconds) {
        let age = now - self.first_search.unwrap_or(now);
        if age >= LATE {
            self.next_environment = Seconds(now.0 + LATE_ENVIRONMENT_EVERY.0);
        }
        if self.target.read_environment(&self.proc_root) {
            self.locations = MarksLocation::all_of(&self.target);
        }
    }
}

/// What is at a location.
enum Found {
    Nothing,
    /// What is followed already.
    Same,
    Another(Box<MarksFollower>),
}

/// Opens the file at a location, if it is trusted and the target wrote it.
fn open(
    location: &MarksLocation,
    owners: Owners,
    target: &MarksTarget,
    followed: Option<&Followed>,
) -> Result<Found, String> {
    if trust::is_surely_absent(location) {
        return Ok(Found::Nothing);
    }
    let opened = trust::open(location, owners).map_err(|distrust| distrust.to_string())?;
    let Some((file, stat)) = opened else {
        return Ok(Found::Nothing);
    };
    if followed.is_some_and(|followed| followed.follower.id() == FileId::of(&stat)) {
        return Ok(Found::Same);
    }
    match MarksFollower::begin(file, &stat, target) {
        Ok(Writer::Target(follower)) => Ok(Found::Another(follower)),
        Ok(Writer::Unknown) => Ok(Found::Nothing),
        Ok(Writer::Other(why)) => Err(why),
        Err(error) => Err(error.to_string()),
    }
}

/// Two clocks read at one moment.
#[derive(Debug, Clone, Copy)]
struct Clock {
    now: Seconds,
    wall_now: UnixSeconds,
}

impl Clock {
    /// A time of the training's clock on the recording's.
    fn of(self, at: Option<UnixSeconds>) -> Option<Seconds> {
        at.map(|at| Seconds(self.now.0 - (self.wall_now.0 - at.0)))
    }

    /// A mark from the future, or from before the recording in a file that was read before, gets the current
    /// time: a clock was set.
    fn mark_time(self, at: Option<UnixSeconds>, is_fresh: bool, was_running: bool) -> MarkTime {
        let t = self.of(at);
        let is_old = t.map_or(was_running, |t| t.0 < 0.0);
        let is_in_range = |t: &Seconds| t.0 >= 0.0 && *t <= self.now;
        MarkTime {
            t: t.filter(is_in_range).unwrap_or(self.now),
            is_history: is_fresh && is_old,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trainings_clock_becomes_the_recordings() {
        let clock = Clock {
            now: Seconds(100.0),
            wall_now: UnixSeconds(5000.0),
        };
        let mapped = |at, is_fresh| {
            let mapped = clock.mark_time(Some(UnixSeconds(at)), is_fresh, true);
            (mapped.t, mapped.is_history)
        };
        assert_eq!(mapped(4990.0, false), (Seconds(90.0), false));
        assert_eq!(mapped(4990.0, true), (Seconds(90.0), false));
        assert_eq!(
            mapped(5010.0, false),
            (Seconds(100.0), false),
            "from the future"
        );
        assert_eq!(
            mapped(100.0, false),
            (Seconds(100.0), false),
            "before the start"
        );
        assert_eq!(
            mapped(100.0, true),
            (Seconds(100.0), true),
            "written before we came"
        );
    }
}
