//! What can go wrong between us and the server, and what to do about it.

use std::time::Duration;

use leveloff_model::units::Seconds;

/// Why there is no answer, or no whole one.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Trouble {
    /// Nobody is there.
    #[error("cannot be reached: {0}; is it running, and is the address right?")]
    Unreachable(String),
    /// It takes too long.
    #[error("did not answer within {}; ask for less with --since or --job, or wait longer with --timeout", Seconds(.0.as_secs_f64()))]
    Slow(Duration),
    /// The connection ended in the middle.
    #[error("was cut off in the middle of its answer ({0})")]
    CutOff(String),
    /// It wants to know who we are.
    #[error(
        "wants to know who asks (401): name a file with --bearer-file or --user-file, or set LEVELOFF_PROMETHEUS_TOKEN"
    )]
    Unauthorised,
    /// It knows who we are.
    #[error("does not allow this to whom it was told asks (403){0}")]
    Forbidden(String),
    /// It sends us somewhere else.
    #[error(
        "sends us on to {0}; give that address, or ask whoever runs it for the API's own (a login page is for people)"
    )]
    Redirected(String),
    /// It understood, and refuses.
    #[error("refuses the query: {0}")]
    Refused(String),
    /// It is in trouble itself.
    #[error("is in trouble itself ({status}){words}")]
    Server {
        /// The status of its answer.
        status: u16,
        /// What it says.
        words: String,
    },
    /// It is something else.
    #[error(
        "does not speak as Prometheus does: {0}; is this the address of its web page's host, with any path before /api/v1?"
    )]
    Stranger(String),
    /// TLS did not work out.
    #[error("is not trusted: {0}; name its certificate authority with --ca-file")]
    Untrusted(String),
    /// It gives several series where one is asked for.
    #[error("gives no single series for each: {0}")]
    Ambiguous(String),
    /// More than we are willing to keep.
    #[error("has more to tell than fits: {0}")]
    TooMuch(String),
}

impl Trouble {
    /// Whether the same request may well do better in a moment.
    pub fn may_pass(&self) -> bool {
        matches!(
            self,
            Trouble::Unreachable(_) | Trouble::CutOff(_) | Trouble::Server { .. }
        )
    }
}
