//! Looks for evidence that a training wrote a line.

use super::words::Words;
use crate::number::whole;

/// Characters between a name and its number.
pub const SEPARATORS: [char; 9] = [' ', '\t', ':', '=', '#', '[', '(', '"', '\''];

/// The evidence in a lower-case line that its steps are training steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evidence {
    /// It has an epoch.
    pub has_epoch: bool,
    /// It reports a saved checkpoint.
    pub is_checkpoint: bool,
    /// It has a metric: `loss 2.3`, `6529 tensors`.
    pub measures: bool,
}

impl Evidence {
    /// Searches a line.
    pub fn in_line(text: &str, has_epoch: bool) -> Evidence {
        Evidence {
            has_epoch,
            is_checkpoint: is_checkpoint(text),
            measures: measures(text),
        }
    }

    /// Whether there is any evidence.
    pub fn is_any(&self) -> bool {
        self.has_epoch || self.is_checkpoint || self.measures
    }
}

/// `6,529 tensors`
pub fn tensors(text: &str) -> Option<u64> {
    let before = Words::of(text)
        .find(|word| word.text == "tensors" && number_precedes(word.before))?
        .before
        .trim_end();
    let number_start = before
        .trim_end_matches(|c: char| c.is_ascii_digit() || c == ',')
        .len();
    let number = before[number_start..].trim_start_matches(',');
    whole(number.as_bytes()).map(|(tensors, _)| tensors)
}

/// Names of metrics that trainings print.
#[rustfmt::skip]
const METRICS: [&str; 36] = [
    "lr", "acc", "accuracy", "grad", "gnorm", "norm", "grad_norm", "ppl", "perplexity", "time",
    "dt", "elapsed", "eta", "reward", "mfu", "tokens", "tok", "tensors", "ram", "mem", "memory",
    "rss", "gpu", "vram", "cuda", "throughput", "speed", "learning_rate", "score", "kl",
    "entropy", "samples", "mse", "mae", "nll", "ce",
];

/// Whether a metric with its number is in the line.
fn measures(text: &str) -> bool {
    Words::of(text).any(|word| {
        let is_metric = word.text.contains("loss") || METRICS.contains(&word.text);
        is_metric && (number_follows(word.after) || number_precedes(word.before))
    })
}

fn number_follows(after: &str) -> bool {
    let value = after.trim_start_matches(SEPARATORS);
    let is_number = value.starts_with(|c: char| c.is_ascii_digit() || c == '-')
        || value.starts_with("nan")
        || value.starts_with("inf");
    is_number && after.len() - value.len() <= 4
}

/// `6529 tensors`, `1200 tok/s`.
fn number_precedes(before: &str) -> bool {
    before.ends_with(' ') && before.trim_end().ends_with(|c: char| c.is_ascii_digit())
}

fn is_checkpoint(text: &str) -> bool {
    text.contains("saving") && text.contains("checkpoint")
        || text.contains("checkpoint saved")
        || text.contains("saved checkpoint")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_are_counted_whatever_stands_in_front() {
        assert_eq!(tensors("step 10: 6,529 tensors"), Some(6529));
        assert_eq!(tensors("é6529 tensors"), Some(6529));
        assert_eq!(tensors("no tensors"), None);
    }

    #[test]
    fn a_metric_needs_its_number() {
        assert!(measures("loss: 2.5") && measures("train_loss=nan") && measures("12 tok/s"));
        assert!(!measures("the loss is computed in 3 ways") && !measures("memory map"));
    }
}
