//! Words that break nothing and call nobody.

use leveloff_model::process::printable;

/// A stranger's words as code: nothing in it is a mention, a link or a tag.
pub(super) fn code(text: &str) -> String {
    let text = printable(text.as_bytes());
    if text.trim().is_empty() {
        return "(empty)".to_owned();
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let marks = "`".repeat(longest + 1);
    // A space on each side is taken away again; without it, marks would touch marks.
    let touches = |c: char| c == '`' || c == ' ';
    let space = if text.starts_with(touches) || text.ends_with(touches) {
        " "
    } else {
        ""
    };
    format!("{marks}{space}{text}{space}{marks}")
}

/// Our own sentences, which may hold code in backticks, and a stranger's word all the same.
pub(super) fn prose(text: &str) -> String {
    let text = printable(text.as_bytes());
    let pieces: Vec<&str> = text.split('`').collect();
    let is_paired = pieces.len() % 2 == 1;
    let piece = |(place, piece): (usize, &&str)| match place % 2 {
        1 if is_paired => (*piece).to_owned(),
        _ => escaped(piece),
    };
    let joint = if is_paired { "`" } else { "\\`" };
    let pieces: Vec<String> = pieces.iter().enumerate().map(piece).collect();
    pieces.join(joint)
}

/// Inside a table's row.
pub(super) fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '<' | '>' | '*' | '_' | '[' | ']' | '~' | '&' | '$' | '!' => {
                escaped.extend(['\\', c]);
            }
            // GitHub looks for mentions and issues after rendering, so a backslash is no help there. An
            // invisible joiner is.
            '@' | '#' => escaped.extend([c, '\u{2060}']),
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_keeps_its_backticks() {
        assert_eq!(code("a b"), "`a b`");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`x`"), "`` `x` ``");
        assert_eq!(code("a\nb"), "`a\\nb`");
        assert_eq!(code(""), "(empty)");
    }

    #[test]
    fn sentences_keep_their_code_and_lose_their_power() {
        assert_eq!(
            prose("try `a_b --x <y>` at once"),
            "try `a_b --x <y>` at once"
        );
        assert_eq!(prose("a_b <i>"), "a\\_b \\<i\\>");
        assert_eq!(prose("one ` only"), "one \\` only");
        assert_eq!(prose("@you #1"), "@\u{2060}you #\u{2060}1");
    }
}
