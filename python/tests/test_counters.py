"""The counters: how often they are read, and that they are right. Torch is a stand-in with the few functions that are
used; scripts/suites/torch counts real tensors."""

import ctypes
import json

import pytest
from training_process import train

from leveloff._malloc import Malloc, anonymous_bytes
from leveloff._pace import LONGEST_GAP, EarlyPace, Pace
from leveloff._tensors import grown

TORCH = """
import sys, types
torch = types.ModuleType("torch"); torch._C = types.SimpleNamespace()
class Storage:
    def __init__(self, size, address=1): self._cdata, self._size, self._address = id(self), size, address
    def nbytes(self): return self._size
    def data_ptr(self):
        if self._address is None: raise RuntimeError("Cannot access data pointer")
        return self._address
class Tensor:
    def __init__(self, storage, device="cpu", shape=(4,)):
        self._s, self.device, self.is_cpu, self.is_meta = storage, device, device == "cpu", device == "meta"
        self.dtype, self.shape, self.me = "torch.float32", shape, self
    def untyped_storage(self): return self._s
class Parameter(Tensor): pass
class Wrapper(Tensor): pass
class FakeTensor(Tensor): pass
torch.Tensor = Tensor; torch.nn = types.SimpleNamespace(Parameter=Parameter)
sys.modules["torch"] = torch
leveloff.configure(every=1, budget=1e12)
"""


def inside(tmp_path, script, **environ):
    result = train(tmp_path, TORCH + script + "\nleveloff.step(1)\n", **environ)
    assert result.code == 0 and "switched off" not in result.err, result.err
    return result.lines[0]


def test_tensors_are_counted_and_a_storage_once(tmp_path):
    line = inside(
        tmp_path,
        """
shared = Storage(100)
kept = [Tensor(shared), Tensor(shared), Parameter(Storage(50)), Tensor(Storage(1000), "cuda:0")]
kept += [Tensor(Storage(9999), "meta"), FakeTensor(Storage(9999)), Wrapper(Storage(9999, 0)), Wrapper(Storage(9999, None))]
kept += [Wrapper(Storage(7))]
""",
    )
    assert line["tensor_bytes"] == 1157 and line["device_tensor_bytes"] == 1000 and line["device_tensors"] == 1
    assert line["tensors"] == 7, "meta and fake tensors are no memory; wrappers count, without bytes"
    assert line["gc_objects"] > 1000 and line["python_blocks"] > 1000


def test_no_device_is_not_zero_devices(tmp_path):
    line = inside(tmp_path, "kept = [Tensor(Storage(1))]")
    assert line["tensors"] == 1 and "device_tensors" not in line and "cuda_bytes" not in line


def test_objects_with_unusual_attributes_are_not_inspected(tmp_path):
    line = inside(
        tmp_path,
        """
class Proxy:
    def __init__(self): self.me = self
    @property
    def __class__(self): raise SystemExit("a lazy proxy was woken")
class Broken(Tensor):
    @property
    def is_cpu(self): raise RuntimeError("half made")
    @is_cpu.setter
    def is_cpu(self, _): pass
kept = [Proxy(), Broken(Storage(1)), Tensor(Storage(2))]
""",
    )
    assert line["tensors"] == 1 and line["tensor_bytes"] == 2


def test_without_torch_there_are_no_tensors_to_tell(tmp_path):
    result = train(tmp_path, "leveloff.configure(every=1, budget=1e12); leveloff.step(1)")
    assert "tensors" not in result.lines[0] and result.lines[0]["python_blocks"] > 1000


def test_shapes_that_grew_are_reported_by_default(tmp_path):
    result = train(
        tmp_path,
        TORCH
        + """
kept = [Tensor(Storage(10), shape=(64, 1024))]
leveloff.step(1)
kept += [Tensor(Storage(10), shape=(64, 1024)) for _ in range(3)] + [Tensor(Storage(500), "cuda:0", (1,) * 40)]
leveloff.step(2)
""",
    )
    assert result.lines[0]["tensors_grown"] == []
    first, second = result.lines[1]["tensors_grown"]
    assert first[0].startswith("float32[1, 1") and len(first[0]) == 64 and first[1:] == [1, 500]
    assert second == ["float32[64, 1024] cpu", 3, 30]


def test_only_growers_are_reported_and_the_biggest_first():
    before = {"a": (1, 10), "b": (9, 90)}
    now = {"a": (2, 30), "b": (3, 30), "c": (5, 50), **{f"x{n}": (1, n) for n in range(20)}}
    result = grown(before, now)
    assert result[:2] == [("c", 5, 50), ("a", 1, 20)] and len(result) == 8


@pytest.mark.parametrize(
    "environ, option, counts",
    [({}, "None", True), ({"LOCAL_RANK": "0"}, "None", True), ({"LOCAL_RANK": "1"}, "None", False),
     ({"LOCAL_RANK": "1"}, "True", True), ({}, "False", False)],
)  # fmt: skip
def test_one_process_of_a_machine_counts(tmp_path, environ, option, counts):
    line = inside(tmp_path, f"kept = Tensor(Storage(1)); leveloff.configure(tensors={option})", **environ)
    assert ("tensors" in line) == counts and "python_blocks" in line


def test_a_forked_child_does_not_count(tmp_path):
    line = inside(tmp_path, "kept = Tensor(Storage(1))\nif os.fork(): os.wait(); os._exit(0)")
    assert "tensors" not in line and "python_blocks" in line


class TestPace:
    def test_every_so_many_steps(self):
        pace = Pace(10, 0.01)
        pace.begin(0, 0.0, 0.0)
        assert [step for step in range(1, 15) if pace.is_due(step, step * 0.1)][0] == 10

    def test_what_costs_much_happens_seldom(self):
        pace = Pace(10, 0.002)
        pace.begin(0, 0.0, 0.0)
        pace.done(10, 1.0, 0.1)
        assert not pace.is_due(1000, 50.9) and pace.is_due(1000, 51.1)

    def test_the_first_waits_until_it_is_worth_it(self):
        pace = Pace(10, 0.002)
        pace.begin(0, 0.0, 0.1)
        assert not pace.is_due(100, 33.2) and pace.is_due(100, 33.4)

    def test_slow_steps_are_looked_at_too(self):
        pace = Pace(10, 0.002)
        pace.begin(0, 0.0, 0.0)
        assert not pace.is_due(1, LONGEST_GAP - 1) and pace.is_due(1, LONGEST_GAP)

    def test_slow_steps_may_have_a_shorter_gap(self):
        pace = Pace(10, 0.002, 0.5)
        pace.begin(0, 0.0, 0.0)
        assert not pace.is_due(1, 0.4) and pace.is_due(1, 0.5)

    @pytest.mark.parametrize("cost", [1e-5, 1e-3, 0.1, 2.0])
    def test_the_share_is_kept_whatever_it_costs(self, cost):
        pace, spent, now = Pace(10, 0.002), 0.0, 0.0
        pace.begin(0, 0.0, cost)
        for step in range(1, 100_000):
            now += 0.05
            if pace.is_due(step, now):
                spent += cost
                now += cost
                pace.done(step, now, cost)
        assert spent / now < 0.0021


class TestEarlyPace:
    @staticmethod
    def counts(pace, cost, seconds, steps_per_second=10, rises_at=()):
        """The steps at which it happened, and the seconds it took in all."""
        pace.begin(0.0, cost)
        done = []
        for step in range(1, int(seconds * steps_per_second) + 1):
            now = step / steps_per_second
            if pace.is_due(step, now, step in rises_at):
                pace.done(step, now, cost)
                done.append(step)
        return done, cost * len(done)

    def test_steps_are_doubled(self):
        done, _ = self.counts(EarlyPace(1.0, 1.0), 1e-6, 6)
        assert done == [1, 2, 4, 8, 16, 32]

    def test_memory_that_rose_is_a_reason(self):
        done, _ = self.counts(EarlyPace(1.0, 1.0), 1e-6, 6, rises_at=(20, 21))
        assert done == [1, 2, 4, 8, 16, 20, 21, 32]

    def test_the_first_counts_are_on_credit_and_the_rest_waits(self):
        done, _ = self.counts(EarlyPace(0.0024, 0.3), 0.1, 120)
        assert done[:3] == [1, 20, 40] and done[3] > 400, "the fourth has to be earned"

    def test_fast_steps_do_not_use_up_the_credit_at_once(self):
        done, _ = self.counts(EarlyPace(0.0024, 0.3), 0.06, 20, steps_per_second=100)
        assert done == [1, 200, 400, 800, 1600], "each count is half-way through what has passed, or later"

    @pytest.mark.parametrize("cost", [1e-5, 1e-3, 0.1, 2.0])
    def test_the_budget_is_kept_whatever_it_costs(self, cost):
        every = range(1, 100_000)
        _, spent = self.counts(EarlyPace(0.002, 0.3), cost, 5000, rises_at=every)
        assert spent <= max(cost, 0.3 + 0.002 * 5000)

    def test_slow_steps_are_looked_at_too(self):
        pace = EarlyPace(0.002, 0.3)
        pace.begin(0.0, 1e-3)
        pace.done(1, 0.0, 1e-3)
        assert not pace.is_due(1, LONGEST_GAP - 1, False) and pace.is_due(1, LONGEST_GAP, False)


def test_tensors_are_counted_when_memory_rose(tmp_path):
    result = train(
        tmp_path,
        TORCH
        + """
leveloff.configure(every=1, budget=1e12)
kept, ballast = [], []
for step in range(1, 33):
    kept.append(Tensor(Storage(8)))
    if step in (11, 27): ballast.append(bytearray(b"x" * (64 << 20)))
    leveloff.step(step)
""",
    )
    counted = [line["step"] for line in result.lines if "tensors" in line]
    assert counted == [1, 2, 4, 8, 11, 16, 27, 32]
    assert [line["tensors"] for line in result.lines if "tensors" in line] == counted


class TestMalloc:
    def setup_method(self):
        self.malloc = Malloc.find()
        if self.malloc is None:
            pytest.skip("CANNOT RUN HERE: malloc is not that of a glibc from 2.33 on")

    def test_its_books_follow_what_is_held_and_freed(self):
        libc = ctypes.CDLL("libc.so.6")
        libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
        libc.free.argtypes = [ctypes.c_void_p]
        before = self.malloc.facts()
        blocks = [libc.malloc(100_000) for _ in range(500)]
        held = self.malloc.facts()
        assert 49e6 < held["malloc_used_bytes"] - before["malloc_used_bytes"] < 52e6
        for block in blocks[:-1]:  # The last one keeps the heap from shrinking.
            libc.free(block)
        kept = self.malloc.facts()
        assert kept["malloc_used_bytes"] - before["malloc_used_bytes"] < 1e6
        libc.free(blocks[-1])

    def test_memory_of_this_process(self):
        assert 1e6 < anonymous_bytes() < 1e12


def test_another_malloc_has_no_books_here(tmp_path):
    result = train(
        tmp_path,
        """
        import ctypes, types, leveloff._malloc as malloc
        real = ctypes.CDLL
        malloc.ctypes.CDLL = lambda name: real(name) if name else types.SimpleNamespace(malloc=real(None).calloc)
        leveloff.configure(every=1, budget=1e12)
        leveloff.step(1)
        """,
    )
    assert result.lines[0]["python_blocks"] > 0 and "malloc_used_bytes" not in result.lines[0]


BOUNDARIES = """
import time
leveloff.configure(every=1000, budget={budget})
leveloff.step(1, epoch=0.5)
kept = []
with leveloff.phase("eval"):
    kept.append(bytearray(b"x" * (8 << 20)))
    time.sleep(0.01)
leveloff.mark("checkpoint")
time.sleep(0.2)
leveloff.step(2, epoch=0.6)
time.sleep(0.2)
leveloff.step(3, epoch=1.1)
"""


@pytest.mark.skipif(Malloc.find() is None, reason="CANNOT RUN HERE: malloc is not that of a glibc from 2.33 on")
class TestBoundaries:
    def test_malloc_is_read_where_phases_begin_and_end_and_epochs_and_events_come(self, tmp_path):
        lines = train(tmp_path, BOUNDARIES.format(budget=1e12)).lines
        counted = ["malloc_used_bytes" in line for line in lines]
        what = [line.get("phase") or line.get("event") or line["step"] for line in lines]
        assert what == ["train", "eval", "train", "checkpoint", 2, 3]
        assert counted == [False, True, True, True, False, True]
        assert 8 << 20 <= lines[2]["malloc_used_bytes"] - lines[1]["malloc_used_bytes"] < 9 << 20
        assert "python_blocks" not in lines[1], "they take longer to count"

    def test_not_beyond_the_budget(self, tmp_path):
        lines = train(tmp_path, BOUNDARIES.format(budget=1e-9)).lines
        assert sum("malloc_used_bytes" in line for line in lines) == 1

    def test_a_boundary_before_the_first_step_reads_nothing(self, tmp_path):
        (line,) = train(tmp_path, "leveloff.mark('checkpoint')").lines
        assert "malloc_used_bytes" not in line


def test_steps_that_are_slow_read_allocators_in_time(tmp_path):
    result = train(
        tmp_path,
        """
        import time
        leveloff.configure(budget=1e12)
        for step in range(1, 7):
            leveloff.step(step)
            time.sleep(0.3)
        """,
    )
    assert ["python_blocks" in line for line in result.lines] == [False, False, True, False, True, False]


RETENTION = """
import ctypes
libc = ctypes.CDLL("libc.so.6")
libc.malloc.restype, libc.malloc.argtypes, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]
leveloff.configure(every=1, budget=1e12, trim_probe={probe})
leveloff.step(1)
blocks = [libc.malloc(100_000) for _ in range(2000)]
for block in blocks: ctypes.memset(block, 1, 100_000)
leveloff.step(2)   # held: growth that native code explains
for block in blocks[:-1]: libc.free(block)
leveloff.step(3)   # freed and kept
leveloff.step(4)
"""


@pytest.mark.skipif(Malloc.find() is None, reason="CANNOT RUN HERE: malloc is not that of a glibc from 2.33 on")
def test_the_probe_asks_once_when_malloc_keeps_much(tmp_path):
    result = train(tmp_path, RETENTION.format(probe=True))
    (trim,) = [line for line in result.lines if "trimmed_bytes" in line]
    assert trim["event"] == "trim" and trim["step"] == 3 and 150e6 < trim["trimmed_bytes"] < 210e6
    assert trim["malloc_free_bytes"] > 150e6 and trim["trim_ms"] > 0


def test_memory_is_not_trimmed_unless_requested(tmp_path):
    result = train(tmp_path, RETENTION.format(probe=False))
    assert len(result.lines) == 4 and "trim" not in json.dumps(result.lines)


def test_the_cost_is_reported(tmp_path):
    result = train(
        tmp_path,
        """
        for n in range(1, 101): leveloff.step(n)
        cost = leveloff.cost()
        assert cost.steps == 100 and 0 < cost.worst_seconds <= cost.seconds
        assert 0 < cost.counting_seconds < cost.seconds
        """,
    )
    assert result.code == 0, result.err
