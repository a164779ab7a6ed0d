//! What cannot be set up, and what to do instead.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// An option that cannot be followed. Later failures never end a run.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The address of the endpoint.
    #[error("cannot serve metrics at {address}: {reason}")]
    Endpoint {
        /// The address that the user chose.
        address: SocketAddr,
        /// Why, and what to do.
        reason: String,
    },
    /// A file that cannot be written, or holds the wrong thing.
    #[error("{} {reason}", path.display())]
    File {
        /// The file that the user named.
        path: PathBuf,
        /// Why, and what to do.
        reason: String,
    },
    /// A file that cannot be read.
    #[error("cannot read {}: {reason}", path.display())]
    Unreadable {
        /// The file that the user named.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// A password in the address of the server.
    #[error(
        "every user of this machine can read a password in an address; put it in a file: --user-file, --bearer-file"
    )]
    LoginInAddress,
}

impl SetupError {
    pub(crate) fn unreadable(path: &Path, error: &dyn std::error::Error) -> SetupError {
        SetupError::Unreadable {
            path: path.to_owned(),
            reason: error.to_string(),
        }
    }
}
