//! Growth of what the training counts inside, beside the memory of the process that counts.

use leveloff_model::training_counters::TrainingCounter;

use super::Case;
use crate::finding::Growth;
use crate::run::counter_tracks::Stretch;
use crate::run::held_references::rises_with_memory;
use crate::run::track::Track;
use crate::units::AmountPerX;

/// Something with this share of the growth explains it.
pub(super) const EXPLAINS: f64 = 0.5;
/// Something with a smaller share leaves no doubt that most of the growth is something else.
const LITTLE: f64 = 0.25;
/// Counts must cover at least this part of the growth to say anything about it.
const COVERS: f64 = 0.5;

/// Growth of what the training counts inside.
pub(super) struct Counts {
    pub(super) tensors: Option<Grown>,
    /// Without those on devices.
    pub(super) tensor_bytes: Option<Grown>,
    pub(super) malloc_used: Option<Grown>,
    pub(super) malloc_kept: Option<Grown>,
    pub(super) python_blocks: Option<Grown>,
}

/// What grew while it was counted, beside the memory of the process that counted.
#[derive(Clone, Copy)]
pub(super) struct Grown {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) by: f64,
    pub(super) memory: f64,
}

impl Counts {
    pub(super) fn of(case: &Case) -> Counts {
        let grown = |fact| Grown::of(case, fact);
        Counts {
            tensors: grown(TrainingCounter::Tensors),
            tensor_bytes: grown(TrainingCounter::TensorBytes).map(|bytes| on_host(case, bytes)),
            malloc_used: grown(TrainingCounter::MallocUsed),
            malloc_kept: grown(TrainingCounter::MallocFree),
            python_blocks: grown(TrainingCounter::PythonBlocks),
        }
    }

    /// Whether the bytes in tensors are known, and too few to explain the growth.
    pub(super) fn tensors_are_small(&self, case: &Case) -> bool {
        self.tensors_hold(case)
            .is_some_and(|share| share < EXPLAINS)
    }

    /// Whether the bytes in tensors are known, and so few that something else must hold most of the growth.
    pub(super) fn tensors_hold_little(&self, case: &Case) -> bool {
        self.tensors_hold(case).is_some_and(|share| share < LITTLE)
    }

    /// The share of the growth that is in tensors. Level bytes are the same number again and again, so there it counts how
    /// often tensors were counted.
    fn tensors_hold(&self, case: &Case) -> Option<f64> {
        let track = case.series.counters.track(TrainingCounter::TensorBytes);
        match (self.tensor_bytes, self.tensors) {
            (Some(bytes), _) => Some(bytes.share()),
            (None, Some(tensors)) if track.points() > 0 => {
                let grown = track.growth_since(tensors.from, tensors.to);
                Some(grown / tensors.memory.max(1.0))
            }
            _ => None,
        }
    }
}

/// Without tensors on devices.
pub(super) fn on_host(case: &Case, bytes: Grown) -> Grown {
    let fact = TrainingCounter::DeviceTensorBytes;
    let devices = case.series.counters.track(fact);
    Grown {
        by: bytes.by - devices.growth_since(bytes.from, bytes.to),
        ..bytes
    }
}

impl Grown {
    /// Since the onset, as far as it was counted; `None` if that is not far enough.
    pub(super) fn of(case: &Case, fact: TrainingCounter) -> Option<Grown> {
        let counted = case.series.counters.counted(fact)?;
        Grown::of_track(case, case.series.counters.track(fact), counted)
    }

    /// The same for a count that is not a counter.
    pub(super) fn of_track(case: &Case, track: &Track, counted: Stretch) -> Option<Grown> {
        let (from, to) = (counted.from.max(case.onset), counted.to.min(case.now));
        let covers = to - from >= COVERS * (case.now - case.onset);
        covers.then(|| Grown {
            from,
            to,
            by: Grown::between(track, counted, from, to),
            memory: case.counting_process_growth(from, to),
        })
    }

    /// By the counts themselves where a stretch begins and ends with one; a curve is an approximation.
    fn between(track: &Track, counted: Stretch, from: f64, to: f64) -> f64 {
        let start = match counted.from >= from {
            true => track.first(),
            false => track.value_at(from).unwrap_or(track.first()),
        };
        let end = match counted.to <= to {
            true => track.newest(),
            false => track.value_at(to).unwrap_or(track.newest()),
        };
        end - start
    }

    pub(super) fn share(&self) -> f64 {
        self.by / self.memory.max(1.0)
    }

    pub(super) fn per_x(&self) -> AmountPerX {
        AmountPerX(self.by / (self.to - self.from))
    }

    /// Growth of the counting process's memory in the same stretch.
    pub(super) fn memory(&self, case: &Case) -> Growth {
        case.growth(self.memory, self.from)
    }

    pub(super) fn rises_with_memory(&self, case: &Case, fact: TrainingCounter) -> bool {
        rises_with_memory(case.series, fact, self.from, self.to)
    }
}
