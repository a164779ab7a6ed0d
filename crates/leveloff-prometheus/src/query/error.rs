//! What can go wrong between leveloff and the server, and what to do about it.

use std::time::Duration;

use leveloff_model::units::Seconds;

/// Why there is no answer, or no whole one.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum QueryError {
    /// No connection.
    #[error("cannot be reached: {0}; is it running, and is the address right?")]
    Unreachable(String),
    /// No answer in time.
    #[error("did not answer within {}; ask for less with --since or --job, or wait longer with --timeout", Seconds(.0.as_secs_f64()))]
    Slow(Duration),
    /// The connection ended within an answer.
    #[error("was cut off in the middle of its answer ({0})")]
    CutOff(String),
    /// Credentials are missing.
    #[error(
        "requires credentials (401): name a file with --bearer-file or --user-file, or set LEVELOFF_PROMETHEUS_TOKEN"
    )]
    Unauthorised,
    /// The credentials do not suffice.
    #[error("does not allow this with these credentials (403){0}")]
    Forbidden(String),
    /// A redirection, which is not followed.
    #[error(
        "redirects to {0}; pass that address, or the one of the API itself if that is a login page"
    )]
    Redirected(String),
    /// The query is refused.
    #[error("refuses the query: {0}")]
    Refused(String),
    /// It is in error itself.
    #[error("reports an internal error ({status}){words}")]
    Server {
        /// The status of its answer.
        status: u16,
        /// What it says.
        words: String,
    },
    /// Not a Prometheus.
    #[error(
        "does not answer as Prometheus does: {0}; is this the address of its web page, with the path before /api/v1?"
    )]
    NotPrometheus(String),
    /// TLS failed.
    #[error("is not trusted: {0}; name its certificate authority with --ca-file")]
    Tls(String),
    /// Several series where one is expected.
    #[error("does not give one series for each: {0}")]
    Ambiguous(String),
    /// More than is kept in memory.
    #[error("has too much data: {0}")]
    TooMuch(String),
}

impl QueryError {
    /// Whether the same request may succeed in a moment.
    pub fn is_temporary(&self) -> bool {
        matches!(
            self,
            QueryError::Unreachable(_) | QueryError::CutOff(_) | QueryError::Server { .. }
        )
    }
}
