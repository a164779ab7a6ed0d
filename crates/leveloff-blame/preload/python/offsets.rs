//! Where Python keeps what is read. Up to 3.12 and in 3.14 from tables, which `offsetof` printed from each version's
//! headers; in 3.13 from the offsets that the interpreter publishes for debuggers.

use super::word;
use crate::c;
use crate::layout::INSTRUCTION_BITS;

#[derive(Clone, Copy)]
pub struct Offsets {
    pub chain: FrameChain,
    pub frame_code: usize,
    pub frame_previous: usize,
    pub frame_instruction: Instruction,
    pub code_first_line: usize,
    pub code_file: usize,
    pub code_name: usize,
    pub code_lines: usize,
    pub object_type: usize,
    pub bytes_length: usize,
    pub bytes_data: usize,
    pub text_length: usize,
    pub text_state: usize,
    /// Where the characters of an ASCII text begin.
    pub text_ascii: usize,
    /// Where those of another compact text begin.
    pub text_compact: usize,
}

/// How a thread's state leads to its innermost frame.
#[derive(Clone, Copy)]
pub enum FrameChain {
    Direct { current: usize },
    ThroughCFrame { c_frame: usize, current: usize },
}

/// How a frame says where it is.
#[derive(Clone, Copy)]
pub enum Instruction {
    /// A number of bytes (3.9).
    ByteIndex(usize),
    /// A number of instructions of two bytes (3.10).
    Index(usize),
    /// A pointer into the code, whose instructions begin at this offset.
    Pointer { at: usize, code_start: usize },
}

/// The frame objects of 3.9 and 3.10.
const OLD: Offsets = Offsets {
    chain: FrameChain::Direct { current: 24 },
    frame_code: 32,
    frame_previous: 24,
    frame_instruction: Instruction::Index(96),
    code_first_line: 40,
    code_file: 104,
    code_name: 112,
    code_lines: 120,
    object_type: 8,
    bytes_length: 16,
    bytes_data: 32,
    text_length: 16,
    text_state: 32,
    text_ascii: 48,
    text_compact: 72,
};

/// What 3.11 to 3.14 have in common.
const NEW: Offsets = Offsets {
    chain: FrameChain::Direct { current: 72 },
    frame_code: 0,
    frame_previous: 8,
    frame_instruction: Instruction::Pointer {
        at: 56,
        code_start: 208,
    },
    code_first_line: 68,
    code_file: 112,
    code_name: 128,
    code_lines: 136,
    object_type: 8,
    bytes_length: 16,
    bytes_data: 32,
    text_length: 16,
    text_state: 32,
    text_ascii: 40,
    text_compact: 56,
};

impl Offsets {
    /// Of a version as in `Py_Version >> 16`; `None` if it is not supported.
    pub fn of(version: u64) -> Option<Offsets> {
        let pointer = |code_start| Instruction::Pointer { at: 56, code_start };
        match version {
            0x309 => Some(Offsets {
                frame_instruction: Instruction::ByteIndex(104),
                ..OLD
            }),
            0x30a => Some(OLD),
            0x30b => Some(Offsets {
                chain: FrameChain::ThroughCFrame {
                    c_frame: 56,
                    current: 8,
                },
                frame_code: 32,
                frame_previous: 48,
                frame_instruction: pointer(184),
                code_first_line: 72,
                text_ascii: 48,
                text_compact: 72,
                ..NEW
            }),
            0x30c => Some(Offsets {
                chain: FrameChain::ThroughCFrame {
                    c_frame: 56,
                    current: 0,
                },
                frame_instruction: pointer(192),
                ..NEW
            }),
            0x30d => published(),
            // Measured on a release of 3.14; its published offsets have another order.
            0x30e => Some(NEW).filter(|_| debug_offsets().is_some()),
            _ => None,
        }
    }

    /// The index of the instruction that a frame executes.
    ///
    /// # Safety
    /// Both are addresses of a living frame and its code.
    pub unsafe fn instruction(&self, frame: usize, code: usize) -> u64 {
        const LARGEST: usize = (1 << INSTRUCTION_BITS) - 1;
        // SAFETY: the caller's.
        let index = unsafe {
            match self.frame_instruction {
                Instruction::ByteIndex(at) => {
                    ((frame + at) as *const i32).read().max(0) as usize / 2
                }
                Instruction::Index(at) => ((frame + at) as *const i32).read().max(0) as usize,
                Instruction::Pointer { at, code_start } => {
                    word(frame + at).wrapping_sub(code + code_start) / 2
                }
            }
        };
        // Before the first instruction, the pointer is in front of the code.
        if index > LARGEST { 0 } else { index as u64 }
    }
}

/// The table of `_PyRuntime`; `None` in a free-threaded build, whose objects have other heads.
fn debug_offsets() -> Option<*const u64> {
    const COOKIE: u64 = u64::from_le_bytes(*b"xdebugpy");
    const FREE_THREADED: usize = 2;
    let runtime = c::symbol(c::RTLD_DEFAULT, c"_PyRuntime")
        .cast::<u64>()
        .cast_const();
    if runtime.is_null() {
        return None;
    }
    // SAFETY: `_PyRuntime` begins with the table, which has a cookie.
    let is_usable = unsafe { *runtime == COOKIE && *runtime.add(FREE_THREADED) == 0 };
    is_usable.then_some(runtime)
}

/// The published offsets of 3.13: words of `_Py_DebugOffsets` in its `pycore_runtime.h`.
fn published() -> Option<Offsets> {
    let table = debug_offsets()?;
    // SAFETY: the table of 3.13 has 73 words.
    let at = |n: usize| unsafe { *table.add(n) } as usize;
    // A compact text that is not ASCII has two more words in front.
    let text_ascii = at(70);
    Some(Offsets {
        chain: FrameChain::Direct { current: at(23) },
        frame_code: at(30),
        frame_previous: at(29),
        frame_instruction: Instruction::Pointer {
            at: at(31),
            code_start: at(43),
        },
        code_first_line: at(39),
        code_file: at(35),
        code_name: at(37),
        code_lines: at(38),
        object_type: at(45),
        bytes_length: at(65),
        bytes_data: at(66),
        text_length: at(69),
        text_state: at(68),
        text_ascii,
        text_compact: text_ascii + 16,
    })
    .filter(Offsets::are_plausible)
}

impl Offsets {
    fn are_plausible(&self) -> bool {
        let code = [
            self.code_first_line,
            self.code_file,
            self.code_name,
            self.code_lines,
        ];
        let is_small = |offset: &usize| *offset < 1024;
        code.iter().all(is_small)
            && [
                self.frame_code,
                self.frame_previous,
                self.text_ascii,
                self.bytes_data,
            ]
            .iter()
            .all(is_small)
    }
}
