//! For terminals that show ASCII only. What was drawn is replaced cell by cell, so that no word of
//! a verdict and no command line can be forgotten.

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
    use super::*;

    #[test]
    fn nothing_but_ascii_is_left() {
        let mut buffer = Buffer::with_lines(["╭ LEVEL ─╮", "│1 … 2 ×│", "größe 漢 ▁▃█"]);
        to_ascii(&mut buffer);
        let expected = ["+ LEVEL -+", "|1 ~ 2 x|", "gr??e ?  _:#"];
        let shown: String = buffer.content.iter().map(|cell| cell.symbol()).collect();
        assert!(shown.is_ascii());
        assert!(
            expected.iter().all(|line| shown.contains(line)),
            "{shown:?}"
        );
    }
}
