//! Ranks: copies of this program that train in step, as data-parallel training does.
//!
//! Before each step every rank sends its step to the [`launcher`] and waits for the answer, which
//! comes when all have sent theirs. So all stop at the same step, whichever of them got the request,
//! and a rank waits for ever when another is gone, as it would in a collective operation. No
//! gradients are exchanged: all ranks compute the same.
//!
//! A rank's standard input is its end of the barrier.

pub mod launcher;

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::str::FromStr;

use crate::stop::StopCause;
use crate::workers::stay_with;

/// The variable that makes this program a rank.
const RANK_VARIABLE: &str = "LEVELOFF_TRAINER_RANK";

/// The ranks that train in step with this process.
#[derive(Debug)]
pub enum RankGroup {
    /// There are no ranks.
    Alone,
    /// This process is one of several ranks.
    Member {
        /// Which one.
        own: u32,
        /// To the launcher.
        barrier: UnixStream,
    },
}

/// The step of a rank and its cause to stop. As an answer: the lowest step of all ranks, and the
/// cause of any of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Steps done.
    pub step: u64,
    /// Why it should stop, if it should.
    pub cause: Option<StopCause>,
}

/// Why a rank cannot train with the others.
#[derive(Debug, thiserror::Error)]
pub enum RanksError {
    /// The launcher did not set the variable.
    #[error("{RANK_VARIABLE} is internal and has an unknown value; unset it")]
    Variable,
    /// The barrier is closed.
    #[error("the launcher of the ranks is gone: {0}")]
    LauncherGone(io::Error),
    /// They are not in step.
    #[error(
        "this rank is at step {own} and another at step {other}, of which this one has no good \
         checkpoint; remove the rank-K directories to start over"
    )]
    Apart {
        /// Where this one is.
        own: u64,
        /// Where the one behind is.
        other: u64,
    },
}

impl RankGroup {
    /// As this process was started. A rank ends with its launcher from now on.
    pub fn of_this_process() -> Result<RankGroup, RanksError> {
        let Some(start) = std::env::var_os(RANK_VARIABLE) else {
            return Ok(RankGroup::Alone);
        };
        let start: RankStart = start
            .to_str()
            .and_then(|text| text.parse().ok())
            .ok_or(RanksError::Variable)?;
        if !stay_with(start.launcher) {
            return Err(RanksError::LauncherGone(io::ErrorKind::NotFound.into()));
        }
        let barrier = io::stdin().as_fd().try_clone_to_owned();
        Ok(RankGroup::Member {
            own: start.rank,
            barrier: barrier.map_err(RanksError::LauncherGone)?.into(),
        })
    }

    /// Which rank this is, if there are several.
    pub fn rank(&self) -> Option<u32> {
        match self {
            RankGroup::Alone => None,
            RankGroup::Member { own, .. } => Some(*own),
        }
    }

    /// Waits until all ranks have arrived; returns the lowest step.
    pub fn agree(&mut self, here: Arrival) -> Result<Arrival, RanksError> {
        match self {
            RankGroup::Alone => Ok(here),
            RankGroup::Member { barrier, .. } => here
                .send(barrier)
                .and_then(|()| Arrival::receive(barrier))
                .map_err(RanksError::LauncherGone),
        }
    }

    /// The same for ranks that must be at the same step.
    pub fn agree_at(&mut self, here: Arrival) -> Result<Arrival, RanksError> {
        let all = self.agree(here)?;
        if all.step == here.step {
            Ok(all)
        } else {
            Err(RanksError::Apart {
                own: here.step,
                other: all.step,
            })
        }
    }
}

impl Arrival {
    fn send(self, mut barrier: &UnixStream) -> io::Result<()> {
        let mut message = [0; MESSAGE];
        message[0] = match self.cause {
            None => 0,
            Some(StopCause::Signal) => 1,
            Some(StopCause::Request) => 2,
        };
        message[1..].copy_from_slice(&self.step.to_le_bytes());
        barrier.write_all(&message)
    }

    fn receive(mut barrier: &UnixStream) -> io::Result<Arrival> {
        let mut message = [0; MESSAGE];
        barrier.read_exact(&mut message)?;
        let [cause, step @ ..] = message;
        Ok(Arrival {
            step: u64::from_le_bytes(step),
            cause: match cause {
                0 => None,
                1 => Some(StopCause::Signal),
                2 => Some(StopCause::Request),
                _ => return Err(io::ErrorKind::InvalidData.into()),
            },
        })
    }
}

/// Bytes of a message: the cause and the step.
const MESSAGE: usize = 1 + size_of::<u64>();

/// The launcher and the number of a rank, in the variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RankStart {
    launcher: i32,
    rank: u32,
}

impl std::fmt::Display for RankStart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.launcher, self.rank)
    }
}

impl FromStr for RankStart {
    type Err = ();

    fn from_str(text: &str) -> Result<RankStart, ()> {
        let (launcher, rank) = text.split_once(' ').ok_or(())?;
        Ok(RankStart {
            launcher: launcher.parse().map_err(|_| ())?,
            rank: rank.parse().map_err(|_| ())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_round_trips() {
        let start = RankStart {
            launcher: 4312,
            rank: 7,
        };
        assert_eq!(start.to_string().parse(), Ok(start));
        for wrong in ["", "1", "1 -1", "1 2 3", "a 1"] {
            assert!(wrong.parse::<RankStart>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_arrival_round_trips() {
        let (here, there) = UnixStream::pair().unwrap();
        for cause in [None, Some(StopCause::Signal), Some(StopCause::Request)] {
            let arrival = Arrival {
                step: 1 << 40,
                cause,
            };
            arrival.send(&here).unwrap();
            assert_eq!(Arrival::receive(&there).unwrap(), arrival);
        }
        drop(here);
        Arrival::receive(&there).unwrap_err();
    }

    #[test]
    fn ranks_that_are_apart_say_so() {
        let (here, there) = UnixStream::pair().unwrap();
        let mut ranks = RankGroup::Member {
            own: 1,
            barrier: here,
        };
        let at = |step| Arrival { step, cause: None };
        at(20).send(&there).unwrap();
        let error = ranks.agree_at(at(40)).unwrap_err().to_string();
        assert!(
            error.contains("step 40") && error.contains("step 20"),
            "{error}"
        );
        assert_eq!(RankGroup::Alone.agree_at(at(40)).unwrap(), at(40));
    }
}
