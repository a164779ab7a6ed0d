"""A training loop without a framework, in the ways that memory grows, or does not."""

import argparse
import os
from concurrent.futures import ThreadPoolExecutor

import leveloff
import numpy
import torch
from torch.utils.data import DataLoader, Dataset

from notes import Notes

WIDTH, BATCH = 256, 64
SAVE_EVERY = 100
TEXTS, READ_A_ROW, WORKERS = 1_500_000, 2, 4


class Loop:
    """One model, and the three lines that a plain loop has for leveloff."""

    def __init__(self, args):
        self.args, self.notes = args, Notes(args.truth)
        layers = [layer for _ in range(4) for layer in (torch.nn.Linear(WIDTH, WIDTH), torch.nn.GELU())]
        self.model = torch.nn.Sequential(*layers)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3)
        self.first, self.saves = 1, False

    def steps(self):
        """Every step, marked when it is done, until a stop request."""
        self.notes.begin(planned_steps=self.args.steps, resumed_at=self.first - 1)
        for step in range(self.first, self.args.steps + 1):
            self.notes.keep_pace()
            yield step
            self.notes.step(step)
            leveloff.step(step, planned_steps=self.args.steps)
            self.notes.stepped(step)
            stops = leveloff.should_stop()
            if stops or (self.saves and step % SAVE_EVERY == 0):
                self.save(step)
            if stops:
                return

    def train(self, batch=None):
        """One step of the optimizer. Answers with the output and the loss, graph and all."""
        batch = torch.randn(BATCH, WIDTH) if batch is None else batch
        output = self.model(batch)
        loss = (output - batch).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return output, loss

    def save(self, step):
        """Every rank marks it; one of them does it."""
        if int(os.environ.get("RANK", 0)) == 0:
            torch.save({"step": step}, os.path.join(self.args.output, f"step-{step}.pt"))
        self.notes.note(event="checkpoint", at=step)
        leveloff.mark("checkpoint")

    def resume(self, path):
        self.first = torch.load(path)["step"] + 1


def compiled(loop):
    """torch.compile, with as many workers as the environment says."""
    loop.model = torch.compile(loop.model)
    for step in loop.steps():
        loop.train()
        if step == 20:
            loop.notes.note(roles=compile_processes())


def copy_on_write(loop):
    """Workers read a list of strings, and each read copies the page with its reference count."""
    batches = iter(DataLoader(Texts(), 32, shuffle=True, num_workers=WORKERS))
    for _ in loop.steps():
        loop.train(next(batches))


def cut_results(loop):
    """A thread's results are cut to what is worth keeping, and the next ones are longer: what was freed never
    fits again. In a thread, because malloc serves it from memory that no activations of the training use."""
    kept = []

    def decode(step):
        results = [numpy.ones(6000 + 8 * step) for _ in range(16)]
        for result in results:
            result.resize(16, refcheck=False)
        kept.extend(results)

    with ThreadPoolExecutor(1) as thread:
        for step in loop.steps():
            loop.train()
            thread.submit(decode, step).result()


def one_shape(loop):
    """Every step keeps two tensors of one shape."""
    kept = []
    for step in loop.steps():
        loop.train()
        kept.extend(torch.full((3, 50_001), float(step)) for _ in range(2))


def ranks(loop):
    """Two ranks that average their gradients."""
    torch.distributed.init_process_group("gloo")
    loop.model = torch.nn.parallel.DistributedDataParallel(loop.model)
    loop.saves = True
    for _ in loop.steps():
        loop.train()
    torch.distributed.destroy_process_group()


PATTERNS = {one.__name__: one for one in (compiled, copy_on_write, cut_results, one_shape, ranks)}


class Texts(Dataset):
    """Many small Python objects, made before the workers are forked."""

    def __init__(self):
        self.texts = [f"a line of text, the {number}th of them" for number in range(TEXTS)]

    def __len__(self):
        return len(self.texts) // READ_A_ROW

    def __getitem__(self, index):
        read = self.texts[index * READ_A_ROW : (index + 1) * READ_A_ROW]
        return torch.full((WIDTH,), sum(map(len, read)) / 100)


def compile_processes():
    """How many of them there are, by the process table."""
    pools = [pid for pid in children_of(os.getpid()) if is_compile_process(pid)]
    workers = [pid for pool in pools for pid in children_of(pool) if is_compile_process(pid)]
    return {"compile-pool": len(pools), "compile-worker": len(workers)}


def children_of(parent):
    path = f"/proc/{parent}/task"
    return [int(pid) for task in os.listdir(path) for pid in open(f"{path}/{task}/children").read().split()]


def is_compile_process(pid):
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return b"compile_worker/__main__.py" in file.read()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pattern", choices=PATTERNS)
    parser.add_argument("--truth", required=True, help="directory for what is true")
    parser.add_argument("--output", required=True, help="directory for checkpoints")
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--resume", help="the checkpoint to go on from")
    parser.add_argument("--budget", type=float, help="the share of the time that looking inside may take")
    parser.add_argument("--shapes", action="store_true", help="report the shapes that grow")
    parser.add_argument("--trim-probe", action="store_true", help="try malloc_trim when malloc seems to retain")
    args = parser.parse_args()
    torch.manual_seed(1)
    leveloff.configure(shapes=args.shapes, trim_probe=args.trim_probe)
    if args.budget:
        leveloff.configure(budget=args.budget)
    loop = Loop(args)
    if args.resume:
        loop.resume(args.resume)
    PATTERNS[args.pattern](loop)
    loop.notes.end()


if __name__ == "__main__":
    main()
