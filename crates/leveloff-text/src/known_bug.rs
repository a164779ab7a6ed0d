//! The words for public bugs that a run looks like.

use std::borrow::Cow;

use leveloff_classifier::known_bugs::{KnownBug, SuspectedBug};
use leveloff_model::process::printable;

/// What a run looks like, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BugWords {
    /// What it looks like, with the installed version.
    pub text: String,
    /// The next step.
    pub next: Cow<'static, str>,
}

/// The words for one bug.
pub fn bug_words(suspected: &SuspectedBug) -> BugWords {
    let bug = suspected.bug;
    let what = what(bug);
    let version = match &suspected.version {
        Some(version) => format!("{} {}", bug.package, printable(version.as_bytes())),
        None => format!("{}, version unknown", bug.package),
    };
    let next = match bug.fixed_in {
        Some(fixed) => format!(
            "reported as fixed in {} {fixed}; until then: {}",
            bug.package, what.next
        )
        .into(),
        None => what.next.into(),
    };
    BugWords {
        text: format!("looks like {} ({version})", what.text),
        next,
    }
}

/// The versions that have it, for a table.
pub fn affected_versions(bug: &KnownBug) -> String {
    match (bug.from, bug.before) {
        (None, None) => "all".to_owned(),
        (Some(from), None) => format!("{from} and later"),
        (None, Some(before)) => format!("before {before}"),
        (Some(from), Some(before)) => format!("{from} to before {before}"),
    }
}

struct What {
    text: &'static str,
    next: &'static str,
}

/// What a bug is. A bug without words of its own is a mistake that a test finds.
fn what(bug: &KnownBug) -> What {
    let (text, next) = match bug.name {
        "torch-loader-copy-on-write" => (
            "loader workers that copy Python objects by reading them",
            "hold the data set in arrays (NumPy, torch, Arrow) instead of lists and dicts",
        ),
        "torch-loader-descriptors" => (
            "descriptors that kept batches of loader workers hold open",
            "copy what is kept of a batch, or use the sharing strategy 'file_system'",
        ),
        "torch-checkpoint-garbage" => (
            "reference cycles that saving a checkpoint leaves behind",
            "call gc.collect() after each save",
        ),
        "torch-pinned-prefetch" => (
            "pinned memory that the loader's prefetching takes and never returns",
            "lower prefetch_factor, or try pin_memory=False",
        ),
        "torch-shared-files" => (
            "files that the sharing strategy 'file_system' leaves in /dev/shm",
            "update torch, or use the sharing strategy 'file_descriptor'",
        ),
        "torch-compile-calls" => (
            "host memory that calls of a compiled function leave behind",
            "run once without torch.compile: if the growth stops, this is it",
        ),
        "torch-compile-cuda" => (
            "GPU memory that torch.compile does not free",
            "run once without torch.compile: if the growth stops, this is it",
        ),
        "triton-compile" => (
            "host memory that kernels of Triton 2.0.0 leave behind",
            "run once without torch.compile: if the growth stops, this is it",
        ),
        "transformers-evaluation-workers" => (
            "the Trainer's evaluations with persistent workers and compute_metrics",
            "try dataloader_persistent_workers=False",
        ),
        "wandb-logged-tensors" => (
            "tensors that wandb.log keeps",
            "log tensor.item() instead of the tensor",
        ),
        _ => ("a known bug", "read the thread"),
    };
    What { text, next }
}

#[cfg(test)]
mod tests {
    use leveloff_classifier::known_bugs::KNOWN_BUGS;

    use super::*;

    #[test]
    fn every_bug_has_words() {
        for bug in KNOWN_BUGS {
            assert_ne!(what(bug).text, "a known bug", "{} has no words", bug.name);
        }
    }

    #[test]
    fn a_bug_is_shown_with_the_installed_version_and_the_fix() {
        let bug = KNOWN_BUGS
            .iter()
            .find(|bug| bug.name == "wandb-logged-tensors");
        let words = bug_words(&SuspectedBug {
            bug: bug.unwrap(),
            version: Some("0.8.1".to_owned()),
        });
        assert_eq!(
            words.text,
            "looks like tensors that wandb.log keeps (wandb 0.8.1)"
        );
        assert_eq!(
            words.next,
            "reported as fixed in wandb 0.8.2; until then: log tensor.item() instead of the tensor"
        );
    }
}
