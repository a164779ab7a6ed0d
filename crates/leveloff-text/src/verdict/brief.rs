//! A verdict short enough for a status line.

use leveloff_classifier::units::X;
use leveloff_classifier::verdict::{LevelGrade, RunVerdict, Verdict};

use super::headline;
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
        Verdict::Undecided => format!("undecided: {}", headline::short_reason(judgement.reason)),
    }
}

#[cfg(test)]
mod tests {
    use leveloff_classifier::verdict::Reason;

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
        assert!(brief(&undecided(Reason::Wanders)).starts_with("undecided: "));
    }
}
