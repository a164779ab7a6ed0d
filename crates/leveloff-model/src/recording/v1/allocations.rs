//! Lines that allocate, and what they hold.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::is_zero;

/// The first row of an id defines the line by the frame that stands for it. A later one has more of its stack.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct LineRow {
    pub id: u32,
    /// Absent: that of the line that was defined before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<i32>,
    /// Absent: `heap`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Files that are named for the first time, by their number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<u32, String>,
    /// Innermost first.
    pub stack: Vec<FrameRow>,
    /// Absent: that of a line with the same frame, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// A function, the number of its file, and a line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FrameRow {
    /// Of Python.
    Python(String, Option<u32>, Option<u32>),
    /// The last number is 0: not of Python.
    Native(String, Option<u32>, Option<u32>, u8),
}

/// What lines hold at a moment.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct HeldRow {
    pub t: f64,
    /// KiB that are alive in no recorded line; absent: as before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<i64>,
    /// Sampled blocks that found no room so far, and all sampled blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed: Option<[u64; 2]>,
    /// Lines that changed, by their number; other keys are fields of a later version.
    #[serde(flatten)]
    pub lines: BTreeMap<String, Value>,
}

/// What a line holds.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum HeldAmount {
    /// Sampled blocks; all else is as before, the bytes in proportion.
    Blocks(u64),
    /// And sampled blocks that were freed.
    Freed(u64, u64),
    /// And KiB alive, and the standard error in KiB.
    All(u64, u64, u64, u64),
}

/// The container that keeps what a line allocated.
#[derive(Debug, Serialize, Deserialize)]
pub struct HolderRow {
    /// The line.
    pub of: u32,
    pub class: String,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub length: u64,
    /// What has its name: `global`, `attribute`, …
    pub kind: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// Sampled blocks that it keeps, and that were looked at.
    pub kept: [u64; 2],
}

#[derive(Debug, Serialize, Deserialize)]
pub struct SiteRow {
    pub id: u32,
    pub pid: i32,
    pub kind: String,
    /// Innermost first: function, file, line, 1 for Python.
    pub stack: Vec<(String, Option<String>, Option<u32>, u8)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct AllocRow {
    pub t: f64,
    /// KiB that are alive in all.
    pub live: u64,
    /// Sites that changed: id, KiB alive, sampled blocks alive, standard error in KiB, sampled blocks freed.
    pub of: Vec<[u64; 5]>,
    /// Sampled blocks that found no room so far, and all sampled blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed: Option<[u64; 2]>,
}
