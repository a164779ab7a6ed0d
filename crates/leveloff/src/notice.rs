//! Messages to the user on stderr, in every state of the terminal.

use std::io::{IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::unfinished_line::UnfinishedLine;
use leveloff_supervise::notify::Urgency;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Whether TERM says that the terminal can neither move its cursor nor show colours.
pub(crate) fn is_dumb_terminal() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Prints `text`. A closed stderr must not end leveloff. While the dashboard is shown, the text goes to the dashboard,
/// and to stderr when the user leaves it.
pub(crate) fn notice(text: &str) {
    say(text, Urgency::Normal);
}

/// Prints `text` with this urgency: on the dashboard, an alarm rings the bell.
pub(crate) fn say(text: &str, urgency: Urgency) {
    if let Some(held) = held().as_mut() {
        (held.show)(text, urgency);
        held.texts.push(text.to_owned());
        return;
    }
    print(text);
}

/// Prints `text`, unless the dashboard is shown, which has it anyway.
pub(crate) fn notice_beside_dashboard(text: &str) {
    if held().is_none() {
        print(text);
    }
}

/// Keeps notices from stderr until it is dropped.
#[derive(Debug)]
pub(crate) struct HeldNotices(());

/// Keeps notices from stderr from now on; `show` gets each of them at once.
pub(crate) fn hold(show: impl FnMut(&str, Urgency) + Send + 'static) -> HeldNotices {
    *held() = Some(PendingNotices {
        show: Box::new(show),
        texts: Vec::new(),
    });
    HeldNotices(())
}

impl Drop for HeldNotices {
    fn drop(&mut self) {
        let texts = held().take().map_or_else(Vec::new, |held| held.texts);
        for text in texts {
            print(&text);
        }
    }
}

type ShowNotice = Box<dyn FnMut(&str, Urgency) + Send>;

struct PendingNotices {
    show: ShowNotice,
    texts: Vec<String>,
}

fn held() -> MutexGuard<'static, Option<PendingNotices>> {
    static HELD: Mutex<Option<PendingNotices>> = Mutex::new(None);
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints what a blocked terminal has delayed, however long that takes. For the end of the process.
pub(crate) fn flush() {
    for text in std::mem::take(&mut *waiting()) {
        write(&text);
    }
}

/// Whether stderr takes text without blocking.
pub(crate) fn is_writable() -> bool {
    let stderr = rustix::stdio::stderr();
    let mut fds = [PollFd::from_borrowed_fd(stderr, PollFlags::OUT)];
    let now = Timespec::try_from(Duration::ZERO).ok();
    // If poll fails, the write is tried as usual.
    !matches!(poll(&mut fds, now.as_ref()), Ok(0))
}

/// How many notices may wait. A guard prints a dozen.
const MOST_WAITING: usize = 100;

fn waiting() -> MutexGuard<'static, Vec<String>> {
    static WAITING: Mutex<Vec<String>> = Mutex::new(Vec::new());
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A blocked terminal (Ctrl-S, a dead line) must not delay sampling or the guard. What cannot be printed now is printed
/// with the next notice, or at the end.
fn print(text: &str) {
    let mut queue = waiting();
    queue.push(text.to_owned());
    let surplus = queue.len().saturating_sub(MOST_WAITING);
    queue.drain(..surplus);
    while !queue.is_empty() && is_writable() {
        write(&queue.remove(0));
    }
}

/// Of so much output at once, the rest may have been dropped: it comes through a pipe that the command does not wait for.
const MAY_LACK_REST: usize = 48 << 10;

/// Takes output of the command that goes where notices go, so that none is printed inside a line of it.
pub(crate) fn note_output(bytes: &[u8]) {
    let mut line = unfinished_line();
    match bytes.len() < MAY_LACK_REST {
        true => line.feed(bytes),
        false => *line = UnfinishedLine::new(),
    }
}

/// Whether the command draws the whole screen, which a notice would damage.
pub(crate) fn is_screen_taken() -> bool {
    std::io::stderr().is_terminal() && unfinished_line().is_full_screen()
}

fn unfinished_line() -> MutexGuard<'static, UnfinishedLine> {
    static LINE: Mutex<UnfinishedLine> = Mutex::new(UnfinishedLine::new());
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// In one piece: the command may print to the same terminal or file at the same time.
fn write(text: &str) {
    let mut stderr = std::io::stderr();
    let text = format!("leveloff: {text}");
    let line = unfinished_line();
    let _ = match stderr.is_terminal() && !is_dumb_terminal() {
        true => stderr.write_all(&line.around(&text)),
        // A file or a pipe, where a bar is a line that does not end.
        false if line.is_empty() => stderr.write_all(format!("{text}\n").as_bytes()),
        false => stderr.write_all(format!("\n{text}\n").as_bytes()),
    };
}
