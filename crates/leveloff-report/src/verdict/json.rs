//! A verdict for programs: one JSON object a line, every key always there.
//!
//! The keys up to `points` are a contract; new ones come after them. What is not known is null.

use leveloff_classifier::finding::Finding;
use leveloff_classifier::verdict::{Because, Blame, Clock, ClockTick, Grade, Kind, RunVerdict};
use leveloff_model::process::Role;
use leveloff_text::finding::finding_words;
use leveloff_text::judged::{Judged, Look};
use leveloff_text::subject::{in_bytes, parts, things};
use serde_json::Value;

use crate::json::{list, merged, object};

/// The object for a verdict, without the end of its line.
pub fn object(judged: &Judged) -> String {
    row(judged).to_string()
}

/// The object for an input that could not be judged.
pub fn error(input: &str, error: &str) -> String {
    object! { input: input, error: error }.to_string()
}

/// The fields of a verdict, which other documents have as well.
pub(crate) fn row(judged: &Judged) -> Value {
    let run = judged.verdict;
    let looks = judged.looks;
    merged([
        object! { input: judged.input },
        contract(run),
        details(run),
        object! { notes: judged.notes },
        match looks {
            [] => Value::Null,
            looks => object! { trajectory: list(looks, look_row) },
        },
    ])
}

fn contract(run: &RunVerdict) -> Value {
    let decisive = &run.judgement;
    let bytes = in_bytes(run);
    object! {
        verdict: run.verdict.name(),
        grade: run.verdict.grade().map(Grade::name),
        shape: run.shape.name(),
        x_unit: run.x_unit.name(),
        rate_bytes: bytes.rate.map(|rate| rate.value),
        rate_low_bytes: bytes.rate.map(|rate| rate.low),
        rate_high_bytes: bytes.rate.map(|rate| rate.high),
        onset_x: decisive.onset_x,
        level_bytes: bytes.level.map(|level| level.0.round()),
        level_since_x: bytes.level_since_x,
        decided_at_x: decisive.decided_at_x,
        decide_by_x: decisive.decide_by.map(|by| by.if_it_goes_on),
        limit_at_x: run.risk.map(|risk| risk.at_x),
        blame: list(&run.blame, blame_row),
        findings: list(&run.findings, finding_row),
        points: run.points,
    }
}

fn details(run: &RunVerdict) -> Value {
    let decisive = &run.judgement;
    let bytes = in_bytes(run);
    let extremes = run.memory.extremes;
    object! {
        limit_low_x: run.risk.map(|risk| risk.earliest_x),
        limit_high_x: run.risk.and_then(|risk| risk.latest_x),
        limit_bytes: run.risk.map(|risk| risk.limit.0),
        limit_kind: run.risk.map(|risk| risk.kind.name()),
        limit_in_s: run.risk.and_then(|risk| risk.in_time).map(|time| time.0),
        decide_by_if_level_x: decisive.decide_by.map(|by| by.if_it_levels),
        because: because_name(decisive.because),
        healthy_share: decisive.healthy_share,
        decisive: decisive_row(run),
        memory_verdict: run.memory.verdict.name(),
        clock: run.clock.as_ref().map(clock_row),
        noise_bytes: bytes.noise,
        autocorrelation: bytes.autocorrelation,
        period_x: decisive.period,
        material_bytes: bytes.material,
        pace_s: run.pace.map(|pace| pace.0),
        duration_s: run.duration.map(|duration| duration.0),
        first_x: run.span.map(|span| span.0),
        last_x: run.span.map(|span| span.1),
        first_bytes: extremes.map(|extremes| extremes.first),
        peak_bytes: extremes.map(|extremes| extremes.peak),
        last_bytes: extremes.map(|extremes| extremes.last),
    }
}

fn blame_row(blame: &Blame) -> Value {
    object! {
        role: blame.role.map(Role::name),
        pid: blame.pid.map(|pid| pid.0),
        kind: blame.kind.name(),
        share: blame.share,
        growth_bytes: (blame.kind != Kind::Descriptors).then_some(blame.growth),
    }
}

fn finding_row(finding: &Finding) -> Value {
    let words = finding_words(finding);
    object! { name: finding.name(), text: words.text, next: words.next }
}

/// The series that decided, in its own unit.
fn decisive_row(run: &RunVerdict) -> Value {
    let rate = run.judgement.rate;
    let parts = parts(run.decisive);
    object! {
        series: parts.series,
        role: parts.role.map(Role::name),
        pid: parts.pid.map(|pid| pid.0),
        kind: parts.kind.map(Kind::name),
        unit: things(run.decisive).map_or("bytes", |_| "count"),
        rate: rate.map(|rate| rate.value),
        rate_low: rate.map(|rate| rate.low),
        rate_high: rate.map(|rate| rate.high),
        level: run.judgement.level,
    }
}

fn clock_row(clock: &Clock) -> Value {
    object! {
        tick: match clock.tick {
            ClockTick::Step => "step",
            ClockTick::Evaluation => "evaluation",
            ClockTick::Checkpoint => "checkpoint",
            ClockTick::Epoch => "epoch",
            ClockTick::Regular => "regular",
        },
        growth_bytes: clock.growth,
        ticks: clock.ticks,
        every_x: clock.every,
    }
}

fn look_row(look: &Look) -> Value {
    object! {
        x: look.x,
        verdict: look.verdict.name(),
        grade: look.verdict.grade().map(Grade::name),
        shape: look.shape.name(),
    }
}

fn because_name(because: Because) -> &'static str {
    match because {
        Because::TooFewPoints { .. } => "too_few_points",
        Because::YoungGrowth => "young_growth",
        Because::Bending => "bending",
        Because::NoisyGrowth => "noisy_growth",
        Because::ShortPlateau => "short_plateau",
        Because::FirstEpoch => "first_epoch",
        Because::Outlived => "outlived",
        Because::PastHorizon => "past_horizon",
        Because::Jumps => "jumps",
        Because::Steady => "steady",
        Because::Returns => "returns",
        Because::AtCeiling => "at_ceiling",
        Because::Falls => "falls",
        Because::Immaterial => "immaterial",
        Because::Wanders => "wanders",
    }
}

#[cfg(test)]
mod tests;
