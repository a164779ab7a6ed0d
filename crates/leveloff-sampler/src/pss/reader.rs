//! Reads PSS on a thread of its own: `smaps_rollup` walks page tables for up to a quarter of a second, and
//! the tick must not wait for it.

use std::io::{self, BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use rustix::io::{Errno, pread};

use leveloff_model::process::ProcessIndex;
use leveloff_model::sample::{FastCounters, Kinds};
use leveloff_model::units::Bytes;

use crate::clock::{Clock, Moment, thread_cpu};
use crate::kernel::large_mappings::LargeMappings;
use crate::kernel::rollup::{self, Rollup};
use crate::kernel::smaps::SmapsFold;
use crate::kernel::status;
use crate::processes::handle::{ReadError, SCRATCH_SIZE, Scratch, open_file};
use crate::processes::watched_process::PssValues;
use crate::worker_thread::WorkerThread;

/// The thread that reads PSS, one process after the other.
pub type PssReader = WorkerThread<PssRequest, PssResult>;

/// A process to read.
#[derive(Debug)]
pub struct PssRequest {
    pub process: ProcessIndex,
    /// Its directory in /proc.
    pub directory: OwnedFd,
    /// Whether to read memory by kind, which costs more text and not more page-table walking.
    pub by_kind: bool,
    /// Whether it is read without its relatives, so that its PSS does not count.
    pub without_relatives: bool,
}

/// A finished reading.
#[derive(Debug)]
pub struct PssResult {
    pub process: ProcessIndex,
    /// Whether it was read without its relatives.
    pub without_relatives: bool,
    /// When it finished.
    pub at: Moment,
    /// CPU time that it took.
    pub cost: Duration,
    pub outcome: Result<PssValues, ReadError>,
}

/// Starts the thread.
pub fn start(clock: Arc<dyn Clock + Send + Sync>) -> io::Result<PssReader> {
    let mut scratch: Box<Scratch> = Box::new([0; SCRATCH_SIZE]);
    WorkerThread::start("pss", move |request| {
        read(&request, clock.as_ref(), &mut scratch)
    })
}

fn read(request: &PssRequest, clock: &dyn Clock, scratch: &mut Scratch) -> PssResult {
    let before = thread_cpu();
    let outcome = read_values(request, scratch).map_err(ReadError::from);
    PssResult {
        process: request.process,
        without_relatives: request.without_relatives,
        at: clock.now(),
        cost: thread_cpu().saturating_sub(before),
        outcome,
    }
}

fn read_values(request: &PssRequest, scratch: &mut Scratch) -> Result<PssValues, Errno> {
    // A zombie has no memory to read.
    let before = fast_counters(&request.directory, scratch)?.ok_or(Errno::SRCH)?;
    let (rollup, kinds, large) = if request.by_kind {
        let folded = smaps(&request.directory)?;
        folded.map(|(kinds, rollup, large)| (rollup, Some(kinds), large))
    } else {
        let rollup = rollup(&request.directory, scratch)?;
        rollup.map(|rollup| (rollup, None, LargeMappings::default()))
    }
    .ok_or(Errno::SRCH)?;
    let after = fast_counters(&request.directory, scratch)?.unwrap_or(before);
    Ok(PssValues {
        rollup,
        base: midway(before, after),
        kinds,
        large,
    })
}

/// The process runs during the walk; the middle is the best estimate of the moment that the walk describes.
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
    let file = open_file(directory, "status")?;
    let length = pread(&file, &mut scratch[..], 0)?;
    Ok(
        status::memory(&scratch[..length]).map(|memory| FastCounters {
            anon: memory.anon,
            shmem: memory.shmem,
            swap: memory.swap,
        }),
    )
}

/// PSS of the process whose directory this is; `None` when it has freed its memory.
pub fn rollup(directory: &OwnedFd, scratch: &mut Scratch) -> Result<Option<Rollup>, Errno> {
    match open_file(directory, "smaps_rollup") {
        Ok(file) => {
            let length = pread(&file, &mut scratch[..], 0)?;
            Ok(rollup::parse(&scratch[..length]))
        }
        // Before Linux 4.14 there is no rollup; the long form has the same numbers.
        Err(Errno::NOENT) => Ok(smaps(directory)?.map(|(_, rollup, _)| rollup)),
        Err(errno) => Err(errno),
    }
}

fn smaps(directory: &OwnedFd) -> Result<Option<(Kinds, Rollup, LargeMappings)>, Errno> {
    let mut reader = BufReader::with_capacity(
        64 << 10,
        std::fs::File::from(open_file(directory, "smaps")?),
    );
    let mut fold = SmapsFold::default();
    let mut line = Vec::with_capacity(256);
    loop {
        line.clear();
        match reader.read_until(b'\n', &mut line) {
            Ok(0) => {
                let large = fold.large_mappings().clone();
                return Ok(fold.finish().map(|(kinds, rollup)| (kinds, rollup, large)));
            }
            Ok(_) => fold.line(line.strip_suffix(b"\n").unwrap_or(&line)),
            Err(error) => return Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
        }
    }
}
