//! Code objects by address. What is printed of one is copied to the segment at first sight: the object may be gone when
//! the recorder reads.

use core::mem::size_of;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use super::offsets::Offsets;
use super::word;
use crate::layout::{CODE_BYTES, CodeRecord};
use crate::private_memory::private;
use crate::segment::segment;

/// Code objects that are known at once.
pub const CODE_SLOTS: usize = 1 << 13;
const PROBES: usize = 16;
/// The longest file name, function name and line table that are copied.
const LONGEST_FILE: usize = 500;
const LONGEST_NAME: usize = 200;
const LONGEST_LINES: usize = 16 << 10;

#[repr(C)]
pub struct CodeSlot {
    address: AtomicU64,
    /// Tells an object from a later one at the same address.
    check: AtomicU64,
    place: AtomicU64,
}

/// The place of a code object's record, in units of eight bytes; 0 if there is no room.
///
/// # Safety
/// The address is that of a living code object.
pub unsafe fn place_of(code: usize, offsets: &Offsets) -> usize {
    // SAFETY: the caller's.
    let check = unsafe { check(code, offsets) };
    let first = (code >> 4).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    for probe in 0..PROBES {
        let slot = &private().codes[(first + probe) % CODE_SLOTS];
        let mut address = slot.address.load(Acquire);
        if address == 0 {
            address = match slot
                .address
                .compare_exchange(0, code as u64, AcqRel, Acquire)
            {
                Ok(_) => code as u64,
                Err(other) => other,
            };
        }
        if address == code as u64 {
            if slot.check.load(Acquire) != check {
                // SAFETY: the caller's.
                let place = unsafe { write(code, offsets) };
                slot.place.store(place as u64, Relaxed);
                slot.check.store(check, Release);
            }
            return slot.place.load(Relaxed) as usize;
        }
    }
    0
}

unsafe fn check(code: usize, offsets: &Offsets) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        let (file, name) = (
            word(code + offsets.code_file),
            word(code + offsets.code_name),
        );
        let lines = word(code + offsets.code_lines);
        (file ^ name.rotate_left(17) ^ lines.rotate_left(31)) as u64 | 1
    }
}

/// Copies a code object to the segment.
unsafe fn write(code: usize, offsets: &Offsets) -> usize {
    let mut file = Text::<LONGEST_FILE>::new();
    let mut name = Text::<LONGEST_NAME>::new();
    // SAFETY: the caller's; a code object's fields are texts and bytes, which never change.
    let (first_line, lines, lines_length) = unsafe {
        file.read(word(code + offsets.code_file), offsets);
        name.read(word(code + offsets.code_name), offsets);
        let lines = word(code + offsets.code_lines);
        let first_line = ((code + offsets.code_first_line) as *const u32).read();
        (
            first_line,
            lines + offsets.bytes_data,
            word(lines + offsets.bytes_length).min(LONGEST_LINES),
        )
    };
    let segment = segment();
    let needed = (size_of::<CodeRecord>() + file.length + name.length + lines_length + 7) & !7;
    // Place 0 stands for no record.
    let at = segment.header.code_used.fetch_add(needed as u64, Relaxed) as usize + 8;
    if at + needed > CODE_BYTES {
        return 0;
    }
    let record = CodeRecord {
        first_line,
        file: file.length as u16,
        name: name.length as u16,
        lines: lines_length as u32,
        reserved: 0,
    };
    // SAFETY: the part from `at` belongs to this call alone; the segment is mapped writable.
    unsafe {
        let start = segment.code.as_ptr().cast_mut().add(at);
        start.cast::<CodeRecord>().write(record);
        let mut to = start.add(size_of::<CodeRecord>());
        core::ptr::copy_nonoverlapping(file.bytes.as_ptr(), to, file.length);
        to = to.add(file.length);
        core::ptr::copy_nonoverlapping(name.bytes.as_ptr(), to, name.length);
        to = to.add(name.length);
        core::ptr::copy_nonoverlapping(lines as *const u8, to, lines_length);
    }
    at / 8
}

/// A Python text as UTF-8, cut to N bytes.
struct Text<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> Text<N> {
    fn new() -> Text<N> {
        Text {
            bytes: [0; N],
            length: 0,
        }
    }

    /// # Safety
    /// The address is that of a text object, or 0.
    unsafe fn read(&mut self, text: usize, offsets: &Offsets) {
        const COMPACT: u32 = 1 << 5;
        const ASCII: u32 = 1 << 6;
        if text == 0 {
            return;
        }
        // SAFETY: the caller's.
        unsafe {
            let characters = word(text + offsets.text_length);
            let state = ((text + offsets.text_state) as *const u32).read();
            if state & COMPACT == 0 {
                return;
            }
            let (start, width) = match state & ASCII {
                0 => (text + offsets.text_compact, (state >> 2 & 7) as usize),
                _ => (text + offsets.text_ascii, 1),
            };
            for n in 0..characters.min(N) {
                let at = start + n * width;
                let character = match width {
                    1 => u32::from(*(at as *const u8)),
                    2 => u32::from(*(at as *const u16)),
                    4 => *(at as *const u32),
                    _ => return,
                };
                self.push(char::from_u32(character).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
    }

    fn push(&mut self, character: char) {
        let mut buffer = [0; 4];
        let encoded = character.encode_utf8(&mut buffer).as_bytes();
        if let Some(place) = self.bytes.get_mut(self.length..self.length + encoded.len()) {
            place.copy_from_slice(encoded);
            self.length += encoded.len();
        }
    }
}
