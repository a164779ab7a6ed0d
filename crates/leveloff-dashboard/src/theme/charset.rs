//! For terminals that show ASCII only. The drawn screen is replaced cell by cell, so that no text
//! is left out.

use ratatui::buffer::Buffer;

/// Replaces every character that is not ASCII by one that is.
pub(super) fn to_ascii(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if !cell.symbol().is_ascii() {
            let first = cell.symbol().chars().next().unwrap_or(' ');
            cell.set_char(ascii(first));
        }
    }
}

/// The character that stands for it.
fn ascii(c: char) -> char {
    match c {
        // Where text was cut, and between the ends of an interval.
        '…' => '~',
        '·' | '│' | '┊' | '▏' => '|',
        '–' | '─' | '┄' | '▄' => '-',
        '╭' | '╮' | '╰' | '╯' | '┌' | '┐' | '└' | '┘' => '+',
        '→' | '▸' | '›' => '>',
        '←' => '<',
        '↑' => '^',
        '↓' | '▾' | '▼' => 'v',
        '×' => 'x',
        '◆' => '*',
        // The steps of a sparkline, and the ends of a bar.
        '▁' => '_',
        '▂' => '.',
        '▃' => ':',
        '▅' | '▌' | '▋' => '=',
        '▆' | '▊' => '+',
        '▇' | '▉' => '*',
        '█' => '#',
        '▎' | '▍' => '-',
        _ => '?',
    }
}

#[cfg(test)]
mod tests {
    use ratatui::buffer::Cell;

    use super::*;

    #[test]
    fn nothing_but_ascii_is_left() {
        let mut buffer = Buffer::with_lines(["╭ LEVEL ─╮", "│1 … 2 ×│", "größe 漢 ▁▃█"]);
        to_ascii(&mut buffer);
        let expected = ["+ LEVEL -+", "|1 ~ 2 x|", "gr??e ?  _:#"];
        let shown: String = buffer.content.iter().map(Cell::symbol).collect();
        assert!(shown.is_ascii());
        assert!(
            expected.iter().all(|line| shown.contains(line)),
            "{shown:?}"
        );
    }
}
