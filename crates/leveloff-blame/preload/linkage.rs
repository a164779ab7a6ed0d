//! Redirects the calls of a program that runs already: every loaded object keeps the addresses of the functions that it
//! calls in its global offset table, and these are replaced, and put back at the end.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem::size_of;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::c;
use crate::relocations::{Dynamic, Entry, Object};

/// One function: its name, what is called before, and what instead.
#[derive(Clone, Copy)]
pub struct Redirection {
    pub name: &'static CStr,
    pub real: usize,
    pub ours: usize,
}

/// Which way the entries are changed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    ToOurs,
    ToReal,
}

/// What was done.
#[derive(Clone, Copy, Default)]
pub struct Outcome {
    pub changed: usize,
    /// Entries on pages that cannot be made writable.
    pub failed: usize,
}

/// Objects that were loaded when the tables were last changed, as the dynamic linker counts them.
static LOADED: AtomicU64 = AtomicU64::new(0);
static PASSES_LEFT: AtomicU64 = AtomicU64::new(0);

/// A pass over all objects.
struct Pass<'a> {
    redirections: &'a [Redirection],
    direction: Direction,
    outcome: Outcome,
    own: usize,
}

/// Changes the entries of all loaded objects but this library and the dynamic linker.
///
/// # Safety
/// The functions of each redirection have the same type. This thread is not inside the dynamic linker.
pub unsafe fn redirect(redirections: &[Redirection], direction: Direction) -> Outcome {
    let mut pass = Pass {
        redirections,
        direction,
        outcome: Outcome::default(),
        own: redirect as *const () as usize,
    };
    LOADED.store(loaded(), Release);
    // SAFETY: the callback gets the pass, which outlives the call.
    unsafe { c::dl_iterate_phdr(visit, (&raw mut pass).cast()) };
    pass.outcome
}

/// Whether objects were loaded since the last call of [`redirect`], or a moment before it: another thread may have been
/// loading one then, whose slots were not filled yet.
pub fn has_grown() -> bool {
    /// Further passes after each one that found new objects.
    const FURTHER_PASSES: u64 = 4;
    if loaded() != LOADED.load(Acquire) {
        PASSES_LEFT.store(FURTHER_PASSES, Relaxed);
        return true;
    }
    let take = |left: u64| left.checked_sub(1);
    PASSES_LEFT.fetch_update(Relaxed, Relaxed, take).is_ok()
}

/// How many objects were ever loaded.
fn loaded() -> u64 {
    let mut count = 0_u64;
    // SAFETY: the callback writes the number.
    unsafe { c::dl_iterate_phdr(count_loaded, (&raw mut count).cast()) };
    count
}

unsafe extern "C" fn count_loaded(
    info: *const c::LoadedObject,
    length: usize,
    count: *mut c_void,
) -> c_int {
    if length >= size_of::<c::LoadedObject>() {
        // SAFETY: libc passes an object of this length, and the caller a number.
        unsafe { *count.cast::<u64>() = (*info).ever_loaded };
    }
    1
}

/// A function of the libraries. The address of a function that a program at a fixed place uses may be that of its own entry
/// of the procedure linkage table, which leads to the function through the slot that is to be replaced. Null if the program
/// contains the function: an allocator that is linked in cannot be seen whole.
pub fn function_behind_program(name: &CStr) -> *mut c_void {
    let mut asked = ProgramSlot {
        name,
        address: c::symbol(c::RTLD_DEFAULT, name) as usize,
        is_in_program: false,
        slot: 0,
        is_resolved: false,
    };
    // SAFETY: the callback gets what is asked.
    unsafe { c::dl_iterate_phdr(find_in_program, (&raw mut asked).cast()) };
    match asked {
        ProgramSlot {
            is_in_program: false,
            address,
            ..
        } => address as *mut c_void,
        ProgramSlot { slot: 0, .. } => core::ptr::null_mut(),
        ProgramSlot {
            is_resolved: true,
            slot,
            ..
        } => slot as *mut c_void,
        _ => c::symbol_of_libc(name),
    }
}

/// What the program itself says of a function.
struct ProgramSlot<'a> {
    name: &'a CStr,
    address: usize,
    is_in_program: bool,
    /// What its slot holds; 0 without one.
    slot: usize,
    is_resolved: bool,
}

unsafe extern "C" fn find_in_program(
    info: *const c::LoadedObject,
    _: usize,
    asked: *mut c_void,
) -> c_int {
    // SAFETY: libc passes the program first, and the caller what is asked; the program's tables are its own.
    unsafe {
        let (object, asked) = (Object::of(&*info), &mut *asked.cast::<ProgramSlot<'_>>());
        asked.is_in_program = object.contains(asked.address);
        let Some(dynamic) = Dynamic::of(&object).filter(|_| asked.is_in_program) else {
            return 1;
        };
        for entry in dynamic.tables()[0] {
            if let Some(name) = dynamic.name(entry)
                && c::strcmp(name, asked.name.as_ptr()) == 0
            {
                asked.slot = object.slot(entry).load(Acquire) as usize;
                asked.is_resolved = !object.contains(asked.slot);
            }
        }
    }
    1
}

unsafe extern "C" fn visit(info: *const c::LoadedObject, _: usize, pass: *mut c_void) -> c_int {
    // SAFETY: libc passes a loaded object, which stays while it calls back, and the caller its pass.
    unsafe {
        let (object, pass) = (Object::of(&*info), &mut *pass.cast::<Pass<'_>>());
        let path = CStr::from_ptr((*info).name).to_bytes();
        let file = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
        if !file.starts_with(b"ld-")
            && !object.contains(pass.own)
            && let Some(dynamic) = Dynamic::of(&object)
        {
            pass.change(&object, &dynamic);
        }
    }
    0
}

impl Pass<'_> {
    /// # Safety
    /// The object is loaded and its tables are its own.
    unsafe fn change(&mut self, object: &Object, dynamic: &Dynamic) {
        for table in dynamic.tables() {
            for entry in table {
                // SAFETY: the caller's.
                if let Some(name) = unsafe { dynamic.name(entry) }
                    && let Some(redirection) = self.redirection(name)
                {
                    // SAFETY: the entry is one of the object's slots, and the redirection is for its symbol.
                    unsafe { self.change_slot(object, entry, redirection) };
                }
            }
        }
    }

    fn redirection(&self, name: *const c_char) -> Option<Redirection> {
        // SAFETY: both texts end with a zero byte.
        let first = unsafe { *name };
        let is_named = |it: &&Redirection| unsafe {
            *it.name.as_ptr() == first && c::strcmp(it.name.as_ptr(), name) == 0
        };
        let found = self.redirections.iter().find(is_named);
        // A function that does not exist is 0, and so are the slots of objects that can do without it.
        found.filter(|it| it.real != 0).copied()
    }

    unsafe fn change_slot(&mut self, object: &Object, entry: &Entry, redirection: Redirection) {
        // SAFETY: the caller's.
        let place = unsafe { object.slot(entry) };
        let slot = place.as_ptr() as usize;
        let now = place.load(Acquire) as usize;
        let (is_due, wanted) = match self.direction {
            // A function that is not resolved yet leads into the object itself. Any other address is another function's:
            // an allocator that this object alone uses.
            Direction::ToOurs => (
                now == redirection.real || entry.is_call() && object.contains(now),
                redirection.ours,
            ),
            Direction::ToReal => (now == redirection.ours, redirection.real),
        };
        if !is_due {
            return;
        }
        let is_read_only = object.is_read_only(slot);
        if is_read_only && !set_protection(slot, c::PROT_READ | c::PROT_WRITE) {
            self.outcome.failed += 1;
            return;
        }
        place.store(wanted as u64, Release);
        if is_read_only {
            set_protection(slot, c::PROT_READ);
        }
        self.outcome.changed += 1;
    }
}

/// Changes the protection of the page of an address.
fn set_protection(address: usize, protection: c_int) -> bool {
    let page = c::page_bytes();
    let start = address & !(page - 1);
    // SAFETY: the page holds a table of a loaded object; what it is protected against is restored by the caller.
    unsafe { c::mprotect(start as *mut c_void, page, protection) == 0 }
}
