//! The rows of a trial, as text, Markdown and HTML show them.

use leveloff_classifier::trial::{ArmResult, ArmState, ArmSummary, TrialOutcome};
use leveloff_classifier::units::Amount;
use leveloff_classifier::verdict::Rate;
use leveloff_text::rate::{amount, change_with_interval};
use leveloff_text::trial::{effect_cell, pace_cell, speed_cell};
use leveloff_text::x_position::XPosition;

use super::TrialReport;

/// The cells of a row: name, effect, growth, memory, speed, runs.
pub(super) const CELLS: usize = 6;

/// The names of the columns.
pub(super) fn columns(trial: &TrialReport) -> [String; CELLS] {
    let unit = trial.summary.unit;
    let growth = format!("growth per {}", unit.name());
    let end = trial.summary.common_end;
    let memory = end.map_or_else(String::new, |end| {
        format!("at {}", XPosition::new(end, unit))
    });
    ["change", "effect", &growth, &memory, "speed", "runs"].map(str::to_owned)
}

/// A row for the control runs, and one for each change that was measured.
pub(super) fn rows(trial: &TrialReport) -> Vec<[String; CELLS]> {
    let mut rows: Vec<[String; CELLS]> = Vec::new();
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

fn control_row(trial: &TrialReport, result: &ArmResult) -> [String; CELLS] {
    let runs = &trial.summary.control_runs;
    let pace = runs.first().and_then(|run| run.pace);
    [
        "control".to_owned(),
        String::new(),
        growth(result.control),
        memory(trial.summary.control_memory),
        pace.map_or_else(String::new, |pace| pace_cell(pace.value)),
        runs.len().to_string(),
    ]
}

fn arm_row(
    trial: &TrialReport,
    arm: &ArmSummary,
    result: &ArmResult,
    runs: u32,
) -> [String; CELLS] {
    [
        arm.name.clone(),
        effect_cell(result.effect, trial.summary.is_unconfirmed(arm)),
        growth(result.growth),
        memory(arm.memory),
        result.speed.map_or_else(String::new, speed_cell),
        runs.to_string(),
    ]
}

fn memory(amount_there: Option<Amount>) -> String {
    amount_there.map_or_else(String::new, |there| amount(there.0))
}

fn growth(rate: Rate) -> String {
    change_with_interval(rate.value.0, rate.low.0, rate.high.0)
}

/// What was not measured, with the reason; changes with the same reason together. Nothing where nothing was to be tried.
pub(super) fn unmeasured(trial: &TrialReport) -> Vec<String> {
    if matches!(
        trial.summary.outcome(),
        TrialOutcome::NothingToCure | TrialOutcome::ControlUndecided
    ) {
        return Vec::new();
    }
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for arm in &trial.summary.arms {
        let why = match &arm.state {
            ArmState::Measured { .. } => continue,
            ArmState::Failed(why) => format!("not measured: {why}"),
            ArmState::NotApplicable(why) => format!("not tried: {why}"),
            ArmState::NotRun => "not tried: the trial ended before".to_owned(),
        };
        match reasons.iter_mut().find(|(other, _)| *other == why) {
            Some((_, names)) => names.push(&arm.name),
            None => reasons.push((why, vec![&arm.name])),
        }
    }
    let reasons = reasons.into_iter();
    reasons
        .map(|(why, names)| format!("{}: {why}", names.join(", ")))
        .collect()
}
