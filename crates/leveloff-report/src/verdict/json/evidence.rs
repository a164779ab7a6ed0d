//! The numbers that a finding rests on, by name. Amounts of memory are bytes.

use leveloff_classifier::finding::{
    CompilationEvidence, EventGrowth, FileOwner, Finding, Growth, NativeEvidence, ObjectFamily,
    Recompilation, Retention, SharedKind, TensorGrowth,
};
use leveloff_model::units::BytesPerSecond;
use serde_json::Value;

use crate::json::{merged, object};

/// The evidence of a finding.
pub(super) fn evidence(finding: &Finding) -> Value {
    match finding {
        Finding::EvaluationGrowth(events)
        | Finding::CheckpointGrowth(events)
        | Finding::EpochGrowth(events) => at_events(events),
        Finding::HeldReferences {
            tensors, memory, ..
        } => merged([tensor_growth(tensors), growth(memory)]),
        Finding::Recompilation(found) => recompilation(found),
        Finding::PiledUpObjects {
            what,
            family,
            more,
            more_per_x,
            memory,
        } => merged([
            object! { class: what, family: object_family(*family), more_objects: more, more_objects_per_x: more_per_x },
            growth(memory),
        ]),
        Finding::NativeGrowth {
            evidence,
            memory,
            new_shapes,
        } => merged([
            native(evidence),
            growth(memory),
            object! { new_shapes: new_shapes },
        ]),
        Finding::AllocatorRetention(retention) => retained(retention),
        Finding::PythonObjects {
            more,
            more_per_x,
            memory,
        } => merged([
            object! { more_blocks: more, more_blocks_per_x: more_per_x },
            growth(memory),
        ]),
        Finding::CopyOnWrite { workers, copied } => {
            merged([object! { workers: workers }, growth(copied)])
        }
        Finding::SharedMemoryGrowth { growth: by, kind } => {
            merged([growth(by), object! { kind: shared_kind(*kind) }])
        }
        Finding::DevshmGrowth { growth: by, owner } => {
            merged([growth(by), object! { owner: file_owner(*owner) }])
        }
        Finding::CudaGrowth(by) => growth(by),
        Finding::PinnedPool { growth: by, now } => merged([growth(by), object! { bytes: now.0 }]),
        other => of_processes(other),
    }
}

fn of_processes(finding: &Finding) -> Value {
    match finding {
        Finding::DescriptorGrowth {
            more,
            now,
            role,
            since,
        } => object! { more: more, now: now, role: role.name(), since_x: since.x },
        Finding::ProcessGrowth {
            more,
            now,
            role,
            of_role,
            since,
        } => {
            object! { more: more, now: now, role: role.name(), of_role: of_role, since_x: since.x }
        }
        Finding::OneProcess {
            pid,
            role,
            of_role,
            growth: by,
        } => merged([
            object! { pid: pid.0, role: role.name(), of_role: of_role },
            growth(by),
        ]),
        Finding::WorkerOvercount {
            role,
            processes,
            rss,
            memory,
        } => object! { role: role.name(), processes: processes, rss_bytes: rss.0, bytes: memory.0 },
        Finding::OutlierRank {
            growth,
            ranks,
            level,
            level_growth,
            leaking,
        } => object! {
            bytes_per_s: growth.map(per_second),
            ranks: ranks,
            level: level,
            level_bytes_per_s: level_growth.map(per_second),
            leaking: leaking,
        },
        _ => object! {},
    }
}

fn per_second(rate: BytesPerSecond) -> f64 {
    rate.0
}

fn growth(growth: &Growth) -> Value {
    object! { growth_bytes: growth.bytes.0, since_x: growth.since.x }
}

fn at_events(events: &EventGrowth) -> Value {
    let coincident: Vec<&str> = events.coincident.iter().map(|tick| tick.name()).collect();
    object! {
        each_bytes: events.each.0,
        events: events.events,
        share: events.share,
        since_x: events.since.x,
        coincident: coincident,
    }
}

fn recompilation(found: &Recompilation) -> Value {
    let reasons = found.reasons.iter().map(|one| {
        object! { kind: one.kind.name(), what: one.what, times: one.count }
    });
    merged([
        object! {
            evidence: match found.evidence {
                CompilationEvidence::BestClock => "best_clock",
                CompilationEvidence::AsEvenAsSteps => "as_even_as_steps",
            },
            compilations: found.compilations,
            each_bytes: found.each.0,
            recompilations: found.recompilations,
            new_shapes: found.new_shapes,
            reasons: reasons.collect::<Vec<_>>(),
        },
        growth(&found.memory),
    ])
}

fn object_family(family: ObjectFamily) -> &'static str {
    match family {
        ObjectFamily::Figures => "figures",
        ObjectFamily::Wandb => "wandb",
        ObjectFamily::TensorBoard => "tensorboard",
        ObjectFamily::QueuedItems => "queued_items",
        ObjectFamily::Loaders => "loaders",
        ObjectFamily::Threads => "threads",
        ObjectFamily::Other => "other",
    }
}

fn tensor_growth(tensors: &TensorGrowth) -> Value {
    match tensors {
        TensorGrowth::Number { more, more_per_x } => {
            object! { more_tensors: more, more_tensors_per_x: more_per_x }
        }
        TensorGrowth::Size { more, tensors } => {
            object! { more_tensor_bytes: more.0, tensors: tensors }
        }
    }
}

fn native(evidence: &NativeEvidence) -> Value {
    match evidence {
        NativeEvidence::MallocInUse {
            more,
            tensors,
            python_blocks,
        } => object! {
            more_in_use_bytes: more.0,
            tensors: tensors,
            more_python_blocks: python_blocks,
        },
        NativeEvidence::OutsideMalloc { tensors } => object! { tensors: tensors },
        NativeEvidence::LevelTensors { tensors } => object! { tensors: tensors },
    }
}

fn retained(retention: &Retention) -> Value {
    match retention {
        Retention::MallocFree {
            in_use,
            in_use_rose,
            kept,
            memory,
            trimmed,
        } => merged([
            object! {
                in_use_bytes: in_use.0,
                more_in_use_bytes: in_use_rose.map(|rose| rose.0),
                kept_bytes: kept.0,
                trimmed_bytes: trimmed.map(|trimmed| trimmed.0),
            },
            growth(memory),
        ]),
        Retention::VaryingTensors {
            tensors,
            range,
            memory,
        } => merged([object! { tensors: tensors, range: range }, growth(memory)]),
        Retention::Trimmed(trimmed) => object! { trimmed_bytes: trimmed.0 },
    }
}

fn shared_kind(kind: SharedKind) -> &'static str {
    match kind {
        SharedKind::LoaderBatches => "loader_batches",
        SharedKind::Files => "files",
        SharedKind::Anonymous => "anonymous",
        SharedKind::Pinned => "pinned",
        SharedKind::Unknown => "unknown",
    }
}

fn file_owner(owner: FileOwner) -> &'static str {
    match owner {
        FileOwner::Run => "run",
        FileOwner::FollowsSteps => "follows_steps",
        FileOwner::Unknown => "unknown",
    }
}
