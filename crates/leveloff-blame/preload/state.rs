//! Whether the library samples, and what it was configured with.

use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use crate::c;

/// Where segments are created: a directory that belongs to the recorder.
pub const DIRECTORY: &CStr = c"LEVELOFF_BLAME_DIR";
/// Bytes between two samples on average; for tests.
const PERIOD: &CStr = c"LEVELOFF_BLAME_PERIOD";

/// Chosen so that a leak of 20 MiB is seen in 40 samples, at a cost below that of the noise of a training step.
const USUAL_PERIOD: u64 = 512 << 10;
/// A period below this would only measure the library itself.
const SHORTEST_PERIOD: u64 = 4 << 10;

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
        let period = period.max(SHORTEST_PERIOD);
        WANTED_PERIOD.store(period, Relaxed);
        CURRENT_PERIOD.store(period, Relaxed);
    }
    true
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
    IS_ENABLED.store(false, Relaxed);
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
