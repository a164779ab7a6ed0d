//! A verdict short enough for a status line.

use leveloff_classifier::units::X;
use leveloff_classifier::verdict::{LevelGrade, Rate, RunVerdict, Verdict};

use super::headline;
use crate::rate::{CountRate, MemoryRate};
use crate::subject::things;
use crate::x_position::XPosition;

/// The verdict in a few words in lower case.
pub fn brief(verdict: &RunVerdict) -> String {
    let since = |x: Option<X>| {
        x.map_or_else(String::new, |x| {
            format!(" since {}", XPosition::new(x, verdict.x_unit))
        })
    };
    let judgement = &verdict.judgement;
    match verdict.verdict {
        Verdict::Level(_) if headline::is_from_the_start(judgement) => {
            "level from the start".to_owned()
        }
        Verdict::Level(LevelGrade::Early) => {
            format!("level (early){}", since(judgement.level_since_x))
        }
        Verdict::Level(LevelGrade::Confirmed) => {
            format!("level{}", since(judgement.level_since_x))
        }
        Verdict::Leak(grade) => format!("leak ({}){}", grade.name(), headline::leak(verdict)),
        Verdict::WarmingUp => match judgement.decide_by {
            Some(by) => {
                let leak = XPosition::new(by.if_it_goes_on, verdict.x_unit);
                format!("warming up; a leak from {leak} on if it continues")
            }
            None => "warming up".to_owned(),
        },
        Verdict::Undecided => format!("undecided: {}", headline::short_reason(judgement.because)),
    }
}

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
    use leveloff_classifier::verdict::Because;

    use super::*;
    use crate::cases::{descriptor_leak, leak, story_at_80, story_at_300, undecided};

    #[test]
    fn a_verdict_has_small_words_that_hold_the_next_step() {
        assert_eq!(
            brief(&story_at_80()),
            "warming up; a leak from step 379 on if it continues"
        );
        assert_eq!(brief(&story_at_300()), "level since step 88");
        assert!(brief(&leak()).starts_with("leak (confirmed) since step "));
        assert!(brief(&descriptor_leak()).contains(" of open descriptors since "));
        assert!(brief(&undecided(Because::Wanders)).starts_with("undecided: "));
    }

    #[test]
    fn only_what_grows_has_a_rate_and_never_without_its_base() {
        assert_eq!(growth(&story_at_80()).as_deref(), Some("165 MiB per step"));
        assert_eq!(growth(&story_at_300()), None);
        let counted = growth(&descriptor_leak()).unwrap();
        assert!(counted.ends_with(" open descriptors per step"), "{counted}");
    }
}
