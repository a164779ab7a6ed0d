//! What the evidence of a run shows beside its verdict: each finding with the numbers that support it.
//! The words, and the next step, are written where findings are printed.
//!
//! A new finding takes three files: its variant and name here, its rule in `run/findings`, and its words and its
//! experiment in `finding.rs` of leveloff-text.
//!
//! Serialized, a finding is the numbers that it rests on: the `evidence` of the JSON outputs, whose keys are a contract.

use leveloff_model::process::{Pid, Role};
use leveloff_model::training_counters::{GrownTensors, RecompileReason};
use leveloff_model::units::{Bytes, BytesPerSecond};
use serde::{Serialize, Serializer};

use crate::clock_tick::ClockTick;
use crate::units::{AmountPerX, Position};

/// Something that the evidence shows.
///
/// ```
/// use leveloff_classifier::finding::Finding;
/// use leveloff_model::process::Role;
/// use leveloff_model::units::{Bytes, BytesPerSecond};
///
/// let finding = Finding::WorkerOvercount {
///     role: Role::CompileWorker,
///     processes: 20,
///     rss: Bytes(7 << 30),
///     memory: Bytes(512 << 20),
/// };
/// assert_eq!(finding.name(), "worker-overcount");
/// assert!(Finding::NAMES.contains(&finding.name()));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Finding {
    /// Memory grows at evaluations.
    EvaluationGrowth(EventGrowth),
    /// Memory grows at checkpoints.
    CheckpointGrowth(EventGrowth),
    /// Memory grows at the end of epochs.
    EpochGrowth(EventGrowth),
    /// Tensors grow in number or in size: the program keeps references to them.
    HeldReferences {
        /// What grew.
        #[serde(flatten)]
        tensors: TensorGrowth,
        /// Growth of memory in the same stretch.
        #[serde(flatten)]
        memory: Growth,
        /// Which tensors became more, most bytes first, where the training counts them by type and shape.
        #[serde(skip)]
        grown: Vec<GrownTensors>,
    },
    /// Compilers compile again and again, and keep each graph.
    Recompilation(Recompilation),
    /// Objects that hold much, such as figures, pile up.
    PiledUpObjects {
        /// Their class, in the training's own words.
        #[serde(rename = "class")]
        what: String,
        /// What they are.
        family: ObjectFamily,
        /// How many more there are.
        #[serde(rename = "more_objects")]
        more: u64,
        /// The same for each unit of x.
        #[serde(rename = "more_objects_per_x")]
        more_per_x: AmountPerX,
        /// Growth of memory in the same stretch.
        #[serde(flatten)]
        memory: Growth,
    },
    /// Memory grows outside tensors and Python objects.
    NativeGrowth {
        /// How that is known.
        #[serde(flatten)]
        evidence: NativeEvidence,
        /// Growth of memory in the same stretch.
        #[serde(flatten)]
        memory: Growth,
        /// New shapes of inputs that came with the growth, on a CPU and without a compiler: caches of kernels may hold them.
        new_shapes: Option<u64>,
    },
    /// The allocator keeps memory that the program freed.
    AllocatorRetention(Retention),
    /// Python objects other than tensors become more.
    PythonObjects {
        /// How many more blocks Python's allocator has given out.
        #[serde(rename = "more_blocks")]
        more: i64,
        /// The same for each unit of x.
        #[serde(rename = "more_blocks_per_x")]
        more_per_x: AmountPerX,
        /// Growth of memory in the same stretch.
        #[serde(flatten)]
        memory: Growth,
    },
    /// Forked loader workers copy pages that they shared with the trainer.
    CopyOnWrite {
        /// How many workers.
        workers: usize,
        /// How much they copied.
        #[serde(flatten)]
        copied: Growth,
    },
    /// Shared memory has a notable part of the growth.
    SharedMemoryGrowth {
        /// How much it grew.
        #[serde(flatten)]
        growth: Growth,
        /// What it is.
        kind: SharedKind,
    },
    /// Files in /dev/shm grow that no process maps.
    DevshmGrowth {
        /// How much they grew.
        #[serde(flatten)]
        growth: Growth,
        /// Whose they are. /dev/shm belongs to the whole machine.
        owner: FileOwner,
    },
    /// memfds that processes of the run hold grow, and no process maps them.
    MemfdGrowth(Growth),
    /// Open descriptors pile up.
    DescriptorGrowth {
        /// How many more there are.
        more: u64,
        /// How many there are now.
        now: u64,
        /// The role that has most of the growth.
        #[serde(serialize_with = "role_name")]
        role: Role,
        /// Where that began.
        #[serde(rename = "since_x", serialize_with = "only_x")]
        since: Position,
    },
    /// Processes pile up.
    ProcessGrowth {
        /// How many more there are.
        more: u64,
        /// How many there are now.
        now: u64,
        /// The role that has most of them.
        #[serde(serialize_with = "role_name")]
        role: Role,
        /// How many it has.
        of_role: usize,
        /// Where that began.
        #[serde(rename = "since_x", serialize_with = "only_x")]
        since: Position,
    },
    /// One of several processes of a role grows, and the others do not.
    OneProcess {
        /// The process.
        pid: Pid,
        /// Its role.
        #[serde(serialize_with = "role_name")]
        role: Role,
        /// How many processes the role has.
        of_role: usize,
        /// How much the process grew.
        #[serde(flatten)]
        growth: Growth,
    },
    /// A process grew until it exited: no total has its memory any more.
    ExitedGrowth {
        /// The process.
        pid: Pid,
        /// Its role.
        #[serde(serialize_with = "role_name")]
        role: Role,
        /// How much it grew.
        #[serde(flatten)]
        growth: Growth,
        /// When it was last seen.
        #[serde(rename = "exited_x", serialize_with = "only_x")]
        exited: Position,
        /// Other processes that grew until they exited.
        others: usize,
    },
    /// The CUDA allocator holds more and more.
    CudaGrowth(Growth),
    /// Page-locked host memory grows.
    PinnedPool {
        /// How much it grew.
        #[serde(flatten)]
        growth: Growth,
        /// How much there is now.
        #[serde(rename = "bytes")]
        now: Bytes,
    },
    /// A role whose sum of RSS counts shared pages many times over.
    WorkerOvercount {
        /// The role.
        #[serde(serialize_with = "role_name")]
        role: Role,
        /// How many processes it has.
        processes: usize,
        /// The sum of their RSS.
        #[serde(rename = "rss_bytes")]
        rss: Bytes,
        /// Their memory, each shared page counted once.
        #[serde(rename = "bytes")]
        memory: Bytes,
    },
    /// One of few ranks that leak while the others are level.
    OutlierRank {
        /// How fast it grows, where its pace is known.
        #[serde(rename = "bytes_per_s")]
        growth: Option<BytesPerSecond>,
        /// Ranks of the job.
        ranks: usize,
        /// Those that are level.
        level: usize,
        /// The growth of the fastest of these, if they grow at all.
        #[serde(rename = "level_bytes_per_s")]
        level_growth: Option<BytesPerSecond>,
        /// Those that leak.
        leaking: usize,
    },
}

/// Growth that comes with compilations.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recompilation {
    /// How it is known.
    pub evidence: CompilationEvidence,
    /// Graphs that were compiled since the growth began.
    pub compilations: u64,
    /// How much memory grew for each.
    #[serde(rename = "each_bytes")]
    pub each: Bytes,
    /// Compilations of known code in the whole run so far.
    pub recompilations: u64,
    /// New shapes of inputs since the growth began, where the training counts them.
    pub new_shapes: Option<u64>,
    /// Why, most frequent first, where the compiler says so.
    #[serde(serialize_with = "reason_rows")]
    pub reasons: Vec<RecompileReason>,
    /// Growth of memory in the same stretch.
    #[serde(flatten)]
    pub memory: Growth,
}

/// How it is known that growth comes with compilations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CompilationEvidence {
    /// They explain the growth better than steps, time and everything else that is counted.
    BestClock,
    /// They rise with memory, but as evenly as the steps, so that the two cannot be distinguished.
    AsEvenAsSteps,
}

/// What objects that pile up are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ObjectFamily {
    /// Figures of matplotlib.
    Figures,
    /// What wandb holds until it is sent.
    Wandb,
    /// What TensorBoard holds until it is written.
    TensorBoard,
    /// Items of queues between threads.
    QueuedItems,
    /// Loaders that are created again and again.
    Loaders,
    /// Threads.
    Threads,
    /// Any other class.
    Other,
}

/// What shared memory is, by the names of its mappings and the processes of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SharedKind {
    /// Files in /dev/shm while loader workers live: batches that they handed over.
    LoaderBatches,
    /// Files in /dev/shm of a run without loader workers, or that are not torch's.
    Files,
    /// Ray's object store.
    Plasma,
    /// memfds.
    Memfd,
    /// System V or anonymous shared mappings; in recordings of earlier versions also memfd.
    Anonymous,
    /// Mappings of a GPU driver, or anonymous ones of a run that counts pinned memory: page-locked memory.
    Pinned,
    /// The mappings were not read.
    Unknown,
}

/// Whose files in /dev/shm are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileOwner {
    /// The run's: its processes have them open, or their names have the number of one of its processes.
    Run,
    /// The run's, because they grow with its steps and not with time.
    FollowsSteps,
    /// Nothing shows that they are the run's.
    Unknown,
}

/// An amount by which something grew, and since when.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Growth {
    /// How much.
    #[serde(rename = "growth_bytes")]
    pub bytes: Bytes,
    /// Where the growth began.
    #[serde(rename = "since_x", serialize_with = "only_x")]
    pub since: Position,
}

/// Growth that comes with events of one kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EventGrowth {
    /// What stays after each event.
    #[serde(rename = "each_bytes")]
    pub each: Bytes,
    /// Events since the growth began.
    pub events: u64,
    /// Their share of all growth since then, at most one.
    pub share: f64,
    /// Where the growth began.
    #[serde(rename = "since_x", serialize_with = "only_x")]
    pub since: Position,
    /// Events of other kinds that come at the same moments, and explain the growth as well.
    #[serde(serialize_with = "clock_names")]
    pub coincident: Vec<ClockTick>,
}

/// How tensors grew.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum TensorGrowth {
    /// They became more.
    Number {
        /// How many more.
        #[serde(rename = "more_tensors")]
        more: i64,
        /// The same for each unit of x.
        #[serde(rename = "more_tensors_per_x")]
        more_per_x: AmountPerX,
    },
    /// They hold more bytes.
    Size {
        /// How many more bytes they hold.
        #[serde(rename = "more_tensor_bytes")]
        more: Bytes,
        /// How many tensors there are now.
        tensors: u64,
    },
}

/// How it is known that growth is native.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum NativeEvidence {
    /// malloc has more in use.
    MallocInUse {
        /// How much more.
        #[serde(rename = "more_in_use_bytes")]
        more: Bytes,
        /// Live tensors, which do not rise; `None` if they were not counted.
        tensors: Option<u64>,
        /// How many more blocks Python's allocator has given out, if they rise with memory: arrays, images and
        /// bytes that Python objects hold are in malloc's memory too.
        #[serde(rename = "more_python_blocks")]
        python_blocks: Option<i64>,
    },
    /// malloc does not have the memory: it is mapped directly.
    OutsideMalloc {
        /// Live tensors, which do not rise; `None` if they were not counted.
        tensors: Option<u64>,
    },
    /// Tensors do not rise, and nothing is known of malloc.
    LevelTensors {
        /// Live tensors.
        tensors: u64,
    },
}

/// How it is known that freed memory is kept.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Retention {
    /// By malloc's own statistics.
    MallocFree {
        /// What malloc has in use.
        #[serde(rename = "in_use_bytes")]
        in_use: Bytes,
        /// How much that rose; `None` if it is level.
        #[serde(rename = "more_in_use_bytes")]
        in_use_rose: Option<Bytes>,
        /// How much more freed memory malloc keeps.
        #[serde(rename = "kept_bytes")]
        kept: Bytes,
        /// What a `malloc_trim` returned, if that is much.
        #[serde(rename = "trimmed_bytes")]
        trimmed: Option<Bytes>,
        /// Growth of memory in the same stretch.
        #[serde(flatten)]
        memory: Growth,
    },
    /// The number of tensors varies and does not rise.
    VaryingTensors {
        /// Live tensors now.
        tensors: u64,
        /// Between the fewest and the most.
        range: u64,
        /// Growth of memory in the same stretch.
        #[serde(flatten)]
        memory: Growth,
    },
    /// A `malloc_trim` returned much, and the growth ended.
    Trimmed {
        /// How much.
        #[serde(rename = "trimmed_bytes")]
        trimmed: Bytes,
    },
}

impl Finding {
    /// The tensors that it names, in the training's own words.
    pub fn grown_tensors(&self) -> &[GrownTensors] {
        match self {
            Finding::HeldReferences { grown, .. } => grown,
            _ => &[],
        }
    }

    /// All that is in the training's own words, for a report that must not repeat all of them.
    pub fn own_words(&self) -> Vec<&str> {
        match self {
            Finding::HeldReferences { grown, .. } => {
                grown.iter().map(|grown| grown.what.as_str()).collect()
            }
            Finding::Recompilation(found) => {
                found.reasons.iter().map(|one| one.what.as_str()).collect()
            }
            Finding::PiledUpObjects { what, .. } => vec![what],
            _ => Vec::new(),
        }
    }

    /// The same, to be changed.
    pub fn own_words_mut(&mut self) -> Vec<&mut String> {
        match self {
            Finding::HeldReferences { grown, .. } => {
                grown.iter_mut().map(|grown| &mut grown.what).collect()
            }
            Finding::Recompilation(found) => {
                found.reasons.iter_mut().map(|one| &mut one.what).collect()
            }
            Finding::PiledUpObjects { what, .. } => vec![what],
            _ => Vec::new(),
        }
    }
}

/// Names each finding once, strongest evidence first, so that the list of names is complete.
macro_rules! names {
    ($($variant:ident => $name:literal,)*) => {
        impl Finding {
            /// The names of all findings, strongest evidence first.
            pub const NAMES: &[&str] = &[$($name),*];

            /// A stable name, as in JSON.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Finding::$variant { .. } => $name,)*
                }
            }
        }
    };
}

names! {
    EvaluationGrowth => "evaluation-growth",
    CheckpointGrowth => "checkpoint-growth",
    EpochGrowth => "epoch-growth",
    HeldReferences => "held-references",
    Recompilation => "recompilation",
    PiledUpObjects => "piled-up-objects",
    NativeGrowth => "native-growth",
    AllocatorRetention => "allocator-retention",
    PythonObjects => "python-objects",
    CopyOnWrite => "copy-on-write",
    SharedMemoryGrowth => "shared-memory-growth",
    DevshmGrowth => "devshm-growth",
    MemfdGrowth => "memfd-growth",
    DescriptorGrowth => "fd-growth",
    ProcessGrowth => "process-growth",
    OneProcess => "one-process",
    ExitedGrowth => "exited-growth",
    CudaGrowth => "cuda-growth",
    PinnedPool => "pinned-pool",
    WorkerOvercount => "worker-overcount",
    OutlierRank => "outlier-rank",
}

fn only_x<S: Serializer>(position: &Position, serializer: S) -> Result<S::Ok, S::Error> {
    position.x.serialize(serializer)
}

fn role_name<S: Serializer>(role: &Role, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(role.name())
}

fn clock_names<S: Serializer>(ticks: &[ClockTick], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(ticks.iter().map(|tick| tick.name()))
}

fn reason_rows<S: Serializer>(
    reasons: &[RecompileReason],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Row<'a> {
        kind: &'static str,
        what: &'a str,
        times: u64,
    }
    serializer.collect_seq(reasons.iter().map(|reason| Row {
        kind: reason.kind.name(),
        what: &reason.what,
        times: reason.count,
    }))
}
