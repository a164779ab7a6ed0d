//! Decides from a bar's description what the bar counts.

use crate::number;

/// What a bar counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BarPurpose {
    /// The steps of this epoch.
    Epoch(EpochNumber),
    /// Training steps.
    Training,
    /// Steps with a loss: those of the training, or of an evaluation with the same description.
    Measured,
    /// Whole epochs.
    EpochCounter,
    /// Steps of evaluation, validation, testing or prediction.
    Evaluation,
    /// Work of downloads, data preparation, loading or saving.
    Preparation,
    /// Unknown: the description has no known word.
    Unclear,
    /// Unknown: there is no description. Hugging Face's Trainer draws such bars for training and for
    /// evaluation.
    Undescribed,
}

/// `Epoch 3` or `Epoch 3/10`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EpochNumber {
    /// As printed; the first epoch may be 0 or 1.
    pub number: u64,
    /// Of how many.
    pub of: Option<u64>,
    /// It follows a `#`: such epochs are counted from 1.
    pub is_hashed: bool,
}

/// Words that begin a description of evaluation.
#[rustfmt::skip]
const EVALUATION: [&str; 11] = [
    "eval", "valid", "predict", "sanity", "test", "infer", "benchmark", "prompt",
    "request", "likelihood", "denois",
];

/// Words that begin a description of work before or beside the training. From the bars of
/// transformers, datasets, huggingface_hub, tokenizers and torch's hub, and the file names that
/// downloads show.
#[rustfmt::skip]
const PREPARATION: [&str; 51] = [
    "map", "filter", "load", "download", "fetch", "generating", "saving", "save", "writing",
    "reading", "token", "encod", "shard", "split", "resolv", "extract", "unpack", "upload",
    "creating", "convert", "cast", "build", "pack", "cach", "comput", "collect", "preprocess",
    "process", "flatten", "format", "quantiz", "merg", "materializ", "copy", "index", "scan",
    "safetensors", "json", "parquet", "arrow", "gguf", "adding", "prepar",
    "captur", "render", "instal", "sampling", "rollout", "calibrat", "verif", "shuffl",
];

/// Words that begin a description of training.
const TRAINING: [&str; 6] = ["train", "step", "iter", "fit", "finetun", "optimi"];

/// Words of a description that says whose bar it is, and not what it counts: `rank 3`.
const OWNERS: [&str; 6] = ["rank", "gpu", "cuda", "device", "worker", "node"];

/// How much of a description is looked at.
const LONGEST_DESCRIPTION: usize = 200;

impl BarPurpose {
    /// What a bar with this description counts.
    pub fn of(description: &[u8]) -> BarPurpose {
        if description.is_empty() {
            return BarPurpose::Undescribed;
        }
        // A log line without a line end may stand in front; the description is at the end.
        let end = &description[description.len().saturating_sub(LONGEST_DESCRIPTION)..];
        let text = String::from_utf8_lossy(end).to_ascii_lowercase();
        let any =
            |starts: &[&str]| words(&text).any(|word| starts.iter().any(|s| word.starts_with(s)));
        // An evaluation has no learning rate, and begins with no loss of a training: `loss: 0.34 test_accuracy: 97.5%`.
        if words(&text).any(|word| word == "lr") && text.contains([':', '='])
            || begins_with_loss(&text)
        {
            return BarPurpose::Measured;
        }
        if purposes(&text).any(is_evaluation) {
            BarPurpose::Evaluation
        } else if let Some(epoch) = epoch_number(&text) {
            BarPurpose::Epoch(epoch)
        } else if any(&PREPARATION) {
            BarPurpose::Preparation
        } else if let Some(epoch) = leading_pair(&text) {
            BarPurpose::Epoch(epoch)
        } else if any(&["epoch"]) {
            BarPurpose::EpochCounter
        } else if any(&TRAINING) {
            BarPurpose::Training
        } else if text.contains("loss") || has_values(&text) {
            BarPurpose::Measured
        } else if words(&text).all(is_owner) {
            BarPurpose::Undescribed
        } else {
            BarPurpose::Unclear
        }
    }
}

/// `d: 0.41; g: 0.92`: metrics with names of any kind.
fn has_values(text: &str) -> bool {
    const FEWEST: usize = 2;
    let is_value = |value: &&str| {
        let value = value.trim_start();
        let digits = value.bytes().take_while(u8::is_ascii_digit).count();
        let rest = value.as_bytes().get(digits..).unwrap_or(&[]);
        digits > 0 && matches!(rest, [b'.', b'0'..=b'9', ..])
    };
    text.split([':', '=']).skip(1).filter(is_value).count() >= FEWEST
}

fn is_evaluation(word: &str) -> bool {
    EVALUATION.iter().any(|begin| word.starts_with(begin)) || matches!(word, "val" | "dev")
}

/// The words of a description without the names of its values: `Epoch 3, val_acc: 0.91`.
fn purposes(text: &str) -> impl Iterator<Item = &str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = text;
    let names = std::iter::from_fn(move || {
        let begin = rest.find(is_name)?;
        let length = rest[begin..]
            .find(|c| !is_name(c))
            .unwrap_or(rest.len() - begin);
        let (name, behind) = rest[begin..].split_at(length);
        rest = behind;
        let value = behind.strip_prefix([':', '=']).unwrap_or("").trim_start();
        let is_value = value.starts_with(|c: char| c.is_ascii_digit());
        Some(if is_value && name.contains('_') {
            ""
        } else {
            name
        })
    });
    names.flat_map(|name| name.split('_'))
}

/// `loss: 0.34`, and not `val_loss: 0.34`.
fn begins_with_loss(text: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '/');
    let Some(end) = text.find(|c| !is_name(c)) else {
        return false;
    };
    let (name, value) = text.split_at(end);
    let is_evaluated = name.split(['_', '/']).any(is_evaluation);
    let digits = value.trim_start_matches([':', '=', ' ']);
    name.contains("loss") && !is_evaluated && digits.starts_with(|c: char| c.is_ascii_digit())
}

fn is_owner(word: &str) -> bool {
    let name = word.trim_end_matches(|c: char| c.is_ascii_digit());
    name.is_empty() || OWNERS.contains(&name)
}

/// `epoch 3`, `epoch 3/10`, `epoch [3/10]`, `epoch: 3`, `epoch=3` in lower-case text.
pub fn epoch_number(text: &str) -> Option<EpochNumber> {
    let after_word = text
        .match_indices("epoch")
        .map(|(at, word)| &text[at + word.len()..])
        .map(|after| after.strip_prefix("s ").unwrap_or(after))
        .find(|after| !after.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))?;
    let digits = after_word.trim_start_matches([' ', '\t', ':', '=', '#', '[', '(']);
    let (number, rest) = number::whole(digits.as_bytes())?;
    let rest = rest.trim_ascii_start();
    let of = rest
        .strip_prefix(b"/")
        .or_else(|| rest.strip_prefix(b"of "));
    Some(EpochNumber {
        is_hashed: after_word[..after_word.len() - digits.len()].contains('#'),
        number: Some(number).filter(|number| *number <= LAST_EPOCH)?,
        of: of
            .and_then(|of| number::whole(of.trim_ascii_start()))
            .map(|(of, _)| of)
            .filter(|of| *of <= LAST_EPOCH),
    })
}

/// `1/5  0G  1.168  2.193  41  640` and `1/5(t)`: the first column of a table, and what is all of a description, is the epoch.
fn leading_pair(text: &str) -> Option<EpochNumber> {
    let (number, rest) = number::whole(text.trim_start().as_bytes())?;
    let (of, rest) = number::whole(rest.strip_prefix(b"/")?)?;
    (number <= of && matches!(rest.first(), None | Some(b' ' | b'('))).then_some(EpochNumber {
        number,
        of: Some(of),
        is_hashed: false,
    })
}

/// No training has more epochs; a larger number is a time since 1970.
const LAST_EPOCH: u64 = 1_000_000;

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn descriptions_tell_what_a_bar_is_for() {
        let epoch = |number, of| {
            BarPurpose::Epoch(EpochNumber {
                number,
                of,
                is_hashed: false,
            })
        };
        let table = [
            ("", BarPurpose::Undescribed),
            ("Epoch 0", epoch(0, None)),
            ("Epoch 3/10", epoch(3, Some(10))),
            ("Train epoch [3 / 10]", epoch(3, Some(10))),
            ("Epochs 1/3. Running Loss:    0.68", epoch(1, Some(3))),
            ("Epoch 2 of 3", epoch(2, Some(3))),
            ("3/10(t)", epoch(3, Some(10))),
            ("Epoch", BarPurpose::EpochCounter),
            ("Training epochs", BarPurpose::EpochCounter),
            ("Validation DataLoader 0", BarPurpose::Evaluation),
            ("Sanity Checking", BarPurpose::Evaluation),
            ("Val epoch 3", BarPurpose::Evaluation),
            ("Training", BarPurpose::Training),
            ("Iteration", BarPurpose::Training),
            ("loss 0.342", BarPurpose::Measured),
            ("Batches", BarPurpose::Unclear),
            ("rank 3", BarPurpose::Undescribed),
            ("d: 0.41; g: 0.92", BarPurpose::Measured),
            ("Running rollout of 300 steps", BarPurpose::Preparation),
            ("Map (num_proc=4)", BarPurpose::Preparation),
            ("(3/33): Calibrating", BarPurpose::Preparation),
            ("Generating train split", BarPurpose::Preparation),
            ("Loading checkpoint shards", BarPurpose::Preparation),
            ("model-00001-of-00002.safetensors", BarPurpose::Preparation),
            ("Running tokenizer on dataset", BarPurpose::Preparation),
            ("epoch 1700000000", BarPurpose::EpochCounter),
            ("widgets", BarPurpose::Unclear),
        ];
        for (description, purpose) in table {
            assert_eq!(
                BarPurpose::of(description.as_bytes()),
                purpose,
                "{description}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(text in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = BarPurpose::of(&text);
        }
    }
}
