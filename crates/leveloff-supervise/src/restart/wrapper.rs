//! The process that starts the command, and restarts it on request.
//!
//! It is part of the run's tree and does little else: it forwards the signals that only it gets, and exits as its command did.
//! When leveloff is gone, no request comes, so it does not restart.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, ExitCode, ExitStatus};

use anyhow::{Context, Result};
use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::origin::WithOrigin;
use signal_hook::low_level::siginfo::{Cause, Origin};

use super::socket::AGAIN;
use crate::launch::{self, Outcome};
use leveloff_sampler::kernel::status;
use leveloff_sampler::roles::STARTER_ARGUMENT;

/// The signals that are forwarded to the command.
const FORWARDED: [i32; 6] = [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2];

/// A shell's exit code for a command that cannot be started.
const NOT_FOUND: u8 = 127;

/// The command line of a wrapper that runs `command` first, and `again` with the shell when the socket at `address` says so.
pub fn command(address: &Path, again: &str, command: &[OsString]) -> Result<Vec<OsString>> {
    // A command that cannot be started is an error of leveloff before the start, not of the wrapper after it.
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

/// Call early in `main`: if this process is a wrapper, does its work and returns its exit code.
pub fn wrapper_entry() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != STARTER_ARGUMENT {
        return None;
    }
    let (address, again) = (arguments.next()?, arguments.next()?);
    let first: Vec<OsString> = arguments.collect();
    Some(match start(&address, &again, &first) {
        Ok(status) => launch::pass_on(Outcome::from(status)),
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
        SignalsInfo::<WithOrigin>::new(handled_signals()).context("cannot listen to signals")?;
    let handle = signals.handle();
    let forward = Forward::default();
    let forwarding = forward.clone();
    let thread = std::thread::spawn(move || forwarding.all(signals));
    let ended = loop {
        let mut child = forward.start(&mut command)?;
        let status = child.wait().context("cannot wait for the command")?;
        forward.clear();
        if !may_restart(Path::new(address)) {
            break status;
        }
        command = Command::new("sh");
        command.arg("-c").arg(again);
    };
    handle.close();
    let _ = thread.join();
    Ok(ended)
}

/// Ignored signals (`nohup`) stay ignored, also for the command.
fn handled_signals() -> Vec<i32> {
    let text = std::fs::read("/proc/self/status").unwrap_or_default();
    let ignored = status::ignored_signals(&text).unwrap_or(0);
    let is_handled = |signal: &i32| ignored & (1 << (signal - 1)) == 0;
    FORWARDED.into_iter().filter(is_handled).collect()
}

/// Waits for the answer. A leveloff that is gone, or goes meanwhile, means no.
fn may_restart(address: &Path) -> bool {
    let mut answer = [0; AGAIN.len()];
    let read = UnixStream::connect(address).and_then(|mut socket| socket.read_exact(&mut answer));
    read.is_ok() && answer == AGAIN.as_bytes()
}

/// Forwards signals to the command that runs now.
#[derive(Debug, Clone, Default)]
struct Forward {
    child: std::sync::Arc<std::sync::Mutex<Option<std::os::fd::OwnedFd>>>,
}

impl Forward {
    /// Starts a command. The lock delays signals until they can be forwarded to it.
    fn start(&self, command: &mut Command) -> Result<Child> {
        let mut slot = self.lock();
        let child = command
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        let pid = rustix::process::Pid::from_child(&child);
        *slot = pidfd_open(pid, PidfdFlags::empty()).ok();
        Ok(child)
    }

    fn clear(&self) {
        *self.lock() = None;
    }

    fn all(&self, mut signals: SignalsInfo<WithOrigin>) {
        for origin in signals.forever() {
            if let Err(error) = self.one(&origin) {
                eprintln!("leveloff: cannot forward signal {}: {error}", origin.signal);
            }
        }
    }

    /// The terminal sends its signals to the command as well.
    fn one(&self, origin: &Origin) -> io::Result<()> {
        let is_from_terminal = !matches!(origin.cause, Cause::Sent(_));
        match (&*self.lock(), Signal::from_named_raw(origin.signal)) {
            (Some(_), _) if is_from_terminal => Ok(()),
            (Some(child), Some(signal)) => Ok(pidfd_send_signal(child, signal)?),
            // Between two commands: the signal ends the wrapper, so there is no restart.
            _ => launch::pass_on(Outcome::Signal(origin.signal)),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<std::os::fd::OwnedFd>> {
        self.child
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
