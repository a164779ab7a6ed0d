//! Growth in native code and memory that an allocator keeps, in words.

use leveloff_classifier::finding::{Growth, NativeEvidence, Retention};

use super::{Experiment, FindingWords, experiment, grown, level_tensors, while_memory_grew, words};

pub(super) fn native(evidence: NativeEvidence, memory: &Growth) -> FindingWords {
    let while_memory_grew = while_memory_grew(memory);
    let experiment = experiment::native(&evidence);
    match evidence {
        NativeEvidence::MallocInUse {
            more,
            tensors,
            python_blocks,
        } => {
            let level = level_tensors(tensors);
            let text = format!(
                "malloc has {more} more in use {while_memory_grew}{level}: native code keeps it"
            );
            malloc_in_use(text, tensors, python_blocks, experiment)
        }
        NativeEvidence::OutsideMalloc { tensors } => {
            let (grown, level) = (grown(memory), level_tensors(tensors));
            let text = format!(
                "memory {grown}, but malloc does not hold it{level}: a library or a driver maps it directly"
            );
            words(text, LOOK_AT_MAPPINGS, experiment)
        }
        NativeEvidence::LevelTensors { tensors } => {
            let text = format!(
                "tensors stay at {tensors} {while_memory_grew}: no references to tensors pile up; native \
                 code keeps the memory, or the allocator does not return it"
            );
            words(text, TRY_WITHOUT_HOLES, experiment)
        }
    }
}

fn malloc_in_use(
    text: String,
    tensors: Option<u64>,
    blocks: Option<i64>,
    experiment: Experiment,
) -> FindingWords {
    match (tensors, blocks) {
        (None, _) => words(
            format!("{text}, or tensors do, which were not counted"),
            COUNT_TENSORS,
            experiment,
        ),
        (Some(_), Some(more)) => words(
            format!(
                "{text}, or Python objects do: their arrays, images and bytes are in malloc's memory, and \
                 the number of objects rises too ({more:+} blocks)"
            ),
            LOOK_FOR_ARRAYS,
            experiment,
        ),
        (Some(_), None) => words(text, TRACE_NATIVE_CODE, experiment),
    }
}

const COUNT_TENSORS: &str = "leveloff.configure(tensors=True, budget=0.02) counts tensors within seconds: \
    if they rise with memory, references are kept; if not, `memray run --native` names the allocating code";

const LOOK_FOR_ARRAYS: &str = "look for arrays, images or bytes that are kept in lists or dicts: \
    tracemalloc.start() and a snapshot's compare_to() name the lines; if there are none, \
    `memray run --native` names the native code";

const TRACE_NATIVE_CODE: &str = "`memray run --native` names the allocating code, but does not see a \
    malloc that is reached through dlsym; jemalloc with MALLOC_CONF=prof:true does";

const LOOK_AT_MAPPINGS: &str = "`pmap -x PID | sort -n -k3` shows the mappings that grow; stacks of \
    threads, arenas of other allocators and buffers of readers are mapped this way";

const TRY_WITHOUT_HOLES: &str = "run once with MALLOC_MMAP_THRESHOLD_=65536 (glibc): if growth stops, the \
    heap was fragmented, and MALLOC_ARENA_MAX=2, jemalloc or a malloc_trim(0) now and then cure it; if \
    not, `memray run --native` names the allocating code, but does not see a malloc that is reached \
    through dlsym";

pub(super) fn retained(retention: &Retention) -> FindingWords {
    match retention {
        Retention::MallocFree {
            in_use,
            in_use_rose,
            kept,
            memory,
            trimmed,
        } => {
            let in_use = match in_use_rose {
                None => format!("stays at {in_use}"),
                Some(more) => format!("rose by {more} to {in_use}"),
            };
            let while_memory_grew = while_memory_grew(memory);
            let trimmed = trimmed.map_or_else(String::new, |trimmed| {
                format!("; malloc_trim returned {trimmed}")
            });
            let text = format!(
                "what malloc has in use {in_use}, but it keeps {kept} more of freed memory \
                 {while_memory_grew}: the heap is fragmented, and the program does not hold this \
                 memory{trimmed}"
            );
            words(text, AGAINST_HOLES, experiment::WITHOUT_HOLES)
        }
        Retention::VaryingTensors {
            tensors,
            range,
            memory,
        } => {
            let while_memory_grew = while_memory_grew(memory);
            let text = format!(
                "the number of tensors varies ({tensors} now, over a range of {range}) but does not rise \
                 {while_memory_grew}: freed memory is not returned"
            );
            words(text, AGAINST_HOLES_AND_CYCLES, experiment::WITHOUT_HOLES)
        }
        Retention::Trimmed { trimmed } => {
            let text = format!(
                "malloc_trim returned {trimmed}: memory had been freed, but not returned to the system"
            );
            words(text, AGAINST_HOLES, experiment::WITHOUT_HOLES)
        }
    }
}

const AGAINST_HOLES: &str = "MALLOC_MMAP_THRESHOLD_=65536 (glibc) keeps large blocks out of the heap; also \
    MALLOC_ARENA_MAX=2, jemalloc, or malloc_trim(0) now and then";

const AGAINST_HOLES_AND_CYCLES: &str = "try MALLOC_MMAP_THRESHOLD_=65536 or jemalloc; gc.collect() every \
    few hundred steps keeps reference cycles from holding batches";
