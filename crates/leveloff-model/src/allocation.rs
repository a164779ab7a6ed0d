//! Where memory was allocated: lines of the program, and how much of what they allocated is alive.
//!
//! `leveloff run --blame` samples the heap, so every amount is an estimate with a standard error.

mod holder;
mod proportion;

pub use holder::{Holder, HolderKind, ReportedHolder, SiteHolder};

use crate::process::Pid;
use crate::units::{Bytes, Seconds};

/// The number of an allocation site in a recording; never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SiteId(pub u32);

/// A line of the program that allocates, directly or through a library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllocationSite {
    /// Its number.
    pub id: SiteId,
    /// The process in which it was first seen.
    pub pid: Pid,
    /// What it allocates.
    pub kind: BlockKind,
    /// A stack that led there, innermost frame first: the one that holds most when the site is first recorded.
    pub stack: Vec<StackFrame>,
    /// The text of the line that stands for it, where it could be read.
    pub source: Option<String>,
}

/// What was allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BlockKind {
    /// A block of malloc.
    Heap,
    /// An anonymous mapping.
    Mapping,
    /// A small Python object. Python recycles these between lines, so the line is uncertain.
    PythonObject,
    /// A kind that a later version of leveloff records.
    Other,
}

/// A function on a stack.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StackFrame {
    /// Its name.
    pub function: String,
    /// Its source file, or the library where no source is known.
    pub file: Option<String>,
    /// The line that is executed.
    pub line: Option<u32>,
    /// Whether it is a Python function.
    pub is_python: bool,
}

/// What the sites hold at one moment. A site that is not listed holds what it held at the last reading.
#[derive(Debug, Clone, PartialEq)]
pub struct AllocationReading {
    /// When.
    pub t: Seconds,
    /// All sampled memory that is alive, listed or not.
    pub live: Bytes,
    /// Sampled blocks so far, and how many of them found no room, if any did.
    pub missed: Option<MissedBlocks>,
    /// The sites that changed.
    pub sites: Vec<SiteReading>,
}

/// Sampled blocks that are in no site, because a table of the program was full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MissedBlocks {
    /// Blocks that found no room so far.
    pub missed: u64,
    /// All sampled blocks so far.
    pub sampled: u64,
}

/// What one site holds, in all processes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SiteReading {
    /// Which site.
    pub site: SiteId,
    /// Estimated bytes that it allocated and that are alive.
    pub live: Bytes,
    /// Sampled blocks that the estimate rests on.
    pub blocks: u64,
    /// Standard error of `live`.
    pub error: Bytes,
    /// Sampled blocks of it that were freed so far.
    pub freed: u64,
}

impl BlockKind {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            BlockKind::Heap => "heap",
            BlockKind::Mapping => "mapping",
            BlockKind::PythonObject => "python-object",
            BlockKind::Other => "other",
        }
    }

    /// The kind of a name in a file.
    pub fn from_name(name: &str) -> BlockKind {
        match name {
            "heap" => BlockKind::Heap,
            "mapping" => BlockKind::Mapping,
            "python-object" => BlockKind::PythonObject,
            _ => BlockKind::Other,
        }
    }
}

impl StackFrame {
    /// Whether it belongs to an installed package or to Python itself, and not to the program.
    pub fn is_library(&self) -> bool {
        const INSTALLED: [&str; 4] = [
            "/site-packages/",
            "/dist-packages/",
            "/lib/python3",
            "/lib64/python3",
        ];
        match (&self.file, self.is_python) {
            (None, _) => true,
            (Some(file), true) => {
                file.starts_with("<frozen ") || INSTALLED.iter().any(|part| file.contains(part))
            }
            // Headers that are inlined, or a shared library without source; the program itself has no such ending.
            (Some(file), false) => {
                ["/usr/", "/rustc/"]
                    .iter()
                    .any(|start| file.starts_with(start))
                    || file.ends_with(".so")
                    || file.contains(".so.")
            }
        }
    }

    /// `train.py:88`, with the last part of the file's path; the function where no file is known.
    pub fn place(&self) -> String {
        let base = |file: &String| file.rsplit('/').next().unwrap_or(file).to_owned();
        match (self.file.as_ref().map(base), self.line) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            (Some(file), None) => format!("{} ({file})", self.function),
            (None, _) => self.function.clone(),
        }
    }
}

/// Functions that allocate for others: the caller is the one to name.
const ALLOCATORS: [&str; 12] = [
    "malloc",
    "calloc",
    "realloc",
    "memalign",
    "posix_memalign",
    "aligned_alloc",
    "mmap",
    "mmap64",
    "mremap",
    "strdup",
    "operator new",
    "operator new[]",
];

/// The frame that stands for a stack: the innermost of the program itself; where all are libraries', the innermost that
/// is not an allocator's. Python frames come before native ones.
pub fn own_frame(stack: &[StackFrame]) -> Option<usize> {
    let is_allocator = |frame: &StackFrame| {
        let name = frame.function.split('(').next().unwrap_or_default();
        ALLOCATORS.contains(&name)
    };
    let find = |wanted: &dyn Fn(&StackFrame) -> bool| stack.iter().position(wanted);
    find(&|frame| frame.is_python && !frame.is_library())
        .or_else(|| find(&|frame| frame.is_python))
        .or_else(|| find(&|frame| !frame.is_library() && !is_allocator(frame)))
        .or_else(|| find(&|frame| !is_allocator(frame)))
        .or((!stack.is_empty()).then_some(0))
}

impl AllocationSite {
    /// The frame that stands for it.
    pub fn own_frame(&self) -> Option<&StackFrame> {
        own_frame(&self.stack).and_then(|at| self.stack.get(at))
    }

    /// The innermost Python frame if there is one, else the innermost frame: the function that was called for memory.
    pub fn leaf(&self) -> Option<&StackFrame> {
        let python = self.stack.iter().find(|frame| frame.is_python);
        python.or(self.stack.first())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn python(function: &str, file: &str, line: u32) -> StackFrame {
        StackFrame {
            function: function.to_owned(),
            file: Some(file.to_owned()),
            line: Some(line),
            is_python: true,
        }
    }

    fn native(function: &str, file: Option<&str>) -> StackFrame {
        StackFrame {
            function: function.to_owned(),
            file: file.map(str::to_owned),
            line: None,
            is_python: false,
        }
    }

    #[test]
    fn the_line_of_the_program_stands_for_a_stack() {
        let stack = [
            native(
                "at::empty",
                Some("/v/lib/python3.11/site-packages/torch/lib/libtorch_cpu.so"),
            ),
            python(
                "forward",
                "/v/lib/python3.11/site-packages/torch/nn/modules/linear.py",
                125,
            ),
            python("step", "/home/me/train.py", 88),
            python("<module>", "/home/me/train.py", 120),
        ];
        assert_eq!(own_frame(&stack), Some(2));
        assert_eq!(stack[2].place(), "train.py:88");
        // Where there is nothing but libraries, the innermost Python line is still better than C.
        assert_eq!(own_frame(&stack[..2]), Some(1));
    }

    #[test]
    fn an_allocator_does_not_stand_for_its_caller() {
        let stack = [
            native(
                "operator new(unsigned long)",
                Some("/usr/lib/libstdc++.so.6"),
            ),
            native("sqlite3_step", Some("/usr/lib/libsqlite3.so.0")),
            native("main", Some("/home/me/a.out")),
        ];
        assert_eq!(own_frame(&stack), Some(2));
        assert_eq!(own_frame(&stack[..2]), Some(1));
        assert_eq!(own_frame(&[]), None);
    }
}
