//! The front while the command runs: polls keys, signals, messages and output, and passes them on.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use leveloff_model::process::Pid;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Signal, WaitOptions, WaitStatus};
use signal_hook::consts::signal::{SIGHUP, SIGSTOP, SIGTSTP, SIGWINCH};

use super::message::{Incoming, ToFront, ToRelay};
use super::signals::{ReceivedSignal, Sender, descends_from};
use super::sys::{self, SignalTarget};
use super::{Launch, Mode, Outcome, OutputStream, Served};

/// The shortest time between two reads of the output. A command that prints without pause would otherwise keep us awake all the
/// time, and step times need not be more exact.
const OUTPUT_PACE: Duration = Duration::from_millis(50);

/// How often a background job checks whether it is in the foreground: `fg` sends no signal to a running job.
const JOB_PACE: Duration = Duration::from_millis(250);

/// The most that one call of `take_output` returns.
const MOST_OUTPUT: usize = 256 << 10;

/// The size of one read.
const OUTPUT_READ: usize = 64 << 10;

/// What polling has found, beside messages and signals.
#[derive(Debug, Clone, Copy, Default)]
struct Ready {
    keys: bool,
    output: bool,
}

impl Launch {
    /// Serves keys, sizes, signals and job control until `deadline`, or until the result has news. Returns for output at most
    /// twenty times a second.
    pub fn serve_until(&mut self, deadline: Instant) -> io::Result<Served> {
        loop {
            if let Some(outcome) = self.outcome {
                self.restore_terminal();
                self.reap_relay();
                return Ok(Served::Exited(outcome));
            }
            self.follow_job();
            let ready = self.wait(deadline)?;
            let mut resumed = self.handle_signals();
            resumed |= self.receive();
            if self.relay_is_reaped && self.outcome.is_none() {
                self.adopt_command()?;
            }
            if self.outcome.is_some() {
                continue;
            }
            self.pass_keys_on(ready.keys);
            if resumed {
                return Ok(Served::Resumed);
            }
            if ready.output {
                self.next_output_at = Instant::now() + OUTPUT_PACE;
                return Ok(Served::Output);
            }
            if Instant::now() >= deadline {
                return Ok(Served::Deadline);
            }
        }
    }

    /// Appends copies of the command's output since the last call, a bounded amount; never waits. Returns the number of bytes.
    pub fn take_output(&mut self, stream: OutputStream, buffer: &mut Vec<u8>) -> usize {
        let tap = &mut self.taps[stream as usize];
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

    /// Forwards the signals that came while the command was being started: the command has not got them from any sender.
    pub(super) fn forward_early_signals(&mut self) {
        for signal in self.signals.pending() {
            match signal {
                ReceivedSignal::ForCommand(signal, _) => self.signal_command(signal),
                ReceivedSignal::ChildChanged => self.reap(),
                ReceivedSignal::Continued | ReceivedSignal::Resized => self.resize(),
            }
        }
    }

    fn follow_job(&mut self) {
        if let (Some(terminals), Some(link)) = (&mut self.terminals, &mut self.link) {
            // A terminal that is gone is no error; whether to exit is up to SIGHUP.
            let _ = terminals.follow_job(link);
        }
    }

    fn wait(&self, deadline: Instant) -> io::Result<Ready> {
        let now = Instant::now();
        let reads_output = now >= self.next_output_at;
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
        if reads_output {
            fds.extend(
                self.taps
                    .iter()
                    .flatten()
                    .map(|tap| PollFd::new(tap, PollFlags::IN)),
            );
        } else {
            until = until.min(self.next_output_at);
        }
        let timeout = Timespec::try_from(until.saturating_duration_since(now)).ok();
        match rustix::event::poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
        Ok(Ready {
            keys: keys.is_some_and(|i| !fds[i].revents().is_empty()),
            // The end of a pipe is no output.
            output: fds[first_tap..]
                .iter()
                .any(|fd| fd.revents().contains(PollFlags::IN)),
        })
    }

    fn pass_keys_on(&mut self, has_keys: bool) {
        if let Some(terminals) = &mut self.terminals
            && let Some(signal) = terminals.pass_keys_on(has_keys, self.child)
        {
            // It reaches us as well, where it is recognised by its sender.
            let _ = rustix::process::kill_current_process_group(signal);
        }
    }

    /// Whether we were stopped meanwhile.
    fn handle_signals(&mut self) -> bool {
        let mut resumed = false;
        for signal in self.signals.pending() {
            match signal {
                ReceivedSignal::ChildChanged => self.reap(),
                ReceivedSignal::Continued => {
                    self.resume();
                    resumed = true;
                }
                ReceivedSignal::Resized => self.resize(),
                ReceivedSignal::ForCommand(signal, sender) => self.forward_signal(signal, sender),
            }
        }
        resumed
    }

    fn resize(&mut self) {
        let Some(terminals) = &self.terminals else {
            return;
        };
        terminals.copy_size();
        if !self.has_own_session && self.mode == Mode::Display {
            // The command got SIGWINCH from the outer terminal before the inner one had the new size.
            self.signal_command(SIGWINCH);
        }
    }

    fn forward_signal(&mut self, signal: i32, sender: Sender) {
        if signal == SIGTSTP && !self.stops_with_command {
            return;
        }
        let us = Pid(rustix::process::getpid().as_raw_nonzero().get());
        let has_it_already = match sender {
            Sender::Terminal => !self.has_own_session,
            // A shell sends SIGHUP to whole jobs.
            Sender::Process(pid)
                if signal == SIGHUP && !self.has_own_session && leads_session(pid) =>
            {
                true
            }
            // A signal from the command's own tree is not for the command; most often it was sent to the whole group.
            Sender::Process(pid) => pid == us || descends_from(pid, self.child),
        };
        if has_it_already {
            return;
        }
        let for_group = sender == Sender::Terminal || signal == SIGHUP || signal == SIGTSTP;
        if self.has_own_session && for_group {
            self.send_to_relay(ToRelay::SignalGroup(signal));
        } else {
            self.signal_command(signal);
        }
    }

    fn signal_command(&mut self, signal: i32) {
        match (&self.child_handle, Signal::from_named_raw(signal)) {
            (Some(handle), Some(signal)) => {
                // It may have exited just now.
                let _ = rustix::process::pidfd_send_signal(handle, signal);
            }
            _ => self.send_to_relay(ToRelay::Signal(signal)),
        }
    }

    fn send_to_relay(&mut self, message: ToRelay) {
        if let Some(link) = &mut self.link {
            // A relay that is gone is handled where its end is noticed.
            let _ = link.send(message);
        }
    }

    /// Whether we were stopped meanwhile.
    fn receive(&mut self) -> bool {
        let mut resumed = false;
        while let Some(link) = &mut self.link {
            match link.receive() {
                Incoming::Nothing => break,
                Incoming::Gone => self.link = None,
                Incoming::Message(ToFront::Ended(outcome)) => self.outcome = Some(outcome),
                Incoming::Message(ToFront::Leaving) => self.relay_is_leaving = true,
                Incoming::Message(ToFront::Stopped(signal)) => {
                    self.stop_with_command(signal);
                    resumed = true;
                }
                Incoming::Message(ToFront::Started(_) | ToFront::StartFailed(_)) => {}
            }
        }
        resumed
    }

    /// Stops as the command did, so that the shell sees its job stop, until the shell continues us.
    fn stop_with_command(&mut self, signal: i32) {
        if !self.stops_with_command {
            return;
        }
        self.restore_terminal();
        // The keyboard would have sent it to the whole job.
        let target = if self.mode == Mode::Terminal && signal != SIGSTOP {
            SignalTarget::Group
        } else {
            SignalTarget::Process
        };
        sys::take_default_action(signal, target);
        for signal in self.signals.pending() {
            match signal {
                ReceivedSignal::ForCommand(signal, sender) => self.forward_signal(signal, sender),
                ReceivedSignal::ChildChanged => self.reap(),
                // Handled by `resume` below.
                ReceivedSignal::Continued | ReceivedSignal::Resized => {}
            }
        }
        self.resume();
    }

    fn resume(&mut self) {
        self.follow_job();
        if let Some(terminals) = &self.terminals {
            terminals.copy_size();
        }
        self.send_to_relay(ToRelay::Continue);
    }

    /// Reaps the relay and the orphans of the command's tree, which become our children.
    fn reap(&mut self) {
        while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            let pid = Pid(pid.as_raw_nonzero().get());
            if pid == self.relay {
                self.relay_is_reaped = true;
            } else if pid == self.child && self.relay_is_reaped {
                self.outcome = Some(outcome(status));
            }
        }
    }

    /// A relay with nothing left to do exits at once. Reaping it here leaves no zombie to a process 1 that may not reap any.
    fn reap_relay(&mut self) {
        if std::mem::take(&mut self.relay_is_leaving) && !self.relay_is_reaped {
            // It waits for this: until we have restored the terminal, it may have to do so in our place.
            self.link = None;
            let relay = rustix::process::Pid::from_raw(self.relay.0);
            self.relay_is_reaped = rustix::process::waitpid(relay, WaitOptions::empty()).is_ok();
        }
    }

    /// The relay was killed. The command is our child now.
    fn adopt_command(&mut self) -> io::Result<()> {
        let child = rustix::process::Pid::from_raw(self.child.0);
        match rustix::process::waitpid(child, WaitOptions::NOHANG) {
            Ok(status) => self.outcome = status.map(|(_, status)| outcome(status)),
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
    sys::own_session().is_some_and(|leader| leader.as_raw_nonzero().get() == pid.0)
}

fn outcome(status: WaitStatus) -> Outcome {
    Outcome::from(ExitStatus::from_raw(status.as_raw()))
}
