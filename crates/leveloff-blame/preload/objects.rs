//! Which Python objects own sampled blocks, and which objects refer to others. The Python package asks for it with
//! `--blame=holders`: it calls these functions through `ctypes.PyDLL`, so Python's lock is held and no object goes away.
//!
//! An object owns a block if it lies in it, or if one of its own fields is the block's address, as with the data of an array, the
//! items of a list and the buffer of a `bytearray`. The collector does not track a dictionary or a tuple of which nothing can be part of
//! a cycle, so these are visited through what refers to them. Nothing is written, and no pointer is followed but those that Python's collector
//! follows (`tp_traverse`).

use core::ffi::{c_int, c_void};

use crate::layout::STACKS;
use crate::live_table::{self, may_contain};
use crate::{python, state};

/// An object as its address.
type Object = usize;
type Visit = unsafe extern "C" fn(Object, *mut c_void) -> c_int;
type Traverse = unsafe extern "C" fn(Object, Visit, *mut c_void) -> c_int;

/// Fields of an object and of its type, which are at the same place in Python 3.9 to 3.14.
const OBJECT_TYPE: usize = 8;
const TYPE_BASIC_SIZE: usize = 32;
const TYPE_FLAGS: usize = 168;
const TYPE_TRAVERSE: usize = 184;
/// `Py_TPFLAGS_HAVE_GC`.
const IS_COLLECTED: usize = 1 << 14;
/// `Py_TPFLAGS_TYPE_SUBCLASS` of an object's type: it is a type itself.
const IS_TYPE: usize = 1 << 31;
/// Of the collector's head of an object: 0 if it is not tracked.
const BEFORE_OBJECT_NEXT: usize = 16;
/// Untracked objects within each other that are visited.
const DEEPEST: usize = 4;
/// What precedes an object in its block: nothing, the collector's head, or that and the places of a dictionary and of weak references.
const HEADS: [usize; 3] = [0, 16, 32];
/// The part of an object that is looked at.
const LARGEST_OBJECT: usize = 512;
const WORD: usize = 8;
/// The part of a native structure that is looked at.
const WORDS_OF_STRUCTURE: usize = 8;
/// No block is below.
const LOWEST_BLOCK: usize = 1 << 12;

/// An object that owns a sampled block.
#[repr(C)]
pub struct Owner {
    object: u64,
    block: u64,
    stack: u64,
}

/// An object that refers to one of those that were asked for.
#[repr(C)]
pub struct Reference {
    from: u64,
    /// The number, in the list that was handed over, of it or of what leads to it.
    visited: u64,
    to: u64,
}

/// Counts the sampled blocks that are alive, by stack. Returns the number of counters that there are, 0 if nothing is known.
///
/// # Safety
/// `counts` has room for `capacity` numbers, which are zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveloff_blame_live(counts: *mut u32, capacity: usize) -> usize {
    if capacity < STACKS || !python::is_known() || !state::enter() {
        return 0;
    }
    live_table::for_each_stack(|stack| {
        if (stack as usize) < STACKS {
            // SAFETY: within the room that the caller has.
            unsafe { *counts.add(stack as usize) += 1 };
        }
    });
    state::leave();
    STACKS
}

/// Finds the objects that own sampled blocks, among these and those that they refer to and the collector does not track.
///
/// # Safety
/// Python's lock is held; `objects` has `count` objects that stay, and `out` room for `capacity` owners.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveloff_blame_owners(
    objects: *const Object,
    count: usize,
    out: *mut Owner,
    capacity: usize,
) -> usize {
    if !python::is_known() || !state::enter() {
        return 0;
    }
    let mut found = Found {
        out,
        capacity,
        length: 0,
        depth: 0,
    };
    for n in 0..count {
        // SAFETY: the caller's. The visitor gets back the pointer that it is handed here.
        unsafe {
            let object = *objects.add(n);
            examine(object, &mut found);
            traverse(object, visit_to_examine, (&raw mut found).cast());
        }
    }
    state::leave();
    found.length
}

/// Finds which structures of native code have the address of a sampled block among their first words: storages of torch, whose tensors
/// are objects. Such a structure is returned as the object.
///
/// # Safety
/// `structures` has `count` addresses of as many words as are read, and `out` room for `capacity` owners.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveloff_blame_structures(
    structures: *const usize,
    count: usize,
    out: *mut Owner,
    capacity: usize,
) -> usize {
    if !python::is_known() || !state::enter() {
        return 0;
    }
    let mut found = Found {
        out,
        capacity,
        length: 0,
        depth: 0,
    };
    for n in 0..count {
        for at in 0..WORDS_OF_STRUCTURE {
            // SAFETY: the caller's.
            unsafe {
                let structure = *structures.add(n);
                found.take(structure, word(structure + at * WORD));
            }
        }
    }
    state::leave();
    found.length
}

/// Finds which of these objects refer to the wanted ones, which are sorted.
///
/// # Safety
/// Python's lock is held; `objects` has `count` objects that stay, `wanted` has `wanted_count` addresses, and `out` room for `capacity`
/// references.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leveloff_blame_referrers(
    objects: *const Object,
    count: usize,
    wanted: *const Object,
    wanted_count: usize,
    out: *mut Reference,
    capacity: usize,
) -> usize {
    if !python::is_known() || wanted_count == 0 {
        return 0;
    }
    let mut search = Search {
        // SAFETY: the caller's.
        wanted: unsafe { core::slice::from_raw_parts(wanted, wanted_count) },
        out,
        capacity,
        length: 0,
        visited: 0,
        from: 0,
        depth: 0,
    };
    for n in 0..count {
        search.visited = n as u64;
        // SAFETY: the caller's. The visitor gets back the pointer that it is handed here.
        unsafe {
            search.from = *objects.add(n);
            traverse(search.from, visit_wanted, (&raw mut search).cast());
        }
    }
    search.length
}

/// What was found so far.
struct Found {
    out: *mut Owner,
    capacity: usize,
    length: usize,
    depth: usize,
}

struct Search<'a> {
    wanted: &'a [Object],
    out: *mut Reference,
    capacity: usize,
    length: usize,
    visited: u64,
    /// What is being visited.
    from: Object,
    depth: usize,
}

unsafe fn word(address: usize) -> usize {
    // SAFETY: the caller's.
    unsafe { (address as *const usize).read_volatile() }
}

unsafe fn is_collected(object: Object) -> bool {
    // SAFETY: the caller's; a type has these fields.
    unsafe { word(word(object + OBJECT_TYPE) + TYPE_FLAGS) & IS_COLLECTED != 0 }
}

/// Whether the collector could track an object, and does not.
unsafe fn is_untracked(object: Object) -> bool {
    // SAFETY: the caller's; what is no type has the collector's head in front of it.
    unsafe {
        let flags = word(word(object + OBJECT_TYPE) + TYPE_FLAGS);
        flags & IS_COLLECTED != 0 && flags & IS_TYPE == 0 && word(object - BEFORE_OBJECT_NEXT) == 0
    }
}

/// Has the object's type visit what it refers to.
unsafe fn traverse(object: Object, visit: Visit, argument: *mut c_void) {
    // SAFETY: the caller's. A type of the collector's has this function, which is what the collector calls.
    unsafe {
        let kind = word(object + OBJECT_TYPE);
        let function = word(kind + TYPE_TRAVERSE);
        if function != 0 && word(kind + TYPE_FLAGS) & IS_COLLECTED != 0 {
            let function = core::mem::transmute::<usize, Traverse>(function);
            function(object, visit, argument);
        }
    }
}

unsafe extern "C" fn visit_to_examine(object: Object, argument: *mut c_void) -> c_int {
    // SAFETY: `traverse` was handed this, and an object that is referred to is alive.
    unsafe {
        let found = argument.cast::<Found>();
        let is_deeper = is_untracked(object) && (*found).depth < DEEPEST;
        // What is tracked is in the list itself.
        if is_deeper || !is_collected(object) {
            examine(object, &mut *found);
        }
        if is_deeper {
            (*found).depth += 1;
            traverse(object, visit_to_examine, argument);
            (*found).depth -= 1;
        }
    }
    0
}

unsafe extern "C" fn visit_wanted(object: Object, argument: *mut c_void) -> c_int {
    // SAFETY: `traverse` was handed this, and an object that is referred to is alive.
    unsafe {
        let search = argument.cast::<Search<'_>>();
        (*search).take(object);
        if is_untracked(object) && (*search).depth < DEEPEST {
            let from = core::mem::replace(&mut (*search).from, object);
            (*search).depth += 1;
            traverse(object, visit_wanted, argument);
            (*search).depth -= 1;
            (*search).from = from;
        }
    }
    0
}

impl Search<'_> {
    fn take(&mut self, object: Object) {
        if self.length == self.capacity || self.wanted.binary_search(&object).is_err() {
            return;
        }
        // SAFETY: within the room that the caller has.
        unsafe {
            *self.out.add(self.length) = Reference {
                from: self.from as u64,
                visited: self.visited,
                to: object as u64,
            };
        }
        self.length += 1;
    }
}

/// Adds the blocks that an object owns.
unsafe fn examine(object: Object, found: &mut Found) {
    // SAFETY: the caller's: the object is alive, so its type and its own fields are.
    unsafe {
        let heads = if is_collected(object) { HEADS.len() } else { 1 };
        for head in &HEADS[..heads] {
            found.take(object, object - head);
        }
        let size = word(word(object + OBJECT_TYPE) + TYPE_BASIC_SIZE).min(LARGEST_OBJECT);
        let mut at = OBJECT_TYPE + WORD;
        while at + WORD <= size {
            found.take(object, word(object + at));
            at += WORD;
        }
    }
}

impl Found {
    fn take(&mut self, object: Object, address: usize) {
        if address < LOWEST_BLOCK || !may_contain(address) || self.length == self.capacity {
            return;
        }
        if let Some(block) = live_table::find(address) {
            // SAFETY: within the room that the caller has.
            unsafe {
                *self.out.add(self.length) = Owner {
                    object: object as u64,
                    block: address as u64,
                    stack: u64::from(block.stack),
                };
            }
            self.length += 1;
        }
    }
}
