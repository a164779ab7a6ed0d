//! The step and the first tag of a TensorBoard `Event`, from its first bytes.

/// What is read of an event.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Event<'a> {
    /// Field 2. Protobuf leaves out a zero, so an event with a summary and without a step is at step 0.
    pub step: Option<u64>,
    /// The tag of the first value of the summary.
    pub tag: Option<&'a [u8]>,
}

/// A field of a protobuf message.
enum Field<'a> {
    Varint(u64),
    /// A nested message, a text or bytes; cut off where the bytes end.
    Bytes(&'a [u8]),
    Fixed,
}

/// Fields of `Event`.
const STEP: u64 = 2;
const SUMMARY: u64 = 5;
/// Field of `Summary`: the values.
const VALUE: u64 = 1;
/// Field of `Summary.Value`.
const TAG: u64 = 1;

impl<'a> Event<'a> {
    /// Reads what the bytes hold; they may be cut off.
    pub fn parse(bytes: &'a [u8]) -> Event<'a> {
        let mut event = Event::default();
        for (number, field) in Fields(bytes) {
            match (number, field) {
                // A negative step is ten bytes long; TensorBoard has none.
                (STEP, Field::Varint(step)) => event.step = i64::try_from(step).ok().map(|_| step),
                (SUMMARY, Field::Bytes(summary)) => event.tag = first_tag(summary),
                _ => {}
            }
        }
        if event.tag.is_some() && event.step.is_none() {
            event.step = Some(0);
        }
        event
    }
}

fn first_tag(summary: &[u8]) -> Option<&[u8]> {
    let value = Fields(summary).find_map(|found| message(found, VALUE))?;
    Fields(value).find_map(|found| message(found, TAG))
}

fn message<'a>((number, field): (u64, Field<'a>), wanted: u64) -> Option<&'a [u8]> {
    match field {
        Field::Bytes(bytes) if number == wanted => Some(bytes),
        _ => None,
    }
}

/// The fields of a message, as far as they can be read.
struct Fields<'a>(&'a [u8]);

impl<'a> Iterator for Fields<'a> {
    type Item = (u64, Field<'a>);

    fn next(&mut self) -> Option<(u64, Field<'a>)> {
        let key = self.varint()?;
        let field = match key & 7 {
            0 => Field::Varint(self.varint()?),
            1 => self.fixed(8)?,
            2 => {
                let length = usize::try_from(self.varint()?).unwrap_or(usize::MAX);
                let (bytes, rest) = self.0.split_at(length.min(self.0.len()));
                self.0 = rest;
                Field::Bytes(bytes)
            }
            5 => self.fixed(4)?,
            _ => return None,
        };
        Some((key >> 3, field))
    }
}

impl Fields<'_> {
    /// The next number: seven bits in each byte, the lowest first.
    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for place in 0..10 {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f).checked_shl(7 * place).unwrap_or(0);
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn fixed<'b>(&mut self, length: usize) -> Option<Field<'b>> {
        self.0 = self.0.get(length..)?;
        Some(Field::Fixed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_and_tag_are_found_behind_the_time() {
        let mut bytes = vec![0x09, 1, 2, 3, 4, 5, 6, 7, 8, 0x10, 0xe8, 0x07];
        bytes.extend(b"\x2a\x0c\x0a\x0a\x0a\x04loss\x15\0\0\0\0");
        let event = Event::parse(&bytes);
        assert_eq!(event.step, Some(1000));
        assert_eq!(event.tag, Some(&b"loss"[..]));
    }

    #[test]
    fn step_zero_is_left_out_by_protobuf() {
        let event = Event::parse(b"\x2a\x0c\x0a\x0a\x0a\x04loss\x15\0\0\0\0");
        assert_eq!(event.step, Some(0));
        assert_eq!(Event::parse(b"\x1a\x0dbrain.Event:2"), Event::default());
    }

    #[test]
    fn a_number_that_does_not_end_is_none() {
        assert_eq!(Event::parse(&[0x10; 3]).step, Some(0x10));
        assert_eq!(Event::parse(&[0xff; 40]), Event::default());
        let negative = [
            0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01,
        ];
        assert_eq!(Event::parse(&negative).step, None);
    }
}
