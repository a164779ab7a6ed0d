//! What stands in the line of the terminal that the command has not finished: a progress bar, a prompt.

/// A longer line is not drawn again.
const LONGEST: usize = 2048;

/// The end of the command's output, followed byte by byte.
#[derive(Debug)]
pub(crate) struct UnfinishedLine {
    /// Since the last line end or carriage return.
    text: Vec<u8>,
    is_too_long: bool,
    /// By so many lines the cursor was moved up: nested bars are drawn below it.
    lines_below: u32,
    /// An escape sequence that has begun.
    escape: Vec<u8>,
    /// A program that draws the whole screen.
    is_full_screen: bool,
}

impl UnfinishedLine {
    pub(crate) const fn new() -> UnfinishedLine {
        UnfinishedLine {
            text: Vec::new(),
            is_too_long: false,
            lines_below: 0,
            escape: Vec::new(),
            is_full_screen: false,
        }
    }

    /// Takes the next output.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match (self.escape.is_empty(), byte) {
                (false, _) => self.continue_escape(*byte),
                (true, 0x1b) => self.escape.push(*byte),
                (true, b'\n') => {
                    self.clear();
                    self.lines_below = self.lines_below.saturating_sub(1);
                }
                (true, b'\r') => self.clear(),
                (true, _) => self.push(&[*byte]),
            }
        }
    }

    /// Whether the cursor is at the start of an empty line, as far as is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.lines_below == 0
    }

    /// Whether a message would damage the screen of the command.
    pub(crate) fn is_full_screen(&self) -> bool {
        self.is_full_screen
    }

    /// A message as it is printed to a terminal: where the line stood, with the line again below it. Nested bars are drawn
    /// again by the command.
    pub(crate) fn around(&self, message: &str) -> Vec<u8> {
        if self.is_empty() {
            return format!("{message}\r\n").into_bytes();
        }
        if self.lines_below > 0 {
            let down = "\n".repeat(self.lines_below as usize);
            return format!("{down}\r\n{message}\r\n").into_bytes();
        }
        let mut drawn = format!("\r\x1b[K{message}\r\n").into_bytes();
        if !self.is_too_long {
            drawn.extend_from_slice(&self.text);
        }
        drawn
    }

    fn clear(&mut self) {
        self.text.clear();
        self.is_too_long = false;
    }

    fn push(&mut self, bytes: &[u8]) {
        match self.text.len() + bytes.len() <= LONGEST {
            true => self.text.extend_from_slice(bytes),
            false => self.is_too_long = true,
        }
    }

    /// Only `ESC [ … letter` matters; other sequences end with their second byte, which is enough for what is printed by trainings.
    fn continue_escape(&mut self, byte: u8) {
        self.escape.push(byte);
        let is_open = match self.escape[1] {
            b'[' => self.escape.len() == 2 || !(0x40..=0x7e).contains(&byte),
            _ => false,
        };
        if is_open && self.escape.len() < 32 {
            return;
        }
        let escape = std::mem::take(&mut self.escape);
        let count = || -> u32 {
            let digits = std::str::from_utf8(&escape[2..escape.len() - 1]).unwrap_or_default();
            digits.parse().unwrap_or(1)
        };
        match escape.as_slice() {
            b"\x1b[?1049h" | b"\x1b[?47h" => self.is_full_screen = true,
            b"\x1b[?1049l" | b"\x1b[?47l" => self.is_full_screen = false,
            [_, b'[', .., b'A'] => {
                self.lines_below += count().min(64);
                self.clear();
            }
            [_, b'[', .., b'B'] => self.lines_below = self.lines_below.saturating_sub(count()),
            _ => self.push(&escape),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fed(bytes: &str) -> UnfinishedLine {
        let mut line = UnfinishedLine::new();
        // In pieces, as output comes.
        for piece in bytes.as_bytes().chunks(3) {
            line.feed(piece);
        }
        line
    }

    fn around(bytes: &str) -> String {
        String::from_utf8(fed(bytes).around("leveloff: LEVEL")).unwrap()
    }

    #[test]
    fn behind_a_whole_line_a_message_is_only_printed() {
        assert_eq!(around("loss 2.3\n"), "leveloff: LEVEL\r\n");
        assert_eq!(around(""), "leveloff: LEVEL\r\n");
    }

    #[test]
    fn a_bar_is_cleared_and_stands_below_the_message() {
        let drawn = around("\r 10%|#   | 1/9\r 20%|##  | 2/9");
        assert_eq!(drawn, "\r\x1b[Kleveloff: LEVEL\r\n 20%|##  | 2/9");
        let coloured = around("\r\x1b[32m 20%\x1b[0m");
        assert_eq!(coloured, "\r\x1b[Kleveloff: LEVEL\r\n\x1b[32m 20%\x1b[0m");
    }

    #[test]
    fn nested_bars_begin_again_below_the_message() {
        let nested = "\repoch 1/3\n\rbatch 4/9\x1b[A";
        assert_eq!(around(nested), "\n\r\nleveloff: LEVEL\r\n");
        let ended = format!("{nested}\n\r\n");
        assert!(fed(&ended).is_empty());
    }

    #[test]
    fn a_program_that_draws_the_screen_is_recognised() {
        assert!(fed("\x1b[?1049hmenu").is_full_screen());
        assert!(!fed("\x1b[?1049hmenu\x1b[?1049l").is_full_screen());
    }

    #[test]
    fn a_line_without_end_is_not_kept() {
        let drawn = around(&"x".repeat(100_000));
        assert_eq!(drawn, "\r\x1b[Kleveloff: LEVEL\r\n");
    }
}
