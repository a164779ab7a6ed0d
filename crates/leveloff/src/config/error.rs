//! Why a file's settings cannot be used: always with the file and, where there is one, the line.

use std::io;
use std::path::PathBuf;

/// Why a file's settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    /// It cannot be read.
    #[error("cannot read the configuration file {}: {why}", .file.display())]
    Unreadable { file: PathBuf, why: io::Error },
    /// It was named, and is not about us.
    #[error("{} has no [tool.leveloff]", .0.display())]
    NoTable(PathBuf),
    /// `check` must not fall back to fewer limits than its project sets.
    #[error("{0}; or --no-config, to check without it")]
    PassedOver(String),
    /// It is not TOML.
    #[error("{place} is not TOML: {why}")]
    Broken { place: FileLine, why: String },
    /// An unknown key.
    #[error("unknown key '{name}' in {place}; {hint}")]
    UnknownKey {
        /// What was written.
        name: String,
        place: FileLine,
        /// What may have been meant.
        hint: String,
    },
    /// A value that is not allowed.
    #[error("{key} = {written} in {place}: {why}")]
    Value {
        key: String,
        /// As it was written.
        written: String,
        place: FileLine,
        /// Why it is not allowed, and what would be.
        why: String,
    },
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileLine {
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
}

impl std::fmt::Display for FileLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, line {}", self.file.display(), self.line)
    }
}
