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

/// The domains "mem" and "obj"; "raw" is malloc.
const DOMAINS: [c_int; 2] = [1, 2];
/// Larger blocks go to malloc, which counts them.
const LARGEST_SMALL: usize = 512;

/// The wrapped allocators, written before Python starts. Their addresses are the wrappers' contexts.
static mut WRAPPED: [Option<Allocator>; 2] = [None; 2];
static mut WRAPPED_ARENA: Option<ArenaAllocator> = None;

/// Wraps the allocators.
///
/// # Safety
/// There is one thread, and Python has not started.
pub unsafe fn wrap() {
    let find = |name| c::symbol(c::RTLD_DEFAULT, name);
    // SAFETY: the symbols have these types.
    let (get, set, get_arena, set_arena) = unsafe {
        (
            transmute::<*mut c_void, Option<Access>>(find(c"PyMem_GetAllocator")),
            transmute::<*mut c_void, Option<Access>>(find(c"PyMem_SetAllocator")),
            transmute::<*mut c_void, Option<ArenaAccess>>(find(c"PyObject_GetArenaAllocator")),
            transmute::<*mut c_void, Option<ArenaAccess>>(find(c"PyObject_SetArenaAllocator")),
        )
    };
    let (Some(get), Some(set), Some(get_arena), Some(set_arena)) = (get, set, get_arena, set_arena)
    else {
        return;
    };
    let ours = |context| Allocator {
        context,
        malloc,
        calloc,
        realloc,
        free,
    };
    for (n, domain) in DOMAINS.into_iter().enumerate() {
        // SAFETY: the structures have Python's layout; the static lives as long as the wrapper.
        unsafe {
            let mut wrapped = ours(core::ptr::null_mut());
            get(domain, &raw mut wrapped);
            WRAPPED[n] = Some(wrapped);
            let context = (*&raw mut WRAPPED[n])
                .as_mut()
                .map_or(core::ptr::null_mut(), |it| &raw mut *it);
            let mut wrapper = ours(context.cast());
            set(domain, &raw mut wrapper);
        }
    }
    // SAFETY: as above.
    unsafe {
        let mut arena = ArenaAllocator {
            context: core::ptr::null_mut(),
            alloc: arena_alloc,
            free: arena_free,
        };
        get_arena(&raw mut arena);
        WRAPPED_ARENA = Some(arena);
        let mut wrapper = ArenaAllocator {
            context: arena.context,
            alloc: arena_alloc,
            free: arena_free,
        };
        set_arena(&raw mut wrapper);
    }
}

unsafe extern "C" fn malloc(context: *mut c_void, length: usize) -> *mut c_void {
    // SAFETY: the context is a wrapped allocator.
    unsafe {
        let wrapped = &*context.cast::<Allocator>();
        if length > LARGEST_SMALL || count_down(length) {
            return (wrapped.malloc)(wrapped.context, length);
        }
        let block = (wrapped.malloc)(wrapped.context, length);
        sampler::sample(block, length, KIND_PYTHON_OBJECT);
        block
    }
}

unsafe extern "C" fn calloc(context: *mut c_void, count: usize, length: usize) -> *mut c_void {
    let bytes = count.saturating_mul(length);
    // SAFETY: the context is a wrapped allocator.
    unsafe {
        let wrapped = &*context.cast::<Allocator>();
        let is_unsampled = bytes > LARGEST_SMALL || count_down(bytes);
        let block = (wrapped.calloc)(wrapped.context, count, length);
        if !is_unsampled {
            sampler::sample(block, bytes, KIND_PYTHON_OBJECT);
        }
        block
    }
}

unsafe extern "C" fn realloc(
    context: *mut c_void,
    block: *mut c_void,
    length: usize,
) -> *mut c_void {
    // SAFETY: the context is a wrapped allocator.
    unsafe {
        let wrapped = &*context.cast::<Allocator>();
        // If the block becomes large, malloc's functions count the new one.
        let known = match may_contain(block as usize) {
            true => sampler::forget(block),
            false => None,
        };
        let is_unsampled = length > LARGEST_SMALL || count_down(length);
        let moved = (wrapped.realloc)(wrapped.context, block, length);
        match known {
            Some(known) if moved.is_null() => sampler::remember(block, known),
            _ if !is_unsampled => sampler::sample(moved, length, KIND_PYTHON_OBJECT),
            _ => {}
        }
        moved
    }
}

unsafe extern "C" fn free(context: *mut c_void, block: *mut c_void) {
    if may_contain(block as usize) {
        sampler::forget(block);
    }
    // SAFETY: the context is a wrapped allocator.
    unsafe {
        let wrapped = &*context.cast::<Allocator>();
        (wrapped.free)(wrapped.context, block);
    }
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
