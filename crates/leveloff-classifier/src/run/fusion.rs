//! What the series say together.
//!
//! The run's memory speaks first (`generations` may have held it back). Another series may raise its
//! verdict to a leak, never lower it, and only under conditions that a healthy run does not meet: every further series is a further
//! chance to be wrong. Growth that is known to be of one kind (`held`, `copied`) may be decided
//! earlier than growth of which only the amount is known.

use leveloff_model::training_counters::TrainingCounter;

use super::book::Book;
use super::copied::copied_pages;
use super::held::held_references;
use super::jury::Jury;
use super::track::Track;
use crate::observation::XUnit;
use crate::units::X;
use crate::verdict::{Judgement, Kind, Subject, Verdict};

/// The verdict of the run, and the series it rests on.
#[derive(Debug, Clone)]
pub(super) struct Decision {
    /// The series that decided.
    pub(super) decisive: Subject,
    /// What is said of it.
    pub(super) judgement: Judgement,
    /// What is said of the run's memory, in the light of the tensors.
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

/// Whether it is said to grow, decided or not.
pub(super) fn is_growing(judgement: &Judgement) -> bool {
    matches!(judgement.verdict, Verdict::WarmingUp | Verdict::Leak(_))
}

/// Memory that a role or a process gained must show in the run's memory, at least this much of it,
/// and in its own RSS. A fork shares its pages with its parent: when workers end, their shares go to
/// the trainer, whose own series jumps while the run's and its RSS do not.
const SHOWS: f64 = 0.6;
/// Descriptors that a run may gain without a word: files of a data set that are opened one by one.
const FEW_DESCRIPTORS: f64 = 32.0;
/// Processes that a run may gain without a word.
const FEW_PROCESSES: f64 = 4.0;
/// Counts must also have grown by this share of what they were.
const NOTABLE_GROWTH: f64 = 0.25;

/// Puts the series together.
pub(super) fn decide(book: &Book, jury: &Jury, unit: XUnit, devshm_is_ours: bool) -> Decision {
    let memory = held_references(book, jury, unit).unwrap_or_else(|| jury.memory().clone());
    let own = Decision {
        decisive: Subject::Memory,
        judgement: memory.clone(),
        memory,
    };
    if own.judgement.verdict.grade().is_some() {
        return own;
    }
    let material = own.memory.material.0;
    let leaking = jury.all().iter().skip(1).filter(|(subject, judgement)| {
        judgement.verdict.grade().is_some()
            && may_decide(book, *subject, judgement, material, devshm_is_ours)
    });
    // Of equals the first: the series come in the order of how much they tell.
    let worst = leaking
        .rev()
        .max_by_key(|(_, judgement)| judgement.verdict.grade())
        .cloned()
        .or_else(|| copied_pages(book, jury, unit));
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
    book: &Book,
    subject: Subject,
    judgement: &Judgement,
    material: f64,
    devshm_is_ours: bool,
) -> bool {
    let Some((first, X(last))) = judgement.span else {
        return false;
    };
    let onset = judgement.onset_x.unwrap_or(first).0;
    let in_whole = book.memory.growth_since(onset, last);
    // What is not worth a word in the run's memory is not worth one anywhere.
    let shows_in = |whole: f64, growth: f64| growth >= material && whole >= SHOWS * growth;
    let is_own = |memory: &Track, rss: &Track| {
        let growth = memory.growth_since(onset, last);
        shows_in(in_whole, growth) && rss.growth_since(onset, last) >= SHOWS * growth
    };
    match subject {
        // What CUDA holds may be in nobody's host memory.
        Subject::Memory
        | Subject::Counter(TrainingCounter::CudaReserved | TrainingCounter::Pinned) => true,
        Subject::Role(role) => book
            .roles
            .get(role)
            .is_some_and(|role| is_own(&role.memory, &role.rss)),
        Subject::Process(pid, _) => {
            let track = book.processes.living().find(|track| track.pid == pid);
            track.is_some_and(|track| is_own(&track.memory, &track.rss))
        }
        Subject::RoleKind(role, Kind::Shared) => book.roles.get(role).is_some_and(|role| {
            let all = shared_growth(book, onset, last);
            shows_in(all, role.shared.growth_since(onset, last))
        }),
        // What is swapped out was there before; what is anonymous is judged with its role.
        Subject::RoleKind(..) => false,
        Subject::DevShm => devshm_is_ours && book.devshm.growth_since(onset, last) >= material,
        Subject::Descriptors => {
            let growth = book.descriptors.growth_since(onset, last);
            growth >= FEW_DESCRIPTORS
                && growth >= NOTABLE_GROWTH * (book.descriptors.newest() - growth)
        }
        Subject::Processes => {
            let growth = book.process_count.growth_since(onset, last);
            growth >= FEW_PROCESSES
                && growth >= NOTABLE_GROWTH * (book.process_count.newest() - growth)
        }
        // A cache of the first epoch holds tensors too: they explain growth, and decide nothing.
        Subject::Counter(_) => false,
    }
}

/// Growth of the whole tree's shared memory.
pub(super) fn shared_growth(book: &Book, from: f64, to: f64) -> f64 {
    let roles = book.roles.all();
    roles
        .map(|role| role.shared.growth_from_nothing(from, to))
        .sum()
}
