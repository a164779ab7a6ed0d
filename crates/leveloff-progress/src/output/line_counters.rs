//! What a line counts beside its step.

use std::sync::LazyLock;

use leveloff_model::progress::StepUnit;
use leveloff_model::training_counters::TrainingCounter;
use memchr::memmem::Finder;

use crate::number;

/// The counter that keeps a count beside the step.
pub(super) fn counter_beside_step(unit: StepUnit) -> Option<TrainingCounter> {
    match unit {
        StepUnit::Samples => Some(TrainingCounter::Samples),
        StepUnit::Tokens => Some(TrainingCounter::Tokens),
        StepUnit::Episodes => Some(TrainingCounter::Episodes),
        StepUnit::Steps | StepUnit::Timesteps | StepUnit::Epochs => None,
    }
}

/// `6,529 tensors`
pub(super) fn tensors(line: &[u8]) -> Option<u64> {
    static TENSORS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(" tensors"));
    let at = TENSORS.find(line)?;
    let is_digit = |b: &&u8| b.is_ascii_digit() || **b == b',';
    let length = line[..at].iter().rev().take_while(is_digit).count();
    let (n, _) = number::whole(&line[at - length..])?;
    Some(n)
}
