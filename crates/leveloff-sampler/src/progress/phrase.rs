//! Steps in plain log lines: `step 120`, `iter 10: loss 2.3`, `[epoch 3] step 120`.
//!
//! Much that is no training counts steps too: installers, image builds, recipes. So a number
//! behind the word `step` is believed only if it is assigned (`step=120`), if nothing else is in its
//! clause, or with [`Evidence`] beside it. "step 3: install the package" and "Step 1/12 : FROM x"
//! have none.

use super::evidence::{self, Evidence, SEPARATORS};
use super::number::whole;
use super::purpose;
use super::words::{Word, Words};

/// What a line told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Phrase {
    /// A step.
    pub step: Option<PhraseStep>,
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
pub struct PhraseStep {
    /// What it was called, best last.
    pub name: StepName,
    /// Its number.
    pub n: u64,
    /// Of how many.
    pub total: Option<u64>,
}

/// What a log calls its steps. Of two names in one log the better is followed: iterations are
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

/// Reads a line; `None` when it tells nothing.
pub fn parse(line: &[u8]) -> Option<Phrase> {
    let text = String::from_utf8_lossy(line).to_ascii_lowercase();
    let epoch = purpose::epoch_number(&text);
    let evidence = Evidence::in_line(&text, epoch.is_some());
    let mut phrase = Phrase {
        is_checkpoint: evidence.is_checkpoint,
        ..Phrase::default()
    };
    let mut is_evaluation = false;
    for word in Words::of(&text) {
        is_evaluation |= EVALUATION.contains(&word.text);
        let Some((name, count)) = named_count(&word) else {
            continue;
        };
        match word.previous {
            _ if is_evaluation => break,
            Some("total" | "max" | "optimization" | "planned") => phrase.planned = Some(count.n),
            Some(before) if QUANTITIES.contains(&before) => {}
            _ if count.is_assigned || evidence.is_any() || is_bare(&word, &count) => {
                phrase.step = Some(PhraseStep {
                    name,
                    n: count.n,
                    total: count.total,
                });
                break;
            }
            _ => {}
        }
    }
    phrase.tensors = phrase.step.and_then(|_| evidence::tensors(&text));
    let tells_epoch =
        phrase.step.is_some() || !is_evaluation && (evidence.measures || is_epoch_heading(&text));
    phrase.epoch = epoch.filter(|_| tells_epoch).map(|epoch| epoch.number);
    (phrase != Phrase::default()).then_some(phrase)
}

/// Words that make the steps behind them those of an evaluation.
const EVALUATION: [&str; 8] = [
    "eval",
    "evaluation",
    "evaluating",
    "val",
    "valid",
    "validation",
    "test",
    "testing",
];

/// Words that make the steps behind them a quantity or something else than a position.
const QUANTITIES: [&str; 16] = [
    "per",
    "num",
    "number",
    "warmup",
    "save",
    "saving",
    "logging",
    "every",
    "accumulation",
    "for",
    "of",
    "time",
    "remaining",
    "next",
    "see",
    "in",
];

/// Words that go before a bare `step 120`.
const BARE_PREFIXES: [&str; 11] = [
    "train",
    "training",
    "trainer",
    "current",
    "optimizer",
    "at",
    "finished",
    "completed",
    "done",
    "epoch",
    "rank",
];

struct Counted<'a> {
    n: u64,
    total: Option<u64>,
    /// The number was set off with `=`.
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
    // `ms/step: 340`, `--step=3`, `epoch=0-step=40.ckpt` are not about where the training is.
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

/// Nothing follows, and what stands in front since the last delimiter belongs to it.
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
#[path = "phrase_tests.rs"]
mod tests;
