//! A profile for `pprof` and what reads its format: <https://github.com/google/pprof/blob/main/proto/profile.proto>
//!
//! The message has a dozen fields of three types, so it is encoded here: a generator of protocol buffers would be a
//! build dependency for sixty lines.

use std::collections::HashMap;

use leveloff_model::allocation::StackFrame;

use crate::run_report::RunReport;

/// What grew, as a profile with the values `grown_space` (bytes) and `grown_blocks` (sampled blocks).
pub fn pprof(report: &RunReport) -> Vec<u8> {
    let mut profile = Profile::default();
    for (kind, unit) in [("grown_blocks", "count"), ("grown_space", "bytes")] {
        let mut value_type = Message::default();
        value_type.number(1, profile.string(kind));
        value_type.number(2, profile.string(unit));
        profile.types.message(1, &value_type);
    }
    for line in &report.lines {
        let frames = line.site.stack.iter();
        let locations: Vec<u64> = frames.map(|frame| profile.location(frame)).collect();
        let mut sample = Message::default();
        sample.numbers(1, &locations);
        sample.numbers(
            2,
            &[line.blocks.max(0).unsigned_abs(), line.growth.0 as u64],
        );
        profile.samples.message(2, &sample);
    }
    profile.encoded()
}

#[derive(Default)]
struct Profile {
    types: Message,
    samples: Message,
    locations: Message,
    functions: Message,
    /// The numbers of frames that were written.
    numbers: HashMap<StackFrame, u64>,
    strings: Vec<String>,
}

impl Profile {
    /// The number of a frame, which is a location and a function with the same number.
    fn location(&mut self, frame: &StackFrame) -> u64 {
        if let Some(number) = self.numbers.get(frame) {
            return *number;
        }
        let number = self.numbers.len() as u64 + 1;
        self.numbers.insert(frame.clone(), number);
        let (name, file) = (
            self.string(&frame.function),
            self.string(frame.file.as_deref().unwrap_or_default()),
        );
        let mut function = Message::default();
        function.number(1, number);
        function.number(2, name);
        function.number(4, file);
        self.functions.message(5, &function);
        let mut line = Message::default();
        line.number(1, number);
        line.number(2, u64::from(frame.line.unwrap_or(0)));
        let mut location = Message::default();
        location.number(1, number);
        location.message(4, &line);
        self.locations.message(4, &location);
        number
    }

    /// The number of a string; the first one has to be empty.
    fn string(&mut self, text: &str) -> u64 {
        if self.strings.is_empty() {
            self.strings.push(String::new());
        }
        let known = self.strings.iter().position(|it| it == text);
        let number = known.unwrap_or_else(|| {
            self.strings.push(text.to_owned());
            self.strings.len() - 1
        });
        number as u64
    }

    fn encoded(self) -> Vec<u8> {
        let mut strings = Message::default();
        for text in &self.strings {
            strings.bytes(6, text.as_bytes());
        }
        let parts = [
            self.types,
            self.samples,
            self.locations,
            self.functions,
            strings,
        ];
        parts.into_iter().flat_map(|part| part.encoded).collect()
    }
}

/// A message of protocol buffers.
#[derive(Default)]
struct Message {
    encoded: Vec<u8>,
}

/// The wire types that are used.
const VARINT: u64 = 0;
const LENGTH_DELIMITED: u64 = 2;

impl Message {
    fn number(&mut self, field: u64, value: u64) {
        self.varint(field << 3 | VARINT);
        self.varint(value);
    }

    fn numbers(&mut self, field: u64, values: &[u64]) {
        let mut packed = Message::default();
        for value in values {
            packed.varint(*value);
        }
        self.message(field, &packed);
    }

    fn message(&mut self, field: u64, message: &Message) {
        self.bytes(field, &message.encoded);
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | LENGTH_DELIMITED);
        self.varint(bytes.len() as u64);
        self.encoded.extend_from_slice(bytes);
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.encoded.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.encoded.push(value as u8);
    }
}
