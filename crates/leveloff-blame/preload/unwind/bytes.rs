//! A cursor over unwind tables.

/// Reads from memory between two addresses; a read beyond the end gives `None`.
#[derive(Clone, Copy)]
pub struct Bytes {
    pub at: usize,
    pub end: usize,
}

/// DW_EH_PE: how a pointer is written.
const ABSOLUTE_NATIVE: u8 = 0x00;
const FORMAT: u8 = 0x0f;
const RELATION: u8 = 0x70;
const TO_PC: u8 = 0x10;
const TO_DATA: u8 = 0x30;
pub const OMITTED: u8 = 0xff;

impl Bytes {
    pub fn u8(&mut self) -> Option<u8> {
        self.fixed::<1>().map(|[byte]| byte)
    }

    pub fn u16(&mut self) -> Option<u16> {
        self.fixed().map(u16::from_le_bytes)
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.fixed().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Option<u64> {
        self.fixed().map(u64::from_le_bytes)
    }

    fn fixed<const N: usize>(&mut self) -> Option<[u8; N]> {
        if self.at.checked_add(N)? > self.end {
            return None;
        }
        // SAFETY: the caller that makes the cursor has the memory mapped up to `end`.
        let bytes = unsafe { (self.at as *const [u8; N]).read_unaligned() };
        self.at += N;
        Some(bytes)
    }

    pub fn skip(&mut self, bytes: usize) -> Option<()> {
        let at = self.at.checked_add(bytes)?;
        (at <= self.end).then(|| self.at = at)
    }

    /// An unsigned LEB128 number.
    pub fn uleb(&mut self) -> Option<u64> {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.u8()?;
            if shift < 64 {
                value |= u64::from(byte & 0x7f) << shift;
            }
            shift += 7;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
    }

    /// A signed LEB128 number.
    pub fn sleb(&mut self) -> Option<i64> {
        let (mut value, mut shift) = (0_i64, 0);
        loop {
            let byte = self.u8()?;
            if shift < 64 {
                value |= i64::from(byte & 0x7f) << shift;
            }
            shift += 7;
            if byte & 0x80 == 0 {
                if shift < 64 && byte & 0x40 != 0 {
                    value |= -1 << shift;
                }
                return Some(value);
            }
        }
    }

    /// A pointer in an encoding, relative to itself or to `data`.
    pub fn pointer(&mut self, encoding: u8, data: usize) -> Option<usize> {
        let here = self.at;
        let value = match encoding & FORMAT {
            ABSOLUTE_NATIVE | 0x04 | 0x0c => self.u64()? as i64,
            0x01 => self.uleb()? as i64,
            0x02 => i64::from(self.u16()?),
            0x03 => i64::from(self.u32()?),
            0x09 => self.sleb()?,
            0x0a => i64::from(self.u16()? as i16),
            0x0b => i64::from(self.u32()? as i32),
            _ => return None,
        };
        let base = match encoding & RELATION {
            0 => 0,
            TO_PC => here,
            TO_DATA => data,
            _ => return None,
        };
        Some(base.wrapping_add_signed(value as isize))
    }
}
