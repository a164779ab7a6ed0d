//! What the training counted inside, and what that did since the marker.

use leveloff_model::training_counters::TrainingCounter;
use leveloff_model::units::Bytes;
use leveloff_text::number::thousands;

use crate::run::RunState;

/// A text for each thing that the training tells, the one that is asked for first in front.
pub fn words(run: &RunState) -> Vec<String> {
    [tensors(run), malloc(run)].into_iter().flatten().collect()
}

/// `tensors level at 6,529`
fn tensors(run: &RunState) -> Option<String> {
    let (before, now) = counted(run, TrainingCounter::Tensors)?;
    let count = thousands(now);
    Some(match before {
        Some(before) if before == now => format!("tensors level at {count}"),
        Some(before) => {
            let sign = if now > before { '+' } else { '-' };
            let moved = thousands(now.abs_diff(before));
            format!("tensors {sign}{moved} to {count}")
        }
        None => format!("{count} tensors"),
    })
}

/// `malloc +1.2 GiB in use, +310 MiB kept`: what native code holds, and what was freed and not given back.
fn malloc(run: &RunState) -> Option<String> {
    let change = |fact: TrainingCounter| {
        let (before, now) = counted(run, fact)?;
        let now = Bytes(now);
        Some(before.map_or(now.to_string(), |before| {
            now.since(Bytes(before)).to_string()
        }))
    };
    let used = change(TrainingCounter::MallocUsed)?;
    let kept = change(TrainingCounter::MallocFree);
    let kept = kept.map_or_else(String::new, |kept| format!(", {kept} kept"));
    Some(format!("malloc {used} in use{kept}"))
}

/// At the marker, and now.
fn counted(run: &RunState, fact: TrainingCounter) -> Option<(Option<u64>, u64)> {
    let now = run.sample()?.progress.counters.get(fact)?;
    Some((run.marker()?.counters.get(fact), now))
}
