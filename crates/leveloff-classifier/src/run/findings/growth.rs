//! Why memory grows.

use leveloff_model::training_counters::TrainingCounter;

use super::{Case, amount, finding};
use crate::run::fusion::shared_growth;
use crate::verdict::{ClockTick, Finding, Kind, Subject};

/// Shared memory with this share of the growth is named.
const NOTABLE_SHARE: f64 = 0.2;

/// Growth that comes with evaluations, checkpoints or epochs.
pub(super) fn at_events(case: &Case) -> Option<Finding> {
    let growth = case.memory_growth()?;
    let clock = case.clock?;
    let (name, word, next) = match clock.tick {
        ClockTick::Evaluation => ("evaluation-growth", "evaluation", AFTER_EVALUATION),
        ClockTick::Checkpoint => ("checkpoint-growth", "checkpoint", AFTER_CHECKPOINT),
        ClockTick::Epoch => ("epoch-growth", "epoch", AFTER_EPOCH),
        ClockTick::Step | ClockTick::Regular => return None,
    };
    let each = amount(clock.growth);
    let share = (clock.growth * clock.ticks as f64 / growth * 100.0).min(100.0);
    let ticks = clock.ticks;
    let since = case.since();
    let text = format!(
        "{each} stay at each {word}: {share:.0} % of the growth over {ticks} of them {since}"
    );
    Some(finding(name, text, next))
}

const AFTER_EVALUATION: &str = "evaluate under torch.no_grad() and keep numbers, not outputs; in the \
    HF Trainer try prediction_loss_only=True; gc.collect() after an evaluation tells cycles from \
    references that are kept";

const AFTER_CHECKPOINT: &str = "call gc.collect() after each save: torch.save (seen with torch 2.8) \
    leaves cyclic garbage that holds what was saved until a collection runs; if that does not help, \
    look for copies of the state that are kept";

const AFTER_EPOCH: &str = "look for what an epoch creates anew: loaders with \
    persistent_workers=True that are never dropped, metrics and outputs kept over epochs";

/// Shared memory has a notable part of the growth.
pub(super) fn shared_memory(case: &Case) -> Option<Finding> {
    let shared = shared_growth(case.book, case.onset, case.now);
    let leaks = case.jury.all().iter().any(|(subject, judgement)| {
        matches!(subject, Subject::RoleKind(_, Kind::Shared)) && judgement.verdict.grade().is_some()
    });
    let notable = case
        .memory_growth()
        .is_some_and(|growth| shared >= NOTABLE_SHARE * growth && shared >= case.material());
    if !(leaks || notable) {
        return None;
    }
    let (grown, since) = (amount(shared), case.since());
    let text =
        format!("shared memory grew by {grown} {since}: batches from loader workers that are kept");
    let next = "copy what is kept (batch.clone()) so that the worker's segment is freed, or keep numbers; \
                `ls -l /proc/PID/fd | grep torch_` shows the segments that are held";
    Some(finding("shared-memory-growth", text, next))
}

/// The CUDA allocator holds more and more.
pub(super) fn cuda(case: &Case) -> Option<Finding> {
    let judgement = case
        .jury
        .of_subject(Subject::Counter(TrainingCounter::CudaReserved))?;
    judgement.verdict.grade()?;
    let since = judgement.onset_x.unwrap_or(case.onset);
    let grown = amount(
        case.book
            .counters
            .track(TrainingCounter::CudaReserved)
            .growth_since(since, case.now),
    );
    let place = case.place(since);
    let text = format!("GPU memory held by the CUDA allocator grew by {grown} since {place}");
    let next = "torch.cuda.memory._record_memory_history() and _dump_snapshot() (torch 2.1 and later) \
                show who allocated it";
    Some(finding("cuda-growth", text, next))
}
