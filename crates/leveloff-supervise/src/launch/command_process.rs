//! The command's process as the relay sees it, its process group, and, in a session of its own, their terminal.
//!
//! The relay leads the session and the command leads a group in it, as a shell arranges its jobs. Ctrl-Z needs this: the
//! kernel does not stop a group without a parent that is outside the group and inside the session.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};
use rustix::termios::{tcgetpgrp, tcsetpgrp};

use super::plan::Plan;
use super::sys::{self, ProcessGroup};
use super::terminal;
use super::wiring::{Mode, Wire};

/// The running command.
#[derive(Debug)]
pub struct CommandProcess {
    child: Pid,
    has_ended: bool,
    leads_group: bool,
    is_controlled: bool,
    terminal: Option<OwnedFd>,
    /// The group that had the foreground of the terminal before we took it.
    former_foreground: Option<Pid>,
}

/// Our ends of the command's output pipes.
#[derive(Debug, Default)]
pub struct Pipes {
    /// For stdout, or for both.
    pub stdout: Option<OwnedFd>,
    /// For stderr.
    pub stderr: Option<OwnedFd>,
}

impl CommandProcess {
    /// Starts the command. In the user's session, the command starts in the user's job, and the relay leaves the job
    /// afterwards: signals of the user's terminal then reach the command as without us, and not the relay.
    pub fn start(plan: &Plan, master: Option<&OwnedFd>) -> io::Result<(CommandProcess, Pipes)> {
        if plan.own_session {
            rustix::process::setsid()?;
        }
        let slave = master.map(terminal::slave_of).transpose()?;
        let controls = plan.wiring.mode == Mode::Terminal;
        if let Some(slave) = slave.as_ref().filter(|_| controls) {
            rustix::process::ioctl_tiocsctty(slave)?;
        }
        let (mut command, pipes) = connected(plan, slave.as_ref())?;
        let group = match &slave {
            _ if !plan.own_session => ProcessGroup::Ours,
            Some(slave) if controls && plan.foreground => {
                ProcessGroup::NewForeground(slave.as_fd())
            }
            _ => ProcessGroup::New,
        };
        let limit = plan
            .limit
            .map(|limit| limit.map(|&number| sys::adopt(number)).transpose())
            .transpose()?;
        let borrowed = limit.as_ref().map(|limit| limit.map(AsFd::as_fd));
        let child = sys::spawn_child(&mut command, plan.signals, group, borrowed)?;
        if !plan.own_session {
            rustix::process::setpgid(None, None)?;
        }
        let child = Pid::from_child(&child);
        let process = CommandProcess {
            child,
            has_ended: false,
            leads_group: plan.own_session,
            is_controlled: controls,
            terminal: slave,
            former_foreground: (!plan.foreground).then_some(child),
        };
        Ok((process, pipes))
    }

    /// Its pid.
    pub fn pid(&self) -> Pid {
        self.child
    }

    /// The next change of its state, if there is one.
    pub fn next_change(&mut self) -> Option<WaitStatus> {
        if self.has_ended {
            return None;
        }
        let options = WaitOptions::NOHANG | WaitOptions::UNTRACED | WaitOptions::CONTINUED;
        let (_, status) = rustix::process::waitpid(Some(self.child), options).ok()??;
        if !status.stopped() && !status.continued() {
            self.has_ended = true;
            self.close_terminal();
        }
        Some(status)
    }

    /// Sends it a signal. Its pid cannot be reused, because it has not been reaped yet.
    pub fn signal(&self, signal: i32) {
        if let Some(signal) = Signal::from_named_raw(signal).filter(|_| !self.has_ended) {
            // It may have exited just now, or changed its user.
            let _ = rustix::process::kill_process(self.child, signal);
        }
    }

    /// Sends a signal to its group, and to the foreground group of its terminal if that is another: both would have got it
    /// from the user's terminal or shell.
    pub fn signal_group(&self, signal: i32) {
        let Some(named) = Signal::from_named_raw(signal).filter(|_| !self.has_ended) else {
            return;
        };
        if !self.leads_group {
            return self.signal(signal);
        }
        let _ = rustix::process::kill_process_group(self.child, named);
        let terminal = self.terminal.as_ref().filter(|_| self.is_controlled);
        let foreground = terminal.and_then(|terminal| tcgetpgrp(terminal).ok());
        if let Some(group) = foreground.filter(|&group| group != self.child && !is_ours(group)) {
            let _ = rustix::process::kill_process_group(group, named);
        }
    }

    /// Moves it to the foreground or background of its terminal with our job, so that reading from the background stops it, as
    /// without us.
    pub fn set_foreground(&mut self, foreground: bool) {
        let Some(terminal) = self.terminal.as_ref().filter(|_| self.is_controlled) else {
            return;
        };
        if foreground {
            if let Some(group) = self.former_foreground.take() {
                let _ = tcsetpgrp(terminal, group).or_else(|_| tcsetpgrp(terminal, self.child));
            }
        } else if self.former_foreground.is_none() {
            self.former_foreground = tcgetpgrp(terminal).ok().filter(|&group| !is_ours(group));
            if let Some(group) = sys::own_group() {
                let _ = tcsetpgrp(terminal, group);
            }
        }
    }

    /// Takes the foreground before closing the terminal: when a session leader exits, the kernel sends SIGHUP to the foreground
    /// group.
    fn close_terminal(&mut self) {
        self.set_foreground(false);
        self.terminal = None;
    }
}

fn is_ours(group: Pid) -> bool {
    sys::own_group() == Some(group)
}

fn connected(plan: &Plan, slave: Option<&OwnedFd>) -> io::Result<(Command, Pipes)> {
    let (name, arguments) = plan
        .command
        .split_first()
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let mut command = Command::new(name);
    command.args(arguments);
    command.envs(plan.variables.iter().map(|(name, value)| (name, value)));
    let terminal = || match slave {
        Some(slave) => slave.try_clone().map(Stdio::from),
        None => Ok(Stdio::inherit()),
    };
    let mut pipes = Pipes::default();
    if plan.wiring.stdin == Wire::Terminal {
        command.stdin(terminal()?);
    }
    match plan.wiring.stdout {
        Wire::Terminal => drop(command.stdout(terminal()?)),
        Wire::Pipe | Wire::PipeOfStdout => {
            let (reader, writer) = output_pipe()?;
            if plan.wiring.stderr == Wire::PipeOfStdout {
                command.stderr(Stdio::from(writer.try_clone()?));
            }
            command.stdout(Stdio::from(writer));
            pipes.stdout = Some(reader);
        }
        Wire::Inherited => {}
    }
    match plan.wiring.stderr {
        Wire::Terminal => drop(command.stderr(terminal()?)),
        Wire::Pipe => {
            let (reader, writer) = output_pipe()?;
            command.stderr(Stdio::from(writer));
            pipes.stderr = Some(reader);
        }
        Wire::PipeOfStdout | Wire::Inherited => {}
    }
    Ok((command, pipes))
}

/// A pipe of which only our end is non-blocking.
fn output_pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    let flags = rustix::fs::fcntl_getfl(&reader)?;
    rustix::fs::fcntl_setfl(&reader, flags | rustix::fs::OFlags::NONBLOCK)?;
    Ok((reader, writer))
}
