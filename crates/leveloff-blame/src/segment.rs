//! A segment as values. The program writes to it all the time, so counters are read one by one and may be a sample apart.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::mem::offset_of;
use std::os::unix::fs::FileExt;
use std::path::Path;

use leveloff_model::allocation::BlockKind;

use crate::layout::{
    self, CODE_BYTES, CODE_OFFSET, CodeRecord, Counts, FRAMES, HEADER_BYTES, Header,
    INSTRUCTION_BITS, PYTHON_FRAME, SEGMENT_BYTES, STACK_BYTES, STACKS, Stack,
};

/// An open segment. It stays readable when its process is gone and its name, too.
#[derive(Debug)]
pub struct Segment {
    file: File,
    buffer: Vec<u8>,
    codes: HashMap<u64, CodeInfo>,
}

/// What the library says of its process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SegmentInfo {
    /// The process, in its own pid namespace.
    pub pid: u32,
    /// Python's version as in `Py_Version >> 16`; 0 without Python.
    pub python: u64,
    /// Bytes between two samples on average.
    pub period: u64,
    /// Sampled blocks so far.
    pub samples: u64,
    /// Sampled blocks that found no room.
    pub dropped: u64,
    /// Stacks in use.
    pub stacks: usize,
    flags: u64,
}

/// One stack's counters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StackCounts {
    /// Its number in the segment.
    pub index: usize,
    /// Estimated bytes that are alive.
    pub live_bytes: u64,
    /// Sampled blocks that are alive.
    pub live_blocks: u64,
    /// Variance of the estimate, in KiB².
    pub variance: u64,
    /// Sampled blocks that were freed.
    pub freed_blocks: u64,
}

/// A frame as the library has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RawFrame {
    /// A return address.
    Native(u64),
    /// An instruction of a Python function.
    Python {
        /// The place of its code record; 0 if there was no room.
        code: u64,
        /// The index of the instruction.
        instruction: u64,
    },
}

/// What is known of a Python function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeInfo {
    /// Its file.
    pub file: String,
    /// Its qualified name.
    pub name: String,
    /// The line of `def`.
    pub first_line: u32,
    /// Its line table, in the encoding of the Python version.
    pub lines: Vec<u8>,
}

impl SegmentInfo {
    /// Whether there are no native stacks.
    pub fn lacks_native_stacks(&self) -> bool {
        self.flags & layout::FLAG_NO_NATIVE != 0
    }

    /// Whether another library's malloc comes first.
    pub fn has_foreign_malloc(&self) -> bool {
        self.flags & layout::FLAG_FOREIGN_MALLOC != 0
    }

    /// Whether its Python is not supported.
    pub fn has_unknown_python(&self) -> bool {
        self.flags & layout::FLAG_UNKNOWN_PYTHON != 0
    }
}

impl Segment {
    /// Opens a segment. `None` if it is not written yet, or is another version's.
    pub fn open(path: &Path) -> io::Result<Option<Segment>> {
        let file = File::open(path)?;
        if file.metadata()?.len() < SEGMENT_BYTES as u64 {
            return Ok(None);
        }
        let mut segment = Segment {
            file,
            buffer: Vec::new(),
            codes: HashMap::new(),
        };
        segment.buffer.resize(HEADER_BYTES, 0);
        segment.file.read_exact_at(&mut segment.buffer, 0)?;
        let is_ours = segment.word(offset_of!(Header, magic)) == layout::MAGIC
            && segment.word(offset_of!(Header, version)) == layout::VERSION;
        Ok(is_ours.then_some(segment))
    }

    /// Reads header and counters again.
    pub fn read(&mut self) -> io::Result<(SegmentInfo, Vec<StackCounts>)> {
        self.buffer.resize(HEADER_BYTES, 0);
        self.file.read_exact_at(&mut self.buffer, 0)?;
        let used = self.word(offset_of!(Header, stacks)) as usize;
        let info = SegmentInfo {
            pid: self.word(offset_of!(Header, pid)) as u32,
            python: self.word(offset_of!(Header, python)),
            period: self.word(offset_of!(Header, period)),
            samples: self.word(offset_of!(Header, samples)),
            dropped: self.word(offset_of!(Header, dropped_blocks))
                + self.word(offset_of!(Header, dropped_stacks)),
            stacks: used.min(STACKS),
            flags: self.word(offset_of!(Header, flags)),
        };
        self.buffer
            .resize(HEADER_BYTES + info.stacks * STACK_BYTES, 0);
        self.file
            .read_exact_at(&mut self.buffer[HEADER_BYTES..], HEADER_BYTES as u64)?;
        let counts = (0..info.stacks).filter_map(|index| self.counts(index));
        Ok((info, counts.collect()))
    }

    fn counts(&self, index: usize) -> Option<StackCounts> {
        let at = HEADER_BYTES + index * STACK_BYTES;
        if self.half_word(at + offset_of!(Stack, length)) == 0 {
            return None;
        }
        let difference = |field: usize| {
            let made = self.word(at + offset_of!(Stack, made) + field);
            made.saturating_sub(self.word(at + offset_of!(Stack, freed) + field))
        };
        Some(StackCounts {
            index,
            live_bytes: difference(offset_of!(Counts, bytes)),
            live_blocks: difference(offset_of!(Counts, blocks)),
            variance: difference(offset_of!(Counts, variance)),
            freed_blocks: self.word(at + offset_of!(Stack, freed) + offset_of!(Counts, blocks)),
        })
    }

    /// The frames of a stack of the last reading, innermost first.
    pub fn frames(&self, index: usize) -> (BlockKind, Vec<RawFrame>) {
        let at = HEADER_BYTES + index * STACK_BYTES;
        let kind = match self.half_word(at + offset_of!(Stack, kind)) {
            layout::KIND_HEAP => BlockKind::Heap,
            layout::KIND_MAPPING => BlockKind::Mapping,
            layout::KIND_PYTHON_OBJECT => BlockKind::PythonObject,
            _ => BlockKind::Other,
        };
        let length = self.half_word(at + offset_of!(Stack, length)) as usize;
        let first = at + offset_of!(Stack, frames);
        let frames = (0..length.min(FRAMES)).map(|n| raw_frame(self.word(first + n * 8)));
        (
            kind,
            frames
                .filter(|frame| *frame != RawFrame::Native(0))
                .collect(),
        )
    }

    /// The Python function at a place; `None` if its record is damaged or missing.
    pub fn code(&mut self, place: u64) -> Option<&CodeInfo> {
        if !self.codes.contains_key(&place) {
            let code = self.read_code(place)?;
            self.codes.insert(place, code);
        }
        self.codes.get(&place)
    }

    fn read_code(&self, place: u64) -> Option<CodeInfo> {
        let at = place.checked_mul(8).filter(|at| *at > 0)?;
        let mut head = [0; size_of::<CodeRecord>()];
        let within = |length: usize| at as usize + length <= CODE_BYTES;
        if !within(head.len()) {
            return None;
        }
        let offset = CODE_OFFSET as u64 + at;
        self.file.read_exact_at(&mut head, offset).ok()?;
        let half = |at: usize| Some(u32::from_le_bytes(head.get(at..at + 4)?.try_into().ok()?));
        let quarter = |at: usize| Some(u16::from_le_bytes(head.get(at..at + 2)?.try_into().ok()?));
        let file = quarter(offset_of!(CodeRecord, file))? as usize;
        let name = quarter(offset_of!(CodeRecord, name))? as usize;
        let lines = half(offset_of!(CodeRecord, lines))? as usize;
        let length = file + name + lines;
        if !within(head.len() + length) {
            return None;
        }
        let mut rest = vec![0; length];
        self.file
            .read_exact_at(&mut rest, offset + head.len() as u64)
            .ok()?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Some(CodeInfo {
            file: text(&rest[..file]),
            name: text(&rest[file..file + name]),
            first_line: half(offset_of!(CodeRecord, first_line))?,
            lines: rest[file + name..].to_vec(),
        })
    }

    fn word(&self, at: usize) -> u64 {
        let bytes = self.buffer.get(at..at + 8);
        bytes.map_or(0, |it| {
            u64::from_le_bytes(it.try_into().expect("eight bytes"))
        })
    }

    fn half_word(&self, at: usize) -> u32 {
        let bytes = self.buffer.get(at..at + 4);
        bytes.map_or(0, |it| {
            u32::from_le_bytes(it.try_into().expect("four bytes"))
        })
    }
}

fn raw_frame(word: u64) -> RawFrame {
    match word & PYTHON_FRAME {
        0 => RawFrame::Native(word),
        _ => RawFrame::Python {
            code: (word & !PYTHON_FRAME) >> INSTRUCTION_BITS,
            instruction: word & ((1 << INSTRUCTION_BITS) - 1),
        },
    }
}
