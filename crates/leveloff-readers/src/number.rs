//! Numbers from bytes.

/// The decimal number that the whole of `field` is, blanks around it aside. `nan` and `inf` are
/// numbers here; the caller says why they are no amount.
pub fn number(field: &[u8]) -> Option<f64> {
    str::from_utf8(field.trim_ascii()).ok()?.parse().ok()
}

/// The same where the decimal sign is a comma: `5552,5`.
pub fn with_decimal_comma(field: &[u8]) -> Option<f64> {
    let field = field.trim_ascii();
    if memchr::memchr(b',', field).is_none() {
        return number(field);
    }
    let mut text = [0; LONGEST];
    let text = text.get_mut(..field.len())?;
    text.copy_from_slice(field);
    let comma = memchr::memchr(b',', text)?;
    // In 1.234,5 the point groups thousands; rather no number than one a thousand times off.
    if memchr::memchr(b'.', text).is_some() {
        return None;
    }
    text[comma] = b'.';
    number(text)
}

/// The same where commas may group thousands: `1,234.5`.
pub fn with_thousands(field: &[u8]) -> Option<f64> {
    let field = field.trim_ascii();
    if memchr::memchr(b',', field).is_none() {
        return number(field);
    }
    let whole = field.split(|&b| b == b'.').next()?;
    let mut groups = whole.split(|&b| b == b',');
    let first = groups.next()?.len();
    if !(1..=4).contains(&first) || groups.any(|group| group.len() != 3) {
        return None;
    }
    let mut text = [0; LONGEST];
    let mut length = 0;
    for &byte in field.iter().filter(|&&b| b != b',') {
        *text.get_mut(length)? = byte;
        length += 1;
    }
    number(&text[..length])
}

/// Longer than any number that a person or a program writes for an amount.
const LONGEST: usize = 40;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn plain_numbers_are_read() {
        assert_eq!(number(b" 5552.25 "), Some(5552.25));
        assert_eq!(number(b"-3"), Some(-3.0));
        assert_eq!(number(b"+3"), Some(3.0));
        assert_eq!(number(b"1.5e3"), Some(1500.0));
        assert_eq!(number(b".5"), Some(0.5));
        assert_eq!(
            number(b"12345678901234567890123"),
            Some(1.2345678901234568e22)
        );
        for wrong in ["", ".", "-", "1.2.3", "5552 MB", "abc", "1,5", "\u{ff15}"] {
            assert_eq!(number(wrong.as_bytes()), None, "{wrong}");
        }
        assert!(number(b"nan").is_some_and(f64::is_nan));
        assert_eq!(number(b"inf"), Some(f64::INFINITY));
    }

    #[test]
    fn commas_are_decimal_signs_or_groups_as_stated() {
        assert_eq!(with_decimal_comma(b"5552,5"), Some(5552.5));
        assert_eq!(with_decimal_comma(b"5552"), Some(5552.0));
        assert_eq!(with_decimal_comma(b"1.234,5"), None);
        assert_eq!(with_thousands(b"1,234.5"), Some(1234.5));
        assert_eq!(with_thousands(b"12,345,678"), Some(12_345_678.0));
        assert_eq!(with_thousands(b"1,5"), None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            let _ = (number(&bytes), with_decimal_comma(&bytes), with_thousands(&bytes));
        }
    }
}
