//! The process that starts the command, and starts it again when it is told to.
//!
//! It is part of the run's tree and does nothing else: passes on the signals that it alone gets, and ends as
//! its command ended. When leveloff is gone there is nobody to tell it to start again, so it does not.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitCode, ExitStatus};

use anyhow::{Context, Result};
use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::origin::WithOrigin;
use signal_hook::low_level::siginfo::{Cause, Origin};

use super::desk::AGAIN;
use crate::launch::{self, Outcome};
use leveloff_sampler::kernel::status;
use leveloff_sampler::roles::STARTER_ARGUMENT;

/// Signals that a command may be sent through us.
const PASSED_ON: [i32; 6] = [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2];

/// What a shell says of a command that cannot be started.
const NOT_FOUND: u8 = 127;

/// The command line of a starter of `command` that asks at `address`, and then starts `again` by the shell.
pub fn command(address: &Path, again: &str, command: &[OsString]) -> Result<Vec<OsString>> {
    // Its own words would come from the starter; what is wrong is said before anything is started.
    launch::check_command(command)?;
    let ourselves = std::env::current_exe().context("cannot find leveloff itself")?;
    let own = [
        ourselves.into_os_string(),
        STARTER_ARGUMENT.into(),
        address.as_os_str().to_owned(),
        again.into(),
    ];
    Ok(own.into_iter().chain(command.iter().cloned()).collect())
}

/// To be called early in `main`: if this process was started to be a starter, does its work and says with
/// what code to exit.
pub fn starter_entry() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != STARTER_ARGUMENT {
        return None;
    }
    let (address, again) = (arguments.next()?, arguments.next()?);
    let first: Vec<OsString> = arguments.collect();
    Some(match start(&address, &again, &first) {
        Ok(status) => launch::pass_on(outcome(status)),
        Err(error) => {
            eprintln!("leveloff: {error:#}");
            ExitCode::from(NOT_FOUND)
        }
    })
}

fn start(address: &OsStr, again: &OsStr, first: &[OsString]) -> Result<ExitStatus> {
    let (program, arguments) = first.split_first().context("no command to start")?;
    let mut command = Command::new(program);
    command.args(arguments);
    let signals =
        SignalsInfo::<WithOrigin>::new(listened_to()).context("cannot listen to signals")?;
    let handle = signals.handle();
    let forward = Forward::default();
    let forwarding = forward.clone();
    let listening = std::thread::spawn(move || forwarding.all(signals));
    let ended = loop {
        let mut child = forward.start(&mut command)?;
        let status = child.wait().context("cannot wait for the command")?;
        forward.to_nobody();
        if !is_told_to_start_again(Path::new(address)) {
            break status;
        }
        command = Command::new("sh");
        command.arg("-c").arg(again);
    };
    handle.close();
    let _ = listening.join();
    Ok(ended)
}

/// What is ignored (`nohup`) stays so, for the command as well.
fn listened_to() -> Vec<i32> {
    let text = std::fs::read("/proc/self/status").unwrap_or_default();
    let ignored = status::ignored_signals(&text).unwrap_or(0);
    let is_heard = |signal: &i32| ignored & (1 << (signal - 1)) == 0;
    PASSED_ON.into_iter().filter(is_heard).collect()
}

/// Asks, and waits for the answer. Nobody there, or nobody any more, is a no.
fn is_told_to_start_again(address: &Path) -> bool {
    let mut answer = [0; AGAIN.len()];
    let asked = UnixStream::connect(address).and_then(|mut desk| desk.read_exact(&mut answer));
    asked.is_ok() && answer == AGAIN.as_bytes()
}

fn outcome(status: ExitStatus) -> Outcome {
    match status.signal() {
        Some(signal) => Outcome::Signal(signal),
        None => Outcome::Code(status.code().unwrap_or(1)),
    }
}

/// Passes signals on to the command that runs now.
#[derive(Debug, Clone, Default)]
struct Forward {
    child: std::sync::Arc<std::sync::Mutex<Option<std::os::fd::OwnedFd>>>,
}

impl Forward {
    /// Starts a command and passes signals on to it from its first moment: one that comes meanwhile waits.
    fn start(&self, command: &mut Command) -> Result<Child> {
        let mut slot = self.lock();
        let child = command
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        let pid = rustix::process::Pid::from_child(&child);
        *slot = pidfd_open(pid, PidfdFlags::empty()).ok();
        Ok(child)
    }

    fn to_nobody(&self) {
        *self.lock() = None;
    }

    fn all(&self, mut signals: SignalsInfo<WithOrigin>) {
        for origin in signals.forever() {
            if let Err(error) = self.one(&origin) {
                eprintln!("leveloff: cannot pass on signal {}: {error}", origin.signal);
            }
        }
    }

    /// The terminal's own have reached the command as well.
    fn one(&self, origin: &Origin) -> io::Result<()> {
        let is_from_terminal = !matches!(origin.cause, Cause::Sent(_));
        match (&*self.lock(), Signal::from_named_raw(origin.signal)) {
            (Some(_), _) if is_from_terminal => Ok(()),
            (Some(child), Some(signal)) => Ok(pidfd_send_signal(child, signal)?),
            // Between two commands: whoever says so now wants no other.
            _ => launch::pass_on(Outcome::Signal(origin.signal)),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<std::os::fd::OwnedFd>> {
        self.child
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
