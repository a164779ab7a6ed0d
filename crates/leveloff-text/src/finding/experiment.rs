//! Experiments that would refute a finding: what to run, what to expect if the finding is right, and which other
//! explanation that outcome rules out. Several findings share one.

use std::borrow::Cow;

use leveloff_classifier::finding::{NativeEvidence, ObjectFamily, SharedKind};
use leveloff_model::process::Pid;

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

impl Experiment {
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
    "leveloff try --arms none --arm 'without=TRAIN with evaluation off' -- TRAIN",
    "growth stops without evaluations",
    "growth at every step",
);

pub(super) const WITHOUT_CHECKPOINTS: Experiment = Experiment::new(
    "leveloff try --arms none --arm 'without=TRAIN without saving' -- TRAIN",
    "growth stops without checkpoints",
    "growth at every step",
);

pub(super) const LONGER_EPOCHS: Experiment = Experiment::new(
    "leveloff run -o longer.jsonl -- TRAIN with epochs of twice the length; leveloff compare BEFORE longer.jsonl",
    "growth per step is half of what it was",
    "growth at every step",
);

pub(super) const COUNT_SHAPES: Experiment = Experiment::new(
    "leveloff try --arms none --arm 'detached=TRAIN with .detach() or .item() on what is kept' -- TRAIN",
    "growth stops, and tensors stay as many",
    "native code and the allocator",
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
    "leveloff try --arms none --arm \"closed=TRAIN with plt.close('all') after each plot\" -- TRAIN",
    "growth stops, and no figure stays open",
    "native code and tensors",
);

pub(super) const WITHOUT_LOGGING: Experiment = Experiment::new(
    "leveloff try --arms no-wandb --arm 'quiet=TRAIN with logging off' -- TRAIN",
    "growth stops, and the objects stay as many",
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
        ObjectFamily::Loaders | ObjectFamily::Threads | ObjectFamily::Other => NAME_REFERRERS,
    }
}

pub(super) const WITHOUT_HOLES: Experiment = Experiment::new(
    "leveloff try --arms map-large-blocks,one-arena,trim-often -- TRAIN",
    "growth stops with one of them",
    "memory that the program still holds",
);

pub(super) const TRACE_PYTHON: Experiment = Experiment::new(
    "leveloff run --blame -o blame.jsonl -- TRAIN; leveloff blame blame.jsonl",
    "lines of Python code hold the growth",
    "native libraries",
);

pub(super) const TRACE_NATIVE: Experiment = Experiment::new(
    "leveloff run --blame -o blame.jsonl -- TRAIN; leveloff blame blame.jsonl",
    "the growth is in native frames, and no list or dict of Python holds it",
    "references that Python keeps",
);

pub(super) const LIST_MAPPINGS: Experiment = Experiment::new(
    "pmap -x PID > before; some minutes later: pmap -x PID > after; diff before after",
    "mappings other than [heap] grow",
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

pub(super) const WATCH_FILES: Experiment = Experiment::new(
    "ls -ltr /dev/shm | tail; stop the run; ls -ltr /dev/shm | tail",
    "no new file appears once the run has stopped",
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
    "leveloff run -o single.jsonl -- TRAIN with num_workers=0; leveloff compare BEFORE single.jsonl",
    "the number of processes stays the same",
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
        NativeEvidence::MallocInUse { .. } => TRACE_NATIVE,
        NativeEvidence::OutsideMalloc { .. } => LIST_MAPPINGS,
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
        SharedKind::Files
        | SharedKind::Plasma
        | SharedKind::Memfd
        | SharedKind::Anonymous
        | SharedKind::Unknown => LIST_SHARED,
    }
}
