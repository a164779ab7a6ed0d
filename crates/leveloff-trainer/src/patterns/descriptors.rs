//! Descriptors that pile up while memory stands still.

use std::fs::File;
use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{Entry, LEAK_STEPS};
use crate::pattern::{Knob, Pattern, PatternError, SeenIn, StepDone, Truth};

pub(super) const FD_LEAK: Entry = Entry {
    name: "fd-leak",
    summary: "a file is opened and not closed at each step after --onset",
    says: "leak of a descriptor a step in the trainer, while memory stands still: fd growth",
    steps: LEAK_STEPS,
    takes: &[Knob::Onset],
    needs_checkpoints: false,
    truth: |knobs, _| Truth {
        kind: Some("fds"),
        descriptors_per_step: 1,
        seen_in: SeenIn::Descriptors,
        ..Truth::leak(knobs.onset_or(0), 0).with(&["fd-growth"])
    },
    make: |knobs, schedule| {
        Box::new(FdLeak {
            onset: knobs.onset_or(0),
            steps: schedule.steps,
            open: Vec::new(),
        })
    },
};

/// Descriptors that the training itself may need.
const OTHERS: u64 = 256;

/// Raises the limit on open files as far as is needed and allowed. Where it stays too low, opening
/// says so when it comes to that.
pub(super) fn make_room(descriptors: u64) {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let needed = descriptors.saturating_add(OTHERS);
    let raised = maximum.map_or(needed, |maximum| maximum.min(needed));
    if current.is_some_and(|current| current < raised) {
        let current = Some(raised);
        let _ = setrlimit(Resource::Nofile, Rlimit { current, maximum });
    }
}

/// An error of a descriptor that could not be opened after `count` others.
pub(super) fn no_descriptor(what: &str, count: usize, error: io::Error) -> PatternError {
    let next = match error.raw_os_error() {
        Some(libc::EMFILE) => {
            "the limit on open files is reached: raise it (`ulimit -Hn` shows how far), or take fewer steps"
        }
        Some(libc::ENFILE) => "the machine's limit on open files is reached: see fs.file-max",
        _ => "lower --rate, or take fewer steps",
    };
    PatternError::new(
        format!("cannot open {what} beside {count} others"),
        error,
        next,
    )
}

#[derive(Debug)]
struct FdLeak {
    onset: u64,
    steps: u64,
    open: Vec<File>,
}

impl Pattern for FdLeak {
    fn begin(&mut self) -> Result<(), PatternError> {
        make_room(self.steps.saturating_sub(self.onset));
        Ok(())
    }

    fn step(&mut self, done: &StepDone<'_>) -> Result<(), PatternError> {
        if done.step > self.onset {
            let count = self.open.len();
            let file = File::open("/dev/null")
                .map_err(|error| no_descriptor("/dev/null", count, error))?;
            self.open.push(file);
        }
        Ok(())
    }
}
