//! Eight dots in a character.

/// The character with these dots: bit 0 is the upper left one, bit 1 the upper right one, bit 7 the
/// lower right one.
pub fn braille(dots: u8) -> char {
    // Unicode numbers the upper six dots down each column, and the lowest two last.
    const BITS: [u32; 8] = [0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80];
    let pattern = (0..8)
        .filter(|dot| dots >> dot & 1 == 1)
        .map(|dot| BITS[dot])
        .sum::<u32>();
    char::from_u32(0x2800 + pattern).unwrap_or(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_numbered_row_by_row() {
        assert_eq!([0, 1, 2, 128, 255].map(braille), ['⠀', '⠁', '⠈', '⢀', '⣿']);
    }
}
