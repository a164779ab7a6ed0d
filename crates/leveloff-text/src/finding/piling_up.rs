//! Graphs, objects and shapes that pile up, in words.

use leveloff_classifier::finding::{CompilationEvidence, Growth, ObjectFamily, Recompilation};
use leveloff_classifier::units::AmountPerX;
use leveloff_model::training_counters::{RecompileKind, RecompileReason};

use super::{FindingWords, at, experiment, while_memory_grew, words};

/// Reasons that are named.
const REASONS_NAMED: usize = 2;

/// Growth that comes with compilations.
pub(super) fn recompilation(found: &Recompilation) -> FindingWords {
    let Recompilation {
        each,
        compilations,
        recompilations,
        ..
    } = found;
    let (since, reasons) = (at(found.memory.since), reasons(&found.reasons));
    let certainty = match found.evidence {
        CompilationEvidence::BestClock => "growth follows them, and not the steps",
        CompilationEvidence::AsEvenAsSteps => {
            "they come as evenly as the steps, so growth may also be the steps' own"
        }
    };
    let shapes = found.new_shapes.map_or_else(String::new, |shapes| {
        format!(" and {shapes} new shapes of inputs")
    });
    let text = format!(
        "{each} more for each compilation: {compilations} of them{shapes} since {since}; {certainty}; \
         {recompilations} compiled known code again{reasons}"
    );
    words(text, next_for(&found.reasons), experiment::WITHOUT_COMPILER)
}

/// `, by a varying size (args[0], dimension 1: 41 times)`
fn reasons(reasons: &[RecompileReason]) -> String {
    let named: Vec<String> = reasons.iter().take(REASONS_NAMED).map(reason).collect();
    match named.is_empty() {
        true => String::new(),
        false => format!(", by {}", named.join(" and ")),
    }
}

fn reason(reason: &RecompileReason) -> String {
    let RecompileReason { kind, what, count } = reason;
    let varies = match kind {
        RecompileKind::Size => "a varying size",
        RecompileKind::Type => "a varying type",
        RecompileKind::Object => "an object that is another each time",
        RecompileKind::Value => "a varying value",
        RecompileKind::Other => "a guard",
    };
    format!("{varies} ({what}: {count} times)")
}

fn next_for(reasons: &[RecompileReason]) -> &'static str {
    match reasons.first().map(|first| first.kind) {
        Some(RecompileKind::Size) => PAD,
        Some(RecompileKind::Object) => KEEP_OBJECTS,
        Some(RecompileKind::Value | RecompileKind::Type) => PASS_TENSORS,
        Some(RecompileKind::Other) | None => LOOK_AT_RECOMPILES,
    }
}

const PAD: &str = "pad inputs to a few lengths, or mark the dimension with torch._dynamo.mark_dynamic(x, 1) or \
    torch.compile(dynamic=True); in JAX pad to a few shapes";

const KEEP_OBJECTS: &str = "create functions and modules once and not at each step: each new one is compiled again; \
    TORCH_LOGS=recompiles names the lines";

const PASS_TENSORS: &str = "pass what varies as a tensor, or keep it constant: each new value or type is compiled \
    again; TORCH_LOGS=recompiles names the lines";

const LOOK_AT_RECOMPILES: &str = "TORCH_LOGS=recompiles (JAX: JAX_LOG_COMPILES=1) names what is compiled again and \
    why; keep shapes, types and functions the same from step to step";

/// Objects of one class.
pub(super) fn objects(
    what: &str,
    family: ObjectFamily,
    (more, AmountPerX(more_per_x)): (u64, AmountPerX),
    memory: &Growth,
) -> FindingWords {
    let (unit, while_memory_grew) = (memory.since.unit.name(), while_memory_grew(memory));
    let text = format!(
        "{what}: {more} more ({more_per_x:+.2} per {unit}) {while_memory_grew}, and they rise with it"
    );
    words(text, cure(family), experiment::objects(family))
}

fn cure(family: ObjectFamily) -> &'static str {
    match family {
        ObjectFamily::Figures => {
            "close each figure after use: plt.close(fig), also where it was only saved or logged; pyplot keeps every \
             figure until then"
        }
        ObjectFamily::Wandb => {
            "log numbers and not tensors, images only now and then; wandb keeps what is not sent yet"
        }
        ObjectFamily::TensorBoard => {
            "create one SummaryWriter and close it; flush() shows whether it is behind with writing"
        }
        ObjectFamily::QueuedItems => {
            "a thread takes out less than is put in: log less often, or give the queue a maxsize"
        }
        ObjectFamily::Loaders => {
            "create the DataLoader and its iterator once, or delete the old one before the next"
        }
        ObjectFamily::Threads => "join threads, and create an executor once and not at each step",
        ObjectFamily::Other => {
            "look for the list, dict or cache that holds them: gc.get_referrers(one of them) shows it"
        }
    }
}

/// Adds that a cache of kernels may be the cause. It cannot be seen from outside.
pub(super) fn with_new_shapes(found: FindingWords, new_shapes: Option<u64>) -> FindingWords {
    let Some(shapes) = new_shapes else {
        return found;
    };
    words(
        format!(
            "{}; {shapes} new shapes of inputs came with it: it may be oneDNN's cache of primitives, which holds up to \
             1,024 of them",
            found.text
        ),
        format!(
            "run once with ONEDNN_PRIMITIVE_CACHE_CAPACITY=1; else {}",
            found.next
        ),
        experiment::WITHOUT_PRIMITIVES,
    )
}
