//! The command as the relay sees it: its only child, the process group it leads, and, in a
//! session of its own, the terminal that the relay shares with it.
//!
//! The relay is the session's leader and the command is not, with its group one of the session's.
//! That is the shape a shell gives to its jobs. It is needed for Ctrl-Z: the kernel does not stop
//! a group that has no parent outside it but inside its session.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};
use rustix::termios::{tcgetpgrp, tcsetpgrp};

use super::edge::{self, Place};
use super::entrance::Entrance;
use super::plan::Plan;
use super::terminal;
use super::wiring::{Mode, Wire};

/// The running command.
#[derive(Debug)]
pub struct Session {
    child: Pid,
    has_ended: bool,
    leads_group: bool,
    is_controlled: bool,
    terminal: Option<OwnedFd>,
    set_aside: Option<Pid>,
}

/// The reading ends of the pipes that the command writes to.
#[derive(Debug, Default)]
pub struct Pipes {
    /// Of its stdout, or of both.
    pub stdout: Option<OwnedFd>,
    /// Of its stderr.
    pub stderr: Option<OwnedFd>,
}

impl Session {
    /// Starts the command. In the user's session it is started first, as a member of the user's
    /// job, and we leave the job afterwards: what the user's terminal sends reaches it as without
    /// us and cannot reach us.
    pub fn start(plan: &Plan, master: Option<&OwnedFd>) -> io::Result<(Session, Pipes)> {
        if plan.apart {
            rustix::process::setsid()?;
        }
        let slave = master.map(terminal::slave_of).transpose()?;
        let controls = plan.wiring.mode == Mode::Terminal;
        if let Some(slave) = slave.as_ref().filter(|_| controls) {
            rustix::process::ioctl_tiocsctty(slave)?;
        }
        let (mut command, pipes) = connected(plan, slave.as_ref())?;
        let place = match &slave {
            _ if !plan.apart => Place::OurGroup,
            Some(slave) if controls && plan.foreground => Place::InFrontOf(slave.as_fd()),
            _ => Place::OwnGroup,
        };
        let entrance = plan
            .entrance
            .map(|entrance| entrance.held_by(|&number| edge::adopt(number)))
            .transpose()?;
        let lent = entrance.as_ref().map(Entrance::lent);
        let child = edge::spawn_child(&mut command, plan.signals, place, lent)?;
        if !plan.apart {
            rustix::process::setpgid(None, None)?;
        }
        let child = Pid::from_child(&child);
        let session = Session {
            child,
            has_ended: false,
            leads_group: plan.apart,
            is_controlled: controls,
            terminal: slave,
            set_aside: (!plan.foreground).then_some(child),
        };
        Ok((session, pipes))
    }

    /// Its number.
    pub fn child(&self) -> Pid {
        self.child
    }

    /// The next change of its state, if there was one.
    pub fn next_change(&mut self) -> Option<WaitStatus> {
        if self.has_ended {
            return None;
        }
        let options = WaitOptions::NOHANG | WaitOptions::UNTRACED | WaitOptions::CONTINUED;
        let (_, status) = rustix::process::waitpid(Some(self.child), options).ok()??;
        if !status.stopped() && !status.continued() {
            self.has_ended = true;
            self.let_go_of_terminal();
        }
        Some(status)
    }

    /// Sends it a signal. Safe against a reused number, because it has not been waited for yet.
    pub fn signal(&self, signal: i32) {
        if let Some(signal) = Signal::from_named_raw(signal).filter(|_| !self.has_ended) {
            // It may have ended just now, or changed its user; neither is ours to mend.
            let _ = rustix::process::kill_process(self.child, signal);
        }
    }

    /// Sends its group a signal, and the group in front of its terminal if that is another: both
    /// would have got it from the user's terminal or shell.
    pub fn signal_group(&self, signal: i32) {
        let Some(named) = Signal::from_named_raw(signal).filter(|_| !self.has_ended) else {
            return;
        };
        if !self.leads_group {
            return self.signal(signal);
        }
        let _ = rustix::process::kill_process_group(self.child, named);
        let terminal = self.terminal.as_ref().filter(|_| self.is_controlled);
        let in_front = terminal.and_then(|terminal| tcgetpgrp(terminal).ok());
        if let Some(group) = in_front.filter(|&group| group != self.child && !is_ours(group)) {
            let _ = rustix::process::kill_process_group(group, named);
        }
    }

    /// Lets it follow our job to the foreground or background, so that reading the terminal from
    /// the background stops it, as without us.
    pub fn set_foreground(&mut self, foreground: bool) {
        let Some(terminal) = self.terminal.as_ref().filter(|_| self.is_controlled) else {
            return;
        };
        if foreground {
            if let Some(group) = self.set_aside.take() {
                let _ = tcsetpgrp(terminal, group).or_else(|_| tcsetpgrp(terminal, self.child));
            }
        } else if self.set_aside.is_none() {
            self.set_aside = tcgetpgrp(terminal).ok().filter(|&group| !is_ours(group));
            if let Some(group) = edge::own_group() {
                let _ = tcsetpgrp(terminal, group);
            }
        }
    }

    /// Takes the foreground back before the terminal is closed, so that our end, which is a
    /// session leader's, sends nobody a hang-up.
    fn let_go_of_terminal(&mut self) {
        self.set_foreground(false);
        self.terminal = None;
    }
}

fn is_ours(group: Pid) -> bool {
    edge::own_group() == Some(group)
}

fn connected(plan: &Plan, slave: Option<&OwnedFd>) -> io::Result<(Command, Pipes)> {
    let (name, arguments) = plan
        .command
        .split_first()
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let mut command = Command::new(name);
    command.args(arguments);
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

/// Only our end is non-blocking; the command's is an ordinary pipe.
fn output_pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    let flags = rustix::fs::fcntl_getfl(&reader)?;
    rustix::fs::fcntl_setfl(&reader, flags | rustix::fs::OFlags::NONBLOCK)?;
    Ok((reader, writer))
}
