//! The file that the library writes and the recorder reads. Both are built from this source, and the version says if they
//! were not.

use core::mem::size_of;
use core::sync::atomic::{AtomicU32, AtomicU64};

/// "lvlblame", little-endian.
pub const MAGIC: u64 = u64::from_le_bytes(*b"lvlblame");
/// Rises when the layout changes.
pub const VERSION: u64 = 1;
/// Different stacks of one process. Further ones are counted as one.
pub const STACKS: usize = 4096;
/// Frames of a stack, innermost first; outer ones are left out.
pub const FRAMES: usize = 48;
/// Room for what is known of Python code objects.
pub const CODE_BYTES: usize = 2 << 20;

/// Marks a frame that is Python's; else it is a return address.
pub const PYTHON_FRAME: u64 = 1 << 63;
/// Bits of a Python frame that hold the instruction's index. The bits above hold the place of its code record, in units
/// of eight bytes from the start of [`Segment::code`].
pub const INSTRUCTION_BITS: u32 = 24;

/// The start of the file.
#[repr(C)]
pub struct Header {
    /// [`MAGIC`], written last.
    pub magic: AtomicU64,
    /// [`VERSION`].
    pub version: AtomicU64,
    /// The process, in its own pid namespace.
    pub pid: AtomicU64,
    /// Python's version as in `Py_Version >> 16` (0x30b is 3.11); 0 without Python.
    pub python: AtomicU64,
    /// Bytes between two samples on average, now.
    pub period: AtomicU64,
    /// Sampled blocks so far.
    pub samples: AtomicU64,
    /// Sampled blocks that found no room in the table of live blocks.
    pub dropped_blocks: AtomicU64,
    /// Sampled blocks whose stack found no room.
    pub dropped_stacks: AtomicU64,
    /// Stacks that are in use.
    pub stacks: AtomicU64,
    /// Bytes of the code records that are in use.
    pub code_used: AtomicU64,
    /// See the `FLAG` constants.
    pub flags: AtomicU64,
    /// Room for later fields.
    pub reserved: [AtomicU64; 21],
}

/// Native stacks are not available: the C library lacks `_dl_find_object`.
pub const FLAG_NO_NATIVE: u64 = 1;
/// Another library's malloc comes before ours, so its blocks are not seen.
pub const FLAG_FOREIGN_MALLOC: u64 = 2;
/// The Python in the process is not supported, so there are no Python lines.
pub const FLAG_UNKNOWN_PYTHON: u64 = 4;
/// The interpreter is finalising: counts stay as they were before.
pub const FLAG_FINALISING: u64 = 8;

/// A stack and its sampled blocks.
#[repr(C)]
pub struct Stack {
    /// Frames in use; 0 until the rest is written.
    pub length: AtomicU32,
    /// One of the `KIND` constants.
    pub kind: AtomicU32,
    /// Sampled blocks that were allocated here.
    pub made: Counts,
    /// Of these, blocks that were freed.
    pub freed: Counts,
    /// The frames, innermost first.
    pub frames: [AtomicU64; FRAMES],
}

/// Blocks of malloc and its relatives.
pub const KIND_HEAP: u32 = 0;
/// Anonymous mappings.
pub const KIND_MAPPING: u32 = 1;
/// Small blocks of Python's own allocator.
pub const KIND_PYTHON_OBJECT: u32 = 2;

/// Sums over sampled blocks.
#[repr(C)]
pub struct Counts {
    /// How many.
    pub blocks: AtomicU64,
    /// Bytes that they stand for.
    pub bytes: AtomicU64,
    /// Variance of `bytes`, in KiB².
    pub variance: AtomicU64,
}

/// The whole file.
#[repr(C)]
pub struct Segment {
    /// See there.
    pub header: Header,
    /// In order of first use.
    pub stacks: [Stack; STACKS],
    /// Code records, one behind the other: [`CodeRecord`], then file name, function name and line table.
    pub code: [u8; CODE_BYTES],
}

/// The head of a code record. Texts are UTF-8.
#[repr(C)]
pub struct CodeRecord {
    /// The line of `def`.
    pub first_line: u32,
    /// Bytes of the file name.
    pub file: u16,
    /// Bytes of the function's name.
    pub name: u16,
    /// Bytes of the line table, in the encoding of the header's Python version.
    pub lines: u32,
    /// Not used yet.
    pub reserved: u32,
}

/// Length of the header.
pub const HEADER_BYTES: usize = size_of::<Header>();
/// Length of a stack.
pub const STACK_BYTES: usize = size_of::<Stack>();
/// Where the code records begin.
pub const CODE_OFFSET: usize = HEADER_BYTES + STACKS * STACK_BYTES;
/// Length of the file.
pub const SEGMENT_BYTES: usize = size_of::<Segment>();
