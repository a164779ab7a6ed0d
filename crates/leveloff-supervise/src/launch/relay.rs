//! The relay: starts the command, holds its terminal and pipes, moves its output to the user, and outlives the front. It measures
//! nothing, so that little can go wrong in it.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::process::{PidfdFlags, Signal};

use super::channel::{Channel, Sink};
use super::command_process::{CommandProcess, Pipes};
use super::message::{Incoming, Link, ToFront, ToRelay};
use super::outcome::Outcome;
use super::plan::{Plan, RELAY_NAME};
use super::start::open_null;
use super::sys;
use super::terminal::{self, TerminalModes};
use super::wiring::{Mode, Wire};

/// The time between two checks whether the output is drained after the command's end.
const DRAIN_CHECK: Duration = Duration::from_millis(10);

/// The command's end is reported at the latest after this time, even if its children go on writing or the user's reader is
/// slow. The output is still passed on to its last byte.
const REPORT_END_WITHIN: Duration = Duration::from_secs(1);

/// Runs the relay, from the plan to the last byte of output.
pub fn run(plan: OwnedFd) -> io::Result<()> {
    rustix::thread::set_name(&std::ffi::CString::new(RELAY_NAME)?)?;
    let plan = Plan::read(plan)?;
    let mut link = Link::from_descriptor(sys::adopt(plan.link)?);
    match Relay::start(&plan, &link) {
        Ok(Some(mut relay)) => {
            link.send(ToFront::Started(relay.command.pid().as_raw_nonzero().get()))?;
            relay.work(link)
        }
        Ok(None) => Ok(()),
        Err(e) => link.send(ToFront::StartFailed(e.raw_os_error().unwrap_or(0))),
    }
}

struct Relay {
    command: CommandProcess,
    channels: [Option<Channel>; 2],
    child_events: OwnedFd,
    master: Option<OwnedFd>,
    controls_terminal: bool,
    front: Option<OwnedFd>,
    child_is_stopped: bool,
    outer_before: Option<TerminalModes>,
    ended: Option<(Outcome, Instant)>,
}

impl Relay {
    fn start(plan: &Plan, link: &Link) -> io::Result<Option<Relay>> {
        let master = plan.master.map(sys::adopt).transpose()?;
        let mut taps = [None, None];
        for (tap, number) in taps.iter_mut().zip(plan.taps) {
            *tap = number.map(sys::adopt).transpose()?;
        }
        // Before we leave the session, in which /dev/tty is the user's.
        let sinks = sinks(plan)?;
        let front = rustix::process::getppid()
            .and_then(|parent| rustix::process::pidfd_open(parent, PidfdFlags::empty()).ok());
        let child_events = sys::child_events()?;
        if link.is_abandoned() {
            return Ok(None);
        }
        let (command, pipes) = CommandProcess::start(plan, master.as_ref())?;
        let channels = channels(plan, pipes, master.as_ref(), sinks, taps)?;
        release_everything_else()?;
        Ok(Some(Relay {
            command,
            channels,
            child_events,
            master,
            controls_terminal: plan.wiring.mode == Mode::Terminal,
            front,
            child_is_stopped: false,
            outer_before: None,
            ended: None,
        }))
    }

    /// Runs until the command has ended and no process holds its output.
    fn work(&mut self, link: Link) -> io::Result<()> {
        let mut link = Some(link);
        let mut reported = false;
        loop {
            self.check_command(&mut link);
            if !reported && let Some((outcome, when)) = self.ended {
                reported = self.report_end(outcome, when, &mut link);
            }
            if reported
                && self.channels().all(Channel::is_finished)
                && !self.may_have_to_clean_up(&link)
            {
                return Ok(());
            }
            let sink_events = self.wait(link.as_ref(), reported)?;
            for (channel, events) in self.channels.iter_mut().zip(sink_events) {
                if let Some(channel) = channel {
                    channel.pump(events);
                }
            }
            self.close_finished_pipes();
            self.receive(&mut link);
        }
    }

    /// A front that holds the terminal may be killed before it restores it, even after the command's end. It closes its link
    /// after that.
    fn may_have_to_clean_up(&self, link: &Option<Link>) -> bool {
        self.controls_terminal && link.is_some()
    }

    fn channels(&self) -> impl Iterator<Item = &Channel> {
        self.channels.iter().flatten()
    }

    /// Polls until something can be done; returns the events at each sink.
    fn wait(&self, link: Option<&Link>, reported: bool) -> io::Result<[PollFlags; 2]> {
        let mut fds = vec![PollFd::new(&self.child_events, PollFlags::IN)];
        fds.extend(link.map(|link| PollFd::new(link, PollFlags::IN)));
        let mut sinks = [None, None];
        for (sink, channel) in sinks.iter_mut().zip(&self.channels) {
            if let Some(channel) = channel {
                let [source, output] = channel.interests();
                fds.extend(source);
                *sink = output.is_some().then_some(fds.len());
                fds.extend(output);
            }
        }
        let is_draining = self.ended.is_some() && !reported;
        let timeout = is_draining.then(|| rustix::event::Timespec {
            tv_sec: 0,
            tv_nsec: DRAIN_CHECK.subsec_nanos().into(),
        });
        match rustix::event::poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
        Ok(sinks.map(|sink| sink.map_or(PollFlags::empty(), |index: usize| fds[index].revents())))
    }

    /// Closes our side, so that the user's reader sees the end.
    fn close_finished_pipes(&mut self) {
        let is_done =
            |channel: &mut Channel| channel.is_finished() && channel.outer_terminal().is_none();
        for channel in &mut self.channels {
            drop(channel.take_if(is_done));
        }
    }

    fn check_command(&mut self, link: &mut Option<Link>) {
        let mut ignored = [0; 1024];
        while rustix::io::read(&self.child_events, &mut ignored).is_ok_and(|count| count > 0) {}
        while let Some(status) = self.command.next_change() {
            if let Some(signal) = status.stopping_signal() {
                self.child_is_stopped = true;
                send(link, ToFront::Stopped(signal));
            } else if status.continued() {
                self.wake_front();
            } else {
                let status = ExitStatus::from_raw(status.as_raw());
                self.ended = Some((Outcome::from(status), Instant::now()));
                for channel in self.channels.iter_mut().flatten() {
                    channel.reset_drained();
                    channel.pump(PollFlags::empty());
                }
            }
        }
    }

    /// The command was continued by another process than the front: the front stopped with it, and no shell continues it.
    fn wake_front(&mut self) {
        if let Some(front) = self.front.as_ref().filter(|_| self.child_is_stopped) {
            let _ = rustix::process::pidfd_send_signal(front, Signal::CONT);
        }
        self.child_is_stopped = false;
    }

    fn report_end(&self, outcome: Outcome, when: Instant, link: &mut Option<Link>) -> bool {
        let now = Instant::now();
        let overdue = now.duration_since(when) >= REPORT_END_WITHIN;
        if !overdue && !self.channels().all(|channel| channel.is_drained(now)) {
            return false;
        }
        let leaving = self.channels().all(Channel::is_finished);
        (!leaving || send(link, ToFront::Leaving)) && send(link, ToFront::Ended(outcome))
    }

    fn receive(&mut self, link: &mut Option<Link>) {
        while let Some(open) = link {
            match open.receive() {
                Incoming::Nothing => return,
                Incoming::Message(message) => self.handle(message),
                Incoming::Gone => {
                    *link = None;
                    self.continue_alone();
                }
            }
        }
    }

    fn handle(&mut self, message: ToRelay) {
        match message {
            ToRelay::Continue => {
                self.child_is_stopped = false;
                self.command.signal_group(Signal::CONT.as_raw());
            }
            ToRelay::Foreground(yes) => self.command.set_foreground(yes),
            ToRelay::Raw(before) => self.outer_before = Some(before),
            ToRelay::Cooked => self.outer_before = None,
            ToRelay::SignalGroup(signal) => self.command.signal_group(signal),
            ToRelay::Signal(signal) => self.command.signal(signal),
        }
    }

    /// The front is gone, perhaps killed: restores the terminal in its place. A stopped command is continued, because no other
    /// process would do it.
    fn continue_alone(&mut self) {
        for channel in self.channels.iter_mut().flatten() {
            channel.close_tap();
        }
        let outer = self.channels().find_map(Channel::outer_terminal);
        if let (Some(outer), Some(before)) = (outer, self.outer_before) {
            let _ = terminal::undo_raw(outer, before);
        }
        if let Some(master) = self.master.take().filter(|_| self.controls_terminal) {
            let _ = terminal::translate_output(master, false);
        }
        if self.child_is_stopped {
            self.command.signal_group(Signal::CONT.as_raw());
        }
    }
}

/// Whether the message needs no second try: it was sent, or the front is gone, which may happen at any moment.
fn send(link: &mut Option<Link>, message: ToFront) -> bool {
    let result = link.as_mut().map_or(Ok(()), |link| link.send(message));
    !result.is_err_and(|e| e.kind() == io::ErrorKind::WouldBlock)
}

fn sinks(plan: &Plan) -> io::Result<[Option<Sink>; 2]> {
    let sink = |wire: Wire, descriptor| wire.has_channel().then(|| Sink::to_user(descriptor));
    Ok([
        sink(plan.wiring.stdout, rustix::stdio::stdout()).transpose()?,
        sink(plan.wiring.stderr, rustix::stdio::stderr()).transpose()?,
    ])
}

fn channels(
    plan: &Plan,
    pipes: Pipes,
    master: Option<&OwnedFd>,
    sinks: [Option<Sink>; 2],
    taps: [Option<OwnedFd>; 2],
) -> io::Result<[Option<Channel>; 2]> {
    let [to_stdout, to_stderr] = sinks;
    let [stdout_tap, stderr_tap] = taps;
    let mut master = master.map(OwnedFd::try_clone).transpose()?;
    let mut channel = |wire, pipe: Option<OwnedFd>, sink: Option<Sink>, tap| match wire {
        Wire::Terminal => Some(Channel::from_terminal(master.take()?, sink?, tap)),
        _ => Some(Channel::from_pipe(pipe?, sink?, tap)),
    };
    Ok([
        channel(plan.wiring.stdout, pipes.stdout, to_stdout, stdout_tap),
        channel(plan.wiring.stderr, pipes.stderr, to_stderr, stderr_tap),
    ])
}

/// Keeps only the user's output streams: a writer to the command's stdin has to notice when the command closes it, and we must
/// not keep a directory busy.
fn release_everything_else() -> io::Result<()> {
    let null = open_null()?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    sys::close_inherited_extras()?;
    std::env::set_current_dir("/")
}
