//! The reason for each verdict in one sentence, and what would settle an open one.

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::units::Amount;
use leveloff_classifier::verdict::{Because, Judgement, RunVerdict, Verdict};
use leveloff_model::recording::StatedFacts;

use super::rate_words;
use crate::rate::amount;
use crate::subject::things;
use crate::x_position::{XPosition, extent};

/// Why this verdict was given.
pub fn sentence(run: &RunVerdict, stated: &StatedFacts) -> String {
    let judgement = &run.judgement;
    match judgement.because {
        Because::TooFewPoints { missing } => {
            format!("{} needed for a verdict", more_points(missing))
        }
        Because::YoungGrowth => with_share("no sign of slowing", judgement),
        Because::Bending => {
            let slowing = "growth is slowing, as in a warmup that ends and in some leaks";
            with_share(slowing, judgement)
        }
        Because::NoisyGrowth => format!(
            "may be growing: noise of ±{} is large enough to hide it",
            spread(run, judgement.noise)
        ),
        Because::ShortPlateau => {
            "grew, and has been flat for too short a time to count as level".to_owned()
        }
        Because::FirstEpoch => {
            "grows within the first epoch, where a data cache may still be filling".to_owned()
        }
        Because::Outlived => outlived(judgement),
        Because::PastHorizon => match stated.level_by {
            Some(step) => format!("still growing after step {step}, the stated horizon"),
            None => "still growing after the stated horizon".to_owned(),
        },
        Because::Jumps => jumps(run),
        Because::Steady => format!(
            "no growth above the reporting threshold of {}",
            spread(run, judgement.material)
        ),
        Because::Returns => returns(run),
        Because::AtCeiling => {
            "rose steeply and stopped at the limit: the limit holds it, it did not level off"
                .to_owned()
        }
        Because::Falls => "falling".to_owned(),
        Because::Immaterial => immaterial(run),
        Because::Wanders => format!(
            "fluctuates by ±{} without a trend that stands out from this noise",
            spread(run, judgement.noise)
        ),
    }
}

/// What would decide an open verdict and when, line by line.
pub fn settling(run: &RunVerdict, stated: &StatedFacts) -> Vec<String> {
    let judgement = &run.judgement;
    let Some(by) = judgement.decide_by else {
        return vec![what_would_settle(judgement).to_owned()];
    };
    let place = |x| XPosition::new(x, run.x_unit);
    let (level, leak) = (place(by.if_it_levels), place(by.if_it_goes_on));
    let mut lines = vec![if level == leak {
        format!("about {leak}, either way")
    } else {
        format!("about {level} if it levels off, {leak} if it does not")
    }];
    // A horizon in steps decides only growth over steps.
    if run.x_unit == XUnit::Step && run.verdict == Verdict::WarmingUp {
        lines.push(stated.level_by.map_or_else(
            || "state a horizon to decide sooner: --level-by STEPS".to_owned(),
            |step| format!("stated horizon: level by step {step}"),
        ));
    }
    lines
}

/// What would decide a verdict for which no step can be named.
fn what_would_settle(judgement: &Judgement) -> &'static str {
    match judgement.because {
        Because::TooFewPoints { .. } => "by a longer recording, or a shorter --interval",
        Because::AtCeiling => "by a run with a higher limit",
        Because::FirstEpoch => "by the first steps of the second epoch",
        Because::NoisyGrowth | Because::Wanders => {
            "by a run twice as long; samples at the same point of each step are less noisy"
        }
        Because::Jumps => "by whether memory jumps again",
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
