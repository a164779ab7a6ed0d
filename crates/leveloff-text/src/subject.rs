//! The series of a run, by name and in words.

use leveloff_classifier::run_curves::Series;
use leveloff_classifier::verdict::{Judgement, Kind, RunVerdict, Subject};
use leveloff_model::process::{Pid, Role};
use leveloff_model::training_counters::TrainingCounter;

/// What a series is made of, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// A stable name of the sort of series.
    pub series: &'static str,
    /// The role it is about.
    pub role: Option<Role>,
    /// The process it is about.
    pub pid: Option<Pid>,
    /// The kind of memory it is about.
    pub kind: Option<Kind>,
}

/// Takes a subject apart.
pub fn parts(subject: Subject) -> Parts {
    let (series, role, pid, kind) = match subject {
        Subject::Memory => ("memory", None, None, None),
        Subject::Role(role) => ("role", Some(role), None, None),
        Subject::RoleKind(role, kind) => ("role_kind", Some(role), None, Some(kind)),
        Subject::Process(pid, role) => ("process", Some(role), Some(pid), None),
        Subject::DevShm => ("devshm", None, None, Some(Kind::DevShm)),
        Subject::Descriptors => ("descriptors", None, None, None),
        Subject::Processes => ("processes", None, None, None),
        Subject::Counter(fact) => (Series::Counter(fact).name(), None, None, None),
    };
    Parts {
        series,
        role,
        pid,
        kind,
    }
}

/// What is counted, when the series is a count and not an amount of memory.
pub fn things(subject: Subject) -> Option<&'static str> {
    match subject {
        Subject::Descriptors => Some("open descriptors"),
        Subject::Processes => Some("processes"),
        Subject::Counter(TrainingCounter::Tensors) => Some("tensors"),
        Subject::Counter(fact) if !fact.is_bytes() => Some(inside_words(fact)),
        _ => None,
    }
}

/// A curve of a run, as the label of a line or a row.
pub fn series_words(series: Series) -> &'static str {
    match series {
        Series::Memory => "memory",
        Series::RssSum => "sum of RSS",
        Series::Role(role) => role.name(),
        Series::Kind(kind) => kind_words(kind),
        Series::Counter(fact) => inside_words(fact),
        Series::Gpu => "GPU memory",
    }
}

/// What grows, as the object of a sentence.
pub fn words(subject: Subject) -> String {
    match subject {
        Subject::Memory => "memory".to_owned(),
        Subject::Role(role) => format!("{role} memory"),
        Subject::RoleKind(role, kind) => format!("{role} {}", kind_words(kind)),
        Subject::Process(pid, role) => format!("memory of {role} {pid}"),
        Subject::DevShm => "shared files (/dev/shm, memfd)".to_owned(),
        Subject::Descriptors => "open descriptors".to_owned(),
        Subject::Processes => "processes".to_owned(),
        Subject::Counter(TrainingCounter::CudaReserved) => "CUDA memory".to_owned(),
        Subject::Counter(fact) => inside_words(fact).to_owned(),
    }
}

/// What the training counts inside, as the label of a line or a row.
pub fn inside_words(fact: TrainingCounter) -> &'static str {
    match fact {
        TrainingCounter::Tensors => "live tensors",
        TrainingCounter::TensorBytes => "tensor memory",
        TrainingCounter::DeviceTensors => "tensors on devices",
        TrainingCounter::DeviceTensorBytes => "tensor memory on devices",
        TrainingCounter::GcObjects => "gc objects",
        TrainingCounter::PythonBlocks => "Python blocks",
        TrainingCounter::MallocUsed => "malloc in use",
        TrainingCounter::MallocFree => "free, retained by malloc",
        TrainingCounter::Trimmed => "released by malloc_trim",
        TrainingCounter::CudaReserved => "CUDA allocator",
        TrainingCounter::CudaAllocated => "CUDA in tensors",
        TrainingCounter::Pinned => "pinned host memory",
        TrainingCounter::Samples => "samples",
        TrainingCounter::Tokens => "tokens",
        TrainingCounter::Episodes => "episodes",
        TrainingCounter::Compilations => "compilations",
        TrainingCounter::Recompilations => "recompilations",
        TrainingCounter::InputShapes => "shapes of inputs",
        TrainingCounter::OpenFigures => "open figures",
        TrainingCounter::TensorCounts => "counts of tensors",
        TrainingCounter::MallocCounts => "counts of malloc",
    }
}

/// A kind of memory.
pub fn kind_words(kind: Kind) -> &'static str {
    match kind {
        Kind::Anonymous => "anonymous memory",
        Kind::Shared => "shared memory",
        Kind::DevShm => "files in /dev/shm",
        Kind::Memfd => "memfds",
        Kind::Swap => "swapped-out memory",
        Kind::Descriptors => "open descriptors",
    }
}

/// The judgement whose numbers are bytes: that of the series that decided, or of the run's memory
/// when what decided is a count.
pub fn in_bytes(verdict: &RunVerdict) -> &Judgement {
    match things(verdict.decisive) {
        None => &verdict.judgement,
        Some(_) => &verdict.memory,
    }
}
