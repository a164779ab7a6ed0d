//! Experiments that would refute a finding: what to run, what to expect if the finding is right, and which other
//! explanation that outcome rules out. Several findings share one.

use std::borrow::Cow;

use leveloff_classifier::finding::{NativeEvidence, ObjectFamily, SharedKind};
use leveloff_model::process::Pid;

use crate::shell::shell;

/// An experiment. `TRAIN` in a command is the job's command ([`Experiment::command_for`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Experiment {
    /// What to run.
    pub command: Cow<'static, str>,
    /// What happens if the finding is right.
    pub expected: &'static str,
    /// What is then excluded.
    pub rules_out: &'static str,
}

impl Experiment {
    /// The command for a job; as it is, where its command is not known.
    pub fn command_for(&self, job: Option<&[String]>) -> String {
        match job {
            Some(job) => self.command.replace("TRAIN", &shell(job)),
            None => self.command.to_string(),
        }
    }

    const fn new(
        command: &'static str,
        expected: &'static str,
        rules_out: &'static str,
    ) -> Experiment {
        Experiment {
            command: Cow::Borrowed(command),
            expected,
            rules_out,
        }
    }
}

/// What one process runs that its siblings do not.
pub(super) fn one_process(pid: Pid) -> Experiment {
    Experiment {
        command: format!("py-spy dump --pid {pid}; compare with a sibling of it").into(),
        expected: "it is in code, or on data, that the siblings are not",
        rules_out: "growth that every process of the role has",
    }
}

pub(super) const WATCH_SUCCESSOR: Experiment = Experiment::new(
    "leveloff record --pid PID -o successor.jsonl; leveloff judge successor.jsonl",
    "the process that replaces it grows at the same rate",
    "growth that the process needed once",
);

pub(super) const WITHOUT_EVALUATION: Experiment = Experiment::new(
    "leveloff try --arms no-evaluation,collect-garbage -- TRAIN",
    "growth stops with no-evaluation",
    "growth at every step",
);

pub(super) const WITHOUT_CHECKPOINTS: Experiment = Experiment::new(
    "leveloff try --arms no-checkpoints,collect-garbage -- TRAIN",
    "growth stops with no-checkpoints",
    "growth at every step",
);

pub(super) const WITHOUT_WORKERS_OF_EPOCHS: Experiment = Experiment::new(
    "leveloff try --arms no-workers,swap-persistent-workers,collect-garbage -- TRAIN",
    "growth stops with one of them",
    "what the script itself keeps of each epoch",
);

pub(super) const WITHOUT_CYCLES: Experiment = Experiment::new(
    "leveloff try --arms collect-garbage,drop-gradients -- TRAIN",
    "none of them has an effect",
    "reference cycles and gradients that are kept",
);

pub(super) const WITHOUT_COMPILER: Experiment = Experiment::new(
    "leveloff try --arms no-compile,no-primitive-cache -- TRAIN",
    "growth stops with one of them",
    "growth at every step",
);

pub(super) const WITHOUT_PRIMITIVES: Experiment = Experiment::new(
    "leveloff try --arms no-primitive-cache -- TRAIN",
    "growth stops with ONEDNN_PRIMITIVE_CACHE_CAPACITY=1",
    "another native leak",
);

pub(super) const WITHOUT_FIGURES: Experiment = Experiment::new(
    "leveloff try --arms close-figures -- TRAIN",
    "growth stops with close-figures",
    "native code and tensors",
);

pub(super) const WITHOUT_LOGGING: Experiment = Experiment::new(
    "leveloff try --arms no-wandb,no-tensorboard -- TRAIN",
    "growth stops with one of them",
    "the model and its data",
);

pub(super) const NAME_REFERRERS: Experiment = Experiment::new(
    "leveloff run --blame -o blame.jsonl -- TRAIN; leveloff blame blame.jsonl",
    "lines that create these objects hold the growth",
    "native libraries",
);

pub(super) fn objects(family: ObjectFamily) -> Experiment {
    match family {
        ObjectFamily::Figures => WITHOUT_FIGURES,
        ObjectFamily::Wandb | ObjectFamily::TensorBoard | ObjectFamily::QueuedItems => {
            WITHOUT_LOGGING
        }
        ObjectFamily::Loaders => WITHOUT_FORKS,
        ObjectFamily::Threads | ObjectFamily::Other => NAME_REFERRERS,
    }
}

pub(super) const WITHOUT_HOLES: Experiment = Experiment::new(
    "leveloff try --arms map-large-blocks,one-arena,trim-often -- TRAIN",
    "growth stops with one of them",
    "memory that the program still holds",
);

pub(super) const WITH_COLLECTIONS: Experiment = Experiment::new(
    "leveloff try --arms collect-garbage,drop-gradients -- TRAIN",
    "none of them has an effect",
    "reference cycles that a collection frees",
);

pub(super) const WITHOUT_NATIVE_CACHES: Experiment = Experiment::new(
    "leveloff try --arms collect-garbage,no-primitive-cache,no-compile -- TRAIN",
    "collect-garbage has no effect",
    "reference cycles of Python",
);

pub(super) const WITH_OTHER_MALLOC: Experiment = Experiment::new(
    "leveloff try --arms map-large-blocks,one-arena,jemalloc,tcmalloc,mimalloc -- TRAIN",
    "none of them has an effect",
    "malloc",
);

pub(super) const WITHOUT_FORKS: Experiment = Experiment::new(
    "leveloff try --arms no-workers -- TRAIN",
    "growth stops without workers",
    "a leak in the data set's own code",
);

pub(super) const WITHOUT_PINNING: Experiment = Experiment::new(
    "leveloff try --arms no-pinning -- TRAIN",
    "growth stops without page-locked memory",
    "batches that are kept",
);

pub(super) const LIST_SHARED: Experiment = Experiment::new(
    "grep -E 'rw-s|memfd|/dev/shm' /proc/PID/maps, twice, some minutes apart",
    "the same kind of mapping has become more or larger",
    "private memory of the process",
);

pub(super) const WITHOUT_SHARING: Experiment = Experiment::new(
    "leveloff try --arms no-workers,no-pinning,swap-persistent-workers -- TRAIN",
    "growth stops with one of them",
    "mappings that the training itself makes",
);

pub(super) const WITHOUT_FILES_OF_WORKERS: Experiment = Experiment::new(
    "leveloff try --arms no-workers -- TRAIN",
    "growth stops without workers",
    "another program on this machine",
);

pub(super) const LIST_MEMFDS: Experiment = Experiment::new(
    "ls -l /proc/PID/fd | grep -c memfd, twice, some minutes apart",
    "their number or their size (stat -Lc %b /proc/PID/fd/*) has grown",
    "files in /dev/shm",
);

pub(super) const LIST_DESCRIPTORS: Experiment = Experiment::new(
    "ls -l /proc/PID/fd | awk '{print $NF}' | sort | uniq -c | sort -n | tail",
    "one kind of file has most of the descriptors",
    "a data set whose files are opened once",
);

pub(super) const WITHOUT_WORKERS: Experiment = Experiment::new(
    "leveloff try --arms no-workers -- TRAIN",
    "growth stops without workers",
    "processes that the training starts elsewhere",
);

pub(super) const RECORD_CUDA: Experiment = Experiment::new(
    "torch.cuda.memory._record_memory_history(), later _dump_snapshot('cuda.pickle')",
    "blocks of one place in the code become more",
    "fragmentation of the CUDA allocator",
);

pub(super) const READ_PSS: Experiment = Experiment::new(
    "grep ^Pss: /proc/PID/smaps_rollup for each of the workers",
    "their sum is the smaller number",
    "memory that turning the workers off would save",
);

pub(super) const SWAP_SHARDS: Experiment = Experiment::new(
    "start the job with the ranks' shards of the data exchanged; leveloff fleet",
    "the growth moves to another rank, with the shard",
    "the rank's node, and what only this rank does",
);

pub(super) fn native(evidence: &NativeEvidence) -> Experiment {
    match evidence {
        NativeEvidence::MallocInUse { .. } => WITHOUT_NATIVE_CACHES,
        NativeEvidence::OutsideMalloc { .. } => WITH_OTHER_MALLOC,
        NativeEvidence::LevelTensors { .. } => WITHOUT_HOLES_IF_NATIVE,
    }
}

pub(super) const WITHOUT_HOLES_IF_NATIVE: Experiment = Experiment::new(
    "leveloff try --arms map-large-blocks,one-arena,trim-often -- TRAIN",
    "none of them has an effect",
    "an allocator that keeps freed memory",
);

pub(super) fn shared(kind: SharedKind) -> Experiment {
    match kind {
        SharedKind::LoaderBatches => WITHOUT_FORKS,
        SharedKind::Pinned => WITHOUT_PINNING,
        SharedKind::Files | SharedKind::Plasma | SharedKind::Memfd => LIST_SHARED,
        SharedKind::Anonymous | SharedKind::Unknown => WITHOUT_SHARING,
    }
}
