//! Python's frames and its allocator.
//!
//! A thread's own frames stand still while it is inside malloc, so they are read without the interpreter lock, as
//! `tracemalloc` reads them.

mod allocator;
pub mod code_cache;
mod offsets;

use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem::transmute;

use crate::layout::{FLAG_UNKNOWN_PYTHON, INSTRUCTION_BITS, PYTHON_FRAME};
use crate::{c, unwind};
use offsets::{FrameChain, Offsets};

type ThisThreadState = unsafe extern "C" fn() -> usize;
type IsFinalising = unsafe extern "C" fn() -> c_int;
type GetVersion = unsafe extern "C" fn() -> *const c_char;

/// Set once, before sampling is enabled.
static mut PYTHON: Option<Python> = None;
static mut VERSION: u64 = 0;

/// What is known of the interpreter in this process.
#[derive(Clone, Copy)]
struct Python {
    offsets: Offsets,
    this_thread_state: ThisThreadState,
    is_finalising: Option<IsFinalising>,
    /// The address of `PyCode_Type`.
    code_type: usize,
    /// The address of the interpreter loop.
    interpreter: usize,
}

/// Frames that are looked at, at most.
const LONGEST_CHAIN: usize = 512;
/// No object is below.
const LOWEST_OBJECT: usize = 1 << 12;

/// Finds the interpreter, if this process has one, and wraps its allocator.
pub fn prepare() {
    let find = |name| c::symbol(c::RTLD_DEFAULT, name);
    // SAFETY: the symbols have these types. Python has not started, or this thread holds its lock.
    unsafe {
        VERSION = find_version();
        if VERSION == 0 {
            return;
        }
        let this_thread_state = transmute::<*mut c_void, Option<ThisThreadState>>(find(
            c"PyGILState_GetThisThreadState",
        ));
        let code_type = find(c"PyCode_Type") as usize;
        let (Some(offsets), Some(this_thread_state)) = (Offsets::of(VERSION), this_thread_state)
        else {
            return;
        };
        if code_type == 0 {
            return;
        }
        let mut finalising = find(c"Py_IsFinalizing");
        if finalising.is_null() {
            finalising = find(c"_Py_IsFinalizing");
        }
        PYTHON = Some(Python {
            offsets,
            this_thread_state,
            is_finalising: transmute::<*mut c_void, Option<IsFinalising>>(finalising),
            code_type,
            interpreter: find(c"_PyEval_EvalFrameDefault") as usize,
        });
        unwind::know_interpreter(interpreter());
        allocator::wrap();
    }
}

/// Whether there is an interpreter whose objects are laid out as expected.
pub fn is_known() -> bool {
    // SAFETY: set before sampling is enabled.
    unsafe { (*(&raw const PYTHON)).is_some() }
}

/// Takes the wrappers of the allocator out. False if someone else has wrapped them.
///
/// # Safety
/// Python's lock is held.
pub unsafe fn restore() -> bool {
    // SAFETY: the caller's.
    unsafe { allocator::unwrap() }
}

/// The version as in `Py_Version >> 16`; 0 without Python.
unsafe fn find_version() -> u64 {
    // SAFETY: the symbols have these types; `Py_GetVersion` may be called before Python starts.
    unsafe {
        let number = c::symbol(c::RTLD_DEFAULT, c"Py_Version").cast::<u64>();
        if !number.is_null() {
            return *number >> 16;
        }
        let text = c::symbol(c::RTLD_DEFAULT, c"Py_GetVersion");
        let Some(text) = transmute::<*mut c_void, Option<GetVersion>>(text) else {
            return 0;
        };
        minor_version(CStr::from_ptr(text()).to_bytes()).unwrap_or(0)
    }
}

/// 0x309 of "3.9.18 (main, …".
fn minor_version(text: &[u8]) -> Option<u64> {
    let mut numbers = text.split(|byte| *byte == b'.');
    let number = |digits: &[u8]| {
        let is_number =
            !digits.is_empty() && digits.len() < 4 && digits.iter().all(u8::is_ascii_digit);
        is_number.then(|| {
            digits
                .iter()
                .fold(0, |n, digit| n * 10 + u64::from(digit - b'0'))
        })
    };
    Some(number(numbers.next()?)? << 8 | number(numbers.next()?)?)
}

fn python() -> Option<&'static Python> {
    // SAFETY: set once before sampling is enabled.
    unsafe { (*&raw const PYTHON).as_ref() }
}

/// The version as in `Py_Version >> 16`; 0 without Python.
pub fn version() -> u64 {
    // SAFETY: set once before sampling is enabled.
    unsafe { VERSION }
}

/// What the recorder has to know.
pub fn flags() -> u64 {
    let is_unknown = version() != 0 && python().is_none();
    u64::from(is_unknown) * FLAG_UNKNOWN_PYTHON
}

/// The address of the interpreter loop; 0 without Python.
pub fn interpreter() -> usize {
    python().map_or(0, |python| python.interpreter)
}

/// Whether the interpreter ends: it frees what the program never would.
pub fn is_finalising() -> bool {
    let is_finalising = python().and_then(|python| python.is_finalising);
    // SAFETY: the function reads one word of the runtime.
    is_finalising.is_some_and(|ask| unsafe { ask() } != 0)
}

/// This thread's Python frames, innermost first.
pub fn frames(out: &mut [u64]) -> usize {
    let Some(python) = python() else {
        return 0;
    };
    // SAFETY: the function reads a thread-specific value. What it returns is this thread's state, whose frames do not
    // change while the thread is here.
    unsafe {
        let state = (python.this_thread_state)();
        if state == 0 {
            return 0;
        }
        python.walk(state, out)
    }
}

impl Python {
    unsafe fn walk(&self, state: usize, out: &mut [u64]) -> usize {
        let offsets = &self.offsets;
        // SAFETY: as in `frames`.
        unsafe {
            let mut frame = match offsets.chain {
                FrameChain::Direct { current } => word(state + current),
                FrameChain::ThroughCFrame { c_frame, current } => match word(state + c_frame) {
                    0 => 0,
                    c_frame => word(c_frame + current),
                },
            };
            let (mut length, mut seen) = (0, 0);
            while frame != 0 && length < out.len() && seen < LONGEST_CHAIN {
                seen += 1;
                // The lowest bits of a reference may be a tag.
                let code = word(frame + offsets.frame_code) & !7;
                if code > LOWEST_OBJECT && word(code + offsets.object_type) == self.code_type {
                    let place = code_cache::place_of(code, offsets) as u64;
                    let instruction = offsets.instruction(frame, code);
                    out[length] = PYTHON_FRAME | place << INSTRUCTION_BITS | instruction;
                    length += 1;
                }
                frame = word(frame + offsets.frame_previous);
            }
            length
        }
    }
}

/// Reads a word of memory.
///
/// # Safety
/// The address is that of a word.
unsafe fn word(address: usize) -> usize {
    // SAFETY: the caller's.
    unsafe { *(address as *const usize) }
}
