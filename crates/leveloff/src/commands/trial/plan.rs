//! What a trial would do: `--list` for all changes, `--plan` for those of one job.

use std::ffi::OsString;

use leveloff_classifier::finding::Finding;
use leveloff_classifier::trial::BuiltInArm;
use leveloff_text::page::Page;
use leveloff_text::trial::{arm_words, family_name};
use serde_json::{Map, Value, json};

use super::arm::Arm;
use crate::args::{PlanFormat, TryArgs};

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

/// The runs in their order.
pub(super) fn written(
    args: &TryArgs,
    arms: &[Arm],
    findings: &[Finding],
    format: PlanFormat,
) -> String {
    match format {
        PlanFormat::Json => object(args, arms, findings),
        PlanFormat::Text => text(args, arms, findings),
    }
}

/// The findings that a change would end, by their names.
fn suggested_by(arm: &Arm, findings: &[Finding]) -> Vec<&'static str> {
    let Some(built_in) = arm.built_in else {
        return Vec::new();
    };
    let found = findings.iter().filter(|it| built_in.is_suggested_by(it));
    found.map(Finding::name).collect()
}

fn text(args: &TryArgs, arms: &[Arm], findings: &[Finding]) -> String {
    let mut page = Page::new();
    page.line(format!("control: {}", words(&args.command).join(" ")));
    for arm in arms {
        page.gap();
        page.line(arm.name.clone());
        if let Some(words) = arm.built_in.map(arm_words) {
            page.row("", words.changes);
        }
        let suggested = suggested_by(arm, findings);
        if !suggested.is_empty() {
            page.row("suggested", &suggested.join(", "));
        }
        if let Some(why) = arm.is_set_already() {
            page.row("left out", &why);
        }
    }
    page.into_text()
}

/// One JSON object.
fn object(args: &TryArgs, arms: &[Arm], findings: &[Finding]) -> String {
    let arms: Vec<Value> = arms.iter().map(|arm| row(args, arm, findings)).collect();
    let plan = json!({
        "control": words(&args.command),
        "arms": arms,
        "repeats": args.repeats,
        "max_time_s": args.max_time.as_secs_f64(),
        "steps": args.steps,
        "jobs": args.jobs,
        "patience_s": args.patience.as_secs_f64(),
        "findings": findings.iter().map(Finding::name).collect::<Vec<_>>(),
    });
    plan.to_string() + "\n"
}

fn row(args: &TryArgs, arm: &Arm, findings: &[Finding]) -> Value {
    let variables = arm.variables.iter();
    let variables: Map<String, Value> = variables
        .map(|(name, value)| (name.clone(), value.to_string_lossy().into()))
        .collect();
    let about = arm.built_in.map(arm_words);
    json!({
        "name": arm.name,
        "variables": variables,
        "command": words(arm.command.as_ref().unwrap_or(&args.command)),
        "changes": about.map(|about| about.changes),
        "means": about.map(|about| about.means),
        "not_applicable": arm.is_set_already(),
        "family": arm.built_in.map(|arm| family_name(arm.family())),
        "suggested_by": suggested_by(arm, findings),
        "package": arm.version.as_ref().map(|version| &version.package),
        "version": arm.version.as_ref().map(|version| &version.version),
    })
}

fn words(command: &[OsString]) -> Vec<String> {
    let words = command.iter();
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}
