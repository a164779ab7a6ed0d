//! A word to the user on stderr, whatever state the terminal is in.

use std::io::{IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whether the terminal cannot move its cursor or show colours, by its own word.
pub fn is_dumb_terminal() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Says `text`. While a command has the terminal, a bare line feed would not return to the margin;
/// and a stderr that is gone must not end us.
///
/// While a screen is shown it would spoil that: whoever holds notices back hears of it, and the rest of
/// the world when the screen is left.
pub fn notice(text: &str) {
    say(text, Urgency::Usual);
}

/// Says `text`, which somebody has to hear now: on a screen of ours it rings the bell.
pub fn alarm(text: &str) {
    say(text, Urgency::Alarm);
}

/// How urgent a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    /// To be read some time.
    Usual,
    /// To be heard now.
    Alarm,
}

fn say(text: &str, urgency: Urgency) {
    if let Some(held) = held().as_mut() {
        (held.hear)(text, urgency);
        held.said.push(text.to_owned());
        return;
    }
    print(text);
}

/// Holds all notices back until it is dropped.
#[derive(Debug)]
pub struct HeldNotices(());

/// Holds notices back from now on; `hear` is told each at once.
pub fn hold(hear: impl FnMut(&str, Urgency) + Send + 'static) -> HeldNotices {
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

fn print(text: &str) {
    let mut stderr = std::io::stderr();
    let end = if stderr.is_terminal() { "\r\n" } else { "\n" };
    let _ = write!(stderr, "leveloff: {text}{end}");
}
