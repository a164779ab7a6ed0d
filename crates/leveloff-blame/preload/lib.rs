//! The preload library of `leveloff run --blame`: samples the heap of the program that it is loaded into.
//!
//! It replaces malloc and its relatives, takes a Poisson sample of the allocated bytes, records the native and the Python
//! stack of each sampled block, and forgets the block when it is freed. What is alive by stack is written to a file that
//! the recorder reads ([`layout`]).
//!
//! Rules that every module keeps:
//! - It needs libc alone, allocates nothing from the heap, takes no lock and never panics.
//! - Its threads' state is in `thread_state`, its private tables in one mapping that a fork clears (`private_memory`).
//! - When anything is inconsistent it goes silent until the process ends (`state`): every call is passed on and nothing is recorded.
//!
//! All modules use `unsafe`: they exchange raw memory with C, and each function says what it relies on where that is not
//! the C contract of the function it replaces.
#![no_std]
#![warn(missing_docs, unsafe_op_in_unsafe_fn)]

mod arithmetic;
mod attachment;
mod c;
mod interpose;
#[allow(dead_code, reason = "the recorder's side uses the rest")]
mod layout;
mod linkage;
mod live_table;
mod objects;
mod private_memory;
mod python;
mod real;
mod relocations;
mod sampler;
mod segment;
mod stacks;
mod state;
mod thread_state;
mod unwind;

/// There is no code that panics on purpose; a bug must not unwind through C.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: abort takes no arguments and does not return.
    unsafe { c::abort() }
}

/// Runs before `main`, after the dynamic linker has relocated every library. In a program that runs already there is nothing
/// to do until [`attachment`] is called.
extern "C" fn start() {
    if !state::is_preloaded() {
        return;
    }
    // SAFETY: there is one thread, and libc is ready.
    unsafe {
        real::resolve();
        if state::configure() && private_memory::map() {
            segment::prepare();
            unwind::prepare();
            python::prepare();
            state::enable();
            sampler::begin();
        }
    }
}

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;
