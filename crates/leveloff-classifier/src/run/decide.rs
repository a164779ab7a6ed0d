//! The verdict of a run, from the judgements of its series.
//!
//! The run's memory comes first (`generations` may have held it back). Another series may raise its
//! verdict to a leak, never lower it, and only under conditions that a healthy run does not meet: every further series is a further
//! chance to be wrong. Growth that is known to be of one kind (`held_references`, `copied_pages`) may be decided
//! earlier than growth of which only the amount is known.

use leveloff_model::training_counters::TrainingCounter;

use super::copied_pages::copied_pages;
use super::held_references::held_references;
use super::run_series::RunSeries;
use super::series_judgements::SeriesJudgements;
use super::track::Track;
use crate::observation::XUnit;
use crate::units::X;
use crate::verdict::{Judgement, Kind, Subject, Verdict};

/// The verdict of the run, and the series it rests on.
#[derive(Debug, Clone)]
pub(super) struct Decision {
    /// The series that decided.
    pub(super) decisive: Subject,
    /// Its judgement.
    pub(super) judgement: Judgement,
    /// The judgement of the run's memory, in the light of the tensors.
    pub(super) memory: Judgement,
}

impl Decision {
    /// Whether the run's memory grows, or that of some part of it. Where only descriptors, processes
    /// or files pile up, memory may have been higher at the end than at the first step all the same.
    pub(super) fn is_growth_of_memory(&self) -> bool {
        let in_part = match self.decisive {
            Subject::Memory | Subject::Role(_) | Subject::RoleKind(..) | Subject::Process(..) => {
                is_growing(&self.judgement)
            }
            Subject::DevShm | Subject::Descriptors | Subject::Processes | Subject::Counter(_) => {
                false
            }
        };
        in_part || is_growing(&self.memory)
    }
}

/// Whether it grows, decided or not.
pub(super) fn is_growing(judgement: &Judgement) -> bool {
    matches!(judgement.verdict, Verdict::WarmingUp | Verdict::Leak(_))
}

/// Memory that a role or a process gained must show in the run's memory, at least this much of it,
/// and in its own RSS. A fork shares its pages with its parent: when workers end, their shares go to
/// the trainer, whose own series jumps while the run's and its RSS do not.
const SHOWS: f64 = 0.6;
/// Descriptors that a run may gain without a finding: files of a data set that are opened one by one.
const FEW_DESCRIPTORS: f64 = 32.0;
/// Processes that a run may gain without a finding.
const FEW_PROCESSES: f64 = 4.0;
/// Counts must also have grown by this share of what they were.
const NOTABLE_GROWTH: f64 = 0.25;

/// Puts the series together.
pub(super) fn decide(
    series: &RunSeries,
    judgements: &SeriesJudgements,
    unit: XUnit,
    devshm_is_ours: bool,
) -> Decision {
    let memory =
        held_references(series, judgements, unit).unwrap_or_else(|| judgements.memory().clone());
    let own = Decision {
        decisive: Subject::Memory,
        judgement: memory.clone(),
        memory,
    };
    if own.judgement.verdict.is_alarm() {
        return own;
    }
    let material = own.memory.material.0;
    let leaking = judgements
        .all()
        .iter()
        .skip(1)
        .filter(|(subject, judgement)| {
            judgement.verdict.is_alarm()
                && may_decide(series, *subject, judgement, material, devshm_is_ours)
        });
    // Of equals the first: the series are in the order of their weight as evidence.
    let worst = leaking
        .rev()
        .max_by_key(|(_, judgement)| judgement.verdict.grade())
        .cloned()
        .or_else(|| copied_pages(series, judgements, unit));
    match worst {
        Some((decisive, judgement)) => Decision {
            decisive,
            judgement,
            memory: own.memory,
        },
        None => own,
    }
}

fn may_decide(
    series: &RunSeries,
    subject: Subject,
    judgement: &Judgement,
    material: f64,
    devshm_is_ours: bool,
) -> bool {
    let Some((first, X(last))) = judgement.span else {
        return false;
    };
    let onset = judgement.onset_x.unwrap_or(first).0;
    let in_whole = series.memory.growth_since(onset, last);
    // What is immaterial for the run's memory is immaterial everywhere.
    let shows_in = |whole: f64, growth: f64| growth >= material && whole >= SHOWS * growth;
    let is_own = |memory: &Track, rss: &Track| {
        let growth = memory.growth_since(onset, last);
        shows_in(in_whole, growth) && rss.growth_since(onset, last) >= SHOWS * growth
    };
    match subject {
        // What CUDA holds may be outside host memory.
        Subject::Memory
        | Subject::Counter(TrainingCounter::CudaReserved | TrainingCounter::Pinned) => true,
        Subject::Role(role) => series
            .roles
            .get(role)
            .is_some_and(|role| is_own(&role.memory, &role.rss)),
        Subject::Process(pid, _) => {
            let track = series.processes.living().find(|track| track.pid == pid);
            track.is_some_and(|track| is_own(&track.memory, &track.rss))
        }
        Subject::RoleKind(role, Kind::Shared) => series.roles.get(role).is_some_and(|role| {
            let all = shared_growth(series, onset, last);
            shows_in(all, role.shared.growth_since(onset, last))
        }),
        // What is swapped out was there before; what is anonymous is judged with its role.
        Subject::RoleKind(..) => false,
        Subject::DevShm => devshm_is_ours && series.devshm.growth_since(onset, last) >= material,
        Subject::Descriptors => {
            let growth = series.descriptors.growth_since(onset, last);
            growth >= FEW_DESCRIPTORS
                && growth >= NOTABLE_GROWTH * (series.descriptors.newest() - growth)
        }
        Subject::Processes => {
            let growth = series.process_count.growth_since(onset, last);
            growth >= FEW_PROCESSES
                && growth >= NOTABLE_GROWTH * (series.process_count.newest() - growth)
        }
        // A cache of the first epoch holds tensors too: they explain growth, and decide nothing.
        Subject::Counter(_) => false,
    }
}

/// Growth of the whole tree's shared memory.
pub(super) fn shared_growth(series: &RunSeries, from: f64, to: f64) -> f64 {
    let roles = series.roles.all();
    roles
        .map(|role| role.shared.growth_from_nothing(from, to))
        .sum()
}
