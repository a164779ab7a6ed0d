//! The sampled blocks that are alive, by address. Lock-free: a key of 0 is a free place, 1 a place that is being written.

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use crate::private_memory::{filter_byte, private};

/// Bytes of the filter: with the usual number of live samples, one free in a hundred is looked up in vain.
pub const FILTER: usize = 1 << 18;
/// Buckets of eight keys. 65,536 blocks at the usual period stand for 32 GiB.
pub const BUCKETS: usize = 1 << 13;
/// Buckets that are tried for a block.
const PROBES: usize = 4;
const WRITING: u64 = 1;
/// Leaves room for the threads that count up at the same moment.
const FULLEST_BYTE: u8 = 128;

/// Eight keys in a cache line.
#[repr(C, align(64))]
pub struct Bucket {
    keys: [AtomicU64; 8],
}

/// A sampled block.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Block {
    /// Bytes that it stands for.
    pub weight: u64,
    /// Its own size.
    pub size: u64,
    /// Its stack's place in the segment.
    pub stack: u32,
}

/// Whether a block may have been sampled.
#[inline(always)]
pub fn may_contain(address: usize) -> bool {
    filter_byte(filter_index(address)).load(Relaxed) != 0
}

/// Neighbouring blocks have neighbouring bytes, so the filter's hot part stays in the cache.
#[inline(always)]
fn filter_index(address: usize) -> usize {
    ((address >> 4) ^ (address >> 22)) & (FILTER - 1)
}

fn first_bucket(address: usize) -> usize {
    (address >> 4).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 51
}

fn places(address: usize) -> impl Iterator<Item = (usize, usize)> {
    let first = first_bucket(address);
    (0..PROBES * 8).map(move |n| ((first + n / 8) % BUCKETS, n % 8))
}

/// Adds a block that is not in the table. False if there is no room.
pub fn insert(address: usize, block: Block) -> bool {
    let tables = private();
    // A byte that wrapped around would hide blocks from `free`.
    if filter_byte(filter_index(address)).load(Relaxed) >= FULLEST_BYTE {
        return false;
    }
    for (bucket, place) in places(address) {
        let key = &tables.buckets[bucket].keys[place];
        let is_ours =
            key.load(Relaxed) == 0 && key.compare_exchange(0, WRITING, AcqRel, Relaxed).is_ok();
        if is_ours {
            // SAFETY: the key `WRITING` gives this thread the place.
            unsafe { *tables.blocks[bucket * 8 + place].get() = block };
            filter_byte(filter_index(address)).fetch_add(1, AcqRel);
            key.store(address as u64, Release);
            return true;
        }
    }
    false
}

/// A block that is alive, without removing it. Another thread may free it meanwhile, so the answer may be outdated.
pub fn find(address: usize) -> Option<Block> {
    let tables = private();
    for (bucket, place) in places(address) {
        let key = &tables.buckets[bucket].keys[place];
        if key.load(Acquire) == address as u64 {
            // SAFETY: the place is within the table. A block that is replaced while it is read is thrown away, because
            // the key has changed then.
            let block = unsafe { tables.blocks[bucket * 8 + place].get().read_volatile() };
            return (key.load(Acquire) == address as u64).then_some(block);
        }
    }
    None
}

/// Calls a function with the stack of each block that is alive.
pub fn for_each_stack(mut take: impl FnMut(u32)) {
    let tables = private();
    for (n, key) in tables.buckets.iter().flat_map(|it| &it.keys).enumerate() {
        if key.load(Acquire) > WRITING {
            // SAFETY: as in `find`; a stack that is outdated is only counted at the wrong place.
            take(unsafe { tables.blocks[n].get().read_volatile() }.stack);
        }
    }
}

/// Removes a block. Only the thread that frees a block, or has just obtained it, asks for it.
pub fn remove(address: usize) -> Option<Block> {
    let tables = private();
    for (bucket, place) in places(address) {
        let key = &tables.buckets[bucket].keys[place];
        if key.load(Acquire) == address as u64 {
            // SAFETY: the key is the address, so the block is written whole and no other thread removes it.
            let block = unsafe { *tables.blocks[bucket * 8 + place].get() };
            filter_byte(filter_index(address)).fetch_sub(1, AcqRel);
            key.store(0, Release);
            return Some(block);
        }
    }
    None
}
