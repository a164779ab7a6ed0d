//! The functions that the program calls instead of libc's. Each counts the bytes down and passes the call on; one in some
//! hundred thousand bytes takes the slow way and is sampled.

use core::ffi::{c_int, c_void};

use crate::c;
use crate::layout::{KIND_HEAP, KIND_MAPPING};
use crate::live_table::may_contain;
use crate::real;
use crate::sampler::{self, count_down};
use crate::thread_state::thread;
use crate::unwind;

/// Replaces malloc.
///
/// # Safety
/// As malloc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc(length: usize) -> *mut c_void {
    // SAFETY: the caller keeps malloc's contract.
    unsafe {
        match count_down(length) {
            true => real::MALLOC(length),
            false => malloc_at_sample(length),
        }
    }
}

#[cold]
#[inline(never)]
unsafe fn malloc_at_sample(length: usize) -> *mut c_void {
    // SAFETY: as malloc.
    let block = unsafe { real::MALLOC(length) };
    sampler::sample(block, length, KIND_HEAP);
    block
}

/// Replaces calloc.
///
/// # Safety
/// As calloc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calloc(count: usize, length: usize) -> *mut c_void {
    let bytes = count.saturating_mul(length);
    let is_unsampled = count_down(bytes);
    // SAFETY: the caller keeps calloc's contract.
    let block = unsafe { real::CALLOC(count, length) };
    if !is_unsampled {
        sampler::sample(block, bytes, KIND_HEAP);
    }
    block
}

/// Replaces realloc.
///
/// # Safety
/// As realloc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(block: *mut c_void, length: usize) -> *mut c_void {
    if may_contain(block as usize) || real::is_in_buffer(block) {
        // SAFETY: the caller keeps realloc's contract.
        return unsafe { realloc_of_known(block, length) };
    }
    let is_unsampled = count_down(length);
    // SAFETY: the caller keeps realloc's contract.
    let moved = unsafe { real::REALLOC(block, length) };
    if !is_unsampled {
        sampler::sample(moved, length, KIND_HEAP);
    }
    moved
}

#[cold]
#[inline(never)]
unsafe fn realloc_of_known(block: *mut c_void, length: usize) -> *mut c_void {
    // SAFETY: the caller keeps realloc's contract; a block of the buffer is copied, never handed to the real one.
    unsafe {
        if real::is_in_buffer(block) {
            let moved = malloc(length);
            if !moved.is_null() {
                let kept = real::length_in_buffer(block).min(length);
                core::ptr::copy_nonoverlapping(block.cast::<u8>(), moved.cast::<u8>(), kept);
            }
            return moved;
        }
        // The address must leave the table before another thread can obtain it.
        let known = sampler::forget(block);
        let is_unsampled = count_down(length);
        let moved = real::REALLOC(block, length);
        match known {
            Some(known) if moved.is_null() && length > 0 => sampler::remember(block, known),
            _ if !is_unsampled => sampler::sample(moved, length, KIND_HEAP),
            _ => {}
        }
        moved
    }
}

/// Replaces memalign.
///
/// # Safety
/// As memalign.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memalign(alignment: usize, length: usize) -> *mut c_void {
    // SAFETY: the caller keeps memalign's contract.
    unsafe { aligned(real::MEMALIGN, alignment, length) }
}

/// Replaces aligned_alloc.
///
/// # Safety
/// As aligned_alloc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aligned_alloc(alignment: usize, length: usize) -> *mut c_void {
    // SAFETY: the caller keeps aligned_alloc's contract.
    unsafe { aligned(real::ALIGNED_ALLOC, alignment, length) }
}

#[inline]
unsafe fn aligned(real: real::Calloc, alignment: usize, length: usize) -> *mut c_void {
    let is_unsampled = count_down(length);
    // SAFETY: the caller keeps the contract.
    let block = unsafe { real(alignment, length) };
    if !is_unsampled {
        sampler::sample(block, length, KIND_HEAP);
    }
    block
}

/// Replaces posix_memalign.
///
/// # Safety
/// As posix_memalign.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_memalign(
    out: *mut *mut c_void,
    alignment: usize,
    length: usize,
) -> c_int {
    /// No memory: what POSIX has this function return.
    const ENOMEM: c_int = 12;
    let is_unsampled = count_down(length);
    // SAFETY: the caller keeps posix_memalign's contract.
    unsafe {
        let Some(real) = real::posix_memalign() else {
            return ENOMEM;
        };
        let result = real(out, alignment, length);
        if !is_unsampled && result == 0 {
            sampler::sample(*out, length, KIND_HEAP);
        }
        result
    }
}

/// Replaces free.
///
/// # Safety
/// As free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(block: *mut c_void) {
    // SAFETY: the caller keeps free's contract.
    unsafe {
        match may_contain(block as usize) {
            false => real::FREE(block),
            true => free_known(block),
        }
    }
}

/// Apart from `free`, which so needs no stack frame.
#[cold]
#[inline(never)]
unsafe extern "C" fn free_known(block: *mut c_void) {
    sampler::forget(block);
    // SAFETY: as free.
    unsafe { real::FREE(block) }
}

/// Replaces mmap. Only private anonymous writable mappings are counted: others are files or reservations.
///
/// # Safety
/// As mmap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap(
    address: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> *mut c_void {
    const PRIVATE_ANONYMOUS: c_int = c::MAP_PRIVATE | c::MAP_ANONYMOUS;
    // SAFETY: the caller keeps mmap's contract; the thread's state is its own.
    unsafe {
        let Some(real) = real::mmap() else {
            return c::map_as_asked(address, length, protection, flags, fd, offset);
        };
        let is_counted = flags & PRIVATE_ANONYMOUS == PRIVATE_ANONYMOUS
            && protection & c::PROT_WRITE != 0
            && (*thread()).in_arena == 0;
        let is_unsampled = !is_counted || count_down(length);
        let start = real(address, length, protection, flags, fd, offset);
        if !is_unsampled && start != c::MAP_FAILED {
            sampler::sample(start, length, KIND_MAPPING);
        }
        start
    }
}

/// Replaces mmap64, which is the same on 64-bit machines.
///
/// # Safety
/// As mmap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap64(
    address: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> *mut c_void {
    // SAFETY: the caller keeps mmap's contract.
    unsafe { mmap(address, length, protection, flags, fd, offset) }
}

/// Replaces munmap. A mapping counts as gone when its start is unmapped.
///
/// # Safety
/// As munmap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn munmap(start: *mut c_void, length: usize) -> c_int {
    if may_contain(start as usize) {
        sampler::forget(start);
    }
    // SAFETY: the caller keeps munmap's contract.
    unsafe {
        match real::munmap() {
            Some(real) => real(start, length),
            None => 0,
        }
    }
}

/// Replaces mremap.
///
/// # Safety
/// As mremap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mremap(
    start: *mut c_void,
    old_length: usize,
    length: usize,
    flags: c_int,
    address: *mut c_void,
) -> *mut c_void {
    // SAFETY: the caller keeps mremap's contract.
    unsafe {
        let Some(real) = real::mremap() else {
            return c::MAP_FAILED;
        };
        let known = match may_contain(start as usize) {
            true => sampler::forget(start),
            false => None,
        };
        let is_unsampled = length <= old_length && known.is_none() || count_down(length);
        let moved = real(start, old_length, length, flags, address);
        match known {
            Some(known) if moved == c::MAP_FAILED => sampler::remember(start, known),
            _ if !is_unsampled && moved != c::MAP_FAILED => {
                sampler::sample(moved, length, KIND_MAPPING);
            }
            _ => {}
        }
        moved
    }
}

/// Replaces dlclose: another library may be loaded where one was, so what is known of its code is dropped.
///
/// # Safety
/// As dlclose.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dlclose(handle: *mut c_void) -> c_int {
    // SAFETY: the caller keeps dlclose's contract.
    unsafe {
        let Some(real) = real::dlclose() else {
            return -1;
        };
        let result = real(handle);
        unwind::forget_rules();
        result
    }
}
