//! Python's own allocator for small blocks, which malloc does not see: wrapped, so that its blocks are sampled one by
//! one, and the arenas that it takes from the kernel are not.

use core::ffi::{c_int, c_void};
use core::mem::transmute;

use crate::c;
use crate::layout::KIND_PYTHON_OBJECT;
use crate::live_table::may_contain;
use crate::sampler::{self, count_down};
use crate::thread_state::thread;

/// `PyMemAllocatorEx`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Allocator {
    context: *mut c_void,
    malloc: unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void,
    calloc: unsafe extern "C" fn(*mut c_void, usize, usize) -> *mut c_void,
    realloc: unsafe extern "C" fn(*mut c_void, *mut c_void, usize) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void, *mut c_void),
}

/// `PyObjectArenaAllocator`.
#[derive(Clone, Copy)]
#[repr(C)]
struct ArenaAllocator {
    context: *mut c_void,
    alloc: unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void, *mut c_void, usize),
}

type Access = unsafe extern "C" fn(c_int, *mut Allocator);
type ArenaAccess = unsafe extern "C" fn(*mut ArenaAllocator);

/// The domains "mem" and "obj"; "raw" is malloc. Each has wrappers of its own, so that the wrapped allocator's context
/// can stay: a thread that reads the structure while it is being replaced may see old and new fields.
const MEM: usize = 1;
const OBJECT: usize = 2;
/// Larger blocks go to malloc, which counts them.
const LARGEST_SMALL: usize = 512;

/// The wrapped allocators by domain, written before the wrappers are in use.
static mut WRAPPED: [Allocator; 3] = [Allocator {
    context: core::ptr::null_mut(),
    malloc: nothing,
    calloc: nothing_of_many,
    realloc: nothing_again,
    free: ignore,
}; 3];
static mut WRAPPED_ARENA: Option<ArenaAllocator> = None;

/// How Python's allocators are read and replaced.
#[derive(Clone, Copy)]
struct Accesses {
    get: Access,
    set: Access,
    get_arena: ArenaAccess,
    set_arena: ArenaAccess,
}

impl Accesses {
    fn find() -> Option<Accesses> {
        let find = |name| c::symbol(c::RTLD_DEFAULT, name);
        // SAFETY: the symbols have these types.
        unsafe {
            Some(Accesses {
                get: transmute::<*mut c_void, Option<Access>>(find(c"PyMem_GetAllocator"))?,
                set: transmute::<*mut c_void, Option<Access>>(find(c"PyMem_SetAllocator"))?,
                get_arena: transmute::<*mut c_void, Option<ArenaAccess>>(find(
                    c"PyObject_GetArenaAllocator",
                ))?,
                set_arena: transmute::<*mut c_void, Option<ArenaAccess>>(find(
                    c"PyObject_SetArenaAllocator",
                ))?,
            })
        }
    }

    unsafe fn current(&self, domain: usize) -> Allocator {
        let mut current = wrapper::<OBJECT>(core::ptr::null_mut());
        // SAFETY: the structure has Python's layout.
        unsafe { (self.get)(domain as c_int, &raw mut current) };
        current
    }

    unsafe fn current_arena(&self) -> ArenaAllocator {
        let mut current = ArenaAllocator {
            context: core::ptr::null_mut(),
            alloc: arena_alloc,
            free: arena_free,
        };
        // SAFETY: the structure has Python's layout.
        unsafe { (self.get_arena)(&raw mut current) };
        current
    }
}

/// Wraps the allocators.
///
/// # Safety
/// Python has not started, or this thread holds its lock.
pub unsafe fn wrap() {
    let Some(accesses) = Accesses::find() else {
        return;
    };
    // SAFETY: the caller's; the wrapped allocator is stored before its wrapper is set.
    unsafe {
        let arena = accesses.current_arena();
        WRAPPED_ARENA = Some(arena);
        let mut wrapper_of_arena = ArenaAllocator {
            context: arena.context,
            alloc: arena_alloc,
            free: arena_free,
        };
        (accesses.set_arena)(&raw mut wrapper_of_arena);
        for domain in [MEM, OBJECT] {
            let wrapped = accesses.current(domain);
            WRAPPED[domain] = wrapped;
            let mut wrapper = match domain {
                MEM => wrapper::<MEM>(wrapped.context),
                _ => wrapper::<OBJECT>(wrapped.context),
            };
            (accesses.set)(domain as c_int, &raw mut wrapper);
        }
    }
}

/// Takes the wrappers out. False if someone else has wrapped them since: then they stay, and pass every call on.
///
/// # Safety
/// This thread holds Python's lock.
pub unsafe fn unwrap() -> bool {
    // SAFETY: the caller's; `wrap` has stored what is set again.
    unsafe {
        let (Some(accesses), Some(mut arena)) = (Accesses::find(), WRAPPED_ARENA) else {
            return true;
        };
        let mut is_whole = true;
        for domain in [MEM, OBJECT] {
            let ours = match domain {
                MEM => malloc::<MEM> as *const (),
                _ => malloc::<OBJECT> as *const (),
            };
            let is_ours = accesses.current(domain).malloc as *const () == ours;
            if is_ours {
                let mut wrapped = WRAPPED[domain];
                (accesses.set)(domain as c_int, &raw mut wrapped);
            }
            is_whole &= is_ours;
        }
        let is_ours = accesses.current_arena().alloc as *const () == arena_alloc as *const ();
        if is_ours {
            (accesses.set_arena)(&raw mut arena);
        }
        is_whole && is_ours
    }
}

fn wrapper<const DOMAIN: usize>(context: *mut c_void) -> Allocator {
    Allocator {
        context,
        malloc: malloc::<DOMAIN>,
        calloc: calloc::<DOMAIN>,
        realloc: realloc::<DOMAIN>,
        free: free::<DOMAIN>,
    }
}

/// The allocator that a wrapper calls.
#[inline(always)]
fn wrapped<const DOMAIN: usize>() -> &'static Allocator {
    // SAFETY: written before the wrapper is in use.
    unsafe { &*&raw const WRAPPED[DOMAIN] }
}

unsafe extern "C" fn malloc<const DOMAIN: usize>(
    context: *mut c_void,
    length: usize,
) -> *mut c_void {
    // SAFETY: the caller keeps the contract of the wrapped allocator.
    unsafe {
        match length > LARGEST_SMALL || count_down(length) {
            true => (wrapped::<DOMAIN>().malloc)(context, length),
            false => malloc_at_sample::<DOMAIN>(context, length),
        }
    }
}

#[cold]
#[inline(never)]
unsafe fn malloc_at_sample<const DOMAIN: usize>(
    context: *mut c_void,
    length: usize,
) -> *mut c_void {
    // SAFETY: as `malloc`.
    let block = unsafe { (wrapped::<DOMAIN>().malloc)(context, length) };
    sampler::sample(block, length, KIND_PYTHON_OBJECT);
    block
}

unsafe extern "C" fn calloc<const DOMAIN: usize>(
    context: *mut c_void,
    count: usize,
    length: usize,
) -> *mut c_void {
    let bytes = count.saturating_mul(length);
    let is_unsampled = bytes > LARGEST_SMALL || count_down(bytes);
    // SAFETY: the caller keeps the contract of the wrapped allocator.
    let block = unsafe { (wrapped::<DOMAIN>().calloc)(context, count, length) };
    if !is_unsampled {
        sampler::sample(block, bytes, KIND_PYTHON_OBJECT);
    }
    block
}

unsafe extern "C" fn realloc<const DOMAIN: usize>(
    context: *mut c_void,
    block: *mut c_void,
    length: usize,
) -> *mut c_void {
    // If the block becomes large, malloc's functions count the new one.
    let known = match may_contain(block as usize) {
        true => sampler::forget(block),
        false => None,
    };
    let is_unsampled = length > LARGEST_SMALL || count_down(length);
    // SAFETY: the caller keeps the contract of the wrapped allocator.
    let moved = unsafe { (wrapped::<DOMAIN>().realloc)(context, block, length) };
    match known {
        Some(known) if moved.is_null() => sampler::remember(block, known),
        _ if !is_unsampled => sampler::sample(moved, length, KIND_PYTHON_OBJECT),
        _ => {}
    }
    moved
}

unsafe extern "C" fn free<const DOMAIN: usize>(context: *mut c_void, block: *mut c_void) {
    // SAFETY: the caller keeps the contract of the wrapped allocator.
    unsafe {
        match may_contain(block as usize) {
            false => (wrapped::<DOMAIN>().free)(context, block),
            true => free_known::<DOMAIN>(context, block),
        }
    }
}

#[cold]
#[inline(never)]
unsafe extern "C" fn free_known<const DOMAIN: usize>(context: *mut c_void, block: *mut c_void) {
    sampler::forget(block);
    // SAFETY: as `free`.
    unsafe { (wrapped::<DOMAIN>().free)(context, block) }
}

unsafe extern "C" fn arena_alloc(context: *mut c_void, length: usize) -> *mut c_void {
    let thread = thread();
    // SAFETY: set before this function can be called; the thread's state is its own.
    unsafe {
        let Some(wrapped) = WRAPPED_ARENA else {
            return core::ptr::null_mut();
        };
        (*thread).in_arena += 1;
        let arena = (wrapped.alloc)(context, length);
        (*thread).in_arena -= 1;
        arena
    }
}

unsafe extern "C" fn arena_free(context: *mut c_void, arena: *mut c_void, length: usize) {
    // SAFETY: set before this function can be called.
    unsafe {
        if let Some(wrapped) = WRAPPED_ARENA {
            (wrapped.free)(context, arena, length);
        }
    }
}

unsafe extern "C" fn nothing(_: *mut c_void, _: usize) -> *mut c_void {
    core::ptr::null_mut()
}

unsafe extern "C" fn nothing_of_many(_: *mut c_void, _: usize, _: usize) -> *mut c_void {
    core::ptr::null_mut()
}

unsafe extern "C" fn nothing_again(_: *mut c_void, _: *mut c_void, _: usize) -> *mut c_void {
    core::ptr::null_mut()
}

unsafe extern "C" fn ignore(_: *mut c_void, _: *mut c_void) {}
