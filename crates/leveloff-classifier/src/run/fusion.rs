//! What the series say together.
//!
//! The run's memory speaks first. Another series may raise its verdict to a leak, never lower it,
//! and only under conditions that a healthy run does not meet: every further series is a further
//! chance to be wrong.

use super::book::Book;
use super::jury::Jury;
use crate::verdict::{Because, Grade, Judgement, Kind, Shape, Subject, Verdict};

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

/// Memory that a role or a process gained must show in the run's memory, at least this much of it.
/// A fork shares its pages with its parent: when workers end, their shares go to the trainer, whose
/// own series jumps while the run's does not.
const SHOWS_IN_THE_WHOLE: f64 = 0.5;
/// Descriptors that a run may gain without a word: files of a data set that are opened one by one.
const FEW_DESCRIPTORS: f64 = 32.0;
/// Processes that a run may gain without a word.
const FEW_PROCESSES: f64 = 4.0;
/// Counts must also have grown by this share of what they were.
const NOTABLE_GROWTH: f64 = 0.25;
/// Places at which two series are compared.
const COMPARED_AT: u32 = 16;
/// Two series that correlate so well rise together.
const RISE_TOGETHER: f64 = 0.95;
/// Tensors that rise with memory exclude what most healthy growth is: an allocator that fills its
/// pools while the number of tensors stays the same. Caches remain; that triples the odds of a leak.
const HELD_REFERENCES_ODDS: f64 = 3.0;
/// The share of healthy warmups that are still growing when growth alone is called a leak.
const GROWTH_ALONE_DECIDES: f64 = 0.0117;

/// Puts the series together.
pub(super) fn decide(book: &Book, jury: &Jury, devshm_is_ours: bool) -> Decision {
    let memory = in_the_light_of_tensors(book, jury);
    let own = Decision {
        decisive: Subject::Memory,
        judgement: memory.clone(),
        memory,
    };
    if own.judgement.verdict.grade().is_some() {
        return own;
    }
    let leaking = jury.all().iter().skip(1).filter(|(subject, judgement)| {
        judgement.verdict.grade().is_some() && may_decide(book, *subject, judgement, devshm_is_ours)
    });
    // Of equals the first: the series come in the order of how much they tell.
    let worst = leaking
        .rev()
        .max_by_key(|(_, judgement)| judgement.verdict.grade());
    match worst {
        Some((subject, judgement)) => Decision {
            decisive: *subject,
            judgement: judgement.clone(),
            memory: own.memory,
        },
        None => own,
    }
}

/// Whether live tensors rise with memory since `onset`.
pub(super) fn tensors_rise_with_memory(book: &Book, jury: &Jury, onset: f64) -> bool {
    let Some(tensors) = jury.of_subject(Subject::Tensors) else {
        return false;
    };
    let grows = !matches!(tensors.verdict, Verdict::Level | Verdict::Undecided);
    grows && rise_together(book, onset, book.x)
}

fn in_the_light_of_tensors(book: &Book, jury: &Jury) -> Judgement {
    let memory = jury.memory();
    let young = memory.verdict == Verdict::WarmingUp
        && memory.because == Because::YoungGrowth
        && matches!(memory.shape, Shape::Linear | Shape::Staircase);
    let old_enough = memory
        .healthy_share
        .is_some_and(|share| share <= GROWTH_ALONE_DECIDES * HELD_REFERENCES_ODDS);
    let onset = memory.onset_x.unwrap_or(f64::NEG_INFINITY);
    let mut raised = memory.clone();
    if young && old_enough && tensors_rise_with_memory(book, jury, onset) {
        raised.verdict = Verdict::Leak(Grade::Early);
        raised.because = Because::Outlived;
        raised.decided_at_x = Some(book.x);
        raised.decide_by = None;
    }
    raised
}

fn may_decide(book: &Book, subject: Subject, judgement: &Judgement, devshm_is_ours: bool) -> bool {
    let Some((first, last)) = judgement.span else {
        return false;
    };
    let onset = judgement.onset_x.unwrap_or(first);
    let in_whole = book.memory.growth_since(onset, last);
    let shows = |growth: f64| growth > 0.0 && in_whole >= SHOWS_IN_THE_WHOLE * growth;
    match subject {
        Subject::Memory | Subject::Cuda => true,
        Subject::Role(role) => {
            let track = book.roles.get(role);
            track.is_some_and(|role| shows(role.memory.growth_since(onset, last)))
        }
        Subject::Process(pid, _) => {
            let track = book.processes.living().find(|track| track.pid == pid);
            track.is_some_and(|track| shows(track.memory.growth_since(onset, last)))
        }
        Subject::RoleKind(role, Kind::Shared) => {
            let all = shared_growth(book, onset, last);
            let track = book.roles.get(role);
            track.is_some_and(|role| {
                let growth = role.shared.growth_since(onset, last);
                growth > 0.0 && all >= SHOWS_IN_THE_WHOLE * growth
            })
        }
        // What is swapped out was there before; what is anonymous is judged with its role.
        Subject::RoleKind(..) => false,
        Subject::DevShm => devshm_is_ours,
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
        Subject::Tensors => false,
    }
}

/// Growth of the whole tree's shared memory.
pub(super) fn shared_growth(book: &Book, from: f64, to: f64) -> f64 {
    let roles = book.roles.all();
    roles
        .map(|role| role.shared.growth_from_nothing(from, to))
        .sum()
}

/// Pearson's correlation of memory and tensors at evenly spaced places.
fn rise_together(book: &Book, from: f64, to: f64) -> bool {
    let from = from.max(book.tensors.track().began_at().unwrap_or(from));
    let pairs: Vec<(f64, f64)> = (1..=COMPARED_AT)
        .map(|place| {
            let x = from + (to - from) * f64::from(place) / f64::from(COMPARED_AT);
            let memory = book.memory.growth_since(from, x);
            (memory, book.tensors.track().growth_since(from, x))
        })
        .collect();
    correlation(&pairs).is_some_and(|correlation| correlation >= RISE_TOGETHER)
}

fn correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let count = pairs.len() as f64;
    let mean_a = pairs.iter().map(|pair| pair.0).sum::<f64>() / count;
    let mean_b = pairs.iter().map(|pair| pair.1).sum::<f64>() / count;
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (a, b) in pairs {
        ab += (a - mean_a) * (b - mean_b);
        aa += (a - mean_a).powi(2);
        bb += (b - mean_b).powi(2);
    }
    (aa > 0.0 && bb > 0.0).then(|| ab / (aa * bb).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Python's `statistics.correlation([1, 2, 3, 5], [2, 3, 7, 8])`
    #[test]
    fn correlation_is_the_known_one() {
        let pairs = [(1.0, 2.0), (2.0, 3.0), (3.0, 7.0), (5.0, 8.0)];
        let known = 0.928_190_961_784_514_2;
        assert!((correlation(&pairs).unwrap() - known).abs() < 1e-12);
        assert_eq!(correlation(&[(1.0, 2.0), (2.0, 2.0)]), None);
    }
}
