//! A verdict in words, for the terminal, the dashboard and the reports alike.

mod brief;
mod cause;
mod ending;
mod finishing;
mod growth;
mod headline;
mod history;
mod reason;

pub use brief::brief;
pub use cause::{
    blame_words, blamed_name, blamed_since, clock_words, risk_words, short_risk_words, what_to_try,
};
pub use ending::{end_words, trimmed_words};
pub use finishing::finishing_words;
pub use growth::{growth, growth_with_interval, rate_words};
pub use headline::{Headline, is_from_the_start, line, line_of_ended, short_reason, verdict_words};
pub use history::{contradiction_words, earlier_words, history_words};
pub use reason::{hidden, sentence, settling};

use leveloff_model::units::Bytes;

/// An amount of memory out of a statistic.
pub fn bytes(amount: f64) -> Bytes {
    Bytes(amount.max(0.0).round() as u64)
}

/// The text with a capital first letter, as the beginning of a sentence.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}
