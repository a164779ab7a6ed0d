//! What the words of a line say about the line as a whole.

mod line_words;
mod values;

use std::sync::LazyLock;

use memchr::memmem::{Finder, find};

use crate::line::Number;
use line_words::LineWords;

/// Facts about all lines with one skeleton.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineFacts {
    /// It has a metric of a training with its value: `loss 2.3`.
    pub has_metric: bool,
    /// That metric is a result, and not a learning rate, which is a setting too.
    pub has_result: bool,
    /// It has a quantity with its value: `time 0.3`.
    pub has_quantity: bool,
    /// It mentions work before or beside the training, and no metric.
    pub is_preparation: bool,
    /// From this number on, counts are those of an evaluation.
    pub evaluation_from: Option<usize>,
    /// The numbers whose own names are of an evaluation, as bits: `'val/ratio': 1.2, 'step': 40`.
    pub evaluated: u32,
    /// It reports a saved checkpoint.
    pub is_checkpoint: bool,
    /// It has a number with a fraction.
    pub has_fraction: bool,
    /// It names at least two metrics, with or without values.
    pub names_metrics: bool,
    /// It names a metric or an epoch, as the header of a table does.
    pub may_be_header: bool,
    /// It names an epoch.
    pub has_epoch: bool,
    /// It names a loss.
    pub names_loss: bool,
    /// It is a dictionary, whose epoch may have a fraction in other lines.
    pub is_dictionary: bool,
    /// It has a rate of iterations: `7.2 it/s`.
    pub has_rate: bool,
    /// It has words without a meaning to us, other than names with a value: `learn: 0.69`.
    pub has_loose_words: bool,
    /// It has a name without a meaning to us, and its value: `R=21.2`.
    pub has_named_value: bool,
    /// It has one number, and its words are all known: `step: 10`.
    pub is_bare: bool,
    /// It lists settings, such as the arguments of the program.
    pub is_settings: bool,
    /// It is short and about an evaluation, without a metric.
    pub announces_evaluation: bool,
    /// The same, and it begins with the word.
    pub begins_evaluation: bool,
    /// It is about tensors or an accelerator.
    pub names_device: bool,
    /// It has two names without a meaning to us, with fractions as their values.
    pub has_values: bool,
    /// It has many names without a meaning to us, with fractions as their values.
    pub has_many_values: bool,
    /// It is about training.
    pub is_training: bool,
    /// It is about the use of a model.
    pub is_inference: bool,
    /// It names a picture, a sound or a film: `image_0001.jpg`.
    pub names_media: bool,
    /// It has nothing but names without a meaning to us and their values: `G: 1.20 | D: 0.91 | GP: 0.12`.
    pub is_record: bool,
}

impl LineFacts {
    /// Reads a line.
    pub fn of(line: &[u8], numbers: &[Number]) -> LineFacts {
        let mut facts = LineWords::read(line, numbers).facts();
        facts.is_settings |= has_switches(line);
        facts.is_preparation |= begins_with_check_mark(line) && !facts.has_metric;
        facts.names_loss = find(line, b"oss").is_some();
        facts.is_dictionary = line.trim_ascii_start().starts_with(b"{");
        facts.has_rate = has_rate(line);
        facts.is_checkpoint = is_checkpoint(line);
        facts
    }

    /// Whether the number with this index counts an evaluation.
    pub fn is_evaluation(&self, index: usize) -> bool {
        self.evaluation_from.is_some_and(|from| index >= from)
            || self.evaluated & 1 << index.min(31) != 0
    }
}

/// `✓ updates step 3 (12 ms)`: the result of a test.
fn begins_with_check_mark(line: &[u8]) -> bool {
    matches!(
        line.trim_ascii_start(),
        // U+2713 to U+2718, U+2705, U+274C and U+221A.
        [0xe2, 0x9c, 0x93..=0x98 | 0x85, ..] | [0xe2, 0x9d, 0x8c, ..] | [0xe2, 0x88, 0x9a, ..]
    )
}

/// `7.2 it/s`, `1.20s/it`
fn has_rate(line: &[u8]) -> bool {
    static RATES: LazyLock<[Finder<'static>; 2]> =
        LazyLock::new(|| [Finder::new("it/s"), Finder::new("s/it")]);
    RATES.iter().any(|rate| rate.find(line).is_some())
}

/// `amp=False, batch=8, cache=None`: no line of a training's progress has switches.
fn has_switches(line: &[u8]) -> bool {
    const FEWEST: usize = 2;
    let is_switch = |at: &usize| {
        let value = &line[at + 1..];
        [&b"True"[..], b"False", b"None"]
            .iter()
            .any(|switch| value.starts_with(switch))
    };
    memchr::memchr_iter(b'=', line)
        .filter(is_switch)
        .take(FEWEST)
        .count()
        == FEWEST
}

/// `Saving model checkpoint to out`
fn is_checkpoint(line: &[u8]) -> bool {
    static CHECKPOINT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("heckpoint"));
    let Some(at) = CHECKPOINT.find(line) else {
        return false;
    };
    let contains = |text: &[u8], word: &[u8]| find(text, word).is_some();
    let before = &line[..at];
    contains(before, b"aving") || contains(before, b"aved") || contains(&line[at..], b"saved")
}
