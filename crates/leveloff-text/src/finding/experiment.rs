//! The experiment that would refute a finding: what to run, what to expect if the finding is right, and which other
//! explanation that outcome rules out.

use std::borrow::Cow;

use leveloff_classifier::finding::{Finding, NativeEvidence, ObjectFamily, SharedKind};

/// An experiment. `TRAIN` in a command is the user's own command, `BEFORE` the recording at hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Experiment {
    /// What to run.
    pub command: Cow<'static, str>,
    /// What happens if the finding is right.
    pub expected: &'static str,
    /// What is then excluded.
    pub rules_out: &'static str,
}

/// The experiment for a finding.
pub fn experiment(finding: &Finding) -> Experiment {
    let (command, expected, rules_out) = match finding {
        Finding::EvaluationGrowth(_) => WITHOUT_EVALUATION,
        Finding::CheckpointGrowth(_) => WITHOUT_CHECKPOINTS,
        Finding::EpochGrowth(_) => LONGER_EPOCHS,
        Finding::HeldReferences { .. } => COUNT_SHAPES,
        Finding::Recompilation(_) => WITHOUT_COMPILER,
        Finding::PiledUpObjects { family, .. } => objects(*family),
        Finding::NativeGrowth {
            new_shapes: Some(_),
            ..
        } => WITHOUT_PRIMITIVES,
        Finding::NativeGrowth { evidence, .. } => native(evidence),
        Finding::AllocatorRetention(_) => WITHOUT_HOLES,
        Finding::PythonObjects { .. } => TRACE_PYTHON,
        Finding::CopyOnWrite { .. } => WITHOUT_FORKS,
        Finding::SharedMemoryGrowth { kind, .. } => shared(*kind),
        Finding::DevshmGrowth { .. } => WATCH_FILES,
        Finding::DescriptorGrowth { .. } => LIST_DESCRIPTORS,
        Finding::ProcessGrowth { .. } => WITHOUT_WORKERS,
        Finding::OneProcess { pid, .. } => {
            let command = format!("py-spy dump --pid {pid}; compare with a sibling of it");
            return Experiment {
                command: command.into(),
                expected: "it is in code, or on data, that the siblings are not",
                rules_out: "growth that every process of the role has",
            };
        }
        Finding::CudaGrowth(_) => RECORD_CUDA,
        Finding::PinnedPool { .. } => WITHOUT_PINNING,
        Finding::WorkerOvercount { .. } => READ_PSS,
        Finding::OutlierRank { .. } => SWAP_SHARDS,
    };
    Experiment {
        command: command.into(),
        expected,
        rules_out,
    }
}

/// Command, expected outcome, what that rules out.
type Fixed = (&'static str, &'static str, &'static str);

const WITHOUT_EVALUATION: Fixed = (
    "leveloff run -o without.jsonl -- TRAIN with evaluation off; leveloff compare BEFORE without.jsonl",
    "memory is level without evaluations",
    "growth at every step",
);

const WITHOUT_CHECKPOINTS: Fixed = (
    "leveloff run -o without.jsonl -- TRAIN without saving; leveloff compare BEFORE without.jsonl",
    "memory is level without checkpoints",
    "growth at every step",
);

const LONGER_EPOCHS: Fixed = (
    "leveloff run -o longer.jsonl -- TRAIN with epochs of twice the length; leveloff compare BEFORE longer.jsonl",
    "growth per step is half of what it was",
    "growth at every step",
);

const COUNT_SHAPES: Fixed = (
    "leveloff run -o clean.jsonl -- TRAIN with .detach() or .item() on what is kept; leveloff judge clean.jsonl",
    "tensors stay level, and so does memory",
    "native code and the allocator",
);

const WITHOUT_COMPILER: Fixed = (
    "TORCH_COMPILE_DISABLE=1 leveloff run -o eager.jsonl -- TRAIN; leveloff compare BEFORE eager.jsonl",
    "memory is level without torch.compile",
    "growth at every step",
);

const WITHOUT_PRIMITIVES: Fixed = (
    "ONEDNN_PRIMITIVE_CACHE_CAPACITY=1 leveloff run -o uncached.jsonl -- TRAIN; leveloff compare BEFORE uncached.jsonl",
    "the growth is gone if it was oneDNN's cache, and goes on if it is another native leak",
    "one of the two",
);

const WITHOUT_FIGURES: Fixed = (
    "leveloff run -o closed.jsonl -- TRAIN with plt.close('all') after each plot; leveloff compare BEFORE closed.jsonl",
    "memory is level, and no figure stays open",
    "native code and tensors",
);

const WITHOUT_LOGGING: Fixed = (
    "leveloff run -o quiet.jsonl -- TRAIN with logging off; leveloff compare BEFORE quiet.jsonl",
    "memory is level, and the objects stay as many",
    "the model and its data",
);

const NAME_REFERRERS: Fixed = (
    "leveloff run --blame -o blame.jsonl -- TRAIN; leveloff blame blame.jsonl",
    "lines that create these objects hold the growth",
    "native libraries",
);

fn objects(family: ObjectFamily) -> Fixed {
    match family {
        ObjectFamily::Figures => WITHOUT_FIGURES,
        ObjectFamily::Wandb | ObjectFamily::TensorBoard | ObjectFamily::QueuedItems => {
            WITHOUT_LOGGING
        }
        ObjectFamily::Loaders | ObjectFamily::Threads | ObjectFamily::Other => NAME_REFERRERS,
    }
}

const WITHOUT_HOLES: Fixed = (
    "MALLOC_MMAP_THRESHOLD_=65536 leveloff run -o mmap.jsonl -- TRAIN; leveloff compare BEFORE mmap.jsonl",
    "memory is level, or grows far less",
    "memory that the program still holds",
);

const TRACE_PYTHON: Fixed = (
    "leveloff run --blame -o blame.jsonl -- TRAIN; leveloff blame blame.jsonl",
    "lines of Python code hold the growth",
    "native libraries",
);

const TRACE_NATIVE: Fixed = (
    "leveloff run --blame -o blame.jsonl -- TRAIN; leveloff blame blame.jsonl",
    "the growth is in native frames, and no list or dict of Python holds it",
    "references that Python keeps",
);

const LIST_MAPPINGS: Fixed = (
    "pmap -x PID > before; some minutes later: pmap -x PID > after; diff before after",
    "mappings other than [heap] grow",
    "malloc",
);

const WITHOUT_FORKS: Fixed = (
    "leveloff run -o single.jsonl -- TRAIN with num_workers=0; leveloff compare BEFORE single.jsonl",
    "memory is level without workers",
    "a leak in the data set's own code",
);

const WITHOUT_PINNING: Fixed = (
    "leveloff run -o unpinned.jsonl -- TRAIN with pin_memory=False; leveloff compare BEFORE unpinned.jsonl",
    "the growth is gone",
    "batches that are kept",
);

const LIST_SHARED: Fixed = (
    "grep -E 'rw-s|memfd|/dev/shm' /proc/PID/maps, twice, some minutes apart",
    "the same kind of mapping has become more or larger",
    "private memory of the process",
);

const WATCH_FILES: Fixed = (
    "ls -ltr /dev/shm | tail; stop the run; ls -ltr /dev/shm | tail",
    "no new file appears once the run has stopped",
    "another program on this machine",
);

const LIST_DESCRIPTORS: Fixed = (
    "ls -l /proc/PID/fd | awk '{print $NF}' | sort | uniq -c | sort -n | tail",
    "one kind of file has most of the descriptors",
    "a data set whose files are opened once",
);

const WITHOUT_WORKERS: Fixed = (
    "leveloff run -o single.jsonl -- TRAIN with num_workers=0; leveloff compare BEFORE single.jsonl",
    "the number of processes stays the same",
    "processes that the training starts elsewhere",
);

const RECORD_CUDA: Fixed = (
    "torch.cuda.memory._record_memory_history(), later _dump_snapshot('cuda.pickle')",
    "blocks of one place in the code become more",
    "fragmentation of the CUDA allocator",
);

const READ_PSS: Fixed = (
    "grep ^Pss: /proc/PID/smaps_rollup for each of the workers",
    "their sum is the smaller number",
    "memory that turning the workers off would save",
);

const SWAP_SHARDS: Fixed = (
    "start the job with the ranks' shards of the data exchanged; leveloff fleet",
    "the growth moves with the shard, or stays with the rank",
    "the other of the two",
);

fn native(evidence: &NativeEvidence) -> Fixed {
    match evidence {
        NativeEvidence::MallocInUse { .. } => TRACE_NATIVE,
        NativeEvidence::OutsideMalloc { .. } => LIST_MAPPINGS,
        NativeEvidence::LevelTensors { .. } => WITHOUT_HOLES_IF_NATIVE,
    }
}

const WITHOUT_HOLES_IF_NATIVE: Fixed = (
    "MALLOC_MMAP_THRESHOLD_=65536 leveloff run -o mmap.jsonl -- TRAIN; leveloff compare BEFORE mmap.jsonl",
    "memory grows as before",
    "an allocator that keeps freed memory",
);

fn shared(kind: SharedKind) -> Fixed {
    match kind {
        SharedKind::LoaderBatches => WITHOUT_FORKS,
        SharedKind::Pinned => WITHOUT_PINNING,
        SharedKind::Files | SharedKind::Anonymous | SharedKind::Unknown => LIST_SHARED,
    }
}
