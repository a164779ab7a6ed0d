"""Training runs whose truth about memory is known, healthy ones and leaks, each a short function.

    patterns.py --list                what there is, as JSON
    patterns.py NAME --steps N        train; every step is printed

What a leak keeps, it keeps in a list, a dict or a closure, as real ones do; the sizes are small, so
that a run takes seconds. The judge was not tuned on these.
"""

import argparse
import copy
import ctypes
import json
import os
import tempfile
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import shared_memory

import numpy
import torch
from torch.utils.data import DataLoader, Dataset

from pattern_run import BATCH, WIDTH, Run, megabytes, mlp

PATTERNS = {}
LONG, SHORT = 1000, 300
EPOCH = 300


def healthy(level_at=20, steps=LONG, says_epoch_of=0):
    """Holds no more memory after `level_at`, however long it goes on."""
    return registered(truth="healthy", level_at=level_at, steps=steps, says_epoch_of=says_epoch_of)


def leak(role="trainer", kinds=("anon",), onset=1, steps=LONG):
    """Grows for as long as it runs. `role` keeps it; it shows in any of `kinds`."""
    return registered(truth="leak", role=role, kinds=kinds, onset=onset, steps=steps)


def registered(**truth):
    def register(function):
        PATTERNS[function.__name__] = {**truth, "what": function.__doc__, "function": function}
        return function

    return register


@healthy()
def plain(run):
    """An MLP, and nothing else."""
    for _ in run.steps():
        run.train()


@healthy(level_at=60)
def sequence_lengths(run):
    """A transformer on sequences of every length from 16 to 128."""
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    run.model = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    run.use(torch.optim.AdamW(run.model.parameters()))
    for _ in run.steps():
        run.train(torch.randn(4, int(torch.randint(16, 129, ())), 64))


@healthy()
def workers_kept(run):
    """Four persistent dataloader workers."""
    batches = endless(DataLoader(Rows(), BATCH, num_workers=4, persistent_workers=True))
    for _ in run.steps():
        run.train(next(batches))


@healthy(level_at=150)
def workers_anew(run):
    """Three dataloader workers, new ones every 150 steps."""
    batches = endless(DataLoader(Rows(150 * BATCH), BATCH, num_workers=3))
    for _ in run.steps():
        run.train(next(batches))


@healthy(level_at=EPOCH, steps=900, says_epoch_of=EPOCH)
def cache_with_epochs(run):
    """The dataset is cached in the first of three epochs; every line prints the epoch."""
    fill_cache(run)


@healthy(level_at=EPOCH, steps=900)
def cache_marked(run):
    """The same, and the length of an epoch is marked."""
    run.mark(epoch_steps=EPOCH, planned_steps=run.planned)
    fill_cache(run)


@healthy(level_at=EPOCH, steps=900)
def cache_untold(run):
    """The same, without epochs in the output: indistinguishable from a leak until it stops."""
    fill_cache(run)


@healthy(level_at=120)
def reference_cycles(run):
    """A megabyte a step in a reference cycle, which the collector frees every now and then."""
    for _ in run.steps():
        cycle = {"activations": megabytes(1)}
        cycle["self"] = cycle
        litter = [[] for _ in range(12)]
        litter.append(litter)
        run.train()


@healthy(level_at=110)
def checkpoints(run):
    """Model and optimizer saved every hundred steps; each is marked."""
    run.model = mlp(width=WIDTH, depth=24)
    run.use(torch.optim.AdamW(run.model.parameters()))
    with tempfile.TemporaryDirectory() as directory:
        for step in run.steps():
            run.train()
            if step % 100 == 0:
                state = {"model": run.model.state_dict(), "optimizer": run.optimizer.state_dict()}
                torch.save(state, os.path.join(directory, "checkpoint.pt"))
                run.mark(step=step, event="checkpoint")


@healthy(level_at=110)
def evaluation_spikes(run):
    """Every 80 steps an evaluation that needs 160 MB and gives them back."""
    for step in run.steps():
        run.train()
        if step % 80 == 0:
            predictions = [megabytes(8) for _ in range(20)]
            run.loss = torch.stack([one.mean() for one in predictions]).mean().item()
            del predictions


@healthy(level_at=40)
def compiled(run):
    """torch.compile with four compile workers."""
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "4"
    parameters, run.model = run.model.parameters(), torch.compile(run.model)
    run.use(torch.optim.SGD(parameters, lr=1e-3))
    for _ in run.steps():
        run.train()


@healthy(level_at=320)
def curriculum(run):
    """The sequences grow by a token a step, until step 300."""
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    run.model = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    run.use(torch.optim.SGD(run.model.parameters(), lr=1e-3))
    for step in run.steps():
        run.train(torch.randn(2, 20 + min(step, 300), 64))


@healthy(level_at=210)
def optimizer_switched(run):
    """SGD for 200 steps, then Adam, whose state is twice the model."""
    run.model = mlp(width=1024, depth=8)
    run.use(torch.optim.SGD(run.model.parameters(), lr=1e-4))
    for step in run.steps():
        if step == 201:
            run.use(torch.optim.Adam(run.model.parameters(), lr=1e-4))
        run.train(torch.randn(4, 1024))


@healthy(level_at=250)
def replay_buffer(run):
    """A buffer of the last 250 steps, as in reinforcement learning: it fills, then it turns over."""
    buffer = deque(maxlen=250)
    for _ in run.steps():
        buffer.append(torch.randn(BATCH, 4 * WIDTH))
        run.train(buffer[-1][:, :WIDTH])


@healthy()
def numbers_logged(run):
    """A list of losses, as plain numbers: it grows, far below the reporting threshold."""
    losses = []
    for _ in run.steps():
        run.train()
        losses.append({"loss": run.loss, "step": run.now})


@leak()
def losses_kept(run):
    """Losses are kept with their graphs, to be averaged at the end."""
    losses = []
    for _ in run.steps():
        losses.append(run.train()[1])


@leak()
def outputs_kept(run):
    """Outputs are kept, detached, for a metric; tensors are marked."""
    outputs = []
    run.mark(planned_steps=run.planned)
    for _ in run.steps():
        outputs.append(run.train(torch.randn(4 * BATCH, WIDTH))[0].detach())


@leak()
def hook_keeps(run):
    """A forward hook keeps the activations of two layers in a list that is never emptied."""
    noted = []
    for layer in (run.model[1], run.model[5]):
        layer.register_forward_hook(lambda module, arguments, output: noted.append(output.detach().clone()))
    for _ in run.steps():
        run.train(torch.randn(3 * BATCH, WIDTH))


@leak()
def cache_by_step(run):
    """A cache whose key holds the step, so that nothing in it is ever found again."""
    cache = {}
    for step in run.steps():
        key = ("features", step)
        if key not in cache:
            cache[key] = torch.randn(BATCH, 4 * WIDTH)
        run.train(cache[key][:, :WIDTH])


@leak()
def native_blocks(run):
    """A library that forgets 150 blocks of 2 KiB a step; tensors are marked."""
    library = ctypes.CDLL(None)
    library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    run.mark(planned_steps=run.planned)
    for _ in run.steps():
        for _ in range(150):
            ctypes.memset(library.malloc(2048), 1, 2048)
        run.train()


@leak(role="dataloader-worker")
def one_worker_keeps(run):
    """The third of four dataloader workers keeps what it decoded."""
    batches = endless(DataLoader(Rows(), BATCH, num_workers=4, collate_fn=Keep(worker=2)))
    for _ in run.steps():
        run.train(next(batches))


@leak(role="dataloader-worker")
def copy_on_write(run):
    """Workers read a list of strings, and each read copies the page with its reference count."""
    data = Texts(count=1_500_000, read_per_row=2)
    batches = endless(DataLoader(data, 32, shuffle=True, num_workers=4))
    for _ in run.steps():
        run.train(next(batches))


@leak(kinds=("shmem", "fds", "devshm"))
def batches_kept(run):
    """Every second batch from the workers is kept, with its shared memory and its descriptor."""
    kept = []
    batches = endless(DataLoader(Rows(width=4 * WIDTH), 2 * BATCH, num_workers=2))
    for step in run.steps():
        batch = next(batches)
        run.train(batch[:, :WIDTH])
        if step % 2:
            kept.append(batch)


@leak()
def evaluations_kept(run):
    """Every 50 steps an evaluation, marked, whose 18 MB of predictions are kept."""
    history = []
    for step in run.steps():
        run.train()
        if step % 50 == 0:
            run.mark(step=step, phase="eval")
            history.append([megabytes(3) for _ in range(6)])
            run.mark(step=step, phase="train")


@leak()
def snapshots_kept(run):
    """Every 40 steps a copy of the weights, in case it is the best; nothing is marked."""
    run.model = mlp(width=512, depth=10)
    run.use(torch.optim.SGD(run.model.parameters(), lr=1e-3))
    best = []
    for step in run.steps():
        run.train(torch.randn(BATCH, 512))
        if step % 40 == 0:
            best.append(copy.deepcopy(run.model.state_dict()))


@leak(kinds=("anon", "fds"))
def files_left_open(run):
    """A log file for every step, with a large buffer, never closed."""
    with tempfile.TemporaryDirectory() as directory:
        opened = []
        for step in run.steps():
            file = open(os.path.join(directory, f"{step}.log"), "wb", buffering=400_000)
            file.write(b"x" * 390_000)
            opened.append(file)
            run.train()
            os.remove(file.name)


@leak(kinds=("devshm",))
def shared_memory_left(run):
    """A shared memory block for every step, closed and never unlinked: in no process's memory."""
    for _ in run.steps():
        block = shared_memory.SharedMemory(create=True, size=500_000)
        block.buf[:] = bytes(block.size)
        block.close()
        run.train()


@leak()
def threads_keep(run):
    """Three threads decode, and each keeps what it did in a thread-local list."""
    local = threading.local()

    def decode(step):
        local.__dict__.setdefault("done", []).append(numpy.full(60_000, step, dtype=numpy.float64))

    with ThreadPoolExecutor(3) as pool:
        for step in run.steps():
            pool.submit(decode, step).result()
            run.train()


HISTORY = []


@leak()
def arrays_in_a_global(run):
    """A confusion matrix for every step in a module's list."""
    for _ in run.steps():
        output, _ = run.train()
        HISTORY.append(numpy.outer(output[0].detach().numpy(), output[1].detach().numpy()))


@leak(role="dataloader-worker")
def workers_never_ended(run):
    """Every 60 steps a new loader with workers of its own, while the old ones are kept."""
    loaders = []
    for step in run.steps():
        if step % 60 == 1:
            loaders.append(endless(DataLoader(Rows(), BATCH, num_workers=1, persistent_workers=True)))
        run.train(next(loaders[-1]))


@leak(onset=400, steps=1200)
def late_onset(run):
    """After 400 healthy steps, hard examples begin to be collected."""
    hard = []
    for step in run.steps():
        batch = torch.randn(2 * BATCH, WIDTH)
        run.train(batch)
        if step > 400:
            hard.append((batch, batch.square()))


@leak(steps=900)
def cache_then_leak(run):
    """A cache fills for 200 steps, and every step leaves half a megabyte behind as well."""
    cache, left = [], []
    for step in run.steps():
        run.train()
        left.append(megabytes(0.5))
        if step <= 200:
            cache.append(megabytes(0.8))


class Rows(Dataset):
    """Random rows, each made on access."""

    def __init__(self, length=1 << 24, width=WIDTH):
        self.length, self.width = length, width

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return torch.full((self.width,), float(index % 7))


class Texts(Dataset):
    """Many small Python objects, made before the workers are forked."""

    def __init__(self, count, read_per_row):
        self.texts = [f"a line of text, the {number}th of them" for number in range(count)]
        self.read_per_row = read_per_row

    def __len__(self):
        return len(self.texts) // self.read_per_row

    def __getitem__(self, index):
        first = index * self.read_per_row
        read = [len(text) for text in self.texts[first : first + self.read_per_row]]
        return torch.full((WIDTH,), sum(read) / 100)


class Keep:
    """Collates, and in one of the workers keeps a megabyte and a half for each batch."""

    def __init__(self, worker):
        self.worker, self.kept = worker, []

    def __call__(self, rows):
        if torch.utils.data.get_worker_info().id == self.worker:
            self.kept.append(megabytes(1.5))
        return torch.stack(rows)


def endless(loader):
    while True:
        yield from loader


def fill_cache(run):
    """A megabyte a step in the first epoch, which later ones read again."""
    cache = {}
    for step in run.steps():
        index = (step - 1) % EPOCH
        if index not in cache:
            cache[index] = torch.randn(BATCH, 16 * WIDTH)
        run.train(cache[index][:, :WIDTH])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("name", nargs="?", choices=PATTERNS)
    parser.add_argument("--steps", type=int)
    args = parser.parse_args()
    if args.list:
        facts = {name: {key: one[key] for key in one if key != "function"} for name, one in PATTERNS.items()}
        return print(json.dumps(facts))
    torch.set_num_threads(1)
    torch.manual_seed(1)
    pattern = PATTERNS[args.name]
    run = Run(args.steps or pattern["steps"], pattern.get("says_epoch_of", 0))
    try:
        pattern["function"](run)
    finally:
        run.end()


if __name__ == "__main__":
    main()
