//! Reads one number of a line, with what belongs to it: thousands, a fraction, a unit, a total.

use crate::number;
use crate::vocabulary::{Meaning, meaning};

/// The value of a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    /// A count.
    Count(u64),
    /// A number with a fraction.
    Fraction(f64),
    /// A date, a time, a version, a percentage, a negative number, or a number with a unit.
    Other,
}

impl Amount {
    /// The count, if it is one.
    pub fn count(self) -> Option<u64> {
        match self {
            Amount::Count(n) => Some(n),
            Amount::Fraction(_) | Amount::Other => None,
        }
    }
}

/// One number, and where it ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NumberToken {
    /// Its value.
    pub amount: Amount,
    /// Of how many.
    pub total: Option<u64>,
    /// The first byte behind it.
    pub end: usize,
    /// The first byte behind the word that follows directly.
    pub unit_end: usize,
}

/// Above this, a number is an identifier or a time since 1970 in a small unit.
const LARGEST: u64 = 9_000_000_000_000_000;

/// The number whose first digit is at `start`.
pub fn number_at(line: &[u8], start: usize) -> NumberToken {
    let (value, end) = digits(line, start);
    let before = start.checked_sub(1).map(|at| line[at]);
    let amount = match value {
        Some(_) if is_part_of_something(line, start, before) => Amount::Other,
        Some(n) => Amount::Count(n),
        None => Amount::Other,
    };
    let token = NumberToken {
        amount,
        total: None,
        end,
        unit_end: end,
    };
    match rest(line, end) {
        [b'.', next, ..] if next.is_ascii_digit() => fraction(line, start, token),
        // "l2:0.31" is a name and its value.
        [b':', next, ..]
            if next.is_ascii_digit() && before.is_some_and(|b| b.is_ascii_alphabetic()) =>
        {
            other(end)
        }
        [b':', next, ..] if next.is_ascii_digit() => other_until(line, end, b":.,"),
        [b'-', next, ..] if next.is_ascii_digit() => range(line, start, token),
        [b'e' | b'E', b'-' | b'+' | b'0'..=b'9', ..] => fraction(line, start, token),
        [b'k' | b'K' | b'M' | b'G' | b'B', after @ ..] if !starts_with_letter(after) => {
            scaled(line, start, token)
        }
        [b'.', next, ..] if next.is_ascii_alphabetic() => other(end),
        // `epoch=6-step=7500-val_loss=1.06.ckpt` is a file.
        [b'-', next, ..] if before == Some(b'=') && next.is_ascii_alphabetic() => other(end),
        [b'%' | b'_', ..] => other(end),
        [b'i', b't', b'/', ..] => {
            scaled_iterations(line, start).unwrap_or_else(|| with_unit(line, token))
        }
        [next, ..] if next.is_ascii_alphabetic() => with_unit(line, token),
        _ => with_total(line, token),
    }
}

/// `59batch`, `1epoch`: a count with a word of counting. Anything else behind a number is a unit: `10ms`.
fn with_unit(line: &[u8], token: NumberToken) -> NumberToken {
    let word = rest(line, token.end);
    let length = word.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    let counts = matches!(
        meaning(&word[..length].to_ascii_lowercase()),
        Meaning::Step(_) | Meaning::Epoch
    );
    if length < 4 || !counts {
        return other(token.end);
    }
    NumberToken {
        unit_end: token.end + length,
        ..token
    }
}

/// `60-118`: what a line sums up; its end counts. `2025-05-01` is a date.
fn range(line: &[u8], start: usize, token: NumberToken) -> NumberToken {
    let (last, end) = digits(line, token.end + 1);
    let is_padded =
        |at: usize| line[at] == b'0' && line.get(at + 1).is_some_and(u8::is_ascii_digit);
    match (token.amount, last, rest(line, end)) {
        (_, _, [b'-' | b'T' | b':', ..]) => other_until(line, token.end, b"-T:.,Z+"),
        (Amount::Count(first), Some(last), after)
            if last > first && !is_padded(start) && !is_padded(token.end + 1) =>
        {
            let token = NumberToken {
                amount: Amount::Count(last),
                total: None,
                end,
                unit_end: end,
            };
            match starts_with_letter(after) {
                true => with_unit(line, token),
                false => token,
            }
        }
        _ => other_until(line, token.end, b"-T:.,Z+"),
    }
}

fn rest(line: &[u8], at: usize) -> &[u8] {
    line.get(at..).unwrap_or(&[])
}

fn other(end: usize) -> NumberToken {
    NumberToken {
        amount: Amount::Other,
        total: None,
        end,
        unit_end: end,
    }
}

/// Digits, thousands grouped by commas or not; `None` for too many of them.
fn digits(line: &[u8], start: usize) -> (Option<u64>, usize) {
    let text = rest(line, start);
    let (mut n, mut end) = plain_digits(text);
    let is_groupable = end <= 3;
    while is_groupable
        && let Some([b',', group @ ..]) = text.get(end..end + 4)
        && group.iter().all(u8::is_ascii_digit)
        && !text.get(end + 4).is_some_and(u8::is_ascii_digit)
    {
        n = n.saturating_mul(1000).saturating_add(plain_digits(group).0);
        end += 4;
    }
    (Some(n).filter(|n| *n <= LARGEST), start + end)
}

/// The value of the digits in front, and how many there are. Too large values end at the largest number.
fn plain_digits(text: &[u8]) -> (u64, usize) {
    let (mut n, mut count) = (0u64, 0);
    while let Some(digit) = text
        .get(count)
        .map(|b| b.wrapping_sub(b'0'))
        .filter(|d| *d < 10)
    {
        n = n.saturating_mul(10).saturating_add(u64::from(digit));
        count += 1;
    }
    (n, count)
}

/// Whether the digits belong to a word, a path, a fraction or a negative number.
fn is_part_of_something(line: &[u8], start: usize, before: Option<u8>) -> bool {
    let earlier = start.checked_sub(2).map(|at| line[at]);
    match before {
        Some(b'.' | b'/') => true,
        Some(b'-') => !earlier.is_some_and(|b| b.is_ascii_alphanumeric()),
        _ => false,
    }
}

/// Skips digits and `more`: what is left of a date, a time or a version.
fn other_until(line: &[u8], from: usize, more: &[u8]) -> NumberToken {
    let length = rest(line, from)
        .iter()
        .take_while(|b| b.is_ascii_digit() || more.contains(b))
        .count();
    // A separator at the end belongs to the text.
    let trailing = rest(line, from)[..length]
        .iter()
        .rev()
        .take_while(|b| !b.is_ascii_digit())
        .count();
    other(from + length - trailing)
}

fn fraction(line: &[u8], start: usize, token: NumberToken) -> NumberToken {
    let Some((value, after)) = number::decimal(&line[start..]) else {
        return other_until(line, token.end, b".");
    };
    let end = line.len() - after.len();
    match after {
        [b'.', next, ..] if next.is_ascii_digit() => other_until(line, end, b"."),
        [b'k' | b'K' | b'M' | b'G' | b'B', next @ ..] if !starts_with_letter(next) => {
            scaled(line, start, token)
        }
        [b'%', ..] => other(end),
        [b'.', next, ..] if next.is_ascii_alphabetic() => other(end),
        [next, ..] if next.is_ascii_alphabetic() => {
            scaled_iterations(line, start).unwrap_or(other(end))
        }
        _ if token.amount == Amount::Other => other(end),
        // `3.06e+04`
        _ if value >= 1.0 && value.fract() == 0.0 && line[start..end].contains(&b'+') => {
            NumberToken {
                amount: Amount::Count(value as u64),
                total: None,
                end,
                unit_end: end,
            }
        }
        _ => NumberToken {
            amount: Amount::Fraction(value),
            total: None,
            end,
            unit_end: end,
        },
    }
}

/// `1.02kit/10.0kit`: tqdm's counts in lines of a logger.
fn scaled_iterations(line: &[u8], start: usize) -> Option<NumberToken> {
    let (n, rest) = number::scaled(&line[start..])?;
    let (total, rest) = number::scaled(rest.strip_prefix(b"it/")?)?;
    let rest = rest.strip_prefix(b"it")?;
    let end = line.len() - rest.len();
    (!starts_with_letter(rest)).then_some(NumberToken {
        amount: Amount::Count(n),
        total: Some(total),
        end,
        unit_end: end,
    })
}

/// `1.2k`, `3M`.
fn scaled(line: &[u8], start: usize, token: NumberToken) -> NumberToken {
    let Some((value, after)) = number::decimal(&line[start..]) else {
        return other(token.end);
    };
    let end = line.len() - after.len();
    let factor = match after.first() {
        Some(b'k' | b'K') => 1e3,
        Some(b'M') => 1e6,
        Some(b'G' | b'B') => 1e9,
        _ => return other(end),
    };
    let n = (value * factor).round();
    let amount = match token.amount {
        Amount::Count(_) if n < LARGEST as f64 => Amount::Count(n as u64),
        _ => Amount::Other,
    };
    NumberToken {
        amount,
        total: None,
        end: end + 1,
        unit_end: end + 1,
    }
}

/// Adds `/40`, ` / 40` or ` of 40`.
fn with_total(line: &[u8], token: NumberToken) -> NumberToken {
    let after = rest(line, token.end).trim_ascii_start();
    let Some(total) = after
        .strip_prefix(b"/")
        .or_else(|| after.strip_prefix(b"of "))
        .or_else(|| after.strip_prefix(b"out of "))
    else {
        return token;
    };
    let total = total.trim_ascii_start();
    if !total.first().is_some_and(u8::is_ascii_digit) {
        return token;
    }
    let (n, end) = digits(line, line.len() - total.len());
    match rest(line, end) {
        // `11/18/2026` is a date, and `64/100/100` has three counts.
        [b'/', next, ..] if next.is_ascii_digit() => {
            let (third, last) = digits(line, end + 1);
            let is_date = |n: Option<u64>| n.is_some_and(|n| n <= 31 || (1970..2100).contains(&n));
            match token.amount.count().is_some_and(|n| !is_date(Some(n)))
                || !is_date(n)
                || !is_date(third)
            {
                true => NumberToken {
                    end: last,
                    unit_end: last,
                    ..token
                },
                false => other_until(line, end, b"/"),
            }
        }
        [b'.' | b':', next, ..] if next.is_ascii_digit() => other_until(line, end, b".:"),
        [b'k' | b'K' | b'M', after @ ..] if !starts_with_letter(after) => {
            let scaled = scaled(
                line,
                line.len() - total.len(),
                NumberToken {
                    amount: Amount::Count(0),
                    total: None,
                    end,
                    unit_end: end,
                },
            );
            NumberToken {
                total: scaled.amount.count(),
                end: scaled.end,
                unit_end: scaled.end,
                ..token
            }
        }
        [next, ..] if next.is_ascii_alphabetic() && *next != b'i' => other(end),
        _ => NumberToken {
            total: n,
            end,
            unit_end: end,
            ..token
        },
    }
}

fn starts_with_letter(text: &[u8]) -> bool {
    text.first().is_some_and(u8::is_ascii_alphabetic)
}
