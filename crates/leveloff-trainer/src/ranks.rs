//! Ranks: copies of this program that train in step, as data-parallel training does.
//!
//! Before each step every rank tells the [`launcher`] where it is and waits for the answer, which
//! comes when all have told. So they stop at the same step, whoever was asked; and a rank whose mate
//! is gone waits for ever, as it would in a collective operation. No gradients are exchanged: the
//! ranks compute the same.
//!
//! A rank's standard input is its end of the barrier.

pub mod launcher;

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::str::FromStr;

use crate::stop::Asked;
use crate::workers::stay_with;

/// The variable that makes this program a rank.
const CALLING: &str = "LEVELOFF_TRAINER_RANK";

/// Those who train in step with this process.
#[derive(Debug)]
pub enum Mates {
    /// Nobody.
    None,
    /// It is this one of several ranks.
    Ranks {
        /// Which one.
        own: u32,
        /// To the launcher.
        barrier: UnixStream,
    },
}

/// Where a rank is, and whether it was asked to stop; as an answer, the same of all of them: how
/// far the last of them is, and whether anyone was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Steps done.
    pub step: u64,
    /// Who asked it to stop, if anyone did.
    pub asked: Option<Asked>,
}

/// Why a rank cannot train with the others.
#[derive(Debug, thiserror::Error)]
pub enum RanksError {
    /// The variable was set by somebody else.
    #[error("{CALLING} is for its own ranks and says nothing that they know; unset it")]
    Calling,
    /// The barrier is closed.
    #[error("the launcher of the ranks is gone: {0}")]
    LauncherGone(io::Error),
    /// They are not in step.
    #[error(
        "this rank is at step {own} and another at step {other}, of which this one has no good \
         checkpoint; remove the rank-K directories to begin anew"
    )]
    Apart {
        /// Where this one is.
        own: u64,
        /// Where the one behind is.
        other: u64,
    },
}

impl Mates {
    /// As this process was started. A rank ends with its launcher from now on.
    pub fn of_this_process() -> Result<Mates, RanksError> {
        let Some(calling) = std::env::var_os(CALLING) else {
            return Ok(Mates::None);
        };
        let calling: Calling = calling
            .to_str()
            .and_then(|text| text.parse().ok())
            .ok_or(RanksError::Calling)?;
        if !stay_with(calling.launcher) {
            return Err(RanksError::LauncherGone(io::ErrorKind::NotFound.into()));
        }
        let barrier = io::stdin().as_fd().try_clone_to_owned();
        Ok(Mates::Ranks {
            own: calling.rank,
            barrier: barrier.map_err(RanksError::LauncherGone)?.into(),
        })
    }

    /// Which rank this is, if there are several.
    pub fn rank(&self) -> Option<u32> {
        match self {
            Mates::None => None,
            Mates::Ranks { own, .. } => Some(*own),
        }
    }

    /// Waits until all are here, and says how far the last of them is.
    pub fn agree(&mut self, here: Arrival) -> Result<Arrival, RanksError> {
        match self {
            Mates::None => Ok(here),
            Mates::Ranks { barrier, .. } => here
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
        message[0] = match self.asked {
            None => 0,
            Some(Asked::BySignal) => 1,
            Some(Asked::ByRequest) => 2,
        };
        message[1..].copy_from_slice(&self.step.to_le_bytes());
        barrier.write_all(&message)
    }

    fn receive(mut barrier: &UnixStream) -> io::Result<Arrival> {
        let mut message = [0; MESSAGE];
        barrier.read_exact(&mut message)?;
        let [asked, step @ ..] = message;
        Ok(Arrival {
            step: u64::from_le_bytes(step),
            asked: match asked {
                0 => None,
                1 => Some(Asked::BySignal),
                2 => Some(Asked::ByRequest),
                _ => return Err(io::ErrorKind::InvalidData.into()),
            },
        })
    }
}

/// Who asked, and the step.
const MESSAGE: usize = 1 + size_of::<u64>();

/// What a process was started as, and by whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Calling {
    launcher: i32,
    rank: u32,
}

impl std::fmt::Display for Calling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.launcher, self.rank)
    }
}

impl FromStr for Calling {
    type Err = ();

    fn from_str(text: &str) -> Result<Calling, ()> {
        let (launcher, rank) = text.split_once(' ').ok_or(())?;
        Ok(Calling {
            launcher: launcher.parse().map_err(|_| ())?,
            rank: rank.parse().map_err(|_| ())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_calling_is_understood_as_it_was_meant() {
        let calling = Calling {
            launcher: 4312,
            rank: 7,
        };
        assert_eq!(calling.to_string().parse(), Ok(calling));
        for wrong in ["", "1", "1 -1", "1 2 3", "a 1"] {
            assert!(wrong.parse::<Calling>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_arrival_is_understood_as_it_was_meant() {
        let (here, there) = UnixStream::pair().unwrap();
        for asked in [None, Some(Asked::BySignal), Some(Asked::ByRequest)] {
            let arrival = Arrival {
                step: 1 << 40,
                asked,
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
        let mut mates = Mates::Ranks {
            own: 1,
            barrier: here,
        };
        let at = |step| Arrival { step, asked: None };
        at(20).send(&there).unwrap();
        let error = mates.agree_at(at(40)).unwrap_err().to_string();
        assert!(
            error.contains("step 40") && error.contains("step 20"),
            "{error}"
        );
        assert_eq!(Mates::None.agree_at(at(40)).unwrap(), at(40));
    }
}
