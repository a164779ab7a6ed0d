//! How messages for the user leave this crate.

/// Shows one message to the user at once. A plain function, because messages also come from destructors.
pub type Notify = fn(&str, Urgency);

/// How urgent a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    /// The user may read it at any time.
    Normal,
    /// The user has to notice it now: a screen rings the bell.
    Alarm,
}
