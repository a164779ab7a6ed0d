"""Trainings whose memory grows for one known reason, for `leveloff try`: python trainings.py CAUSE.

Each prints `step N` and takes about 1/20 s for a step. None of them reads the change that is tried: what stops the growth is
the change itself.
"""

import gc
import os
import sys
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
    import ctypes

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
    """Large blocks are freed between small ones that stay: the heap grows by holes that the next, larger block does not fit."""
    import ctypes

    torch, model, optimizer = small_model()
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    libc.free.argtypes = [ctypes.c_void_p]
    # After this, glibc cuts blocks of up to 30 MiB from the heap, unless its threshold is set from outside.
    libc.free(libc.malloc(30 << 20))
    size = 256 << 10
    for _ in steps():
        train(torch, model, optimizer)
        blocks = []
        for _ in range(4):
            size += 64
            blocks.append(libc.malloc(size))
            ctypes.memset(blocks[-1], 1, size)
            libc.malloc(24)
        for block in blocks:
            libc.free(block)


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
    import os

    torch, model, optimizer = small_model()
    sys.modules.setdefault("wandb", sys)
    queue = []
    for _ in steps():
        train(torch, model, optimizer)
        if os.environ.get("WANDB_MODE") != "disabled":
            queue.append(torch.ones(MIB // 4))


def two_causes():
    """Half of the growth is garbage, half is kept."""
    torch, model, optimizer = small_model()
    gc.disable()
    kept = []
    for _ in steps():
        train(torch, model, optimizer)
        cycle = [torch.ones(MIB // 8)]
        cycle.append(cycle)
        kept.append(torch.ones(MIB // 8))


def healthy():
    """Level after a warmup."""
    torch, model, optimizer = small_model()
    kept = []
    for step in steps():
        train(torch, model, optimizer)
        if step < 60:
            kept.append(torch.ones(MIB // 4))


def crashes():
    raise SystemExit(7)


def silent():
    """Never prints a step."""
    time.sleep(3600)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
