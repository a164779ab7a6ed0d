//! Why an input gives no observations.

use std::io;

use leveloff_model::recording::RecordingError;

/// An input that cannot be read, and why.
#[derive(Debug, thiserror::Error)]
#[error("{input}: {problem}")]
pub struct ReadError {
    /// The input as the user named it.
    pub input: String,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with an input. The text continues a sentence that begins with the input's name: "is empty".
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The system refused to read it.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// It is a recording that this version does not understand.
    #[error("{0}")]
    Recording(#[from] RecordingError),
    /// It was read, and holds no memory that can be used; the text says what would help.
    #[error("{0}")]
    Unusable(String),
}

pub(crate) type Result<T, E = Problem> = std::result::Result<T, E>;

impl Problem {
    pub(crate) fn unusable(text: impl Into<String>) -> Problem {
        Problem::Unusable(text.into())
    }
}
