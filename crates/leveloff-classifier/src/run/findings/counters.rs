//! Why memory grows, by what the training counts inside: its tensors, malloc's statistics, Python's blocks.

use leveloff_model::training_counters::TrainingCounter;
use leveloff_model::units::Bytes;

use super::counted_growth::{Counts, EXPLAINS, Grown, on_host};
use super::piling_up::{may_be_compilations, new_shapes, piles_up};
use super::{Case, Rule, amount, count};
use crate::finding::{Finding, NativeEvidence, Retention, TensorGrowth};
use crate::run::decide::shared_growth;
use crate::run::held_references::tensors_rise_with_memory;
use crate::verdict::{Subject, Verdict};

pub(super) const RULES: &[Rule] = &[cause, pinned];

/// A count that moves less than this share is level.
const LEVEL: f64 = 0.02;
/// Tensors whose number swings by more than this share come and go.
const TENSORS_VARY: f64 = 0.2;
/// The process that counts must have at least this share of the growth for its counts to explain it.
const MOSTLY_THE_COUNTING_PROCESS: f64 = 0.5;
/// Something that grew by more than this share of the growth is not what grew.
const EXPLAINS_TWICE: f64 = 1.5;
/// What malloc has in use and has kept is less than this share: the growth is not malloc's.
const NOT_MALLOCS: f64 = 0.3;
/// The largest block that Python's own allocator gives out; anything larger is malloc's.
const LARGEST_BLOCK: f64 = 512.0;

/// What holds the growing memory.
fn cause(case: &Case) -> Option<Finding> {
    growing_cause(case).or_else(|| {
        trimmed(case)
            .map(|trimmed| Retention::Trimmed { trimmed })
            .map(Finding::AllocatorRetention)
    })
}

fn growing_cause(case: &Case) -> Option<Finding> {
    let growth = case.memory_growth()?;
    if case.counting_process_growth(case.onset, case.now) < MOSTLY_THE_COUNTING_PROCESS * growth {
        return None;
    }
    let counts = Counts::of(case);
    let held = || {
        more_tensors(case, &counts)
            .or_else(|| larger_tensors(case, &counts))
            .or_else(|| tensors_of_two_counts(case, &counts))
    };
    // Both may rise at every step. Then the bytes in tensors decide.
    let found = match counts.tensors_are_small(case) {
        true => piles_up(case, &counts).or_else(held),
        false => held().or_else(|| piles_up(case, &counts)),
    };
    if found.is_some() || is_mostly_shared(case, growth) || may_be_compilations(case) {
        return found;
    }
    by_malloc(case, &counts).or_else(|| by_tensors_alone(case, &counts))
}

/// Shared memory has a finding of its own. malloc's counters and Python's say nothing of it.
fn is_mostly_shared(case: &Case, growth: f64) -> bool {
    shared_growth(case.series, case.onset, case.now) >= EXPLAINS * growth
}

/// Page-locked host memory has much of the growth, or grows on its own.
fn pinned(case: &Case) -> Option<Finding> {
    let track = case.series.counters.track(TrainingCounter::Pinned);
    let judgement = case
        .judgements
        .of_subject(Subject::Counter(TrainingCounter::Pinned));
    let leaks = judgement.filter(|judgement| judgement.verdict.is_alarm());
    let onset = leaks
        .and_then(|leak| leak.onset_x)
        .map_or(case.onset, |onset| onset.0);
    let grown = track.growth_since(onset, case.now);
    let is_notable = case
        .memory_growth()
        .is_some_and(|growth| grown >= case.material() && grown >= EXPLAINS * growth);
    (leaks.is_some() || is_notable).then(|| Finding::PinnedPool {
        growth: case.growth(grown, onset),
        now: amount(track.newest()),
    })
}

fn held_references(case: &Case, tensors: TensorGrowth, grown: &Grown) -> Finding {
    Finding::HeldReferences {
        tensors,
        memory: grown.memory(case),
        grown: case.series.counters.grown().to_vec(),
    }
}

/// Tensors rise with memory.
fn more_tensors(case: &Case, counts: &Counts) -> Option<Finding> {
    let tensors = counts.tensors?;
    let growth = TensorGrowth::Number {
        more: tensors.by.round() as i64,
        more_per_x: tensors.per_x(),
    };
    tensors_rise_with_memory(case.series, case.judgements, case.onset)
        .then(|| held_references(case, growth, &tensors))
}

/// More bytes in tensors, whether or not there are more tensors.
fn larger_tensors(case: &Case, counts: &Counts) -> Option<Finding> {
    let bytes = counts.tensor_bytes?;
    let explains = bytes.share() >= EXPLAINS;
    let growth = TensorGrowth::Size {
        more: amount(bytes.by),
        tensors: count(case.series.counters.tensors().newest()),
    };
    (explains && bytes.rises_with_memory(case, TrainingCounter::TensorBytes))
        .then(|| held_references(case, growth, &bytes))
}

/// Tensors that were counted only twice: no trend, but bytes that became more by about as much as memory did.
fn tensors_of_two_counts(case: &Case, counts: &Counts) -> Option<Finding> {
    let counters = &case.series.counters;
    let (values, seen) = counters.seen(TrainingCounter::TensorBytes)?;
    if counts.tensor_bytes.is_some() || values < 2 {
        return None;
    }
    let track = counters.track(TrainingCounter::TensorBytes);
    let bytes = on_host(case, Grown::of_track(case, track, seen)?);
    let growth = TensorGrowth::Size {
        more: amount(bytes.by),
        tensors: count(counters.tensors().newest()),
    };
    (EXPLAINS..=EXPLAINS_TWICE)
        .contains(&bytes.share())
        .then(|| held_references(case, growth, &bytes))
}

/// What malloc and Python's own allocator show of growth that is not in tensors.
fn by_malloc(case: &Case, counts: &Counts) -> Option<Finding> {
    let (used, kept) = counts.malloc_used.zip(counts.malloc_kept)?;
    if tensors_pile_up(case, counts) {
        return None;
    }
    let python = python_objects(case, counts).filter(|_| used.share() < EXPLAINS);
    if python.is_some() {
        return python;
    }
    let is_in_malloc = used.share() + kept.share() >= NOT_MALLOCS;
    if is_in_malloc && used.share() < kept.share() {
        return Some(malloc_retention(case, &used, &kept));
    }
    let evidence = match is_in_malloc {
        true => malloc_in_use(case, counts, &used),
        false => NativeEvidence::OutsideMalloc {
            tensors: level_tensors(case, counts),
        },
    };
    Some(Finding::NativeGrowth {
        evidence,
        memory: used.memory(case),
        new_shapes: new_shapes(case),
    })
}

fn malloc_in_use(case: &Case, counts: &Counts, used: &Grown) -> NativeEvidence {
    let rising = counts
        .python_blocks
        .filter(|blocks| blocks.rises_with_memory(case, TrainingCounter::PythonBlocks));
    NativeEvidence::MallocInUse {
        more: amount(used.by),
        tensors: level_tensors(case, counts),
        python_blocks: rising.map(|blocks| blocks.by.round() as i64),
    }
}

fn malloc_retention(case: &Case, used: &Grown, kept: &Grown) -> Finding {
    let in_use = case
        .series
        .counters
        .track(TrainingCounter::MallocUsed)
        .newest();
    let rose = used.by >= LEVEL * in_use;
    Finding::AllocatorRetention(Retention::MallocFree {
        in_use: amount(in_use),
        in_use_rose: rose.then(|| amount(used.by)),
        kept: amount(kept.by),
        memory: kept.memory(case),
        trimmed: trimmed(case),
    })
}

/// Python objects that are no tensors pile up.
fn python_objects(case: &Case, counts: &Counts) -> Option<Finding> {
    let blocks = counts.python_blocks?;
    // Whether so much can be in Python's blocks at all.
    let is_enough = blocks.by * LARGEST_BLOCK >= EXPLAINS * blocks.memory;
    (is_enough && blocks.rises_with_memory(case, TrainingCounter::PythonBlocks)).then(|| {
        Finding::PythonObjects {
            more: blocks.by.round() as i64,
            more_per_x: blocks.per_x(),
            memory: blocks.memory(case),
        }
    })
}

/// Where the training counts its tensors and nothing of malloc.
fn by_tensors_alone(case: &Case, counts: &Counts) -> Option<Finding> {
    let counted = counts.tensors?;
    if counts.malloc_used.is_some() || tensors_pile_up(case, counts) {
        return None;
    }
    if let Some(found) = python_objects(case, counts) {
        return Some(found);
    }
    let track = case.series.counters.tensors();
    let (tensors, memory) = (count(track.newest()), counted.memory(case));
    let varies = track.swing() > TENSORS_VARY * track.newest().max(1.0);
    Some(match varies {
        true => Finding::AllocatorRetention(Retention::VaryingTensors {
            tensors,
            range: count(track.swing()),
            memory,
        }),
        false => Finding::NativeGrowth {
            evidence: NativeEvidence::LevelTensors { tensors },
            memory,
            new_shapes: new_shapes(case),
        },
    })
}

/// Live tensors that do not rise, where they are counted.
fn level_tensors(case: &Case, counts: &Counts) -> Option<u64> {
    let tensors = || count(case.series.counters.tensors().newest());
    counts.tensors.is_some().then(tensors)
}

/// Tensors become more, though not enough to explain the growth.
fn tensors_pile_up(case: &Case, counts: &Counts) -> bool {
    let tensors = case.series.counters.tensors();
    let more = match counts.tensors {
        Some(tensors) => tensors.by,
        // Counted too seldom for a trend, but there are more of them than at first.
        None => tensors.newest() - tensors.first(),
    };
    let leak = case
        .judgements
        .of_subject(Subject::Counter(TrainingCounter::Tensors))
        .is_some_and(|tensors| matches!(tensors.verdict, Verdict::Leak(_)));
    leak || (more > LEVEL * tensors.newest() && more > 0.5 * tensors.swing())
}

/// What a `malloc_trim` returned, if that is much.
fn trimmed(case: &Case) -> Option<Bytes> {
    let back = case
        .series
        .counters
        .track(TrainingCounter::Trimmed)
        .newest();
    (back > 0.0 && back >= case.material()).then(|| amount(back))
}
