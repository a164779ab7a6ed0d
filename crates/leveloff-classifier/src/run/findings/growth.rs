//! Why memory grows.

use leveloff_model::inside::InsideFact;

use super::{Case, amount, finding};
use crate::run::fusion::shared_growth;
use crate::run::held::tensors_rise_with_memory;
use crate::run::track::Track;
use crate::verdict::{ClockTick, Finding, Kind, Subject, Verdict};

/// Tensors whose number moves less than this share are level.
const TENSORS_LEVEL: f64 = 0.02;
/// Tensors whose number swings by more than this share come and go.
const TENSORS_COME_AND_GO: f64 = 0.2;
/// Fewer counts than this say nothing about a trend.
const LEAST_COUNTS: u64 = 3;
/// The trainer must have at least this share of the growth for its tensors to explain it.
const MOSTLY_THE_TRAINER: f64 = 0.5;
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

/// Tensors rise with memory.
pub(super) fn held_references(case: &Case) -> Option<Finding> {
    let growth = case.memory_growth()?;
    if !tensors_rise_with_memory(case.book, case.jury, case.onset) {
        return None;
    }
    let tensors = case.book.inside.tensors();
    let more = tensors.growth_since(case.onset, case.now);
    let each = more / (case.now - case.onset).max(1.0);
    let (unit, since) = (case.unit.name(), case.since());
    let grown = amount(growth);
    let text = format!(
        "live tensors rise with memory: {more:+.0} ({each:+.2} per {unit}) while memory grew by \
         {grown} {since}, so references are kept"
    );
    let next = "look for losses or outputs that are appended or summed without .detach() or .item(), \
                and for caches without a bound; a cache that is meant to fill ends with the first epoch";
    Some(finding("held-references", text, next))
}

/// Tensors are level while memory grows.
pub(super) fn native(case: &Case) -> Option<Finding> {
    let growth = growth_without_tensors(case)?;
    let tensors = case.book.inside.tensors();
    if relative_swing(tensors) > TENSORS_COME_AND_GO {
        return None;
    }
    let (count, grown, since) = (tensors.newest(), amount(growth), case.since());
    let text = format!(
        "tensors stay at {count:.0} while memory grew by {grown} {since}: no Python reference to a \
         tensor piles up; native code keeps it, or the allocator does not return it"
    );
    let next = "run once with MALLOC_MMAP_THRESHOLD_=65536 (glibc): if growth stops, it was holes in \
                the heap, and MALLOC_ARENA_MAX=2, jemalloc or a malloc_trim(0) now and then cure it; if \
                not, `memray run --native` names the allocating code, but sees no malloc that is \
                reached through dlsym";
    Some(finding("native-growth", text, next))
}

/// Tensors come and go, and leave holes behind.
pub(super) fn allocator_retention(case: &Case) -> Option<Finding> {
    let growth = growth_without_tensors(case)?;
    let tensors = case.book.inside.tensors();
    if relative_swing(tensors) <= TENSORS_COME_AND_GO {
        return None;
    }
    let (count, swing) = (tensors.newest(), tensors.swing());
    let (grown, since) = (amount(growth), case.since());
    let text = format!(
        "tensors come and go ({count:.0} now, over a range of {swing:.0}) without piling up while memory \
         grew by {grown} {since}: memory that is freed and not returned"
    );
    let next = "try MALLOC_MMAP_THRESHOLD_=65536 or jemalloc; gc.collect() every few hundred steps \
                keeps reference cycles from holding batches";
    Some(finding("allocator-retention", text, next))
}

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
        .of_subject(Subject::Inside(InsideFact::CudaReserved))?;
    judgement.verdict.grade()?;
    let since = judgement.onset_x.unwrap_or(case.onset);
    let grown = amount(
        case.book
            .inside
            .track(InsideFact::CudaReserved)
            .growth_since(since, case.now),
    );
    let place = case.place(since);
    let text = format!("GPU memory held by the CUDA allocator grew by {grown} since {place}");
    let next = "torch.cuda.memory._record_memory_history() and _dump_snapshot() (torch 2.1 and later) \
                show who allocated it";
    Some(finding("cuda-growth", text, next))
}

/// Growth of the trainer's memory that its tensors do not share.
fn growth_without_tensors(case: &Case) -> Option<f64> {
    let growth = case.memory_growth()?;
    let tensors = case.book.inside.tensors();
    let known = tensors.points() >= LEAST_COUNTS;
    let rises = tensors_rise_with_memory(case.book, case.jury, case.onset)
        || case
            .jury
            .of_subject(Subject::Inside(InsideFact::Tensors))
            .is_some_and(|tensors| matches!(tensors.verdict, Verdict::Leak(_)));
    let more = tensors.growth_since(case.onset, case.now);
    let piles_up = more > TENSORS_LEVEL * tensors.newest() && more > 0.5 * tensors.swing();
    let in_trainer = case.trainer_growth() >= MOSTLY_THE_TRAINER * growth;
    (known && !rises && !piles_up && in_trainer).then_some(growth)
}

fn relative_swing(tensors: &Track) -> f64 {
    tensors.swing() / tensors.newest().max(1.0)
}
