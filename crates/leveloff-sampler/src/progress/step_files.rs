//! Finds and follows files that a training writes and that hold its steps.
//!
//! They are searched for only while no better source has steps: marks, the output under `run`, and the file
//! that the output goes to. A file is followed once its content gave a step. It must be a regular file of the
//! target's user or ours that was modified since the target started; docs/STEPS.md has the places.
//!
//! - `candidates`: what a file is by its name, and the list of a search.
//! - `descriptors`: files that a process has open for writing; `pipe_readers`: the process behind a pipe, such
//!   as `tee`.
//! - `usual_places`: files below the working directory that are closed between two writes.
//! - `step_file`: one file that is read; `snapshot`: one that is written as a whole each time.

mod candidates;
mod descriptors;
mod pipe_readers;
mod snapshot;
mod step_file;
mod usual_places;

use std::path::PathBuf;

use leveloff_model::process::Pid;
use leveloff_model::units::Seconds;
use leveloff_progress::{SeenOutput, SourceId, StepRegex};

use self::candidates::{Candidate, SearchTarget};
use self::step_file::StepFile;
use super::log_follower::LogUpdates;
use crate::proc_root::ProcRoot;

/// The files of one trainer.
#[derive(Debug, Default)]
pub struct StepFiles {
    pid: Option<Pid>,
    /// Opened, without steps so far.
    probed: Vec<StepFile>,
    followed: Vec<Followed>,
    /// Given up in favour of a livelier file.
    given_up: Vec<StepFile>,
    next_number: u32,
    next_search: Option<Seconds>,
    wait: Option<Seconds>,
    searches: u32,
    /// The files that the output goes to through a pipe, as last found.
    behind_pipe: Vec<PathBuf>,
}

/// A file that gave steps.
#[derive(Debug)]
struct Followed {
    id: SourceId,
    file: StepFile,
    /// When it last gave a step.
    moved: Seconds,
}

/// What a file gave.
#[derive(Debug)]
pub struct FileUpdates {
    /// Which file.
    pub id: SourceId,
    /// Its path, when it is new.
    pub opened: Option<String>,
    /// What it gave.
    pub updates: LogUpdates,
}

/// When the first search is due after a trainer is found, and how far apart searches are at most. Between them
/// the time doubles: most trainings open their files in the first minute.
const FIRST_SEARCH: Seconds = Seconds(1.0);
const LONGEST_WAIT: Seconds = Seconds(30.0);

/// The reader of a pipe is searched for in each of the first searches, and then in every so many: it was started with the
/// training, and the search looks at every process of the machine.
const PIPE_SEARCHES: u32 = 6;
const PIPE_SEARCH_EVERY: u32 = 16;

/// Files that are followed at most.
const MOST_FOLLOWED: usize = 4;

/// Files that are read in each search at most, until they give steps.
const MOST_PROBED: usize = 16;

/// A file that gave no step for this long is given up if another one gave steps meanwhile …
const STALE: Seconds = Seconds(60.0);
/// … within this time.
const LIVELY: Seconds = Seconds(15.0);

impl StepFiles {
    /// Reads what is new in the files of a trainer; searches for files when that is due and `is_searching`.
    pub fn poll(
        &mut self,
        now: Seconds,
        (proc_root, pid): (&ProcRoot, Pid),
        is_searching: bool,
        step_regex: Option<&StepRegex>,
    ) -> Vec<FileUpdates> {
        if self.pid != Some(pid) {
            *self = StepFiles {
                pid: Some(pid),
                next_number: self.next_number,
                ..StepFiles::default()
            };
        }
        let mut updates = self.read_followed(now);
        let due = *self
            .next_search
            .get_or_insert(Seconds(now.0 + FIRST_SEARCH.0));
        if is_searching && now >= due {
            let wait = self.wait.map_or(FIRST_SEARCH.0, |wait| 2.0 * wait.0);
            let wait = Seconds(wait.min(LONGEST_WAIT.0));
            (self.wait, self.next_search) = (Some(wait), Some(Seconds(now.0 + wait.0)));
            self.open_candidates(proc_root, pid, step_regex);
            updates.extend(self.probe(now));
        }
        updates
    }

    /// Drops the file that the steps come from if it stands still while another one moves. Returns whether it
    /// was dropped.
    pub fn give_up_stale(&mut self, current: SourceId, now: Seconds) -> bool {
        let is_current = |one: &Followed| one.id == current;
        let is_stale = |one: &Followed| is_current(one) && now - one.moved > STALE;
        let is_lively = |one: &Followed| !is_current(one) && now - one.moved <= LIVELY;
        let Some(place) = self.followed.iter().position(is_stale) else {
            return false;
        };
        if !self.followed.iter().any(is_lively) {
            return false;
        }
        let stale = self.followed.remove(place);
        self.given_up.push(stale.file);
        true
    }

    /// The names of the counters that the steps of each file come from.
    pub fn clock_names(&self) -> impl Iterator<Item = (SourceId, &str)> {
        let followed = self.followed.iter();
        followed.filter_map(|one| Some((one.id, one.file.clock_name()?)))
    }

    /// What the files that held no step so far did hold.
    pub fn seen(&self) -> impl Iterator<Item = SeenOutput> {
        self.probed.iter().filter_map(StepFile::seen)
    }

    fn read_followed(&mut self, now: Seconds) -> Vec<FileUpdates> {
        let read = |one: &mut Followed| {
            let found = one.file.poll();
            if found.has_step() {
                one.moved = now;
            }
            FileUpdates {
                id: one.id,
                opened: None,
                updates: found,
            }
        };
        self.followed.iter_mut().map(read).collect()
    }

    fn open_candidates(&mut self, proc_root: &ProcRoot, pid: Pid, step_regex: Option<&StepRegex>) {
        let Some(target) = SearchTarget::of(proc_root, pid) else {
            return;
        };
        if self.searches < PIPE_SEARCHES || self.searches.is_multiple_of(PIPE_SEARCH_EVERY) {
            self.behind_pipe = target.files_behind_pipe();
        }
        self.searches += 1;
        let candidates = target.candidates(&self.behind_pipe, step_regex.is_none());
        self.probed
            .retain(|file| candidates.iter().any(|one| one.id == file.id()));
        for candidate in candidates {
            if self.probed.len() < MOST_PROBED && !self.knows(&candidate) {
                // A file that vanished or may not be read is no source.
                let opened = StepFile::open(candidate, target.owners, step_regex);
                self.probed.extend(opened);
            }
        }
    }

    fn knows(&self, candidate: &Candidate) -> bool {
        let followed = self.followed.iter().map(|one| &one.file);
        let mut known = self.probed.iter().chain(followed).chain(&self.given_up);
        known.any(|file| {
            file.id() == candidate.id || file.path() == candidate.path || file.succeeds(candidate)
        })
    }

    /// Reads the files that gave no steps so far; those that do are followed.
    fn probe(&mut self, now: Seconds) -> Vec<FileUpdates> {
        let mut updates = Vec::new();
        for mut file in std::mem::take(&mut self.probed) {
            let found = file.poll();
            if !found.has_step() || self.followed.len() == MOST_FOLLOWED {
                self.probed.push(file);
                continue;
            }
            let id = SourceId {
                source: file.source(),
                is_found: true,
                number: self.next_number,
            };
            self.next_number += 1;
            updates.push(FileUpdates {
                id,
                opened: Some(file.path().to_string_lossy().into_owned()),
                updates: found,
            });
            self.followed.push(Followed {
                id,
                file,
                moved: now,
            });
        }
        // The best kind first: it takes the steps.
        updates.sort_by_key(|update| update.id.source);
        updates
    }
}

#[cfg(test)]
mod tests;
