//! Shared memory that is in no process's RSS: files in /dev/shm, and memfds that are not mapped.

mod files;

use std::fs::File;
use std::io::{self, Write};

use rustix::fs::{MemfdFlags, memfd_create};

use super::descriptors::{make_room, no_descriptor};
use super::{Entry, LEAK_STEPS, USUAL_RATE};
use crate::memory::Due;
use crate::pattern::{Knob, Knobs, Pattern, PatternError, SeenIn, StepDone, Truth};
use files::SharedFiles;

pub(super) const SHM_LEAK: Entry = Entry {
    name: "shm-leak",
    summary: "a file of 1 MiB (--rate) is left in /dev/shm at each step after --onset",
    says: "leak of 1 MiB a step in /dev/shm, in no process's memory: devshm growth",
    steps: LEAK_STEPS,
    takes: &[Knob::Rate, Knob::Onset],
    needs_checkpoints: false,
    truth: |knobs, _| Truth {
        kind: Some("devshm"),
        seen_in: SeenIn::DevShm,
        ..leak(knobs).with(&["devshm-growth"])
    },
    make: |knobs, _| {
        Box::new(ShmLeak {
            rate: knobs.rate_or(USUAL_RATE),
            onset: knobs.onset_or(0),
            due: Due::default(),
            files: SharedFiles::in_directory("/dev/shm"),
        })
    },
};

pub(super) const MEMFD_LEAK: Entry = Entry {
    name: "memfd-leak",
    summary: "a memfd of 1 MiB (--rate) is written and left open, not mapped, at each step after --onset",
    says: "leak of 1 MiB a step in memfds, in no process's memory, and of a descriptor a step: memfd and fd growth",
    steps: LEAK_STEPS,
    takes: &[Knob::Rate, Knob::Onset],
    needs_checkpoints: false,
    truth: |knobs, _| Truth {
        kind: Some("memfd"),
        descriptors_per_step: 1,
        seen_in: SeenIn::MachineShmem,
        ..leak(knobs).with(&["memfd-growth", "fd-growth"])
    },
    make: |knobs, schedule| {
        Box::new(MemfdLeak {
            rate: knobs.rate_or(USUAL_RATE),
            onset: knobs.onset_or(0),
            steps: schedule.steps,
            due: Due::default(),
            open: Vec::new(),
        })
    },
};

fn leak(knobs: &Knobs) -> Truth {
    Truth::leak(knobs.onset_or(0), knobs.rate_or(USUAL_RATE))
}

#[derive(Debug)]
struct ShmLeak {
    rate: u64,
    onset: u64,
    due: Due,
    files: SharedFiles,
}

impl Pattern for ShmLeak {
    fn begin(&mut self) -> Result<(), PatternError> {
        self.files.remove_leftovers();
        Ok(())
    }

    fn step(&mut self, done: &StepDone<'_>) -> Result<(), PatternError> {
        if done.step > self.onset {
            self.files.leave(self.due.take_pages(self.rate))?;
        }
        Ok(())
    }
}

#[derive(Debug)]
struct MemfdLeak {
    rate: u64,
    onset: u64,
    steps: u64,
    due: Due,
    open: Vec<File>,
}

impl MemfdLeak {
    fn leave(&mut self, bytes: u64) -> io::Result<()> {
        let mut memory = File::from(memfd_create("leveloff-trainer", MemfdFlags::CLOEXEC)?);
        write_pages(&mut memory, bytes)?;
        self.open.push(memory);
        Ok(())
    }
}

impl Pattern for MemfdLeak {
    fn begin(&mut self) -> Result<(), PatternError> {
        make_room(self.steps.saturating_sub(self.onset));
        Ok(())
    }

    fn step(&mut self, done: &StepDone<'_>) -> Result<(), PatternError> {
        if done.step > self.onset {
            let bytes = self.due.take_pages(self.rate);
            let count = self.open.len();
            self.leave(bytes)
                .map_err(|error| no_descriptor("a memfd", count, error))?;
        }
        Ok(())
    }
}

/// Writes so many bytes. A file system that is full says so here; pages that were only mapped would
/// end the process with SIGBUS when they are touched.
fn write_pages(file: &mut File, bytes: u64) -> io::Result<()> {
    static PIECE: [u8; 64 << 10] = [1; 64 << 10];
    let mut left = bytes;
    while left > 0 {
        let piece = left.min(PIECE.len() as u64);
        file.write_all(&PIECE[..piece as usize])?;
        left -= piece;
    }
    Ok(())
}
