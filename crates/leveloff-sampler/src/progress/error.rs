//! Errors of a log that the user named.

use std::io;
use std::path::PathBuf;

/// Why a log cannot be followed.
#[derive(Debug, thiserror::Error)]
pub enum ProgressError {
    /// It does not exist.
    #[error(
        "the log {} does not exist; start the training first, or name the file that its output goes to",
        path.display()
    )]
    Missing {
        /// Its path.
        path: PathBuf,
    },
    /// It is a pipe or device: reading it would block, or take bytes from another reader.
    #[error(
        "the log {} is {what}, not a file; send the training's output to a file \
         (… > train.log 2>&1) and name that",
        path.display()
    )]
    NotAFile {
        /// Its path.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// It cannot be opened or read.
    #[error("cannot read the log {}: {source}; run as its owner, or make it readable", path.display())]
    Unreadable {
        /// Its path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}
