//! Cuts a line into its skeleton and its numbers.
//!
//! Lines of one format differ in their numbers only. The skeleton is the line without them, as a hash; the key
//! of a number is the phrase in front of it, as a hash. Both are made in one pass without copying.

mod letters;
mod number_token;

pub use self::number_token::Amount;

use self::letters::{Letters, is_plain_letter};
use self::number_token::number_at;

/// How many numbers of a line are looked at: a printed tensor has thousands.
const MOST_NUMBERS: usize = 24;

/// One number of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number {
    /// Where it begins and ends in the line, without its total.
    pub start: usize,
    /// The first byte behind it, and behind its total.
    pub end: usize,
    /// Identifies the phrase in front.
    pub key: u64,
    /// Its value.
    pub amount: Amount,
    /// Of how many, as in `10/40` and `10 of 40`.
    pub total: Option<u64>,
    /// Where the phrase in front begins.
    pub phrase_start: usize,
    /// A number stands between the phrase and this number, as for the second one of `epoch [3][10/40]`.
    pub is_further: bool,
    /// The first byte behind the word that follows directly, as in `59batch`; `end` if there is none.
    pub unit_end: usize,
    /// It is rounded, as `12K`.
    pub is_rounded: bool,
    /// It follows a letter directly, as in `step10` and `resnet50`.
    pub is_glued: bool,
}

/// A line's skeleton and numbers. Kept between lines, so that a line costs no allocation.
#[derive(Debug, Default)]
pub struct ScannedLine {
    /// Identifies the text without its numbers.
    pub skeleton: u64,
    /// The numbers, from left to right.
    pub numbers: Vec<Number>,
}

/// What was read last: phrases are words with a single space, `_`, `/` or `-` between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Letter,
    Joint,
    Number,
    Other,
}

impl ScannedLine {
    /// Scans a line without escapes.
    pub fn scan(&mut self, line: &[u8]) {
        self.numbers.clear();
        let (mut skeleton, mut phrase) = (SEED, SEED);
        let (mut phrase_start, mut is_further) = (0, false);
        let (mut last, mut last_byte) = (Last::Other, b' ');
        let mut at = 0;
        while at < line.len() {
            let byte = line[at];
            if byte.is_ascii_digit() {
                let token = number_at(line, at);
                if self.numbers.len() < MOST_NUMBERS {
                    self.numbers.push(Number {
                        start: at,
                        end: token.end,
                        key: phrase,
                        amount: token.amount,
                        total: token.total,
                        phrase_start,
                        is_further,
                        is_glued: last == Last::Letter,
                        is_rounded: line[token.end - 1].is_ascii_alphabetic(),
                        unit_end: token.unit_end,
                    });
                }
                (skeleton, phrase) = (mixed(skeleton, DIGIT), mixed(phrase, DIGIT));
                (last, last_byte, is_further) = (Last::Number, b'0', true);
                at = token.end;
                continue;
            }
            if is_plain_letter(byte) {
                if !matches!(last, Last::Letter | Last::Joint) {
                    (phrase, phrase_start, is_further) = (SEED, at, false);
                }
                // Most of most lines: eight letters are read at once.
                loop {
                    let letters = Letters::at(line, at);
                    skeleton = mixed(skeleton, letters.text);
                    phrase = mixed(phrase, letters.lower);
                    at += letters.count;
                    if letters.count < Letters::MOST {
                        break;
                    }
                }
                (last, last_byte) = (Last::Letter, line[at - 1]);
                continue;
            }
            let (mark, next) = mark_of(line, at);
            at = next;
            // Padding and bars change their length from line to line.
            if mark == last_byte && matches!(mark, b' ' | BAR) {
                last = Last::Other;
                continue;
            }
            // Numbers are padded with spaces to different widths.
            if mark != b' ' {
                skeleton = mixed(skeleton, u64::from(mark));
            }
            if is_letter(mark) {
                if !matches!(last, Last::Letter | Last::Joint) {
                    (phrase, phrase_start, is_further) = (SEED, next - 1, false);
                }
                last = Last::Letter;
            } else {
                let joins = last == Last::Letter && matches!(mark, b' ' | b'/' | b'-' | b'.');
                last = if joins { Last::Joint } else { Last::Other };
            }
            // Padding and quotes vary within a format. A colon does not: `iters: 100` may count an epoch where
            // `iters 8000` counts the run.
            if !matches!(mark, b' ' | b'"' | b'\'' | b'|' | b',') {
                phrase = mixed(phrase, u64::from(mark.to_ascii_lowercase()));
            }
            last_byte = mark;
        }
        self.skeleton = skeleton;
    }
}

const SEED: u64 = 0xcbf2_9ce4_8422_2325;

/// Stands for a number in the hashes.
const DIGIT: u64 = b'0' as u64;

/// A hash with up to eight bytes added. Both halves of the product count, so that every bit of the text changes all of the hash.
fn mixed(hash: u64, text: u64) -> u64 {
    let product = u128::from(hash ^ text) * 0x9e37_79b9_7f4a_7c15_u128;
    (product as u64) ^ (product >> 64) as u64
}

/// Stands for a bar of any length.
const BAR: u8 = b'=';

fn is_letter(byte: u8) -> bool {
    is_plain_letter(byte) || byte >= 0x80
}

/// What the byte at `at` stands for, and where the next one is.
fn mark_of(line: &[u8], at: usize) -> (u8, usize) {
    match line[at] {
        b'\t' | b' ' => (b' ', at + 1),
        b'=' | b'>' | b'.' | b'#' | b'-' | b'*' | b'~'
            if line.get(at + 1).is_some_and(|next| is_bar(*next))
                || at > 0 && is_bar(line[at - 1]) =>
        {
            (BAR, at + 1)
        }
        // Block elements and box drawing, as in the bars of tqdm, rich and Keras.
        0xe2 if matches!(line.get(at + 1), Some(0x94..=0x97)) => (BAR, (at + 3).min(line.len())),
        byte => (byte, at + 1),
    }
}

fn is_bar(byte: u8) -> bool {
    matches!(byte, b'=' | b'>' | b'.' | b'#' | b'-' | b'*' | b'~')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scan(line: &str) -> ScannedLine {
        let mut scanned = ScannedLine::default();
        scanned.scan(line.as_bytes());
        scanned
    }

    fn counts(line: &str) -> Vec<(u64, Option<u64>)> {
        let numbers = scan(line).numbers;
        let count = |number: &Number| Some((number.amount.count()?, number.total));
        numbers.iter().filter_map(count).collect()
    }

    #[test]
    fn lines_of_one_format_have_one_skeleton_and_the_same_keys() {
        let table = [
            ("step 9: loss 2.31", "step 1,000: loss nan"),
            (
                "Epoch: [0][ 10/5005] Time 0.1",
                "Epoch: [12][5000/5005] Time 0.234",
            ),
            (" 9/200 ━━╺━━ 3s 17ms/step", "200/200 ━━━━━━━ 0s 1ms/step"),
            (
                "10/200 [=>......] - ETA: 3s",
                "100/200 [====>..] - ETA: 10s",
            ),
            (
                "2025-05-01 10:00:00,123 - INFO - it 5",
                "2025-05-02 11:12:13,999 - INFO - it 6",
            ),
        ];
        for (one, other) in table {
            let (one, other) = (scan(one), scan(other));
            let keys = |line: &ScannedLine| -> Vec<u64> {
                line.numbers.iter().map(|number| number.key).collect()
            };
            assert_eq!(keys(&one)[0], keys(&other)[0]);
            assert_eq!(
                one.numbers[0].total.is_some(),
                other.numbers[0].total.is_some()
            );
        }
    }

    #[test]
    fn counts_and_their_totals_are_read() {
        assert_eq!(
            counts("Epoch: [0][ 10/5005]"),
            [(0, None), (10, Some(5005))]
        );
        assert_eq!(counts("iteration       10/    1000 |"), [(10, Some(1000))]);
        assert_eq!(counts("step 3 of 7, 1,234 x"), [(3, Some(7)), (1234, None)]);
        assert_eq!(counts("it 1.2k"), [(1200, None)]);
        assert_eq!(counts("on:train 80.0it/800it rate"), [(80, Some(800))]);
        assert_eq!(counts("on:train 100it/800it rate"), [(100, Some(800))]);
    }

    #[test]
    fn dates_times_versions_and_units_are_no_counts() {
        for line in [
            "2025-05-01T10:00:00Z",
            "11/18/2026",
            "10:33",
            "1.2.3",
            "5%",
            "10ms",
            "-4",
            "0.25",
            "step_40.ckpt",
            "3rd",
            "1e5",
            "123456789012345678901",
        ] {
            assert_eq!(counts(line), [], "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(line in prop::collection::vec(any::<u8>(), 0..300)) {
            ScannedLine::default().scan(&line);
        }

        #[test]
        fn number_like_bytes_do_not_make_it_panic(line in "[0-9.,:/eEkM%ofx +-]{0,40}") {
            ScannedLine::default().scan(line.as_bytes());
        }
    }
}
