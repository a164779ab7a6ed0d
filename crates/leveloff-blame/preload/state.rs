//! Whether the library samples, and what it was configured with.

use core::ffi::{CStr, c_char};
use core::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};

use crate::c;

/// Where segments are created: a directory that belongs to the recorder.
pub const DIRECTORY: &CStr = c"LEVELOFF_BLAME_DIR";
/// Bytes between two samples on average; for tests.
const PERIOD: &CStr = c"LEVELOFF_BLAME_PERIOD";

/// Chosen so that a leak of 20 MiB is seen in 40 samples, at a cost below that of the noise of a training step.
const USUAL_PERIOD: u64 = 512 << 10;
/// A period below this would only measure the library itself.
const SHORTEST_PERIOD: u64 = 4 << 10;

/// Part of the name under which the library is preloaded.
const FILE: &[u8] = b"libleveloff_blame.so";
const PRELOAD: &CStr = c"LD_PRELOAD";
/// The longest name of a directory of segments that is kept.
const LONGEST_DIRECTORY: usize = 256;

/// Whether the library was loaded into a program that ran already.
static IS_ATTACHED: AtomicBool = AtomicBool::new(false);
/// Where an attached library makes segments; written before it is enabled.
static mut ATTACHED_DIRECTORY: [u8; LONGEST_DIRECTORY] = [0; LONGEST_DIRECTORY];
/// Threads that are between [`enter`] and [`leave`], if the library is attached.
static INSIDE: AtomicU64 = AtomicU64::new(0);

static IS_ENABLED: AtomicBool = AtomicBool::new(false);
/// What the user or the default asks for.
static WANTED_PERIOD: AtomicU64 = AtomicU64::new(USUAL_PERIOD);
/// What the governor allows now.
static CURRENT_PERIOD: AtomicU64 = AtomicU64::new(USUAL_PERIOD);

/// Reads the environment. False if nothing is to be done in this process.
pub fn configure() -> bool {
    // SAFETY: the names end with a zero byte; the environment is not changed before `main`.
    let (directory, period) =
        unsafe { (c::getenv(DIRECTORY.as_ptr()), c::getenv(PERIOD.as_ptr())) };
    if directory.is_null() || has_sanitizer() {
        return false;
    }
    if let Some(period) = number(period) {
        set_wanted_period(period);
    }
    true
}

/// Whether the environment asks the dynamic linker for this library.
pub fn is_preloaded() -> bool {
    // SAFETY: the name ends with a zero byte, and so does what getenv returns.
    unsafe {
        let names = c::getenv(PRELOAD.as_ptr());
        !names.is_null()
            && CStr::from_ptr(names)
                .to_bytes()
                .windows(FILE.len())
                .any(|part| part == FILE)
    }
}

/// Sets what the environment says otherwise. False if there is no room for the directory's name, or nothing may be sampled.
///
/// # Safety
/// The directory is a text, and sampling is not enabled yet.
pub unsafe fn configure_attached(directory: *const c_char, period: u64) -> bool {
    // SAFETY: the caller's; the rest of the static stays zero.
    unsafe {
        let length = c::strlen(directory);
        if length == 0 || length >= LONGEST_DIRECTORY || has_sanitizer() {
            return false;
        }
        let to = (&raw mut ATTACHED_DIRECTORY).cast::<u8>();
        core::ptr::copy_nonoverlapping(directory.cast::<u8>(), to, length);
    }
    set_wanted_period(period);
    IS_ATTACHED.store(true, SeqCst);
    true
}

/// Where this process makes its segments; null if it has no such place.
pub fn directory() -> *const c_char {
    match is_attached() {
        true => (&raw const ATTACHED_DIRECTORY).cast(),
        // SAFETY: the name ends with a zero byte.
        false => unsafe { c::getenv(DIRECTORY.as_ptr()) },
    }
}

/// Whether the recorder still waits for segments. It removes the directory at its end, which a forked child of an attached
/// program learns in no other way.
pub fn is_awaited() -> bool {
    // SAFETY: the static is a text.
    !is_attached() || unsafe { c::access(directory(), 0) } == 0
}

fn set_wanted_period(period: u64) {
    let period = period.max(SHORTEST_PERIOD);
    WANTED_PERIOD.store(period, Relaxed);
    CURRENT_PERIOD.store(period, Relaxed);
}

/// Sanitizers own the heap and check each block: there is nothing to add, and much to break.
fn has_sanitizer() -> bool {
    [
        c"__asan_init",
        c"__tsan_init",
        c"__msan_init",
        c"__lsan_init",
    ]
    .iter()
    .any(|name| !c::symbol(c::RTLD_DEFAULT, name).is_null())
}

fn number(text: *const c_char) -> Option<u64> {
    if text.is_null() {
        return None;
    }
    // SAFETY: getenv returns a text that ends with a zero byte.
    let digits = unsafe { CStr::from_ptr(text) }.to_bytes();
    if digits.is_empty() || digits.len() > 12 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(
        digits
            .iter()
            .fold(0, |n, digit| n * 10 + u64::from(digit - b'0')),
    )
}

/// From now on blocks are sampled.
pub fn enable() {
    IS_ENABLED.store(true, Relaxed);
}

/// From now on nothing is recorded until the process ends: something is inconsistent, or there is no place to write to.
pub fn silence() {
    IS_ENABLED.store(false, SeqCst);
}

pub fn is_attached() -> bool {
    IS_ATTACHED.load(Relaxed)
}

/// Whether this thread may use the tables, until it calls [`leave`].
#[inline]
pub fn enter() -> bool {
    if !is_attached() {
        return is_enabled();
    }
    INSIDE.fetch_add(1, SeqCst);
    let may_enter = IS_ENABLED.load(SeqCst);
    if !may_enter {
        leave();
    }
    may_enter
}

#[inline]
pub fn leave() {
    if is_attached() {
        INSIDE.fetch_sub(1, SeqCst);
    }
}

/// Waits a moment until no thread uses the tables. Nothing may be enabled any more.
pub fn is_left() -> bool {
    const TURNS: u32 = 10_000;
    for _ in 0..TURNS {
        if INSIDE.load(SeqCst) == 0 {
            return true;
        }
        // SAFETY: takes no arguments.
        unsafe { c::sched_yield() };
    }
    false
}

#[inline]
pub fn is_enabled() -> bool {
    IS_ENABLED.load(Relaxed)
}

pub fn wanted_period() -> u64 {
    WANTED_PERIOD.load(Relaxed)
}

pub fn period() -> u64 {
    CURRENT_PERIOD.load(Relaxed)
}

pub fn set_period(period: u64) {
    CURRENT_PERIOD.store(period, Relaxed);
}
