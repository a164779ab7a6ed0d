//! Numbers as trainings print them: `1,234`, `1.2k`, `0.25`.

/// The whole number that `text` begins with, thousands grouped by commas or not, and what follows.
/// `None` when the digits belong to a version, a range, a date, a percentage or a word.
pub fn whole(text: &[u8]) -> Option<(u64, &[u8])> {
    let (number, rest) = grouped_digits(text)?;
    let goes_on = match rest {
        [b'.' | b'-' | b':', next, ..] => next.is_ascii_digit(),
        [b'%' | b'_', ..] => true,
        [next, ..] => next.is_ascii_alphanumeric(),
        [] => false,
    };
    (!goes_on).then_some((number, rest))
}

/// A count as tqdm scales it, `10` or `1.2k`, and what follows.
pub fn scaled(text: &[u8]) -> Option<(u64, &[u8])> {
    let (number, rest) = decimal(text)?;
    let (factor, rest) = match rest {
        [b'k', rest @ ..] => (1e3, rest),
        [b'M', rest @ ..] => (1e6, rest),
        [b'G', rest @ ..] => (1e9, rest),
        _ => (1.0, rest),
    };
    let count = (number * factor).round();
    (count < LARGEST).then_some((count as u64, rest))
}

/// The unsigned decimal number that `text` begins with, with its exponent if there is one.
pub fn decimal(text: &[u8]) -> Option<(f64, &[u8])> {
    let digits = |from: usize| {
        let rest = text.get(from..).unwrap_or(&[]);
        from + rest.iter().take_while(|b| b.is_ascii_digit()).count()
    };
    let mut end = digits(0);
    if end == 0 || end > LONGEST_NUMBER {
        return None;
    }
    if text.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if let Some(b'e' | b'E') = text.get(end) {
        let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        let exponent_end = digits(end + 1 + sign);
        if exponent_end > end + 1 + sign {
            end = exponent_end;
        }
    }
    let number = match short_decimal(&text[..end]) {
        Some(number) => number,
        None => std::str::from_utf8(&text[..end]).ok()?.parse().ok()?,
    };
    number.is_finite().then_some((number, &text[end..]))
}

/// The value of a number of few digits. Both the digits and the power of ten are exact as floats, so their product or quotient is the
/// nearest float, as a general parser's result.
fn short_decimal(text: &[u8]) -> Option<f64> {
    const MOST: usize = 15;
    const POWERS: [f64; MOST + 1] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ];
    let (mut digits, mut count, mut places, mut is_fraction) = (0u64, 0, 0i32, false);
    let mut rest = text;
    while let [byte, after @ ..] = rest
        && !matches!(byte, b'e' | b'E')
    {
        match byte {
            b'0'..=b'9' if count < MOST => {
                digits = digits * 10 + u64::from(byte - b'0');
                (count, places) = (count + 1, places + i32::from(is_fraction));
            }
            b'.' if !is_fraction => is_fraction = true,
            _ => return None,
        }
        rest = after;
    }
    let power = exponent(rest)? - places;
    let factor = *POWERS.get(power.unsigned_abs() as usize)?;
    Some(match power < 0 {
        true => digits as f64 / factor,
        false => digits as f64 * factor,
    })
}

/// Of `e-05`; 0 where there is none, `None` for one of more than two digits.
fn exponent(text: &[u8]) -> Option<i32> {
    let [_, text @ ..] = text else {
        return Some(0);
    };
    let (sign, digits) = match text {
        [b'-', digits @ ..] => (-1, digits),
        [b'+', digits @ ..] => (1, digits),
        digits => (1, digits),
    };
    let value = |n: i32, b: &u8| n * 10 + i32::from(b - b'0');
    (digits.len() <= 2).then(|| sign * digits.iter().fold(0, value))
}

/// Above this a float no longer holds every whole number. No training counts that far.
pub const LARGEST: f64 = 9e15;

/// More digits than any count has.
const LONGEST_NUMBER: usize = 16;

fn grouped_digits(text: &[u8]) -> Option<(u64, &[u8])> {
    let mut end = text.iter().take_while(|b| b.is_ascii_digit()).count();
    if end == 0 || end > LONGEST_NUMBER {
        return None;
    }
    let mut number = value(&text[..end]);
    while let Some([b',', group @ ..]) = text.get(end..end + 4)
        && group.iter().all(u8::is_ascii_digit)
        && !text.get(end + 4).is_some_and(u8::is_ascii_digit)
        && end <= LONGEST_NUMBER
    {
        number = number * 1000 + value(group);
        end += 4;
    }
    Some((number, &text[end..]))
}

/// The value of at most [`LONGEST_NUMBER`] digits, which fit into 64 bits.
fn value(digits: &[u8]) -> u64 {
    digits
        .iter()
        .fold(0, |n: u64, b| n * 10 + u64::from(b - b'0'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn grouped_numbers_are_whole() {
        assert_eq!(whole(b"1,234 x"), Some((1234, &b" x"[..])));
        assert_eq!(whole(b"12,345,678"), Some((12_345_678, &b""[..])));
        assert_eq!(whole(b"10, 20"), Some((10, &b", 20"[..])));
        assert_eq!(whole(b"10,2000"), Some((10, &b",2000"[..])));
        assert_eq!(whole(b"7."), Some((7, &b"."[..])));
    }

    #[test]
    fn what_goes_on_is_no_whole_number() {
        for text in [
            "1.2.3",
            "2024-01-02",
            "10:30",
            "5%",
            "3rd",
            "10ms",
            "0-90",
            "",
        ] {
            assert_eq!(whole(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn tqdm_scales_counts() {
        assert_eq!(scaled(b"1.2k/"), Some((1200, &b"/"[..])));
        assert_eq!(scaled(b"3.5M"), Some((3_500_000, &b""[..])));
        assert_eq!(scaled(b"40 "), Some((40, &b" "[..])));
    }

    #[test]
    fn decimals_have_exponents() {
        assert_eq!(decimal(b"3.875e-05}"), Some((3.875e-05, &b"}"[..])));
        assert_eq!(decimal(b"1e"), Some((1.0, &b"e"[..])));
        assert_eq!(decimal(b"1e999"), None);
        assert_eq!(decimal(b"nan"), None);
    }

    proptest! {
        #[test]
        fn decimals_are_those_of_the_general_parser(text in "[0-9]{1,16}(\\.[0-9]{0,16})?(e[+-]?[0-9]{1,2})?") {
            prop_assert_eq!(decimal(text.as_bytes()), Some((text.parse().unwrap(), &b""[..])));
        }

        #[test]
        fn no_text_makes_it_panic(text in "[0-9.,eE+kMx-]{0,30}") {
            let _ = (whole(text.as_bytes()), scaled(text.as_bytes()), decimal(text.as_bytes()));
        }
    }
}
