//! Text that fits: cut, wrapped and joined by the columns that it takes on a screen.

use leveloff_text::page::unbroken;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Stands where text was cut.
const CUT: char = '…';
/// Separates the parts of a line.
const BETWEEN: &str = " · ";

/// Columns that a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// The text, or as much as fits with a `…` behind it.
pub fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut shown = String::new();
    let mut taken = 1;
    for c in text.chars() {
        taken += c.width().unwrap_or(0);
        if taken > columns {
            break;
        }
        shown.push(c);
    }
    if columns > 0 {
        shown.truncate(shown.trim_end().len());
        shown.push(CUT);
    }
    shown
}

/// The same for a line in several styles.
pub fn cut_line(line: Line<'_>, columns: usize) -> Line<'_> {
    if line.width() <= columns {
        return line;
    }
    let mut left = columns;
    let mut shown = Line::default().style(line.style);
    for span in line.spans {
        let wide = span.width();
        // A span that just fits is cut nevertheless: more comes behind it.
        let text = if wide < left {
            span.content.into_owned()
        } else {
            cut(&format!("{} ", span.content), left)
        };
        shown.spans.push(Span::styled(text, span.style));
        if wide >= left {
            break;
        }
        left -= wide;
    }
    shown
}

/// A part of a line in several wordings, the longest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part(pub Vec<String>);

impl From<String> for Part {
    fn from(text: String) -> Part {
        Part(vec![text])
    }
}

impl Part {
    fn that_fits(&self, columns: usize) -> Option<&String> {
        self.0.iter().find(|text| width(text) <= columns)
    }

    fn shortest(&self) -> &str {
        self.0.last().map_or("", String::as_str)
    }
}

/// As many of the parts as fit, in their order; of the first, as much as fits.
pub fn joined(parts: &[Part], columns: usize) -> String {
    let Some((first, rest)) = parts.split_first() else {
        return String::new();
    };
    let mut text = match first.that_fits(columns) {
        Some(whole) => whole.clone(),
        None => cut(first.shortest(), columns),
    };
    for part in rest {
        let left = columns.saturating_sub(width(&text) + width(BETWEEN));
        if let Some(part) = part.that_fits(left) {
            text += BETWEEN;
            text += part;
        }
    }
    text
}

/// Filled up on the right, or cut.
pub fn left_aligned(text: &str, columns: usize) -> String {
    let text = cut(text, columns);
    let missing = columns - width(&text).min(columns);
    format!("{text}{:missing$}", "")
}

/// Filled up on the left, or cut.
pub fn right_aligned(text: &str, columns: usize) -> String {
    let text = cut(text, columns);
    let missing = columns - width(&text).min(columns);
    format!("{:missing$}{text}", "")
}

/// Broken between words; a word that is longer than a line is broken anywhere.
pub fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in unbroken(text) {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(&word) <= columns => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.extend(broken(&word, columns.max(1))),
        }
    }
    lines
}

fn broken(word: &str, columns: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut taken = 0;
    for c in word.chars() {
        let wide = c.width().unwrap_or(0);
        if taken + wide > columns && taken > 0 {
            pieces.push(String::new());
            taken = 0;
        }
        taken += wide;
        if let Some(piece) = pieces.last_mut() {
            piece.push(c);
        }
    }
    pieces
}

/// The name of the program that a command line runs.
pub fn program(command: &str) -> String {
    let path = command.split_whitespace().next().unwrap_or("?");
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

/// Writes a line into a row of an area, if the area has that row.
pub fn put<'a>(line: impl Into<Line<'a>>, row: usize, area: Rect, buffer: &mut Buffer) {
    if row < usize::from(area.height) {
        let line = cut_line(line.into(), usize::from(area.width));
        buffer.set_line(area.x, area.y + row as u16, &line, area.width);
    }
}

/// Writes a line at the right end of a row.
pub fn put_right<'a>(line: impl Into<Line<'a>>, row: usize, area: Rect, buffer: &mut Buffer) {
    let line = cut_line(line.into(), usize::from(area.width));
    let wide = line.width() as u16;
    let end = Rect {
        x: area.x + area.width.saturating_sub(wide),
        width: wide.min(area.width),
        ..area
    };
    put(line, row, end, buffer);
}

/// Without a column at either side.
pub fn padded(area: Rect) -> Rect {
    Rect {
        x: area.x + area.width.min(1),
        width: area.width.saturating_sub(2),
        ..area
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_by_columns_and_says_so() {
        assert_eq!(cut("train.py", 8), "train.py");
        assert_eq!(cut("train.py", 6), "train…");
        assert_eq!(cut("a word", 3), "a…");
        assert_eq!(cut("漢字漢字", 6), "漢字…");
        assert_eq!(cut("漢字", 3), "漢…");
        assert_eq!(cut("abc", 1), "…");
        assert_eq!(cut("abc", 0), "");
    }

    #[test]
    fn a_line_is_cut_where_its_columns_end() {
        let line = || Line::from(vec![Span::raw("abc"), Span::raw("def")]);
        let shown = |columns| cut_line(line(), columns).to_string();
        assert_eq!(shown(6), "abcdef");
        assert_eq!(shown(5), "abcd…");
        assert_eq!(shown(3), "ab…");
        assert_eq!(shown(0), "");
    }

    #[test]
    fn parts_that_do_not_fit_are_left_out() {
        let several = |texts: &[&str]| Part(texts.iter().copied().map(str::to_owned).collect());
        let parts = [
            several(&["one"]),
            several(&["two and more", "two"]),
            several(&["nine"]),
            several(&["six"]),
        ];
        assert_eq!(joined(&parts, 40), "one · two and more · nine · six");
        assert_eq!(joined(&parts, 15), "one · two · six");
        assert_eq!(joined(&parts, 2), "o…");
        assert_eq!(joined(&[], 2), "");
    }

    #[test]
    fn a_number_stays_with_its_unit_when_text_is_wrapped() {
        assert_eq!(
            wrapped("it holds 17.4 GiB now", 13),
            ["it holds", "17.4 GiB now"]
        );
        assert_eq!(wrapped("aaaaaaa b", 3), ["aaa", "aaa", "a b"]);
        assert_eq!(wrapped("漢字", 1), ["漢", "字"]);
    }

    #[test]
    fn aligned_text_has_its_columns() {
        assert_eq!(left_aligned("漢", 4), "漢  ");
        assert_eq!(right_aligned("7", 3), "  7");
        assert_eq!(right_aligned("12345", 3), "12…");
    }
}
