//! What was printed, for a message about missing steps.

use super::ansi::printable;
use super::rising_lines::RisingLines;

/// What was printed so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeenOutput {
    /// Lines and drawings of progress bars.
    pub lines: u64,
    /// The last of them that fits the pattern, or else that holds a digit, shortened and without control characters.
    pub last_line: String,
    /// A pattern for `--step-regex`, if lines of one format hold a number that rises.
    pub pattern: Option<String>,
    /// Whether any of them held a step.
    pub has_steps: bool,
    /// Whether a line has begun and not ended: a message that is printed now would cut it.
    pub is_inside_line: bool,
}

/// Lines so far, and which of them may hold a step.
#[derive(Debug, Default)]
pub(super) struct SeenLines {
    lines: u64,
    /// The start of the last line with a digit, kept while no step is known.
    last_line: Vec<u8>,
    /// Formats whose number may be the step, noted while no step is known.
    rising_lines: RisingLines,
    pub(super) has_steps: bool,
}

/// A training that prints steps has printed one by then.
const MOST_NOTED_LINES: u64 = 100_000;

/// How much of the last line is kept: escapes count.
const LONGEST_LAST_LINE: usize = 640;

impl SeenLines {
    /// Counts a line, and keeps it while no step is known.
    pub(super) fn count(&mut self, line: &[u8]) {
        if line.is_empty() {
            return;
        }
        self.lines += 1;
        if !self.has_steps && line.iter().any(u8::is_ascii_digit) {
            self.last_line.clear();
            let length = line.len().min(LONGEST_LAST_LINE);
            self.last_line.extend_from_slice(&line[..length]);
        }
    }

    /// Notes a line whose number may be the step, while no step is known.
    pub(super) fn note_number(&mut self, skeleton: u64, line: &[u8]) {
        if self.notes_numbers() {
            self.rising_lines.begin(skeleton, line);
        }
    }

    /// Notes the number of another line of a format that was noted.
    pub(super) fn follow_number(&mut self, skeleton: u64, line: &[u8]) {
        if self.notes_numbers() {
            self.rising_lines.follow(skeleton, line);
        }
    }

    fn notes_numbers(&self) -> bool {
        !self.has_steps && self.lines <= MOST_NOTED_LINES
    }

    pub(super) fn summary(&self, is_inside_line: bool) -> SeenOutput {
        let suggestion = self.rising_lines.suggestion();
        let (last_line, pattern) = suggestion.map_or_else(
            || (printable(&self.last_line), None),
            |(line, pattern)| (line, Some(pattern)),
        );
        SeenOutput {
            lines: self.lines,
            last_line,
            pattern,
            has_steps: self.has_steps,
            is_inside_line,
        }
    }
}
