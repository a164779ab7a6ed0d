//! Which blocks are sampled, and what is done with them.
//!
//! The bytes between two samples are exponentially distributed with mean T, so a block of s bytes is sampled with
//! probability 1 - e^(-s/T), whatever came before it. Counting it as s / (1 - e^(-s/T)) bytes makes the sum unbiased.

use core::ffi::c_void;
use core::sync::atomic::Ordering::Relaxed;

use crate::arithmetic::{ln, one_minus_exp_of_minus};
use crate::c;
use crate::layout::{Counts, FLAG_FINALISING};
use crate::live_table::{self, Block, may_contain};
use crate::private_memory::private;
use crate::python;
use crate::segment::{self, segment};
use crate::stacks;
use crate::state;
use crate::thread_state::{ThreadState, thread};

/// A silent library looks at its state again after this many bytes.
const WHILE_SILENT: i64 = 1 << 40;
/// A thread that is inside the library looks again after this many bytes.
const WHILE_BUSY: i64 = 1 << 16;

/// Samples between two decisions of the governor.
const WINDOW: u64 = 64;
/// Samples in a second that may be taken: at 10 µs each, half a percent of a core.
const SAMPLES_PER_SECOND: u64 = 500;
/// Beyond this period, a leak would take gigabytes to be seen.
const LONGEST_PERIOD: u64 = 64 << 20;

/// Has the first thread draw, which has allocated before sampling was enabled.
pub fn begin() {
    // SAFETY: the thread's state is its own.
    unsafe { (*thread()).left = 0 };
}

/// Counts bytes down. False when a sample is due.
#[inline(always)]
pub fn count_down(bytes: usize) -> bool {
    let thread = thread();
    // SAFETY: the thread's state is its own.
    unsafe {
        let left = (*thread).left.wrapping_sub(bytes as i64);
        (*thread).left = left;
        left >= 0
    }
}

/// Samples a block that was just allocated, unless this thread's first draw is still due.
#[cold]
#[inline(never)]
pub fn sample(block: *mut c_void, length: usize, kind: u32) {
    let thread = thread();
    // SAFETY: the thread's state is its own; errno is restored.
    unsafe {
        if (*thread).busy != 0 {
            (*thread).left = WHILE_BUSY;
            return;
        }
        if !state::enter() {
            (*thread).left = WHILE_SILENT;
            return;
        }
        let period = (*thread).period;
        draw(thread);
        if period != 0 && !block.is_null() {
            let errno = *c::__errno_location();
            (*thread).busy = 1;
            record(block as usize, length.max(1), kind, period);
            (*thread).busy = 0;
            *c::__errno_location() = errno;
        }
        state::leave();
    }
}

/// Draws the bytes until this thread's next sample.
unsafe fn draw(thread: *mut ThreadState) {
    // SAFETY: the thread's state is its own.
    unsafe {
        let mut random = (*thread).random;
        if random == 0 {
            random = c::now_ms().wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ thread as u64 | 1;
            random ^= u64::from(c::getpid() as u32) << 32;
            for _ in 0..4 {
                random = step(random);
            }
        }
        random = step(random);
        (*thread).random = random;
        let uniform = ((random.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 + 0.5)
            / (1_u64 << 53) as f64;
        let period = state::period();
        (*thread).period = period;
        (*thread).left = (-ln(uniform) * period as f64) as i64;
    }
}

/// Xorshift, Marsaglia 2003.
fn step(mut x: u64) -> u64 {
    x |= u64::from(x == 0);
    x ^= x << 13;
    x ^= x >> 7;
    x ^ x << 17
}

fn record(address: usize, length: usize, kind: u32, period: u64) {
    if python::is_finalising() {
        if private().segment.load(Relaxed) != 0 {
            segment().header.flags.fetch_or(FLAG_FINALISING, Relaxed);
        }
        state::silence();
        return;
    }
    if !segment::is_ready() {
        state::silence();
        return;
    }
    let header = &segment().header;
    header.samples.fetch_add(1, Relaxed);
    let Some(stack) = stacks::current(kind) else {
        header.dropped_stacks.fetch_add(1, Relaxed);
        return;
    };
    let probability = one_minus_exp_of_minus(length as f64 / period as f64);
    let block = Block {
        weight: (length as f64 / probability) as u64,
        size: length as u64,
        stack,
    };
    // A block that is still known was freed in a way that is not seen.
    if may_contain(address)
        && let Some(stale) = live_table::remove(address)
    {
        add(&segment().stacks[stale.stack as usize].freed, &stale);
    }
    add(&segment().stacks[stack as usize].made, &block);
    if !live_table::insert(address, block) {
        header.dropped_blocks.fetch_add(1, Relaxed);
        add(&segment().stacks[stack as usize].freed, &block);
    }
    govern(header.samples.load(Relaxed));
}

/// Forgets a block that is being freed, if it was sampled.
#[cold]
#[inline(never)]
pub fn forget(block: *mut c_void) -> Option<Block> {
    if block.is_null() || !state::enter() {
        return None;
    }
    let known = forget_known(block as usize);
    state::leave();
    known
}

fn forget_known(address: usize) -> Option<Block> {
    if python::is_finalising() {
        segment().header.flags.fetch_or(FLAG_FINALISING, Relaxed);
        state::silence();
        return None;
    }
    let known = live_table::remove(address)?;
    add(&segment().stacks[known.stack as usize].freed, &known);
    Some(known)
}

/// Takes [`forget`] back: the block was not freed.
#[cold]
pub fn remember(block: *mut c_void, known: Block) {
    if !state::enter() {
        return;
    }
    if live_table::insert(block as usize, known) {
        add(&segment().stacks[known.stack as usize].made, &known);
    }
    state::leave();
}

fn add(counts: &Counts, block: &Block) {
    counts.blocks.fetch_add(1, Relaxed);
    counts.bytes.fetch_add(block.weight, Relaxed);
    counts.variance.fetch_add(variance(block), Relaxed);
}

/// The variance of a Horvitz-Thompson term, weight² (1 - p), in KiB².
fn variance(block: &Block) -> u64 {
    let weight = block.weight as f64 / 1024.0;
    let probability = block.size as f64 / block.weight.max(1) as f64;
    (weight * weight * (1.0 - probability).max(0.0)) as u64
}

/// Doubles the period while there are too many samples, and halves it when there are few again.
fn govern(samples: u64) {
    if samples % WINDOW != 0 {
        return;
    }
    if !state::is_awaited() {
        state::silence();
    }
    let now = c::now_ms();
    let began = private().window.swap(now, Relaxed);
    let (elapsed, least) = (
        now.saturating_sub(began),
        WINDOW * 1000 / SAMPLES_PER_SECOND,
    );
    let (period, wanted) = (state::period(), state::wanted_period());
    if began == 0 {
        return;
    }
    if elapsed < least && period < LONGEST_PERIOD {
        state::set_period(period * 2);
    } else if elapsed > 4 * least && period > wanted {
        state::set_period((period / 2).max(wanted));
    }
    segment().header.period.store(state::period(), Relaxed);
}
