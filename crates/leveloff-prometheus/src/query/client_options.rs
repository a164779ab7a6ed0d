//! How to talk to a server.

use std::path::PathBuf;
use std::time::Duration;

use super::address::Address;

/// Where the server is, and how to talk to it.
#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// The address of the server.
    pub address: Address,
    /// A file with a token for `Authorization: Bearer`.
    pub bearer_file: Option<PathBuf>,
    /// A file with `USER:PASSWORD`.
    pub user_file: Option<PathBuf>,
    /// Certificate authorities to trust, in PEM form; the system's if absent.
    pub ca_file: Option<PathBuf>,
    /// How long to wait for an answer.
    pub timeout: Duration,
}
