//! What the words of a line say about the line as a whole.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::label::{Word, Words};
use crate::line::{Amount, Number};
use crate::logger_prefix::logger_prefix;
use crate::vocabulary::Meaning;

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

/// How many separators may stand between a name and its value: tables are padded.
const MOST_PADDING: usize = 40;

/// A line with this many settings is a list of them.
const MOST_SETTINGS: usize = 3;

/// A record has at least this many values.
const FEWEST_VALUES: usize = 3;

/// An announcement has at most this many words.
const LONGEST_ANNOUNCEMENT: usize = 6;

/// The same for one that begins with the evaluation: "Evaluating model best on the test set".
const LONGEST_HEADING: usize = 12;

impl LineFacts {
    /// Reads a line.
    pub fn of(line: &[u8], numbers: &[Number]) -> LineFacts {
        let mut facts = LineFacts::default();
        let (mut mentions_preparation, mut is_training, mut is_solver) = (false, false, false);
        let (mut words, mut unknown_words, mut settings, mut metric_words) = (0, 0, 0, 0);
        let (mut named_values, mut begins_with_evaluation) = (0, false);
        let has_fraction = numbers.iter().any(|number| is_fraction(line, number));
        // An evaluation word that may be the name of a metric: `val loss`.
        let mut open_evaluation: Option<usize> = None;
        let prefix = logger_prefix(line);
        for word in Words::of(line) {
            words += usize::from(word.end >= prefix);
            let numbers_before = || numbers.iter().filter(|n| n.start < word.start).count();
            if let Some(from) = open_evaluation.take()
                && !matches!(word.meaning, Meaning::Metric)
            {
                facts.evaluation_from = facts.evaluation_from.or(Some(from));
            }
            match word.meaning {
                Meaning::Metric if is_log_level(line, &word) => {}
                Meaning::Metric => {
                    metric_words += 1;
                    // "loss at step 2000: 4.19"
                    let is_assigned = matches!(line.get(word.end), Some(b'=' | b':'));
                    // "loss: {'a': 0.07, 'b': 0.08}"
                    let is_group = line[word.end..].starts_with(b": {");
                    let has_value = has_value(line, word.start, word.end)
                        || has_fraction && (!is_assigned || is_group);
                    facts.has_metric |= has_value;
                    facts.has_result |= has_value && word.end - word.start > 2;
                }
                Meaning::Quantity => {
                    facts.has_quantity |= has_value(line, word.start, word.end);
                    facts.names_device |= is_of_device(&line[word.start..word.end]);
                }
                Meaning::Evaluation if is_part_of_name(line, &word) => {
                    facts.evaluated |= 1 << numbers_before().min(31);
                }
                Meaning::Evaluation if !is_training => {
                    begins_with_evaluation |= words == 1;
                    open_evaluation = Some(numbers_before());
                }
                Meaning::Epoch => facts.has_epoch = true,
                Meaning::Training => {
                    is_training = true;
                    // "Train=0.81 Test=0.92"
                    let has_result = has_fraction_as_value(line, &word, numbers);
                    facts.has_metric |= has_result;
                    facts.has_result |= has_result;
                    // `some_benchmark.trainer INFO:` is the name of a logger.
                    if line[word.start - usize::from(word.start > 0)] == b'.'
                        && facts.evaluation_from == Some(numbers_before())
                    {
                        facts.evaluation_from = None;
                    }
                }
                Meaning::Preparation => mentions_preparation = true,
                Meaning::Setting | Meaning::Length => {
                    settings += usize::from(has_value(line, word.start, word.end));
                }
                Meaning::Solver => is_solver = true,
                Meaning::Inference => {
                    facts.is_inference = true;
                    unknown_words += 1;
                    facts.has_loose_words = true;
                }
                Meaning::Unknown if word.end < prefix => {}
                Meaning::Unknown => {
                    unknown_words += 1;
                    facts.names_media |= is_media(line, &word);
                    let is_name = is_name(line, word.start, word.end);
                    facts.has_named_value |= is_name;
                    named_values += usize::from(is_name);
                    facts.has_loose_words |= !is_name && !is_unit(line, word.start);
                }
                _ => {}
            }
        }
        facts.evaluation_from = facts.evaluation_from.or(open_evaluation);
        facts.is_training = is_training;
        if is_solver {
            (facts.has_metric, facts.has_result) = (false, false);
            mentions_preparation = true;
        }
        facts.announces_evaluation = facts.evaluation_from.is_some()
            && words
                <= if begins_with_evaluation {
                    LONGEST_HEADING
                } else {
                    LONGEST_ANNOUNCEMENT
                }
            && !facts.has_metric
            && !is_training;
        facts.begins_evaluation = facts.announces_evaluation && begins_with_evaluation;
        facts.is_settings = settings >= MOST_SETTINGS && !facts.has_result || has_switches(line);
        facts.is_preparation =
            (mentions_preparation || begins_with_check_mark(line)) && !facts.has_metric;
        facts.names_loss = memchr::memmem::find(line, b"oss").is_some();
        facts.is_dictionary = line.trim_ascii_start().starts_with(b"{");
        facts.has_rate = has_rate(line);
        facts.is_checkpoint = is_checkpoint(line);
        facts.is_bare = numbers.len() == 1 && unknown_words == 0 && !mentions_preparation;
        facts.has_fraction = has_fraction;
        let fractions = || numbers.iter().filter(|number| is_fraction(line, number));
        let values = named_values.min(fractions().count());
        facts.has_values = values >= 2;
        facts.has_many_values = values >= FEWEST_VALUES;
        facts.names_metrics = metric_words >= 2;
        facts.may_be_header = metric_words > 0 || facts.has_epoch;
        facts.is_record = facts.has_named_value
            && unknown_words == words
            && !facts.has_loose_words
            && numbers.len() == words
            && words >= FEWEST_VALUES
            && numbers.iter().all(|number| is_fraction(line, number));
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

/// `[Error]: 3 unprocessed`, `ERROR 12 rows`: how severe a message is, where a metric is called `error`.
fn is_log_level(line: &[u8], word: &Word) -> bool {
    let text = &line[word.start..word.end];
    let is_error = text.eq_ignore_ascii_case(b"error") || text.eq_ignore_ascii_case(b"err");
    let is_framed = line[..word.start].ends_with(b"[") && line[word.end..].starts_with(b"]");
    is_error && (is_framed || text == b"ERROR")
}

/// Whether a lower- or upper-case word names what only a training, or the use of a model, has.
fn is_of_device(word: &[u8]) -> bool {
    const NAMES: [&[u8]; 4] = [b"tensors", b"gpu", b"cuda", b"vram"];
    NAMES.iter().any(|name| word.eq_ignore_ascii_case(name))
}

/// Whether a word is a name with a fraction as its value.
fn has_fraction_as_value(line: &[u8], word: &Word, numbers: &[Number]) -> bool {
    matches!(line.get(word.end), Some(b'=' | b':'))
        && (numbers.iter().find(|number| number.start > word.end)).is_some_and(|number| {
            is_fraction(line, number) && is_gap(&line[word.end + 1..number.start])
        })
}

/// Whether nothing but spaces and a sign stands in a text.
fn is_gap(text: &[u8]) -> bool {
    text.iter().all(|b| matches!(b, b' ' | b'\t' | b'-' | b'+'))
}

/// Whether a word is the ending of a file that a model is applied to; of `mp3` and `mp4` the letters are the word.
fn is_media(line: &[u8], word: &Word) -> bool {
    const ENDINGS: [&[u8]; 7] = [b"jpg", b"jpeg", b"png", b"tif", b"wav", b"flac", b"mp"];
    line[..word.start].ends_with(b".") && ENDINGS.contains(&&line[word.start..word.end])
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

/// `2.31` or `-2.31`.
fn is_fraction(line: &[u8], number: &Number) -> bool {
    let text = &line[number.start..number.end];
    let is_negative = || {
        let before = &line[..number.start];
        let is_decimal = |b: &u8| b.is_ascii_digit() || *b == b'.';
        before.last() == Some(&b'-')
            && !before
                .iter()
                .rev()
                .nth(1)
                .is_some_and(u8::is_ascii_alphanumeric)
            && text.iter().all(is_decimal)
            && text.iter().filter(|b| **b == b'.').count() == 1
    };
    match number.amount {
        // "e2e4" is a move on a board.
        Amount::Fraction(_) => !number.is_glued || text.contains(&b'.'),
        Amount::Count(_) => false,
        Amount::Other => is_negative(),
    }
}

/// Whether the word at `start` is the unit of a number: `12us`.
fn is_unit(line: &[u8], start: usize) -> bool {
    start > 0 && line[start - 1].is_ascii_digit()
}

/// Whether the word at `start..end` is a name with a value: `learn: 0.69`.
fn is_name(line: &[u8], start: usize, end: usize) -> bool {
    // `D/latent_real: [0.6]`: each word is a part of the name.
    let in_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'/');
    let joined = match line.get(end) {
        Some(b'_' | b'/') => line[end..].iter().take_while(|b| in_name(b)).count(),
        _ => 0,
    };
    let digits = |from: usize| {
        line[from..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count()
    };
    // `l2:0.31`
    let end = end + joined + digits(end + joined);
    let spaces = line[end..].iter().take_while(|b| **b == b' ').count();
    let is_assigned =
        matches!(line.get(end), Some(b'=' | b':')) || line.get(end + spaces) == Some(&b'=');
    is_assigned && has_value(line, start, end)
}

/// Whether a word is the beginning of a longer name in quotation marks, with a value: `'val/ratio': 1.2`.
fn is_part_of_name(line: &[u8], word: &Word) -> bool {
    let in_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'/' | b'.' | b'-');
    let rest = &line[word.end..];
    let length = rest.iter().take_while(|b| in_name(b)).count();
    let is_joined = matches!(rest.first(), Some(b'_' | b'/'));
    is_joined && matches!(&rest[length..], [b'\'' | b'"', b':', ..])
}

/// Whether a number stands beside the word at `start..end`.
fn has_value(line: &[u8], start: usize, end: usize) -> bool {
    let is_separator = |b: &u8| b" \t:=#[](\"'|,/@>~-_".contains(b);
    // The word may begin a longer name: `loss/train/total: 2.3`, `acc@1 31.2`.
    let in_name = |b: &u8| b.is_ascii_alphabetic() || b"_/.@".contains(b);
    let rest = &line[end..];
    let name = match rest.first() {
        Some(b'_' | b'/' | b'.' | b'@') => rest.iter().take_while(|b| in_name(b)).count(),
        _ => 0,
    };
    let behind = &rest[name..];
    let padding = behind.iter().take_while(|b| is_separator(b)).count();
    let value = &behind[padding.min(behind.len())..];
    // `Loss_16.cpp` has no value.
    let is_apart = padding > 0 || name > 0 && rest[name - 1] == b'@';
    let follows = is_apart
        && padding <= MOST_PADDING
        && (value.first().is_some_and(u8::is_ascii_digit)
            || value.starts_with(b"nan")
            || value.starts_with(b"inf")
            || value.starts_with(b"tensor(")
            || value.starts_with(b"+"));
    // `6529 tensors`, `1200 tok/s`
    follows || start >= 2 && line[start - 1] == b' ' && line[start - 2].is_ascii_digit()
}

fn is_checkpoint(line: &[u8]) -> bool {
    static CHECKPOINT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("heckpoint"));
    let Some(at) = CHECKPOINT.find(line) else {
        return false;
    };
    let contains = |text: &[u8], word: &[u8]| memchr::memmem::find(text, word).is_some();
    let before = &line[..at];
    contains(before, b"aving") || contains(before, b"aved") || contains(&line[at..], b"saved")
}
