//! What the library uses of libc, with the constants that x86-64 and aarch64 Linux share.

use core::ffi::{CStr, c_char, c_int, c_long, c_void};

pub const RTLD_DEFAULT: *mut c_void = core::ptr::null_mut();
pub const RTLD_NEXT: *mut c_void = -1_isize as *mut c_void;

pub const PROT_READ: c_int = 1;
pub const PROT_WRITE: c_int = 2;
pub const MAP_SHARED: c_int = 1;
pub const MAP_PRIVATE: c_int = 2;
pub const MAP_ANONYMOUS: c_int = 0x20;
pub const MAP_FAILED: *mut c_void = -1_isize as *mut c_void;
pub const MADV_WIPEONFORK: c_int = 18;

pub const O_RDWR: c_int = 2;
pub const O_CREAT: c_int = 0o100;
pub const O_EXCL: c_int = 0o200;
pub const O_CLOEXEC: c_int = 0o2000000;
/// Differs between the two architectures.
#[cfg(target_arch = "x86_64")]
pub const O_NOFOLLOW: c_int = 0o400000;
#[cfg(target_arch = "aarch64")]
pub const O_NOFOLLOW: c_int = 0o100000;

pub const MADV_DONTNEED: c_int = 4;
const SC_PAGESIZE: c_int = 30;

pub const CLOCK_MONOTONIC: c_int = 1;
pub const RLIMIT_FSIZE: c_int = 1;

#[cfg(target_arch = "x86_64")]
const SYS_MMAP: c_long = 9;
#[cfg(target_arch = "x86_64")]
const SYS_MUNMAP: c_long = 11;
#[cfg(target_arch = "x86_64")]
const SYS_MSYNC: c_long = 26;
#[cfg(target_arch = "aarch64")]
const SYS_MMAP: c_long = 222;
#[cfg(target_arch = "aarch64")]
const SYS_MUNMAP: c_long = 215;
#[cfg(target_arch = "aarch64")]
const SYS_MSYNC: c_long = 227;

#[repr(C)]
pub struct Timespec {
    pub seconds: i64,
    pub nanoseconds: i64,
}

#[repr(C)]
pub struct Limit {
    pub current: u64,
    pub maximum: u64,
}

/// `dl_phdr_info`: a loaded object.
#[repr(C)]
pub struct LoadedObject {
    pub base: usize,
    pub name: *const c_char,
    pub segments: *const c_void,
    pub segment_count: u16,
    pub ever_loaded: u64,
    pub ever_unloaded: u64,
}

pub type VisitObject =
    unsafe extern "C" fn(*const LoadedObject, length: usize, *mut c_void) -> c_int;

#[link(name = "c")]
unsafe extern "C" {
    pub fn abort() -> !;
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    pub fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    pub fn getenv(name: *const c_char) -> *const c_char;
    pub fn strlen(text: *const c_char) -> usize;
    pub fn strcmp(one: *const c_char, other: *const c_char) -> c_int;
    pub fn sysconf(name: c_int) -> c_long;
    pub fn mprotect(address: *mut c_void, length: usize, protection: c_int) -> c_int;
    pub fn sched_yield() -> c_int;
    pub fn dl_iterate_phdr(visit: VisitObject, data: *mut c_void) -> c_int;
    pub fn getpid() -> c_int;
    pub fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    pub fn close(fd: c_int) -> c_int;
    pub fn access(path: *const c_char, mode: c_int) -> c_int;
    pub fn unlink(path: *const c_char) -> c_int;
    pub fn posix_fallocate(fd: c_int, offset: i64, length: i64) -> c_int;
    pub fn madvise(address: *mut c_void, length: usize, advice: c_int) -> c_int;
    pub fn getrlimit(resource: c_int, limit: *mut Limit) -> c_int;
    pub fn clock_gettime(clock: c_int, time: *mut Timespec) -> c_int;
    pub fn pthread_self() -> usize;
    pub fn __errno_location() -> *mut c_int;
    fn syscall(number: c_long, ...) -> c_long;
}

/// The address of a symbol; null if no loaded library has it.
pub fn symbol(handle: *mut c_void, name: &CStr) -> *mut c_void {
    // SAFETY: the name ends with a zero byte.
    unsafe { dlsym(handle, name.as_ptr()) }
}

/// The address of a symbol in libc, where that is loaded.
pub fn symbol_of_libc(name: &CStr) -> *mut c_void {
    const RTLD_LAZY: c_int = 1;
    const RTLD_NOLOAD: c_int = 4;
    // SAFETY: the names end with a zero byte; nothing is loaded.
    unsafe {
        let libc = dlopen(c"libc.so.6".as_ptr(), RTLD_LAZY | RTLD_NOLOAD);
        match libc.is_null() {
            true => libc,
            false => dlsym(libc, name.as_ptr()),
        }
    }
}

/// A mapping that does not pass through the replaced `mmap`; null if it fails.
pub fn map(length: usize, flags: c_int, fd: c_int) -> *mut c_void {
    // SAFETY: the kernel chooses the address, so no existing mapping is replaced.
    let address = unsafe {
        syscall(
            SYS_MMAP,
            0_usize,
            length,
            (PROT_READ | PROT_WRITE) as usize,
            flags as usize,
            fd as isize,
            0_usize,
        )
    };
    match address {
        -1 => core::ptr::null_mut(),
        address => address as *mut c_void,
    }
}

/// Removes a mapping of [`map`].
///
/// # Safety
/// Nothing uses it.
pub unsafe fn unmap(address: *mut c_void, length: usize) {
    // SAFETY: the caller's.
    unsafe { syscall(SYS_MUNMAP, address, length) };
}

/// Whether every page of a range is mapped.
pub fn is_mapped(start: usize, length: usize) -> bool {
    const MS_ASYNC: usize = 1;
    let page = start & !(page_bytes() - 1);
    // SAFETY: with this flag the call looks for holes, and does nothing else.
    unsafe { syscall(SYS_MSYNC, page, start - page + length, MS_ASYNC) == 0 }
}

pub fn page_bytes() -> usize {
    // SAFETY: takes a number.
    let bytes = unsafe { sysconf(SC_PAGESIZE) };
    usize::try_from(bytes).unwrap_or(4096).max(4096)
}

/// The same system call with the caller's arguments, for the time before the real function is known.
///
/// # Safety
/// As for `mmap`.
pub unsafe fn map_as_asked(
    address: *mut c_void,
    length: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> *mut c_void {
    // SAFETY: the caller keeps the contract of mmap.
    unsafe {
        syscall(
            SYS_MMAP,
            address,
            length,
            protection as usize,
            flags as usize,
            fd as isize,
            offset,
        ) as *mut c_void
    }
}

/// Milliseconds of a clock that never goes back.
pub fn now_ms() -> u64 {
    let mut time = Timespec {
        seconds: 0,
        nanoseconds: 0,
    };
    // SAFETY: `time` is writable.
    unsafe { clock_gettime(CLOCK_MONOTONIC, &raw mut time) };
    time.seconds as u64 * 1000 + time.nanoseconds as u64 / 1_000_000
}
