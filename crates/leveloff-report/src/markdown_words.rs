//! Text of strangers in Markdown: it neither breaks a table nor mentions anybody.

/// As code: GitHub looks for mentions, references and HTML everywhere but there. On one line, and
/// fit for a table's cell.
pub fn code(text: &str) -> String {
    let text = one_line(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    // A table is cut at its pipes before code is seen.
    let text = text.replace('|', "\\|");
    match text.as_str() {
        "" => String::new(),
        text if text.starts_with('`') || text.ends_with('`') => format!("{fence} {text} {fence}"),
        text => format!("{fence}{text}{fence}"),
    }
}

/// As prose on one line, fit for a table's cell.
pub fn prose(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' => escaped.extend(['\\', c]),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            // GitHub finds mentions and references in what is rendered, so no escape hides them; a
            // space of no width does.
            '@' | '#' => escaped.extend([c, '\u{200b}']),
            c => escaped.push(c),
        }
    }
    escaped
}

/// In a fence that the text cannot close.
pub fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{}\n{fence}\n", text.trim_end())
}

/// A table with a head. Cells are Markdown already.
pub fn table<const N: usize>(head: [&str; N], rows: &[[String; N]]) -> String {
    let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
    let mut text = line(head.to_vec());
    text += &line(vec!["---"; N]);
    for row in rows {
        text += &line(row.iter().map(String::as_str).collect());
    }
    text
}

fn one_line(text: &str) -> String {
    let is_break = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let words = text.split(is_break).filter(|part| !part.is_empty());
    words.collect::<Vec<&str>>().join(" ")
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
    fn names_of_strangers_stay_in_their_cells_and_are_no_markup() {
        for nasty in NASTY {
            let markdown = table(["a", "b"], &[[code(nasty), prose(nasty)]]);
            let (rows, markup) = rendered(&markdown);
            assert_eq!((rows, markup), (vec![2, 2], false), "{markdown}");
        }
    }

    #[test]
    fn nobody_is_mentioned_in_prose_and_code_is_code() {
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
        let markdown = fenced("a\n```\n@octocat\n````\nb");
        let events: Vec<Event> = Parser::new(&markdown).collect();
        assert_eq!(events.len(), 3, "{events:?}");
    }
}
