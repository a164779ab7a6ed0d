//! Stacks, identified by a hash and written to the segment at first sight.

use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU32, AtomicU64};

use crate::layout::{FRAMES, KIND_PYTHON_OBJECT, STACKS};
use crate::private_memory::private;
use crate::python;
use crate::segment::segment;
use crate::unwind;

/// Places of the index: twice as many as stacks, so that probing stays short.
pub const INDEX_SLOTS: usize = 2 * STACKS;
/// Places that are tried.
const PROBES: usize = 32;
/// Native frames keep at least this many of the frames where there are Python frames, too.
const FEWEST_NATIVE: usize = 12;

/// A stack's hash, and one more than its place in the segment.
#[repr(C)]
pub struct IndexSlot {
    hash: AtomicU64,
    place: AtomicU32,
}

/// The place of this thread's stack in the segment: native frames up to the interpreter, then Python's. `None` if there
/// is no room.
pub fn current(kind: u32) -> Option<u32> {
    let mut python = [0_u64; FRAMES - FEWEST_NATIVE];
    let python_length = python::frames(&mut python);
    let mut frames = [0_u64; FRAMES];
    // Python's own objects are made by the interpreter, whose frames say nothing.
    let is_object = kind == KIND_PYTHON_OBJECT && python_length > 0;
    let native_length = match is_object {
        true => 0,
        false => unwind::frames(&mut frames[..FRAMES - python_length], python_length > 0),
    };
    for (frame, python) in frames[native_length..]
        .iter_mut()
        .zip(&python[..python_length])
    {
        *frame = *python;
    }
    let length = (native_length + python_length).min(FRAMES);
    place_of(&frames[..length], kind)
}

fn place_of(frames: &[u64], kind: u32) -> Option<u32> {
    let hash = hash(frames, kind);
    let index = &private().stack_index;
    let first = (hash >> 20) as usize;
    for probe in 0..PROBES {
        let slot = &index[(first + probe) % INDEX_SLOTS];
        let mut found = slot.hash.load(Acquire);
        if found == 0 {
            match slot.hash.compare_exchange(0, hash, AcqRel, Acquire) {
                Ok(_) => return write(slot, frames, kind),
                Err(other) => found = other,
            }
        }
        if found == hash {
            // 0 while another thread writes it, or permanently if there was no room.
            return slot.place.load(Acquire).checked_sub(1);
        }
    }
    None
}

fn write(slot: &IndexSlot, frames: &[u64], kind: u32) -> Option<u32> {
    let segment = segment();
    let place = segment.header.stacks.fetch_add(1, AcqRel);
    let Some(stack) = segment.stacks.get(place as usize) else {
        segment.header.stacks.store(STACKS as u64, Relaxed);
        return None;
    };
    for (to, frame) in stack.frames.iter().zip(frames) {
        to.store(*frame, Relaxed);
    }
    stack.kind.store(kind, Relaxed);
    stack.length.store(frames.len().max(1) as u32, Release);
    slot.place.store(place as u32 + 1, Release);
    Some(place as u32)
}

fn hash(frames: &[u64], kind: u32) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325 ^ u64::from(kind);
    for frame in frames {
        hash = (hash ^ frame).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        hash ^= hash >> 29;
    }
    hash | 1
}
