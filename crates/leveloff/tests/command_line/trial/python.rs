//! Changes that Python makes, on stand-ins for torch and transformers with the classes that are reached.

use serde_json::Value;

use super::arm;
use crate::stage::{Stage, python};

const TORCH: &str = "\
class cuda:
    @staticmethod
    def is_initialized():
        return False
";

const OPTIMIZER: &str = "\
hooks = []

def register_optimizer_step_post_hook(hook):
    hooks.append(hook)

class Optimizer:
    param_groups = []

    def step(self):
        for hook in hooks:
            hook(self, (), {})
";

/// Keeps 256 KiB at each evaluation, and writes at each checkpoint.
const TRAINER: &str = "\
from types import SimpleNamespace

class Trainer:
    def __init__(self):
        self.control = SimpleNamespace(should_evaluate=False, should_save=False)
        self.kept = []

    def _maybe_log_save_evaluate(self):
        if self.control.should_evaluate:
            self.kept.append(bytearray(b'x' * (1 << 18)))
        if self.control.should_save:
            with open('checkpoint', 'w') as file:
                file.write('saved')
";

const TRAIN: &str = "\
import time
import torch
from torch.optim.optimizer import Optimizer
from transformers.trainer import Trainer
optimizer, trainer = Optimizer(), Trainer()
for step in range(1, 2000):
    optimizer.step()
    trainer.control.should_evaluate = trainer.control.should_save = True
    trainer._maybe_log_save_evaluate()
    print(f'step {step} loss 0.5', flush=True)
    time.sleep(0.005)
";

fn stage() -> Stage {
    let stage = Stage::new();
    for directory in ["torch/optim", "transformers"] {
        std::fs::create_dir_all(stage.path(directory)).unwrap();
    }
    stage.file("torch/__init__.py", TORCH);
    stage.file("torch/optim/__init__.py", "");
    stage.file("torch/optim/optimizer.py", OPTIMIZER);
    stage.file("transformers/__init__.py", "");
    stage.file("transformers/trainer.py", TRAINER);
    stage.file("train.py", TRAIN);
    stage
}

#[test]
fn evaluations_are_left_out_and_what_cannot_apply_says_why() {
    let stage = stage();
    let ended = stage.ask(&[
        "try",
        "-o",
        "trial",
        "--arms",
        "no-evaluation,no-checkpoints,collect-garbage,close-figures,no-workers",
        "--level-by",
        "40",
        "--interval",
        "50ms",
        "--format",
        "json",
        "--",
        python(),
        "train.py",
    ]);
    let answer: Value = serde_json::from_str(&ended.stdout).unwrap_or_default();
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    assert_eq!(
        arm(&answer, "no-evaluation")["effect"],
        "stops",
        "{answer:#}"
    );
    for name in ["no-checkpoints", "collect-garbage"] {
        assert_eq!(arm(&answer, name)["effect"], "none", "{answer:#}");
    }
    let why = |name: &str| arm(&answer, name)["why"].as_str().unwrap().to_owned();
    assert_eq!(why("close-figures"), "matplotlib is not imported");
    assert!(
        why("no-workers").contains("DataLoader"),
        "{}",
        why("no-workers")
    );
}

/// Leaves 256 KiB in a reference cycle at each step, and has switched collections off.
const CYCLES: &str = "\
import gc, time
import torch
from torch.optim.optimizer import Optimizer
gc.disable()
optimizer = Optimizer()
for step in range(1, 2000):
    optimizer.step()
    cycle = [bytearray(b'x' * (1 << 18))]
    cycle.append(cycle)
    print(f'step {step} loss 0.5', flush=True)
    time.sleep(0.005)
";

#[test]
fn a_collection_after_each_step_frees_reference_cycles() {
    let stage = stage();
    stage.file("train.py", CYCLES);
    let ended = stage.ask(&[
        "try",
        "-o",
        "trial",
        "--arms",
        "collect-garbage",
        "--level-by",
        "40",
        "--interval",
        "50ms",
        "--format",
        "json",
        "--",
        python(),
        "train.py",
    ]);
    let answer: Value = serde_json::from_str(&ended.stdout).unwrap_or_default();
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    assert_eq!(
        arm(&answer, "collect-garbage")["effect"],
        "stops",
        "{answer:#}"
    );
}
