//! What a loaded object says of itself: its segments, and where the addresses of the functions that it calls are kept.
//! ELF64 with explicit addends, as on x86-64 and aarch64.

use core::ffi::c_char;
use core::mem::size_of;
use core::sync::atomic::AtomicU64;

use crate::c;

/// A loaded object.
pub struct Object<'a> {
    /// What is added to its addresses.
    pub base: usize,
    segments: &'a [Segment],
}

/// A program header.
#[repr(C)]
pub struct Segment {
    kind: u32,
    flags: u32,
    offset: u64,
    address: u64,
    physical_address: u64,
    file_bytes: u64,
    bytes: u64,
    alignment: u64,
}

/// A relocation: a slot and the symbol whose address it holds.
#[repr(C)]
pub struct Entry {
    pub offset: u64,
    info: u64,
    addend: i64,
}

#[repr(C)]
struct Tag {
    tag: i64,
    value: u64,
}

#[repr(C)]
struct Symbol {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    value: u64,
    bytes: u64,
}

/// PT_LOAD, PT_DYNAMIC, PT_GNU_RELRO.
const LOADED: u32 = 1;
const DYNAMIC: u32 = 2;
const READ_ONLY: u32 = 0x6474_e552;

/// DT_STRTAB and so on.
const CALLS_LENGTH: i64 = 2;
const TEXTS: i64 = 5;
const SYMBOLS: i64 = 6;
const DATA: i64 = 7;
const DATA_LENGTH: i64 = 8;
const CALLS: i64 = 23;

/// Relocations of a called function, of a function in the offset table, and of a pointer to a function.
#[cfg(target_arch = "x86_64")]
const CALL: u32 = 7;
#[cfg(target_arch = "x86_64")]
const OTHERS: [u32; 2] = [6, 1];
#[cfg(target_arch = "aarch64")]
const CALL: u32 = 1026;
#[cfg(target_arch = "aarch64")]
const OTHERS: [u32; 2] = [1025, 257];

impl Object<'_> {
    /// # Safety
    /// libc has just passed the object, which stays loaded.
    pub unsafe fn of(info: &c::LoadedObject) -> Object<'_> {
        // SAFETY: the caller's.
        let segments = unsafe {
            core::slice::from_raw_parts(info.segments.cast::<Segment>(), info.segment_count.into())
        };
        Object {
            base: info.base,
            segments,
        }
    }

    /// The place that an entry is about. Other threads only ever read and write it whole.
    ///
    /// # Safety
    /// The entry is one of this object's, which stays loaded.
    pub unsafe fn slot(&self, entry: &Entry) -> &'static AtomicU64 {
        // SAFETY: the caller's.
        unsafe { &*(self.base.wrapping_add(entry.offset as usize) as *const AtomicU64) }
    }

    pub fn contains(&self, address: usize) -> bool {
        let mut ranges = self.ranges(LOADED);
        ranges.any(|(start, end)| (start..end).contains(&address))
    }

    /// Whether the dynamic linker has write-protected the address after relocation. It rounds the end down to a page.
    pub fn is_read_only(&self, address: usize) -> bool {
        let page = c::page_bytes();
        self.ranges(READ_ONLY)
            .any(|(start, end)| (start..end & !(page - 1)).contains(&address))
    }

    fn ranges(&self, kind: u32) -> impl Iterator<Item = (usize, usize)> {
        let segments = self.segments.iter().filter(move |it| it.kind == kind);
        segments.map(|segment| {
            let start = self.base.wrapping_add(segment.address as usize);
            (start, start.wrapping_add(segment.bytes as usize))
        })
    }
}

/// The tables that an object's dynamic section names.
#[derive(Default)]
pub struct Dynamic {
    texts: usize,
    symbols: usize,
    calls: (usize, usize),
    data: (usize, usize),
}

impl Dynamic {
    /// `None` if the object has no tables. The kernel's own object has them unrelocated, and calls nothing.
    ///
    /// # Safety
    /// The object is loaded and relocated.
    pub unsafe fn of(object: &Object<'_>) -> Option<Dynamic> {
        let section = object.segments.iter().find(|it| it.kind == DYNAMIC)?;
        let mut found = Dynamic::default();
        let mut tag = object.base.wrapping_add(section.address as usize) as *const Tag;
        // SAFETY: the section ends with a tag of 0.
        unsafe {
            while (*tag).tag != 0 {
                let value = (*tag).value as usize;
                match (*tag).tag {
                    TEXTS => found.texts = value,
                    SYMBOLS => found.symbols = value,
                    CALLS => found.calls.0 = value,
                    CALLS_LENGTH => found.calls.1 = value,
                    DATA => found.data.0 = value,
                    DATA_LENGTH => found.data.1 = value,
                    _ => {}
                }
                tag = tag.add(1);
            }
        }
        let is_inside = |address: usize| object.contains(address);
        let is_usable = |(start, bytes): (usize, usize)| bytes == 0 || is_inside(start);
        let is_relocated = is_inside(found.texts) && is_inside(found.symbols);
        (is_relocated && is_usable(found.calls) && is_usable(found.data)).then_some(found)
    }

    /// The relocations of calls, and all others.
    pub fn tables(&self) -> [&[Entry]; 2] {
        [self.calls, self.data].map(|(start, bytes)| match bytes {
            0 => &[],
            // SAFETY: checked in `of` to be in the object, which has them mapped as long as it is loaded.
            _ => unsafe {
                core::slice::from_raw_parts(start as *const Entry, bytes / size_of::<Entry>())
            },
        })
    }

    /// The name of the function whose address an entry holds; `None` for another kind of entry.
    ///
    /// # Safety
    /// The entry is one of this object's.
    pub unsafe fn name(&self, entry: &Entry) -> Option<*const c_char> {
        let symbol = (entry.info >> 32) as usize;
        if symbol == 0 || !entry.is_function() {
            return None;
        }
        // SAFETY: the object's own tables.
        unsafe {
            let symbol = &*(self.symbols as *const Symbol).add(symbol);
            Some((self.texts + symbol.name as usize) as *const c_char)
        }
    }
}

impl Entry {
    /// Whether the slot is that of a call, which may not be resolved yet.
    pub fn is_call(&self) -> bool {
        self.info as u32 == CALL
    }

    fn is_function(&self) -> bool {
        self.is_call() || self.addend == 0 && OTHERS.contains(&(self.info as u32))
    }
}
