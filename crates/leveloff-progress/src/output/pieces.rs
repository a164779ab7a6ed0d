//! Cuts a training's output into pieces, however the bytes arrive.

/// How much of a line is kept. Progress is at a line's start; a line of megabytes is a printed tensor.
pub const LONGEST_PIECE: usize = 8 * 1024;

/// Where a piece was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// At a line feed or carriage return.
    LineEnd,
    /// At a closing bracket, which ends a tqdm bar. The line end comes one redraw later, which can be
    /// minutes.
    Bracket,
}

/// Holds the unfinished piece. The cuts depend on the bytes alone, not on how they were chunked.
#[derive(Debug, Default)]
pub struct Pieces {
    pending: Vec<u8>,
    /// More than [`LONGEST_PIECE`] arrived without a line end; the rest of the line is dropped.
    overflowed: bool,
}

impl Pieces {
    /// Calls `see` with each piece that `bytes` ends, without the byte that ended the line.
    ///
    /// At a bracket `see` gets everything since the last cut, including the bracket, and returns whether
    /// that was a bar. If so, a new piece begins after it: a log line may follow a bar without a line end.
    pub fn feed(&mut self, bytes: &[u8], mut see: impl FnMut(&[u8], Cut) -> bool) {
        let mut rest = bytes;
        let mut looked = 0;
        while let Some(at) = memchr::memchr3(b'\n', b'\r', b']', &rest[looked..]) {
            let end = looked + at;
            if rest[end] != b']' {
                self.end_line(&rest[..end], &mut see);
            } else if !self.pending.is_empty() {
                self.end_pending_bar(&rest[..=end], &mut see);
            } else if end >= LONGEST_PIECE || !see(&rest[..=end], Cut::Bracket) {
                // Not a bar: the piece continues and is not copied.
                looked = end + 1;
                continue;
            }
            rest = &rest[end + 1..];
            looked = 0;
        }
        self.keep(rest);
    }

    /// Passes on the last piece, when the output has ended without a line end.
    pub fn finish(&mut self, mut see: impl FnMut(&[u8], Cut) -> bool) {
        self.end_line(b"", &mut see);
    }

    /// Whether bytes came after the last line end.
    pub fn is_inside_line(&self) -> bool {
        !self.pending.is_empty() || self.overflowed
    }

    /// Drops the unfinished piece.
    pub fn clear(&mut self) {
        self.pending.clear();
        self.overflowed = false;
    }

    fn end_pending_bar(&mut self, piece: &[u8], see: &mut impl FnMut(&[u8], Cut) -> bool) {
        self.keep(piece);
        if !self.overflowed && see(&self.pending, Cut::Bracket) {
            self.clear();
        }
    }

    fn end_line(&mut self, piece: &[u8], see: &mut impl FnMut(&[u8], Cut) -> bool) {
        if self.pending.is_empty() {
            see(&piece[..piece.len().min(LONGEST_PIECE)], Cut::LineEnd);
        } else {
            self.keep(piece);
            see(&self.pending, Cut::LineEnd);
        }
        self.clear();
    }

    fn keep(&mut self, piece: &[u8]) {
        let room = LONGEST_PIECE - self.pending.len();
        self.pending
            .extend_from_slice(&piece[..piece.len().min(room)]);
        self.overflowed |= piece.len() > room;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every cut that is made; a piece that contains `#` counts as a bar.
    fn cuts(chunks: &[&[u8]]) -> Vec<(Vec<u8>, Cut)> {
        let mut pieces = Pieces::default();
        let mut seen = Vec::new();
        let mut see = |piece: &[u8], cut| {
            seen.push((piece.to_vec(), cut));
            piece.contains(&b'#')
        };
        for chunk in chunks {
            pieces.feed(chunk, &mut see);
        }
        pieces.finish(&mut see);
        seen
    }

    #[test]
    fn a_log_line_glued_to_a_bar_is_a_piece_of_its_own() {
        let seen = cuts(&[b"\r#1]glued [x] line\nrest"]);
        let texts: Vec<&[u8]> = seen.iter().map(|(text, _)| &text[..]).collect();
        assert_eq!(
            texts,
            [&b""[..], b"#1]", b"glued [x]", b"glued [x] line", b"rest"]
        );
    }

    #[test]
    fn a_line_of_megabytes_keeps_its_start_only() {
        let long = vec![b'x'; 3 << 20];
        let seen = cuts(&[b"start ", &long, b"#]", &long, b"\nnext\n"]);
        assert_eq!(seen.len(), 3);
        assert_eq!(seen[0].0.len(), LONGEST_PIECE);
        assert!(seen[0].0.starts_with(b"start x"));
        assert_eq!(seen[1].0, b"next");
    }

    proptest! {
        #[test]
        fn where_chunks_end_makes_no_difference(
            text in "[a#\\]\r\n]{0,60}",
            long in prop::sample::select(vec![0usize, LONGEST_PIECE - 3, LONGEST_PIECE, LONGEST_PIECE + 3]),
            places in prop::collection::vec(0usize..9000, 0..6),
        ) {
            let bytes = [text.as_bytes(), &vec![b'y'; long], text.as_bytes()].concat();
            let mut places: Vec<usize> = places.into_iter().map(|p| p.min(bytes.len())).collect();
            places.sort_unstable();
            let mut chunks = Vec::new();
            let mut from = 0;
            for place in places {
                chunks.push(&bytes[from..place]);
                from = place;
            }
            chunks.push(&bytes[from..]);
            prop_assert_eq!(cuts(&chunks), cuts(&[&bytes]));
        }
    }
}
