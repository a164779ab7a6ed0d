//! glibc's count of allocated memory and its `malloc_trim`: the two calls that distinguish retention
//! from a leak.
//!
//! Neither takes or returns memory of ours, and both may be called from any thread at any time.

#![allow(unsafe_code)]

/// Asks the allocator to give back every free page; false if it had none, or cannot.
pub fn trim() -> bool {
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: takes no pointer, and locks the allocator itself.
        unsafe { libc::malloc_trim(0) == 1 }
    }
    #[cfg(not(target_env = "gnu"))]
    false
}

/// Bytes that were allocated and not freed, if the allocator counts them.
pub fn in_use() -> Option<u64> {
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: returns numbers by value, and locks the allocator itself.
        let info = unsafe { libc::mallinfo2() };
        Some((info.uordblks + info.hblkhd) as u64)
    }
    #[cfg(not(target_env = "gnu"))]
    None
}
