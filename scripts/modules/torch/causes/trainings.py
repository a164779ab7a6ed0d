"""Trainings that grow for one known reason, each with a healthy twin that differs in that alone.

    trainings.py --list                       what there is, as JSON
    trainings.py NAME [--healthy] --steps N   train, with the Python package at its default settings
"""

import argparse
import ctypes
import json
import mmap
import os
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor

import leveloff
import numpy
import torch
from torch.utils.data import DataLoader, Dataset

WIDTH, BATCH = 256, 64
STEP_S = 0.02
BOUND = 20
"""What a healthy twin keeps at most."""
TEXTS, TEXTS_A_ROW = 1_000_000, 4

CAUSES = {}


def cause(*findings, role="trainer", steps=450, needs=None, options=None):
    """`findings`: those that name the cause, of which one is enough; others that name a cause are wrong."""

    def register(function):
        facts = {"findings": findings, "role": role, "steps": steps, "needs": needs, "options": options or {}}
        CAUSES[function.__name__] = {**facts, "what": function.__doc__, "function": function}
        return function

    return register


class Loop:
    """A model, a steady pace, and the one line that a plain loop has for leveloff."""

    def __init__(self, steps, is_healthy):
        self.planned, self.is_healthy = steps, is_healthy
        layers = [layer for _ in range(4) for layer in (torch.nn.Linear(WIDTH, WIDTH), torch.nn.GELU())]
        self.model = torch.nn.Sequential(*layers)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3)

    def steps(self):
        for step in range(1, self.planned + 1):
            began = time.monotonic()
            yield step
            leveloff.step(step)
            time.sleep(max(0.0, STEP_S - (time.monotonic() - began)))

    def kept(self):
        """A list that a leak fills; the healthy twin's is bounded."""
        return deque(maxlen=BOUND) if self.is_healthy else []

    def train(self, batch=None):
        batch = torch.randn(BATCH, WIDTH) if batch is None else batch
        output = self.model(batch)
        loss = output.square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return output, loss


@cause("held-references")
def outputs_kept(loop):
    """Outputs are kept, detached, for a metric."""
    kept = loop.kept()
    for _ in loop.steps():
        kept.append(loop.train(torch.randn(4 * BATCH, WIDTH))[0].detach())


@cause("held-references")
def hook_keeps(loop):
    """A forward hook keeps the activations of two layers."""
    kept = loop.kept()
    for layer in (loop.model[1], loop.model[5]):
        layer.register_forward_hook(lambda module, arguments, output: kept.append(output.detach().clone()))
    for _ in loop.steps():
        loop.train(torch.randn(3 * BATCH, WIDTH))


@cause("held-references")
def hidden_states_kept(loop):
    """A callback keeps the hidden states of every step in a dict."""
    kept = {}

    class Callback:
        def on_step_end(self, step, states):
            kept[step % BOUND if loop.is_healthy else step] = tuple(state.detach() for state in states)

    callback = Callback()
    for step in loop.steps():
        states = [torch.randn(BATCH, WIDTH)]
        for layer in loop.model:
            states.append(layer(states[-1]))
        states[-1].square().mean().backward()
        loop.optimizer.step()
        callback.on_step_end(step, states[-4:])


@cause("native-growth")
def native_blocks(loop):
    """A library forgets blocks of malloc."""
    library = ctypes.CDLL(None)
    library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    library.free.argtypes = [ctypes.c_void_p]
    for _ in loop.steps():
        blocks = [library.malloc(2048) for _ in range(150)]
        for block in blocks:
            ctypes.memset(block, 1, 2048)
        if loop.is_healthy:
            for block in blocks:
                library.free(block)
        loop.train()


@cause("python-objects", "piled-up-objects")
def dicts_kept(loop):
    """A log of small dicts."""
    kept = loop.kept()
    for step in loop.steps():
        loop.train()
        kept.append([{"step": step, "token": f"token {step} {n}", "value": n + 0.5} for n in range(900)])


@cause("piled-up-objects", "python-objects", options={"objects": True, "budget": 0.02})
def entries_kept(loop):
    """The same with a class of its own, and objects counted by class."""
    kept = loop.kept()
    for step in loop.steps():
        loop.train()
        kept.append([Entry(step, n) for n in range(900)])


@cause("piled-up-objects", steps=450, needs="matplotlib")
def figures_open(loop):
    """A figure at every fifth step; the healthy twin closes it."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.rcParams["figure.max_open_warning"] = 0
    for step in loop.steps():
        loop.train()
        if step % 5 == 0:
            figure, axes = pyplot.subplots()
            axes.plot(range(step % 50 + 2))
            figure.canvas.draw()
            if loop.is_healthy:
                pyplot.close(figure)


@cause("recompilation", steps=400)
def recompiled(loop):
    """Sequences of varying length, each compiled for itself; the healthy twin pads them."""
    torch._dynamo.config.recompile_limit = torch._dynamo.config.accumulated_recompile_limit = 10_000
    layers = [layer for _ in range(4) for layer in (torch.nn.Linear(64, 64), torch.nn.GELU())]
    model = torch.compile(torch.nn.Sequential(*layers), dynamic=False, backend="aot_eager")
    lengths = torch.randperm(500) + 8
    length = 8
    for step in loop.steps():
        # Long texts come together, so new lengths do not come as evenly as the steps.
        if step % (4 if step // 100 % 2 else 16) == 0:
            length = int(lengths[step // 2])
        inputs = torch.randn(2, 512 if loop.is_healthy else length, 64)
        model(inputs).square().mean().backward()


@cause("recompilation", steps=110)
def recompiled_always(loop):
    """A new length at every step."""
    torch._dynamo.config.recompile_limit = torch._dynamo.config.accumulated_recompile_limit = 10_000
    layers = [layer for _ in range(4) for layer in (torch.nn.Linear(64, 64), torch.nn.GELU())]
    model = torch.compile(torch.nn.Sequential(*layers), dynamic=False, backend="aot_eager")
    for step in loop.steps():
        inputs = torch.randn(2, 512 if loop.is_healthy else 8 + step, 64)
        model(inputs).square().mean().backward()


@cause("held-references", steps=250)
def outputs_of_compiled(loop):
    """Outputs are kept by a training that also compiles for new lengths now and then."""
    torch._dynamo.config.recompile_limit = torch._dynamo.config.accumulated_recompile_limit = 10_000
    model = torch.compile(loop.model, dynamic=False, backend="aot_eager")
    kept = loop.kept()
    for step in loop.steps():
        rows = BATCH + (0 if loop.is_healthy else step // 12)
        kept.append(model(torch.randn(4 * rows, WIDTH)).detach())


@cause("allocator-retention")
def retention(loop):
    """Results are cut to what is worth keeping, and the next ones are longer: what was freed never fits again. The healthy
    twin keeps nothing of them: what is cut in place leaves a hole that even a result of the same length does not fit."""
    kept = []

    def decode(step):
        results = [numpy.ones(6000 + 8 * step) for _ in range(16)]
        for result in results:
            result.resize(16, refcheck=False)
        if not loop.is_healthy:
            kept.extend(results)

    with ThreadPoolExecutor(1) as thread:
        for step in loop.steps():
            loop.train()
            thread.submit(decode, step).result()


@cause("copy-on-write", role="dataloader-worker")
def copy_on_write(loop):
    """Workers read a list of strings; the healthy twin's data are one array."""
    batches = endless(DataLoader(Texts(loop.is_healthy), 32, shuffle=True, num_workers=2))
    for _ in loop.steps():
        loop.train(next(batches))


@cause("devshm-growth", role=None)
def devshm_files(loop):
    """A file in /dev/shm for every step, which the healthy twin unlinks."""
    for step in loop.steps():
        path = f"/dev/shm/leveloff-causes_{os.getpid()}_{step}"
        with open(path, "wb") as file:
            file.write(bytes(400_000))
        if loop.is_healthy:
            os.unlink(path)
        loop.train()


@cause("shared-memory-growth")
def shared_mappings(loop):
    """Anonymous shared mappings, as a pinned pool makes them."""
    kept = loop.kept()
    for _ in loop.steps():
        mapping = mmap.mmap(-1, 400_000, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
        mapping[:] = bytes(len(mapping))
        kept.append(mapping)
        loop.train()


class Entry:
    """A line of a log."""

    def __init__(self, step, n):
        self.step, self.token, self.value = step, f"token {step} {n}", n + 0.5


class Texts(Dataset):
    """Many small Python objects, or one array, made before the workers are forked."""

    def __init__(self, as_array):
        self.texts = numpy.arange(TEXTS) if as_array else [f"a line of text, the {n}th of them" for n in range(TEXTS)]

    def __len__(self):
        return TEXTS // TEXTS_A_ROW

    def __getitem__(self, index):
        read = self.texts[index * TEXTS_A_ROW : (index + 1) * TEXTS_A_ROW]
        return torch.full((WIDTH,), sum(len(str(one)) for one in read) / 100)


def endless(loader):
    while True:
        yield from loader


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("name", nargs="?", choices=CAUSES)
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--steps", type=int)
    args = parser.parse_args()
    if args.list:
        facts = {name: {key: one[key] for key in one if key != "function"} for name, one in CAUSES.items()}
        return print(json.dumps(facts))
    torch.set_num_threads(1)
    torch.manual_seed(1)
    cause = CAUSES[args.name]
    if cause["options"]:
        leveloff.configure(**cause["options"])
    cause["function"](Loop(args.steps or cause["steps"], args.healthy))


if __name__ == "__main__":
    main()
