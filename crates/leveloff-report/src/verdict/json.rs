//! A verdict for programs: one JSON object a line, every key always there.
//!
//! The keys up to `points` are a contract; new ones come after them. What is not known is null.

use leveloff_classifier::allocation_history::{Certainty, LineGrowth};
use leveloff_classifier::finding::Finding;
use leveloff_classifier::known_bugs::SuspectedBug;
use leveloff_classifier::speed::Speed;
use leveloff_classifier::verdict::{Blame, Clock, HistoryCheck, Kind, Reason, RunVerdict};
use leveloff_model::allocation::{Holder, StackFrame};
use leveloff_model::process::Role;
use leveloff_model::progress::{Progress, StepSource, StepUnit};
use leveloff_model::training_counters::TrainingCounter;
use leveloff_text::finding::finding_words;
use leveloff_text::judged::{Judged, Look};
use leveloff_text::known_bug::bug_words;
use leveloff_text::steps;
use leveloff_text::subject::{in_bytes, parts, things};
use leveloff_text::verdict::finishing_words;
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
        contract(judged),
        details(run),
        object! { notes: notes(judged) },
        progress_row(judged.progress),
        match &run.known_bugs[..] {
            [] => Value::Null,
            bugs => object! { known_bugs: list(bugs, known_bug_row) },
        },
        match judged.lines {
            [] => Value::Null,
            lines => object! { lines: list(lines, line_row) },
        },
        match looks {
            [] => Value::Null,
            looks => object! { trajectory: list(looks, look_row) },
        },
    ])
}

/// How fast a run goes, in units of its x.
pub(crate) fn speed_row(speed: Speed) -> Value {
    object! {
        value: speed.value,
        low: speed.low,
        high: speed.high,
    }
}

fn notes(judged: &Judged) -> Vec<String> {
    let horizon = steps::unapplied_horizon(judged.verdict, judged.stated);
    judged.notes.iter().cloned().chain(horizon).collect()
}

/// Where the steps come from, what they count, and what else the training counts.
fn progress_row(progress: Option<&Progress>) -> Value {
    let unit = |progress: &Progress| {
        let unit = progress.unit.unwrap_or(StepUnit::Steps);
        progress.step.map(|_| unit.name())
    };
    let counter = |counter| progress.and_then(|progress| progress.counters.get(counter));
    object! {
        step_source: progress.and_then(|it| it.source.as_ref()).map(source_row),
        step_unit: progress.and_then(unit),
        samples: counter(TrainingCounter::Samples),
        tokens: counter(TrainingCounter::Tokens),
        episodes: counter(TrainingCounter::Episodes),
    }
}

fn source_row(source: &StepSource) -> Value {
    object! {
        kind: source.kind.name(),
        file: source.file,
        counter: source.counter,
        pattern: source.pattern,
    }
}

fn contract(judged: &Judged) -> Value {
    let (run, lines) = (judged.verdict, judged.lines);
    let decisive = &run.judgement;
    let bytes = in_bytes(run);
    object! {
        verdict: run.verdict.name(),
        grade: run.verdict.grade_name(),
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
        blame: list(&run.blame, |blame| blame_row(blame, culprit_of(&run.blame, blame, lines))),
        findings: list(&run.findings, |finding| finding_row(finding, judged.job)),
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
        because: because_name(decisive.reason),
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
        outlook: run.will_finish.name(),
        outlook_text: finishing_words(run),
        level_after_x: decisive.decide_by.map(|by| by.level_after),
        hidden_rate: decisive.hidden.map(|hidden| hidden.rate),
        hidden_adds: decisive.hidden.map(|hidden| hidden.adds),
        hidden_by_x: decisive.hidden.map(|hidden| hidden.by),
        hidden_decided_after_x: decisive.hidden.map(|hidden| hidden.decided_after),
        full_cache_at_x: decisive.full_cache.map(|full| full.at),
        full_cache_amount: decisive.full_cache.map(|full| full.amount),
        full_mapping_at_x: decisive.full_mapping.map(|full| full.at),
        full_mapping_size: decisive.full_mapping.map(|full| full.size),
        horizon_source: run.horizon_source.name(),
        horizon_x: run.horizon,
        earlier_runs: run.history.map(history_row),
    }
}

/// Positions count from the beginning of a run.
fn history_row(history: HistoryCheck) -> Value {
    let earlier = history.earlier;
    object! {
        runs: earlier.runs,
        unit: earlier.axis.name(),
        level_from: earlier.earliest,
        level_to: earlier.latest,
        is_contradicted: history.is_contradicted,
    }
}

/// The line that made the growth of a process, if one stands out. It is named with the largest share of its process.
fn culprit_of<'a>(all: &[Blame], blame: &Blame, lines: &'a [LineGrowth]) -> Option<&'a LineGrowth> {
    let line = lines.first()?;
    let is_named = line.certainty != Certainty::Unclear;
    let mut of_process = all.iter().filter(|it| it.pid == Some(line.site.pid));
    let is_largest = of_process
        .next()
        .is_some_and(|first| std::ptr::eq(first, blame));
    (is_named && is_largest).then_some(line)
}

fn blame_row(blame: &Blame, culprit: Option<&LineGrowth>) -> Value {
    let own = culprit.and_then(|line| line.site.own_frame());
    object! {
        role: blame.role.map(Role::name),
        pid: blame.pid.map(|pid| pid.0),
        rank: blame.rank.map(|rank| rank.0),
        worker: blame.worker,
        kind: blame.kind.name(),
        share: blame.share,
        growth_bytes: (blame.kind != Kind::Descriptors).then_some(blame.growth),
        file: own.and_then(|frame| frame.file.as_deref()),
        line: own.and_then(|frame| frame.line),
        function: own.map(|frame| frame.function.as_str()),
        samples: culprit.map(|line| line.blocks),
        low: culprit.map(|line| (line.share - line.share_margin).clamp(0.0, 1.0)),
        high: culprit.map(|line| (line.share + line.share_margin).clamp(0.0, 1.0)),
    }
}

fn line_row(line: &LineGrowth) -> Value {
    let own = line.site.own_frame();
    object! {
        file: own.and_then(|frame| frame.file.as_deref()),
        line: own.and_then(|frame| frame.line),
        function: own.map(|frame| frame.function.as_str()),
        source: line.site.source,
        certainty: line.certainty.name(),
        share: line.share,
        share_margin: line.share_margin,
        growth_bytes: line.growth.0.round(),
        growth_margin_bytes: line.margin.0.round(),
        blocks: line.blocks,
        rate_bytes: line.rate.map(|rate| rate.value),
        rate_low_bytes: line.rate.map(|rate| rate.low),
        rate_high_bytes: line.rate.map(|rate| rate.high),
        kind: line.site.kind.name(),
        is_recycled: line.is_recycled,
        holder: line.holder.as_ref().map(holder_row),
        pid: line.site.pid.0,
        stack: list(&line.site.stack, frame_row),
    }
}

fn holder_row(holder: &Holder) -> Value {
    object! {
        class: holder.class,
        length: holder.length,
        kind: holder.kind.name(),
        name: holder.name,
        place: holder.place,
        blocks_kept: holder.kept,
        blocks_looked_at: holder.looked_at,
    }
}

fn frame_row(frame: &StackFrame) -> Value {
    object! {
        function: frame.function,
        file: frame.file,
        line: frame.line,
        python: frame.is_python,
    }
}

fn finding_row(finding: &Finding, job: Option<&[String]>) -> Value {
    let words = finding_words(finding);
    let experiment = words.experiment;
    object! {
        name: finding.name(),
        text: words.text,
        next: words.next,
        evidence: finding,
        experiment: object! {
            command: experiment.command_for(job),
            expected: experiment.expected,
            rules_out: experiment.rules_out,
        },
    }
}

fn known_bug_row(suspected: &SuspectedBug) -> Value {
    let words = bug_words(suspected);
    let bug = suspected.bug;
    object! {
        name: bug.name,
        text: words.text,
        next: words.next,
        link: bug.link,
        package: bug.package,
        version: suspected.version,
        fixed_in: bug.fixed_in,
    }
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
        tick: clock.tick.name(),
        coincident: clock.coincident.iter().map(|tick| tick.name()).collect::<Vec<_>>(),
        growth_bytes: clock.growth,
        ticks: clock.ticks,
        every_x: clock.every,
    }
}

fn look_row(look: &Look) -> Value {
    object! {
        x: look.x,
        verdict: look.verdict.name(),
        grade: look.verdict.grade_name(),
        shape: look.shape.name(),
    }
}

fn because_name(because: Reason) -> &'static str {
    match because {
        Reason::TooFewPoints { .. } => "too_few_points",
        Reason::YoungGrowth => "young_growth",
        Reason::Bending => "bending",
        Reason::NoisyGrowth => "noisy_growth",
        Reason::ShortPlateau => "short_plateau",
        Reason::FillsMapping => "fills_mapping",
        Reason::FirstEpoch => "first_epoch",
        Reason::Outlived => "outlived",
        Reason::PastHorizon => "past_horizon",
        Reason::Jumps => "jumps",
        Reason::Steady => "steady",
        Reason::Returns => "returns",
        Reason::AtCeiling => "at_ceiling",
        Reason::Falls => "falls",
        Reason::Immaterial => "immaterial",
        Reason::Wanders => "wanders",
        Reason::Unexcused => "unexcused",
        Reason::CeilingWithinPlan => "ceiling_within_plan",
        Reason::LowPower => "low_power",
        Reason::Reproduced => "reproduced",
    }
}

#[cfg(test)]
mod tests;
