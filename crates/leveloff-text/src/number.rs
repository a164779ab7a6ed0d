//! Counts, with a comma between thousands.

/// A count with its thousands set apart: `1,234,567`.
pub fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A change of a count: `+1,234`, `-3`, `+0`.
pub fn more_or_less(change: f64) -> String {
    let change = change.round();
    let sign = if change < 0.0 { '-' } else { '+' };
    format!("{sign}{}", thousands(change.abs() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        let printed = [0, 999, 1000, 1_234_567].map(thousands);
        assert_eq!(printed, ["0", "999", "1,000", "1,234,567"]);
    }
}
