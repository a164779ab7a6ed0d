//! Words, numbers and signs of a line.

use crate::number::{number, with_thousands};

/// A piece of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Token<'a> {
    /// Letters, digits and underscores that begin with a letter. Bytes beyond ASCII are letters.
    Word(&'a [u8]),
    /// An unsigned number.
    Number(f64),
    /// Anything else, blanks aside.
    Sign(u8),
}

/// Walks over a line.
#[derive(Debug, Clone)]
pub struct Tokens<'a> {
    rest: &'a [u8],
    /// What was passed before the token that was given last: a blank, or nothing.
    pub was_spaced: bool,
}

impl<'a> Tokens<'a> {
    /// The tokens of a line.
    pub fn of(line: &'a [u8]) -> Tokens<'a> {
        Tokens {
            rest: line,
            was_spaced: false,
        }
    }

    fn cut(&mut self, length: usize) -> &'a [u8] {
        let (token, rest) = self.rest.split_at(length);
        self.rest = rest;
        token
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let trimmed = self.rest.trim_ascii_start();
        self.was_spaced = trimmed.len() < self.rest.len();
        self.rest = trimmed;
        let first = *self.rest.first()?;
        if first.is_ascii_digit() {
            let text = self.cut(number_length(self.rest));
            // More digits than a number has are a word.
            let value = number(text).or_else(|| with_thousands(text));
            return Some(value.map_or(Token::Word(text), Token::Number));
        }
        if is_letter(first) {
            let end = |b: &u8| !(is_letter(*b) || b.is_ascii_digit());
            let length = self.rest.iter().position(end).unwrap_or(self.rest.len());
            return Some(Token::Word(self.cut(length)));
        }
        Some(Token::Sign(self.cut(1)[0]))
    }
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

/// `12`, `1,234.5`, `3.5e-05`, `7.` without its point.
fn number_length(text: &[u8]) -> usize {
    let digits = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        rest.iter().take_while(|b| b.is_ascii_digit()).count()
    };
    let mut end = digits(0);
    while text.get(end) == Some(&b',') && digits(end + 1) == 3 && end <= 15 {
        end += 4;
    }
    if text.get(end) == Some(&b'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    if let Some(b'e' | b'E') = text.get(end) {
        let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_has_words_numbers_and_signs() {
        let tokens: Vec<Token<'_>> =
            Tokens::of("Step 1,234: rss_mb=5.5, v2 → 7.".as_bytes()).collect();
        assert_eq!(
            tokens,
            [
                Token::Word(b"Step"),
                Token::Number(1234.0),
                Token::Sign(b':'),
                Token::Word(b"rss_mb"),
                Token::Sign(b'='),
                Token::Number(5.5),
                Token::Sign(b','),
                Token::Word(b"v2"),
                Token::Word("→".as_bytes()),
                Token::Number(7.0),
                Token::Sign(b'.'),
            ]
        );
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic_or_stand_still(line: Vec<u8>) {
            prop_assert!(Tokens::of(&line).count() <= line.len());
        }

        #[test]
        fn no_digits_make_it_panic(line in "[0-9,.eE+-]{0,30}") {
            Tokens::of(line.as_bytes()).for_each(drop);
        }
    }
}
