//! The rows of a trial, as text and Markdown show them.

use leveloff_classifier::trial::{ArmResult, ArmState, ArmSummary};
use leveloff_classifier::verdict::Rate;
use leveloff_text::rate::change_with_interval;
use leveloff_text::trial::{effect_words, speed_cell};

use super::TrialReport;

/// The names of the columns.
pub(super) fn columns(trial: &TrialReport) -> [String; 5] {
    let growth = format!("growth per {}", trial.summary.unit.name());
    ["change", "effect", &growth, "speed", "runs"].map(str::to_owned)
}

/// A row for the control runs, and one for each change that was measured.
pub(super) fn rows(trial: &TrialReport) -> Vec<[String; 5]> {
    let mut rows: Vec<[String; 5]> = Vec::new();
    for arm in &trial.summary.arms {
        if let ArmState::Measured { result, runs } = &arm.state {
            if rows.is_empty() {
                rows.push(control_row(trial, result));
            }
            rows.push(arm_row(trial, arm, result, *runs));
        }
    }
    rows
}

fn control_row(trial: &TrialReport, result: &ArmResult) -> [String; 5] {
    [
        "control".to_owned(),
        String::new(),
        growth(result.control),
        String::new(),
        trial.summary.control_runs.len().to_string(),
    ]
}

fn arm_row(trial: &TrialReport, arm: &ArmSummary, result: &ArmResult, runs: u32) -> [String; 5] {
    let effect = effect_words(result.effect);
    [
        arm.name.clone(),
        match trial.summary.is_unconfirmed(arm) {
            true => format!("{effect} (once)"),
            false => effect.to_owned(),
        },
        growth(result.growth),
        result.speed.map_or_else(String::new, speed_cell),
        runs.to_string(),
    ]
}

fn growth(rate: Rate) -> String {
    change_with_interval(rate.value.0, rate.low.0, rate.high.0)
}

/// What was not measured, with the reason.
pub(super) fn unmeasured(trial: &TrialReport) -> Vec<String> {
    let arms = trial.summary.arms.iter();
    arms.filter_map(|arm| match &arm.state {
        ArmState::Measured { .. } => None,
        ArmState::Failed(why) => Some(format!("{}: not measured: {why}", arm.name)),
        ArmState::NotApplicable(why) => Some(format!("{}: not tried: {why}", arm.name)),
        ArmState::NotRun => Some(format!("{}: not tried: the trial ended before", arm.name)),
    })
    .collect()
}
