"""What a training knows about itself, noted without leveloff's code, to hold a recording against.

A file of JSON Lines for each process: who it is, then every step, phase, event and count, each with its
time, and at the end what the callback says it cost.
"""

import gc
import json
import os
import time

import torch

PACE_S = 0.04  # No step is faster, so that each is a line of its own, and as long as a small real one.


class Notes:
    """Steps are noted with the time before the callback marks them (they cannot be known earlier) and after."""

    def __init__(self, directory):
        self.began_s = self.pace_from = self.row = self.before_s = self.before_cpu_s = None
        self.spent_s, self.spent_cpu_s, self.called, self.worst_s = 0.0, 0.0, 0, 0.0
        self.marks = OwnMarks()
        self.file = open(os.path.join(directory, f"{os.getpid()}.jsonl"), "a", buffering=1)
        rank = os.environ.get("RANK")
        self.note(pid=os.getpid(), start=start_of("self"), rank=None if rank is None else int(rank))

    def note(self, **facts):
        print(json.dumps({"t": time.time(), **facts}), file=self.file)

    def begin(self, **facts):
        self.note(**facts)
        self.began_s = self.pace_from = time.monotonic()

    def step(self, step, **facts):
        """Right before the callback's turn."""
        self.row = {"t": time.time(), "step": step, **facts}
        self.before_s, self.before_cpu_s = time.monotonic(), time.thread_time()

    def stepped(self, step):
        """Right after it: what it took, seen from outside; and when it counted tensors, so do we."""
        took = time.monotonic() - self.before_s
        self.spent_cpu_s += time.thread_time() - self.before_cpu_s
        self.spent_s, self.called, self.worst_s = self.spent_s + took, self.called + 1, max(self.worst_s, took)
        self.note(**self.row, done=time.time())
        if self.marks.counted():
            tensors, tensor_bytes = count_tensors()
            self.note(at=step, tensors=tensors, tensor_bytes=tensor_bytes)

    def keep_pace(self):
        time.sleep(max(0.0, self.pace_from + PACE_S - time.monotonic()))
        self.pace_from = time.monotonic()

    def end(self, **facts):
        self.note(
            train_s=time.monotonic() - self.began_s, outside_s=self.spent_s, calls=self.called,
            outside_cpu_s=self.spent_cpu_s, outside_worst_s=self.worst_s, cost=cost(), **facts,
        )


class OwnMarks:
    """The marks file of this very process, read along: it shows when the callback counted."""

    def __init__(self):
        directory = os.environ.get("LEVELOFF_MARKS", f"/tmp/leveloff-{os.getuid()}")
        self.path, self.file = os.path.join(directory, f"{os.getpid()}.jsonl"), None
        if os.path.exists(self.path):
            os.remove(self.path)  # Of an earlier process that had this pid.

    def counted(self):
        if self.file is None and os.path.exists(self.path):
            self.file = open(self.path)
        return any("tensors" in json.loads(line) for line in self.file or ())


def count_tensors():
    """Live tensors and the bytes of their storages, each storage once."""
    tensors = [one for one in gc.get_objects() if issubclass(type(one), torch.Tensor)]
    storages = [found for found in map(storage, tensors) if found]
    return len(storages), sum(dict(storages).values())


def storage(tensor):
    """Where it is and how large; None for one that is no memory, as torch.compile has them."""
    try:
        held = tensor.untyped_storage()
        return None if held.device.type == "meta" else (held.data_ptr(), held.nbytes())
    except RuntimeError:
        return None


def cost():
    """What the package says of itself; None when there is none."""
    try:
        import leveloff
    except ImportError:
        return None
    said = leveloff.cost()
    return {name: getattr(said, name) for name in dir(said) if is_figure(getattr(said, name), name)}


def is_figure(value, name):
    return not name.startswith("_") and isinstance(value, (int, float))


def start_of(pid):
    with open(f"/proc/{pid}/stat") as stat:
        return int(stat.read().rsplit(")", 1)[1].split()[19])
