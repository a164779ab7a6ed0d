//! Remembers lines of a format whose number rises, for a pattern that the user may give.

use super::ansi::printable;
use crate::step_regex::{StepRegex, suggested_pattern};

/// So many formats are remembered.
const MOST_FORMATS: usize = 8;

/// How much of a line is kept: escapes count.
const LONGEST_LINE: usize = 640;

/// The first and the last line of some formats.
#[derive(Debug, Default)]
pub struct RisingLines(Vec<Format>);

#[derive(Debug)]
struct Format {
    skeleton: u64,
    first: Vec<u8>,
    last: Vec<u8>,
    lines: u64,
}

impl RisingLines {
    /// Remembers a line of a new format while there is room for it.
    pub fn begin(&mut self, skeleton: u64, line: &[u8]) {
        if self.0.len() < MOST_FORMATS && !self.follow(skeleton, line) {
            self.0.push(Format {
                skeleton,
                first: start_of(line).to_vec(),
                last: Vec::new(),
                lines: 1,
            });
        }
    }

    /// Notes another line; returns whether its format is known.
    pub fn follow(&mut self, skeleton: u64, line: &[u8]) -> bool {
        let known = self.0.iter_mut().find(|it| it.skeleton == skeleton);
        let Some(format) = known else {
            return false;
        };
        format.lines += 1;
        format.last.clear();
        format.last.extend_from_slice(start_of(line));
        true
    }

    /// The last line of the most frequent format with a number that has risen, and a pattern for that number.
    pub fn suggestion(&self) -> Option<(String, String)> {
        let mut formats: Vec<&Format> = self.0.iter().filter(|it| it.lines > 1).collect();
        formats.sort_by_key(|format| std::cmp::Reverse(format.lines));
        formats.into_iter().find_map(Format::suggestion)
    }
}

impl Format {
    fn suggestion(&self) -> Option<(String, String)> {
        let [first, last] = [&self.first, &self.last].map(|line| printable(line));
        let pattern = suggested_pattern(&last)?;
        let regex = StepRegex::new(&pattern).ok()?;
        let step = |line: &str| regex.read(line.as_bytes()).and_then(|update| update.step);
        (step(&first)? < step(&last)?).then_some((last, pattern))
    }
}

fn start_of(line: &[u8]) -> &[u8] {
    &line[..line.len().min(LONGEST_LINE)]
}
