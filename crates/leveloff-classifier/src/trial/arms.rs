//! The changes that a trial knows by itself, and the findings that suggest them.
//!
//! A new one takes two files: its variant, name, change and findings here, and its words in `trial.rs` of leveloff-text. If
//! it reaches into Python, also `python_changes.py` of the command.

use crate::finding::{Finding, ObjectFamily, SharedKind};

/// A change of a trial, one thing each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BuiltInArm {
    /// torch.compile is off.
    NoCompile,
    /// Large blocks are mapped, and not cut from the heap.
    MapLargeBlocks,
    /// One arena of malloc for all threads.
    OneArena,
    /// Free memory at the top of the heap is returned at once.
    TrimOften,
    /// A collection of garbage after each step.
    CollectGarbage,
    /// A collection of garbage after each tenth step: what it costs less, where that is enough.
    CollectGarbage10,
    /// Gradients are dropped after each step.
    DropGradients,
    /// Evaluations of a trainer class are left out.
    NoEvaluation,
    /// Nothing is saved.
    NoCheckpoints,
    /// Figures are closed after each step.
    CloseFigures,
    /// Loaders work in the training's own process.
    NoWorkers,
    /// Loaders keep their workers over epochs, or do not, the other way round.
    SwapPersistentWorkers,
    /// Batches are not put into page-locked memory.
    NoPinning,
    /// oneDNN keeps one compiled primitive.
    NoPrimitiveCache,
    /// One process compiles.
    OneCompileThread,
    /// One thread computes.
    OneThread,
    /// wandb is off.
    NoWandb,
    /// TensorBoard's writer writes nothing.
    NoTensorBoard,
    /// Tokenizers use one thread.
    NoTokenizerThreads,
    /// Python objects are allocated by malloc.
    PythonMalloc,
    /// jemalloc in place of malloc.
    Jemalloc,
    /// tcmalloc in place of malloc.
    Tcmalloc,
    /// mimalloc in place of malloc.
    Mimalloc,
    /// CUDA's allocator maps segments that can grow.
    ExpandableSegments,
}

/// How a change reaches the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// By environment variables.
    Variables(&'static [(&'static str, &'static str)]),
    /// By a library that is loaded first: names of its file, the preferred first.
    Preload(&'static [&'static str]),
    /// By code that Python runs at its start, under this name.
    Python(&'static str),
}

/// What changes have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ArmFamily {
    /// How freed memory is kept or returned.
    Allocator,
    /// Compiled graphs and kernels.
    Compiler,
    /// References of Python.
    Python,
    /// Loaders and their workers.
    Loader,
    /// Loggers.
    Logger,
    /// Threads.
    Threads,
    /// GPU memory.
    Gpu,
    /// What happens now and then: evaluations, checkpoints.
    Events,
}

impl BuiltInArm {
    /// All of them, the cheapest and most frequent cures first.
    pub const ALL: [BuiltInArm; 24] = [
        BuiltInArm::CollectGarbage,
        BuiltInArm::MapLargeBlocks,
        BuiltInArm::NoCompile,
        BuiltInArm::NoWorkers,
        BuiltInArm::NoEvaluation,
        BuiltInArm::OneArena,
        BuiltInArm::TrimOften,
        BuiltInArm::NoPrimitiveCache,
        BuiltInArm::DropGradients,
        BuiltInArm::NoCheckpoints,
        BuiltInArm::CloseFigures,
        BuiltInArm::NoWandb,
        BuiltInArm::NoTensorBoard,
        BuiltInArm::CollectGarbage10,
        BuiltInArm::SwapPersistentWorkers,
        BuiltInArm::NoPinning,
        BuiltInArm::OneCompileThread,
        BuiltInArm::OneThread,
        BuiltInArm::Jemalloc,
        BuiltInArm::Tcmalloc,
        BuiltInArm::Mimalloc,
        BuiltInArm::PythonMalloc,
        BuiltInArm::NoTokenizerThreads,
        BuiltInArm::ExpandableSegments,
    ];

    /// Its name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            BuiltInArm::NoCompile => "no-compile",
            BuiltInArm::MapLargeBlocks => "map-large-blocks",
            BuiltInArm::OneArena => "one-arena",
            BuiltInArm::TrimOften => "trim-often",
            BuiltInArm::CollectGarbage => "collect-garbage",
            BuiltInArm::CollectGarbage10 => "collect-garbage-10",
            BuiltInArm::DropGradients => "drop-gradients",
            BuiltInArm::NoEvaluation => "no-evaluation",
            BuiltInArm::NoCheckpoints => "no-checkpoints",
            BuiltInArm::CloseFigures => "close-figures",
            BuiltInArm::NoTensorBoard => "no-tensorboard",
            BuiltInArm::NoWorkers => "no-workers",
            BuiltInArm::SwapPersistentWorkers => "swap-persistent-workers",
            BuiltInArm::NoPinning => "no-pinning",
            BuiltInArm::NoPrimitiveCache => "no-primitive-cache",
            BuiltInArm::OneCompileThread => "one-compile-thread",
            BuiltInArm::OneThread => "one-thread",
            BuiltInArm::NoWandb => "no-wandb",
            BuiltInArm::NoTokenizerThreads => "no-tokenizer-threads",
            BuiltInArm::PythonMalloc => "python-malloc",
            BuiltInArm::Jemalloc => "jemalloc",
            BuiltInArm::Tcmalloc => "tcmalloc",
            BuiltInArm::Mimalloc => "mimalloc",
            BuiltInArm::ExpandableSegments => "expandable-segments",
        }
    }

    /// What it changes.
    pub fn change(self) -> Change {
        match self {
            BuiltInArm::NoCompile => {
                Change::Variables(&[("TORCH_COMPILE_DISABLE", "1"), ("TORCHDYNAMO_DISABLE", "1")])
            }
            BuiltInArm::MapLargeBlocks => Change::Variables(&[("MALLOC_MMAP_THRESHOLD_", "65536")]),
            BuiltInArm::OneArena => Change::Variables(&[("MALLOC_ARENA_MAX", "1")]),
            BuiltInArm::TrimOften => Change::Variables(&[
                ("MALLOC_TRIM_THRESHOLD_", "65536"),
                ("MALLOC_TOP_PAD_", "0"),
            ]),
            BuiltInArm::CollectGarbage
            | BuiltInArm::CollectGarbage10
            | BuiltInArm::DropGradients
            | BuiltInArm::NoEvaluation
            | BuiltInArm::NoCheckpoints
            | BuiltInArm::CloseFigures
            | BuiltInArm::NoTensorBoard
            | BuiltInArm::NoWorkers
            | BuiltInArm::SwapPersistentWorkers
            | BuiltInArm::NoPinning => Change::Python(self.name()),
            BuiltInArm::NoPrimitiveCache => {
                Change::Variables(&[("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "1")])
            }
            BuiltInArm::OneCompileThread => {
                Change::Variables(&[("TORCHINDUCTOR_COMPILE_THREADS", "1")])
            }
            BuiltInArm::OneThread => Change::Variables(&[("OMP_NUM_THREADS", "1")]),
            BuiltInArm::NoWandb => Change::Variables(&[("WANDB_MODE", "disabled")]),
            BuiltInArm::NoTokenizerThreads => {
                Change::Variables(&[("TOKENIZERS_PARALLELISM", "false")])
            }
            BuiltInArm::PythonMalloc => Change::Variables(&[("PYTHONMALLOC", "malloc")]),
            BuiltInArm::Jemalloc => Change::Preload(&["libjemalloc.so.2", "libjemalloc.so.1"]),
            BuiltInArm::Tcmalloc => Change::Preload(&[
                "libtcmalloc_minimal.so.4",
                "libtcmalloc.so.4",
                "libtcmalloc_minimal.so",
            ]),
            BuiltInArm::Mimalloc => Change::Preload(&["libmimalloc.so.2", "libmimalloc.so"]),
            BuiltInArm::ExpandableSegments => {
                Change::Variables(&[("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")])
            }
        }
    }

    /// What it has in common with others.
    pub fn family(self) -> ArmFamily {
        match self {
            BuiltInArm::MapLargeBlocks
            | BuiltInArm::OneArena
            | BuiltInArm::TrimOften
            | BuiltInArm::PythonMalloc
            | BuiltInArm::Jemalloc
            | BuiltInArm::Tcmalloc
            | BuiltInArm::Mimalloc => ArmFamily::Allocator,
            BuiltInArm::NoCompile | BuiltInArm::OneCompileThread | BuiltInArm::NoPrimitiveCache => {
                ArmFamily::Compiler
            }
            BuiltInArm::CollectGarbage
            | BuiltInArm::CollectGarbage10
            | BuiltInArm::DropGradients
            | BuiltInArm::CloseFigures => ArmFamily::Python,
            BuiltInArm::NoEvaluation | BuiltInArm::NoCheckpoints => ArmFamily::Events,
            BuiltInArm::NoWorkers | BuiltInArm::SwapPersistentWorkers | BuiltInArm::NoPinning => {
                ArmFamily::Loader
            }
            BuiltInArm::NoWandb | BuiltInArm::NoTensorBoard => ArmFamily::Logger,
            BuiltInArm::OneThread | BuiltInArm::NoTokenizerThreads => ArmFamily::Threads,
            BuiltInArm::ExpandableSegments => ArmFamily::Gpu,
        }
    }

    /// Whether it would end the growth if a finding is right.
    pub fn is_suggested_by(self, finding: &Finding) -> bool {
        let suggested: &[BuiltInArm] = match finding {
            Finding::Recompilation(_) => &[BuiltInArm::NoCompile, BuiltInArm::NoPrimitiveCache],
            Finding::AllocatorRetention(_) => &[
                BuiltInArm::MapLargeBlocks,
                BuiltInArm::OneArena,
                BuiltInArm::TrimOften,
                BuiltInArm::Jemalloc,
            ],
            Finding::NativeGrowth { .. } => &[
                BuiltInArm::MapLargeBlocks,
                BuiltInArm::NoPrimitiveCache,
                BuiltInArm::NoCompile,
                BuiltInArm::OneArena,
            ],
            Finding::HeldReferences { .. } | Finding::PythonObjects { .. } => {
                &[BuiltInArm::CollectGarbage, BuiltInArm::DropGradients]
            }
            Finding::CheckpointGrowth(_) => {
                &[BuiltInArm::NoCheckpoints, BuiltInArm::CollectGarbage]
            }
            Finding::PiledUpObjects { family, .. } => match family {
                ObjectFamily::Figures => &[BuiltInArm::CloseFigures],
                ObjectFamily::Wandb => &[BuiltInArm::NoWandb],
                ObjectFamily::TensorBoard | ObjectFamily::QueuedItems => {
                    &[BuiltInArm::NoTensorBoard, BuiltInArm::NoWandb]
                }
                ObjectFamily::Loaders | ObjectFamily::Threads | ObjectFamily::Other => {
                    &[BuiltInArm::NoWorkers, BuiltInArm::CollectGarbage]
                }
            },
            Finding::CopyOnWrite { .. }
            | Finding::ProcessGrowth { .. }
            | Finding::SharedMemoryGrowth {
                kind: SharedKind::LoaderBatches,
                ..
            }
            | Finding::OneProcess { .. }
            | Finding::ExitedGrowth { .. } => {
                &[BuiltInArm::NoWorkers, BuiltInArm::SwapPersistentWorkers]
            }
            Finding::DescriptorGrowth { .. }
            | Finding::DevshmGrowth { .. }
            | Finding::MemfdGrowth(_) => &[BuiltInArm::NoWorkers],
            Finding::EpochGrowth(_) => &[
                BuiltInArm::NoWorkers,
                BuiltInArm::SwapPersistentWorkers,
                BuiltInArm::CollectGarbage,
            ],
            Finding::PinnedPool { .. }
            | Finding::SharedMemoryGrowth {
                kind: SharedKind::Pinned,
                ..
            } => &[BuiltInArm::NoPinning],
            Finding::CudaGrowth(_) => &[BuiltInArm::ExpandableSegments],
            Finding::EvaluationGrowth(_) => &[BuiltInArm::NoEvaluation, BuiltInArm::CollectGarbage],
            // Over-counted RSS and one rank of many say nothing of a change; so does a finding that has none yet.
            _ => &[],
        };
        suggested.contains(&self)
    }

    /// All changes: what the findings suggest first, strongest evidence first.
    pub fn ordered_by(findings: &[Finding]) -> Vec<BuiltInArm> {
        let place = |arm: &BuiltInArm| {
            let found = findings.iter().position(|it| arm.is_suggested_by(it));
            found.unwrap_or(findings.len())
        };
        let mut arms = BuiltInArm::ALL.to_vec();
        arms.sort_by_key(place);
        arms
    }
}
