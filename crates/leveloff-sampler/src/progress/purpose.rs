//! What a bar is for, by its description.

use super::number;

/// What a bar is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Counts the steps of this epoch.
    Epoch(EpochNumber),
    /// Counts training steps.
    Training,
    /// Counts whole epochs.
    EpochCounter,
    /// Evaluation, validation, testing, prediction.
    Evaluation,
    /// Downloads, data preparation, loading, saving.
    Preparation,
    /// A description that tells nothing.
    Unclear,
    /// No description. The Trainer of Hugging Face draws such bars, for training and evaluation
    /// alike.
    Undescribed,
}

/// `Epoch 3` or `Epoch 3/10`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EpochNumber {
    /// As printed: whether the first is 0 or 1 is not known here.
    pub number: u64,
    /// Of how many.
    pub of: Option<u64>,
}

/// Words that begin a description of evaluation.
const EVALUATION: [&str; 7] = [
    "eval",
    "valid",
    "predict",
    "sanity",
    "test",
    "infer",
    "benchmark",
];

/// Words that begin a description of work before or beside the training. From the bars of
/// transformers, datasets, huggingface_hub, tokenizers and torch's hub, and the file names that
/// downloads show.
const PREPARATION: [&str; 43] = [
    "map",
    "filter",
    "load",
    "download",
    "fetch",
    "generating",
    "saving",
    "save",
    "writing",
    "reading",
    "token",
    "encod",
    "shard",
    "split",
    "resolv",
    "extract",
    "unpack",
    "upload",
    "creating",
    "convert",
    "cast",
    "build",
    "pack",
    "cach",
    "comput",
    "collect",
    "preprocess",
    "process",
    "flatten",
    "format",
    "quantiz",
    "merg",
    "materializ",
    "copy",
    "index",
    "scan",
    "safetensors",
    "json",
    "parquet",
    "arrow",
    "gguf",
    "adding",
    "prepar",
];

/// Words that begin a description of training.
const TRAINING: [&str; 8] = [
    "train", "step", "iter", "batch", "fit", "finetun", "optimi", "loss",
];

/// How much of a description is looked at.
const LONGEST_DESCRIPTION: usize = 200;

impl Purpose {
    /// What a bar with this description is for.
    pub fn of(description: &[u8]) -> Purpose {
        if description.is_empty() {
            return Purpose::Undescribed;
        }
        // A log line glued in front makes it longer; the description is at the end.
        let end = &description[description.len().saturating_sub(LONGEST_DESCRIPTION)..];
        let text = String::from_utf8_lossy(end).to_ascii_lowercase();
        let any =
            |starts: &[&str]| words(&text).any(|word| starts.iter().any(|s| word.starts_with(s)));
        if any(&EVALUATION) || words(&text).any(|word| matches!(word, "val" | "dev")) {
            Purpose::Evaluation
        } else if let Some(epoch) = epoch_number(&text) {
            Purpose::Epoch(epoch)
        } else if any(&PREPARATION) {
            Purpose::Preparation
        } else if any(&["epoch"]) {
            Purpose::EpochCounter
        } else if any(&TRAINING) {
            Purpose::Training
        } else {
            Purpose::Unclear
        }
    }
}

/// `epoch 3`, `epoch 3/10`, `epoch [3/10]`, `epoch: 3`, `epoch=3` in lower-case text.
pub(super) fn epoch_number(text: &str) -> Option<EpochNumber> {
    let after_word = text
        .match_indices("epoch")
        .map(|(at, word)| &text[at + word.len()..])
        .find(|after| !after.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))?;
    let digits = after_word.trim_start_matches([' ', '\t', ':', '=', '#', '[', '(']);
    let (number, rest) = number::whole(digits.as_bytes())?;
    let of = rest.trim_ascii_start().strip_prefix(b"/");
    Some(EpochNumber {
        number: Some(number).filter(|number| *number <= LAST_EPOCH)?,
        of: of
            .and_then(|of| number::whole(of.trim_ascii_start()))
            .map(|(of, _)| of)
            .filter(|of| *of <= LAST_EPOCH),
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
        let epoch = |number, of| Purpose::Epoch(EpochNumber { number, of });
        let table = [
            ("", Purpose::Undescribed),
            ("Epoch 0", epoch(0, None)),
            ("Epoch 3/10", epoch(3, Some(10))),
            ("Train epoch [3 / 10]", epoch(3, Some(10))),
            ("Epoch", Purpose::EpochCounter),
            ("Training epochs", Purpose::EpochCounter),
            ("Validation DataLoader 0", Purpose::Evaluation),
            ("Sanity Checking", Purpose::Evaluation),
            ("Val epoch 3", Purpose::Evaluation),
            ("Training", Purpose::Training),
            ("Iteration", Purpose::Training),
            ("loss 0.342", Purpose::Training),
            ("Map (num_proc=4)", Purpose::Preparation),
            ("Generating train split", Purpose::Preparation),
            ("Loading checkpoint shards", Purpose::Preparation),
            ("model-00001-of-00002.safetensors", Purpose::Preparation),
            ("Running tokenizer on dataset", Purpose::Preparation),
            ("epoch 1700000000", Purpose::EpochCounter),
            ("widgets", Purpose::Unclear),
        ];
        for (description, purpose) in table {
            assert_eq!(
                Purpose::of(description.as_bytes()),
                purpose,
                "{description}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(text in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = Purpose::of(&text);
        }
    }
}
