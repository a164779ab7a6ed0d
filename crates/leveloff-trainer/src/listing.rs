//! The list of patterns: what each does, what is true of it, and what leveloff should say.

use std::fmt::Write as _;

use serde::Serialize;

use crate::cli::{Cli, Format};
use crate::pattern::{TrueVerdict, Truth};
use crate::patterns::{ALL, Entry};
use crate::sizes::Size;

/// The list, with the truth under the settings that were given.
pub fn listing(cli: &Cli) -> serde_json::Result<String> {
    let listed = ALL.iter().map(|entry| (entry, truth(cli, entry)));
    match cli.format {
        Format::Text => Ok(table(listed.collect())),
        Format::Json => {
            let rows: Vec<_> = listed
                .map(|(entry, truth)| Row::new(entry, truth))
                .collect();
            Ok(format!("{}\n", serde_json::to_string(&rows)?))
        }
    }
}

/// A pattern as programs read it.
#[derive(Debug, Serialize)]
struct Row {
    name: &'static str,
    summary: &'static str,
    says: &'static str,
    steps: u64,
    truth: Truth,
}

impl Row {
    fn new(entry: &Entry, truth: Truth) -> Row {
        Row {
            name: entry.name,
            summary: entry.summary,
            says: entry.says,
            steps: entry.steps,
            truth,
        }
    }
}

fn truth(cli: &Cli, entry: &Entry) -> Truth {
    (entry.truth)(&cli.knobs(), &cli.schedule(entry))
}

/// A block for each, which fits into 80 columns.
fn table(listed: Vec<(&Entry, Truth)>) -> String {
    let mut text = String::new();
    for (entry, truth) in &listed {
        let _ = writeln!(text, "{}", entry.name);
        for (label, words) in [
            ("truth", in_words(truth).as_str()),
            ("does", entry.summary),
            ("said", entry.says),
        ] {
            write_row(&mut text, label, words);
        }
    }
    text
}

/// Words beside their label, in as many lines as they need.
fn write_row(text: &mut String, label: &str, words: &str) {
    let mut line = format!("  {label:LABEL$}");
    let mut is_empty = true;
    for word in words.split(' ') {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            let _ = writeln!(text, "{line}");
            line = " ".repeat(2 + LABEL);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    let _ = writeln!(text, "{line}");
}

/// What terminals and mails have.
const WIDTH: usize = 80;
/// The longest label, and room behind it.
const LABEL: usize = 7;

fn in_words(truth: &Truth) -> String {
    let since = match truth.since {
        0 => String::new(),
        step => format!(" since step {step}"),
    };
    match truth.verdict {
        TrueVerdict::Level => format!("level{since}"),
        TrueVerdict::Leak if truth.descriptors_per_step > 0 => {
            format!(
                "leak of {} descriptor/step{since}",
                truth.descriptors_per_step
            )
        }
        TrueVerdict::Leak => format!("leak of {}/step{since}", Size(truth.bytes_per_step)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_fits_and_no_word_is_lost() {
        let rows = ALL.iter().map(|entry| (entry, Truth::level(0))).collect();
        let text = table(rows);
        assert!(
            text.lines().all(|line| line.chars().count() <= WIDTH),
            "{text}"
        );
        let words = |text: &str| {
            text.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let listed = words(&text).join(" ");
        for entry in ALL {
            assert!(
                listed.contains(entry.summary) && listed.contains(entry.says),
                "{}",
                entry.name
            );
        }
    }

    #[test]
    fn a_truth_is_described_in_words() {
        let truth = Truth::leak(90, 1 << 20);
        assert_eq!(in_words(&truth), "leak of 1.0 MiB/step since step 90");
    }
}
