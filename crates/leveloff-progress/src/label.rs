//! What the words around a number say about it.

use leveloff_model::progress::StepUnit;

use crate::line::Number;
use crate::logger_prefix::logger_prefix;
use crate::vocabulary::{Meaning, StepName, meaning};

/// What a counter is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    /// A known name of training steps.
    Step(StepName),
    /// Another count of the training, which can stand in for steps: episodes, samples, tokens.
    Unit(StepUnit),
    /// Epochs.
    Epoch,
    /// The length of the run in steps.
    Length,
    /// The length of an epoch in batches.
    EpochLength,
    /// The length of the run in epochs.
    Epochs,
    /// No words: the number stands at the start of the line, or behind another number.
    None,
    /// Words that mean nothing to us.
    Unknown,
    /// A metric.
    Metric,
    /// Something else: a time, a setting.
    Other,
}

/// How many bytes of a phrase are looked at.
const LONGEST_PHRASE: usize = 60;

impl Label {
    /// The label of a number in its line.
    pub fn of(line: &[u8], number: &Number) -> Label {
        // "Acc: 58.1% (600/1408)"
        let from = number
            .phrase_start
            .max(number.start.saturating_sub(LONGEST_PHRASE));
        if number.is_further && line[number.start - 1] == b'(' {
            let phrase = line[from..number.start]
                .split(u8::is_ascii_digit)
                .next()
                .unwrap_or(&[]);
            if of_words(phrase) == Label::Metric {
                return Label::Other;
            }
        }
        if number.is_further || number.unit_end > number.end {
            return after(line, number).unwrap_or(Label::None);
        }
        let from = number
            .phrase_start
            .max(number.start.saturating_sub(LONGEST_PHRASE));
        // "INFO:root:[200, 0.1]" has no words.
        let phrase = match from < logger_prefix(line) {
            true => &[][..],
            false => &line[from..number.start],
        };
        match of_words(phrase) {
            Label::None => after(line, number).unwrap_or(Label::None),
            // "trained 100 steps": the word behind says more.
            Label::Unknown => after(line, number).unwrap_or(Label::Unknown),
            label => label,
        }
    }
}

impl Label {
    /// Whether the word behind a number names it, and not the phrase in front.
    pub fn is_behind(line: &[u8], number: &Number) -> bool {
        let from = (number.phrase_start).max(number.start.saturating_sub(LONGEST_PHRASE));
        let in_front = of_words(&line[from..number.start]);
        number.total.is_none()
            && !matches!(in_front, Label::Step(_))
            && after(line, number).is_some()
    }

    /// The label of a column with this name.
    pub fn of_name(name: &[u8]) -> Label {
        match name {
            b"#" => Label::Step(StepName::Step),
            b"E" => Label::Epoch,
            name => of_words(name),
        }
    }

    /// The label of a number behind its initial in a bracket: `[E1|S20]`, `[E1 B20]`.
    pub fn of_bracketed_initial(line: &[u8], number: &Number) -> Option<Label> {
        let before = &line[..number.start.checked_sub(1)?];
        let bracket = before.iter().rposition(|b| matches!(b, b'[' | b']'))?;
        if before[bracket] != b'[' || !number.is_glued {
            return None;
        }
        match line[number.start - 1] {
            b'E' => Some(Label::Epoch),
            b'S' => Some(Label::Step(StepName::Step)),
            b'I' => Some(Label::Step(StepName::Iteration)),
            b'B' => Some(Label::Step(StepName::Batch)),
            _ => None,
        }
    }

    /// Whether the name of a number is that of a sum of steps: `Total T`, `total numsteps`, `Total steps`. Beside an episode
    /// these are the steps of all episodes.
    pub fn is_sum_of_steps(phrase: &[u8]) -> bool {
        let (mut is_sum, mut names_steps) = (false, false);
        for word in Words::of(phrase) {
            let text = phrase[word.start..word.end].to_ascii_lowercase();
            match &text[..] {
                b"total" => is_sum = true,
                b"t" => names_steps = true,
                b"env" | b"environment" | b"num" | b"time" => {}
                word if contains(word, b"step") || contains(word, b"frame") => names_steps = true,
                _ => return false,
            }
        }
        is_sum && names_steps
    }

    /// The label of a number whose name is an initial: `| train | F: 1000 | S: 500 |`. Only in records of a training, where
    /// these letters have one meaning.
    pub fn of_initial(name: &[u8]) -> Option<Label> {
        match name.trim_ascii_end() {
            b"S:" | b"S=" => Some(Label::Step(StepName::Step)),
            b"F:" | b"F=" => Some(Label::Unit(StepUnit::Timesteps)),
            _ => None,
        }
    }
}

/// The label that a phrase in front of a number gives it.
fn of_words(phrase: &[u8]) -> Label {
    let mut label = Label::None;
    let (mut is_length, mut is_environment) = (false, false);
    let (mut before, mut is_pronoun, mut is_plural) = (Meaning::Unknown, false, false);
    for word in Words::of(phrase) {
        label = match (word.meaning, label) {
            // "batch_id: 3" is the number of a batch.
            (Meaning::Setting, Label::Step(_) | Label::Epoch) if word.is_number => label,
            (Meaning::Setting, _) => return Label::Other,
            // "epoch_num: 3" is the number of an epoch, and "num_epochs: 3" that of all.
            (Meaning::Length, Label::Step(_) | Label::Epoch) if word.is_number && !is_plural => {
                label
            }
            (Meaning::Length, label) => {
                is_length = true;
                known_or_unknown(label, is_pronoun)
            }
            // "step time" and "steps per second" are no steps.
            (Meaning::Metric, _) => Label::Metric,
            (Meaning::Quantity, _) => Label::Other,
            // "time/batch" is a time.
            (
                Meaning::Step(_) | Meaning::Epoch | Meaning::Sample | Meaning::Token,
                Label::Other,
            ) if before == Meaning::Quantity => Label::Other,
            // "episode steps: 25" is the length of an episode.
            (Meaning::Step(_), Label::Unit(StepUnit::Episodes)) => return Label::Other,
            (Meaning::Step(_), _) if is_environment => Label::Unit(StepUnit::Timesteps),
            (Meaning::Step(name), Label::Step(other)) => Label::Step(name.max(other)),
            (Meaning::Step(StepName::Step), _) if word.is_global => {
                Label::Step(StepName::GlobalStep)
            }
            (Meaning::Step(name), _) => Label::Step(name),
            (Meaning::Timestep, _) => Label::Unit(StepUnit::Timesteps),
            (Meaning::Episode, _) => Label::Unit(StepUnit::Episodes),
            (Meaning::Sample, _) => Label::Unit(StepUnit::Samples),
            (Meaning::Token, _) => Label::Unit(StepUnit::Tokens),
            (Meaning::Epoch, _) if word.is_plural => Label::Epochs,
            (Meaning::Epoch, _) => Label::Epoch,
            // "train 10" has no name; it only belongs to the training. What is in front is the prefix of a logger.
            (Meaning::Training, Label::Unknown) => Label::None,
            (Meaning::Training, label) => label,
            (_, label) => known_or_unknown(label, is_pronoun),
        };
        is_environment |= word.is_environment;
        (is_pronoun, is_plural) = (word.end - word.start <= 2, word.is_plural);
        before = word.meaning;
    }
    match label {
        Label::Step(StepName::GlobalStep) => label,
        Label::Step(StepName::Batch) if is_length => Label::EpochLength,
        Label::Step(_) if is_length => Label::Length,
        Label::Epoch if is_length => Label::Epochs,
        Label::Unknown if is_length => Label::Other,
        label => label,
    }
}

fn contains(word: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(word, part).is_some()
}

fn known_or_unknown(label: Label, is_pronoun: bool) -> Label {
    match label {
        Label::None => Label::Unknown,
        // "it took 10"
        Label::Step(StepName::Iteration) if is_pronoun => Label::Unknown,
        label => label,
    }
}

/// The label that the word behind a number gives it: `200/2983 batches`, `640 samples`.
fn after(line: &[u8], number: &Number) -> Option<Label> {
    if number.unit_end > number.end {
        return Some(of_words(&line[number.end..number.unit_end]));
    }
    let behind = line.get(number.end..)?.strip_prefix(b" ")?;
    // "3 / 40 total iterations"
    let behind = behind.strip_prefix(b"total ").unwrap_or(behind);
    let end = behind
        .iter()
        .position(|b| !b.is_ascii_alphabetic())
        .unwrap_or(behind.len());
    // `1200 tokens/s` is a rate, and in `lag=12 batch=32` the word is the name of the next number.
    let is_name = matches!(behind.get(end), Some(b'/' | b'=' | b':' | b'_'));
    if end < 3 || is_name || number.start > 0 && line[number.start - 1] == b'=' {
        return None;
    }
    let label = of_words(&behind[..end]);
    matches!(
        label,
        Label::Step(_) | Label::Unit(StepUnit::Samples | StepUnit::Tokens)
    )
    .then_some(label)
}

/// One word of a phrase.
#[derive(Debug, Clone, Copy)]
pub struct Word {
    /// What it says.
    pub meaning: Meaning,
    /// It follows `global` or `num`.
    pub is_global: bool,
    /// It is `env` or `environment`.
    pub is_environment: bool,
    /// It is `num`, `number` or `id`, which counts what the next word names, or numbers what the last one named.
    pub is_number: bool,
    /// It ends with an s.
    pub is_plural: bool,
    /// Where it begins and ends.
    pub start: usize,
    /// The first byte behind it.
    pub end: usize,
}

/// Iterates over the words of a text. `_` separates words, and so does a capital after a small letter.
#[derive(Debug)]
pub struct Words<'a> {
    text: &'a [u8],
    at: usize,
    is_global: bool,
}

/// Longer words are not looked up.
const LONGEST_WORD: usize = 24;

impl<'a> Words<'a> {
    /// The words of `text`.
    pub fn of(text: &'a [u8]) -> Words<'a> {
        Words {
            text,
            at: 0,
            is_global: false,
        }
    }
}

impl Iterator for Words<'_> {
    type Item = Word;

    fn next(&mut self) -> Option<Word> {
        let is_letter = |b: &u8| b.is_ascii_alphabetic() || *b >= 0x80;
        let start = self.at + self.text[self.at..].iter().position(is_letter)?;
        let mut end = start + 1;
        while let Some(byte) = self.text.get(end)
            && is_letter(byte)
            && !(byte.is_ascii_uppercase() && self.text[end - 1].is_ascii_lowercase())
        {
            end += 1;
        }
        self.at = end;
        let mut lower = [0; LONGEST_WORD];
        let length = (end - start).min(LONGEST_WORD);
        lower[..length].copy_from_slice(&self.text[start..start + length]);
        lower[..length].make_ascii_lowercase();
        let word = &lower[..length];
        let is_global = std::mem::replace(
            &mut self.is_global,
            matches!(word, b"global" | b"num" | b"n" | b"cumulative"),
        );
        Some(Word {
            meaning: meaning(word),
            is_global,
            is_environment: matches!(word, b"env" | b"environment"),
            is_number: matches!(word, b"num" | b"number" | b"id"),
            is_plural: word.ends_with(b"s"),
            start,
            end,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::ScannedLine;

    /// The label of the last count of a line.
    fn label(line: &str) -> Label {
        let mut scanned = ScannedLine::default();
        scanned.scan(line.as_bytes());
        let number = scanned
            .numbers
            .iter()
            .rfind(|number| number.amount.count().is_some());
        Label::of(line.as_bytes(), number.unwrap())
    }

    #[test]
    fn sums_of_steps_are_named_by_total_and_a_word_for_steps() {
        for name in [
            "Total T: ",
            ", total numsteps: ",
            "| Total steps=",
            "total_env_steps ",
        ] {
            assert!(Label::is_sum_of_steps(name.as_bytes()), "{name}");
        }
        for name in [
            "Total reward: ",
            "Total: ",
            "Episode T: ",
            "total time ",
            "total wins ",
            "",
        ] {
            assert!(!Label::is_sum_of_steps(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn the_words_beside_a_number_name_it() {
        use StepName::{Batch, GlobalStep, Iteration, Step};
        let table = [
            ("step 10", Label::Step(Step)),
            ("\"global_step\": 10", Label::Step(GlobalStep)),
            ("globalStep=10", Label::Step(GlobalStep)),
            ("num_updates=10", Label::Step(GlobalStep)),
            ("train iter: 10", Label::Step(Iteration)),
            ("| epoch 3 | 200/2983 batches", Label::Step(Batch)),
            ("Epoch [3/10]", Label::Epoch),
            ("Epoch: [3][10/5005]", Label::None),
            ("total_timesteps | 2048", Label::Unit(StepUnit::Timesteps)),
            ("Episode 10", Label::Unit(StepUnit::Episodes)),
            ("Total optimization steps = 40", Label::Length),
            ("warmup_steps: 40", Label::Other),
            ("steps_per_second: 40", Label::Other),
            ("step time 40", Label::Other),
            ("episode steps: 40", Label::Other),
            ("Accuracy: 9800/10000", Label::Metric),
            ("widgets 10", Label::Unknown),
            ("[10/40]", Label::None),
            ("seen 640 samples", Label::Unit(StepUnit::Samples)),
        ];
        for (line, expected) in table {
            assert_eq!(label(line), expected, "{line}");
        }
    }
}
