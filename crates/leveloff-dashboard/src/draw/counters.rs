//! The training's own counters, and how they moved since growth counts.

use leveloff_classifier::run_analysis::RunAccount;
use leveloff_model::training_counters::TrainingCounter;
use leveloff_model::units::Bytes;
use leveloff_text::number::thousands;

/// A text for each counter that is known, the most useful first.
pub fn words(account: &RunAccount) -> Vec<String> {
    let words = [tensors(account), malloc(account)];
    words.into_iter().flatten().collect()
}

/// `tensors level at 6,529`
fn tensors(account: &RunAccount) -> Option<String> {
    let (before, now) = counted(account, TrainingCounter::Tensors)?;
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
fn malloc(account: &RunAccount) -> Option<String> {
    let change = |counter: TrainingCounter| {
        let (before, now) = counted(account, counter)?;
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

/// Where growth counts from, and now.
fn counted(account: &RunAccount, counter: TrainingCounter) -> Option<(Option<u64>, u64)> {
    let now = account.counters.get(counter)?;
    Some((account.counters_base.get(counter), now))
}
