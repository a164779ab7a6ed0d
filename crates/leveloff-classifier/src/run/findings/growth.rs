//! Why memory grows.

use leveloff_model::process::Role;
use leveloff_model::training_counters::TrainingCounter;

use super::{Case, Rule, amount};
use crate::finding::{EventGrowth, Finding, SharedKind};
use crate::run::decide::shared_growth;
use crate::run::track::Track;
use crate::verdict::{ClockTick, Kind, Subject};

pub(super) const RULES: &[Rule] = &[shared_memory, cuda];

/// Shared memory with this share of the growth is named.
const NOTABLE_SHARE: f64 = 0.2;

/// Growth that comes with evaluations, checkpoints or epochs; one finding for each of those that coincide.
pub(super) fn at_events(case: &Case) -> Vec<Finding> {
    let Some((growth, clock)) = case.memory_growth().zip(case.clock) else {
        return Vec::new();
    };
    let together: Vec<ClockTick> = [clock.tick]
        .iter()
        .chain(&clock.coincident)
        .copied()
        .collect();
    let of_kind = |tick: &ClockTick| {
        let growth = EventGrowth {
            coincident: together
                .iter()
                .copied()
                .filter(|other| other != tick)
                .collect(),
            each: amount(clock.growth.0),
            events: clock.ticks,
            share: (clock.growth.0 * clock.ticks as f64 / growth).min(1.0),
            since: case.position(case.onset),
        };
        match tick {
            ClockTick::Evaluation => Some(Finding::EvaluationGrowth(growth)),
            ClockTick::Checkpoint => Some(Finding::CheckpointGrowth(growth)),
            ClockTick::Epoch => Some(Finding::EpochGrowth(growth)),
            _ => None,
        }
    };
    together.iter().filter_map(of_kind).collect()
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
    (leaks || notable).then(|| Finding::SharedMemoryGrowth {
        growth: case.growth(shared, case.onset),
        kind: shared_kind(case, shared),
    })
}

/// Mappings of one kind with this share of the growth are what grows.
const MOSTLY_OF_ONE_KIND: f64 = 0.5;

/// What the shared memory is. Only where loader workers live can it be their batches.
fn shared_kind(case: &Case, shared: f64) -> SharedKind {
    let has_loaders = case.series.roles.get(Role::DataloaderWorker).is_some();
    let pinned = case.series.counters.track(TrainingCounter::Pinned);
    let grown = |track: &Track| track.growth_since(case.onset, case.now);
    let [files, anonymous, device] = case.series.shared_mappings.each_ref().map(grown);
    let [torch, plasma, memfd] = case.series.shared_names.each_ref().map(grown);
    let are_named = case.series.shared_names[0].points() > 0;
    let is_mostly = |amount: f64| amount > 0.0 && amount >= MOSTLY_OF_ONE_KIND * shared;
    match () {
        () if is_mostly(device) || is_mostly(grown(pinned)) => SharedKind::Pinned,
        () if is_mostly(memfd) => SharedKind::Memfd,
        () if is_mostly(anonymous) => SharedKind::Anonymous,
        () if is_mostly(plasma) => SharedKind::Plasma,
        () if is_mostly(files) && are_named && !is_mostly(torch) => SharedKind::Files,
        () if has_loaders => SharedKind::LoaderBatches,
        () if is_mostly(files) => SharedKind::Files,
        () => SharedKind::Unknown,
    }
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
