//! What piles up inside the training beside tensors: compiled graphs, figures, objects of one class, shapes of inputs.

use leveloff_model::training_counters::TrainingCounter;

use super::counted_growth::{Counts, Grown};
use super::{Case, amount, count};
use crate::finding::{CompilationEvidence, Finding, ObjectFamily, Recompilation};
use crate::run::held_references::{rises_evenly, track_rises_with_memory};
use crate::verdict::ClockTick;

/// Fewer compilations than this come with every warmup.
const LEAST_COMPILATIONS: f64 = 4.0;
/// A graph with its guards and code is larger than this,
const LEAST_GRAPH: f64 = 4096.0;
/// and smaller than this.
const LARGEST_GRAPH: f64 = 256e6;
/// Fewer objects than this do not pile up.
const LEAST_OBJECTS: f64 = 8.0;
/// A figure, a loader or a thread holds at least this much,
const LEAST_HOLDER: f64 = 4096.0;
/// and not more than this.
const LARGEST_HOLDER: f64 = 64e6;
/// Fewer new shapes than this do not fill a cache.
const LEAST_SHAPES: f64 = 16.0;

/// The class of the figures that pyplot keeps, which are counted without visiting objects.
const FIGURE: &str = "matplotlib.figure.Figure";

/// Families by the beginning of a class's name, or of what the package calls it.
const FAMILIES: [(&str, ObjectFamily); 9] = [
    ("matplotlib.", ObjectFamily::Figures),
    ("wandb.", ObjectFamily::Wandb),
    ("tensorboard.", ObjectFamily::TensorBoard),
    ("tensorboardX.", ObjectFamily::TensorBoard),
    ("torch.utils.tensorboard.", ObjectFamily::TensorBoard),
    ("items in queue.Queue", ObjectFamily::QueuedItems),
    ("torch.utils.data.dataloader.", ObjectFamily::Loaders),
    ("threading.Thread", ObjectFamily::Threads),
    ("concurrent.futures.thread.", ObjectFamily::Threads),
];

/// Compiled graphs, or objects of one class.
pub(super) fn piles_up(case: &Case, counts: &Counts) -> Option<Finding> {
    recompilation(case, counts)
        .or_else(|| figures(case))
        .or_else(|| objects(case, counts))
}

fn recompilation(case: &Case, counts: &Counts) -> Option<Finding> {
    let compiled = Grown::of(case, TrainingCounter::Compilations)?;
    let (evidence, each) = compilation_evidence(case, counts, &compiled)?;
    let counters = &case.series.counters;
    let again = counters.track(TrainingCounter::Recompilations);
    let shapes = Grown::of(case, TrainingCounter::InputShapes);
    Some(Finding::Recompilation(Recompilation {
        evidence,
        compilations: count(compiled.by),
        each: amount(each),
        recompilations: count(again.newest()),
        new_shapes: shapes.map(|shapes| count(shapes.by)),
        reasons: counters.reasons().to_vec(),
        memory: compiled.memory(case),
    }))
}

/// How it is known, and how much each compilation adds.
fn compilation_evidence(
    case: &Case,
    counts: &Counts,
    compiled: &Grown,
) -> Option<(CompilationEvidence, f64)> {
    if let Some(clock) = case.clock.filter(|it| it.tick == ClockTick::Compilation) {
        return Some((CompilationEvidence::BestClock, clock.growth.0));
    }
    let each = compiled.memory / compiled.by;
    // Tensors that are kept at each step come as evenly, so they must be known to hold little.
    // Where compilations are less even than the steps, the competition of clocks has decided against them, or for none.
    let counter = TrainingCounter::Compilations;
    let may_be = !is_another_clock(case)
        && counts.tensors_hold_little(case)
        && compiled.by >= LEAST_COMPILATIONS
        && (LEAST_GRAPH..LARGEST_GRAPH).contains(&each)
        && rises_evenly(case.series, counter, compiled.from, compiled.to)
        && compiled.rises_with_memory(case, counter);
    may_be.then_some((CompilationEvidence::AsEvenAsSteps, each))
}

/// Whether compilations may be what makes memory grow, though nothing shows that it is not the steps. What holds the memory
/// is no answer then: graphs are Python's objects and malloc's blocks.
pub(super) fn may_be_compilations(case: &Case) -> bool {
    let counter = TrainingCounter::Compilations;
    let compiled = Grown::of(case, counter).filter(|_| case.clock.is_none());
    compiled.is_some_and(|compiled| {
        let each = compiled.memory / compiled.by;
        compiled.by >= LEAST_COMPILATIONS
            && (LEAST_GRAPH..LARGEST_GRAPH).contains(&each)
            && compiled.rises_with_memory(case, counter)
    })
}

/// Whether something else than steps explains the growth.
fn is_another_clock(case: &Case) -> bool {
    let is_even = |tick| matches!(tick, ClockTick::Step | ClockTick::Regular);
    case.clock.is_some_and(|clock| !is_even(clock.tick))
}

fn figures(case: &Case) -> Option<Finding> {
    let figures = Grown::of(case, TrainingCounter::OpenFigures)?;
    let rises = figures.rises_with_memory(case, TrainingCounter::OpenFigures);
    (rises && may_hold_the_growth(&figures)).then(|| piled(case, FIGURE, &figures))
}

/// The first class that rises with memory. A class that nothing is known of must come with more blocks of Python.
fn objects(case: &Case, counts: &Counts) -> Option<Finding> {
    let blocks_rise = counts
        .python_blocks
        .is_some_and(|blocks| blocks.rises_with_memory(case, TrainingCounter::PythonBlocks));
    let mut classes = case.series.counters.classes();
    classes.find_map(|class| {
        let grown = Grown::of_track(case, class.track, class.counted)?;
        let may_be = match family(class.name) {
            ObjectFamily::Other => blocks_rise && grown.by >= LEAST_OBJECTS,
            _ => may_hold_the_growth(&grown),
        };
        let rises = || track_rises_with_memory(case.series, class.track, grown.from, grown.to);
        (may_be && rises()).then(|| piled(case, class.name, &grown))
    })
}

fn may_hold_the_growth(grown: &Grown) -> bool {
    let each = grown.memory / grown.by;
    grown.by >= LEAST_OBJECTS && (LEAST_HOLDER..LARGEST_HOLDER).contains(&each)
}

fn piled(case: &Case, what: &str, grown: &Grown) -> Finding {
    Finding::PiledUpObjects {
        what: what.to_owned(),
        family: family(what),
        more: count(grown.by),
        more_per_x: grown.per_x(),
        memory: grown.memory(case),
    }
}

fn family(class: &str) -> ObjectFamily {
    let known = FAMILIES.iter().find(|(name, _)| class.starts_with(name));
    known.map_or(ObjectFamily::Other, |(_, family)| *family)
}

/// New shapes of inputs that came with the growth, where they may fill the cache of a CPU's kernels: a compiler has its own
/// count, and a GPU its own caches.
pub(super) fn new_shapes(case: &Case) -> Option<u64> {
    let shapes = Grown::of(case, TrainingCounter::InputShapes)?;
    let is_used = |counter| case.series.counters.track(counter).newest() > 0.0;
    let elsewhere = is_used(TrainingCounter::CudaReserved)
        || Grown::of(case, TrainingCounter::Compilations).is_some();
    let piles_up =
        shapes.by >= LEAST_SHAPES && shapes.rises_with_memory(case, TrainingCounter::InputShapes);
    (piles_up && !elsewhere).then(|| count(shapes.by))
}
