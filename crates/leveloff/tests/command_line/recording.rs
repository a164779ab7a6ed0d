//! A recording read as plain JSON Lines, without leveloff's own reader.

use std::path::Path;

use serde_json::Value;

use crate::stage::wait_until;

/// The lines of a recording, each with its kind.
pub struct Recording {
    rows: Vec<(String, Value)>,
}

impl Recording {
    /// Reads it. Every line that ends is whole; a last one that does not end never was.
    #[track_caller]
    pub fn load(path: &Path) -> Recording {
        let bytes = std::fs::read(path).unwrap();
        Recording::parse(&bytes, |line| {
            panic!("a damaged line in {}: {line}", path.display())
        })
    }

    /// As it is now, while it may still be written.
    pub fn so_far(path: &Path) -> Recording {
        Recording::parse(&std::fs::read(path).unwrap_or_default(), |_| {})
    }

    /// Reads it when a full disk may have torn lines in the middle.
    pub fn load_with_tears(path: &Path) -> (Recording, usize) {
        let mut tears = 0;
        let bytes = std::fs::read(path).unwrap();
        let recording = Recording::parse(&bytes, |_| tears += 1);
        (recording, tears)
    }

    fn parse(bytes: &[u8], mut damaged: impl FnMut(&str)) -> Recording {
        let whole = bytes
            .iter()
            .rposition(|&b| b == b'\n')
            .map_or(0, |at| at + 1);
        let mut rows = Vec::new();
        for line in bytes[..whole].split(|&b| b == b'\n') {
            match serde_json::from_slice::<Value>(line) {
                Ok(Value::Object(fields)) if fields.len() == 1 => rows.extend(fields),
                _ if line.is_empty() => {}
                _ => damaged(&String::from_utf8_lossy(line)),
            }
        }
        Recording { rows }
    }

    /// The lines of this kind.
    pub fn of(&self, kind: &str) -> Vec<&Value> {
        let wanted = self.rows.iter().filter(|(name, _)| name == kind);
        wanted.map(|(_, row)| row).collect()
    }

    /// The descriptions of processes, first and changed.
    pub fn process_rows(&self) -> Vec<&Value> {
        let is_process = |name: &str| name == "process" || name == "changed";
        let wanted = self.rows.iter().filter(|(name, _)| is_process(name));
        wanted.map(|(_, row)| row).collect()
    }

    pub fn header(&self) -> &Value {
        assert_eq!(self.rows[0].0, "header");
        &self.rows[0].1
    }

    pub fn samples(&self) -> usize {
        self.of("s").len()
    }

    /// The last line, which must be the end, by reason and code.
    #[track_caller]
    pub fn end(&self) -> (String, Option<i64>) {
        let (kind, row) = self.rows.last().unwrap();
        assert_eq!(kind, "end", "the last line is {kind} {row}");
        (
            row["reason"].as_str().unwrap().to_owned(),
            row["code"].as_i64(),
        )
    }

    /// The last step that a sample has.
    pub fn step(&self) -> Option<u64> {
        let samples = self.of("s");
        samples
            .iter()
            .filter_map(|s| s["step"].as_u64())
            .next_back()
    }

    /// Whether this pid is in it.
    pub fn has_process(&self, pid: u32) -> bool {
        let processes = self.of("process");
        processes.iter().any(|p| p["pid"] == pid)
    }
}

/// Waits until the recording has this many samples more than now.
#[track_caller]
pub fn wait_for_samples(path: &Path, more: usize) {
    let before = Recording::so_far(path).samples();
    wait_until("another sample", || {
        Recording::so_far(path).samples() >= before + more
    });
}
