//! What a trial would do: for people with `--list`, for programs with `--plan`.

use leveloff_classifier::trial::BuiltInArm;
use leveloff_text::page::Page;
use leveloff_text::trial::arm_words;
use serde_json::{Value, json};

use super::arms::Arm;
use crate::args::TryArgs;

/// Every change that leveloff knows.
pub(super) fn listed() -> String {
    let mut page = Page::new();
    for arm in BuiltInArm::ALL {
        let words = arm_words(arm);
        page.line(arm.name().to_owned());
        page.row("", words.changes);
        page.row("means", words.means);
        page.gap();
    }
    page.into_text()
}

/// One JSON object: the runs in their order.
pub(super) fn object(args: &TryArgs, arms: &[Arm]) -> String {
    let command = |words: &[std::ffi::OsString]| -> Vec<String> {
        words
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect()
    };
    let arms: Vec<Value> = arms
        .iter()
        .map(|arm| {
            let variables = arm.variables.iter();
            let variables: serde_json::Map<String, Value> = variables
                .map(|(name, value)| (name.clone(), value.to_string_lossy().into()))
                .collect();
            let words = arm.built_in.map(arm_words);
            json!({
                "name": arm.name,
                "variables": variables,
                "command": command(arm.command.as_ref().unwrap_or(&args.command)),
                "changes": words.map(|words| words.changes),
                "means": words.map(|words| words.means),
                "not_applicable": arm.is_set_already(),
            })
        })
        .collect();
    let plan = json!({
        "control": command(&args.command),
        "arms": arms,
        "repeats": args.repeats,
        "max_time_s": args.max_time.as_secs_f64(),
        "steps": args.steps,
    });
    plan.to_string() + "\n"
}
