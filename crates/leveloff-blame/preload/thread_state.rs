//! The state of each thread, in the initial-exec model: a thread-local in Rust's own model costs a call in a library.

use core::arch::{asm, global_asm};

/// What a thread keeps. All zero in a new thread. The room for such state in a program that runs already is small (1,664 bytes
/// for all libraries of glibc's default), so it is no larger than it has to be.
#[repr(C)]
pub struct ThreadState {
    /// Bytes left until the next sample.
    pub left: i64,
    /// The period that `left` was drawn with; 0 before the first draw.
    pub period: u64,
    /// State of the random numbers; 0 before the first.
    pub random: u64,
    /// Not 0 while this thread is inside the library.
    pub busy: u64,
    /// Not 0 while Python's allocator obtains an arena, whose objects are counted one by one.
    pub in_arena: u64,
    /// The highest address of the stack; 0 if not known yet, 1 if it cannot be known.
    pub stack_top: usize,
}

const _: () = assert!(size_of::<ThreadState>() == 48);

global_asm!(
    ".section .tbss,\"awT\",@nobits",
    // A larger alignment than that of the program's own block would keep the library from being loaded later.
    ".balign 16",
    ".hidden leveloff_blame_thread",
    ".globl leveloff_blame_thread",
    ".type leveloff_blame_thread,@object",
    ".size leveloff_blame_thread,48",
    "leveloff_blame_thread:",
    ".zero 48",
    ".text",
);

/// This thread's state. Only its own thread ever touches it.
#[inline(always)]
pub fn thread() -> *mut ThreadState {
    let state: *mut ThreadState;
    // SAFETY: reads the thread pointer and an offset that the dynamic linker has filled in.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        asm!(
            "mov {0}, qword ptr fs:[0]",
            "add {0}, qword ptr [rip + leveloff_blame_thread@gottpoff]",
            out(reg) state,
            options(pure, readonly, nostack)
        );
    }
    // SAFETY: as above.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        asm!(
            "mrs {0}, tpidr_el0",
            "adrp {1}, :gottprel:leveloff_blame_thread",
            "ldr {1}, [{1}, :gottprel_lo12:leveloff_blame_thread]",
            "add {0}, {0}, {1}",
            out(reg) state,
            out(reg) _,
            options(pure, readonly, nostack)
        );
    }
    state
}
