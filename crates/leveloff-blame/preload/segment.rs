//! This process's file for the recorder. It is made at the first sample, so that programs that allocate little cost
//! nothing, and again in a forked child.

use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use crate::c;
use crate::layout::{FLAG_FOREIGN_MALLOC, MAGIC, SEGMENT_BYTES, Segment, VERSION};
use crate::private_memory::{self, private};
use crate::python;
use crate::state;
use crate::unwind;

/// The longest path that is built.
const PATH: usize = 512;
/// Files of one pid: a program that executes others makes one for each.
const MOST_FILES: u8 = 100;
/// The flag of a foreign malloc, if there is one. Where the library is attached, all objects call this one.
static FOREIGN_MALLOC: AtomicU64 = AtomicU64::new(0);
/// Stored while the file is being made.
const MAKING: u64 = 1;

/// This process's segment. Only called after [`is_ready`], or with a block of this process in hand.
pub fn segment() -> &'static Segment {
    // SAFETY: the field holds the address of a mapping that is never removed.
    unsafe { &*(private().segment.load(Acquire) as *const Segment) }
}

/// Whether this process has a segment; makes it if need be. A fork clears the private memory, so a child makes its own.
pub fn is_ready() -> bool {
    let place = &private().segment;
    match place.load(Acquire) {
        0 if place.compare_exchange(0, MAKING, AcqRel, Acquire).is_ok() => match make() {
            Some(segment) => {
                place.store(core::ptr::from_ref(segment) as u64, Release);
                true
            }
            None => false,
        },
        // Another thread makes it: its first samples are lost.
        0 | MAKING => wait_for(place),
        _ => true,
    }
}

/// Waits a moment for the thread that makes the segment.
fn wait_for(place: &AtomicU64) -> bool {
    const TURNS: u32 = 50_000_000;
    for _ in 0..TURNS {
        if place.load(Acquire) > MAKING {
            return true;
        }
        if !state::is_enabled() {
            return false;
        }
        core::hint::spin_loop();
    }
    false
}

fn make() -> Option<&'static Segment> {
    if !is_size_allowed() {
        return None;
    }
    let mut path = [0_u8; PATH];
    let fd = create(&mut path)?;
    // Room is reserved now: a full disk must be an error here, and no SIGBUS later.
    // SAFETY: the descriptor is ours.
    let is_reserved = unsafe { c::posix_fallocate(fd, 0, SEGMENT_BYTES as i64) } == 0;
    let start = match is_reserved {
        true => c::map(SEGMENT_BYTES, c::MAP_SHARED, fd),
        false => core::ptr::null_mut(),
    };
    // SAFETY: the descriptor is ours, and the path ends with a zero byte.
    unsafe {
        c::close(fd);
        if start.is_null() {
            c::unlink(path.as_ptr().cast::<c_char>());
            return None;
        }
    }
    // SAFETY: the mapping has the length of a segment, is zero, and stays.
    let segment = unsafe { &*start.cast::<Segment>() };
    let header = &segment.header;
    header.version.store(VERSION, Relaxed);
    // SAFETY: takes no arguments.
    header.pid.store(unsafe { c::getpid() } as u64, Relaxed);
    header.python.store(python::version(), Relaxed);
    header.period.store(state::period(), Relaxed);
    let flags = unwind::flags() | python::flags() | FOREIGN_MALLOC.load(Relaxed);
    header.flags.store(flags, Relaxed);
    header.magic.store(MAGIC, Release);
    Some(segment)
}

/// A file beyond the limit would end the program by SIGXFSZ.
fn is_size_allowed() -> bool {
    let mut limit = c::Limit {
        current: 0,
        maximum: 0,
    };
    // SAFETY: `limit` is writable.
    let is_known = unsafe { c::getrlimit(c::RLIMIT_FSIZE, &raw mut limit) } == 0;
    is_known && limit.current > SEGMENT_BYTES as u64
}

/// Creates `DIRECTORY/PID-N` with the first N that is free.
fn create(path: &mut [u8; PATH]) -> Option<c_int> {
    let directory = state::directory();
    if directory.is_null() {
        return None;
    }
    // SAFETY: getenv returns a text that ends with a zero byte.
    let length = unsafe { c::strlen(directory) };
    if length + 24 > PATH {
        return None;
    }
    // SAFETY: both have at least `length` bytes.
    unsafe { core::ptr::copy_nonoverlapping(directory.cast::<u8>(), path.as_mut_ptr(), length) };
    let mut end = length;
    push(path, &mut end, b'/');
    // SAFETY: takes no arguments.
    push_number(path, &mut end, unsafe { c::getpid() } as u32);
    push(path, &mut end, b'-');
    let stem = end;
    for n in 0..MOST_FILES {
        end = stem;
        push_number(path, &mut end, u32::from(n));
        push(path, &mut end, 0);
        let flags = c::O_RDWR | c::O_CREAT | c::O_EXCL | c::O_CLOEXEC | c::O_NOFOLLOW;
        // SAFETY: the path ends with a zero byte.
        let fd = unsafe { c::open(path.as_ptr().cast::<c_char>(), flags, 0o400) };
        if fd >= 0 {
            return Some(fd);
        }
        const EEXIST: c_int = 17;
        // SAFETY: errno is this thread's.
        if unsafe { *c::__errno_location() } != EEXIST {
            return None;
        }
    }
    None
}

fn push(path: &mut [u8; PATH], end: &mut usize, byte: u8) {
    if let Some(place) = path.get_mut(*end) {
        *place = byte;
        *end += 1;
    }
}

fn push_number(path: &mut [u8; PATH], end: &mut usize, number: u32) {
    let mut divisor = 1_000_000_000;
    while divisor > 1 && number / divisor == 0 {
        divisor /= 10;
    }
    while divisor > 0 {
        push(path, end, b'0' + (number / divisor % 10) as u8);
        divisor /= 10;
    }
}

/// Removes what was mapped, unless a thread still uses it. Nothing is enabled any more.
pub fn give_back() {
    if !state::is_left() {
        return;
    }
    let start = private().segment.swap(0, AcqRel);
    if start > MAKING {
        // SAFETY: no thread uses the mapping, and none comes: sampling is disabled.
        unsafe { c::unmap(start as *mut c_void, SEGMENT_BYTES) };
    }
    private_memory::clear();
}

/// Learns whether the program's malloc is another library's. Not when a segment is made: looking a name up takes the dynamic
/// linker's lock, which a thread that loads a library holds while it allocates.
pub fn prepare() {
    let used = c::symbol(c::RTLD_DEFAULT, c"malloc");
    let is_ours = used == crate::interpose::malloc as *const () as *mut c_void;
    FOREIGN_MALLOC.store(u64::from(!is_ours) * FLAG_FOREIGN_MALLOC, Relaxed);
}
