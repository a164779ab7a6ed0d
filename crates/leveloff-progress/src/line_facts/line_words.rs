//! The words of a line, each by its meaning.

use super::LineFacts;
use super::values::{
    has_fraction_as_value, has_value, is_fraction, is_name, is_part_of_name, is_unit,
};
use crate::label::{Word, Words};
use crate::line::Number;
use crate::logger_prefix::logger_prefix;
use crate::vocabulary::Meaning;

/// A line with this many settings is a list of them.
const MOST_SETTINGS: usize = 3;

/// A record has at least this many values.
const FEWEST_VALUES: usize = 3;

/// An announcement has at most this many words.
const LONGEST_ANNOUNCEMENT: usize = 6;

/// The same for one that begins with the evaluation: "Evaluating model best on the test set".
const LONGEST_HEADING: usize = 12;

/// What was read of a line so far.
pub struct LineWords<'a> {
    line: &'a [u8],
    numbers: &'a [Number],
    facts: LineFacts,
    words: usize,
    unknown_words: usize,
    metric_words: usize,
    settings: usize,
    named_values: usize,
    mentions_preparation: bool,
    is_solver: bool,
    begins_with_evaluation: bool,
    /// The numbers before an evaluation word that may be the name of a metric: `val loss`.
    open_evaluation: Option<usize>,
}

impl<'a> LineWords<'a> {
    /// Reads all words of a line.
    pub fn read(line: &'a [u8], numbers: &'a [Number]) -> LineWords<'a> {
        let mut read = LineWords {
            line,
            numbers,
            facts: LineFacts {
                has_fraction: numbers.iter().any(|number| is_fraction(line, number)),
                ..LineFacts::default()
            },
            words: 0,
            unknown_words: 0,
            metric_words: 0,
            settings: 0,
            named_values: 0,
            mentions_preparation: false,
            is_solver: false,
            begins_with_evaluation: false,
            open_evaluation: None,
        };
        let prefix = logger_prefix(line);
        for word in Words::of(line) {
            let is_in_prefix = word.end < prefix;
            read.words += usize::from(!is_in_prefix);
            read.word(&word, is_in_prefix);
        }
        let left = read.open_evaluation.take();
        read.evaluation_begins(left);
        read
    }

    fn word(&mut self, word: &Word, is_in_prefix: bool) {
        let open = self.open_evaluation.take();
        if word.meaning != Meaning::Metric {
            self.evaluation_begins(open);
        }
        match word.meaning {
            Meaning::Metric => self.metric(word),
            Meaning::Quantity => self.quantity(word),
            Meaning::Evaluation => self.evaluation(word),
            Meaning::Epoch => self.facts.has_epoch = true,
            Meaning::Training => self.training(word),
            Meaning::Preparation => self.mentions_preparation = true,
            Meaning::Setting | Meaning::Length => {
                self.settings += usize::from(has_value(self.line, word.start, word.end));
            }
            Meaning::Solver => self.is_solver = true,
            Meaning::Inference => {
                self.facts.is_inference = true;
                self.unknown_words += 1;
                self.facts.has_loose_words = true;
            }
            Meaning::Unknown if !is_in_prefix => self.unknown(word),
            _ => {}
        }
    }

    fn evaluation_begins(&mut self, at: Option<usize>) {
        self.facts.evaluation_from = self.facts.evaluation_from.or(at);
    }

    fn numbers_before(&self, word: &Word) -> usize {
        let is_before = |number: &&Number| number.start < word.start;
        self.numbers.iter().filter(is_before).count()
    }

    fn metric(&mut self, word: &Word) {
        if is_log_level(self.line, word) {
            return;
        }
        self.metric_words += 1;
        // "loss at step 2000: 4.19"
        let is_assigned = matches!(self.line.get(word.end), Some(b'=' | b':'));
        // "loss: {'a': 0.07, 'b': 0.08}"
        let is_group = self.line[word.end..].starts_with(b": {");
        let has_value = has_value(self.line, word.start, word.end)
            || self.facts.has_fraction && (!is_assigned || is_group);
        self.facts.has_metric |= has_value;
        self.facts.has_result |= has_value && word.end - word.start > 2;
    }

    fn quantity(&mut self, word: &Word) {
        self.facts.has_quantity |= has_value(self.line, word.start, word.end);
        self.facts.names_device |= is_of_device(&self.line[word.start..word.end]);
    }

    fn evaluation(&mut self, word: &Word) {
        let before = self.numbers_before(word);
        if is_part_of_name(self.line, word) {
            self.facts.evaluated |= 1 << before.min(31);
        } else if !self.facts.is_training {
            self.begins_with_evaluation |= self.words == 1;
            self.open_evaluation = Some(before);
        }
    }

    fn training(&mut self, word: &Word) {
        self.facts.is_training = true;
        // "Train=0.81 Test=0.92"
        let has_result = has_fraction_as_value(self.line, word, self.numbers);
        self.facts.has_metric |= has_result;
        self.facts.has_result |= has_result;
        // `some_benchmark.trainer INFO:` is the name of a logger.
        let is_behind_dot = self.line[..word.start].ends_with(b".");
        if is_behind_dot && self.facts.evaluation_from == Some(self.numbers_before(word)) {
            self.facts.evaluation_from = None;
        }
    }

    fn unknown(&mut self, word: &Word) {
        self.unknown_words += 1;
        self.facts.names_media |= is_media(self.line, word);
        let is_name = is_name(self.line, word.start, word.end);
        self.facts.has_named_value |= is_name;
        self.named_values += usize::from(is_name);
        self.facts.has_loose_words |= !is_name && !is_unit(self.line, word.start);
    }

    /// What the words come to.
    pub fn facts(mut self) -> LineFacts {
        if self.is_solver {
            (self.facts.has_metric, self.facts.has_result) = (false, false);
            self.mentions_preparation = true;
        }
        self.facts.announces_evaluation = self.announces_evaluation();
        self.facts.begins_evaluation =
            self.facts.announces_evaluation && self.begins_with_evaluation;
        self.facts.is_settings = self.settings >= MOST_SETTINGS && !self.facts.has_result;
        self.facts.is_preparation = self.mentions_preparation && !self.facts.has_metric;
        self.facts.is_bare =
            self.numbers.len() == 1 && self.unknown_words == 0 && !self.mentions_preparation;
        let values = self.named_values.min(self.fractions());
        self.facts.has_values = values >= 2;
        self.facts.has_many_values = values >= FEWEST_VALUES;
        self.facts.names_metrics = self.metric_words >= 2;
        self.facts.may_be_header = self.metric_words > 0 || self.facts.has_epoch;
        self.facts.is_record = self.is_record();
        self.facts
    }

    fn announces_evaluation(&self) -> bool {
        let longest = if self.begins_with_evaluation {
            LONGEST_HEADING
        } else {
            LONGEST_ANNOUNCEMENT
        };
        self.facts.evaluation_from.is_some()
            && self.words <= longest
            && !self.facts.has_metric
            && !self.facts.is_training
    }

    fn is_record(&self) -> bool {
        self.facts.has_named_value
            && self.unknown_words == self.words
            && !self.facts.has_loose_words
            && self.numbers.len() == self.words
            && self.words >= FEWEST_VALUES
            && self.fractions() == self.numbers.len()
    }

    fn fractions(&self) -> usize {
        let is_fraction = |number: &&Number| is_fraction(self.line, number);
        self.numbers.iter().filter(is_fraction).count()
    }
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

/// Whether a word is the ending of a file that a model is applied to; of `mp3` and `mp4` the letters are the word.
fn is_media(line: &[u8], word: &Word) -> bool {
    const ENDINGS: [&[u8]; 7] = [b"jpg", b"jpeg", b"png", b"tif", b"wav", b"flac", b"mp"];
    line[..word.start].ends_with(b".") && ENDINGS.contains(&&line[word.start..word.end])
}
