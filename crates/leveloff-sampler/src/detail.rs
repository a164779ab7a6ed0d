//! The costly readings, on a thread of their own: `smaps_rollup` walks page tables for as long as
//! a quarter of a second, and the fast tick must not wait for it.

use std::io::{self, BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::{Errno, pread};

use leveloff_model::process::ProcessIndex;
use leveloff_model::sample::{FastCounters, Kinds};
use leveloff_model::units::Bytes;

use crate::clock::{Clock, Moment, thread_cpu};
use crate::handle::{SCRATCH_SIZE, Scratch};
use crate::kernel::rollup::{self, Rollup};
use crate::kernel::smaps::SmapsFold;
use crate::kernel::status;

/// A thread that reads PSS and mappings, one process after the other.
#[derive(Debug)]
pub struct DetailReader {
    requests: Sender<Request>,
    results: Receiver<Detail>,
    in_flight: usize,
}

/// Something to read.
#[derive(Debug)]
pub struct Request {
    /// Whose.
    pub process: ProcessIndex,
    /// Its directory in /proc.
    pub directory: OwnedFd,
    /// Whether to tell the kinds of its mappings apart, which costs more text, not more walking.
    pub by_kind: bool,
}

/// What was read.
#[derive(Debug)]
pub struct Detail {
    /// Whose.
    pub process: ProcessIndex,
    /// When it was done.
    pub at: Moment,
    /// CPU time that it took.
    pub cost: Duration,
    /// The outcome.
    pub outcome: Outcome,
}

/// How a reading went.
#[derive(Debug)]
pub enum Outcome {
    /// PSS, the fast counters of the same moment, and the kinds if they were asked for.
    Read(Rollup, FastCounters, Option<Kinds>),
    /// The process is gone, or a zombie.
    Gone,
    /// Not allowed, or broken.
    Unreadable(Errno),
}

impl DetailReader {
    /// Starts the thread.
    pub fn start(clock: Arc<dyn Clock + Send + Sync>) -> io::Result<DetailReader> {
        let (requests, inbox) = channel::<Request>();
        let (outbox, results) = channel();
        thread::Builder::new()
            .name("pss".to_owned())
            .stack_size(256 << 10)
            .spawn(move || {
                let mut scratch: Box<Scratch> = Box::new([0; SCRATCH_SIZE]);
                for request in inbox {
                    let detail = read(&request, clock.as_ref(), &mut scratch);
                    if outbox.send(detail).is_err() {
                        return;
                    }
                }
            })?;
        Ok(DetailReader {
            requests,
            results,
            in_flight: 0,
        })
    }

    /// Whether the last batch is still being read.
    pub fn is_busy(&self) -> bool {
        self.in_flight > 0
    }

    /// Asks for a reading.
    pub fn request(&mut self, request: Request) {
        if self.requests.send(request).is_ok() {
            self.in_flight += 1;
        }
    }

    /// What has been read since the last call.
    pub fn finished(&mut self) -> Vec<Detail> {
        let finished: Vec<Detail> = self.results.try_iter().collect();
        self.in_flight -= finished.len();
        finished
    }

    /// Waits for everything that was asked for.
    pub fn wait(&mut self) -> Vec<Detail> {
        let mut finished = Vec::with_capacity(self.in_flight);
        while self.in_flight > 0 {
            match self.results.recv() {
                Ok(detail) => finished.push(detail),
                Err(_) => break,
            }
            self.in_flight -= 1;
        }
        finished
    }
}

fn read(request: &Request, clock: &dyn Clock, scratch: &mut Scratch) -> Detail {
    let before = thread_cpu();
    let outcome = read_outcome(request, scratch).unwrap_or_else(|errno| match errno {
        Errno::SRCH | Errno::NOENT => Outcome::Gone,
        errno => Outcome::Unreadable(errno),
    });
    Detail {
        process: request.process,
        at: clock.now(),
        cost: thread_cpu().saturating_sub(before),
        outcome,
    }
}

fn read_outcome(request: &Request, scratch: &mut Scratch) -> Result<Outcome, Errno> {
    let Some(before) = fast_counters(&request.directory, scratch)? else {
        return Ok(Outcome::Gone);
    };
    let (rollup, kinds) = if request.by_kind {
        smaps(&request.directory)?.map(|(kinds, rollup)| (rollup, Some(kinds)))
    } else {
        rollup(&request.directory, scratch)?.map(|rollup| (rollup, None))
    }
    .ok_or(Errno::SRCH)?;
    let after = fast_counters(&request.directory, scratch)?.unwrap_or(before);
    Ok(Outcome::Read(rollup, midway(before, after), kinds))
}

/// The walk takes time, and the process goes on meanwhile: the middle is the best guess at the
/// moment that the walk describes.
fn midway(before: FastCounters, after: FastCounters) -> FastCounters {
    let middle = |a: Bytes, b: Bytes| Bytes(a.0 / 2 + b.0 / 2 + (a.0 & b.0 & 1));
    FastCounters {
        anon: middle(before.anon, after.anon),
        shmem: middle(before.shmem, after.shmem),
        swap: middle(before.swap, after.swap),
    }
}

fn fast_counters(
    directory: &OwnedFd,
    scratch: &mut Scratch,
) -> Result<Option<FastCounters>, Errno> {
    let file = open(directory, "status")?;
    let length = pread(&file, &mut scratch[..], 0)?;
    Ok(
        status::memory(&scratch[..length]).map(|memory| FastCounters {
            anon: memory.anon,
            shmem: memory.shmem,
            swap: memory.swap,
        }),
    )
}

/// PSS of the process whose directory this is; `None` when it has no memory any more.
pub fn rollup(directory: &OwnedFd, scratch: &mut Scratch) -> Result<Option<Rollup>, Errno> {
    match open(directory, "smaps_rollup") {
        Ok(file) => {
            let length = pread(&file, &mut scratch[..], 0)?;
            Ok(rollup::parse(&scratch[..length]))
        }
        // Before Linux 4.14 there is no rollup, but the long form says the same.
        Err(Errno::NOENT) => Ok(smaps(directory)?.map(|(_, rollup)| rollup)),
        Err(errno) => Err(errno),
    }
}

fn smaps(directory: &OwnedFd) -> Result<Option<(Kinds, Rollup)>, Errno> {
    let mut reader =
        BufReader::with_capacity(64 << 10, std::fs::File::from(open(directory, "smaps")?));
    let mut fold = SmapsFold::default();
    let mut line = Vec::with_capacity(256);
    loop {
        line.clear();
        match reader.read_until(b'\n', &mut line) {
            Ok(0) => return Ok(fold.finish()),
            Ok(_) => fold.line(line.strip_suffix(b"\n").unwrap_or(&line)),
            Err(error) => return Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
        }
    }
}

fn open(directory: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    openat(
        directory,
        name,
        OFlags::RDONLY | OFlags::CLOEXEC,
        Mode::empty(),
    )
}
