//! The rows of a trial, as text and Markdown show them.

use leveloff_classifier::trial::{ArmResult, ArmState, ArmSummary};
use leveloff_classifier::verdict::Rate;
use leveloff_text::rate::{MemoryRate, amount};
use leveloff_text::trial::{effect_words, speed_words};

use super::TrialReport;

/// The names of the columns.
pub(super) const COLUMNS: [&str; 6] = ["change", "effect", "growth", "memory", "speed", "runs"];

/// A row for the control runs, and one for each change that was measured.
pub(super) fn rows(trial: &TrialReport) -> Vec<[String; 6]> {
    let arms = &trial.summary.arms;
    let measured: Vec<(&ArmSummary, &ArmResult, u32)> = arms
        .iter()
        .filter_map(|arm| match &arm.state {
            ArmState::Measured { result, runs } => Some((arm, result, *runs)),
            _ => None,
        })
        .collect();
    let control = measured.first().map(|(_, result, _)| {
        let level = trial.summary.control_runs.last();
        [
            "control".to_owned(),
            String::new(),
            rate(trial, result.control),
            level.map_or_else(String::new, |run| amount(run.level.0)),
            String::new(),
            trial.summary.control_runs.len().to_string(),
        ]
    });
    let row = |(arm, result, runs): (&ArmSummary, &ArmResult, u32)| {
        let effect = effect_words(result.effect);
        [
            arm.name.clone(),
            match trial.summary.is_unconfirmed(arm) {
                true => format!("{effect} (once)"),
                false => effect.to_owned(),
            },
            rate(trial, result.growth),
            amount(result.level.0),
            result.speed.map_or_else(String::new, speed_words),
            runs.to_string(),
        ]
    };
    control
        .into_iter()
        .chain(measured.into_iter().map(row))
        .collect()
}

fn rate(trial: &TrialReport, rate: Rate) -> String {
    MemoryRate::new(rate, trial.summary.unit).with_interval()
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
