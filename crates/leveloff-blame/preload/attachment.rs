//! For a program that runs already: a debugger's script loads the library and calls these functions, with Python's lock
//! held and not from inside the dynamic linker.

use core::arch::global_asm;
use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::{AcqRel, Relaxed};

use crate::linkage::{self, Direction, Redirection};
use crate::{interpose, private_memory, python, real, sampler, segment, state, unwind};

/// What the functions return; `src/attach.rs` words it.
const DONE: c_int = 0;
const USED_BEFORE: c_int = 1;
const OWN_ALLOCATOR: c_int = 2;
const NO_MEMORY: c_int = 3;
const UNUSABLE_DIRECTORY: c_int = 4;
const NOTHING_TO_REDIRECT: c_int = 5;
const PROTECTED: c_int = 6;
/// The library is silent, and something of it is left in place.
const PARTLY: c_int = 7;

static IS_USED: AtomicBool = AtomicBool::new(false);
/// One thread at a time looks for new objects.
static IS_LOOKING: AtomicBool = AtomicBool::new(false);
/// The real `dlsym`, to which the replaced one jumps.
static mut REAL_DLSYM: usize = 0;

unsafe extern "C" {
    fn leveloff_blame_dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// Starts to sample the program, whose segments go to `directory`. Once in the life of a process.
///
/// # Safety
/// Python's lock is held, and `directory` is a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveloff_blame_attach(directory: *const c_char, period: u64) -> c_int {
    if state::is_enabled() || IS_USED.swap(true, AcqRel) {
        return USED_BEFORE;
    }
    // SAFETY: the caller's; nothing is redirected to this library yet.
    unsafe {
        if !real::resolve_from_outside() {
            return OWN_ALLOCATOR;
        }
        if !private_memory::map() {
            return NO_MEMORY;
        }
        if !state::configure_attached(directory, period) {
            return UNUSABLE_DIRECTORY;
        }
        REAL_DLSYM = linkage::function_behind_program(c"dlsym") as usize;
        unwind::prepare();
        let outcome = linkage::redirect(&redirections(), Direction::ToOurs);
        if outcome.failed > 0 {
            linkage::redirect(&redirections(), Direction::ToReal);
            return PROTECTED;
        }
        if outcome.changed == 0 {
            return NOTHING_TO_REDIRECT;
        }
        python::prepare();
        state::enable();
        sampler::begin();
    }
    DONE
}

/// Puts everything back. The library stays loaded, because a thread may be inside it, and is silent.
///
/// # Safety
/// Python's lock is held.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveloff_blame_detach() -> c_int {
    if !state::is_attached() {
        return DONE;
    }
    state::silence();
    // SAFETY: the caller's.
    let (is_python_whole, outcome) = unsafe {
        (
            python::restore(),
            linkage::redirect(&redirections(), Direction::ToReal),
        )
    };
    segment::give_back();
    match is_python_whole && outcome.failed == 0 {
        true => DONE,
        false => PARTLY,
    }
}

/// Called in front of each `dlsym`: code that loads a library asks for its functions next.
extern "C" fn before_dlsym() {
    if !state::is_enabled() || IS_LOOKING.swap(true, AcqRel) {
        return;
    }
    if linkage::has_grown() {
        // SAFETY: this thread called `dlsym`, so it is not inside the dynamic linker.
        unsafe { linkage::redirect(&redirections(), Direction::ToOurs) };
    }
    IS_LOOKING.store(false, Relaxed);
}

/// The functions that are replaced.
///
/// # Safety
/// The real ones are resolved.
unsafe fn redirections() -> [Redirection; 13] {
    let to = |name, ours: *const ()| Redirection {
        name,
        // SAFETY: the caller's.
        real: unsafe { real::address_of(name) },
        ours: ours as usize,
    };
    [
        to(c"malloc", interpose::malloc as *const ()),
        to(c"calloc", interpose::calloc as *const ()),
        to(c"realloc", interpose::realloc as *const ()),
        to(c"free", interpose::free as *const ()),
        to(c"memalign", interpose::memalign as *const ()),
        to(c"aligned_alloc", interpose::aligned_alloc as *const ()),
        to(c"posix_memalign", interpose::posix_memalign as *const ()),
        to(c"mmap", interpose::mmap as *const ()),
        to(c"mmap64", interpose::mmap64 as *const ()),
        to(c"munmap", interpose::munmap as *const ()),
        to(c"mremap", interpose::mremap as *const ()),
        to(c"dlclose", interpose::dlclose as *const ()),
        Redirection {
            name: c"dlsym",
            // SAFETY: written before anything is redirected.
            real: unsafe { REAL_DLSYM },
            ours: leveloff_blame_dlsym as *const () as usize,
        },
    ]
}

// `dlsym` looks at who called it, so its caller must stay the one on the stack: this jumps instead of calling.
#[cfg(target_arch = "x86_64")]
global_asm!(
    ".text",
    ".hidden leveloff_blame_dlsym",
    ".globl leveloff_blame_dlsym",
    ".type leveloff_blame_dlsym,@function",
    "leveloff_blame_dlsym:",
    ".cfi_startproc",
    "push rdi",
    ".cfi_adjust_cfa_offset 8",
    "push rsi",
    ".cfi_adjust_cfa_offset 8",
    "sub rsp, 8",
    ".cfi_adjust_cfa_offset 8",
    "call {before}",
    "add rsp, 8",
    ".cfi_adjust_cfa_offset -8",
    "pop rsi",
    ".cfi_adjust_cfa_offset -8",
    "pop rdi",
    ".cfi_adjust_cfa_offset -8",
    "jmp qword ptr [rip + {real}]",
    ".cfi_endproc",
    ".size leveloff_blame_dlsym, . - leveloff_blame_dlsym",
    before = sym before_dlsym,
    real = sym REAL_DLSYM,
);
#[cfg(target_arch = "aarch64")]
global_asm!(
    ".text",
    ".hidden leveloff_blame_dlsym",
    ".globl leveloff_blame_dlsym",
    ".type leveloff_blame_dlsym,%function",
    "leveloff_blame_dlsym:",
    ".cfi_startproc",
    "stp x29, x30, [sp, #-32]!",
    ".cfi_def_cfa_offset 32",
    ".cfi_offset x29, -32",
    ".cfi_offset x30, -24",
    "stp x0, x1, [sp, #16]",
    "bl {before}",
    "ldp x0, x1, [sp, #16]",
    "ldp x29, x30, [sp], #32",
    ".cfi_restore x29",
    ".cfi_restore x30",
    ".cfi_def_cfa_offset 0",
    "adrp x16, {real}",
    "ldr x16, [x16, :lo12:{real}]",
    "br x16",
    ".cfi_endproc",
    ".size leveloff_blame_dlsym, . - leveloff_blame_dlsym",
    before = sym before_dlsym,
    real = sym REAL_DLSYM,
);
