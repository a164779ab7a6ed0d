//! The patterns of the trainer, with the ground truth of each.

use std::fmt::Write as _;

use anyhow::{Result, bail};
use leveloff_text::page::Page;
use leveloff_text::rate::amount;
use serde::Deserialize;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(transparent)]
pub(crate) struct PatternList {
    patterns: Vec<Pattern>,
}

/// One pattern. Fields that a newer trainer adds are passed over.
#[derive(Debug, PartialEq, Deserialize)]
pub(crate) struct Pattern {
    pub name: String,
    /// What it does, in one line.
    pub summary: String,
    /// Steps that show it.
    pub steps: u64,
    /// What is true of it.
    pub truth: Truth,
}

/// What is true of a pattern.
#[derive(Debug, PartialEq, Deserialize)]
pub(crate) struct Truth {
    /// Whether memory levels off.
    pub verdict: TrueVerdict,
    /// The step since which it is level, or since which it leaks.
    pub since: u64,
    /// What stays each step from then on.
    pub bytes_per_step: u64,
    /// Whose memory it is.
    pub role: Option<String>,
    /// What kind of memory it is.
    pub kind: Option<String>,
    /// Findings that belong to it.
    #[serde(default)]
    pub findings: Vec<String>,
}

/// Does it level off, or does it leak?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TrueVerdict {
    Level,
    Leak,
}

impl PatternList {
    /// Reads what the trainer printed.
    pub(crate) fn parse(json: &[u8]) -> Result<PatternList> {
        Ok(serde_json::from_slice(json)?)
    }

    /// The pattern with this name.
    pub(crate) fn pattern(&self, name: &str) -> Result<&Pattern> {
        match self.patterns.iter().find(|pattern| pattern.name == name) {
            Some(pattern) => Ok(pattern),
            None => bail!("{}", self.unknown(name)),
        }
    }

    /// The list for a terminal.
    pub(crate) fn list(&self) -> String {
        let mut page = Page::new();
        for pattern in &self.patterns {
            page.line(pattern.name.clone());
            page.row("does", &pattern.summary);
            page.row("truth", &pattern.truth.words());
        }
        page.gap();
        page.line("leveloff demo PATTERN shows one of them".to_owned());
        page.into_text()
    }

    fn unknown(&self, name: &str) -> String {
        let mut text = format!("there is no pattern '{name}'; these are:");
        let names = self.patterns.iter().map(|pattern| pattern.name.len());
        let width = names.max().unwrap_or(0);
        for pattern in &self.patterns {
            let _ = write!(text, "\n  {:width$}  {}", pattern.name, pattern.summary);
        }
        text
    }
}

impl Truth {
    /// `level since step 90`, `leak since step 1, 1.00 MiB per step, trainer anon`
    pub(crate) fn words(&self) -> String {
        let verdict = match self.verdict {
            TrueVerdict::Level => "level",
            TrueVerdict::Leak => "leak",
        };
        let mut words = match self.since {
            0 | 1 => format!("{verdict} from the start"),
            since => format!("{verdict} since step {since}"),
        };
        if self.bytes_per_step > 0 {
            let _ = write!(words, ", {} per step", amount(self.bytes_per_step as f64));
        }
        let whose = [&self.role, &self.kind].into_iter().flatten();
        let whose: Vec<&str> = whose.map(String::as_str).collect();
        if !whose.is_empty() {
            let _ = write!(words, ", {}", whose.join(" "));
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TWO: &str = r#"[
        {"name": "story", "summary": "grows, then levels off", "says": "level", "steps": 300,
         "truth": {"verdict": "level", "since": 90, "bytes_per_step": 0, "findings": [], "seen_in": "trainer"}},
        {"name": "native-leak", "summary": "grows for ever", "says": "leak", "steps": 400,
         "truth": {"verdict": "leak", "since": 1, "bytes_per_step": 1048576, "role": "trainer",
                   "kind": "anon", "findings": ["native-growth"], "seen_in": "trainer"}}]"#;

    fn two() -> PatternList {
        PatternList::parse(TWO.as_bytes()).unwrap()
    }

    #[test]
    fn a_truth_names_all_that_is_known() {
        assert_eq!(
            two().pattern("story").unwrap().truth.words(),
            "level since step 90"
        );
        assert_eq!(
            two().pattern("native-leak").unwrap().truth.words(),
            "leak from the start, 1.00 MiB per step, trainer anon"
        );
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let error = two().pattern("storm").unwrap_err().to_string();
        assert_eq!(
            error,
            "there is no pattern 'storm'; these are:\n  \
             story        grows, then levels off\n  \
             native-leak  grows for ever"
        );
    }

    #[test]
    fn the_list_has_a_truth_for_each() {
        let list = two().list();
        assert!(
            list.starts_with("story\n  does       grows, then"),
            "{list}"
        );
        assert!(
            list.contains("\n  truth      level since step 90\n"),
            "{list}"
        );
    }

    #[test]
    fn a_truth_that_is_none_is_refused() {
        let maybe = TWO.replace("\"leak\", \"since\"", "\"maybe\", \"since\"");
        assert!(PatternList::parse(maybe.as_bytes()).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = PatternList::parse(&bytes);
        }
    }
}
