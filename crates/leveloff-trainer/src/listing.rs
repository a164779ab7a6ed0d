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

fn table(listed: Vec<(&Entry, Truth)>) -> String {
    let rows: Vec<_> = listed
        .iter()
        .map(|(entry, truth)| (entry, in_words(truth)))
        .collect();
    let name_width = widest(rows.iter().map(|(entry, _)| entry.name));
    let truth_width = widest(rows.iter().map(|(_, truth)| truth.as_str()));
    let mut text = String::new();
    for (
        Entry {
            name,
            summary,
            says,
            ..
        },
        truth,
    ) in rows
    {
        let _ = writeln!(text, "{name:name_width$}  {truth:truth_width$}  {summary}");
        let _ = writeln!(
            text,
            "{:1$}leveloff says: {says}",
            "",
            name_width + truth_width + 4
        );
    }
    text
}

fn widest<'a>(texts: impl Iterator<Item = &'a str>) -> usize {
    texts.map(|text| text.chars().count()).max().unwrap_or(0)
}

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
    fn a_truth_is_told_in_words() {
        let truth = Truth::leak(90, 1 << 20);
        assert_eq!(in_words(&truth), "leak of 1.0 MiB/step since step 90");
    }
}
