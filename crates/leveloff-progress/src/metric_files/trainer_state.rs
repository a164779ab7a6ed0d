//! The progress in a `trainer_state.json`, which the Hugging Face Trainer saves with each checkpoint.
//!
//! The file has one key in a line, sorted, with the history of all logs in the middle, so it may be long.
//! The step stands before the history and the plan behind it: the start and the end of the file are enough.

use leveloff_model::progress::StepUnit;
use leveloff_model::units::Step;

use crate::number;
use crate::update::{Plan, ProgressUpdate};

/// The progress at the time of the checkpoint; `None` when no step is found.
pub fn trainer_state(head: &[u8], tail: &[u8]) -> Option<ProgressUpdate> {
    let value = |name: &str| top_level(head, name).or_else(|| top_level(tail, name));
    let step = whole(value("global_step")?)?;
    let planned = value("max_steps")
        .and_then(whole)
        .filter(|&steps| steps > 0);
    Some(ProgressUpdate {
        step: Some(Step(step)),
        unit: Some(StepUnit::Steps),
        new_clock: Some("global_step".to_owned()),
        epoch: value("epoch").and_then(decimal),
        plan: planned.map(|steps| Plan::Steps(Step(steps))),
        ..ProgressUpdate::default()
    })
}

/// The value of a key that is indented by two spaces: that of the file itself, not of a log in its history.
fn top_level<'a>(text: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let key = format!("\n  \"{name}\": ");
    let from = memchr::memmem::find(text, key.as_bytes())? + key.len();
    let rest = &text[from..];
    let end = memchr::memchr2(b',', b'\n', rest)?;
    Some(&rest[..end])
}

fn whole(value: &[u8]) -> Option<u64> {
    let (number, rest) = number::whole(value)?;
    rest.is_empty().then_some(number)
}

fn decimal(value: &[u8]) -> Option<f64> {
    let (number, rest) = number::decimal(value)?;
    rest.is_empty().then_some(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STATE: &str = r#"{
  "best_metric": null,
  "epoch": 1.5,
  "global_step": 750,
  "log_history": [
    {
      "epoch": 0.02,
      "global_step": 3,
      "step": 10
    }
  ],
  "max_steps": 1500,
  "num_train_epochs": 3
}
"#;

    #[test]
    fn step_epoch_and_plan_are_found() {
        let (head, tail) = STATE.as_bytes().split_at(120);
        let update = trainer_state(head, tail).unwrap();
        assert_eq!(update.step, Some(Step(750)));
        assert_eq!(update.epoch, Some(1.5));
        assert_eq!(update.plan, Some(Plan::Steps(Step(1500))));
        assert_eq!(trainer_state(b"{}", b"{}"), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(cut in 0..200_usize, noise in prop::collection::vec(any::<u8>(), 0..80)) {
            let text = [&STATE.as_bytes()[..cut], &noise[..]].concat();
            let _ = trainer_state(&text, &noise);
        }
    }
}
