//! Everything the checks look at, so that a test can hand over another machine.

use std::collections::BTreeMap;
use std::path::PathBuf;

use leveloff_model::process::Pid;
use leveloff_sampler::proc_root::ProcRoot;
use rustix::process::{PidfdFlags, Resource, getpid, getrlimit, getuid, pidfd_open};
use rustix::termios::tcgetwinsize;
use rustix::time::{ClockId, clock_getres};

use crate::config::{ConfigChoice, ConfigSearch};

/// A machine, and who looks at it.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    pub proc: ProcRoot,
    /// `/`: below it are dev, sys and the mounted control groups.
    pub root: PathBuf,
    pub pid: Pid,
    pub uid: u32,
    /// The kernel's release, such as `6.18.4-arch1`.
    pub release: String,
    /// How many files we may have open; `None` for no limit.
    pub open_files: Option<u64>,
    /// Whether the kernel hands out pidfds.
    pub pidfd: bool,
    /// Columns and rows, when the output is a terminal.
    pub terminal: Option<(u16, u16)>,
    /// The monotonic clock's resolution in nanoseconds.
    pub clock_ns: u64,
    /// Clock ticks in a second, in which the kernel counts CPU time.
    pub ticks_per_second: u64,
    /// From where the configuration file is looked for.
    pub config_search: ConfigSearch,
    /// Which one was chosen.
    pub config: ConfigChoice,
    pub variables: BTreeMap<String, String>,
}

impl Machine {
    pub(crate) fn live() -> Machine {
        let size = tcgetwinsize(std::io::stdout()).ok();
        let resolution = clock_getres(ClockId::Monotonic);
        Machine {
            proc: ProcRoot::live(),
            root: PathBuf::from("/"),
            pid: Pid(getpid().as_raw_nonzero().get()),
            uid: getuid().as_raw(),
            release: rustix::system::uname().release().to_string_lossy().into(),
            open_files: getrlimit(Resource::Nofile).current,
            pidfd: pidfd_open(getpid(), PidfdFlags::empty()).is_ok(),
            terminal: size.map(|size| (size.ws_col, size.ws_row)),
            clock_ns: resolution.tv_sec.unsigned_abs() * 1_000_000_000
                + u64::try_from(resolution.tv_nsec).unwrap_or(0),
            ticks_per_second: rustix::param::clock_ticks_per_second(),
            config_search: ConfigSearch::live(),
            config: ConfigChoice::default(),
            // A variable that is not UTF-8 names neither a directory nor a locale of ours.
            variables: std::env::vars_os()
                .filter_map(|(name, value)| {
                    Some((name.into_string().ok()?, value.into_string().ok()?))
                })
                .collect(),
        }
    }

    /// A variable that is set and not empty.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.variables
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// Major and minor number of the kernel; `None` when the release does not start with them.
    pub(crate) fn kernel(&self) -> Option<(u32, u32)> {
        let mut numbers = self.release.split(|c: char| !c.is_ascii_digit());
        Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    }
}
