//! The front's part while the command runs: waits for whatever comes first, and passes it on.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use leveloff_model::process::Pid;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Signal, WaitOptions, WaitStatus};
use signal_hook::consts::signal::{SIGHUP, SIGSTOP, SIGTSTP, SIGWINCH};

use super::edge::{self, Who};
use super::message::{Incoming, ToFront, ToRelay};
use super::signals::{Arrived, Sender, descends_from};
use super::{Launch, Mode, Outcome, Served};

/// The shortest time between two looks at the output. A command that prints without pause would
/// otherwise keep us awake all the time, and no step mark needs to be more exact.
const OUTPUT_PACE: Duration = Duration::from_millis(50);

/// How often a job in the background looks whether it has come to the front: `fg` says nothing to
/// a job that runs.
const JOB_PACE: Duration = Duration::from_millis(250);

/// The most that one call of `take_output` takes.
const MOST_OUTPUT: usize = 256 << 10;

/// One read of it.
const OUTPUT_READ: usize = 64 << 10;

/// See [`Launch::serve_until`].
pub fn serve_until(launch: &mut Launch, deadline: Instant) -> io::Result<Served> {
    loop {
        if let Some(outcome) = launch.outcome {
            launch.restore_terminal();
            launch.see_relay_off();
            return Ok(Served::Exited(outcome));
        }
        launch.follow_job();
        let ready = launch.wait(deadline)?;
        let mut resumed = launch.handle_signals();
        resumed |= launch.hear_relay();
        if launch.relay_is_reaped && launch.outcome.is_none() {
            launch.take_command_from_dead_relay()?;
        }
        if launch.outcome.is_some() {
            continue;
        }
        launch.pass_keys_on(ready.keys);
        if resumed {
            return Ok(Served::Resumed);
        }
        if ready.output {
            launch.next_look_at_taps = Instant::now() + OUTPUT_PACE;
            return Ok(Served::Output);
        }
        if Instant::now() >= deadline {
            return Ok(Served::Deadline);
        }
    }
}

/// See [`Launch::take_output`].
pub fn take_output(tap: &mut Option<OwnedFd>, buffer: &mut Vec<u8>) -> usize {
    let before = buffer.len();
    while let Some(open) = tap.as_ref().filter(|_| buffer.len() - before < MOST_OUTPUT) {
        buffer.reserve(OUTPUT_READ);
        match rustix::io::read(open, rustix::buffer::spare_capacity(buffer)) {
            Ok(0) => *tap = None,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => break,
        }
    }
    buffer.len() - before
}

/// Handles what came while the command was being started: whoever sent a signal then, the command
/// has not seen it.
pub fn catch_up(launch: &mut Launch) {
    for arrived in launch.signals.arrived() {
        match arrived {
            Arrived::ForCommand(signal, _) => launch.signal_command(signal),
            Arrived::ChildChanged => launch.reap(),
            Arrived::Continued | Arrived::Resized => launch.resize(),
        }
    }
}

/// What waiting has found, beside messages and signals.
#[derive(Debug, Clone, Copy, Default)]
struct Ready {
    keys: bool,
    output: bool,
}

impl Launch {
    fn follow_job(&mut self) {
        if let (Some(terminals), Some(link)) = (&mut self.terminals, &mut self.link) {
            // A terminal that is gone is no reason to end; the hang-up signal says what to do.
            let _ = terminals.follow_job(link);
        }
    }

    fn wait(&self, deadline: Instant) -> io::Result<Ready> {
        let now = Instant::now();
        let looks_at_taps = now >= self.next_look_at_taps;
        let mut until = deadline;
        let mut fds = Vec::with_capacity(6);
        fds.push(PollFd::new(&self.signals, PollFlags::IN));
        fds.extend(
            self.link
                .as_ref()
                .map(|link| PollFd::new(link, PollFlags::IN)),
        );
        let mut keys = None;
        if let Some(terminals) = &self.terminals {
            let [typed, room] = terminals.interests();
            fds.extend(room);
            keys = typed.is_some().then_some(fds.len());
            fds.extend(typed);
            if terminals.takes_over() && !terminals.is_taken_over() {
                until = until.min(now + JOB_PACE);
            }
        }
        let first_tap = fds.len();
        if looks_at_taps {
            fds.extend(
                self.taps
                    .iter()
                    .flatten()
                    .map(|tap| PollFd::new(tap, PollFlags::IN)),
            );
        } else {
            until = until.min(self.next_look_at_taps);
        }
        let timeout = Timespec::try_from(until.saturating_duration_since(now)).ok();
        match rustix::event::poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
        Ok(Ready {
            keys: keys.is_some_and(|i| !fds[i].revents().is_empty()),
            // The end of a tap is no output.
            output: fds[first_tap..]
                .iter()
                .any(|fd| fd.revents().contains(PollFlags::IN)),
        })
    }

    fn pass_keys_on(&mut self, keys_wait: bool) {
        if let Some(terminals) = &mut self.terminals
            && let Some(signal) = terminals.pass_keys_on(keys_wait, self.child)
        {
            // It reaches us as well, and is known by its sender.
            let _ = rustix::process::kill_current_process_group(signal);
        }
    }

    /// Whether we were stopped meanwhile.
    fn handle_signals(&mut self) -> bool {
        let mut resumed = false;
        for arrived in self.signals.arrived() {
            match arrived {
                Arrived::ChildChanged => self.reap(),
                Arrived::Continued => {
                    self.go_on();
                    resumed = true;
                }
                Arrived::Resized => self.resize(),
                Arrived::ForCommand(signal, sender) => self.pass_signal_on(signal, sender),
            }
        }
        resumed
    }

    fn resize(&mut self) {
        let Some(terminals) = &self.terminals else {
            return;
        };
        terminals.copy_size();
        if !self.is_apart && self.mode == Mode::Display {
            // The outer terminal has told the command already, when the inner one still had its
            // old size.
            self.signal_command(SIGWINCH);
        }
    }

    fn pass_signal_on(&mut self, signal: i32, sender: Sender) {
        if signal == SIGTSTP && !self.stops_with_command {
            return;
        }
        let us = Pid(rustix::process::getpid().as_raw_nonzero().get());
        let has_it_already = match sender {
            Sender::Terminal => !self.is_apart,
            // A shell hangs up on whole jobs.
            Sender::Process(pid) if signal == SIGHUP && !self.is_apart && leads_session(pid) => {
                true
            }
            // What comes out of the command's own tree is not for it; most often it was sent to
            // the whole process group.
            Sender::Process(pid) => pid == us || descends_from(pid, self.child),
        };
        if has_it_already {
            return;
        }
        let for_group = sender == Sender::Terminal || signal == SIGHUP || signal == SIGTSTP;
        if self.is_apart && for_group {
            self.tell_relay(ToRelay::SignalGroup(signal));
        } else {
            self.signal_command(signal);
        }
    }

    fn signal_command(&mut self, signal: i32) {
        match (&self.child_handle, Signal::from_named_raw(signal)) {
            (Some(handle), Some(signal)) => {
                // It may have ended just now.
                let _ = rustix::process::pidfd_send_signal(handle, signal);
            }
            _ => self.tell_relay(ToRelay::Signal(signal)),
        }
    }

    fn tell_relay(&mut self, message: ToRelay) {
        if let Some(link) = &mut self.link {
            // If it is gone, its end is handled where that is noticed.
            let _ = link.send(message);
        }
    }

    /// Whether we were stopped meanwhile.
    fn hear_relay(&mut self) -> bool {
        let mut resumed = false;
        while let Some(link) = &mut self.link {
            match link.receive() {
                Incoming::Nothing => break,
                Incoming::Gone => self.link = None,
                Incoming::Message(ToFront::Exited(code)) => {
                    self.outcome = Some(Outcome::Code(code));
                }
                Incoming::Message(ToFront::Killed(signal)) => {
                    self.outcome = Some(Outcome::Signal(signal));
                }
                Incoming::Message(ToFront::Leaving) => self.relay_is_leaving = true,
                Incoming::Message(ToFront::Dropped(bytes)) => self.dropped = bytes,
                Incoming::Message(ToFront::Stopped(signal)) => {
                    self.stop_with_command(signal);
                    resumed = true;
                }
                Incoming::Message(ToFront::Started(_) | ToFront::StartFailed(_)) => {}
            }
        }
        resumed
    }

    /// Stops as the command was stopped, so that the shell sees its job stop, until the shell
    /// continues us.
    fn stop_with_command(&mut self, signal: i32) {
        if !self.stops_with_command {
            return;
        }
        self.restore_terminal();
        // From the keyboard it would have reached everyone in the job.
        let who = if self.mode == Mode::Terminal && signal != SIGSTOP {
            Who::OurGroup
        } else {
            Who::Us
        };
        edge::take_default_action(signal, who);
        for arrived in self.signals.arrived() {
            match arrived {
                Arrived::ForCommand(signal, sender) => self.pass_signal_on(signal, sender),
                Arrived::ChildChanged => self.reap(),
                // Whatever has changed meanwhile is looked at now.
                Arrived::Continued | Arrived::Resized => {}
            }
        }
        self.go_on();
    }

    fn go_on(&mut self) {
        self.follow_job();
        if let Some(terminals) = &self.terminals {
            terminals.copy_size();
        }
        self.tell_relay(ToRelay::Continue);
    }

    /// Orphans of the command's tree come to us when their parents end, and the relay is ours.
    fn reap(&mut self) {
        while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            let pid = Pid(pid.as_raw_nonzero().get());
            if pid == self.relay {
                self.relay_is_reaped = true;
            } else if pid == self.child && self.relay_is_reaped {
                self.outcome = Some(outcome_of(status));
            }
        }
    }

    /// A relay with nothing left to do ends at once; waiting for it leaves no zombie to a process 1
    /// that may not reap any.
    fn see_relay_off(&mut self) {
        if std::mem::take(&mut self.relay_is_leaving) && !self.relay_is_reaped {
            // It waits for this, so that it can tidy up after us until the terminal is given back.
            self.link = None;
            let relay = rustix::process::Pid::from_raw(self.relay.0);
            self.relay_is_reaped = rustix::process::waitpid(relay, WaitOptions::empty()).is_ok();
        }
    }

    /// Somebody killed the relay. The command is our child now.
    fn take_command_from_dead_relay(&mut self) -> io::Result<()> {
        let child = rustix::process::Pid::from_raw(self.child.0);
        match rustix::process::waitpid(child, WaitOptions::NOHANG) {
            Ok(status) => self.outcome = status.map(|(_, status)| outcome_of(status)),
            Err(_) => {
                return Err(io::Error::other(format!(
                    "the output relay {} was killed; how the command ended is not known",
                    self.relay
                )));
            }
        }
        Ok(())
    }
}

fn leads_session(pid: Pid) -> bool {
    edge::own_session().is_some_and(|leader| leader.as_raw_nonzero().get() == pid.0)
}

fn outcome_of(status: WaitStatus) -> Outcome {
    match status.terminating_signal() {
        Some(signal) => Outcome::Signal(signal),
        None => Outcome::Code(status.exit_status().unwrap_or(0)),
    }
}
