//! Bytes of a terminal to keys and the mouse. Knows what terminals send, and never waits.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

use crate::event::Event;

/// Longer than any known sequence; longer ones are dropped.
const LONGEST: usize = 64;

const ESCAPE: u8 = 0x1b;

/// Takes bytes as they come; a sequence may come in pieces.
#[derive(Debug, Default)]
pub struct Keyboard {
    waiting: Vec<u8>,
}

/// What the waiting bytes begin with.
enum Parsed {
    /// An event, and its length in bytes.
    Event(Event, usize),
    /// An unknown sequence, and its length in bytes.
    Nothing(usize),
    /// An incomplete sequence.
    Incomplete,
}

impl Keyboard {
    /// Takes bytes; returns the events that they complete.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<Event> {
        self.waiting.extend_from_slice(bytes);
        let mut events = Vec::new();
        while !self.waiting.is_empty() {
            let used = match parse(&self.waiting) {
                Parsed::Event(event, used) => {
                    events.push(event);
                    used
                }
                Parsed::Nothing(used) => used,
                Parsed::Incomplete if self.waiting.len() > LONGEST => self.waiting.len(),
                Parsed::Incomplete => break,
            };
            self.waiting.drain(..used);
        }
        events
    }

    /// Whether a sequence has only begun. Esc itself begins as every sequence does, so after a moment
    /// without more [`Keyboard::settle`] says what it was.
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Nothing more came: what waits is all there is.
    pub fn settle(&mut self) -> Option<Event> {
        let waiting = std::mem::take(&mut self.waiting);
        (waiting == [ESCAPE]).then(|| key(KeyCode::Esc))
    }
}

fn parse(bytes: &[u8]) -> Parsed {
    match bytes {
        [ESCAPE] => Parsed::Incomplete,
        [ESCAPE, b'[', rest @ ..] => control_sequence(rest, 2),
        [ESCAPE, b'O', rest @ ..] => match rest {
            [] => Parsed::Incomplete,
            [last, ..] => known(named(*last, &[]), 3),
        },
        // Alt with a key, or Esc and then a key: the Esc is one of its own.
        [ESCAPE, ..] => Parsed::Event(key(KeyCode::Esc), 1),
        [byte, ..] => single(*byte, bytes),
        [] => Parsed::Incomplete,
    }
}

fn single(byte: u8, bytes: &[u8]) -> Parsed {
    let control = |c: u8| {
        let code = KeyCode::Char(char::from(c));
        Event::Key(KeyEvent::new(code, KeyModifiers::CONTROL))
    };
    match byte {
        b'\r' | b'\n' => Parsed::Event(key(KeyCode::Enter), 1),
        b'\t' => Parsed::Event(key(KeyCode::Tab), 1),
        0x7f | 0x08 => Parsed::Event(key(KeyCode::Backspace), 1),
        0x01..=0x1a => Parsed::Event(control(byte - 1 + b'a'), 1),
        0x00..=0x1f => Parsed::Nothing(1),
        0x20..=0x7e => Parsed::Event(key(KeyCode::Char(char::from(byte))), 1),
        _ => character(bytes),
    }
}

fn character(bytes: &[u8]) -> Parsed {
    let length = match bytes[0] {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Parsed::Nothing(1),
    };
    let Some(all) = bytes.get(..length) else {
        return Parsed::Incomplete;
    };
    let decoded = std::str::from_utf8(all).ok();
    match decoded.and_then(|text| text.chars().next()) {
        Some(c) => Parsed::Event(key(KeyCode::Char(c)), length),
        None => Parsed::Nothing(1),
    }
}

/// `rest` is what follows the introducer of `before` bytes.
fn control_sequence(rest: &[u8], before: usize) -> Parsed {
    // Linux consoles send `ESC [ [ A` for F1.
    if let [b'[', tail @ ..] = rest {
        return match tail {
            [] => Parsed::Incomplete,
            [last, ..] => known((*last == b'A').then_some(KeyCode::F(1)), before + 2),
        };
    }
    let Some(end) = rest.iter().position(|byte| (0x40..=0x7e).contains(byte)) else {
        return Parsed::Incomplete;
    };
    let (parameters, last, used) = (&rest[..end], rest[end], before + end + 1);
    match (parameters, last) {
        ([b'<', numbers @ ..], b'M' | b'm') => match mouse(numbers, last == b'M') {
            Some(event) => Parsed::Event(event, used),
            None => Parsed::Nothing(used),
        },
        _ => known(named(last, parameters), used),
    }
}

fn known(code: Option<KeyCode>, used: usize) -> Parsed {
    match code {
        Some(code) => Parsed::Event(key(code), used),
        None => Parsed::Nothing(used),
    }
}

fn named(last: u8, parameters: &[u8]) -> Option<KeyCode> {
    let number = numbers(parameters).first().copied().flatten();
    Some(match (last, number) {
        (b'A', _) => KeyCode::Up,
        (b'B', _) => KeyCode::Down,
        (b'C', _) => KeyCode::Right,
        (b'D', _) => KeyCode::Left,
        (b'H', _) | (b'~', Some(1 | 7)) => KeyCode::Home,
        (b'F', _) | (b'~', Some(4 | 8)) => KeyCode::End,
        (b'P', _) | (b'~', Some(11)) => KeyCode::F(1),
        (b'~', Some(3)) => KeyCode::Delete,
        (b'~', Some(5)) => KeyCode::PageUp,
        (b'~', Some(6)) => KeyCode::PageDown,
        (b'M', _) if parameters.is_empty() => KeyCode::Enter,
        _ => return None,
    })
}

/// Button, column and row out of `CSI < b ; x ; y M`, where they are counted from one.
fn mouse(parameters: &[u8], is_pressed: bool) -> Option<Event> {
    let [button, column, row] = numbers(parameters)[..] else {
        return None;
    };
    let kind = match (button? & 0b1110_0011, is_pressed) {
        (0, true) => MouseEventKind::Down(MouseButton::Left),
        (1, true) => MouseEventKind::Down(MouseButton::Middle),
        (2, true) => MouseEventKind::Down(MouseButton::Right),
        (64, _) => MouseEventKind::ScrollUp,
        (65, _) => MouseEventKind::ScrollDown,
        _ => return None,
    };
    Some(Event::Mouse(MouseEvent {
        kind,
        column: column?.checked_sub(1)?,
        row: row?.checked_sub(1)?,
        modifiers: KeyModifiers::NONE,
    }))
}

fn numbers(parameters: &[u8]) -> Vec<Option<u16>> {
    parameters
        .split(|&byte| byte == b';')
        .map(|digits| std::str::from_utf8(digits).ok()?.parse().ok())
        .collect()
}

fn key(code: KeyCode) -> Event {
    Event::Key(KeyEvent::new(code, KeyModifiers::NONE))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a keyboard makes of these bytes, in short.
    fn typed(pieces: &[&[u8]]) -> Vec<String> {
        let mut keyboard = Keyboard::default();
        let mut events: Vec<Event> = Vec::new();
        for piece in pieces {
            events.extend(keyboard.take(piece));
        }
        events.extend(keyboard.settle());
        events.iter().map(short).collect()
    }

    fn short(event: &Event) -> String {
        match event {
            Event::Key(key) if key.modifiers == KeyModifiers::CONTROL => format!("^{:?}", key.code),
            Event::Key(key) => format!("{:?}", key.code),
            Event::Mouse(mouse) => format!("{:?} {} {}", mouse.kind, mouse.column, mouse.row),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn keys_are_known() {
        assert_eq!(
            typed(&[b"q \r\x7f\x03\x1a\x1b[A\x1bOB\x1b[1~\x1b[4~\x1bOP"]),
            [
                "Char('q')",
                "Char(' ')",
                "Enter",
                "Backspace",
                "^Char('c')",
                "^Char('z')",
                "Up",
                "Down",
                "Home",
                "End",
                "F(1)"
            ]
        );
        assert_eq!(typed(&["é𝛼".as_bytes()]), ["Char('é')", "Char('𝛼')"]);
    }

    #[test]
    fn a_sequence_in_pieces_is_one_key_and_esc_alone_is_esc() {
        assert_eq!(typed(&[b"\x1b", b"[", b"C"]), ["Right"]);
        assert_eq!(typed(&[b"\x1b"]), ["Esc"]);
        assert_eq!(typed(&[b"\x1bq"]), ["Esc", "Char('q')"]);
        assert_eq!(typed(&[b"\xc3", b"\xa9"]), ["Char('é')"]);
    }

    #[test]
    fn the_mouse_is_known_by_its_buttons_and_wheel() {
        assert_eq!(
            typed(&[b"\x1b[<0;5;12M\x1b[<0;5;12m\x1b[<64;1;1M\x1b[<65;1;1M\x1b[<0;0;1M"]),
            ["Down(Left) 4 11", "ScrollUp 0 0", "ScrollDown 0 0"]
        );
    }

    #[test]
    fn what_means_nothing_is_passed_over() {
        assert_eq!(typed(&[b"\x1b[?1;2cq"]), ["Char('q')"]);
        assert_eq!(typed(&[b"\xff\xfeq"]), ["Char('q')"]);
        assert_eq!(typed(&[b"\x1b[[Aq"]), ["F(1)", "Char('q')"]);
        let mut endless = b"\x1b[".to_vec();
        endless.extend([b'1'; 100]);
        endless.push(b'q');
        // Ended by its first letter, or given up: nothing hangs.
        typed(&[&endless, b"q"]);
    }

    #[test]
    fn no_bytes_are_too_odd() {
        let mut keyboard = Keyboard::default();
        let mut state = 1_u32;
        for _ in 0..200_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Every other byte is one that begins or carries on a sequence.
            let odd = [0x1b, b'[', b'<', b';', b'1', b'O', 0xe2, (state >> 8) as u8];
            keyboard.take(&[odd[(state >> 24) as usize % odd.len()]]);
            assert!(keyboard.waiting.len() <= LONGEST);
        }
    }
}
