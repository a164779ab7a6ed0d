//! Will it finish? The first question of a run whose plan and limit are known.

use leveloff_classifier::verdict::{AtPlannedEnd, MetLimit, RunVerdict, WillFinish};

use super::cause::in_about;
use crate::x_position::XPosition;

/// `finishes: 11.2 GiB of 32.0 GiB at step 663`, `will be killed at step 170 of 663 (159 … 185), in about 14 min`;
/// `None` where that is not known.
pub fn finishing_words(run: &RunVerdict) -> Option<String> {
    match run.will_finish {
        WillFinish::Yes(end) => Some(finishes(end, run)),
        WillFinish::No(met) => Some(killed(met, run)),
        WillFinish::Unknown(_) => None,
    }
}

fn finishes(end: AtPlannedEnd, run: &RunVerdict) -> String {
    let place = XPosition::new(end.planned, run.x_unit);
    format!(
        "finishes: {} of {} at {place}",
        end.memory.bytes(),
        end.limit
    )
}

fn killed(met: MetLimit, run: &RunVerdict) -> String {
    let place = XPosition::new(met.at, run.x_unit);
    let range = match (met.earliest, met.latest) {
        (Some(earliest), Some(latest)) => format!(" ({:.0}–{:.0})", earliest.0, latest.0),
        (Some(earliest), None) => format!(" (not before {:.0})", earliest.0),
        _ => String::new(),
    };
    let time = in_about(met.in_time);
    format!(
        "will be killed at {place} of {:.0}{range}{time}, if it continues",
        met.planned.0
    )
}

#[cfg(test)]
mod tests {
    use leveloff_classifier::units::{Amount, X};
    use leveloff_model::units::{Bytes, Seconds};

    use super::*;
    use crate::cases::{GIB, story_at_80};

    #[test]
    fn the_answer_has_the_plan_and_the_limit() {
        let mut run = story_at_80();
        assert_eq!(finishing_words(&run), None);
        run.will_finish = WillFinish::No(MetLimit {
            planned: X(663.0),
            at: X(170.0),
            earliest: Some(X(159.0)),
            latest: Some(X(185.0)),
            in_time: Some(Seconds(840.0)),
            limit: Bytes(32 << 30),
        });
        assert_eq!(
            finishing_words(&run).unwrap(),
            "will be killed at step 170 of 663 (159–185), in about 14 min, if it continues"
        );
        run.will_finish = WillFinish::Yes(AtPlannedEnd {
            planned: X(663.0),
            memory: Amount(11.2 * GIB),
            limit: Bytes(32 << 30),
        });
        let words = finishing_words(&run).unwrap();
        assert_eq!(words, "finishes: 11.2 GiB of 32.0 GiB at step 663");
    }
}
