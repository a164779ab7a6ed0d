//! Whether a line is worth reading.

use memchr::{memchr2_iter, memmem};

/// How Lightning says that it is done.
pub const LIGHTNING_END: &[u8] = b"`Trainer.fit` stopped";

/// Whether a line may tell anything, by a few passes that look at many bytes at once: nearly all
/// lines of nearly all logs end here.
pub fn is_interesting(line: &[u8]) -> bool {
    memchr2_iter(b'p', b'P', line).any(|at| is_in_a_known_word(line, at))
        || WORDS.iter().any(|word| memmem::find(line, word).is_some())
}

/// The glyph is that of rich's bars.
const WORDS: [&[u8]; 5] = [b"iter", b"Iter", b"ITER", "━".as_bytes(), LIGHTNING_END];

/// Whether the p at `at` is that of step, epoch or checkpoint.
fn is_in_a_known_word(line: &[u8], at: usize) -> bool {
    let is_at = |p_in_word: usize, word: &[u8]| {
        at.checked_sub(p_in_word)
            .and_then(|start| line.get(start..start + word.len()))
            .is_some_and(|found| found.eq_ignore_ascii_case(word))
    };
    is_at(3, b"step") || is_at(1, b"epoch") || is_at(5, b"checkpoint")
}
