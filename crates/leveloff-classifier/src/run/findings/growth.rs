//! Why memory grows.

use leveloff_model::training_counters::TrainingCounter;

use super::{Case, Rule, amount};
use crate::finding::{EventGrowth, Finding};
use crate::run::decide::shared_growth;
use crate::verdict::{ClockTick, Kind, Subject};

pub(super) const RULES: &[Rule] = &[at_events, shared_memory, cuda];

/// Shared memory with this share of the growth is named.
const NOTABLE_SHARE: f64 = 0.2;

/// Growth that comes with evaluations, checkpoints or epochs.
fn at_events(case: &Case) -> Option<Finding> {
    let growth = case.memory_growth()?;
    let clock = case.clock?;
    let finding = match clock.tick {
        ClockTick::Evaluation => Finding::EvaluationGrowth,
        ClockTick::Checkpoint => Finding::CheckpointGrowth,
        ClockTick::Epoch => Finding::EpochGrowth,
        ClockTick::Step | ClockTick::Regular => return None,
    };
    Some(finding(EventGrowth {
        each: amount(clock.growth.0),
        events: clock.ticks,
        share: (clock.growth.0 * clock.ticks as f64 / growth).min(1.0),
        since: case.position(case.onset),
    }))
}

/// Shared memory has a notable part of the growth.
fn shared_memory(case: &Case) -> Option<Finding> {
    let shared = shared_growth(case.series, case.onset, case.now);
    let leaks = case.judgements.all().iter().any(|(subject, judgement)| {
        matches!(subject, Subject::RoleKind(_, Kind::Shared)) && judgement.verdict.is_alarm()
    });
    let notable = case
        .memory_growth()
        .is_some_and(|growth| shared >= NOTABLE_SHARE * growth && shared >= case.material());
    (leaks || notable).then(|| Finding::SharedMemoryGrowth(case.growth(shared, case.onset)))
}

/// The CUDA allocator holds more and more.
fn cuda(case: &Case) -> Option<Finding> {
    let reserved = TrainingCounter::CudaReserved;
    let judgement = case.judgements.of_subject(Subject::Counter(reserved))?;
    if !judgement.verdict.is_alarm() {
        return None;
    }
    let since = judgement.onset_x.map_or(case.onset, |onset| onset.0);
    let grown = case
        .series
        .counters
        .track(reserved)
        .growth_since(since, case.now);
    Some(Finding::CudaGrowth(case.growth(grown, since)))
}
