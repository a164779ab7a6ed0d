"""Trainings whose memory grows for one known reason, for `leveloff try`: python trainings.py CAUSE.

Each prints `step N` and takes about 1/20 s for a step. None of them reads the change that is tried: what stops the growth is
the change itself.
"""

import ctypes
import gc
import mmap
import os
import queue
import sys
import threading
import time

PACE_S = 0.02
STEPS = 3000
MIB = 1 << 20


def steps():
    for step in range(1, STEPS + 1):
        yield step
        print(f"step {step} loss {1.0 / step:.4f}", flush=True)
        time.sleep(float(os.environ.get("LEVELOFF_TRY_PACE", PACE_S)))


def small_model():
    import torch

    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = torch.nn.Linear(64, 64)
    return torch, model, torch.optim.SGD(model.parameters(), lr=0.01)


def train(torch, model, optimizer):
    optimizer.zero_grad()
    loss = model(torch.randn(16, 64)).square().mean()
    loss.backward()
    optimizer.step()
    return loss


def cyclic_garbage():
    """Only a collection frees what each step leaves, and the training has switched collections off."""
    torch, model, optimizer = small_model()
    gc.disable()
    for _ in steps():
        train(torch, model, optimizer)
        cycle = [torch.ones(MIB // 4)]
        cycle.append(cycle)


def kept_gradients():
    """A tensor that is reachable from a gradient stays as long as the gradient does."""
    torch, model, optimizer = small_model()
    for _ in steps():
        model(torch.randn(16, 64)).square().mean().backward()
        # Gradients are summed up and never cleared; with each, what a hook attached to it.
        gradient = model.weight.grad
        gradient.history = [getattr(gradient, "history", None), torch.ones(MIB // 4)]
        optimizer.step()


def kept_references():
    """A list that nothing clears."""
    torch, model, optimizer = small_model()
    kept = []
    for _ in steps():
        kept.append((train(torch, model, optimizer), torch.ones(MIB // 4)))


def native_leak():
    """malloc without free, below the reach of any setting."""
    torch, model, optimizer = small_model()
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    for _ in steps():
        train(torch, model, optimizer)
        ctypes.memset(libc.malloc(MIB), 1, MIB)


def worker_leak():
    """Loader workers keep what they load."""
    import torch

    class Kept(torch.utils.data.Dataset):
        rows = []

        def __len__(self):
            return 1 << 20

        def __getitem__(self, place):
            worker = torch.utils.data.get_worker_info()
            if worker is not None:
                self.rows.append(bytearray(b"x" * (MIB // 2)))
            return torch.randn(64)

    torch, model, optimizer = small_model()
    batches = iter(torch.utils.data.DataLoader(Kept(), batch_size=2, num_workers=2))
    for _ in steps():
        optimizer.zero_grad()
        model(next(batches)).square().mean().backward()
        optimizer.step()


def heap_holes():
    """Each step fills five buffers of 256 KiB, one behind the other, and shrinks each to the 64 bytes that it keeps. glibc cuts the
    buffers from the heap: what a buffer gives back lies between two blocks that are kept, and is 64 bytes too small for the next
    buffer."""
    torch, model, optimizer = small_model()
    libc = heap_of_large_blocks()
    size = 256 << 10
    for _ in steps():
        train(torch, model, optimizer)
        buffers = [libc.malloc(size) for _ in range(5)]
        for buffer in buffers:
            ctypes.memset(buffer, 1, size)
            libc.realloc(buffer, 64)


def heap_of_large_blocks():
    """The C library. glibc now cuts blocks of up to 30 MiB from the heap, unless a threshold is set from outside: it takes the size
    of a mapped block that is freed for the usual one."""
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    libc.realloc.restype = ctypes.c_void_p
    libc.realloc.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    libc.free.argtypes = [ctypes.c_void_p]
    libc.free(libc.malloc(30 << 20))
    # What the imports have freed would be used first, and memory would be level until it is.
    libc.malloc_trim(0)
    return libc


def recompiled():
    """torch.compile makes a graph for each new shape, and keeps it."""
    import torch
    import torch._dynamo

    torch._dynamo.config.cache_size_limit = 1 << 20
    torch._dynamo.config.accumulated_cache_size_limit = 1 << 20
    torch, model, optimizer = small_model()
    kept = []

    def backend(graph, _inputs):
        # A compiler that needs 1 MiB for each graph.
        kept.append(torch.ones(MIB // 4))
        return graph.forward

    compiled = torch.compile(model, backend=backend, dynamic=False)
    for step in steps():
        optimizer.zero_grad()
        compiled(torch.randn(step + 1, 64)).square().mean().backward()
        optimizer.step()


def wandb_like():
    """A logger that keeps what it is given unless WANDB_MODE says disabled."""
    torch, model, optimizer = small_model()
    sys.modules.setdefault("wandb", sys)
    queue = []
    for _ in steps():
        train(torch, model, optimizer)
        if os.environ.get("WANDB_MODE") != "disabled":
            queue.append(torch.ones(MIB // 4))


def two_causes():
    """Half of the growth is garbage, half is reachable from a gradient that is never cleared. Both are mapped: in the heap, what a
    collection frees would be holes between what is kept, and the heap would grow as fast as without it."""
    torch, model, optimizer = small_model()
    gc.disable()
    for _ in steps():
        model(torch.randn(16, 64)).square().mean().backward()
        gradient = model.weight.grad
        gradient.history = [getattr(gradient, "history", None), mapped(MIB // 2)]
        optimizer.step()
        cycle = [mapped(MIB // 2)]
        cycle.append(cycle)


def mapped(size):
    memory = mmap.mmap(-1, size)
    memory.write(b"x" * size)
    return memory


def healthy():
    """Level after a warmup."""
    torch, model, optimizer = small_model()
    kept = []
    for step in steps():
        train(torch, model, optimizer)
        if step < 60:
            kept.append(torch.ones(MIB // 4))


def arena_per_thread():
    """One thread after another needs more and more memory and frees all but a little. glibc gives each thread an arena, and
    keeps what each has freed, because the last block of an arena is used."""
    torch, model, optimizer = small_model()
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    libc.free.argtypes = [ctypes.c_void_p]
    orders, done = queue.Queue(), queue.Queue()
    # Below every threshold above which glibc maps a block of its own.
    size, per_mib, rounds = 32 << 10, 32, 20

    def work():
        for mib in range(1, rounds + 1):
            orders.get()
            blocks = [libc.malloc(size) for _ in range(2 * mib * per_mib)]
            for block in blocks:
                ctypes.memset(block, 1, size)
            # The last one stays, at the top of the arena.
            for block in blocks[:-1]:
                libc.free(block)
            done.put(mib)
        # Its arena stays its own.
        threading.Event().wait()

    for step in steps():
        train(torch, model, optimizer)
        if step % rounds == 1:
            threading.Thread(target=work, daemon=True).start()
        orders.put(step)
        done.get()


def kept_at_the_top():
    """One thread after another needs more and more memory and frees all of it. glibc gives each thread an arena, and keeps what is
    free at the top of an arena, up to twice the largest mapped block that was ever freed."""
    torch, model, optimizer = small_model()
    libc = heap_of_large_blocks()
    orders, done = queue.Queue(), queue.Queue()
    size, per_mib, rounds = 128 << 10, 8, 40

    def work():
        # Made before the blocks: a list that grows behind them would hold the top of the arena.
        blocks = [0] * (rounds * per_mib)
        for mib in range(1, rounds + 1):
            orders.get()
            places = range(mib * per_mib)
            for place in places:
                blocks[place] = libc.malloc(size)
                ctypes.memset(blocks[place], 1, size)
            for place in places:
                libc.free(blocks[place])
            done.put(mib)
        # Its arena stays its own.
        threading.Event().wait()

    for step in steps():
        train(torch, model, optimizer)
        if step % rounds == 1:
            threading.Thread(target=work, daemon=True).start()
        orders.put(step)
        done.get()


def loader_copies():
    """Loader workers count references to the objects of a data set that they share with the training, and so copy its pages."""
    import torch

    class Words(torch.utils.data.Dataset):
        def __init__(self):
            self.words = [f"{n:0>200}" for n in range(1_500_000)]

        def __len__(self):
            return len(self.words)

        def __getitem__(self, place):
            # Two steps of reading ahead for each worker, and no page twice.
            rows = self.words[place * 3000 : (place + 1) * 3000]
            return torch.full((64,), float(len(rows)))

    torch, model, optimizer = small_model()
    batches = iter(torch.utils.data.DataLoader(Words(), batch_size=1, num_workers=2))
    for _ in steps():
        optimizer.zero_grad()
        model(next(batches)).square().mean().backward()
        optimizer.step()


def trainer_of_transformers(keeps_at):
    """The Trainer of transformers, with a callback that keeps 5 MiB at each evaluation or checkpoint: one in five steps."""
    import tempfile

    import torch
    import transformers

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(64, 1)

        def forward(self, x, labels=None):
            y = self.layer(x)
            return {"loss": (y - labels).square().mean(), "logits": y}

    class Keeps(transformers.TrainerCallback):
        kept = []

        def on_step_end(self, args, state, control, **_):
            print(f"step {state.global_step} loss 0.5", flush=True)
            time.sleep(PACE_S)

        def keep(self, *_, **__):
            self.kept.append(torch.ones(5 * MIB // 4))

    setattr(Keeps, keeps_at, Keeps.keep)
    torch.set_num_threads(1)
    rows = [{"x": torch.randn(64), "labels": torch.randn(1)} for _ in range(32)]
    with tempfile.TemporaryDirectory() as directory:
        settings = transformers.TrainingArguments(
            output_dir=directory, max_steps=STEPS, per_device_train_batch_size=4, eval_strategy="steps", eval_steps=5,
            save_steps=5, save_total_limit=1, report_to=[], use_cpu=True, logging_steps=10_000, disable_tqdm=True,
        )
        trainer = transformers.Trainer(Model(), settings, train_dataset=rows, eval_dataset=rows, callbacks=[Keeps()])
        trainer.train()


def kept_by_evaluation():
    """Each evaluation leaves something."""
    trainer_of_transformers("on_evaluate")


def kept_by_saving():
    """Each checkpoint leaves something."""
    trainer_of_transformers("on_save")


def crashes():
    raise SystemExit(7)


def silent():
    """Never prints a step."""
    time.sleep(3600)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
