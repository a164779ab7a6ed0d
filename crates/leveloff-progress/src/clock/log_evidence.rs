//! What the lines so far say about the program that printed them.

/// What the log as a whole has shown so far.
#[derive(Debug, Clone, Copy, Default)]
pub struct LogEvidence {
    /// It has lines with metrics of a training.
    pub has_metrics: bool,
    /// It has lines about training.
    pub is_training: bool,
    /// It has lines about inference or evaluation.
    pub is_inference: bool,
    /// It began with an evaluation, and is about nothing else so far.
    pub began_with_evaluation: bool,
    /// It has lines of an epoch's number and nothing else.
    pub has_epochs: bool,
    /// It has lines that name an epoch.
    pub names_epochs: bool,
    /// It has lines about tensors or an accelerator.
    pub names_device: bool,
    /// How many lines it has of names without a meaning to us and their values.
    pub records: u32,
    /// How many lines it has.
    pub lines: u64,
}

/// As many lines of values are no description of the data.
const FEWEST_RECORDS: u32 = 3;

impl LogEvidence {
    /// Whether something in the log is of a training: metrics, a word, or lines of values again and again.
    pub fn has_training(self) -> bool {
        self.is_training || self.has_metrics || self.records >= FEWEST_RECORDS && !self.is_inference
    }

    /// Whether something in the log is of a training, of epochs or of an accelerator. Simulations and agents print steps and times too.
    pub fn may_train(self) -> bool {
        self.has_training() || self.names_epochs || self.names_device
    }

    /// Whether the log is about training, and nothing in it is about inference or evaluation.
    pub fn is_only_training(self) -> bool {
        self.is_training && !self.is_inference
    }

    /// Whether the log is about inference or evaluation, and nothing in it is about training.
    pub fn is_only_inference(self) -> bool {
        self.is_inference && !self.is_training && !self.has_metrics
    }
}
