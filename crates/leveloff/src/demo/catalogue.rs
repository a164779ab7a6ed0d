//! What the trainer can do, in its own words, and what is true of each.

use std::fmt::Write as _;

use anyhow::{Result, bail};
use leveloff_text::page::Page;
use leveloff_text::rate::amount;
use serde::Deserialize;

/// Every pattern.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Catalogue {
    entries: Vec<Entry>,
}

/// One pattern. Fields that a newer trainer adds are passed over.
#[derive(Debug, PartialEq, Deserialize)]
pub struct Entry {
    /// Its name.
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
pub struct Truth {
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
pub enum TrueVerdict {
    /// It levels off.
    Level,
    /// It leaks.
    Leak,
}

impl Catalogue {
    /// Reads what the trainer printed.
    pub fn parse(json: &[u8]) -> Result<Catalogue> {
        Ok(serde_json::from_slice(json)?)
    }

    /// The pattern with this name.
    pub fn entry(&self, name: &str) -> Result<&Entry> {
        match self.entries.iter().find(|entry| entry.name == name) {
            Some(entry) => Ok(entry),
            None => bail!("{}", self.unknown(name)),
        }
    }

    /// All of them for people: names, what each does, what is true of it.
    pub fn list(&self) -> String {
        let mut page = Page::new();
        for entry in &self.entries {
            page.line(entry.name.clone());
            page.row("does", &entry.summary);
            page.row("truth", &entry.truth.words());
        }
        page.gap();
        page.line("leveloff demo PATTERN shows one of them".to_owned());
        page.into_text()
    }

    fn unknown(&self, name: &str) -> String {
        let mut text = format!("there is no pattern '{name}'; these are:");
        let names = self.entries.iter().map(|entry| entry.name.len());
        let width = names.max().unwrap_or(0);
        for entry in &self.entries {
            let _ = write!(text, "\n  {:width$}  {}", entry.name, entry.summary);
        }
        text
    }
}

impl Truth {
    /// `level since step 90`, `leak since step 1, 1.00 MiB per step, trainer anon`
    pub fn words(&self) -> String {
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

    fn two() -> Catalogue {
        Catalogue::parse(TWO.as_bytes()).unwrap()
    }

    #[test]
    fn a_truth_is_told_with_all_that_is_known() {
        assert_eq!(
            two().entry("story").unwrap().truth.words(),
            "level since step 90"
        );
        assert_eq!(
            two().entry("native-leak").unwrap().truth.words(),
            "leak from the start, 1.00 MiB per step, trainer anon"
        );
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let error = two().entry("storm").unwrap_err().to_string();
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
        assert!(Catalogue::parse(maybe.as_bytes()).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Catalogue::parse(&bytes);
        }
    }
}
