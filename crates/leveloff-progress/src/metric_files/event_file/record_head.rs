//! The head of a TFRecord: a length, and a checksum that shows that it is one.

/// Bytes of a head.
pub const HEAD_BYTES: usize = 12;

/// No event is longer: TensorFlow refuses to write larger messages.
const MOST_BYTES: u64 = 1 << 31;

/// The head of a record.
#[derive(Debug, PartialEq, Eq)]
pub struct RecordHead {
    /// Bytes of data behind it.
    pub length: u64,
}

impl RecordHead {
    /// Parses a head; `None` when the checksum does not fit.
    pub fn parse(bytes: &[u8; HEAD_BYTES]) -> Option<RecordHead> {
        let (length, checksum) = bytes.split_at(8);
        if masked_crc32c(length).to_le_bytes() != checksum {
            return None;
        }
        let length = u64::from_le_bytes(length.try_into().ok()?);
        (length <= MOST_BYTES).then_some(RecordHead { length })
    }
}

/// The checksum of a TFRecord: CRC-32C, rotated and offset so that a checksum of data that contains
/// checksums stays useful.
pub fn masked_crc32c(bytes: &[u8]) -> u32 {
    crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

/// CRC-32C (Castagnoli), bit by bit: it is computed over eight bytes of a record.
fn crc32c(bytes: &[u8]) -> u32 {
    let crc = bytes.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            (crc >> 1) ^ (0x82f6_3b78 & (crc & 1).wrapping_neg())
        })
    });
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value of CRC-32C in RFC 3720, appendix B.4: 32 bytes of zeros, and of ones.
    #[test]
    fn the_checksum_is_that_of_the_standard() {
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
    }

    #[test]
    fn a_head_with_a_wrong_bit_is_none() {
        let length = 24_u64.to_le_bytes();
        let mut head = [0; HEAD_BYTES];
        head[..8].copy_from_slice(&length);
        head[8..].copy_from_slice(&masked_crc32c(&length).to_le_bytes());
        assert_eq!(RecordHead::parse(&head), Some(RecordHead { length: 24 }));
        for bit in 0..8 * HEAD_BYTES {
            let mut wrong = head;
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(RecordHead::parse(&wrong), None, "bit {bit}");
        }
    }
}
