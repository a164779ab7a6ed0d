//! Lines of `Key: 123 kB` or `key 123`, as in status, smaps_rollup, meminfo, memory.stat, vmstat.

/// Calls `see` with each key and its first number. Lines without a number are passed over.
pub fn each_number(text: &[u8], mut see: impl FnMut(&[u8], u64)) {
    for line in text.split(|&b| b == b'\n') {
        let Some(end) = line
            .iter()
            .position(|&b| b == b':' || b == b' ' || b == b'\t')
        else {
            continue;
        };
        if let Some(number) = first_number(&line[end + 1..]) {
            see(&line[..end], number);
        }
    }
}

/// The number at the start of `text`, blanks skipped; `None` when something else comes first.
pub fn first_number(text: &[u8]) -> Option<u64> {
    let start = text
        .iter()
        .position(|&b| b != b' ' && b != b'\t' && b != b':')?;
    leading_number(&text[start..]).map(|(number, _)| number)
}

/// The decimal number that `text` begins with, and what follows it.
pub fn leading_number(text: &[u8]) -> Option<(u64, &[u8])> {
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    if digits == 0 {
        return None;
    }
    let number = text[..digits].iter().try_fold(0u64, |n, &b| {
        n.checked_mul(10)?.checked_add(u64::from(b - b'0'))
    })?;
    Some((number, &text[digits..]))
}

/// The file's first line that has `key`, as a number.
pub fn number_of(text: &[u8], key: &[u8]) -> Option<u64> {
    let mut found = None;
    each_number(text, |k, n| {
        if k == key && found.is_none() {
            found = Some(n);
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_of_a_keyed_line_are_read() {
        let text = b"MemTotal:       24682416 kB\noom_kill 3\nName:\tpython\nempty\n";
        assert_eq!(number_of(text, b"MemTotal"), Some(24_682_416));
        assert_eq!(number_of(text, b"oom_kill"), Some(3));
        assert_eq!(number_of(text, b"Name"), None);
    }

    #[test]
    fn numbers_that_do_not_fit_are_not_numbers() {
        assert_eq!(leading_number(b"99999999999999999999999 x"), None);
        assert_eq!(first_number(b"  -3"), None);
    }
}
