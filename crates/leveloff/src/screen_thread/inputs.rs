//! Keys, sizes and signals, as events for the dashboard.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use leveloff_dashboard::event::Event;
use leveloff_dashboard::keyboard::Keyboard;
use leveloff_dashboard::terminal;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;

use leveloff_supervise::launch;

/// How long the rest of a key's sequence may take, even over a slow link.
const SEQUENCE: Duration = Duration::from_millis(50);

/// How often a job in the background looks whether it has come to the front again.
const JOB_PACE: Duration = Duration::from_millis(250);

/// How often a request to leave is tried again while the screen has no room for it.
const RETRY: Duration = Duration::from_millis(50);

/// A shell and a terminal send SIGHUP one shortly after the other. A second signal later than this ends the process at
/// once: the terminal may be blocked.
const PATIENCE: Duration = Duration::from_secs(1);

/// What Ctrl-Z sends.
const CTRL_Z: &[u8] = b"\x1a";

/// The thread that reads them. Dropping this ends it.
#[derive(Debug)]
pub(crate) struct Inputs {
    end: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

struct Listener {
    events: SyncSender<Event>,
    keyboard: Keyboard,
    signals: SignalDelivery<UnixStream, SignalOnly>,
    end: UnixStream,
    terminal_is_gone: bool,
    leave: Leave,
    is_leaving: Arc<AtomicBool>,
}

/// The state of a request to leave.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Leave {
    NotRequested,
    Waiting(Instant),
    Sent(Instant),
}

impl Inputs {
    /// Starts the thread. `is_leaving` is set on a signal to leave, for code that takes no events at that moment.
    pub(crate) fn start(
        events: SyncSender<Event>,
        is_leaving: Arc<AtomicBool>,
    ) -> io::Result<Inputs> {
        let (end, listeners_end) = UnixStream::pair()?;
        let (reader, writer) = UnixStream::pair()?;
        reader.set_nonblocking(true)?;
        writer.set_nonblocking(true)?;
        let wanted = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH];
        let listener = Listener {
            events,
            keyboard: Keyboard::default(),
            signals: SignalDelivery::with_pipe(reader, writer, SignalOnly, wanted)?,
            end: listeners_end,
            terminal_is_gone: false,
            leave: Leave::NotRequested,
            is_leaving,
        };
        let thread = std::thread::Builder::new()
            .name("inputs".to_owned())
            .spawn(move || listener.listen())?;
        Ok(Inputs {
            end: Some(end),
            thread: Some(thread),
        })
    }
}

impl Drop for Inputs {
    fn drop(&mut self) {
        self.end = None;
        if let Some(thread) = self.thread.take() {
            // A panic was reported when it happened.
            let _ = thread.join();
        }
    }
}

impl Listener {
    fn listen(mut self) {
        loop {
            let Some(has_keys) = self.wait() else { return };
            self.read_signals();
            if has_keys {
                self.read_keys();
            } else if self.keyboard.is_waiting() {
                let key = self.keyboard.settle();
                self.send_all(key);
            }
            self.send_leave();
        }
    }

    /// Whether there are keys to read; `None` at the end.
    fn wait(&self) -> Option<bool> {
        // Reading from the background would stop the process.
        let reads = !self.terminal_is_gone && launch::is_in_foreground(rustix::stdio::stdin());
        let timeout = if self.keyboard.is_waiting() {
            Some(SEQUENCE)
        } else if matches!(self.leave, Leave::Waiting(_)) {
            Some(RETRY)
        } else if !reads && !self.terminal_is_gone {
            Some(JOB_PACE)
        } else {
            None
        };
        let timeout = timeout.and_then(|wait| Timespec::try_from(wait).ok());
        let stdin = rustix::stdio::stdin();
        let mut fds = vec![
            PollFd::new(&self.end, PollFlags::IN),
            PollFd::new(self.signals.get_read(), PollFlags::IN),
        ];
        fds.extend(reads.then(|| PollFd::from_borrowed_fd(stdin, PollFlags::IN)));
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) if !fds[0].revents().is_empty() => None,
            Ok(_) => Some(fds.get(2).is_some_and(|keys| !keys.revents().is_empty())),
            Err(rustix::io::Errno::INTR) => Some(false),
            Err(_) => None,
        }
    }

    fn read_keys(&mut self) {
        let mut bytes = [0; 1024];
        match rustix::io::read(rustix::stdio::stdin(), &mut bytes) {
            Ok(0) => self.lose_terminal(),
            Ok(count) => {
                let keys = self.keyboard.take(&bytes[..count]);
                self.send_all(keys);
            }
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Err(_) => self.lose_terminal(),
        }
    }

    fn lose_terminal(&mut self) {
        self.terminal_is_gone = true;
        self.ask_to_leave(SIGHUP);
    }

    fn read_signals(&mut self) {
        let arrived: Vec<i32> = self.signals.pending().collect();
        let mut leave = None;
        for &signal in &arrived {
            match signal {
                SIGWINCH => {
                    let (columns, rows) = terminal::size();
                    self.send_all([Event::Resized(columns, rows)]);
                }
                SIGCONT => self.send_all([Event::Continued]),
                // A stop that was already continued is ignored.
                SIGTSTP if !arrived.contains(&SIGCONT) => {
                    let keys = Keyboard::default().take(CTRL_Z);
                    self.send_all(keys);
                }
                SIGTSTP => {}
                _ => leave = Some(signal),
            }
        }
        if let Some(signal) = leave {
            self.ask_to_leave(signal);
        }
    }

    fn ask_to_leave(&mut self, signal: i32) {
        self.is_leaving.store(true, Ordering::Relaxed);
        match self.leave {
            Leave::NotRequested => self.leave = Leave::Waiting(Instant::now()),
            Leave::Waiting(since) | Leave::Sent(since) if since.elapsed() > PATIENCE => {
                terminal::give_back_modes();
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
            Leave::Waiting(_) | Leave::Sent(_) => {}
        }
    }

    /// Never blocks: the screen may be stuck in a blocked terminal.
    fn send_leave(&mut self) {
        if let Leave::Waiting(since) = self.leave
            && !matches!(
                self.events.try_send(Event::Leave),
                Err(TrySendError::Full(_))
            )
        {
            self.leave = Leave::Sent(since);
        }
    }

    fn send_all(&self, events: impl IntoIterator<Item = Event>) {
        for event in events {
            // The receiver is gone only when this thread is about to end.
            let _ = self.events.send(event);
        }
    }
}
