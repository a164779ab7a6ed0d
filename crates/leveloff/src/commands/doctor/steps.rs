//! Where the steps of a run are read from.

use std::time::SystemTime;

use anyhow::Result;
use leveloff_model::process::{Pid, ProcessIndex};
use leveloff_model::units::Seconds;
use leveloff_sampler::find::{self, FindOptions};
use leveloff_sampler::proc_root::ProcRoot;
use leveloff_sampler::progress::{ProgressOptions, ProgressTracker};
use leveloff_text::steps;

use super::Check;

/// Moments of a recording at which its sources are polled: each search for files is due once, and at the last one
/// missing steps are reported.
const MOMENTS: [f64; 4] = [0.0, 2.0, 5.0, 60.0];

/// Reads the sources of the run that a process belongs to as a recorder does, once.
pub(super) fn check(proc_root: &ProcRoot, pid: Pid) -> Result<Check> {
    let trainer = trainer_of(proc_root, pid)?;
    let mut tracker = ProgressTracker::new(ProgressOptions::default())?;
    tracker.watch_process(proc_root, ProcessIndex(0), trainer, None);
    let mut missing = None;
    for t in MOMENTS {
        missing = tracker.poll(Seconds(t), SystemTime::now()).missing;
    }
    let progress = tracker.progress();
    Ok(
        match (steps::position(progress), steps::source_words(progress)) {
            (Some(position), Some(source)) => Check::ok(
                "steps",
                format!("{position} of process {trainer}: {source}"),
            ),
            _ => {
                let [seen, cures] = steps::missing_parts(&missing.unwrap_or_default());
                Check::missing("steps", format!("process {trainer}: {seen}"), cures)
            }
        },
    )
}

/// The trainer with the lowest rank, or the process itself.
fn trainer_of(proc_root: &ProcRoot, pid: Pid) -> Result<Pid> {
    let options = FindOptions {
        pid: Some(pid),
        ..FindOptions::default()
    };
    let found = find::find(proc_root, &options)?;
    let trainers = found.runs.first().map(find::Run::trainers);
    let first = trainers.and_then(|trainers| Some(trainers.first()?.facts.pid()));
    Ok(first.unwrap_or(pid))
}
