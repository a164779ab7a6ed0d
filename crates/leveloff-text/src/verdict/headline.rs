//! The first line: the verdict, since when, how high, and over how many points.

use leveloff_classifier::verdict::{
    Grade, Judgement, LevelGrade, Reason, RunVerdict, Shape, Subject, Verdict,
};

use super::{contradiction_words, growth_with_interval};
use crate::number::thousands;
use crate::subject::words;
use crate::x_position::{XPosition, stretch};

/// The verdict in a few words.
pub struct Headline<'a> {
    run: &'a RunVerdict,
    /// What follows the verdict's own words: ` since step 88 at 17.4 GiB`.
    pub rest: String,
}

impl Headline<'_> {
    /// The headline of a verdict.
    pub fn of(run: &RunVerdict) -> Headline<'_> {
        let rest = match run.verdict {
            Verdict::WarmingUp => warming_up(run),
            Verdict::Level(_) => level(run),
            Verdict::Leak(_) => leak(run),
            Verdict::Undecided => format!(": {}", short_reason(run.judgement.reason)),
        };
        let rest = match contradiction_words(run) {
            Some(unlike) if rest.starts_with(' ') => format!(", {unlike},{rest}"),
            Some(unlike) => format!(", {unlike}{rest}"),
            None => rest,
        };
        Headline { run, rest }
    }

    /// The verdict's own words: `LEVEL`.
    pub fn words(&self) -> &'static str {
        verdict_words(self.run.verdict)
    }

    /// `LEVEL since step 88 at 17.4 GiB`
    pub fn whole(&self) -> String {
        format!("{}{}", self.words(), self.rest)
    }

    /// How much was measured: `steps 10–80`, `12 min`, `8 points`.
    pub fn facts(&self) -> Vec<String> {
        let unit = self.run.x_unit;
        let span = self.run.span.map(|span| stretch(span, unit));
        let duration = self.run.duration.map(|duration| duration.to_string());
        let points = match self.run.points {
            1 => "1 point".to_owned(),
            points => format!("{} points", thousands(points)),
        };
        let mut facts: Vec<String> = span.into_iter().chain(duration).collect();
        // A curve over time is as long as it took.
        facts.dedup();
        facts.push(points);
        facts
    }
}

/// The verdict in one line, with growth and risk if there is any.
pub fn line(verdict: &RunVerdict) -> String {
    with_growth_and_risk(Headline::of(verdict).whole(), verdict)
}

/// The same of a run that has ended: its warmup does not go on.
pub fn line_of_ended(verdict: &RunVerdict) -> String {
    let headline = match verdict.verdict {
        Verdict::WarmingUp => {
            let longer = verdict.judgement.decide_by.map_or_else(String::new, |by| {
                let place = XPosition::new(by.if_it_goes_on, verdict.x_unit);
                format!("; a leak if it had gone on like this until {place}")
            });
            let words = verdict_words(verdict.verdict);
            format!("{words}: it ended too early to tell{longer}")
        }
        _ => Headline::of(verdict).whole(),
    };
    with_growth_and_risk(headline, verdict)
}

fn with_growth_and_risk(headline: String, verdict: &RunVerdict) -> String {
    let mut parts = vec![headline];
    parts.extend(growth_with_interval(verdict));
    if let Some(risk) = &verdict.risk {
        let place = XPosition::new(risk.at_x, verdict.x_unit);
        parts.push(format!("{} at {place} if it goes on", risk.limit));
    }
    parts.join(" · ")
}

/// The verdict alone, in capitals.
pub fn verdict_words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::WarmingUp => "WARMING UP",
        Verdict::Level(LevelGrade::Early) => "LEVEL (early)",
        Verdict::Level(LevelGrade::Confirmed) => "LEVEL",
        Verdict::Leak(Grade::Suspected) => "LEAK (suspected)",
        Verdict::Leak(Grade::Early) => "LEAK (early)",
        Verdict::Leak(Grade::Confirmed) => "LEAK (confirmed)",
        Verdict::Undecided => "UNDECIDED",
    }
}

/// Why it is undecided, in a few words.
pub fn short_reason(reason: Reason) -> &'static str {
    match reason {
        Reason::TooFewPoints { .. } => "too few points",
        Reason::YoungGrowth => "growing, with no sign of slowing",
        Reason::Bending => "growth is slowing",
        Reason::NoisyGrowth => "noise hides any growth",
        Reason::ShortPlateau => "growth stopped too recently",
        Reason::FillsMapping => "filling a reserved mapping",
        Reason::FirstEpoch => "growing within the first epoch",
        Reason::Outlived => "growing for longer than healthy warmups",
        Reason::PastHorizon => "growing past its horizon",
        Reason::Jumps => "memory jumped",
        Reason::Steady => "no growth so far",
        Reason::Returns => "rises and falls back",
        Reason::AtCeiling => "at the limit, not level",
        Reason::Falls => "falling",
        Reason::Immaterial => "growth is below the reporting threshold",
        Reason::Wanders => "fluctuates without a trend",
        Reason::Unexcused => "growing, with no known reason to stop",
        Reason::CeilingWithinPlan => "growing slowly, and reaches the limit before the planned end",
        Reason::LowPower => "noise would hide a leak",
        Reason::Reproduced => "growing at every call after the first ones",
    }
}

/// Whether it was level from the first sample on. A start-up that is not judged may have grown.
pub fn is_from_the_start(judgement: &Judgement) -> bool {
    let start = judgement.span.map(|span| span.0);
    start.is_some() && start == judgement.level_since_x && judgement.startup_end.is_none()
}

fn warming_up(run: &RunVerdict) -> String {
    match run.judgement.decide_by {
        Some(by) => {
            let place = XPosition::new(by.if_it_goes_on, run.x_unit);
            format!(": a leak from {place} on if it continues")
        }
        None => ": cannot be decided yet".to_owned(),
    }
}

fn level(run: &RunVerdict) -> String {
    let judgement = &run.judgement;
    let level = |before: &str| match judgement.level {
        Some(level) => format!("{before}{}", level.bytes()),
        None => String::new(),
    };
    if run.shape == Shape::Shrinking {
        return format!(" and shrinking{}", level(", now "));
    }
    let at = level(" at ");
    match judgement.level_since_x {
        Some(_) if is_from_the_start(judgement) => format!(" from the start{at}"),
        Some(since) => format!(" since {}{at}", XPosition::new(since, run.x_unit)),
        None => at,
    }
}

/// What leaks, unless it is the run's memory, and since when.
pub fn leak(run: &RunVerdict) -> String {
    let of = match run.decisive {
        Subject::Memory => String::new(),
        subject => format!(" of {}", words(subject)),
    };
    let since = run.judgement.onset_x.map_or_else(String::new, |onset| {
        format!(" since {}", XPosition::new(onset, run.x_unit))
    });
    format!("{of}{since}")
}

#[cfg(test)]
mod tests {
    use leveloff_classifier::units::X;

    use super::*;
    use crate::cases::{judgement, leak, run, story_at_80};

    #[test]
    fn a_run_that_loaded_first_is_not_level_from_the_start() {
        let mut level = judgement(
            Verdict::Level(LevelGrade::Confirmed),
            Shape::Flat,
            Reason::Steady,
        );
        level.level_since_x = level.span.map(|span| span.0);
        assert!(line(&run(level.clone())).starts_with("LEVEL from the start"));
        level.startup_end = Some(X(10.0));
        assert!(line(&run(level)).starts_with("LEVEL since step 10"));
    }

    #[test]
    fn a_run_that_ended_in_its_warmup_does_not_go_on() {
        let ended = line_of_ended(&story_at_80());
        assert!(
            ended.starts_with(
                "WARMING UP: it ended too early to tell; a leak if it had gone on like this until step 379"
            ),
            "{ended}"
        );
        assert_eq!(line_of_ended(&leak()), line(&leak()));
    }
}
