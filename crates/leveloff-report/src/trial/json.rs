//! A trial for programs: one JSON object, every key always there. What is not known is null.

use leveloff_classifier::trial::{ArmResult, ArmState, ArmSummary, TrialOutcome};
use leveloff_classifier::verdict::Rate;
use leveloff_text::trial::{effect_name, family_name};
use serde_json::Value;

use super::{TrialReport, TrialRun};
use crate::json::{list, object};
use crate::verdict::json::speed_row;

/// The object, without the end of its line.
pub fn object(trial: &TrialReport) -> String {
    let summary = &trial.summary;
    let answer = trial.answer();
    let arms = summary.arms.iter().zip(&trial.arms);
    let object = object! {
        outcome: outcome_name(summary.outcome()),
        text: answer.headline,
        numbers: answer.numbers,
        follows: answer.follows,
        next: answer.next,
        command: trial.command,
        directory: trial.directory,
        x_unit: summary.unit.name(),
        from_x: summary.stretch.map(|stretch| stretch.from),
        to_x: summary.stretch.map(|stretch| stretch.to),
        control: object! {
            runs: summary.control_runs.len(),
            growth: measured(trial).map(|result| rate(result.control)),
            level_bytes: summary.control_runs.last().map(|run| run.level),
            recordings: recordings(&trial.control),
            common_bytes: summary.control_memory,
            steps_per_second: measured(trial).and_then(|it| it.control_steps_per_second).map(speed_row),
        },
        arms: list(arms, |(arm, runs)| arm_row(trial, arm, &recordings(runs))),
        notes: trial.notes,
        next_command: answer.next_command,
        common_x: summary.common_end,
        turning_points: list(summary.turning_points(), |(before, after)| object! {
            package: before.package,
            before: before.version,
            after: after.version,
        }),
    };
    object.to_string()
}

fn measured(trial: &TrialReport) -> Option<&ArmResult> {
    trial.summary.arms.iter().find_map(|arm| match &arm.state {
        ArmState::Measured { result, .. } => Some(result),
        _ => None,
    })
}

fn arm_row(trial: &TrialReport, arm: &ArmSummary, recordings: &[&str]) -> Value {
    let (result, runs) = match &arm.state {
        ArmState::Measured { result, runs } => (Some(result), *runs),
        _ => (None, 0),
    };
    let (state, why) = match &arm.state {
        ArmState::Measured { .. } => ("measured", None),
        ArmState::Failed(why) => ("failed", Some(why)),
        ArmState::NotApplicable(why) => ("not_applicable", Some(why)),
        ArmState::NotRun => ("not_run", None),
    };
    object! {
        name: arm.name,
        by_hand: arm.by_hand,
        state: state,
        why: why,
        effect: result.map(|result| effect_name(result.effect)),
        is_confirmed: result.map(|_| !trial.summary.is_unconfirmed(arm)),
        runs: runs,
        growth: result.map(|result| rate(result.growth)),
        change: result.map(|result| rate(result.change)),
        level_bytes: result.map(|result| result.level),
        control_level_bytes: result.map(|result| result.control_level),
        speed: result.and_then(|result| result.speed).map(|speed| object! {
            change: speed.value,
            low: speed.low,
            high: speed.high,
        }),
        recordings: recordings,
        steps_per_second: result.and_then(|result| result.steps_per_second).map(speed_row),
        common_bytes: arm.memory,
        family: arm.built_in.map(|arm| family_name(arm.family())),
        version: arm.version.as_ref().map(|version| &version.version),
        package: arm.version.as_ref().map(|version| &version.package),
    }
}

fn recordings(runs: &[TrialRun]) -> Vec<&str> {
    runs.iter().map(|run| run.recording.as_str()).collect()
}

fn rate(rate: Rate) -> Value {
    object! {
        bytes_per_x: rate.value,
        low: rate.low,
        high: rate.high,
    }
}

fn outcome_name(outcome: TrialOutcome) -> &'static str {
    match outcome {
        TrialOutcome::Stopped => "stopped",
        TrialOutcome::Reduced => "reduced",
        TrialOutcome::NothingHelps => "nothing_helps",
        TrialOutcome::Undecided => "undecided",
        TrialOutcome::NothingToCure => "nothing_to_cure",
        TrialOutcome::ControlUndecided => "control_undecided",
    }
}
