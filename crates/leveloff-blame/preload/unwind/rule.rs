//! How the caller's frame is found, in a form that is kept.

use super::row::{Row, RowBase, Saved, register};

/// A rule in 64 bits, never 0: two bits of base, flags, then three signed offsets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Rule(pub u64);

/// What the frame's address is counted from.
pub enum Base {
    None,
    StackPointer,
    FramePointer,
    /// The address is in memory, at an offset from the frame pointer: functions that align their stack.
    AtFramePointer,
    LinkageTable,
}

/// Where the caller's frame pointer is.
pub enum SavedPointer {
    No,
    FromFrame(isize),
    FromFramePointer(isize),
}

const BASE_STACK: u64 = 1;
const BASE_FRAME: u64 = 2;
const BASE_TABLE: u64 = 3;
const SAVED_FRAME_POINTER: u64 = 1 << 2;
const INTERPRETER: u64 = 1 << 3;
const VALID: u64 = 1 << 4;
/// The frame's address is stored at the frame pointer plus the offset.
const INDIRECT: u64 = 1 << 5;
/// The saved frame pointer's offset counts from the frame pointer itself.
const FROM_FRAME_POINTER: u64 = 1 << 6;
/// The frame's offset has 24 bits from here, in bytes.
const OFFSET_AT: u32 = 8;
/// The saved frame pointer's has 16, in units of eight bytes.
const FRAME_POINTER_AT: u32 = 32;
/// The return address's has 16, in units of eight bytes.
const RETURN_AT: u32 = 48;

impl Rule {
    /// There is no caller, or none that can be found.
    pub const END: Rule = Rule(VALID);

    pub fn base(self) -> Base {
        match self.0 & 3 {
            BASE_STACK => Base::StackPointer,
            BASE_FRAME if self.0 & INDIRECT != 0 => Base::AtFramePointer,
            BASE_FRAME => Base::FramePointer,
            BASE_TABLE => Base::LinkageTable,
            _ => Base::None,
        }
    }

    pub fn offset(self) -> isize {
        ((self.0 << 32) as i64 >> 40) as isize
    }

    pub fn saved_frame_pointer(self) -> SavedPointer {
        let offset = (self.0 >> FRAME_POINTER_AT) as i16 as isize * 8;
        match (self.0 & SAVED_FRAME_POINTER, self.0 & FROM_FRAME_POINTER) {
            (0, _) => SavedPointer::No,
            (_, 0) => SavedPointer::FromFrame(offset),
            _ => SavedPointer::FromFramePointer(offset),
        }
    }

    /// Where the return address is, from the frame's address.
    pub fn return_address(self) -> isize {
        (self.0 >> RETURN_AT) as i16 as isize * 8
    }

    /// Whether the function is Python's interpreter loop.
    pub fn is_interpreter(self) -> bool {
        self.0 & INTERPRETER != 0
    }

    pub fn of(row: &Row, is_interpreter: bool) -> Option<Rule> {
        let base = match row.base {
            RowBase::Register(register::STACK_POINTER) => BASE_STACK,
            RowBase::Register(register::FRAME_POINTER) => BASE_FRAME,
            RowBase::AtFramePointer => BASE_FRAME | INDIRECT,
            RowBase::LinkageTable => BASE_TABLE,
            RowBase::Register(_) | RowBase::Unknown => return None,
        };
        let units = |offset: i64| i16::try_from(offset / 8).ok().filter(|_| offset % 8 == 0);
        let offset = i32::try_from(row.offset)
            .ok()
            .filter(|it| it.abs() < 1 << 23)?;
        let mut packed = VALID | base | u64::from(offset as u32 & 0x00ff_ffff) << OFFSET_AT;
        if is_interpreter {
            packed |= INTERPRETER;
        }
        if let Saved::At(offset) | Saved::FromFramePointer(offset) = row.frame_pointer {
            packed |= SAVED_FRAME_POINTER;
            packed |= u64::from(units(offset)? as u16) << FRAME_POINTER_AT;
        }
        if let Saved::FromFramePointer(_) = row.frame_pointer {
            packed |= FROM_FRAME_POINTER;
        }
        let return_address = match row.return_address {
            Saved::At(offset) => offset,
            // The first function of a thread has no caller; a leaf of aarch64 never calls malloc.
            Saved::Same if cfg!(target_arch = "x86_64") => -8,
            Saved::Same | Saved::Undefined | Saved::FromFramePointer(_) => return None,
        };
        packed |= u64::from(units(return_address)? as u16) << RETURN_AT;
        Some(Rule(packed))
    }
}
