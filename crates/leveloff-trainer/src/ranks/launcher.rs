//! The launcher of ranks: starts them, keeps them in step, and waits for their end.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitCode, ExitStatus};

use anyhow::{Context, Result};

use super::{Arrival, RANK_VARIABLE, RankStart};
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
    // Its failure must be printed while the others wait for it.
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
        let start = RankStart {
            launcher: rustix::process::getpid().as_raw_pid(),
            rank: number,
        };
        let mut arguments = std::env::args_os();
        let name = arguments.next().unwrap_or_default();
        let child = Command::new(std::env::current_exe()?)
            .arg0(name)
            .args(arguments)
            .env(RANK_VARIABLE, start.to_string())
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

    /// Waits for its end; prints how it failed.
    fn wait(mut self) -> Result<(), ExitCode> {
        let (number, pid) = (self.number, self.child.id());
        let end = match self.child.wait() {
            Ok(status) if status.success() => return Ok(()),
            Ok(status) => status,
            Err(_) => ExitStatus::from_raw(1 << 8),
        };
        notice(&format!(
            "rank {number} (process {pid}) failed: {end}; the other ranks wait for it for ever"
        ));
        let code = end.code().and_then(|code| u8::try_from(code).ok());
        Err(ExitCode::from(code.unwrap_or(1)))
    }
}

/// The lowest step, once all ranks have sent theirs; or the index of a rank that has ended.
fn gather(ranks: &[Rank]) -> Result<Arrival, usize> {
    let mut all: Option<Arrival> = None;
    for (index, rank) in ranks.iter().enumerate() {
        let here = Arrival::receive(&rank.barrier).map_err(|_| index)?;
        let before = all.unwrap_or(here);
        all = Some(Arrival {
            step: before.step.min(here.step),
            cause: before.cause.or(here.cause),
        });
    }
    all.ok_or(0)
}

fn answer(ranks: &[Rank], last: Arrival, stop: &StopRequests) {
    let all = Arrival {
        cause: last.cause.or_else(|| stop.cause()),
        ..last
    };
    for rank in ranks {
        // A rank that cannot be reached has ended; the next gathering finds that.
        let _ = all.send(&rank.barrier);
    }
}
