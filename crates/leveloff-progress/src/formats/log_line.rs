//! Parses steps in plain log lines: `step 120`, `iter 10: loss 2.3`, `[epoch 3] step 120`.
//!
//! Installers, image builds and recipes count steps too. So a number after the word `step` is accepted
//! only if it is assigned (`step=120`), if its clause holds nothing else, or with [`Evidence`] in the
//! line. "step 3: install the package" and "Step 1/12 : FROM x" have none.

use super::bar_purpose;
use super::evidence::{self, Evidence, SEPARATORS};
use super::words::{Word, Words};
use crate::number::whole;

/// The progress in a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogLine {
    /// A step.
    pub step: Option<LineStep>,
    /// The run's length.
    pub planned: Option<u64>,
    /// The epoch, as printed.
    pub epoch: Option<u64>,
    /// Live tensors.
    pub tensors: Option<u64>,
    /// A checkpoint is being saved.
    pub is_checkpoint: bool,
}

/// A step in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineStep {
    /// What the line calls it.
    pub name: StepName,
    /// Its number.
    pub n: u64,
    /// Of how many.
    pub total: Option<u64>,
}

/// What a log calls its steps, best last. Of two names in one log the better one counts: iterations are
/// often parts of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepName {
    /// `iter`, `iteration`.
    Iteration,
    /// `step`.
    Step,
    /// `global_step`.
    GlobalStep,
}

/// Parses a line; `None` when it holds no progress.
pub fn parse(line: &[u8]) -> Option<LogLine> {
    let text = String::from_utf8_lossy(line).to_ascii_lowercase();
    let epoch = bar_purpose::epoch_number(&text);
    let evidence = Evidence::in_line(&text, epoch.is_some());
    let mut parsed = LogLine {
        is_checkpoint: evidence.is_checkpoint,
        ..LogLine::default()
    };
    let mut is_evaluation = false;
    for word in Words::of(&text) {
        is_evaluation |= EVALUATION.contains(&word.text);
        let Some((name, count)) = named_count(&word) else {
            continue;
        };
        match word.previous {
            _ if is_evaluation => break,
            Some("total" | "max" | "optimization" | "planned") => parsed.planned = Some(count.n),
            Some(before) if QUANTITIES.contains(&before) => {}
            _ if count.is_assigned || evidence.is_any() || is_bare(&word, &count) => {
                parsed.step = Some(LineStep {
                    name,
                    n: count.n,
                    total: count.total,
                });
                break;
            }
            _ => {}
        }
    }
    parsed.tensors = parsed.step.and_then(|_| evidence::tensors(&text));
    let shows_epoch =
        parsed.step.is_some() || !is_evaluation && (evidence.measures || is_epoch_heading(&text));
    parsed.epoch = epoch.filter(|_| shows_epoch).map(|epoch| epoch.number);
    (parsed != LogLine::default()).then_some(parsed)
}

/// Words after which steps are those of an evaluation.
#[rustfmt::skip]
const EVALUATION: [&str; 8] = [
    "eval", "evaluation", "evaluating", "val", "valid", "validation", "test", "testing",
];

/// Words after which steps are a quantity, not a position.
#[rustfmt::skip]
const QUANTITIES: [&str; 16] = [
    "per", "num", "number", "warmup", "save", "saving", "logging", "every", "accumulation",
    "for", "of", "time", "remaining", "next", "see", "in",
];

/// Words that may precede a bare `step 120`.
#[rustfmt::skip]
const BARE_PREFIXES: [&str; 11] = [
    "train", "training", "trainer", "current", "optimizer", "at", "finished", "completed",
    "done", "epoch", "rank",
];

struct Counted<'a> {
    n: u64,
    total: Option<u64>,
    /// The number follows a `=`.
    is_assigned: bool,
    rest: &'a str,
}

/// `step 10`, `steps: 1,234`, `iteration 10/40`, `global_step=40`, `"step": 10`.
fn named_count<'a>(word: &Word<'a>) -> Option<(StepName, Counted<'a>)> {
    let name = match word.text {
        "step" | "steps" => StepName::Step,
        "iter" | "iters" | "iteration" | "iterations" => StepName::Iteration,
        "global_step" | "global_steps" => StepName::GlobalStep,
        _ => return None,
    };
    // `ms/step: 340`, `--step=3` and `epoch=0-step=40.ckpt` are no position of the training.
    if word.before.ends_with(['-', '/', '.']) && name != StepName::GlobalStep {
        return None;
    }
    let digits = word.after.trim_start_matches(SEPARATORS);
    let separators = &word.after[..word.after.len() - digits.len()];
    if separators.is_empty() || separators.len() > 5 {
        return None;
    }
    let (n, rest) = whole(digits.as_bytes())?;
    let (total, rest) = of_total(rest);
    let rest = std::str::from_utf8(rest).ok()?;
    let is_assigned = separators == "=";
    (!starts_with_unit(rest)).then_some((
        name,
        Counted {
            n,
            total,
            is_assigned,
            rest,
        },
    ))
}

/// `/40`, ` / 40` or ` of 40`.
fn of_total(rest: &[u8]) -> (Option<u64>, &[u8]) {
    let trimmed = rest.trim_ascii_start();
    trimmed
        .strip_prefix(b"/")
        .or_else(|| trimmed.strip_prefix(b"of "))
        .and_then(|total| whole(total.trim_ascii_start()))
        .map_or((None, rest), |(total, rest)| (Some(total), rest))
}

/// `step: 20 ms` is a duration.
fn starts_with_unit(rest: &str) -> bool {
    let mut words = Words::of(rest);
    let Some(word) = words.next() else {
        return false;
    };
    word.before.trim().is_empty()
        && matches!(
            word.text,
            "ms" | "s" | "sec" | "seconds" | "min" | "minutes" | "h" | "mb" | "gb" | "x"
        )
}

/// Whether nothing follows, and only [`BARE_PREFIXES`] stand between the last delimiter and the word.
fn is_bare(word: &Word<'_>, count: &Counted<'_>) -> bool {
    // A heading ends with a colon.
    let is_more = |c: char| c.is_alphanumeric() || c == ':';
    if count.rest.contains(is_more) {
        return false;
    }
    let clause_start = word
        .before
        .rfind([':', '|', ']', ')', '>', '-', ','])
        .map_or(0, |at| at + 1);
    Words::of(&word.before[clause_start..]).all(|word| BARE_PREFIXES.contains(&word.text))
}

/// `Epoch 3/10` on a line of its own.
fn is_epoch_heading(text: &str) -> bool {
    text.trim_start_matches(['=', '-', '*', '#', '[', ' '])
        .starts_with("epoch")
}

#[cfg(test)]
#[path = "log_line_tests.rs"]
mod tests;
