//! What a job uses, as `python_changes.py` noted it in the control run: a change of something that the job does not use is
//! not tried.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use leveloff_classifier::trial::{ArmFamily, BuiltInArm};

/// What a job uses.
#[derive(Debug, Clone, Default)]
pub(super) struct JobFacts(BTreeSet<String>);

/// More than a job of a thousand processes notes.
const MOST_BYTES: u64 = 1 << 20;

impl JobFacts {
    /// What cannot be read counts as not noted.
    pub(super) fn read(path: &Path) -> JobFacts {
        let mut text = Vec::new();
        if let Ok(file) = File::open(path) {
            let _ = file.take(MOST_BYTES).read_to_end(&mut text);
        }
        let text = String::from_utf8_lossy(&text);
        JobFacts(text.lines().map(str::to_owned).collect())
    }

    fn has(&self, fact: &str) -> bool {
        self.0.contains(fact)
    }

    /// Why a change has nothing to change here. A job whose Python notes nothing may still use anything that variables reach,
    /// because Python may ignore `PYTHONPATH`.
    pub(super) fn rules_out(&self, arm: BuiltInArm) -> Option<&'static str> {
        let is_python = self.has("python");
        let has_optimizer = self.has("optimizer");
        let unless = |fact: &str, why: &'static str| (!self.has(fact)).then_some(why);
        match arm {
            BuiltInArm::CollectGarbage
            | BuiltInArm::CollectGarbage10
            | BuiltInArm::DropGradients => unless(
                "optimizer",
                "no optimizer of torch steps in a Python that reads PYTHONPATH",
            ),
            BuiltInArm::NoWorkers | BuiltInArm::SwapPersistentWorkers => {
                unless("workers", "no torch DataLoader with workers is created")
            }
            BuiltInArm::NoPinning => {
                unless("pinned", "no torch DataLoader with pin_memory is created")
            }
            BuiltInArm::NoEvaluation if self.has("own evaluation") => unless(
                "evaluation",
                "no Trainer evaluated in the control run; evaluations of the script's own can be left out with --arm 'NAME=CMD'",
            ),
            BuiltInArm::NoEvaluation => {
                unless("evaluation", "the control run came to no evaluation")
            }
            BuiltInArm::NoCheckpoints => unless(
                "checkpoint",
                "the control run saved nothing by torch.save, safetensors or a Trainer",
            ),
            BuiltInArm::CloseFigures if !self.has("optimizer") => {
                Some("no optimizer of torch steps in a Python that reads PYTHONPATH")
            }
            BuiltInArm::CloseFigures => unless("matplotlib.pyplot", "matplotlib is not imported"),
            BuiltInArm::NoTensorBoard => {
                unless("tensorboard", "SummaryWriter of torch is not imported")
            }
            BuiltInArm::PythonMalloc => unless("python", "no Python that reads PYTHONPATH runs"),
            BuiltInArm::NoCompile | BuiltInArm::OneCompileThread if has_optimizer => {
                unless("compiled", "torch compiles nothing")
            }
            BuiltInArm::NoPrimitiveCache if is_python && !has_optimizer => {
                Some("no optimizer of torch steps")
            }
            BuiltInArm::NoWandb if is_python => unless("wandb", "wandb is not imported"),
            BuiltInArm::NoTokenizerThreads if is_python => {
                unless("tokenizers", "tokenizers are not imported")
            }
            BuiltInArm::ExpandableSegments => unless("cuda", "CUDA is not used"),
            // A job without Python has none of these.
            arm if !is_python
                && matches!(arm.family(), ArmFamily::Compiler | ArmFamily::Logger) =>
            {
                Some("no Python that reads PYTHONPATH runs")
            }
            BuiltInArm::NoTokenizerThreads => Some("no Python that reads PYTHONPATH runs"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(noted: &[&str]) -> JobFacts {
        JobFacts(noted.iter().map(|fact| (*fact).to_owned()).collect())
    }

    #[test]
    fn what_the_job_does_not_use_is_not_changed() {
        let plain = facts(&["python", "optimizer"]);
        assert!(plain.rules_out(BuiltInArm::NoWorkers).is_some());
        assert!(plain.rules_out(BuiltInArm::NoCompile).is_some());
        assert!(plain.rules_out(BuiltInArm::CollectGarbage).is_none());
        assert!(plain.rules_out(BuiltInArm::OneArena).is_none());
        let loader = facts(&["python", "optimizer", "workers", "compiled"]);
        assert!(loader.rules_out(BuiltInArm::NoWorkers).is_none());
        assert!(loader.rules_out(BuiltInArm::NoCompile).is_none());
    }

    #[test]
    fn what_no_change_reaches_says_what_to_do() {
        let own = facts(&["python", "optimizer", "own evaluation"]);
        let why = own.rules_out(BuiltInArm::NoEvaluation).unwrap();
        assert!(why.contains("--arm 'NAME=CMD'"), "{why}");
        let trainer = facts(&["python", "optimizer", "own evaluation", "evaluation"]);
        assert!(trainer.rules_out(BuiltInArm::NoEvaluation).is_none());
        assert!(trainer.rules_out(BuiltInArm::NoCheckpoints).is_some());
    }

    #[test]
    fn a_job_without_python_has_allocators_and_threads_changed_only() {
        let none = facts(&[]);
        let left: Vec<&str> = BuiltInArm::ALL
            .into_iter()
            .filter(|arm| none.rules_out(*arm).is_none())
            .map(BuiltInArm::name)
            .collect();
        let expected = [
            "map-large-blocks",
            "one-arena",
            "trim-often",
            "one-thread",
            "jemalloc",
            "tcmalloc",
            "mimalloc",
        ];
        assert_eq!(left, expected);
    }
}
