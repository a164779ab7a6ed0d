//! A word to the user on stderr, whatever state the terminal is in.

use std::io::{IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use leveloff_supervise::notify::Urgency;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Whether the terminal cannot move its cursor or show colours, by its own word.
pub(crate) fn is_dumb_terminal() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Says `text`. While a command has the terminal, a bare line feed would not return to the margin;
/// and a stderr that is gone must not end us.
///
/// While a screen is shown it would spoil that: whoever holds notices back hears of it, and the rest of
/// the world when the screen is left.
pub(crate) fn notice(text: &str) {
    say(text, Urgency::Normal);
}

/// Says `text` with this urgency: on a screen of ours, an alarm rings the bell.
pub(crate) fn say(text: &str, urgency: Urgency) {
    if let Some(held) = held().as_mut() {
        (held.hear)(text, urgency);
        held.said.push(text.to_owned());
        return;
    }
    print(text);
}

/// Holds all notices back until it is dropped.
#[derive(Debug)]
pub(crate) struct HeldNotices(());

/// Holds notices back from now on; `hear` is told each at once.
pub(crate) fn hold(hear: impl FnMut(&str, Urgency) + Send + 'static) -> HeldNotices {
    *held() = Some(Held {
        hear: Box::new(hear),
        said: Vec::new(),
    });
    HeldNotices(())
}

impl Drop for HeldNotices {
    fn drop(&mut self) {
        let said = held().take().map_or_else(Vec::new, |held| held.said);
        for text in said {
            print(&text);
        }
    }
}

type Hearing = Box<dyn FnMut(&str, Urgency) + Send>;

struct Held {
    hear: Hearing,
    said: Vec<String>,
}

fn held() -> MutexGuard<'static, Option<Held>> {
    static HELD: Mutex<Option<Held>> = Mutex::new(None);
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says what waits for a terminal that takes nothing, however long that takes. For the end, when nobody waits for us.
pub(crate) fn flush() {
    for text in std::mem::take(&mut *waiting()) {
        write(&text);
    }
}

/// Whether stderr takes text without making us wait.
pub(crate) fn is_writable() -> bool {
    let stderr = rustix::stdio::stderr();
    let mut fds = [PollFd::from_borrowed_fd(stderr, PollFlags::OUT)];
    let now = Timespec::try_from(Duration::ZERO).ok();
    // Who cannot be asked is written to as ever.
    !matches!(poll(&mut fds, now.as_ref()), Ok(0))
}

/// Most notices that wait. A guard says a dozen.
const MOST_WAITING: usize = 100;

fn waiting() -> MutexGuard<'static, Vec<String>> {
    static WAITING: Mutex<Vec<String>> = Mutex::new(Vec::new());
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A terminal that takes nothing (Ctrl-S, a dead line) must not hold us up: a guard has to look. What cannot be said now
/// is said with the next notice, or in the end.
fn print(text: &str) {
    let mut queue = waiting();
    queue.push(text.to_owned());
    let surplus = queue.len().saturating_sub(MOST_WAITING);
    queue.drain(..surplus);
    while !queue.is_empty() && is_writable() {
        write(&queue.remove(0));
    }
}

fn write(text: &str) {
    let mut stderr = std::io::stderr();
    let end = if stderr.is_terminal() { "\r\n" } else { "\n" };
    let _ = write!(stderr, "leveloff: {text}{end}");
}
