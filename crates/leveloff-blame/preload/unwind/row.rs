//! The rules at one address, and the instructions that build them.

use super::bytes::Bytes;
use super::cfi::CommonEntry;

/// DWARF's register numbers.
#[cfg(target_arch = "x86_64")]
pub mod register {
    pub const FRAME_POINTER: u64 = 6;
    pub const STACK_POINTER: u64 = 7;
    pub const RETURN_ADDRESS: u64 = 16;
}
#[cfg(target_arch = "aarch64")]
pub mod register {
    pub const FRAME_POINTER: u64 = 29;
    pub const STACK_POINTER: u64 = 31;
    pub const RETURN_ADDRESS: u64 = 30;
}

#[derive(Clone, Copy)]
pub enum RowBase {
    Register(u64),
    AtFramePointer,
    LinkageTable,
    Unknown,
}

#[derive(Clone, Copy)]
pub enum Saved {
    Same,
    Undefined,
    At(i64),
    FromFramePointer(i64),
}

/// The rules at one address.
#[derive(Clone, Copy)]
pub struct Row {
    pub base: RowBase,
    pub offset: i64,
    pub frame_pointer: Saved,
    pub return_address: Saved,
}

impl Row {
    const START: Row = Row {
        base: RowBase::Register(register::STACK_POINTER),
        offset: 0,
        frame_pointer: Saved::Same,
        return_address: Saved::Same,
    };

    fn set(&mut self, register: u64, saved: Saved) {
        match register {
            register::FRAME_POINTER => self.frame_pointer = saved,
            register::RETURN_ADDRESS => self.return_address = saved,
            _ => {}
        }
    }
}

/// Runs the instructions of an entry.
pub struct Machine {
    row: Row,
    /// After the common entry's instructions.
    initial: Row,
    kept: [Row; 4],
    kept_length: usize,
    location: usize,
}

impl Machine {
    /// Begins at the start of a function.
    pub fn new(location: usize) -> Machine {
        Machine {
            row: Row::START,
            initial: Row::START,
            kept: [Row::START; 4],
            kept_length: 0,
            location,
        }
    }

    /// The common entry is done; the function's own begins.
    pub fn begin_function(&mut self, location: usize) {
        self.initial = self.row;
        self.location = location;
    }

    pub fn row(&self) -> Row {
        self.row
    }

    /// Runs until the location is behind `at`.
    pub fn run(&mut self, mut bytes: Bytes, common: &CommonEntry, at: usize) -> Option<()> {
        while bytes.at < bytes.end {
            let byte = bytes.u8()?;
            let low = u64::from(byte & 0x3f);
            let advance = match (byte >> 6, byte) {
                (1, _) => Some(low),
                (2, _) => {
                    let offset = bytes.uleb()? as i64 * common.data_factor;
                    self.row.set(low, Saved::At(offset));
                    None
                }
                (3, _) => {
                    self.restore(low);
                    None
                }
                (_, 0x01) => {
                    self.location = bytes.pointer(common.pointers, 0)?;
                    Some(0)
                }
                (_, 0x02) => Some(u64::from(bytes.u8()?)),
                (_, 0x03) => Some(u64::from(bytes.u16()?)),
                (_, 0x04) => Some(u64::from(bytes.u32()?)),
                (_, code) => {
                    self.extended(code, &mut bytes, common)?;
                    None
                }
            };
            if let Some(advance) = advance {
                let bytes = advance.checked_mul(common.code_factor)? as usize;
                self.location = self.location.checked_add(bytes)?;
                if self.location > at {
                    return Some(());
                }
            }
        }
        Some(())
    }

    fn restore(&mut self, register: u64) {
        let initial = self.initial;
        match register {
            register::FRAME_POINTER => self.row.frame_pointer = initial.frame_pointer,
            register::RETURN_ADDRESS => self.row.return_address = initial.return_address,
            _ => {}
        }
    }

    /// The instructions that have a code of their own.
    fn extended(&mut self, code: u8, bytes: &mut Bytes, common: &CommonEntry) -> Option<()> {
        match code {
            // nop; on aarch64 0x2d switches the signing of return addresses
            0x00 | 0x2d => {}
            // offset_extended
            0x05 => {
                let register = bytes.uleb()?;
                let offset = bytes.uleb()? as i64 * common.data_factor;
                self.row.set(register, Saved::At(offset));
            }
            // restore_extended
            0x06 => {
                let register = bytes.uleb()?;
                self.restore(register);
            }
            // undefined
            0x07 => {
                let register = bytes.uleb()?;
                self.row.set(register, Saved::Undefined);
            }
            // same_value
            0x08 => {
                let register = bytes.uleb()?;
                self.row.set(register, Saved::Same);
            }
            // register: kept in another one, which is not followed
            0x09 => {
                let (register, _) = (bytes.uleb()?, bytes.uleb()?);
                self.row.set(register, Saved::Undefined);
            }
            // remember_state
            0x0a => {
                *self.kept.get_mut(self.kept_length)? = self.row;
                self.kept_length += 1;
            }
            // restore_state
            0x0b => {
                self.kept_length = self.kept_length.checked_sub(1)?;
                self.row = *self.kept.get(self.kept_length)?;
            }
            // def_cfa
            0x0c => {
                self.row.base = RowBase::Register(bytes.uleb()?);
                self.row.offset = bytes.uleb()? as i64;
            }
            // def_cfa_register
            0x0d => self.row.base = RowBase::Register(bytes.uleb()?),
            // def_cfa_offset
            0x0e => self.row.offset = bytes.uleb()? as i64,
            // def_cfa_expression
            0x0f => {
                (self.row.base, self.row.offset) = match Expression::parse(bytes)? {
                    Expression::StackPointer => (RowBase::LinkageTable, 0),
                    Expression::AtFramePointer(offset) => (RowBase::AtFramePointer, offset),
                    _ => (RowBase::Unknown, 0),
                };
            }
            // expression
            0x10 => {
                let register = bytes.uleb()?;
                self.row.set(
                    register,
                    match Expression::parse(bytes)? {
                        Expression::FramePointer(offset) => Saved::FromFramePointer(offset),
                        _ => Saved::Undefined,
                    },
                );
            }
            // val_expression
            0x16 => {
                let register = bytes.uleb()?;
                Expression::parse(bytes)?;
                self.row.set(register, Saved::Undefined);
            }
            // offset_extended_sf
            0x11 => {
                let register = bytes.uleb()?;
                let offset = bytes.sleb()? * common.data_factor;
                self.row.set(register, Saved::At(offset));
            }
            // def_cfa_sf
            0x12 => {
                self.row.base = RowBase::Register(bytes.uleb()?);
                self.row.offset = bytes.sleb()? * common.data_factor;
            }
            // def_cfa_offset_sf
            0x13 => self.row.offset = bytes.sleb()? * common.data_factor,
            // GNU_args_size
            0x2e => {
                bytes.uleb()?;
            }
            _ => return None,
        }
        Some(())
    }
}

/// The expressions that compilers write.
enum Expression {
    /// Begins with the stack pointer: an entry of a procedure linkage table.
    StackPointer,
    /// The frame pointer plus an offset.
    FramePointer(i64),
    /// What is stored there.
    AtFramePointer(i64),
    Other,
}

impl Expression {
    fn parse(bytes: &mut Bytes) -> Option<Expression> {
        /// DW_OP_breg0, to which the register's number is added.
        const REGISTER: u64 = 0x70;
        const DEREFERENCE: u8 = 0x06;
        let length = bytes.uleb()? as usize;
        let mut inside = Bytes {
            at: bytes.at,
            end: bytes.at.checked_add(length)?,
        };
        bytes.skip(length)?;
        let first = u64::from(inside.u8()?);
        if first == REGISTER + register::STACK_POINTER {
            return Some(Expression::StackPointer);
        }
        if first != REGISTER + register::FRAME_POINTER {
            return Some(Expression::Other);
        }
        let offset = inside.sleb()?;
        Some(match inside.u8() {
            None => Expression::FramePointer(offset),
            Some(DEREFERENCE) if inside.at == inside.end => Expression::AtFramePointer(offset),
            Some(_) => Expression::Other,
        })
    }
}
