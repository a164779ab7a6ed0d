//! Counters in a line with a memory value: `Step 10:`, `batch=3`, `Epoch 4/10`.

use leveloff_classifier::observation::XUnit;

use super::token::{Token, Tokens};

/// A word that counts, the best last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Counter {
    /// `epoch`
    Epoch,
    /// `iter`, `iteration`
    Iteration,
    /// `batch`
    Batch,
    /// `step`, `global_step`
    Step,
}

/// What a line counts.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Counts {
    values: [Option<f64>; 4],
    /// `6529 tensors`
    pub tensors: Option<u64>,
}

impl Counter {
    /// All of them, the best first.
    pub const BEST_FIRST: [Counter; 4] = [
        Counter::Step,
        Counter::Batch,
        Counter::Iteration,
        Counter::Epoch,
    ];

    /// What it counts.
    pub fn unit(self) -> XUnit {
        match self {
            Counter::Epoch => XUnit::Epoch,
            Counter::Iteration => XUnit::Iteration,
            Counter::Batch | Counter::Step => XUnit::Step,
        }
    }

    /// The counter that a word is.
    pub fn of_word(word: &[u8]) -> Option<Counter> {
        let is = |known: &[&str]| {
            known
                .iter()
                .any(|k| word.eq_ignore_ascii_case(k.as_bytes()))
        };
        if is(&["step", "steps", "global_step"]) {
            Some(Counter::Step)
        } else if is(&["batch", "batches"]) {
            Some(Counter::Batch)
        } else if is(&["iter", "iters", "iteration", "iterations"]) {
            Some(Counter::Iteration)
        } else if is(&["epoch", "epochs"]) {
            Some(Counter::Epoch)
        } else {
            None
        }
    }
}

impl Counts {
    /// Of a line.
    pub fn of(line: &[u8]) -> Counts {
        let mut counts = Counts::default();
        let mut waiting = None;
        let mut last_number = None;
        let mut is_behind_slash = false;
        for token in Tokens::of(line) {
            match token {
                Token::Word(word) => {
                    if word.eq_ignore_ascii_case(b"tensors") {
                        counts.tensors = last_number.filter(|n| *n < 1e15).map(|n: f64| n as u64);
                    }
                    // In `160 MB/step` nothing is counted.
                    waiting = Counter::of_word(word).filter(|_| !is_behind_slash);
                    last_number = None;
                }
                Token::Number(value) => {
                    if let Some(counter) = waiting.take() {
                        counts.values[counter as usize].get_or_insert(value);
                    }
                    last_number = Some(value);
                }
                Token::Sign(sign) => {
                    if !b":=#[('\" ".contains(&sign) {
                        waiting = None;
                    }
                }
            }
            is_behind_slash = token == Token::Sign(b'/');
        }
        counts
    }

    /// Whether there is a counter in it.
    pub fn is_any(&self) -> bool {
        self.values.iter().any(Option::is_some)
    }

    /// What one counter says.
    pub fn get(&self, counter: Counter) -> Option<f64> {
        self.values[counter as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_words_with_a_number_behind() {
        let counts = Counts::of(b"Epoch 2/10 | Step 30: 6,529 tensors, +5 MB/step 7");
        assert_eq!(counts.get(Counter::Epoch), Some(2.0));
        assert_eq!(counts.get(Counter::Step), Some(30.0));
        assert_eq!(counts.get(Counter::Batch), None);
        assert_eq!(counts.tensors, Some(6529));
        assert_eq!(Counts::of(b"batch=3").get(Counter::Batch), Some(3.0));
        assert_eq!(Counts::of(b"{\"step\": 10}").get(Counter::Step), Some(10.0));
        assert_eq!(Counts::of(b"a step, 5 MB"), Counts::default());
    }
}
