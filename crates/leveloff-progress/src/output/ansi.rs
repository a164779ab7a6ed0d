//! Removes terminal escapes: colours, cursor movements, titles.

use std::borrow::Cow;

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;

/// The cursor goes up a line: tqdm writes it after a bar that stands below another one.
pub const CURSOR_UP: &[u8] = b"\x1b[A";

/// `text` without its escapes. Borrows when there are none, which is nearly always.
pub fn stripped(text: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = memchr::memchr(ESC, text) else {
        return Cow::Borrowed(text);
    };
    let mut clean = Vec::with_capacity(text.len());
    clean.extend_from_slice(&text[..first]);
    let mut rest = &text[first..];
    loop {
        rest = after_escape(rest);
        let end = memchr::memchr(ESC, rest).unwrap_or(rest.len());
        clean.extend_from_slice(&rest[..end]);
        rest = &rest[end..];
        if rest.is_empty() {
            return Cow::Owned(clean);
        }
    }
}

/// What follows the escape at the start of `text`; empty when the escape is cut off.
fn after_escape(text: &[u8]) -> &[u8] {
    let end = match text.get(1) {
        // CSI: parameters, then one final byte.
        Some(b'[') => text[2..]
            .iter()
            .position(|b| (0x40..=0x7e).contains(b))
            .map(|at| at + 3),
        // OSC, such as a window title: up to BEL or ESC \.
        Some(b']') => text[2..]
            .iter()
            .position(|&b| b == BEL || b == ESC)
            .map(|at| at + 2 + if text[at + 2] == BEL { 1 } else { 2 }),
        _ => Some(2),
    };
    end.and_then(|end| text.get(end..)).unwrap_or(&[])
}

/// The start of a line without control characters.
pub(super) fn printable(line: &[u8]) -> String {
    const LONGEST: usize = 160;
    let line = stripped(line);
    let text = String::from_utf8_lossy(&line);
    // A tab may be all that is between two numbers.
    let spaced = text.trim().chars().map(|c| if c == '\t' { ' ' } else { c });
    spaced.filter(|c| !c.is_control()).take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn colours_titles_and_movements_go() {
        let text = b"\x1b[2K\x1b[1;35mEpoch\x1b[0m 0\x1b]0;a title\x07/1\x1b]0;x\x1b\\!\x1b[A";
        assert_eq!(&*stripped(text), b"Epoch 0/1!");
    }

    #[test]
    fn a_cut_off_escape_swallows_nothing_before_it() {
        for cut in [&b"ab\x1b"[..], b"ab\x1b[", b"ab\x1b[3", b"ab\x1b]0;t"] {
            assert_eq!(&*stripped(cut), b"ab");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = stripped(&text);
        }

        #[test]
        fn escapes_of_any_shape_do_not_make_it_panic(text in "[\u{1b}\u{7}\\[\\]\\\\a-c0-3;]{0,40}") {
            prop_assert!(memchr::memchr(ESC, &stripped(text.as_bytes())).is_none());
        }
    }
}
