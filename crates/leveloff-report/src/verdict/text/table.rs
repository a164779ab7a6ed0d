//! Many inputs: a line for each, and a count of all.

use leveloff_classifier::verdict::{RunVerdict, Verdict};
use leveloff_model::process::printable;
use leveloff_text::judged::Judged;
use leveloff_text::page::columns;
use leveloff_text::paint::Paint;
use leveloff_text::rate::{CountRate, MemoryRate};
use leveloff_text::subject::things;
use leveloff_text::verdict::{is_from_the_start, short_reason, verdict_words};
use leveloff_text::verdict_counts::VerdictCounts;
use leveloff_text::x_position::XPosition;

/// Wide enough for `LEAK (confirmed)`.
const VERDICT_COLUMNS: usize = 17;

/// Names up to this long stand in a column; `since step 12,345, 2.06 MiB per step` fits beside them.
const NAME_COLUMNS: usize = 27;

/// The lines of a table, one for each input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    paint: Paint,
    /// The directory of all inputs, which is printed once.
    directory: String,
    name_columns: usize,
}

impl Table {
    /// A table for inputs of these names, which are printed as they are.
    pub fn new<'a>(names: impl Iterator<Item = &'a str>, paint: Paint) -> Table {
        Table::below(String::new(), names, paint)
    }

    /// The same, but a directory that all names have in common is printed only at the end: on a screen
    /// of 80 columns there is no room for it in each line.
    pub fn shortened<'a>(names: impl Iterator<Item = &'a str> + Clone, paint: Paint) -> Table {
        let mut all = names.clone();
        let first = all.next().unwrap_or_default();
        let common = all.fold(directory_of(first), |common, name| {
            let same = common.bytes().zip(name.bytes()).take_while(|(a, b)| a == b);
            directory_of(&common[..common.floor_char_boundary(same.count())])
        });
        Table::below(common.to_owned(), names, paint)
    }

    fn below<'a>(directory: String, names: impl Iterator<Item = &'a str>, paint: Paint) -> Table {
        let shown = names.map(|name| columns(&printable(&name.as_bytes()[directory.len()..])));
        let name_columns = shown.max().unwrap_or_default().min(NAME_COLUMNS);
        Table {
            paint,
            directory,
            name_columns,
        }
    }

    /// One line for an input.
    pub fn row(&self, judged: &Judged) -> String {
        let run = judged.verdict;
        let words = verdict_words(run.verdict);
        let details = match run.verdict {
            Verdict::Undecided => short_reason(run.judgement.reason).to_owned(),
            _ => details(run),
        };
        let painted = self.paint.verdict(run.verdict, words);
        self.line(&painted, words, judged.input, &details)
    }

    /// One line for an input that could not be read.
    pub fn error_row(&self, input: &str) -> String {
        let painted = self.paint.error("ERROR");
        self.line(&painted, "ERROR", input, "")
    }

    /// The last line: `12 inputs in runs/: 2 leak, 10 level`.
    pub fn total(&self, counts: &VerdictCounts) -> String {
        match &*self.directory {
            "" => counts.line("inputs"),
            directory => {
                let directory = printable(directory.as_bytes());
                counts.line(&format!("inputs in {directory}"))
            }
        }
    }

    fn line(&self, painted: &str, words: &str, input: &str, details: &str) -> String {
        let name = input.strip_prefix(&self.directory).unwrap_or(input);
        let name = printable(name.as_bytes());
        let verdict = VERDICT_COLUMNS - words.len();
        let space = self.name_columns.saturating_sub(columns(&name)) + 2;
        let line = format!("{painted}{:verdict$}{name}{:space$}{details}", "", "");
        line.trim_end().to_owned() + "\n"
    }
}

/// `since step 88 at 17.4 GiB`, `since step 10, 2.08 MiB per step`
fn details(run: &RunVerdict) -> String {
    let (when, amount) = (when(run), amount(run));
    match run.verdict {
        _ if when.is_empty() || amount.is_empty() => when + &amount,
        Verdict::Level(_) => format!("{when} {amount}"),
        _ => format!("{when}, {amount}"),
    }
}

/// The part of a name up to its last slash.
fn directory_of(name: &str) -> &str {
    name.rfind('/').map_or("", |slash| &name[..=slash])
}

fn when(run: &RunVerdict) -> String {
    let judgement = &run.judgement;
    let place = |x| XPosition::new(x, run.x_unit);
    let text = match run.verdict {
        Verdict::Level(_) if is_from_the_start(judgement) => Some("from the start".to_owned()),
        Verdict::Level(_) => judgement
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
        (Verdict::Level(_), _, Some(level)) => format!("at {}", level.bytes()),
        (Verdict::Leak(_) | Verdict::WarmingUp, Some(rate), _) => match things(run.decisive) {
            Some(things) => CountRate::new(rate, run.x_unit, things).alone(),
            None => MemoryRate::new(rate, run.x_unit).alone(),
        },
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests;
