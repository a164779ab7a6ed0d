//! Lines that are a dictionary of metrics: what Hugging Face's Trainer prints, and JSON logs.

use crate::number;

/// The known values of such a line.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Metrics {
    /// `step` or `global_step`.
    pub step: Option<u64>,
    /// `epoch`.
    pub epoch: Option<f64>,
    /// It has a training loss.
    pub has_loss: bool,
    /// It has a metric of an evaluation, printed at the end of the evaluation.
    pub is_evaluation: bool,
    /// It has `train_runtime`, which the Trainer prints at its end.
    pub is_end: bool,
}

/// Reads `{'loss': '6.032', 'epoch': '0.25'}` anywhere in a line; `None` when no key is known.
///
/// Values are numbers in transformers 4 and strings in transformers 5. There is no step in them.
pub fn parse(line: &[u8]) -> Option<Metrics> {
    let start = memchr::memchr(b'{', line)?;
    let mut metrics = Metrics::default();
    let mut rest = &line[start + 1..];
    while let Some((key, after)) = quoted(rest) {
        rest = after;
        let Some(value) = after.trim_ascii_start().strip_prefix(b":") else {
            continue;
        };
        metrics.take(key, value.trim_ascii_start());
    }
    (metrics != Metrics::default()).then_some(metrics)
}

impl Metrics {
    fn take(&mut self, key: &[u8], value: &[u8]) {
        let bare = value
            .strip_prefix(b"'")
            .or(value.strip_prefix(b"\""))
            .unwrap_or(value);
        match key {
            b"step" | b"global_step" => self.step = number::whole(bare).map(|(step, _)| step),
            b"epoch" => self.epoch = number::decimal(bare).map(|(epoch, _)| epoch),
            b"loss" | b"train_loss" => self.has_loss = true,
            b"train_runtime" => self.is_end = true,
            _ => self.is_evaluation |= key.starts_with(b"eval_"),
        }
    }
}

/// The next quoted word and what follows it.
fn quoted(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let open = memchr::memchr2(b'\'', b'"', text)?;
    let inside = &text[open + 1..];
    let close = memchr::memchr(text[open], inside)?;
    Some((&inside[..close], &inside[close + 1..]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_versions_of_the_trainer_are_read() {
        for line in [
            &b"{'loss': 6.0319, 'grad_norm': 1.1145344972610474, 'epoch': 0.25}"[..],
            b"{'loss': '6.032', 'grad_norm': '1.148', 'epoch': '0.25'}",
        ] {
            let metrics = parse(line).unwrap();
            assert_eq!(metrics.epoch, Some(0.25));
            assert_eq!(metrics.step, None);
            assert!(metrics.has_loss && !metrics.is_evaluation && !metrics.is_end);
        }
    }

    #[test]
    fn evaluations_and_the_end_are_seen() {
        let evaluation = parse(b"{'eval_loss': '6.036', 'eval_runtime': '0.29', 'epoch': '0.5'}");
        assert!(evaluation.unwrap().is_evaluation);
        let end = parse(b"{'train_runtime': 1.6, 'train_loss': 6.03, 'epoch': 1.0}").unwrap();
        assert!(end.is_end && end.epoch == Some(1.0));
    }

    #[test]
    fn json_logs_may_have_a_step() {
        let metrics = parse(br#"INFO {"step": 1200, "loss": 2.5, "epoch": 3e0}"#).unwrap();
        assert_eq!((metrics.step, metrics.epoch), (Some(1200), Some(3.0)));
    }

    #[test]
    fn other_dictionaries_are_nothing() {
        for line in [
            &b"{'step'"[..],
            b"{'hidden_size': 64}",
            b"{}",
            b"{'a': {'b': 1}}",
            b"x",
        ] {
            assert_eq!(parse(line), None);
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[{}'\":, 0-9.a-e_\\-lostep]{0,80}") {
            let _ = parse(text.as_bytes());
        }
    }
}
