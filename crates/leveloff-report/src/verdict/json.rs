//! A verdict for programs: one JSON object a line, every key always there.
//!
//! The names up to `points` are a contract; more only come after them. What is not known is null.

use leveloff_classifier::verdict::{
    Because, Blame, Clock, ClockTick, Finding, Judgement, Kind, RunVerdict,
};
use leveloff_text::judged::{Judged, Look};
use leveloff_text::subject::{in_bytes, parts, things};
use serde::{Serialize, Serializer};

/// The object for a verdict, without the end of its line.
pub fn object(judged: &Judged) -> String {
    to_line(&Row::of(judged))
}

/// The object for an input that could not be judged.
pub fn error(input: &str, error: &str) -> String {
    to_line(&ErrorRow { input, error })
}

/// Any row as one line.
pub(crate) fn to_line(row: &impl Serialize) -> String {
    serde_json::to_string(row).expect("rows have no keys but text, and numbers that are finite")
}

#[derive(Serialize)]
struct ErrorRow<'a> {
    input: &'a str,
    error: &'a str,
}

/// The fields of a verdict, which other documents have as well.
#[derive(Serialize)]
pub(crate) struct Row<'a> {
    input: &'a str,
    verdict: &'static str,
    grade: Option<&'static str>,
    shape: &'static str,
    x_unit: &'static str,
    rate_bytes: Plain,
    rate_low_bytes: Plain,
    rate_high_bytes: Plain,
    onset_x: Plain,
    level_bytes: Plain,
    level_since_x: Plain,
    decided_at_x: Plain,
    decide_by_x: Plain,
    limit_at_x: Plain,
    blame: Vec<BlameRow>,
    findings: Vec<FindingRow<'a>>,
    points: u64,
    limit_low_x: Plain,
    limit_high_x: Plain,
    limit_bytes: Option<u64>,
    limit_kind: Option<&'static str>,
    limit_in_s: Plain,
    decide_by_if_level_x: Plain,
    because: &'static str,
    healthy_share: Plain,
    decisive: DecisiveRow,
    memory_verdict: &'static str,
    clock: Option<ClockRow>,
    noise_bytes: Plain,
    autocorrelation: Plain,
    period_x: Plain,
    material_bytes: Plain,
    pace_s: Plain,
    duration_s: Plain,
    first_x: Plain,
    last_x: Plain,
    first_bytes: Plain,
    peak_bytes: Plain,
    last_bytes: Plain,
    notes: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    trajectory: Vec<LookRow>,
}

#[derive(Serialize)]
struct BlameRow {
    role: Option<&'static str>,
    pid: Option<i32>,
    kind: Option<&'static str>,
    share: Plain,
    growth_bytes: Plain,
}

#[derive(Serialize)]
struct FindingRow<'a> {
    name: &'static str,
    text: &'a str,
    next: &'a str,
}

/// The series that decided, in its own unit.
#[derive(Serialize)]
struct DecisiveRow {
    series: &'static str,
    role: Option<&'static str>,
    pid: Option<i32>,
    kind: Option<&'static str>,
    unit: &'static str,
    rate: Plain,
    rate_low: Plain,
    rate_high: Plain,
    level: Plain,
}

#[derive(Serialize)]
struct ClockRow {
    tick: &'static str,
    growth_bytes: Plain,
    ticks: u64,
    every_x: Plain,
}

#[derive(Serialize)]
struct LookRow {
    x: Plain,
    verdict: &'static str,
    grade: Option<&'static str>,
    shape: &'static str,
}

/// A number as one would write it: whole ones without a fraction, and what is none as null.
#[derive(Clone, Copy)]
pub(crate) struct Plain(pub(crate) Option<f64>);

impl<'a> Row<'a> {
    /// The fields of this verdict.
    pub(crate) fn of(judged: &Judged<'a>) -> Row<'a> {
        let verdict = judged.verdict;
        let decisive = &verdict.judgement;
        let memory = &verdict.memory;
        let bytes = in_bytes(verdict);
        let risk = verdict.risk.as_ref();
        Row {
            input: judged.input,
            verdict: verdict.verdict.name(),
            grade: verdict
                .verdict
                .grade()
                .map(leveloff_classifier::verdict::Grade::name),
            shape: verdict.shape.name(),
            x_unit: verdict.x_unit.name(),
            rate_bytes: Plain(bytes.rate.map(|rate| rate.value)),
            rate_low_bytes: Plain(bytes.rate.map(|rate| rate.low)),
            rate_high_bytes: Plain(bytes.rate.map(|rate| rate.high)),
            onset_x: Plain(decisive.onset_x),
            level_bytes: Plain(bytes.level.map(f64::round)),
            level_since_x: Plain(bytes.level_since_x),
            decided_at_x: Plain(decisive.decided_at_x),
            decide_by_x: Plain(decisive.decide_by.map(|by| by.if_it_goes_on)),
            limit_at_x: Plain(risk.map(|risk| risk.at_x)),
            blame: verdict.blame.iter().map(BlameRow::of).collect(),
            findings: verdict.findings.iter().map(FindingRow::of).collect(),
            points: verdict.points,
            limit_low_x: Plain(risk.map(|risk| risk.earliest_x)),
            limit_high_x: Plain(risk.and_then(|risk| risk.latest_x)),
            limit_bytes: risk.map(|risk| risk.limit.0),
            limit_kind: risk.map(|risk| risk.kind.name()),
            limit_in_s: Plain(risk.and_then(|risk| risk.in_time).map(|time| time.0)),
            decide_by_if_level_x: Plain(decisive.decide_by.map(|by| by.if_it_levels)),
            because: because_name(decisive.because),
            healthy_share: Plain(decisive.healthy_share),
            decisive: DecisiveRow::of(verdict),
            memory_verdict: memory.verdict.name(),
            clock: verdict.clock.as_ref().map(ClockRow::of),
            noise_bytes: Plain(Some(bytes.noise)),
            autocorrelation: Plain(Some(bytes.autocorrelation)),
            period_x: Plain(decisive.period),
            material_bytes: Plain(Some(bytes.material)),
            pace_s: Plain(verdict.pace.map(|pace| pace.0)),
            duration_s: Plain(verdict.duration.map(|duration| duration.0)),
            first_x: Plain(verdict.span.map(|span| span.0)),
            last_x: Plain(verdict.span.map(|span| span.1)),
            first_bytes: Plain(memory.extremes.map(|extremes| extremes.first)),
            peak_bytes: Plain(memory.extremes.map(|extremes| extremes.peak)),
            last_bytes: Plain(memory.extremes.map(|extremes| extremes.last)),
            notes: judged.notes,
            trajectory: judged.looks.iter().map(LookRow::of).collect(),
        }
    }
}

impl Row<'_> {
    /// For sources that know roles, and nothing of processes or kinds.
    pub(crate) fn forget_processes(&mut self) {
        for blame in &mut self.blame {
            (blame.pid, blame.kind) = (None, None);
        }
    }
}

impl BlameRow {
    fn of(blame: &Blame) -> BlameRow {
        BlameRow {
            role: blame.role.map(leveloff_model::process::Role::name),
            pid: blame.pid.map(|pid| pid.0),
            kind: Some(blame.kind.name()),
            share: Plain(Some(blame.share)),
            growth_bytes: Plain((blame.kind != Kind::Descriptors).then_some(blame.growth)),
        }
    }
}

impl FindingRow<'_> {
    fn of(finding: &Finding) -> FindingRow<'_> {
        FindingRow {
            name: finding.name,
            text: &finding.text,
            next: &finding.next,
        }
    }
}

impl DecisiveRow {
    fn of(verdict: &RunVerdict) -> DecisiveRow {
        let Judgement { rate, level, .. } = verdict.judgement;
        let parts = parts(verdict.decisive);
        DecisiveRow {
            series: parts.series,
            role: parts.role.map(leveloff_model::process::Role::name),
            pid: parts.pid.map(|pid| pid.0),
            kind: parts.kind.map(leveloff_classifier::verdict::Kind::name),
            unit: things(verdict.decisive).map_or("bytes", |_| "count"),
            rate: Plain(rate.map(|rate| rate.value)),
            rate_low: Plain(rate.map(|rate| rate.low)),
            rate_high: Plain(rate.map(|rate| rate.high)),
            level: Plain(level),
        }
    }
}

impl ClockRow {
    fn of(clock: &Clock) -> ClockRow {
        ClockRow {
            tick: match clock.tick {
                ClockTick::Step => "step",
                ClockTick::Evaluation => "evaluation",
                ClockTick::Checkpoint => "checkpoint",
                ClockTick::Epoch => "epoch",
                ClockTick::Regular => "regular",
            },
            growth_bytes: Plain(Some(clock.growth)),
            ticks: clock.ticks,
            every_x: Plain(clock.every),
        }
    }
}

impl LookRow {
    fn of(look: &Look) -> LookRow {
        LookRow {
            x: Plain(look.x),
            verdict: look.verdict.name(),
            grade: look
                .verdict
                .grade()
                .map(leveloff_classifier::verdict::Grade::name),
            shape: look.shape.name(),
        }
    }
}

impl Serialize for Plain {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// Whole numbers up to here are exact in a double.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        match self.0.filter(|number| number.is_finite()) {
            None => serializer.serialize_none(),
            Some(n) if n.fract() == 0.0 && n.abs() < EXACT => serializer.serialize_i64(n as i64),
            Some(n) => serializer.serialize_f64(n),
        }
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
