//! A trial that is going on, in one line of a terminal.

use std::time::Duration;

use leveloff_classifier::trial::{Effect, TrialSummary};
use leveloff_model::units::Seconds;

/// How far a trial is.
#[derive(Debug, Clone)]
pub struct TrialProgress<'a> {
    /// The runs that are going on.
    pub going: Vec<GoingRun>,
    /// Changes that are decided.
    pub done: usize,
    /// All changes.
    pub changes: usize,
    /// Time since the trial began.
    pub spent: Duration,
    /// What is known so far, as [`so_far`] says it.
    pub so_far: &'a str,
}

/// A run that is going on.
#[derive(Debug, Clone)]
pub struct GoingRun {
    /// Its change.
    pub name: String,
    /// How far it is, as a share of the control run; `None` where that is not known.
    pub share: Option<f64>,
}

const BAR: usize = 10;

/// `leveloff: 3/12 ▕███       ▏ one-arena 30 % · 1m12s · growth stops with no-compile`
pub fn progress_words(progress: &TrialProgress) -> String {
    let going: Vec<String> = progress.going.iter().map(going_words).collect();
    let mut text = format!(
        "leveloff: {}/{} {}{} · {}",
        progress.done,
        progress.changes,
        bar(progress),
        going.join(", "),
        Seconds(progress.spent.as_secs_f64().floor())
    );
    if !progress.so_far.is_empty() {
        text += &format!(" · {}", progress.so_far);
    }
    text
}

fn going_words(run: &GoingRun) -> String {
    match run.share {
        Some(share) => format!("{} {:.0} %", run.name, 100.0 * share.min(1.0)),
        None => run.name.clone(),
    }
}

/// Of all changes; the runs that go on count with their part.
fn bar(progress: &TrialProgress) -> String {
    let shares = progress.going.iter().filter_map(|run| run.share);
    let done = progress.done as f64 + shares.map(|share| share.min(1.0)).sum::<f64>();
    let part = (done / progress.changes.max(1) as f64).min(1.0);
    let full = (part * BAR as f64).round() as usize;
    format!("▕{}{}▏ ", "█".repeat(full), " ".repeat(BAR - full))
}

/// What is known so far: `growth stops with no-compile; no effect: one-arena`.
pub fn so_far(trial: &TrialSummary) -> String {
    let parts = [
        ("growth stops with", Effect::Stops),
        ("less with", Effect::Reduces),
        ("no effect:", Effect::None),
    ];
    let parts = parts.into_iter().filter_map(|(words, effect)| {
        let names: Vec<&str> = trial
            .with(effect)
            .map(|(arm, _)| arm.name.as_str())
            .collect();
        (!names.is_empty()).then(|| format!("{words} {}", names.join(", ")))
    });
    parts.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_names_what_runs_and_what_is_known() {
        let progress = TrialProgress {
            going: vec![GoingRun {
                name: "one-arena".to_owned(),
                share: Some(0.5),
            }],
            done: 2,
            changes: 5,
            spent: Duration::from_secs(72),
            so_far: "growth stops with no-compile",
        };
        let line = progress_words(&progress);
        assert!(
            line.starts_with("leveloff: 2/5 ▕█████     ▏ one-arena 50 % · "),
            "{line}"
        );
        assert!(line.ends_with(" · growth stops with no-compile"), "{line}");
    }
}
