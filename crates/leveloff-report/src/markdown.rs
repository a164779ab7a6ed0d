//! Foreign text in Markdown, escaped: it breaks no table and mentions no user.

use leveloff_model::process::printable;

/// Foreign text as code: nothing in it is a mention, a link or a tag.
pub fn code(text: &str) -> String {
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

/// Our own sentences, which may have code in backticks and foreign text in them.
pub fn prose(text: &str) -> String {
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
pub fn cell(text: &str) -> String {
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

/// In a fence that the text cannot close.
pub fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!(
        "{fence}{language}\n{}\n{fence}\n",
        text.trim_end_matches('\n')
    )
}

/// A table, amounts to the right and words to the left. Cells are Markdown already.
pub fn table<Cell: AsRef<str>>(head: &[&str], rows: &[impl AsRef<[Cell]>]) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let are_amounts = |column: usize| {
        let mut cells = rows.iter().filter_map(|row| row.as_ref().get(column));
        cells.all(|cell| {
            cell.as_ref()
                .starts_with(|c: char| c.is_ascii_digit() || "+-".contains(c))
        })
    };
    let aligned = (0..head.len()).map(|column| if are_amounts(column) { "--:" } else { ":--" });
    let mut text = line(head.iter().map(|name| cell(name)).collect());
    text += &line(aligned.map(str::to_owned).collect());
    for row in rows {
        text += &line(row.as_ref().iter().map(|of| cell(of.as_ref())).collect());
    }
    text
}

#[cfg(test)]
mod tests {
    use pulldown_cmark::{Event, Options, Parser, Tag};

    use super::*;

    const NASTY: [&str; 9] = [
        "a|b|c",
        "`x` and ``y``",
        "<script>alert(1)</script>",
        "@octocat fixes #123",
        "two\nlines\r\n| --- |",
        "![x](http://example.org/a.png) [y](z)",
        "ends with \\",
        "*bold* _it_ ~~gone~~ &amp; \u{1b}[31m",
        "`",
    ];

    /// How many cells each row has, and whether any markup came from the data.
    fn rendered(markdown: &str) -> (Vec<usize>, bool) {
        let mut rows = Vec::new();
        let mut markup = false;
        for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::TableRow | Tag::TableHead) => rows.push(0),
                Event::Start(Tag::TableCell) => *rows.last_mut().unwrap() += 1,
                Event::Html(_) | Event::InlineHtml(_) => markup = true,
                Event::Start(
                    Tag::Link { .. } | Tag::Image { .. } | Tag::Emphasis | Tag::Strong,
                ) => markup = true,
                _ => {}
            }
        }
        (rows, markup)
    }

    #[test]
    fn hostile_names_stay_in_their_cells_and_are_no_markup() {
        for nasty in NASTY {
            let markdown = table(&["a", "b"], &[[code(nasty), prose(nasty)]]);
            let (rows, markup) = rendered(&markdown);
            assert_eq!((rows, markup), (vec![2, 2], false), "{markdown}");
        }
    }

    #[test]
    fn prose_mentions_no_user_and_code_is_code() {
        let text = prose("@octocat #12");
        assert!(!text.contains("@o") && !text.contains("#1"), "{text}");
        for nasty in NASTY {
            let markdown = code(nasty);
            let mut events = Parser::new(&markdown);
            assert!(
                events.any(|event| matches!(event, Event::Code(_))),
                "{nasty}"
            );
        }
    }

    #[test]
    fn no_text_closes_its_fence() {
        let markdown = fenced("text", "a\n```\n@octocat\n````\nb");
        let events: Vec<Event> = Parser::new(&markdown).collect();
        assert_eq!(events.len(), 3, "{events:?}");
    }

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
