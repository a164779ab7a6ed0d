//! Native stacks by the unwind tables that every compiler writes for exceptions (`.eh_frame`). Rules are found by
//! `_dl_find_object`, which takes no lock, and kept by address.

mod bytes;
mod cfi;
mod row;
mod rule;

use core::arch::asm;
use core::ffi::{c_int, c_void};
use core::mem::transmute;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::c;
use crate::layout::FLAG_NO_NATIVE;
use crate::python;
use crate::thread_state::thread;
use rule::{Base, Rule, SavedPointer};

/// glibc's answer of `_dl_find_object`.
#[repr(C)]
struct FoundObject {
    flags: u64,
    start: usize,
    end: usize,
    link_map: *const c_void,
    unwind_header: *const u8,
    reserved: [u64; 7],
}

type FindObject = unsafe extern "C" fn(usize, *mut FoundObject) -> c_int;

/// Set once, before sampling is enabled.
static mut FIND_OBJECT: Option<FindObject> = None;
/// Where the stack of the program's first thread ends; 0 if that is not known.
static mut FIRST_STACK_END: usize = 0;

/// The addresses of the object with Python's interpreter, and of libc.
static mut INTERPRETER_OBJECT: (usize, usize) = (0, 0);
static mut LIBC: (usize, usize) = (0, 0);

/// Rules that are kept.
const RULES: usize = 1 << 13;

/// A rule and its address. The address is stored as its exclusive-or with the rule, so that a place that two threads write
/// at once matches neither.
struct KeptRule {
    key: AtomicU64,
    rule: AtomicU64,
}

static KEPT: [KeptRule; RULES] = [const {
    KeptRule {
        key: AtomicU64::new(0),
        rule: AtomicU64::new(0),
    }
}; RULES];
/// Part of every key; rises when a library is unloaded.
static GENERATION: AtomicU64 = AtomicU64::new(0);

/// No stack frame is larger.
const LARGEST_FRAME: usize = 16 << 20;
/// There is no code below.
const LOWEST_CODE: usize = 1 << 12;

/// Finds what libc offers.
pub fn prepare() {
    let find = |name| c::symbol(c::RTLD_DEFAULT, name);
    // SAFETY: the symbols have these types; there is one thread.
    unsafe {
        FIND_OBJECT = transmute::<*mut c_void, Option<FindObject>>(find(c"_dl_find_object"));
        let end = find(c"__libc_stack_end").cast::<usize>();
        FIRST_STACK_END = if end.is_null() { 0 } else { *end };
    }
}

/// Remembers which object the interpreter is in.
///
/// # Safety
/// Sampling is not enabled yet.
pub unsafe fn know_interpreter(address: usize) {
    // SAFETY: the caller's.
    unsafe {
        let libc = c::symbol(c::RTLD_DEFAULT, c"__libc_start_main") as usize;
        (INTERPRETER_OBJECT, LIBC) = (range_of(address), range_of(libc));
    }
}

/// What the recorder has to know.
pub fn flags() -> u64 {
    // SAFETY: set once before sampling is enabled.
    let is_available = unsafe { FIND_OBJECT }.is_some();
    u64::from(!is_available) * FLAG_NO_NATIVE
}

/// A library was unloaded, so addresses may get another meaning.
pub fn forget_rules() {
    GENERATION.fetch_add(1, Relaxed);
}

/// The registers that a walk carries from frame to frame.
struct Registers {
    pc: usize,
    sp: usize,
    fp: usize,
}

/// Return addresses, innermost first, without the library's own frames; up to the Python interpreter if `to_interpreter`.
#[inline(never)]
pub fn frames(out: &mut [u64], to_interpreter: bool) -> usize {
    // SAFETY: set once before sampling is enabled.
    if unsafe { FIND_OBJECT }.is_none() {
        return 0;
    }
    let mut registers = registers_here();
    let (bottom, top) = (registers.sp, stack_top());
    if top <= bottom {
        return 0;
    }
    let own = range_of(registers.pc);
    let mut length = 0;
    let mut is_first = true;
    while length < out.len() {
        // A return address is behind its call, which may be the last instruction of a function.
        let at = registers.pc - usize::from(!is_first);
        is_first = false;
        let rule = rule_at(at);
        if to_interpreter && rule.is_interpreter() {
            return length;
        }
        if !step(&mut registers, rule, at, bottom, top) {
            break;
        }
        if !(own.0..own.1).contains(&registers.pc) {
            out[length] = registers.pc as u64;
            length += 1;
        }
    }
    match to_interpreter {
        true => length_up_to_interpreter(&out[..length]),
        false => length,
    }
}

/// How many frames are a library's that Python called. An interpreter that was compiled with tail calls has a function for each
/// instruction, so its frames are recognised by their object; those that the library calls in turn stay.
fn length_up_to_interpreter(frames: &[u64]) -> usize {
    let within =
        |object: (usize, usize), frame: &u64| (object.0..object.1).contains(&(*frame as usize));
    // SAFETY: set once before sampling is enabled.
    let (interpreter, libc) = unsafe { (INTERPRETER_OBJECT, LIBC) };
    let is_library = |frame: &u64| !within(interpreter, frame) && !within(libc, frame);
    let Some(first) = frames.iter().position(is_library) else {
        return 0;
    };
    let rest = &frames[first..];
    let calling = rest.iter().position(|frame| within(interpreter, frame));
    first + calling.unwrap_or(rest.len())
}

/// Moves to the calling frame. False at the end of the stack, and where the tables make no sense.
fn step(registers: &mut Registers, rule: Rule, at: usize, bottom: usize, top: usize) -> bool {
    let read = |address: usize| {
        let is_on_stack = address >= bottom && address <= top - 8 && address % 8 == 0;
        // SAFETY: the address is in this thread's stack.
        is_on_stack.then(|| unsafe { *(address as *const usize) })
    };
    let base = match rule.base() {
        Base::StackPointer => registers.sp.wrapping_add_signed(rule.offset()),
        Base::FramePointer => registers.fp.wrapping_add_signed(rule.offset()),
        Base::AtFramePointer => match read(registers.fp.wrapping_add_signed(rule.offset())) {
            Some(base) => base,
            None => return false,
        },
        // The only expression that compilers write: entries of a procedure linkage table.
        Base::LinkageTable => registers.sp + 8 + if at & 15 >= 11 { 8 } else { 0 },
        Base::None => return false,
    };
    if base <= registers.sp || base > top || base - registers.sp > LARGEST_FRAME {
        return false;
    }
    let Some(pc) = read(base.wrapping_add_signed(rule.return_address())) else {
        return false;
    };
    let saved = match rule.saved_frame_pointer() {
        SavedPointer::No => Some(registers.fp),
        SavedPointer::FromFrame(offset) => read(base.wrapping_add_signed(offset)),
        SavedPointer::FromFramePointer(offset) => read(registers.fp.wrapping_add_signed(offset)),
    };
    let Some(fp) = saved else {
        return false;
    };
    registers.fp = fp;
    registers.pc = strip_authentication(pc);
    registers.sp = base;
    registers.pc >= LOWEST_CODE
}

/// aarch64 may sign return addresses in the bits above the address space.
fn strip_authentication(pc: usize) -> usize {
    if cfg!(target_arch = "aarch64") {
        pc & 0x0000_ffff_ffff_ffff
    } else {
        pc
    }
}

#[inline(always)]
fn registers_here() -> Registers {
    let (pc, sp, fp): (usize, usize, usize);
    // SAFETY: reads registers only.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        asm!("lea {0}, [rip]", "mov {1}, rsp", "mov {2}, rbp", out(reg) pc, out(reg) sp, out(reg) fp, options(nostack));
    }
    // SAFETY: reads registers only.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        asm!("adr {0}, .", "mov {1}, sp", "mov {2}, x29", out(reg) pc, out(reg) sp, out(reg) fp, options(nostack));
    }
    Registers { pc, sp, fp }
}

/// The highest address of this thread's stack; 0 if it is not known. Reading beyond it would end the program.
fn stack_top() -> usize {
    const UNKNOWN: usize = 1;
    let thread = thread();
    // SAFETY: the thread's state is its own; the functions are libc's.
    unsafe {
        if (*thread).stack_top == 0 {
            (*thread).stack_top = find_stack_top().unwrap_or(UNKNOWN);
        }
        match (*thread).stack_top {
            UNKNOWN => 0,
            top => top,
        }
    }
}

/// Asks neither libc, which takes a lock and allocates for the answer (a program that does so would wait for itself), nor
/// /proc. A thread's control block is at the end of its stack; the first thread's stack has an end of its own. The nearer one
/// counts.
unsafe fn find_stack_top() -> Option<usize> {
    /// No stack is larger.
    const LARGEST_STACK: usize = 1 << 30;
    let here = 0_usize;
    let here = (&raw const here) as usize;
    // SAFETY: takes no arguments; the static is set once before sampling is enabled.
    let (control_block, first_end) = unsafe { (c::pthread_self(), FIRST_STACK_END) };
    let ends = [control_block, first_end].into_iter();
    let top = ends.filter(|end| *end > here).min()?;
    let length = top - here;
    // A coroutine's stack is neither: then there is a hole.
    (length < LARGEST_STACK && c::is_mapped(here, length)).then_some(top)
}

fn rule_at(at: usize) -> Rule {
    let key = at as u64 ^ GENERATION.load(Relaxed) << 48;
    let place = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 51) as usize % RULES;
    let kept = &KEPT[place];
    let packed = kept.rule.load(Acquire);
    if packed != 0 && kept.key.load(Acquire) ^ packed == key {
        return Rule(packed);
    }
    let rule = find_rule(at);
    kept.rule.store(rule.0, Release);
    kept.key.store(key ^ rule.0, Release);
    rule
}

#[cold]
#[inline(never)]
fn find_rule(at: usize) -> Rule {
    let Some(object) = object_at(at) else {
        return Rule::END;
    };
    if object.unwind_header.is_null() {
        return Rule::END;
    }
    // SAFETY: the object is mapped from `start` to `end`, the tables are part of it, and no library is unloaded while a
    // thread runs its code.
    unsafe {
        cfi::rule(
            at,
            object.unwind_header as usize,
            object.start,
            object.end,
            python::interpreter(),
        )
    }
}

fn object_at(at: usize) -> Option<FoundObject> {
    let mut object = FoundObject {
        flags: 0,
        start: 0,
        end: 0,
        link_map: core::ptr::null(),
        unwind_header: core::ptr::null(),
        reserved: [0; 7],
    };
    // SAFETY: `object` is writable and has glibc's layout.
    let result = unsafe { FIND_OBJECT?(at, &raw mut object) };
    (result == 0).then_some(object)
}

/// The addresses of the object that contains one.
fn range_of(pc: usize) -> (usize, usize) {
    object_at(pc).map_or((0, 0), |object| (object.start, object.end))
}
