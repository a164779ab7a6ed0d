"""What every pattern has: a small model to train, a steady pace, printed steps, marks."""

import gc
import json
import os
import time

import torch

WIDTH = 256
BATCH = 64
STEP_S = 0.012  # A thousand steps in the time that a tester waits for a run.
COUNT_TENSORS_EVERY = 50  # Counting walks over all objects, which disturbs what it explains: seldom.


class Run:
    """One training run. A pattern iterates over its steps and does its work between them."""

    def __init__(self, steps, says_epoch_of=0):
        self.planned, self.says_epoch_of = steps, says_epoch_of
        self.model, self.optimizer = mlp(), None
        self.use(torch.optim.SGD(self.model.parameters(), lr=1e-3))
        self.marks = None
        self.now = 0

    def use(self, optimizer):
        self.optimizer = optimizer

    def steps(self):
        """Every step of the run, printed when it is done, none faster than the pace."""
        for self.now in range(1, self.planned + 1):
            begin = time.monotonic()
            yield self.now
            self.tell_step()
            time.sleep(max(0.0, STEP_S - (time.monotonic() - begin)))

    def tell_step(self):
        epoch = f"epoch {(self.now - 1) // self.says_epoch_of + 1} " if self.says_epoch_of else ""
        print(f"{epoch}step {self.now} loss {self.loss:.4f}", flush=True)
        if self.marks:
            self.mark(step=self.now)
            if self.now % COUNT_TENSORS_EVERY == 0:
                self.mark(tensors=count_tensors())

    def train(self, batch=None):
        """One step of the optimizer. Answers with the output and the loss, graph and all."""
        batch = torch.randn(BATCH, WIDTH) if batch is None else batch
        output = self.model(batch)
        loss = (output - batch).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.loss = loss.item()
        return output, loss

    def mark(self, **facts):
        """Writes a mark, as docs/MARKS.md describes them; the first opens the file."""
        if self.marks is None:
            directory = f"/tmp/leveloff-{os.getuid()}"
            os.makedirs(directory, 0o700, exist_ok=True)
            path = os.path.join(directory, f"{os.getpid()}.jsonl")
            if os.path.exists(path):
                os.remove(path)
            self.marks = open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "w", buffering=1)
            with open("/proc/self/stat") as stat:
                start = int(stat.read().rsplit(")", 1)[1].split()[19])
            print(json.dumps({"leveloff_marks": 1, "pid": os.getpid(), "start": start}), file=self.marks)
        print(json.dumps({"t": time.time(), **facts}), file=self.marks)

    def end(self):
        if self.marks:
            os.remove(f"/tmp/leveloff-{os.getuid()}/{os.getpid()}.jsonl")


def mlp(width=WIDTH, depth=4):
    layers = [layer for _ in range(depth) for layer in (torch.nn.Linear(width, width), torch.nn.GELU())]
    return torch.nn.Sequential(*layers)


def megabytes(amount):
    """A tensor of so many megabytes, every page of it touched."""
    return torch.ones(int(amount * 250_000))


def count_tensors():
    """By their type: to ask an object itself would wake lazy ones, and those that warn."""
    return sum(issubclass(type(one), torch.Tensor) for one in gc.get_objects())
