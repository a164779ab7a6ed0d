//! Names in a line, and the values beside them.

use crate::label::Word;
use crate::line::{Amount, Number};

/// How many separators may stand between a name and its value: tables are padded.
const MOST_PADDING: usize = 40;

/// Whether a number stands beside the word at `start..end`.
pub fn has_value(line: &[u8], start: usize, end: usize) -> bool {
    let is_separator = |b: &u8| b" \t:=#[](\"'|,/@>~-_".contains(b);
    // The word may begin a longer name: `loss/train/total: 2.3`, `acc@1 31.2`.
    let in_name = |b: &u8| b.is_ascii_alphabetic() || b"_/.@".contains(b);
    let rest = &line[end..];
    let name = match rest.first() {
        Some(b'_' | b'/' | b'.' | b'@') => rest.iter().take_while(|b| in_name(b)).count(),
        _ => 0,
    };
    let behind = &rest[name..];
    let padding = behind.iter().take_while(|b| is_separator(b)).count();
    let value = &behind[padding.min(behind.len())..];
    // `Loss_16.cpp` has no value.
    let is_apart = padding > 0 || name > 0 && rest[name - 1] == b'@';
    let follows = is_apart
        && padding <= MOST_PADDING
        && (value.first().is_some_and(u8::is_ascii_digit)
            || value.starts_with(b"nan")
            || value.starts_with(b"inf")
            || value.starts_with(b"tensor(")
            || value.starts_with(b"+"));
    // `6529 tensors`, `1200 tok/s`
    follows || start >= 2 && line[start - 1] == b' ' && line[start - 2].is_ascii_digit()
}

/// Whether the word at `start..end` is a name with a value: `learn: 0.69`.
pub fn is_name(line: &[u8], start: usize, end: usize) -> bool {
    // `D/latent_real: [0.6]`: each word is a part of the name.
    let in_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'/');
    let joined = match line.get(end) {
        Some(b'_' | b'/') => line[end..].iter().take_while(|b| in_name(b)).count(),
        _ => 0,
    };
    let digits = |from: usize| {
        line[from..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count()
    };
    // `l2:0.31`
    let end = end + joined + digits(end + joined);
    let spaces = line[end..].iter().take_while(|b| **b == b' ').count();
    let is_assigned =
        matches!(line.get(end), Some(b'=' | b':')) || line.get(end + spaces) == Some(&b'=');
    is_assigned && has_value(line, start, end)
}

/// Whether a word is the beginning of a longer name in quotation marks, with a value: `'val/ratio': 1.2`.
pub fn is_part_of_name(line: &[u8], word: &Word) -> bool {
    let in_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'/' | b'.' | b'-');
    let rest = &line[word.end..];
    let length = rest.iter().take_while(|b| in_name(b)).count();
    let is_joined = matches!(rest.first(), Some(b'_' | b'/'));
    is_joined && matches!(&rest[length..], [b'\'' | b'"', b':', ..])
}

/// Whether a word is a name with a fraction as its value.
pub fn has_fraction_as_value(line: &[u8], word: &Word, numbers: &[Number]) -> bool {
    matches!(line.get(word.end), Some(b'=' | b':'))
        && (numbers.iter().find(|number| number.start > word.end)).is_some_and(|number| {
            is_fraction(line, number) && is_gap(&line[word.end + 1..number.start])
        })
}

/// Whether nothing but spaces and a sign stands in a text.
fn is_gap(text: &[u8]) -> bool {
    text.iter().all(|b| matches!(b, b' ' | b'\t' | b'-' | b'+'))
}

/// `2.31` or `-2.31`.
pub fn is_fraction(line: &[u8], number: &Number) -> bool {
    let text = &line[number.start..number.end];
    let is_negative = || {
        let before = &line[..number.start];
        let is_decimal = |b: &u8| b.is_ascii_digit() || *b == b'.';
        before.last() == Some(&b'-')
            && !before
                .iter()
                .rev()
                .nth(1)
                .is_some_and(u8::is_ascii_alphanumeric)
            && text.iter().all(is_decimal)
            && text.iter().filter(|b| **b == b'.').count() == 1
    };
    match number.amount {
        // "e2e4" is a move on a board.
        Amount::Fraction(_) => !number.is_glued || text.contains(&b'.'),
        Amount::Count(_) => false,
        Amount::Other => is_negative(),
    }
}

/// Whether the word at `start` is the unit of a number: `12us`.
pub fn is_unit(line: &[u8], start: usize) -> bool {
    start > 0 && line[start - 1].is_ascii_digit()
}
