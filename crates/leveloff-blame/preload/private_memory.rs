//! The tables of this process, in one private mapping that the kernel clears in a forked child. A child so starts without
//! its parent's blocks: their pages are shared with the parent, which accounts for them.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::mem::size_of;
use core::sync::atomic::{AtomicU8, AtomicU64};

use crate::c;
use crate::live_table::{BUCKETS, Block, Bucket, FILTER};
use crate::python::code_cache::{CODE_SLOTS, CodeSlot};
use crate::stacks::{INDEX_SLOTS, IndexSlot};

/// All zero at the start and after a fork.
#[repr(C, align(4096))]
pub struct Private {
    /// Counts live sampled blocks by a hash of their address, so that `free` knows most other blocks at once.
    pub filter: [AtomicU8; FILTER],
    pub buckets: [Bucket; BUCKETS],
    pub blocks: [UnsafeCell<Block>; BUCKETS * 8],
    pub stack_index: [IndexSlot; INDEX_SLOTS],
    pub codes: [CodeSlot; CODE_SLOTS],
    /// 0 until this process has its own segment.
    pub segment: AtomicU64,
    /// Start of the governor's current window, in milliseconds.
    pub window: AtomicU64,
}

/// Stands in for the mapping until there is one: its filter says that no block was sampled.
static EMPTY: [AtomicU8; FILTER] = [const { AtomicU8::new(0) }; FILTER];

static mut PRIVATE: *const Private = core::ptr::null();
static mut FILTER_START: *const AtomicU8 = EMPTY.as_ptr();

/// Makes the mapping. False if the kernel cannot clear it in children (before Linux 4.14).
///
/// # Safety
/// There is one thread.
pub unsafe fn map() -> bool {
    let length = size_of::<Private>();
    let start = c::map(length, c::MAP_PRIVATE | c::MAP_ANONYMOUS, -1);
    // SAFETY: the mapping is ours and has this length; nothing reads the pointers concurrently.
    unsafe {
        if start.is_null() || c::madvise(start, length, c::MADV_WIPEONFORK) != 0 {
            return false;
        }
        PRIVATE = start.cast::<Private>();
        FILTER_START = start.cast::<c_void>().cast();
    }
    true
}

/// Empties the tables, and gives their memory back.
pub fn clear() {
    // SAFETY: a page of the mapping is zero at the next access.
    unsafe {
        c::madvise(
            PRIVATE.cast_mut().cast(),
            size_of::<Private>(),
            c::MADV_DONTNEED,
        )
    };
}

/// The tables. Only called when sampling is enabled, which is after [`map`].
pub fn private() -> &'static Private {
    // SAFETY: set once before sampling is enabled, and never unmapped. All fields but `blocks` are atomic; a block
    // belongs to the thread that holds its key.
    unsafe { &*PRIVATE }
}

/// The filter's byte for an index below [`FILTER`].
#[inline(always)]
pub fn filter_byte(index: usize) -> &'static AtomicU8 {
    // SAFETY: the pointer is at `FILTER` bytes that are never unmapped.
    unsafe { &*FILTER_START.add(index) }
}
