use leveloff_classifier::finding::{
    CompilationEvidence, NativeEvidence, ObjectFamily, Recompilation, Retention,
};
use leveloff_classifier::observation::XUnit;
use leveloff_classifier::units::{AmountPerX, X};
use leveloff_classifier::verdict::ClockTick;
use leveloff_model::training_counters::{RecompileKind, RecompileReason};

use super::*;

const SINCE: Position = Position {
    x: X(40.0),
    unit: XUnit::Step,
};

const GROWTH: Growth = Growth {
    bytes: Bytes(1800 << 20),
    since: SINCE,
};

const EVENTS: EventGrowth = EventGrowth {
    coincident: Vec::new(),
    each: Bytes(20 << 20),
    events: 5,
    share: 0.98,
    since: SINCE,
};

/// Every finding, and every kind of evidence that one may rest on.
fn all() -> Vec<Finding> {
    let mut all = vec![
        Finding::EvaluationGrowth(EVENTS),
        Finding::EvaluationGrowth(EventGrowth {
            coincident: vec![ClockTick::Checkpoint, ClockTick::Epoch],
            ..EVENTS
        }),
        Finding::CheckpointGrowth(EventGrowth {
            events: 1,
            ..EVENTS
        }),
        Finding::EpochGrowth(EVENTS),
        Finding::PythonObjects {
            more: 12_000,
            more_per_x: AmountPerX(13.4),
            memory: GROWTH,
        },
        Finding::CopyOnWrite {
            workers: 4,
            copied: GROWTH,
        },
        Finding::CudaGrowth(GROWTH),
        Finding::PinnedPool {
            growth: GROWTH,
            now: Bytes(2 << 30),
        },
        Finding::WorkerOvercount {
            role: Role::CompileWorker,
            processes: 20,
            rss: Bytes(7 << 30),
            memory: Bytes(512 << 20),
        },
        Finding::OutlierRank {
            growth: Some(BytesPerSecond(500e3)),
            ranks: 4,
            level: 3,
            level_growth: Some(BytesPerSecond(12.0)),
            leaking: 1,
        },
    ];
    all.extend(of_tensors().map(|tensors| Finding::HeldReferences {
        tensors,
        memory: GROWTH,
        grown: vec![GrownTensors {
            what: "float32[64, 1024] cpu".to_owned(),
            more: 400,
            more_bytes: Bytes(100 << 20),
        }],
    }));
    all.extend(of_native_code().map(|evidence| Finding::NativeGrowth {
        evidence,
        memory: GROWTH,
        new_shapes: None,
    }));
    all.push(Finding::NativeGrowth {
        evidence: NativeEvidence::OutsideMalloc { tensors: None },
        memory: GROWTH,
        new_shapes: Some(113),
    });
    all.extend(of_compilers());
    all.extend(of_objects());
    all.extend(of_shared_memory());
    all.extend(of_allocators().map(Finding::AllocatorRetention));
    all.extend(of_counts());
    all
}

fn of_shared_memory() -> impl Iterator<Item = Finding> {
    let kinds = [
        SharedKind::LoaderBatches,
        SharedKind::Files,
        SharedKind::Plasma,
        SharedKind::Memfd,
        SharedKind::Anonymous,
        SharedKind::Pinned,
        SharedKind::Unknown,
    ];
    kinds.into_iter().map(|kind| Finding::SharedMemoryGrowth {
        growth: GROWTH,
        kind,
    })
}

fn of_compilers() -> impl Iterator<Item = Finding> {
    let kinds = RecompileKind::ALL.map(Some).into_iter().chain([None]);
    kinds.map(|kind| {
        let reason = |kind| RecompileReason {
            kind,
            what: "args[0], dimension 1".to_owned(),
            count: 41,
        };
        Finding::Recompilation(Recompilation {
            evidence: match kind {
                None => CompilationEvidence::AsEvenAsSteps,
                Some(_) => CompilationEvidence::BestClock,
            },
            compilations: 43,
            each: Bytes(1900 << 10),
            recompilations: 42,
            new_shapes: kind.is_none().then_some(44),
            reasons: kind.map(reason).into_iter().collect(),
            memory: GROWTH,
        })
    })
}

fn of_objects() -> impl Iterator<Item = Finding> {
    let families = [
        ("matplotlib.figure.Figure", ObjectFamily::Figures),
        ("wandb.sdk.data_types.image.Image", ObjectFamily::Wandb),
        (
            "tensorboard.summary.writer.event_file_writer._AsyncWriter",
            ObjectFamily::TensorBoard,
        ),
        ("items in queue.Queue", ObjectFamily::QueuedItems),
        (
            "torch.utils.data.dataloader._MultiProcessingDataLoaderIter",
            ObjectFamily::Loaders,
        ),
        ("threading.Thread", ObjectFamily::Threads),
        ("mine.Entry", ObjectFamily::Other),
    ];
    families
        .into_iter()
        .map(|(what, family)| Finding::PiledUpObjects {
            what: what.to_owned(),
            family,
            more: 41,
            more_per_x: AmountPerX(0.1),
            memory: GROWTH,
        })
}

fn of_tensors() -> impl Iterator<Item = TensorGrowth> {
    let number = TensorGrowth::Number {
        more: 278,
        more_per_x: AmountPerX(0.99),
    };
    let size = TensorGrowth::Size {
        more: Bytes(1700 << 20),
        tensors: 6529,
    };
    [number, size].into_iter()
}

fn of_native_code() -> impl Iterator<Item = NativeEvidence> {
    let malloc = |tensors, python_blocks| NativeEvidence::MallocInUse {
        more: Bytes(1700 << 20),
        tensors,
        python_blocks,
    };
    [
        malloc(Some(6529), None),
        malloc(Some(6529), Some(8000)),
        malloc(None, Some(8000)),
        NativeEvidence::OutsideMalloc {
            tensors: Some(6529),
        },
        NativeEvidence::LevelTensors { tensors: 6529 },
    ]
    .into_iter()
}

fn of_allocators() -> impl Iterator<Item = Retention> {
    let malloc = |in_use_rose, trimmed| Retention::MallocFree {
        in_use: Bytes(400 << 20),
        in_use_rose,
        kept: Bytes(1500 << 20),
        memory: GROWTH,
        trimmed,
    };
    [
        malloc(None, Some(Bytes(800 << 20))),
        malloc(Some(Bytes(100 << 20)), None),
        Retention::VaryingTensors {
            tensors: 6529,
            range: 3000,
            memory: GROWTH,
        },
        Retention::Trimmed {
            trimmed: Bytes(800 << 20),
        },
    ]
    .into_iter()
}

fn of_counts() -> impl Iterator<Item = Finding> {
    let devshm = |owner| Finding::DevshmGrowth {
        growth: GROWTH,
        owner,
    };
    [
        devshm(FileOwner::Run),
        devshm(FileOwner::FollowsSteps),
        devshm(FileOwner::Unknown),
        Finding::MemfdGrowth(GROWTH),
        Finding::DescriptorGrowth {
            more: 136,
            now: 412,
            role: Role::Trainer,
            since: SINCE,
        },
        Finding::ProcessGrowth {
            more: 56,
            now: 61,
            role: Role::DataloaderWorker,
            of_role: 60,
            since: SINCE,
        },
        Finding::ExitedGrowth {
            pid: Pid(1007),
            role: Role::Other,
            growth: GROWTH,
            exited: SINCE,
            others: 0,
        },
        Finding::OneProcess {
            pid: Pid(1003),
            role: Role::DataloaderWorker,
            of_role: 4,
            growth: GROWTH,
        },
    ]
    .into_iter()
}

#[test]
fn every_finding_has_its_words() {
    let printed: Vec<String> = all()
        .iter()
        .map(|finding| {
            let FindingWords {
                text,
                next,
                experiment:
                    Experiment {
                        command,
                        expected,
                        rules_out,
                    },
            } = finding_words(finding);
            format!(
                "{}: {text}\n  → {next}\n  $ {command}\n    expected: {expected}\n    rules out: {rules_out}\n",
                finding.name()
            )
        })
        .collect();
    insta::assert_snapshot!(printed.join("\n"));
}

#[test]
fn no_finding_is_missing_above() {
    let all = all();
    for name in Finding::NAMES {
        assert!(all.iter().any(|finding| finding.name() == *name), "{name}");
    }
}

#[test]
fn experiments_name_changes_that_exist_and_hold_the_jobs_command() {
    use leveloff_classifier::trial::BuiltInArm;
    let job = ["python", "it's.py"].map(str::to_owned);
    for finding in all() {
        let experiment = finding_words(&finding).experiment;
        let command = experiment.command_for(Some(&job));
        assert!(!command.contains("TRAIN"), "{command}");
        let Some(rest) = command.strip_prefix("leveloff try --arms ") else {
            continue;
        };
        let (names, rest) = rest.split_once(' ').unwrap();
        assert_eq!(rest, r"-- python 'it'\''s.py'");
        for name in names.split(',') {
            assert!(
                BuiltInArm::ALL.iter().any(|arm| arm.name() == name),
                "{name}"
            );
        }
    }
}
