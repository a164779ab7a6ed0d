//! The functions that are replaced, as the next library has them. Until they are known, a small buffer serves what the
//! dynamic linker itself allocates while it looks them up.

use core::ffi::{CStr, c_int, c_void};
use core::mem::transmute;
use core::sync::atomic::{
    AtomicU8, AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use crate::{c, linkage};

pub type Malloc = unsafe extern "C" fn(usize) -> *mut c_void;
pub type Calloc = unsafe extern "C" fn(usize, usize) -> *mut c_void;
pub type Realloc = unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void;
pub type Free = unsafe extern "C" fn(*mut c_void);
pub type PosixMemalign = unsafe extern "C" fn(*mut *mut c_void, usize, usize) -> c_int;
pub type Mmap = unsafe extern "C" fn(*mut c_void, usize, c_int, c_int, c_int, i64) -> *mut c_void;
pub type Munmap = unsafe extern "C" fn(*mut c_void, usize) -> c_int;
pub type Mremap =
    unsafe extern "C" fn(*mut c_void, usize, usize, c_int, *mut c_void) -> *mut c_void;
pub type Dlclose = unsafe extern "C" fn(*mut c_void) -> c_int;

/// The next library's functions. Written once, before a second thread exists.
pub static mut MALLOC: Malloc = early_malloc;
pub static mut CALLOC: Calloc = early_calloc;
pub static mut REALLOC: Realloc = early_realloc;
pub static mut FREE: Free = early_free;
pub static mut MEMALIGN: Calloc = early_memalign;
pub static mut ALIGNED_ALLOC: Calloc = early_memalign;
static mut POSIX_MEMALIGN: Option<PosixMemalign> = None;
static mut MMAP: Option<Mmap> = None;
static mut MUNMAP: Option<Munmap> = None;
static mut MREMAP: Option<Mremap> = None;
static mut DLCLOSE: Option<Dlclose> = None;
/// The next `free`, behind one that knows the buffer.
static mut FREE_BEHIND_BUFFER: Free = ignore;

const UNRESOLVED: u8 = 0;
const RESOLVING: u8 = 1;
const RESOLVED: u8 = 2;
static PROGRESS: AtomicU8 = AtomicU8::new(UNRESOLVED);

/// The dynamic linker needs a few hundred bytes; another preloaded library may need more.
const BUFFER_BYTES: usize = 64 << 10;
#[repr(C, align(16))]
struct Buffer([u8; BUFFER_BYTES]);
static mut BUFFER: Buffer = Buffer([0; BUFFER_BYTES]);
static BUFFER_USED: AtomicUsize = AtomicUsize::new(0);
/// Each block has its length in front of it.
const BLOCK_HEAD: usize = 16;

/// Looks the functions up. False while a lookup is under way, which itself allocates.
pub fn resolve() -> bool {
    if PROGRESS.load(Acquire) == RESOLVED {
        return true;
    }
    if PROGRESS
        .compare_exchange(UNRESOLVED, RESOLVING, AcqRel, Acquire)
        .is_err()
    {
        return PROGRESS.load(Acquire) == RESOLVED;
    }
    // SAFETY: there is one thread.
    if !unsafe { look_up(|name| c::symbol(c::RTLD_NEXT, name)) } {
        // SAFETY: no C library has this; there is nothing to fall back to.
        unsafe { c::abort() }
    }
    PROGRESS.store(RESOLVED, Release);
    true
}

/// Looks up the functions that a running program uses. False if it has none that can be replaced.
///
/// # Safety
/// Nothing calls this library's functions yet.
pub unsafe fn resolve_from_outside() -> bool {
    let ours = crate::interpose::malloc as *const () as *mut c_void;
    let is_foreign = c::symbol(c::RTLD_DEFAULT, c"malloc") != ours;
    // SAFETY: the caller's.
    let is_known = is_foreign && unsafe { look_up(linkage::function_behind_program) };
    PROGRESS.store(RESOLVED, Release);
    is_known
}

/// The address of a function that was looked up; 0 if there is none.
///
/// # Safety
/// The functions are resolved.
pub unsafe fn address_of(name: &CStr) -> usize {
    let address = |function: Option<*const ()>| function.map_or(0, |it| it as usize);
    // SAFETY: the caller's.
    unsafe {
        match name.to_bytes() {
            b"malloc" => MALLOC as usize,
            b"calloc" => CALLOC as usize,
            b"realloc" => REALLOC as usize,
            b"free" => FREE as usize,
            b"memalign" => MEMALIGN as usize,
            b"aligned_alloc" => ALIGNED_ALLOC as usize,
            b"posix_memalign" => address(POSIX_MEMALIGN.map(|it| it as *const ())),
            b"mmap" | b"mmap64" => address(MMAP.map(|it| it as *const ())),
            b"munmap" => address(MUNMAP.map(|it| it as *const ())),
            b"mremap" => address(MREMAP.map(|it| it as *const ())),
            b"dlclose" => address(DLCLOSE.map(|it| it as *const ())),
            _ => 0,
        }
    }
}

/// False if a function is missing that everything needs.
///
/// # Safety
/// No other thread uses the functions.
unsafe fn look_up(next: impl Fn(&CStr) -> *mut c_void) -> bool {
    // SAFETY: every symbol has the type of its C declaration; a null pointer is `None` where that is allowed.
    unsafe {
        POSIX_MEMALIGN = transmute::<*mut c_void, Option<PosixMemalign>>(next(c"posix_memalign"));
        MMAP = transmute::<*mut c_void, Option<Mmap>>(next(c"mmap"));
        MUNMAP = transmute::<*mut c_void, Option<Munmap>>(next(c"munmap"));
        MREMAP = transmute::<*mut c_void, Option<Mremap>>(next(c"mremap"));
        DLCLOSE = transmute::<*mut c_void, Option<Dlclose>>(next(c"dlclose"));
        let (memalign, aligned) = (next(c"memalign"), next(c"aligned_alloc"));
        if !memalign.is_null() {
            MEMALIGN = transmute::<*mut c_void, Calloc>(memalign);
        }
        if !aligned.is_null() {
            ALIGNED_ALLOC = transmute::<*mut c_void, Calloc>(aligned);
        }
        let (malloc, calloc) = (next(c"malloc"), next(c"calloc"));
        let (realloc, free) = (next(c"realloc"), next(c"free"));
        if malloc.is_null() || calloc.is_null() || realloc.is_null() || free.is_null() {
            return false;
        }
        CALLOC = transmute::<*mut c_void, Calloc>(calloc);
        FREE_BEHIND_BUFFER = transmute::<*mut c_void, Free>(free);
        REALLOC = transmute::<*mut c_void, Realloc>(realloc);
        let is_buffer_used = BUFFER_USED.load(Relaxed) > 0;
        FREE = if is_buffer_used {
            free_behind_buffer
        } else {
            FREE_BEHIND_BUFFER
        };
        MALLOC = transmute::<*mut c_void, Malloc>(malloc);
    }
    true
}

/// Functions that not every C library has, or that are not needed before they are known.
macro_rules! optional {
    ($($name:ident, $place:ident, $type:ty;)*) => {
        $(pub fn $name() -> Option<$type> {
            resolve();
            // SAFETY: written once, before a second thread exists.
            unsafe { $place }
        })*
    };
}

optional! {
    posix_memalign, POSIX_MEMALIGN, PosixMemalign;
    mmap, MMAP, Mmap;
    munmap, MUNMAP, Munmap;
    mremap, MREMAP, Mremap;
    dlclose, DLCLOSE, Dlclose;
}

/// Whether the buffer holds this block.
#[inline]
pub fn is_in_buffer(block: *mut c_void) -> bool {
    (block as usize).wrapping_sub((&raw const BUFFER) as usize) < BUFFER_BYTES
}

/// The length of a block in the buffer.
///
/// # Safety
/// The block is in the buffer.
pub unsafe fn length_in_buffer(block: *mut c_void) -> usize {
    // SAFETY: the head is in front of the block.
    unsafe { *block.cast::<u8>().sub(BLOCK_HEAD).cast::<usize>() }
}

fn from_buffer(length: usize) -> *mut c_void {
    if length > BUFFER_BYTES {
        return core::ptr::null_mut();
    }
    let needed = (length + 15 & !15) + BLOCK_HEAD;
    let at = BUFFER_USED.fetch_add(needed, Relaxed);
    if at + needed > BUFFER_BYTES {
        return core::ptr::null_mut();
    }
    // SAFETY: the part from `at` is in the buffer and belongs to this call alone.
    unsafe {
        let head = (&raw mut BUFFER).cast::<u8>().add(at);
        *head.cast::<usize>() = length;
        head.add(BLOCK_HEAD).cast()
    }
}

unsafe extern "C" fn early_malloc(length: usize) -> *mut c_void {
    // SAFETY: as malloc.
    match resolve() {
        true => unsafe { MALLOC(length) },
        false => from_buffer(length),
    }
}

unsafe extern "C" fn early_calloc(count: usize, length: usize) -> *mut c_void {
    // SAFETY: as calloc. The buffer is zero and used once.
    match resolve() {
        true => unsafe { CALLOC(count, length) },
        false => from_buffer(count.saturating_mul(length)),
    }
}

unsafe extern "C" fn early_realloc(block: *mut c_void, length: usize) -> *mut c_void {
    // SAFETY: before resolution, every block is from the buffer.
    unsafe {
        if resolve() {
            return REALLOC(block, length);
        }
        let moved = from_buffer(length);
        if !moved.is_null() && is_in_buffer(block) {
            let kept = length_in_buffer(block).min(length);
            core::ptr::copy_nonoverlapping(block.cast::<u8>(), moved.cast::<u8>(), kept);
        }
        moved
    }
}

unsafe extern "C" fn early_memalign(alignment: usize, length: usize) -> *mut c_void {
    // SAFETY: as memalign; nothing asks for more than 16 this early.
    match resolve() {
        true if !c::symbol(c::RTLD_NEXT, c"memalign").is_null() => unsafe {
            MEMALIGN(alignment, length)
        },
        _ => from_buffer(length),
    }
}

unsafe extern "C" fn early_free(block: *mut c_void) {
    if !is_in_buffer(block) && resolve() {
        // SAFETY: as free.
        unsafe { FREE_BEHIND_BUFFER(block) }
    }
}

unsafe extern "C" fn free_behind_buffer(block: *mut c_void) {
    if !is_in_buffer(block) {
        // SAFETY: as free.
        unsafe { FREE_BEHIND_BUFFER(block) }
    }
}

unsafe extern "C" fn ignore(_: *mut c_void) {}
