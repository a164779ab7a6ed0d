//! The reason for each verdict in one sentence, and what would settle an open one.

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::units::Amount;
use leveloff_classifier::verdict::{Grade, Judgement, Rate, Reason, RunVerdict, Verdict};
use leveloff_model::recording::StatedFacts;

use super::rate_words;
use crate::number::thousands;
use crate::rate::amount;
use crate::subject::things;
use crate::x_position::{XPosition, extent};

/// Why this verdict was given.
pub fn sentence(run: &RunVerdict, stated: &StatedFacts) -> String {
    let judgement = &run.judgement;
    match judgement.reason {
        Reason::TooFewPoints { missing } => {
            format!("{} needed for a verdict", more_points(missing))
        }
        Reason::YoungGrowth => with_share("no sign of slowing", judgement),
        Reason::Bending => {
            let slowing = "growth is slowing, as in a warmup that ends and in some leaks";
            with_share(slowing, judgement)
        }
        Reason::NoisyGrowth => format!(
            "may be growing: noise of ±{} is large enough to hide it",
            spread(run, judgement.noise)
        ),
        Reason::ShortPlateau => {
            "grew, and has been flat for too short a time to count as level".to_owned()
        }
        Reason::FirstEpoch => first_epoch(run),
        Reason::FillsMapping => fills_mapping(run),
        Reason::Outlived => outlived(judgement),
        Reason::PastHorizon => past_horizon(run, stated),
        Reason::Jumps => jumps(run),
        Reason::Steady => format!(
            "no growth above the reporting threshold of {}",
            spread(run, judgement.material)
        ),
        Reason::Returns => returns(run),
        Reason::AtCeiling => {
            "rose steeply and stopped at the limit: the limit holds it, it did not level off"
                .to_owned()
        }
        Reason::Falls => "falling".to_owned(),
        Reason::Immaterial => immaterial(run),
        Reason::Wanders => wanders(run),
        Reason::Unexcused => with_share(
            "growth is straight through the newer half of the run, with no known reason to stop",
            judgement,
        ),
        Reason::CeilingWithinPlan => {
            "grows slowly but certainly, and reaches the limit before the planned end".to_owned()
        }
        Reason::Reproduced => {
            "grows straight after its first points: a loop that reproduces a leak warms up within a few calls"
                .to_owned()
        }
        Reason::LowPower => hidden(run).unwrap_or_else(|| "noise would hide a leak".to_owned()),
    }
}

/// Noise moves memory by a few of its standard deviations; what moves it further is no noise.
const NOISE_MOVES: f64 = 10.0;

/// `fluctuates by ±12 MiB`, or how far it came back where that is no noise: evaluations come and go.
fn wanders(run: &RunVerdict) -> String {
    let judgement = &run.judgement;
    let noise = spread(run, judgement.noise);
    let far = judgement
        .extremes
        .filter(|extremes| extremes.peak.0 - extremes.last.0 > NOISE_MOVES * judgement.noise.0);
    match far {
        Some(extremes) => format!(
            "reached {} and is at {} now: moves by far more than its noise of ±{noise}, but without a steady trend",
            spread(run, extremes.peak),
            spread(run, extremes.last)
        ),
        None => format!("fluctuates by ±{noise} without a trend that stands out from this noise"),
    }
}

fn first_epoch(run: &RunVerdict) -> String {
    let what = "grows within the first epoch, where a data cache may still be filling";
    match run
        .judgement
        .full_cache
        .filter(|_| things(run.decisive).is_none())
    {
        Some(full) => {
            let (amount, at) = (full.amount.bytes(), XPosition::new(full.at, run.x_unit));
            format!("{what}: if it goes on, {amount} at {at}, where that epoch ends")
        }
        None => what.to_owned(),
    }
}

/// `fills a mapping of 600 MiB that was reserved at once: full at step 600`
fn fills_mapping(run: &RunVerdict) -> String {
    match run.judgement.full_mapping {
        Some(full) => {
            let (size, at) = (full.size.bytes(), XPosition::new(full.at, run.x_unit));
            format!("fills a mapping of {size} that was reserved at once: full at {at}")
        }
        None => "fills a mapping that was reserved at once".to_owned(),
    }
}

/// The growth that cannot be ruled out, and what would rule it out. Of few points, growth that would not matter is open as well.
pub fn hidden(run: &RunVerdict) -> Option<String> {
    let hidden = run.judgement.hidden?;
    let more = extent(hidden.decided_after, run.x_unit);
    if hidden.adds <= run.judgement.material {
        let points = thousands(run.judgement.points);
        return Some(format!(
            "{points} points are too few to rule out growth; {more} more would decide"
        ));
    }
    let rate = rate_words(Rate::at_most(hidden.rate), run);
    let adds = spread(run, hidden.adds);
    let by = XPosition::new(hidden.by, run.x_unit);
    Some(format!(
        "growth up to {rate} cannot be ruled out, which would add {adds} by {by}; {more} more would decide"
    ))
}

/// What would decide an open verdict and when, line by line.
pub fn settling(run: &RunVerdict, stated: &StatedFacts) -> Vec<String> {
    let judgement = &run.judgement;
    let Some(by) = judgement.decide_by else {
        return vec![what_would_settle(judgement).to_owned()];
    };
    let place = |x| XPosition::new(x, run.x_unit);
    let leak = place(by.if_it_goes_on);
    let after = extent(by.level_after, run.x_unit);
    let mut lines = vec![match judgement.reason {
        Reason::TooFewPoints { .. } if by.if_it_levels == by.if_it_goes_on => {
            format!("about {leak}, either way")
        }
        Reason::TooFewPoints { .. } => {
            let level = place(by.if_it_levels);
            format!("about {level} if it is level, as a leak not before {leak}")
        }
        _ if run.verdict == Verdict::Undecided => {
            format!("as level after about {after} without growth, as a leak at {leak} if it grows")
        }
        _ => format!("as a leak at {leak} if it continues, as level about {after} after it stops"),
    }];
    if matches!(
        run.verdict,
        Verdict::WarmingUp | Verdict::Leak(Grade::Suspected)
    ) {
        lines.extend(horizon(run, stated));
    }
    lines
}

fn past_horizon(run: &RunVerdict, stated: &StatedFacts) -> String {
    match (stated.level_by, stated.level_by_time) {
        (Some(step), _) => format!("still growing after step {step}, the stated horizon"),
        (None, Some(time)) => format!("still growing after {time}, the stated horizon"),
        (None, None) => match run.horizon {
            Some(by) => {
                let place = XPosition::new(by, run.x_unit);
                format!("still growing after {place}, where earlier runs were level")
            }
            None => "still growing after the stated horizon".to_owned(),
        },
    }
}

/// The stated horizon, or how to state one. A horizon in steps decides only growth over steps.
fn horizon(run: &RunVerdict, stated: &StatedFacts) -> Option<String> {
    if run.history.is_some() {
        return None;
    }
    match (run.x_unit, stated.level_by, stated.level_by_time) {
        (XUnit::Step, Some(step), _) => Some(format!("stated horizon: level by step {step}")),
        (XUnit::Step | XUnit::Second, _, Some(time)) => {
            Some(format!("stated horizon: level by {time}"))
        }
        (XUnit::Step, None, None) => {
            Some("state a horizon to decide sooner: --level-by STEPS".to_owned())
        }
        (XUnit::Second, None, None) => {
            Some("state a horizon to decide sooner: --level-by TIME".to_owned())
        }
        _ => None,
    }
}

/// What would decide a verdict for which no step can be named.
fn what_would_settle(judgement: &Judgement) -> &'static str {
    match judgement.reason {
        Reason::TooFewPoints { .. } => "by a longer recording, or a shorter --interval",
        Reason::AtCeiling => "by a run with a higher limit",
        Reason::FirstEpoch => "by the first steps of the second epoch",
        Reason::NoisyGrowth | Reason::Wanders => {
            "by a run twice as long; samples at the same point of each step are less noisy"
        }
        Reason::Jumps => "by whether memory jumps again",
        _ => "by a run twice as long",
    }
}

fn more_points(missing: u64) -> String {
    match missing {
        1 => "1 more point is".to_owned(),
        missing => format!("{missing} more points are"),
    }
}

fn with_share(what: &str, judgement: &Judgement) -> String {
    match judgement.healthy_share {
        Some(share) => format!(
            "{what}; {} of healthy warmups are still growing at this age",
            percent(share)
        ),
        None => what.to_owned(),
    }
}

fn outlived(judgement: &Judgement) -> String {
    match judgement.healthy_share {
        Some(share) => format!(
            "growing for longer than healthy warmups: {} of them still grow at this age",
            percent(share)
        ),
        None => "growing for longer than healthy warmups".to_owned(),
    }
}

fn jumps(run: &RunVerdict) -> String {
    let every = run.judgement.period.map_or_else(String::new, |period| {
        format!(", about every {}", extent(period, run.x_unit))
    });
    match run.verdict {
        Verdict::Leak(_) => format!("grows in lasting jumps{every}"),
        _ => format!("grew in lasting jumps{every}"),
    }
}

fn returns(run: &RunVerdict) -> String {
    match run.judgement.period {
        Some(period) => format!(
            "rises and falls back about every {}; its low points do not rise",
            extent(period, run.x_unit)
        ),
        None => "rises and falls back; its low points do not rise".to_owned(),
    }
}

/// `grows by 22 KiB per step: below the reporting threshold of 4.00 MiB in total`
fn immaterial(run: &RunVerdict) -> String {
    let threshold = spread(run, run.judgement.material);
    let rate = run.judgement.rate;
    let by = rate.map_or_else(String::new, |rate| format!(" by {}", rate_words(rate, run)));
    format!("grows{by}: below the reporting threshold of {threshold} in total")
}

/// A size in the unit of the series that decided.
fn spread(run: &RunVerdict, Amount(size): Amount) -> String {
    match things(run.decisive) {
        Some(things) => format!("{size:.1} {things}"),
        None => amount(size),
    }
}

/// A share, with a decimal where it is small: "0 %" would claim certainty.
fn percent(share: f64) -> String {
    match share * 100.0 {
        p if p < 0.1 => "less than 0.1 %".to_owned(),
        p if p < 9.95 => format!("{p:.1} %"),
        p => format!("{p:.0} %"),
    }
}

#[cfg(test)]
mod tests {
    use leveloff_classifier::units::{AmountPerX, X};
    use leveloff_classifier::verdict::{HiddenGrowth, LevelGrade, Shape};

    use super::*;
    use crate::cases::{judgement, run};

    #[test]
    fn of_few_points_it_is_their_number_that_is_open_and_no_harmless_amount() {
        let mut level = judgement(
            Verdict::Level(LevelGrade::Early),
            Shape::Flat,
            Reason::Steady,
        );
        let mut hidden = |adds| {
            level.hidden = Some(HiddenGrowth {
                rate: AmountPerX(adds / 70.0),
                adds: Amount(adds),
                by: X(150.0),
                decided_after: X(20.0),
            });
            super::hidden(&run(level.clone())).unwrap()
        };
        assert_eq!(
            hidden(2e3),
            "8 points are too few to rule out growth; 20 steps more would decide"
        );
        let large = hidden(1e9);
        assert!(
            large.contains("which would add 954 MiB by step 150"),
            "{large}"
        );
    }
}
