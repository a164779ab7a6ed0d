//! Findings in words: the numbers that support each, and the next step to take.

mod allocators;
mod experiment;
mod piling_up;

use std::borrow::Cow;

use leveloff_classifier::finding::{
    EventGrowth, FileOwner, Finding, Growth, SharedKind, TensorGrowth,
};
use leveloff_classifier::units::{AmountPerX, Position};
use leveloff_model::process::{Pid, Role};
use leveloff_model::training_counters::GrownTensors;
use leveloff_model::units::{Bytes, BytesPerSecond};

use crate::rate::amount;
use crate::x_position::XPosition;

pub use self::experiment::Experiment;

/// Types of tensors that are named.
const TYPES_NAMED: usize = 3;

/// A finding in English.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingWords {
    /// The numbers that support it, in one sentence without its full stop.
    pub text: String,
    /// The next command or setting to try.
    pub next: Cow<'static, str>,
    /// What would refute it.
    pub experiment: Experiment,
}

/// A finding in English.
pub fn finding_words(finding: &Finding) -> FindingWords {
    match finding {
        Finding::EvaluationGrowth(growth) => at_events(
            growth,
            "evaluation",
            AFTER_EVALUATION,
            experiment::WITHOUT_EVALUATION,
        ),
        Finding::CheckpointGrowth(growth) => at_events(
            growth,
            "checkpoint",
            AFTER_CHECKPOINT,
            experiment::WITHOUT_CHECKPOINTS,
        ),
        Finding::EpochGrowth(growth) => at_events(
            growth,
            "epoch",
            AFTER_EPOCH,
            experiment::WITHOUT_WORKERS_OF_EPOCHS,
        ),
        Finding::HeldReferences {
            tensors,
            memory,
            grown,
        } => held_references(*tensors, memory, grown),
        Finding::Recompilation(found) => piling_up::recompilation(found),
        Finding::PiledUpObjects {
            what,
            family,
            more,
            more_per_x,
            memory,
        } => piling_up::objects(what, *family, (*more, *more_per_x), memory),
        Finding::NativeGrowth {
            evidence,
            memory,
            new_shapes,
        } => piling_up::with_new_shapes(allocators::native(*evidence, memory), *new_shapes),
        Finding::AllocatorRetention(retention) => allocators::retained(retention),
        Finding::PythonObjects {
            more,
            more_per_x,
            memory,
        } => python_objects(*more, *more_per_x, memory),
        Finding::CopyOnWrite { workers, copied } => copy_on_write(*workers, copied),
        Finding::SharedMemoryGrowth { growth, kind } => shared_memory(growth, *kind),
        Finding::DevshmGrowth { growth, owner } => devshm(growth, *owner),
        Finding::MemfdGrowth(growth) => memfd(growth),
        Finding::DescriptorGrowth {
            more,
            now,
            role,
            since,
        } => descriptors(*more, *now, *role, *since),
        Finding::ProcessGrowth {
            more,
            now,
            role,
            of_role,
            since,
        } => processes(*more, *now, &members(*role, *of_role), *since),
        Finding::OneProcess {
            pid,
            role,
            of_role,
            growth,
        } => one_process(*pid, &members(*role, *of_role), growth),
        Finding::ExitedGrowth {
            pid,
            role,
            growth,
            exited,
            others,
        } => self::exited((*pid, *role), growth, *exited, *others),
        Finding::CudaGrowth(growth) => cuda(growth),
        Finding::PinnedPool { growth, now } => pinned(growth, *now),
        Finding::WorkerOvercount {
            role,
            processes,
            rss,
            memory,
        } => overcount(&members(*role, *processes), *rss, *memory),
        Finding::OutlierRank {
            growth,
            ranks,
            level,
            level_growth,
            leaking,
        } => outlier(*growth, *level_growth, [*ranks, *level, *leaking]),
    }
}

fn words(text: String, next: impl Into<Cow<'static, str>>, experiment: Experiment) -> FindingWords {
    FindingWords {
        text,
        next: next.into(),
        experiment,
    }
}

fn at_events(
    growth: &EventGrowth,
    event: &str,
    next: &'static str,
    experiment: Experiment,
) -> FindingWords {
    let EventGrowth { each, events, .. } = growth;
    let (share, since) = (growth.share * 100.0, at(growth.since));
    let events = match events {
        1 => format!("1 {event}"),
        events => format!("{events} {event}s"),
    };
    let coincident: Vec<&str> = growth.coincident.iter().map(|tick| tick.name()).collect();
    let others = match coincident.is_empty() {
        true => String::new(),
        false => format!(
            "; {}s come at the same moments, and it may be theirs",
            coincident.join("s and ")
        ),
    };
    let text = format!(
        "{each} stay after each {event}: {share:.0} % of the growth over {events} since {since}{others}"
    );
    words(text, next, experiment)
}

const AFTER_EVALUATION: &str = "evaluate under torch.no_grad() and keep numbers, not outputs; in the \
    HF Trainer try prediction_loss_only=True; if gc.collect() after an evaluation helps, reference cycles \
    hold the memory, else references that are kept";

const AFTER_CHECKPOINT: &str = "call gc.collect() after each save: torch.save (seen with torch 2.8) \
    leaves cyclic garbage that holds what was saved until a collection runs; if that does not help, \
    look for copies of the state that are kept";

const AFTER_EPOCH: &str = "look for what each epoch creates again: loaders with \
    persistent_workers=True that are never dropped, metrics and outputs kept over epochs";

fn held_references(tensors: TensorGrowth, memory: &Growth, grown: &[GrownTensors]) -> FindingWords {
    let (while_memory_grew, types) = (while_memory_grew(memory), types(grown));
    match tensors {
        TensorGrowth::Number {
            more,
            more_per_x: AmountPerX(more_per_x),
        } => {
            let unit = memory.since.unit.name();
            let text = format!(
                "live tensors rise with memory: {more:+} ({more_per_x:+.2} per {unit}) \
                 {while_memory_grew}, so references are kept{types}"
            );
            words(text, LOOK_FOR_REFERENCES, experiment::WITHOUT_CYCLES)
        }
        TensorGrowth::Size { more, tensors } => {
            let text = format!("{tensors} tensors hold {more} more {while_memory_grew}{types}");
            words(text, LOOK_FOR_EXTENDED_TENSORS, experiment::WITHOUT_CYCLES)
        }
    }
}

const LOOK_FOR_REFERENCES: &str = "look for losses or outputs that are appended or summed without \
    .detach() or .item(), and for caches without a bound; a cache that is meant to fill ends with the \
    first epoch";

const LOOK_FOR_EXTENDED_TENSORS: &str = "look for tensors that are kept or extended at each step: \
    torch.cat onto a history, replay buffers, key-value caches, outputs without .detach()";

fn python_objects(more: i64, AmountPerX(more_per_x): AmountPerX, memory: &Growth) -> FindingWords {
    let (unit, while_memory_grew) = (memory.since.unit.name(), while_memory_grew(memory));
    let text = format!(
        "Python objects rise with memory: {more:+} blocks ({more_per_x:+.1} per {unit}) \
         {while_memory_grew}: objects other than tensors are kept"
    );
    let next = "look for lists, dicts and strings that grow: metrics, logs, samples cached by index; \
                tracemalloc.start() and a snapshot's compare_to() name the lines";
    words(text, next, experiment::WITH_COLLECTIONS)
}

fn copy_on_write(workers: usize, copied: &Growth) -> FindingWords {
    let (workers, since) = (members(Role::DataloaderWorker, workers), at(copied.since));
    let text = format!(
        "{workers} copied {} of pages that the fork shared since {since} while their RSS stayed the same: \
         Python writes reference counts into the shared objects (pytorch#13246)",
        copied.bytes
    );
    let next = "hold the data set in arrays (NumPy, torch, Arrow) and not in lists or dicts of Python \
                objects; the growth is bounded by the size of the list times the number of workers";
    words(text, next, experiment::WITHOUT_FORKS)
}

fn shared_memory(growth: &Growth, kind: SharedKind) -> FindingWords {
    let (what, next) = match kind {
        SharedKind::LoaderBatches => ("batches from loader workers are kept", COPY_BATCHES),
        SharedKind::Files => (
            "files in /dev/shm that a process maps, not batches of loader workers",
            LOOK_AT_SHARED_FILES,
        ),
        SharedKind::Plasma => ("Ray's object store", RELEASE_OBJECTS),
        SharedKind::Memfd => (
            "memfds that a process maps, not batches of loader workers",
            LOOK_AT_SHARED_MAPPINGS,
        ),
        SharedKind::Anonymous => (
            "anonymous shared mappings, not batches of loader workers",
            LOOK_AT_SHARED_MAPPINGS,
        ),
        SharedKind::Pinned => ("page-locked memory of a GPU driver", PAD_BATCHES),
        SharedKind::Unknown => (
            "no loader worker lives in this run, and the mappings were not read",
            LOOK_AT_SHARED_MAPPINGS,
        ),
    };
    let text = format!("shared memory {}: {what}", grown(growth));
    words(text, next, experiment::shared(kind))
}

const COPY_BATCHES: &str = "copy what is kept (batch.clone()) so that the worker's segment is freed, or keep \
    numbers; `ls -l /proc/PID/fd | grep torch_` shows the segments that are held";

const LOOK_AT_SHARED_FILES: &str = "`grep /dev/shm /proc/PID/maps` names them: psm_ are \
    multiprocessing.shared_memory blocks that must be closed and unlinked";

const RELEASE_OBJECTS: &str = "`ray memory` lists the objects and who refers to them; drop ObjectRefs and arrays that ray.get \
    returned, because an array keeps its object in the store";

const LOOK_AT_SHARED_MAPPINGS: &str = "`grep -E 'rw-s|memfd' /proc/PID/maps` names the mappings; CUDA's pinned \
    pool looks like this (try pin_memory=False), and so do multiprocessing.Array and memfd buffers";

const PAD_BATCHES: &str = "the pool rounds blocks up to a power of two and returns none, so batches of ever new \
    sizes fill it; pad them to a few sizes, lower prefetch_factor, or try pin_memory=False";

fn devshm(growth: &Growth, owner: FileOwner) -> FindingWords {
    let whose = match owner {
        FileOwner::Run => {
            "processes of this run have them open, or the files' names hold their pids"
        }
        FileOwner::FollowsSteps => "they grow with the run's steps",
        FileOwner::Unknown => {
            "nothing ties them to this run, and /dev/shm belongs to the whole machine"
        }
    };
    let text = format!(
        "files in /dev/shm {}, and no process maps them: {whose}",
        grown(growth)
    );
    let next = "`ls -lS /dev/shm` lists them; the run must unlink what it writes there, and \
                torch.multiprocessing's file_system strategy leaves files behind when a process is killed";
    words(text, next, experiment::WITHOUT_FILES_OF_WORKERS)
}

fn memfd(growth: &Growth) -> FindingWords {
    let text = format!(
        "memfds that processes of this run hold open {}, and no process maps them",
        self::grown(growth)
    );
    let next = "`ls -l /proc/PID/fd | grep memfd` lists them by name; each keeps its memory until the last \
                descriptor of it is closed, also where another process received it";
    words(text, next, experiment::LIST_MEMFDS)
}

fn descriptors(more: u64, now: u64, role: Role, since: Position) -> FindingWords {
    let since = at(since);
    let text =
        format!("open descriptors rose by {more} to {now} since {since}, most in the {role}");
    let next = "`ls -l /proc/PID/fd` lists them; each batch of a loader worker that is kept holds one \
                (torch.multiprocessing.set_sharing_strategy('file_system') only hides that), else look \
                for files that are opened and not closed";
    words(text, next, experiment::LIST_DESCRIPTORS)
}

fn processes(more: u64, now: u64, most: &str, since: Position) -> FindingWords {
    let since = at(since);
    let text = format!("processes rose by {more} to {now} since {since}: {most} now");
    let next = "a DataLoader with workers that is created again each epoch and never dropped keeps its \
                workers: create it once, or delete it; `leveloff find --pid PID` lists them";
    words(text, next, experiment::WITHOUT_WORKERS)
}

fn one_process(pid: Pid, siblings: &str, growth: &Growth) -> FindingWords {
    let text = format!(
        "one of {siblings}, process {pid}, {}; the others hardly grew",
        grown(growth)
    );
    let next = format!(
        "`py-spy dump --pid {pid}` shows what it runs; compare what it holds with what its siblings hold"
    );
    words(text, next, experiment::one_process(pid))
}

fn exited(
    (pid, role): (Pid, Role),
    growth: &Growth,
    exited: Position,
    others: usize,
) -> FindingWords {
    let others = match others {
        0 => String::new(),
        1 => "; another process did the same".to_owned(),
        others => format!("; {others} other processes did the same"),
    };
    let text = format!(
        "process {pid} ({role}) {}, and exited at {}: no total has that memory any more{others}",
        grown(growth),
        at(exited)
    );
    let next = "the leak ended with the process, and a process that replaces it may leak again: look at what it \
                ran, and how long the next one of its kind lives";
    words(text, next, experiment::WATCH_SUCCESSOR)
}

fn cuda(growth: &Growth) -> FindingWords {
    let text = format!("GPU memory held by the CUDA allocator {}", grown(growth));
    let next = "torch.cuda.memory._record_memory_history() and _dump_snapshot() (torch 2.1 and later) \
                show which code allocated it";
    words(text, next, experiment::RECORD_CUDA)
}

fn pinned(growth: &Growth, now: Bytes) -> FindingWords {
    let (bytes, since) = (growth.bytes, at(growth.since));
    let text = format!(
        "page-locked host memory that CUDA's host allocator holds grew by {bytes} to {now} since {since}"
    );
    words(text, PAD_BATCHES, experiment::WITHOUT_PINNING)
}

fn overcount(workers: &str, rss: Bytes, memory: Bytes) -> FindingWords {
    let text = format!("{workers}: {rss} of RSS, {memory} of memory");
    let next = "read the memory, not the sum of RSS, which counts a shared page once for each of them; \
                turning these workers off would save the smaller number";
    words(text, next, experiment::READ_PSS)
}

fn outlier(
    growth: Option<BytesPerSecond>,
    level_growth: Option<BytesPerSecond>,
    [ranks, level, leaking]: [usize; 3],
) -> FindingWords {
    let per_hour = |rate: BytesPerSecond| format!("{} per hour", amount(rate.0 * 3600.0));
    let own = growth.map_or_else(String::new, |rate| format!(" by {}", per_hour(rate)));
    let fastest = level_growth.map_or_else(String::new, |rate| {
        format!(", none grows by more than {}", per_hour(rate))
    });
    let leak = if leaking == 1 { "leaks" } else { "leak" };
    let text =
        format!("grows{own}; of {ranks} ranks, {level} are level{fastest}, and {leaking} {leak}");
    let next = "all ranks run the same model, so look at what else this one does (its shard of the data, \
                its node, and, if it is rank 0, logging, evaluation and checkpoints); `leveloff watch` on \
                its node shows which process and which kind of memory grow";
    words(text, next, experiment::SWAP_SHARDS)
}

/// `grew by 1.2 GiB since step 40`
fn grown(growth: &Growth) -> String {
    format!("grew by {} since {}", growth.bytes, at(growth.since))
}

/// `while memory grew by 1.2 GiB since step 40`
fn while_memory_grew(growth: &Growth) -> String {
    format!("while memory {}", grown(growth))
}

/// ` and tensors stay at 6529`, where they are counted.
fn level_tensors(tensors: Option<u64>) -> String {
    tensors.map_or_else(String::new, |tensors| {
        format!(" and tensors stay at {tensors}")
    })
}

/// `; most of them float32[64, 1024] cpu (+400, 100 MiB)`
fn types(grown: &[GrownTensors]) -> String {
    let named = grown.iter().take(TYPES_NAMED);
    let types: Vec<String> = named
        .map(|of_type| {
            let GrownTensors {
                what,
                more,
                more_bytes,
            } = of_type;
            format!("{what} (+{more}, {more_bytes})")
        })
        .collect();
    match types.is_empty() {
        true => String::new(),
        false => format!("; most of them {}", types.join(", ")),
    }
}

fn at(position: Position) -> XPosition {
    XPosition::new(position.x, position.unit)
}

/// `4 dataloader workers`
fn members(role: Role, count: usize) -> String {
    let name = role.name().replace('-', " ");
    match count {
        1 => format!("1 {name}"),
        count if role == Role::Other => format!("{count} other processes"),
        count => format!("{count} {name}s"),
    }
}

#[cfg(test)]
mod tests;
