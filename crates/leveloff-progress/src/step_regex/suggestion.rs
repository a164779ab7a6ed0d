//! A pattern for `--step-regex` that fits a line.

use leveloff_model::units::Step;

use super::StepRegex;

/// Bytes of text before the number that the pattern repeats at most.
const MOST_CONTEXT: usize = 24;

/// A number in a line: from where to where.
#[derive(Debug, Clone, Copy)]
struct Number {
    from: usize,
    to: usize,
}

/// A pattern that names the number in a line that is most likely the step: one with an `of` or `/` and a total
/// behind it, or else the first behind a word, or the only one. Times, dates and decimals are no steps.
pub fn suggested_pattern(line: &str) -> Option<String> {
    let numbers = whole_numbers(line);
    let with_total = numbers
        .iter()
        .filter_map(|step| Some((*step, Some(total_behind(line, *step)?))));
    let is_named = |step: &&Number| !context(line, **step).is_empty();
    let named = numbers.iter().filter(is_named).map(|step| (*step, None));
    // Of several columns without names the first may be a time in milliseconds.
    let only = numbers.iter().filter(|_| numbers.len() == 1);
    with_total
        .chain(named)
        .chain(only.map(|step| (*step, None)))
        .find_map(|(step, total)| pattern_for(line, step, total))
}

/// A pattern for one number; `None` if it would find another one in this very line.
fn pattern_for(line: &str, step: Number, total: Option<Number>) -> Option<String> {
    let before = escaped(context(line, step));
    let mut pattern = format!(r"{before}(?P<step>\d+)");
    if let Some(total) = total {
        let between = escaped(&line[step.to..total.from]);
        pattern = format!(r"{pattern}{between}(?P<total>\d+)");
    }
    let read = StepRegex::new(&pattern).ok()?.read(line.as_bytes())?;
    let is_it = read.step == line[step.from..step.to].parse().ok().map(Step);
    is_it.then_some(pattern)
}

/// Numbers that are no part of a decimal, a time, a date, a version or a word.
fn whole_numbers(line: &str) -> Vec<Number> {
    let bytes = line.as_bytes();
    let mut numbers = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit());
        let number = Number {
            from: at,
            to: at + digits.count(),
        };
        if stands_alone(bytes, number) {
            numbers.push(number);
        }
        at = number.to;
    }
    numbers
}

fn stands_alone(bytes: &[u8], number: Number) -> bool {
    let at = |place: Option<usize>| place.and_then(|place| bytes.get(place)).copied();
    let before = [1, 2, 3].map(|distance| at(number.from.checked_sub(distance)));
    let behind = [0, 1].map(|distance| at(Some(number.to + distance)));
    let is_digit = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_digit());
    let is_letter = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphabetic());
    let is_foreign = |byte: Option<u8>| byte.is_some_and(|byte| !byte.is_ascii());
    let joins = |byte: Option<u8>| byte.is_some_and(|byte| b".:,-_+".contains(&byte));
    let is_exponent = matches!(before[1], Some(b'e' | b'E')) && is_digit(before[2]);
    let continues = joins(before[0]) && (is_digit(before[1]) || is_exponent)
        || matches!(before[0], Some(b'.' | b'_'))
        || is_letter(before[0])
        || is_foreign(before[0]);
    let goes_on = joins(behind[0]) && is_digit(behind[1])
        || behind[0] == Some(b'%')
        || is_letter(behind[0])
        || is_foreign(behind[0]);
    !continues && !goes_on
}

/// The number behind `/` or `of`.
fn total_behind(line: &str, number: Number) -> Option<Number> {
    let rest = &line[number.to..];
    let trimmed = rest.trim_start();
    let behind = trimmed
        .strip_prefix('/')
        .or_else(|| trimmed.strip_prefix("of "))?
        .trim_start();
    let from = line.len() - behind.len();
    let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
    (digits > 0).then_some(Number {
        from,
        to: from + digits,
    })
}

/// The text before a number, back to the number before it and to the start of a word.
fn context(line: &str, number: Number) -> &str {
    let before = &line[..number.from];
    let from = before
        .rfind(|c: char| c.is_ascii_digit())
        .map_or(0, |at| at + 1);
    let text = &before[from..];
    let text = match text.char_indices().rev().nth(MOST_CONTEXT) {
        Some((cut, _)) => &text[word_start(text, cut)..],
        None => text,
    };
    let begins_word = text.find(|c: char| c.is_alphabetic());
    begins_word.map_or("", |at| &text[at..])
}

/// The start of the word that `cut` is in, or `cut`.
fn word_start(text: &str, cut: usize) -> usize {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    match text[cut..].starts_with(in_word) {
        true => text[..cut].trim_end_matches(in_word).len(),
        false => cut,
    }
}

/// The text for a regular expression; a run of blanks matches any other one.
fn escaped(text: &str) -> String {
    let mut pattern = String::new();
    let mut blanks = false;
    for c in text.chars() {
        if c.is_whitespace() {
            if !blanks {
                pattern.push_str(r"\s*");
            }
            blanks = true;
            continue;
        }
        blanks = false;
        match c {
            // The pattern is printed between quotes.
            '\'' => pattern.push('.'),
            _ if r"\.+*?()|[]{}^$".contains(c) => pattern.extend(['\\', c]),
            _ => pattern.push(c),
        }
    }
    pattern
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn step(line: &str) -> Option<u64> {
        let pattern = suggested_pattern(line)?;
        let update = StepRegex::new(&pattern).unwrap().read(line.as_bytes());
        let step = update.unwrap_or_else(|| panic!("{pattern} does not match {line}"));
        step.step.map(|Step(step)| step)
    }

    #[test]
    fn the_pattern_finds_the_number_that_looks_like_a_step() {
        for (line, expected) in [
            ("round 7 done, score 0.25", 7),
            ("[12:30:01] world 3 tick 900 of 5000", 900),
            ("2026-01-02 03:04:05,123 gen 17: best 0.3", 17),
            ("loss=0.25 | sweep (41)", 41),
            ("12  0.334  1.2e-3", 12),
            ("it's tick 5", 5),
            ("[3/25] x", 3),
        ] {
            assert_eq!(step(line), Some(expected), "{line}");
        }
        assert_eq!(suggested_pattern("loss 0.25 at 12:30:01"), None);
        assert_eq!(
            suggested_pattern("an_ordinary_end_by_signal_16 ... ok"),
            None
        );
        assert_eq!(suggested_pattern("nothing"), None);
        assert_eq!(
            suggested_pattern("26147    40 218570.1"),
            None,
            "one of two"
        );
    }

    #[test]
    fn it_can_be_read_by_a_person_and_quoted_in_a_shell() {
        let pattern = suggested_pattern("world 3 tick 900 of 5000").unwrap();
        assert_eq!(pattern, r"tick\s*(?P<step>\d+)\s*of\s*(?P<total>\d+)");
        assert!(!suggested_pattern("it's tick 5").unwrap().contains('\''));
        let pattern = suggested_pattern("counting extraordinarily_long_names: 12").unwrap();
        assert_eq!(pattern, r"extraordinarily_long_names:\s*(?P<step>\d+)");
    }

    proptest! {
        #[test]
        fn it_always_compiles_and_matches(line in "\\PC{0,60}", words in "([a-z(\\[=:'. ]{0,5}[0-9]{1,4}[/ ,.:%]?){0,6}") {
            for line in [line, words] {
                if let Some(pattern) = suggested_pattern(&line) {
                    let regex = StepRegex::new(&pattern).unwrap();
                    prop_assert!(regex.read(line.as_bytes()).is_some(), "{} {}", pattern, line);
                }
            }
        }
    }
}
