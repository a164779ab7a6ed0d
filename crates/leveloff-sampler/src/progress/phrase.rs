//! Steps in plain log lines: `step 120`, `iter 10: loss 2.3`, `[epoch 3] step 120`.
//!
//! Much that is no training counts steps too: installers, image builds, recipes. So a number
//! behind the word `step` is believed only with evidence beside it; see [`is_evident`].

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
    let mut phrase = Phrase {
        is_checkpoint: is_checkpoint(&text),
        ..Phrase::default()
    };
    let epoch = purpose::epoch_number(&text);
    let mut words = Words::of(&text);
    while let Some(word) = words.next() {
        let Some((name, count)) = named_count(&word) else {
            continue;
        };
        match word.previous {
            _ if words.seen_any(&EVALUATION) => {}
            Some("total" | "max" | "optimization" | "planned") => phrase.planned = Some(count.n),
            Some(before) if QUANTITIES.contains(&before) => {}
            _ if phrase.step.is_some() => {}
            _ if is_evident(&word, &count, &text, epoch.is_some(), phrase.is_checkpoint) => {
                phrase.step = Some(PhraseStep {
                    name,
                    n: count.n,
                    total: count.total,
                });
            }
            _ => {}
        }
    }
    phrase.tensors = phrase.step.and_then(|_| tensors(&text));
    phrase.epoch = epoch
        .filter(|_| is_epoch_line(&text, &phrase))
        .map(|epoch| epoch.number);
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

/// Names of what trainings measure.
const METRICS: [&str; 36] = [
    "lr",
    "acc",
    "accuracy",
    "grad",
    "gnorm",
    "norm",
    "grad_norm",
    "ppl",
    "perplexity",
    "time",
    "dt",
    "elapsed",
    "eta",
    "reward",
    "mfu",
    "tokens",
    "tok",
    "tensors",
    "ram",
    "mem",
    "memory",
    "rss",
    "gpu",
    "vram",
    "cuda",
    "throughput",
    "speed",
    "learning_rate",
    "score",
    "kl",
    "entropy",
    "samples",
    "mse",
    "mae",
    "nll",
    "ce",
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

const SEPARATORS: [char; 9] = [' ', '\t', ':', '=', '#', '[', '(', '"', '\''];

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

/// Whether a count is a training's. Evidence is one of: it is assigned (`step=120`); an epoch or
/// a checkpoint is told with it; the line measures something (`loss 2.3`, `6529 tensors`); or
/// nothing else is in its clause. "step 3: install the package" and "Step 1/12 : FROM x" have none.
fn is_evident(
    word: &Word<'_>,
    count: &Counted<'_>,
    text: &str,
    has_epoch: bool,
    is_checkpoint: bool,
) -> bool {
    count.is_assigned || has_epoch || is_checkpoint || measures(text) || is_bare(word, count)
}

/// Nothing follows, and what stands in front since the last delimiter belongs to it.
fn is_bare(word: &Word<'_>, count: &Counted<'_>) -> bool {
    let clause_start = word
        .before
        .rfind([':', '|', ']', ')', '>', '-', ','])
        .map_or(0, |at| at + 1);
    let clause_is_ours =
        Words::of(&word.before[clause_start..]).all(|word| BARE_PREFIXES.contains(&word.text));
    // A heading ends with a colon.
    let nothing_follows = !count
        .rest
        .contains(|c: char| c.is_alphanumeric() || c == ':');
    clause_is_ours && nothing_follows
}

/// Whether a metric with its number is in the line.
fn measures(text: &str) -> bool {
    Words::of(text).any(|word| {
        let is_metric = word.text.contains("loss") || METRICS.contains(&word.text);
        is_metric && (number_follows(word.after) || number_precedes(word.before))
    })
}

fn number_follows(after: &str) -> bool {
    let value = after.trim_start_matches(SEPARATORS);
    after.len() - value.len() <= 4 && value.starts_with(|c: char| c.is_ascii_digit() || c == '-')
        || value.starts_with("nan")
        || value.starts_with("inf")
}

/// `6529 tensors`, `1200 tok/s`.
fn number_precedes(before: &str) -> bool {
    before.ends_with(' ') && before.trim_end().ends_with(|c: char| c.is_ascii_digit())
}

fn tensors(text: &str) -> Option<u64> {
    let before = Words::of(text)
        .find(|word| word.text == "tensors" && number_precedes(word.before))?
        .before
        .trim_end();
    let start = before
        .rfind(|c: char| !c.is_ascii_digit() && c != ',')
        .map_or(0, |at| at + 1);
    whole(before[start..].trim_start_matches(',').as_bytes()).map(|(tensors, _)| tensors)
}

/// Beside a step, with a metric, or as a heading of its own: `Epoch 3/10`.
fn is_epoch_line(text: &str, phrase: &Phrase) -> bool {
    phrase.step.is_some()
        || !Words::of(text).any(|word| EVALUATION.contains(&word.text))
            && (measures(text)
                || text
                    .trim_start_matches(['=', '-', '*', '#', '[', ' '])
                    .starts_with("epoch"))
}

fn is_checkpoint(text: &str) -> bool {
    text.contains("saving") && text.contains("checkpoint")
        || text.contains("checkpoint saved")
        || text.contains("saved checkpoint")
}

#[cfg(test)]
#[path = "phrase_tests.rs"]
mod tests;
