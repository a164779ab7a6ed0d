//! The launcher of ranks: starts them, keeps them in step, and waits for their end.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitCode, ExitStatus};

use anyhow::{Context, Result};

use super::{Arrival, CALLING, Calling};
use crate::notice::notice;
use crate::stop::StopRequests;

/// Starts `count` copies of this program with its own arguments, and keeps them in step until all
/// have ended. The code is that of the first that failed.
pub fn launch(count: u32, stop: &StopRequests) -> Result<ExitCode> {
    let mut ranks = Vec::new();
    for number in 0..count {
        let started = Rank::start(number, count);
        ranks.push(started.with_context(|| format!("cannot start rank {number} of {count}"))?);
    }
    let missing = loop {
        match gather(&ranks) {
            Ok(last) => answer(&ranks, last, stop),
            Err(missing) => break missing,
        }
    };
    // What it failed of must be said while the others wait for it.
    ranks.swap(0, missing);
    let ends: Vec<_> = ranks.into_iter().map(Rank::wait).collect();
    let failed = ends.into_iter().find_map(Result::err);
    Ok(failed.unwrap_or(ExitCode::SUCCESS))
}

/// One of the copies.
#[derive(Debug)]
struct Rank {
    number: u32,
    child: Child,
    barrier: UnixStream,
}

impl Rank {
    fn start(number: u32, count: u32) -> io::Result<Rank> {
        let (ours, theirs) = UnixStream::pair()?;
        let calling = Calling {
            launcher: rustix::process::getpid().as_raw_pid(),
            rank: number,
        };
        let mut arguments = std::env::args_os();
        let name = arguments.next().unwrap_or_default();
        let child = Command::new(std::env::current_exe()?)
            .arg0(name)
            .args(arguments)
            .env(CALLING, calling.to_string())
            .env("RANK", number.to_string())
            .env("LOCAL_RANK", number.to_string())
            .env("WORLD_SIZE", count.to_string())
            .stdin(OwnedFd::from(theirs))
            .spawn()?;
        Ok(Rank {
            number,
            child,
            barrier: ours,
        })
    }

    /// Waits for its end; says how it failed, if it did.
    fn wait(mut self) -> Result<(), ExitCode> {
        let (number, pid) = (self.number, self.child.id());
        let end = match self.child.wait() {
            Ok(status) if status.success() => return Ok(()),
            Ok(status) => status,
            Err(_) => ExitStatus::from_raw(1 << 8),
        };
        notice(&format!(
            "rank {number} (process {pid}) failed: {end}; whoever is left waits for it for ever"
        ));
        let code = end.code().and_then(|code| u8::try_from(code).ok());
        Err(ExitCode::from(code.unwrap_or(1)))
    }
}

/// How far the last of them is, once all have told; or which of them has ended, so that they will
/// never be all there again.
fn gather(ranks: &[Rank]) -> Result<Arrival, usize> {
    let mut all: Option<Arrival> = None;
    for (index, rank) in ranks.iter().enumerate() {
        let here = Arrival::receive(&rank.barrier).map_err(|_| index)?;
        let before = all.unwrap_or(here);
        all = Some(Arrival {
            step: before.step.min(here.step),
            asked: before.asked.or(here.asked),
        });
    }
    all.ok_or(0)
}

fn answer(ranks: &[Rank], last: Arrival, stop: &StopRequests) {
    let all = Arrival {
        asked: last.asked.or_else(|| stop.asked()),
        ..last
    };
    for rank in ranks {
        // One that cannot be told has ended, and is missed the next time.
        let _ = all.send(&rank.barrier);
    }
}
