//! The relay: starts the command, holds its terminal and pipes, moves its output to the user, and
//! outlives the front. It measures nothing, so there is little in it that can go wrong.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::process::{PidfdFlags, Signal, WaitStatus};

use super::channel::{Channel, Sink};
use super::edge;
use super::message::{Incoming, Link, ToFront, ToRelay};
use super::plan::{Plan, RELAY_NAME};
use super::session::{Pipes, Session};
use super::terminal::{self, TerminalModes};
use super::wiring::{Mode, Wire};

/// How often a drained terminal is looked at again before the command's end is reported.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// The command's end is reported at the latest after this, even when its own children go on
/// writing or the user's reader is slow. The output itself is still passed on to its last byte.
const REPORT_END_WITHIN: Duration = Duration::from_secs(1);

/// Control and child events, and two streams with two ends each.
const MOST_DESCRIPTORS: usize = 6;

/// Does the relay's work, from the plan to the last byte.
pub fn run(plan: OwnedFd) -> io::Result<()> {
    rustix::thread::set_name(&std::ffi::CString::new(RELAY_NAME)?)?;
    let plan = Plan::read(plan)?;
    let mut link = Link::from_descriptor(edge::adopt(plan.link)?);
    match Relay::start(&plan, &link) {
        Ok(Some(mut relay)) => {
            link.send(ToFront::Started(
                relay.session.child().as_raw_nonzero().get(),
            ))?;
            relay.work(link)
        }
        Ok(None) => Ok(()),
        Err(e) => link.send(ToFront::StartFailed(e.raw_os_error().unwrap_or(0))),
    }
}

struct Relay {
    session: Session,
    channels: [Option<Channel>; 2],
    child_events: OwnedFd,
    master: Option<OwnedFd>,
    controls_terminal: bool,
    front: Option<OwnedFd>,
    child_is_stopped: bool,
    outer_before: Option<TerminalModes>,
    ended: Option<(WaitStatus, Instant)>,
    dropped_before: u64,
    reported_drops: u64,
}

impl Relay {
    fn start(plan: &Plan, link: &Link) -> io::Result<Option<Relay>> {
        let master = plan.master.map(edge::adopt).transpose()?;
        let mut taps = [None, None];
        for (tap, number) in taps.iter_mut().zip(plan.taps) {
            *tap = number.map(edge::adopt).transpose()?;
        }
        // Before we leave the session: there, /dev/tty is still the user's.
        let sinks = sinks(plan)?;
        let front = rustix::process::getppid()
            .and_then(|parent| rustix::process::pidfd_open(parent, PidfdFlags::empty()).ok());
        let child_events = edge::child_events()?;
        if link.is_abandoned() {
            return Ok(None);
        }
        let (session, pipes) = Session::start(plan, master.as_ref())?;
        let channels = channels(plan, pipes, master.as_ref(), sinks, taps)?;
        let_go_of_everything_else()?;
        Ok(Some(Relay {
            session,
            channels,
            child_events,
            master,
            controls_terminal: plan.wiring.mode == Mode::Terminal,
            front,
            child_is_stopped: false,
            outer_before: None,
            ended: None,
            dropped_before: 0,
            reported_drops: 0,
        }))
    }

    /// Until the command has ended and nobody can write any more.
    fn work(&mut self, link: Link) -> io::Result<()> {
        let mut link = Some(link);
        let mut reported = false;
        loop {
            self.see_child(&mut link);
            if !reported && let Some((status, when)) = self.ended {
                reported = self.report_end(status, when, &mut link);
            }
            if reported
                && self.channels().all(Channel::is_finished)
                && !self.may_have_to_tidy(&link)
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
            self.report_drops(&mut link);
            self.hear_front(&mut link);
        }
    }

    /// A front that still holds the terminal may be killed before it gives it back, even after the
    /// command's end. It closes its link when it has done so.
    fn may_have_to_tidy(&self, link: &Option<Link>) -> bool {
        self.controls_terminal && link.is_some()
    }

    fn channels(&self) -> impl Iterator<Item = &Channel> {
        self.channels.iter().flatten()
    }

    /// Waits until something can be done; says what was found at each sink.
    fn wait(&self, link: Option<&Link>, reported: bool) -> io::Result<[PollFlags; 2]> {
        let mut waiting = [const { None }; MOST_DESCRIPTORS];
        waiting[0] = link.map(|link| PollFd::new(link, PollFlags::IN));
        waiting[1] = Some(PollFd::new(&self.child_events, PollFlags::IN));
        for (i, channel) in self.channels.iter().enumerate() {
            if let Some(channel) = channel {
                [waiting[2 + 2 * i], waiting[3 + 2 * i]] = channel.interests();
            }
        }
        let mut slots = [0; MOST_DESCRIPTORS];
        let mut count = 0;
        let mut fds = [const { None }; MOST_DESCRIPTORS].map(|none: Option<PollFd<'_>>| {
            none.unwrap_or_else(|| PollFd::new(&self.child_events, PollFlags::empty()))
        });
        for (slot, fd) in waiting.into_iter().enumerate() {
            if let Some(fd) = fd {
                fds[count] = fd;
                slots[count] = slot;
                count += 1;
            }
        }
        let hurry = self.ended.is_some() && !reported;
        let timeout = hurry.then(|| rustix::event::Timespec {
            tv_sec: 0,
            tv_nsec: LOOK_AGAIN.subsec_nanos().into(),
        });
        match rustix::event::poll(&mut fds[..count], timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
        let mut sink_events = [PollFlags::empty(); 2];
        for (fd, slot) in fds[..count].iter().zip(slots) {
            match slot {
                3 => sink_events[0] = fd.revents(),
                5 => sink_events[1] = fd.revents(),
                _ => {}
            }
        }
        Ok(sink_events)
    }

    /// The user's reader has to see the end when the command closes its side.
    fn close_finished_pipes(&mut self) {
        let is_done =
            |channel: &mut Channel| channel.is_finished() && channel.outer_terminal().is_none();
        for channel in &mut self.channels {
            if let Some(done) = channel.take_if(is_done) {
                self.dropped_before += done.dropped();
            }
        }
    }

    fn see_child(&mut self, link: &mut Option<Link>) {
        let mut ignored = [0; 1024];
        while rustix::io::read(&self.child_events, &mut ignored).is_ok_and(|count| count > 0) {}
        while let Some(status) = self.session.next_change() {
            if let Some(signal) = status.stopping_signal() {
                self.child_is_stopped = true;
                tell(link, ToFront::Stopped(signal));
            } else if status.continued() {
                self.wake_front();
            } else {
                self.ended = Some((status, Instant::now()));
                for channel in self.channels.iter_mut().flatten() {
                    channel.look_again();
                    channel.pump(PollFlags::empty());
                }
            }
        }
    }

    /// Somebody other than the front let the command go on: the front stopped with it, and no
    /// shell will continue it.
    fn wake_front(&mut self) {
        if let Some(front) = self.front.as_ref().filter(|_| self.child_is_stopped) {
            let _ = rustix::process::pidfd_send_signal(front, Signal::CONT);
        }
        self.child_is_stopped = false;
    }

    fn report_end(&self, status: WaitStatus, when: Instant, link: &mut Option<Link>) -> bool {
        let now = Instant::now();
        let overdue = now.duration_since(when) >= REPORT_END_WITHIN;
        if !overdue && !self.channels().all(|channel| channel.is_drained(now)) {
            return false;
        }
        let end = match status.terminating_signal() {
            Some(signal) => ToFront::Killed(signal),
            None => ToFront::Exited(status.exit_status().unwrap_or(0)),
        };
        let leaving = self.channels().all(Channel::is_finished);
        tell(link, ToFront::Dropped(self.dropped()))
            && (!leaving || tell(link, ToFront::Leaving))
            && tell(link, end)
    }

    fn report_drops(&mut self, link: &mut Option<Link>) {
        let dropped = self.dropped();
        // Told only once the front reads again, so that a stopped front's socket never fills up.
        let is_heard = !self.channels().any(Channel::tap_is_full);
        if dropped != self.reported_drops && is_heard {
            self.reported_drops = dropped;
            tell(link, ToFront::Dropped(dropped));
        }
    }

    fn dropped(&self) -> u64 {
        self.dropped_before + self.channels().map(Channel::dropped).sum::<u64>()
    }

    fn hear_front(&mut self, link: &mut Option<Link>) {
        while let Some(open) = link {
            match open.receive() {
                Incoming::Nothing => return,
                Incoming::Message(message) => self.obey(message),
                Incoming::Gone => {
                    *link = None;
                    self.go_on_alone();
                }
            }
        }
    }

    fn obey(&mut self, message: ToRelay) {
        match message {
            ToRelay::Continue => {
                self.child_is_stopped = false;
                self.session.signal_group(Signal::CONT.as_raw());
            }
            ToRelay::Foreground(yes) => self.session.set_foreground(yes),
            ToRelay::Raw(before) => self.outer_before = Some(before),
            ToRelay::Cooked => self.outer_before = None,
            ToRelay::SignalGroup(signal) => self.session.signal_group(signal),
            ToRelay::Signal(signal) => self.session.signal(signal),
        }
    }

    /// The front is gone, perhaps killed: what it would have tidied up falls to us. A command that
    /// was stopped goes on, because nobody is left who could continue it.
    fn go_on_alone(&mut self) {
        for channel in self.channels.iter_mut().flatten() {
            channel.forget_tap();
        }
        let outer = self.channels().find_map(Channel::outer_terminal);
        if let (Some(outer), Some(before)) = (outer, self.outer_before) {
            let _ = terminal::undo_raw(outer, before);
        }
        if let Some(master) = self.master.take().filter(|_| self.controls_terminal) {
            let _ = terminal::translate_output(master, false);
        }
        if self.child_is_stopped {
            self.session.signal_group(Signal::CONT.as_raw());
        }
    }
}

/// Whether the message needs no second try: it was sent, or the front is gone for good, which may
/// happen at any moment and is no reason to stop.
fn tell(link: &mut Option<Link>, message: ToFront) -> bool {
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

/// Keeps nothing of the user's but what output is written to: a writer to the command's stdin has
/// to notice when the command closes it, and a directory must not be kept busy by us.
fn let_go_of_everything_else() -> io::Result<()> {
    let null = std::fs::File::options()
        .read(true)
        .write(true)
        .open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    edge::close_inherited_extras()?;
    std::env::set_current_dir("/")
}
