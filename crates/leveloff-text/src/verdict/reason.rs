//! The honest sentence behind each verdict, and what would settle the open ones.

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::units::Amount;
use leveloff_classifier::verdict::{Because, Judgement, RunVerdict, Verdict};
use leveloff_model::recording::StatedFacts;

use crate::rate::amount;
use crate::subject::things;
use crate::x_position::{XPosition, extent};

/// Why this verdict was given.
pub fn sentence(run: &RunVerdict, stated: &StatedFacts) -> String {
    let judgement = &run.judgement;
    match judgement.because {
        Because::TooFewPoints { missing } => format!(
            "{} needed before anything can be said",
            more_points(missing)
        ),
        Because::YoungGrowth => with_share("no sign of slowing", judgement),
        Because::Bending => {
            let bends = "it grows more slowly than before, as warmups do before they end, and as \
                         some leaks do";
            with_share(bends, judgement)
        }
        Because::NoisyGrowth => format!(
            "it may grow, but its noise ({} up and down) would allow for no growth as well",
            spread(run, judgement.noise)
        ),
        Because::ShortPlateau => {
            "it grew, and has been flat for too short a time to call that a level".to_owned()
        }
        Because::FirstEpoch => {
            "it grows within the first epoch, where a cache of the data may be filling".to_owned()
        }
        Because::Outlived => outlived(judgement),
        Because::PastHorizon => match stated.level_by {
            Some(step) => format!("it still grows after step {step}, the stated horizon"),
            None => "it still grows after the stated horizon".to_owned(),
        },
        Because::Jumps => jumps(run),
        Because::Steady => format!(
            "no growth worth a word (that would be {} or more)",
            spread(run, judgement.material)
        ),
        Because::Returns => returns(run),
        Because::AtCeiling => {
            "it rose steeply and stopped just at the limit: the ceiling holds it, it did not level \
             off"
            .to_owned()
        }
        Because::Falls => "it falls".to_owned(),
        Because::Immaterial => format!(
            "it grows for sure, but by less than is worth a word ({})",
            spread(run, judgement.material)
        ),
        Because::Wanders => format!(
            "it wanders ({} up and down) without a trend that this noise would allow to call one",
            spread(run, judgement.noise)
        ),
    }
}

/// What would settle an open question and by when, line by line.
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
    // A horizon in steps settles only growth over steps.
    if run.x_unit == XUnit::Step && run.verdict == Verdict::WarmingUp {
        lines.push(stated.level_by.map_or_else(
            || "state a horizon to decide sooner: --level-by STEPS".to_owned(),
            |step| format!("stated horizon: level by step {step}"),
        ));
    }
    lines
}

/// What would settle a question that has no date.
fn what_would_settle(judgement: &Judgement) -> &'static str {
    match judgement.because {
        Because::TooFewPoints { .. } => "by a longer recording, or a shorter --interval",
        Because::AtCeiling => "by a run with a higher limit, or by what the limit's owner says",
        Because::FirstEpoch => "by the first steps of the second epoch",
        Because::NoisyGrowth | Because::Wanders => {
            "by a run twice as long; samples at the same point of each step are quieter"
        }
        Because::Jumps => "by whether another jump comes",
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
            "it outlived healthy warmups: {} of them are still growing at this age",
            percent(share)
        ),
        None => "it outlived healthy warmups".to_owned(),
    }
}

fn jumps(run: &RunVerdict) -> String {
    let every = run.judgement.period.map_or_else(String::new, |period| {
        format!(", about every {}", extent(period, run.x_unit))
    });
    match run.verdict {
        Verdict::Leak(_) => format!("it grows in jumps that last{every}"),
        _ => format!("it grew in jumps that last{every}"),
    }
}

fn returns(run: &RunVerdict) -> String {
    match run.judgement.period {
        Some(period) => format!(
            "it rises and returns about every {}; what it returns to does not grow",
            extent(period, run.x_unit)
        ),
        None => "it rises and returns; what it returns to does not grow".to_owned(),
    }
}

/// A size in the unit of the series that decided.
fn spread(run: &RunVerdict, Amount(size): Amount) -> String {
    match things(run.decisive) {
        Some(things) => format!("{size:.1} {things}"),
        None => amount(size),
    }
}

/// A share, with a decimal where it is small: "0 %" would be a certainty that nobody has.
fn percent(share: f64) -> String {
    match share * 100.0 {
        p if p < 0.1 => "less than 0.1 %".to_owned(),
        p if p < 9.95 => format!("{p:.1} %"),
        p => format!("{p:.0} %"),
    }
}
