//! How fast a run grows, in words.

use leveloff_classifier::verdict::{Rate, RunVerdict, Verdict};

use crate::rate::{CountRate, MemoryRate};
use crate::subject::things;

/// How fast it grows, if it does: `1.60 MiB per step`.
pub fn growth(verdict: &RunVerdict) -> Option<String> {
    growing(verdict).map(|rate| rate_words(rate, verdict))
}

/// The same with the ends of its interval.
pub fn growth_with_interval(verdict: &RunVerdict) -> Option<String> {
    let rate = growing(verdict)?;
    Some(match things(verdict.decisive) {
        Some(things) => CountRate::new(rate, verdict.x_unit, things).with_interval(),
        None => MemoryRate::new(rate, verdict.x_unit).with_interval(),
    })
}

/// A rate in the unit of the series that decided: `1.60 MiB per step`, `2.00 open descriptors per step`.
pub fn rate_words(rate: Rate, verdict: &RunVerdict) -> String {
    match things(verdict.decisive) {
        Some(things) => CountRate::new(rate, verdict.x_unit, things).alone(),
        None => MemoryRate::new(rate, verdict.x_unit).alone(),
    }
}

/// A level run has a rate as well, but only as a bound.
fn growing(verdict: &RunVerdict) -> Option<Rate> {
    match verdict.verdict {
        Verdict::Leak(_) | Verdict::WarmingUp => verdict.judgement.rate,
        Verdict::Level(_) | Verdict::Undecided => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::{descriptor_leak, story_at_80, story_at_300};

    #[test]
    fn only_what_grows_has_a_rate_and_never_without_its_base() {
        assert_eq!(growth(&story_at_80()).as_deref(), Some("165 MiB per step"));
        assert_eq!(growth(&story_at_300()), None);
        let counted = growth(&descriptor_leak()).unwrap();
        assert!(counted.ends_with(" open descriptors per step"), "{counted}");
    }
}
