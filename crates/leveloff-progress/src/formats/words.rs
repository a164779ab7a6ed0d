//! Splits a line into words with their context.

/// A run of letters and underscores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word<'a> {
    /// The word.
    pub text: &'a str,
    /// The word before it.
    pub previous: Option<&'a str>,
    /// Everything in front.
    pub before: &'a str,
    /// Everything behind.
    pub after: &'a str,
}

/// Iterates over a line's words. A digit ends a word: `step10` and `v2step` both hold `step`.
#[derive(Debug, Clone)]
pub struct Words<'a> {
    text: &'a str,
    at: usize,
    previous: Option<&'a str>,
}

impl<'a> Words<'a> {
    /// The words of `text`.
    pub fn of(text: &'a str) -> Words<'a> {
        Words {
            text,
            at: 0,
            previous: None,
        }
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        let is_letter = |c: char| c.is_alphabetic() || c == '_';
        let start = self.at + self.text[self.at..].find(is_letter)?;
        let rest = &self.text[start..];
        let end = start + rest.find(|c| !is_letter(c)).unwrap_or(rest.len());
        let text = &self.text[start..end];
        let previous = self.previous.replace(text);
        self.at = end;
        Some(Word {
            text,
            previous,
            before: &self.text[..start],
            after: &self.text[end..],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_know_what_is_around_them() {
        let words: Vec<Word<'_>> = Words::of("a global_step=40, naïve").collect();
        assert_eq!(words.len(), 3);
        assert_eq!(words[1].text, "global_step");
        assert_eq!(words[1].previous, Some("a"));
        assert_eq!((words[1].before, words[1].after), ("a ", "=40, naïve"));
        assert_eq!(words[2].text, "naïve");
    }
}
