"""A small GPT-2 with random weights, trained by transformers' Trainer on random tokens."""

import argparse
import ctypes
import os
import statistics
import time

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

from notes import Notes

EPOCH_STEPS, BATCH, LENGTH, VOCABULARY = 125, 8, 32, 1280  # The logits of a step are 1.3 MB.
EVALUATE_EVERY, EVALUATED_ROWS, SAVE_EVERY = 100, 80, 200
ROUNDS, ROUND_STEPS = 3, 80  # With and without the callback, in turn.


class Tokens(torch.utils.data.Dataset):
    def __init__(self, rows):
        self.rows = torch.randint(0, VOCABULARY, (rows, LENGTH), generator=torch.Generator().manual_seed(1))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return {"input_ids": self.rows[index], "labels": self.rows[index]}


class Before(TrainerCallback):
    """Notes what is true, before leveloff's callback has its turn."""

    def __init__(self, notes):
        self.notes, self.evaluating = notes, False

    def on_train_begin(self, args, state, control, **_):
        self.notes.begin(planned_steps=state.max_steps, resumed_at=state.global_step)

    def on_step_begin(self, args, state, control, **_):
        self.notes.keep_pace()

    def on_step_end(self, args, state, control, **_):
        self.notes.step(state.global_step, epoch=state.epoch)

    def on_prediction_step(self, args, state, control, **_):
        if not self.evaluating:
            self.notes.note(phase="eval", at=state.global_step)
        self.evaluating = True

    def on_evaluate(self, args, state, control, **_):
        self.notes.note(phase="train", at=state.global_step)
        self.evaluating = False

    def on_save(self, args, state, control, **_):
        self.notes.note(event="checkpoint", at=state.global_step)


class After(TrainerCallback):
    def __init__(self, notes):
        self.notes = notes

    def on_step_end(self, args, state, control, **_):
        self.notes.stepped(state.global_step)


class KeepOutputs(TrainerCallback):
    """The bug: the logits of every step, for a metric at the end."""

    def __init__(self):
        self.newest, self.kept = None, []

    def on_train_begin(self, args, state, control, model=None, **_):
        model.register_forward_hook(self.look)

    def look(self, _module, _arguments, output):
        self.newest = output.logits.detach()

    def on_step_end(self, args, state, control, **_):
        self.kept.append(self.newest)


class KeepBlocks(TrainerCallback):
    """The bug: a library that forgets 300 blocks of 4 KiB a step."""

    def __init__(self):
        self.library = ctypes.CDLL(None)
        self.library.malloc.restype, self.library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]

    def on_step_end(self, args, state, control, **_):
        for _block in range(300):
            ctypes.memset(self.library.malloc(4096), 1, 4096)


BUGS = {"outputs": KeepOutputs, "blocks": KeepBlocks}


def trainer(output, steps, callbacks, evaluations=True):
    torch.manual_seed(1)
    config = GPT2Config(vocab_size=VOCABULARY, n_positions=LENGTH, n_embd=96, n_layer=2, n_head=4)
    arguments = TrainingArguments(
        output, max_steps=steps, per_device_train_batch_size=BATCH, per_device_eval_batch_size=BATCH, use_cpu=True,
        report_to="none", logging_steps=50, save_steps=SAVE_EVERY, save_total_limit=2, ddp_backend=gloo(),
        eval_strategy="steps" if evaluations else "no", eval_steps=EVALUATE_EVERY,
        save_strategy="steps" if evaluations else "no",
    )
    ranks = int(os.environ.get("WORLD_SIZE", 1))
    return Trainer(
        GPT2LMHeadModel(config), arguments, train_dataset=Tokens(EPOCH_STEPS * BATCH * ranks),
        eval_dataset=Tokens(EVALUATED_ROWS), callbacks=callbacks,
    )


def gloo():
    return "gloo" if "RANK" in os.environ else None


def train(args):
    from leveloff.huggingface import LeveloffCallback

    notes = Notes(args.truth)
    bugs = [BUGS[args.keep]()] if args.keep else []
    options = {"budget": args.budget} if args.budget else {}
    one = trainer(args.output, args.steps, [Before(notes), LeveloffCallback(**options), After(notes), *bugs])
    one.train(resume_from_checkpoint=args.resume)
    notes.end(ended_at=one.state.global_step)


class Pace(TrainerCallback):
    """How long each step took, with all the callbacks there are."""

    def __init__(self):
        self.begun, self.took = None, []

    def on_step_begin(self, args, state, control, **_):
        now = time.monotonic()
        if self.begun is not None:
            self.took.append(now - self.begun)
        self.begun = now


def compare(args):
    """The same training with and without the callback, in turn, at the speed that it has."""
    from leveloff.huggingface import LeveloffCallback

    notes, medians = Notes(args.truth), {"with": [], "without": []}
    notes.begin()
    trainer(args.output, ROUND_STEPS, [], evaluations=False).train()  # Whatever happens only once.
    for _ in range(ROUNDS):
        for manner, callbacks in (("without", []), ("with", [LeveloffCallback()])):
            pace = Pace()
            trainer(args.output, ROUND_STEPS, [pace, *callbacks], evaluations=False).train()
            medians[manner].append(statistics.median(pace.took))
    notes.end(medians=medians)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--truth", required=True, help="directory for what is true")
    parser.add_argument("--output", required=True, help="directory for checkpoints")
    parser.add_argument("--steps", type=int, default=4 * EPOCH_STEPS)
    parser.add_argument("--budget", type=float, help="the share of the time that looking inside may take")
    parser.add_argument("--keep", choices=BUGS, help="a bug that keeps memory")
    parser.add_argument("--resume", help="the checkpoint to go on from")
    parser.add_argument("--compare", action="store_true", help="with and without the callback, in turn")
    args = parser.parse_args()
    return compare(args) if args.compare else train(args)


if __name__ == "__main__":
    main()
