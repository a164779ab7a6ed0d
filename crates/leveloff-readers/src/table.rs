//! Rows of a table, however its fields are set apart.

mod head;
mod json;

pub use head::Table;

/// How fields are set apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dialect {
    /// By this byte.
    Separated(u8),
    /// By runs of blanks.
    Blanks,
    /// A JSON object in each line; these are the names of its fields.
    Json(Vec<String>),
}

/// The fields of the line that was split last; kept to use its room again.
#[derive(Debug, Default)]
pub struct Row {
    bounds: Vec<(usize, usize)>,
    text: Vec<u8>,
}

/// The fields of one line.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'a> {
    text: &'a [u8],
    bounds: &'a [(usize, usize)],
}

impl Dialect {
    /// The fields of a line.
    pub fn split<'a>(&self, line: &'a [u8], row: &'a mut Row) -> Fields<'a> {
        row.bounds.clear();
        let text = match self {
            Dialect::Separated(separator) if memchr::memchr(b'"', line).is_some() => {
                split_quoted(line, *separator, &mut row.bounds);
                line
            }
            Dialect::Separated(separator) => {
                split_plain(line, *separator, &mut row.bounds);
                line
            }
            Dialect::Blanks => {
                split_blanks(line, &mut row.bounds);
                line
            }
            Dialect::Json(keys) => {
                json::split(line, keys, row);
                &row.text
            }
        };
        Fields {
            text,
            bounds: &row.bounds,
        }
    }

    /// Whether a decimal sign may be a comma: where it separates nothing.
    pub fn allows_decimal_comma(&self) -> bool {
        matches!(self, Dialect::Separated(separator) if *separator != b',')
            || *self == Dialect::Blanks
    }
}

impl<'a> Fields<'a> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.bounds.len()
    }

    /// One of them; `None` when there are fewer.
    pub fn get(&self, n: usize) -> Option<&'a [u8]> {
        let (start, end) = *self.bounds.get(n)?;
        Some(&self.text[start..end])
    }

    /// All of them.
    pub fn iter(self) -> impl Iterator<Item = &'a [u8]> {
        let text = self.text;
        self.bounds
            .iter()
            .map(move |&(start, end)| &text[start..end])
    }
}

/// Whether a line of a table says nothing: blank, a comment, a rule.
pub fn is_blank_or_comment(line: &[u8]) -> bool {
    match line.trim_ascii_start() {
        [] | [b'#', ..] => true,
        // The rule under the header of a Markdown table.
        [b'|' | b'-' | b'+' | b':', ..] => line.iter().all(|b| b"|-+:= ".contains(b)),
        _ => false,
    }
}

fn split_plain(line: &[u8], separator: u8, bounds: &mut Vec<(usize, usize)>) {
    let mut start = 0;
    for (at, &byte) in line.iter().enumerate() {
        if byte == separator {
            bounds.push((start, at));
            start = at + 1;
        }
    }
    bounds.push((start, line.len()));
}

/// Separators within quotes separate nothing. The quotes themselves are no part of the field.
fn split_quoted(line: &[u8], separator: u8, bounds: &mut Vec<(usize, usize)>) {
    let (mut start, mut is_quoted) = (0, false);
    for (at, &byte) in line.iter().enumerate() {
        if byte == b'"' {
            is_quoted = !is_quoted;
        } else if byte == separator && !is_quoted {
            bounds.push(unquoted(line, start, at));
            start = at + 1;
        }
    }
    bounds.push(unquoted(line, start, line.len()));
}

fn unquoted(line: &[u8], start: usize, end: usize) -> (usize, usize) {
    let field = &line[start..end];
    let blanks = field.len() - field.trim_ascii_start().len();
    match field.trim_ascii() {
        [b'"', inner @ .., b'"'] => (start + blanks + 1, start + blanks + 1 + inner.len()),
        _ => (start, end),
    }
}

fn split_blanks(line: &[u8], bounds: &mut Vec<(usize, usize)>) {
    let mut start = None;
    for (at, &byte) in line.iter().enumerate() {
        match (start, byte == b' ' || byte == b'\t') {
            (None, false) => start = Some(at),
            (Some(from), true) => {
                bounds.push((from, at));
                start = None;
            }
            _ => {}
        }
    }
    if let Some(from) = start {
        bounds.push((from, line.len()));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(dialect: &Dialect, line: &str) -> Vec<String> {
        let mut row = Row::default();
        let fields = dialect.split(line.as_bytes(), &mut row);
        fields
            .iter()
            .map(|field| String::from_utf8_lossy(field).into_owned())
            .collect()
    }

    #[test]
    fn fields_are_set_apart() {
        let comma = Dialect::Separated(b',');
        assert_eq!(split(&comma, "1,,3"), ["1", "", "3"]);
        assert_eq!(split(&comma, r#""a, b", "c" ,d"#), ["a, b", "c", "d"]);
        assert_eq!(split(&comma, r#"1,"open"#), ["1", "\"open"]);
        assert_eq!(split(&comma, ""), [""]);
        assert_eq!(split(&Dialect::Blanks, "  1 \t 2.5  "), ["1", "2.5"]);
        let json = Dialect::Json(vec!["step".to_owned(), "mem.rss".to_owned()]);
        assert_eq!(
            split(&json, r#"{"mem":{"rss":"5 GB"},"step":3,"x":[1]}"#),
            ["3", "5 GB"]
        );
        assert_eq!(split(&json, r#"{"step":3}"#), ["3", ""]);
        assert!(split(&json, r#"{"step":"#).is_empty());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(line: Vec<u8>) {
            let mut row = Row::default();
            for dialect in [Dialect::Separated(b','), Dialect::Blanks, Dialect::Json(vec!["a".to_owned()])] {
                dialect.split(&line, &mut row).iter().for_each(drop);
            }
        }

        #[test]
        fn no_quotes_make_it_panic(line in "[\", a]{0,12}") {
            let mut row = Row::default();
            Dialect::Separated(b',').split(line.as_bytes(), &mut row).iter().for_each(drop);
        }
    }
}
