//! The facts about the formats seen lately: a format is looked at once, its lines come by the thousand.

use crate::key_search::position_of;
use crate::line::Number;
use crate::line::ScannedLine;
use crate::line_facts::LineFacts;

/// How many formats are remembered.
const MOST: usize = 64;

/// Longer lines are no examples.
const LONGEST_EXAMPLE: usize = 512;

/// No number of so many digits is too large for a count.
const MOST_DIGITS: usize = 15;

/// Facts by skeleton.
#[derive(Debug, Default)]
pub struct FactsCache {
    skeletons: Vec<u64>,
    /// `None` for a format without any number that could be of use.
    facts: Vec<Option<LineFacts>>,
    /// The last line of each format that is of no use. Most of these lines differ from the one before in a few digits, and such a line
    /// is recognised without scanning it.
    examples: Vec<Vec<u8>>,
    /// The entry that the next new format replaces.
    next: usize,
}

impl FactsCache {
    /// The facts about a line; `None` when its format is known to be of no use.
    pub fn of(&mut self, line: &[u8], scanned: &ScannedLine) -> Option<LineFacts> {
        if let Some(at) = self.position(scanned.skeleton) {
            return self.facts[at];
        }
        let facts = LineFacts::of(line, &scanned.numbers);
        if self.skeletons.len() < MOST {
            self.skeletons.push(scanned.skeleton);
            self.facts.push(Some(facts));
            self.examples.push(Vec::new());
        } else {
            (self.skeletons[self.next], self.facts[self.next]) = (scanned.skeleton, Some(facts));
            self.examples[self.next].clear();
            self.next = (self.next + 1) % MOST;
        }
        Some(facts)
    }

    /// Remembers that no number of this format can be of use.
    pub fn mark_barren(&mut self, skeleton: u64) {
        if let Some(at) = self.position(skeleton) {
            self.facts[at] = None;
        }
    }

    /// Keeps a line as the example of its format, which is of no use.
    pub fn keep_example(&mut self, line: &[u8], scanned: &ScannedLine) {
        if line.len() > LONGEST_EXAMPLE
            || !scanned
                .numbers
                .iter()
                .all(|it| is_shaped_by_digits(line, it))
        {
            return;
        }
        if let Some(at) = self.position(scanned.skeleton) {
            self.examples[at].clear();
            self.examples[at].extend_from_slice(line);
        }
    }

    /// The skeleton of a line that has the format of an example for certain. That format is of no use.
    pub fn barren_skeleton(&self, line: &[u8]) -> Option<u64> {
        let is_like =
            |example: &Vec<u8>| example.len() == line.len() && differ_in_digits(example, line);
        let at = self
            .examples
            .iter()
            .position(is_like)
            .filter(|_| !line.is_empty())?;
        Some(self.skeletons[at])
    }

    fn position(&self, skeleton: u64) -> Option<usize> {
        position_of(skeleton, &self.skeletons)
    }
}

/// Whether two texts of one length have digits at the same places, and are the same elsewhere.
fn differ_in_digits(one: &[u8], other: &[u8]) -> bool {
    const AT_ONCE: usize = 32;
    let is_same = |(a, b): (&u8, &u8)| (a == b) | (a.is_ascii_digit() & b.is_ascii_digit());
    let pairs = one.chunks(AT_ONCE).zip(other.chunks(AT_ONCE));
    // Without a branch for each byte, a whole chunk is compared at once.
    pairs.into_iter().all(|(one, other)| {
        one.iter()
            .zip(other)
            .fold(true, |same, pair| same & is_same(pair))
    })
}

/// Whether a number ends at the same place with any other digits. Where a range, a total, or an exponent ends depends on the values.
fn is_shaped_by_digits(line: &[u8], number: &Number) -> bool {
    let text = &line[number.start..number.end];
    let is_short = text
        .split(|b| !b.is_ascii_digit())
        .all(|digits| digits.len() <= MOST_DIGITS);
    let is_plain =
        |b: &u8| b.is_ascii_digit() || matches!(b, b'.' | b':' | b',' | b'-' | b'T' | b'Z');
    // `1e309` is too large for a number, and `1e308` is one.
    let may_have_exponent = matches!(line[number.end..], [b'e' | b'E', ..]);
    is_short
        && !may_have_exponent
        && text.iter().all(is_plain)
        && (!text.contains(&b'-') || is_date(text))
}

/// `2025-05-01`
fn is_date(text: &[u8]) -> bool {
    let mut parts = text.split(|b| !b.is_ascii_digit());
    let lengths = [(); 3].map(|()| parts.next().map_or(0, <[u8]>::len));
    matches!(
        (lengths, text),
        ([4, 2, 2], [_, _, _, _, b'-', _, _, b'-', ..])
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cache_of(line: &str) -> FactsCache {
        let mut scanned = ScannedLine::default();
        scanned.scan(line.as_bytes());
        let mut cache = FactsCache::default();
        cache.of(line.as_bytes(), &scanned);
        cache.keep_example(line.as_bytes(), &scanned);
        cache
    }

    #[test]
    fn a_line_that_differs_in_digits_has_the_format_of_the_example() {
        let cache = cache_of("2025-05-01 10:00:00,123 - INFO - loaded shard 12 (cached)");
        assert!(
            cache
                .barren_skeleton(b"2025-05-02 11:22:33,999 - INFO - loaded shard 47 (cached)")
                .is_some()
        );
        for other in [
            &b"2025-05-01 10:00:00,123 - INFO - loaded shard xx (cached)"[..],
            b"2025-05-01 10:00:00,123 - INFO - loaded shard 123 (cached)",
            b"2025-05-01 10:00:00,123 - INFO - loaded chard 12 (cached)",
            b"",
        ] {
            assert_eq!(cache.barren_skeleton(other), None);
        }
    }

    #[test]
    fn ranges_and_totals_are_no_examples() {
        for line in [
            "rows 10-20",
            "rows 10/20 x",
            "at 1e-05 x",
            "at 1e309 x",
            "id 1234567890123456",
        ] {
            assert_eq!(
                cache_of(line).barren_skeleton(line.as_bytes()),
                None,
                "{line}"
            );
        }
    }

    proptest! {
        #[test]
        fn what_is_like_an_example_has_its_skeleton(
            line in "([a-c ]|[0-9]{1,3}|[-.,:/eTkM%=_\\[(]|of |2025-05-01|10:33){1,12}",
            digits in "[0-9]{60}",
        ) {
            let mut digits = digits.chars();
            let other: String = line.chars().map(|c| match c {
                '0'..='9' => digits.next().unwrap_or(c),
                c => c,
            }).collect();
            let mut scanned = ScannedLine::default();
            scanned.scan(other.as_bytes());
            if let Some(skeleton) = cache_of(&line).barren_skeleton(other.as_bytes()) {
                prop_assert_eq!(skeleton, scanned.skeleton);
            }
        }
    }
}
