//! One trainer's marks: found, checked, followed, and put on the recording's clock.

use std::io;

use leveloff_model::process::{Pid, ProcessIndex};
use leveloff_model::units::Seconds;

use crate::proc_root::ProcRoot;
use crate::progress::marks::follower::{Belonging, MarksFollower};
use crate::progress::marks::place::MarksPlace;
use crate::progress::marks::stop_request::StopRequest;
use crate::progress::marks::target::{MARKS_VARIABLE, MarksTarget};
use crate::progress::marks::trust::{self, Owners};
use crate::regular_file::FileId;
use leveloff_progress::{ProgressUpdate, UnixSeconds};

/// How often files are looked for that were not there, or that may have been replaced.
pub const LOOK_EVERY: Seconds = Seconds(1.0);

/// How often a file is looked for that was not there, in the first moments: a training that starts
/// together with us makes it within a second, and has done dozens of steps by the next.
const EARLY_LOOK_EVERY: Seconds = Seconds(0.1);

/// How long those moments last.
const EARLY: Seconds = Seconds(10.0);

/// Where one trainer's marks are, or may come to be.
#[derive(Debug)]
pub struct MarksSource {
    proc_root: ProcRoot,
    target: MarksTarget,
    owners: Owners,
    places: Vec<MarksPlace>,
    first_look: Option<Seconds>,
    next_look: Seconds,
    followed: Option<Followed>,
    /// It said that it looks for stop requests.
    obeys_stop: bool,
}

#[derive(Debug)]
struct Followed {
    place: MarksPlace,
    follower: Box<MarksFollower>,
    /// Nothing was read yet: what is there may be from before the recording.
    is_fresh: bool,
}

/// When something was marked, on the recording's clock.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeardAt {
    /// When.
    pub t: Seconds,
    /// Before the recording began.
    pub is_history: bool,
}

/// What a poll of the marks told.
#[derive(Debug, Default)]
pub struct SourceNews {
    /// Oldest first.
    pub updates: Vec<(HeardAt, ProgressUpdate)>,
    /// Why marks are not read, where that is so.
    pub troubles: Vec<String>,
}

impl MarksSource {
    /// Finds out who the process is and where its marks would be.
    pub fn of(proc_root: &ProcRoot, pid: Pid) -> io::Result<MarksSource> {
        let target = MarksTarget::read(proc_root, pid)?;
        Ok(MarksSource {
            proc_root: proc_root.clone(),
            owners: Owners {
                target: target.uid,
                ours: rustix::process::geteuid().as_raw(),
            },
            places: MarksPlace::all_of(&target),
            target,
            first_look: None,
            next_look: Seconds(f64::NEG_INFINITY),
            followed: None,
            obeys_stop: false,
        })
    }

    /// Whether there are marks.
    pub fn is_followed(&self) -> bool {
        self.followed.is_some()
    }

    /// A stop request to this trainer, once there are marks beside which it would look for one.
    pub fn stop_request(&self, process: ProcessIndex) -> Option<StopRequest> {
        let followed = self.followed.as_ref()?;
        Some(StopRequest::new(
            process,
            self.obeys_stop,
            self.proc_root.clone(),
            self.target.clone(),
            self.owners,
            followed.place.clone(),
        ))
    }

    /// Reads what is new; looks for the file, if it is time to.
    pub fn poll(&mut self, now: Seconds, wall_now: UnixSeconds) -> SourceNews {
        let mut news = SourceNews::default();
        let clock = Clock { now, wall_now };
        let mut newer = None;
        if now >= self.next_look {
            newer = self.look(&mut news.troubles);
            self.next_look = Seconds(now.0 + self.patience(now).0);
        }
        // A writer that began a new file has written its last into the old one.
        self.read(clock, &mut news);
        if newer.is_some() {
            self.followed = newer;
            self.read(clock, &mut news);
        }
        news
    }

    fn read(&mut self, clock: Clock, news: &mut SourceNews) {
        let Some(followed) = &mut self.followed else {
            return;
        };
        let is_fresh = std::mem::take(&mut followed.is_fresh);
        let path = followed.place.file.display();
        match followed.follower.poll() {
            Err(error) => news
                .troubles
                .push(format!("cannot read the marks {path}: {error}")),
            Ok(marks) => {
                // Also if it was said before we came: what it promised still holds.
                let promises = marks.updates.iter().rev();
                let promise = promises.filter_map(|update| update.obeys_stop).next();
                self.obeys_stop = promise.unwrap_or(self.obeys_stop);
                let was_running = clock
                    .of(self.target.started)
                    .is_none_or(|start| start.0 < 0.0);
                news.updates.extend(
                    marks
                        .updates
                        .into_iter()
                        .map(|update| (clock.heard_at(update.at, is_fresh, was_running), update)),
                );
                news.troubles.extend(marks.first_bad.map(|bad| {
                    format!("a line of the marks {path} is wrong: {bad}; what is wrong in it and in further lines is passed over")
                }));
            }
        }
    }

    fn patience(&mut self, now: Seconds) -> Seconds {
        let first = *self.first_look.get_or_insert(now);
        if self.followed.is_none() && (now - first) < EARLY {
            EARLY_LOOK_EVERY
        } else {
            LOOK_EVERY
        }
    }

    /// The file that is to be followed from now on, if it is another than before.
    fn look(&mut self, troubles: &mut Vec<String>) -> Option<Followed> {
        let pid = self.target.pid;
        if !self.owners.may_look() {
            let uid = self.target.uid;
            troubles.push(format!(
                "marks of process {pid} are user {uid}'s and not looked for; run as that user"
            ));
            return None;
        }
        if self.followed.is_none() && self.target.read_environment(&self.proc_root) {
            self.places = MarksPlace::all_of(&self.target);
        }
        if self.places.is_empty() {
            troubles.push(format!(
                "{MARKS_VARIABLE} of process {pid} is no absolute path; its marks are not found"
            ));
        }
        let mut troubled = None;
        for place in &self.places {
            let followed = self.followed.as_ref().filter(|it| it.place == *place);
            let name = place.file.display();
            match open(place, self.owners, &self.target, followed) {
                Ok(Found::Same) => return None,
                Ok(Found::Nothing) if followed.is_some() => troubles.push(format!(
                    "the marks {name} of process {pid} are gone; what it tells from now on may not be heard"
                )),
                Ok(Found::Nothing) => {}
                Ok(Found::Another(follower)) => {
                    return Some(Followed {
                        place: place.clone(),
                        follower,
                        is_fresh: true,
                    });
                }
                Err(why) => {
                    // Also one that was followed so far: it may be someone else's by now.
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

/// What is at a place.
enum Found {
    Nothing,
    /// What is followed already.
    Same,
    Another(Box<MarksFollower>),
}

/// The file of a place, if it is there, trusted, and the target's.
fn open(
    place: &MarksPlace,
    owners: Owners,
    target: &MarksTarget,
    followed: Option<&Followed>,
) -> Result<Found, String> {
    let opened = trust::open(place, owners).map_err(|distrust| distrust.to_string())?;
    let Some((file, stat)) = opened else {
        return Ok(Found::Nothing);
    };
    if followed.is_some_and(|followed| followed.follower.id() == FileId::of(&stat)) {
        return Ok(Found::Same);
    }
    match MarksFollower::begin(file, &stat, target) {
        Ok(Belonging::Theirs(follower)) => Ok(Found::Another(follower)),
        Ok(Belonging::Unknown) => Ok(Found::Nothing),
        Ok(Belonging::Someones(why)) => Err(why),
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

    /// A mark from the future or, unless it is history, from before the start happened now: some
    /// clock was set.
    fn heard_at(self, at: Option<UnixSeconds>, is_fresh: bool, was_running: bool) -> HeardAt {
        let t = self.of(at);
        let is_old = t.map_or(was_running, |t| t.0 < 0.0);
        let is_in_range = |t: &Seconds| t.0 >= 0.0 && *t <= self.now;
        HeardAt {
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
        let heard = |at, is_fresh| {
            let heard = clock.heard_at(Some(UnixSeconds(at)), is_fresh, true);
            (heard.t, heard.is_history)
        };
        assert_eq!(heard(4990.0, false), (Seconds(90.0), false));
        assert_eq!(heard(4990.0, true), (Seconds(90.0), false));
        assert_eq!(
            heard(5010.0, false),
            (Seconds(100.0), false),
            "from the future"
        );
        assert_eq!(
            heard(100.0, false),
            (Seconds(100.0), false),
            "before the start"
        );
        assert_eq!(
            heard(100.0, true),
            (Seconds(100.0), true),
            "written before we came"
        );
    }
}
