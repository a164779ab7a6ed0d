//! Why a history is not used.

use std::io;

/// Why a history is not used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HistoryError {
    #[error("{0} is a symbolic link")]
    Link(&'static str),
    #[error("{0} belongs to another user")]
    Foreign(&'static str),
    #[error("{0} is writable for other users")]
    Writable(&'static str),
    #[error("{0} is neither a file nor a directory that leveloff made")]
    OtherKind(&'static str),
    #[error("it is larger than 1 MB")]
    TooLarge,
    #[error("{0}; `leveloff history --forget all` removes it")]
    Broken(String),
    #[error("a newer leveloff wrote it (version {0})")]
    Newer(u32),
    #[error("another leveloff is writing it")]
    Busy,
    #[error("{0}")]
    Io(#[from] io::Error),
}
