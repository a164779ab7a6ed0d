//! Many inputs: a line for each, and a count of all.

use leveloff_classifier::verdict::{RunVerdict, Verdict};
use leveloff_model::process::printable;

use super::headline::{is_from_the_start, short_reason, verdict_words};
use super::{Paint, bytes};
use crate::judged::Judged;
use crate::place::Place;
use crate::rate::{CountRate, MemoryRate};
use crate::subject::things;

/// Wide enough for `LEAK (confirmed)`.
const VERDICT_COLUMNS: usize = 18;

/// Wide enough for `since iteration 12,345`.
const WHEN_COLUMNS: usize = 23;

/// Wide enough for `1.23 GiB per iteration` besides.
const DETAIL_COLUMNS: usize = WHEN_COLUMNS + 24;

/// One line for an input. The name comes last, so that nothing has to be cut.
pub fn row(judged: &Judged, paint: Paint) -> String {
    let run = judged.verdict;
    let words = verdict_words(run.verdict);
    let space = VERDICT_COLUMNS - words.len();
    let details = match run.verdict {
        Verdict::Undecided => short_reason(run.judgement.because).to_owned(),
        _ => format!("{:<WHEN_COLUMNS$}{}", when(run), amount(run)),
    };
    let name = printable(judged.input.as_bytes());
    format!(
        "{}{:space$}{details:<DETAIL_COLUMNS$}{name}\n",
        paint.verdict(run.verdict, words),
        ""
    )
}

/// One line for an input that could not be read.
pub fn error_row(input: &str, paint: Paint) -> String {
    let space = VERDICT_COLUMNS + DETAIL_COLUMNS - "ERROR".len();
    let name = printable(input.as_bytes());
    format!("{}{:space$}{name}\n", paint.error("ERROR"), "")
}

/// How many inputs got which verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    leak: usize,
    level: usize,
    warming_up: usize,
    undecided: usize,
    errors: usize,
}

impl Tally {
    /// Counts a verdict.
    pub fn add(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Leak(_) => self.leak += 1,
            Verdict::Level => self.level += 1,
            Verdict::WarmingUp => self.warming_up += 1,
            Verdict::Undecided => self.undecided += 1,
        }
    }

    /// Counts an input that could not be read.
    pub fn add_error(&mut self) {
        self.errors += 1;
    }

    /// How many there were.
    pub fn all(&self) -> usize {
        self.leak + self.level + self.warming_up + self.undecided + self.errors
    }

    /// `12 inputs: 2 leak, 9 level, 1 undecided`
    pub fn line(&self) -> String {
        let counts = [
            (self.leak, "leak"),
            (self.level, "level"),
            (self.warming_up, "warming up"),
            (self.undecided, "undecided"),
            (self.errors, "not readable"),
        ];
        let parts: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        format!("{} inputs: {}\n", self.all(), parts.join(", "))
    }
}

fn when(run: &RunVerdict) -> String {
    let judgement = &run.judgement;
    let place = |x| Place::new(x, run.x_unit);
    let text = match run.verdict {
        Verdict::Level if is_from_the_start(judgement) => Some("from the start".to_owned()),
        Verdict::Level => judgement
            .level_since_x
            .map(|x| format!("since {}", place(x))),
        Verdict::Leak(_) => judgement.onset_x.map(|x| format!("since {}", place(x))),
        Verdict::WarmingUp => judgement
            .decide_by
            .map(|by| format!("until {}", place(by.if_it_goes_on))),
        Verdict::Undecided => None,
    };
    text.unwrap_or_default()
}

fn amount(run: &RunVerdict) -> String {
    let judgement = &run.judgement;
    match (run.verdict, judgement.rate, judgement.level) {
        (Verdict::Level, _, Some(level)) => format!("at {}", bytes(level)),
        (Verdict::Leak(_) | Verdict::WarmingUp, Some(rate), _) => match things(run.decisive) {
            Some(things) => CountRate::new(rate, run.x_unit, things).alone(),
            None => MemoryRate::new(rate, run.x_unit).alone(),
        },
        _ => String::new(),
    }
}
