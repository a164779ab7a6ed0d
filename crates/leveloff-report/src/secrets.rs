//! Masks credentials in command lines and texts.
//!
//! Applied to every report, with or without `--redact`. What may or may not be a secret is
//! masked: a masked tokenizer's file is a nuisance, a published token is an incident.

mod name;
mod shape;

use std::ops::Range;

use name::{is_secret_flag, is_secret_name};

/// What stands where a secret stood.
pub const MASK: &str = "***";

/// Values that say nothing, whatever their name.
const PLAIN_VALUES: [&str; 8] = ["true", "false", "none", "null", "yes", "no", "0", "1"];

/// A command line without secrets: the values of arguments whose names speak of one (`--token X`,
/// `HF_TOKEN=X`), and what looks like one wherever it stands.
///
/// ```
/// let command = ["train.py", "--hub-token", "abc", "--max-tokens", "512"].map(str::to_owned);
/// let shown = leveloff_report::secrets::masked(&command);
/// assert_eq!(shown.join(" "), "train.py --hub-token *** --max-tokens 512");
/// ```
pub fn masked(args: &[String]) -> Vec<String> {
    let before = std::iter::once(None).chain(args.iter().map(|arg| Some(arg.as_str())));
    args.iter()
        .zip(before)
        .map(|(arg, before)| masked_argument(arg, before.unwrap_or_default()))
        .collect()
}

/// A text without secrets: as for a command line, where words are parted by blanks.
pub fn masked_text(text: &str) -> String {
    let mut spans = shape::secrets_in(text);
    spans.extend(assigned(text));
    spans.extend(flagged(text));
    masked_spans(text, spans)
}

fn masked_argument(arg: &str, before: &str) -> String {
    let is_value = !is_option(arg) && !is_plain(arg);
    if is_value && (is_secret_flag(before) || before == "login") {
        return MASK.to_owned();
    }
    if is_value
        && ["-u", "--user", "--proxy-user"].contains(&before)
        && let Some((user, _)) = arg.split_once(':')
    {
        return format!("{user}:{MASK}");
    }
    // The whole of the rest is the value, whatever stands in it.
    if let Some((name, value)) = arg.split_once('=')
        && name.chars().all(is_of_name)
        && is_secret_name(name)
        && !is_plain(value)
    {
        return format!("{name}={MASK}");
    }
    masked_text(arg)
}

/// Values after `name=`, `name:` and `"name":`.
fn assigned(text: &str) -> Vec<Range<usize>> {
    let signs = text.match_indices(['=', ':']);
    signs
        .filter_map(|(at, sign)| {
            let left = text[..at].trim_end_matches(['"', '\'', ']', ' ', '\\']);
            let name = left.rfind(|c| !is_of_name(c)).map_or(left, |other| {
                let next = left[other..].chars().next().map_or(1, char::len_utf8);
                &left[other + next..]
            });
            is_secret_name(name)
                .then(|| value_after(text, at + 1, sign == ":"))
                .flatten()
        })
        .collect()
}

/// From a sign to the end of its value. After a colon the value may have blanks in it, as in
/// `Authorization: Bearer X`.
fn value_after(text: &str, from: usize, blanks: bool) -> Option<Range<usize>> {
    let rest = text[from..].trim_start_matches([' ', '=', '\\']);
    let start = text.len() - rest.len();
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
    let (start, rest) = match quote {
        Some(quote) => (start + quote.len_utf8(), &rest[quote.len_utf8()..]),
        None => (start, rest),
    };
    let is_end = |c: char| match quote {
        Some(quote) => c == quote,
        None => ",;&\"'`)}]".contains(c) || c == '\n' || (!blanks && c.is_whitespace()),
    };
    let value = &rest[..rest.find(is_end).unwrap_or(rest.len())];
    (!value.trim().is_empty() && !is_plain(value)).then(|| start..start + value.len())
}

/// Words after `--token` and its like, in a command line that is one text.
fn flagged(text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let (mut before, mut next) = ("", 0);
    for piece in text.split_inclusive(char::is_whitespace) {
        let (start, word) = (next, piece.trim_end());
        next += piece.len();
        if word.is_empty() {
            continue;
        }
        let is_secret_value = is_secret_flag(before.trim_start_matches(['"', '\'']));
        if is_secret_value && !is_option(word) && !is_plain(word) {
            let value = word.trim_end_matches(['"', '\'', ';', ')']);
            spans.push(start..start + value.len());
        }
        before = word;
    }
    spans
}

/// `--name` or `-n`. A secret may begin with a dash, so that one dash and a long word are none.
fn is_option(word: &str) -> bool {
    word.starts_with("--") || (word.starts_with('-') && word.len() == 2)
}

fn is_plain(value: &str) -> bool {
    PLAIN_VALUES
        .iter()
        .any(|plain| value.eq_ignore_ascii_case(plain))
        || value == MASK
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || "_-.+".contains(c)
}

fn masked_spans(text: &str, mut spans: Vec<Range<usize>>) -> String {
    spans.sort_by_key(|span| span.start);
    let mut shown = String::with_capacity(text.len());
    let mut done = 0;
    for span in spans {
        if span.start >= done {
            shown.push_str(&text[done..span.start]);
            shown.push_str(MASK);
        }
        done = done.max(span.end);
    }
    shown.push_str(&text[done..]);
    shown
}

#[cfg(test)]
mod tests;
