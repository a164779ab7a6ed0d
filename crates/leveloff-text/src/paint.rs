//! Colour, which only ever repeats what the words say.

use leveloff_classifier::verdict::{Grade, Verdict};

/// Whether to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// Words alone.
    Plain,
    /// Words in the colour of their verdict, by ANSI escapes.
    Coloured,
}

impl Paint {
    /// `words` in the colour of `verdict`.
    pub fn verdict(self, verdict: Verdict, words: &str) -> String {
        let colour = match verdict {
            Verdict::Leak(Grade::Early | Grade::Confirmed) => RED,
            Verdict::Level(_) => GREEN,
            Verdict::Leak(Grade::Suspected) | Verdict::WarmingUp => YELLOW,
            Verdict::Undecided => CYAN,
        };
        self.bold(colour, words)
    }

    /// `words` as good news.
    pub fn good(self, words: &str) -> String {
        self.bold(GREEN, words)
    }

    /// `words` as an open question.
    pub fn open(self, words: &str) -> String {
        self.bold(CYAN, words)
    }

    /// `words` as an error.
    pub fn error(self, words: &str) -> String {
        self.bold(RED, words)
    }

    fn bold(self, colour: u8, words: &str) -> String {
        match self {
            Paint::Plain => words.to_owned(),
            Paint::Coloured => format!("\x1b[1;{colour}m{words}\x1b[0m"),
        }
    }
}

const RED: u8 = 31;
const GREEN: u8 = 32;
const YELLOW: u8 = 33;
const CYAN: u8 = 36;
