//! Skips bytes that cannot hold progress: necessary conditions, checked many bytes at a time.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use memchr::{memchr, memchr2_iter};

/// What Lightning prints at the end of a training.
pub const LIGHTNING_END: &[u8] = b"`Trainer.fit` stopped";

/// Whether a line may hold progress. Nearly all lines of nearly all logs are rejected here.
pub fn is_interesting(line: &[u8]) -> bool {
    memchr2_iter(b'p', b'P', line).any(|at| is_in_a_known_word(line, at))
        || WORDS.iter().any(|word| word.find(line).is_some())
}

/// Whether any of several whole lines may hold progress or be a bar.
pub fn are_interesting(lines: &[u8]) -> bool {
    memchr(b'|', lines).is_some()
        || BAR_WITHOUT_TOTAL.find(lines).is_some()
        || is_interesting(lines)
}

/// The glyph is that of rich's bars.
static WORDS: LazyLock<[Finder<'static>; 5]> = LazyLock::new(|| {
    [
        Finder::new("iter"),
        Finder::new("Iter"),
        Finder::new("ITER"),
        Finder::new("━"),
        Finder::new(LIGHTNING_END),
    ]
});

/// tqdm's form without a total, `12it [00:03, 4.00it/s]`, has no frame to look for.
static BAR_WITHOUT_TOTAL: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(" ["));

/// Whether the p at `at` is that of step, epoch or checkpoint.
fn is_in_a_known_word(line: &[u8], at: usize) -> bool {
    let is_at = |p_in_word: usize, word: &[u8]| {
        at.checked_sub(p_in_word)
            .and_then(|start| line.get(start..start + word.len()))
            .is_some_and(|found| found.eq_ignore_ascii_case(word))
    };
    is_at(3, b"step") || is_at(1, b"epoch") || is_at(5, b"checkpoint")
}
