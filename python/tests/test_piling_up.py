"""What piles up beside tensors: compiled graphs, figures, classes of objects, shapes of inputs. Torch, JAX and matplotlib are
stand-ins with the few internals that are read; scripts/suites/torch has the real ones."""

import pytest
from training_process import train

from leveloff._compilers import Compilers, Reasons, Rising, classified
from leveloff._inputs import InputShapes

DYNAMO = """
import collections, sys, types
convert = types.ModuleType("torch._dynamo.convert_frame"); convert.FRAME_COMPILE_COUNTER = collections.Counter()
utils = types.ModuleType("torch._dynamo.utils"); utils.guard_failures = collections.defaultdict(list)
sys.modules[convert.__name__], sys.modules[utils.__name__] = convert, utils
def compile(frame, graph, reason="tensor 'x' size mismatch at index 1. expected 3, actual 4"):
    convert.FRAME_COMPILE_COUNTER[frame] += 1
    for older in reversed(range(graph)):
        utils.guard_failures["code"].append(f"{frame}/{older}: {reason}")
leveloff.configure(every=1, budget=1e12)
"""


def last(lines, name):
    return next((line[name] for line in reversed(lines) if name in line), None)


@pytest.mark.parametrize(
    "reason, row",
    [
        ("tensor 'args[0]' size mismatch at index 1. expected 2, actual 31", ("size", "args[0], dimension 1")),
        ("2 <= x.size()[1]  # y = x*n  # train.py:9 in f", ("size", "x, dimension 1")),
        ("tensor 'x' rank mismatch. expected 2, actual 3", ("size", "x, number of dimensions")),
        ("tensor 'x' dtype mismatch. expected Float, actual Double", ("type", "dtype of x")),
        ("___check_type_id(n, 140048882564320), type=<class 'int'>", ("type", "n")),
        ("___check_obj_id(g, 140048869314368)           ", ("object", "g")),
        ("n == 1                # y = x*n\nUser stack trace:\n  File", ("value", "n")),
        ("g is None             # return g(y)", ("value", "g")),
        ("something `@new` at 140048869314368", ("other", "something new at N")),
        ("", ("other", "unknown")),
    ],
)
def test_a_failed_guard_is_put_into_words(reason, row):
    assert classified(reason) == row


def test_compilations_are_counted_with_their_reasons(tmp_path):
    result = train(
        tmp_path,
        DYNAMO
        + """
for step in range(1, 6):
    compile(0, step - 1)
    leveloff.step(step)
compile(1, 0)
leveloff.step(6)
""",
    )
    assert "switched off" not in result.err, result.err
    assert [line["compilations"] for line in result.lines if "compilations" in line] == [1, 2, 3, 4, 5, 6]
    assert last(result.lines, "recompilations") == 4
    assert last(result.lines, "recompile_reasons") == [["size", "x, dimension 1", 4]], "once for each recompilation"


def test_a_reset_of_the_compiler_is_no_loss(tmp_path):
    result = train(
        tmp_path,
        DYNAMO
        + """
for graph in range(3): compile(0, graph)
leveloff.step(1)
convert.FRAME_COMPILE_COUNTER.clear(); utils.guard_failures.clear()
compile(0, 0)
leveloff.step(2)
""",
    )
    assert [line["compilations"] for line in result.lines if "compilations" in line] == [3, 4]


def test_internals_of_another_version_are_left_out(tmp_path):
    result = train(
        tmp_path,
        DYNAMO
        + """
convert.FRAME_COMPILE_COUNTER = "not a counter"; utils.guard_failures = None
leveloff.step(1)
""",
    )
    assert result.steps() == [1] and result.err == "" and last(result.lines, "compilations") is None


def test_a_training_without_a_compiler_says_nothing_of_it(tmp_path):
    result = train(tmp_path, "leveloff.configure(every=1, budget=1e12)\nleveloff.step(1)\n")
    assert not {"compilations", "open_figures", "input_shapes", "objects_grown"} & result.lines[0].keys()


def test_a_count_that_begins_anew_goes_on():
    count = Rising()
    assert [count.now(value) for value in (3, 5, 1, 2, 0, 4)] == [3, 5, 6, 7, 7, 11]


def test_a_long_list_of_failed_guards_is_not_read_whole(monkeypatch):
    import sys
    import types

    failures = {"code": [f"0/{graph}: n == 1" for _ in range(50) for graph in reversed(range(100))]}
    monkeypatch.setitem(sys.modules, "torch._dynamo.utils", types.SimpleNamespace(guard_failures=failures))
    assert Reasons().most(50) == [("value", "n", 3)], "of the newest 256"


JAX = """
import sys, types
jax = types.ModuleType("jax.monitoring"); heard = []
jax.register_event_duration_secs_listener = heard.append
sys.modules["jax.monitoring"] = jax
def compiled(name, **facts):
    for listener in heard: listener("/jax/core/compile/backend_compile_duration", 0.1, fun_name=name, **facts)
leveloff.configure(every=1, budget=1e12)
leveloff.step(1)
"""


def test_jax_compilations_are_counted_by_its_own_events(tmp_path):
    result = train(
        tmp_path,
        JAX
        + """
assert len(heard) == 1
for name in ("f", "g", "f", "f"): compiled(name)
heard[0]("/jax/another/event", 0.1)
leveloff.step(2)
""",
    )
    assert last(result.lines, "compilations") == 4 and last(result.lines, "recompilations") == 2
    assert "switched off" not in result.err


PYPLOT = """
import sys, types
helpers = types.ModuleType("matplotlib._pylab_helpers"); helpers.Gcf = types.SimpleNamespace(figs={})
sys.modules["matplotlib._pylab_helpers"] = helpers
leveloff.configure(every=1, budget=1e12)
"""


def test_open_figures_are_counted_without_visiting_objects(tmp_path):
    result = train(
        tmp_path,
        PYPLOT
        + """
leveloff.configure(tensors=False)
for step in range(1, 4):
    helpers.Gcf.figs[step] = object()
    leveloff.step(step)
""",
    )
    assert [line["open_figures"] for line in result.lines] == [1, 2, 3]
    assert all("gc_objects" not in line for line in result.lines)


def test_classes_that_became_more_are_named_holders_first(tmp_path):
    result = train(
        tmp_path,
        """
import queue
leveloff.configure(every=1, budget=1e12, objects=True)
class Entry: pass
class Run: __module__ = "wandb.sdk"
kept, waiting = [], queue.Queue()
waiting.put(0)
for step in range(1, 5):
    leveloff.step(step)
    kept += [Entry(), Entry(), Run()]
    waiting.put(step)
""",
    )
    assert "switched off" not in result.err, result.err
    grown = {what: more for what, more in last(result.lines, "objects_grown")}
    assert grown["__main__.Entry"] == 6 and grown["wandb.sdk.Run"] == 3 and grown["items in queue.Queue"] == 3
    names = list(grown)
    assert names.index("wandb.sdk.Run") < names.index("__main__.Entry"), "what holds others comes first"
    assert not any(name.startswith("builtins.") for name in names) and len(names) <= 8


def test_objects_are_not_counted_unless_asked_for(tmp_path):
    result = train(tmp_path, "leveloff.configure(every=1, budget=1e12)\nleveloff.step(1)\nleveloff.step(2)\n")
    assert last(result.lines, "objects_grown") is None


class Shaped:
    def __init__(self, *shape):
        self.shape = shape


class Odd:
    @property
    def shape(self):
        raise RuntimeError("half made")


def test_shapes_of_inputs_are_distinguished():
    seen = InputShapes()
    for batch in (Shaped(2, 3), Shaped(2, 3), [Shaped(2, 3)], {"x": Shaped(2, 4), "y": [Shaped(7)]}, Odd(), 7, None, "text"):
        seen.note(batch)
    assert len(seen) == 2, "a list of one tensor is no new shape, and what has none is left out"


def test_new_shapes_are_reported_when_there_are_more(tmp_path):
    result = train(
        tmp_path,
        """
leveloff.configure(every=1, budget=1e12)
class Batch:
    def __init__(self, *shape): self.shape = shape
for step, length in enumerate((5, 6, 5, 7), start=1):
    leveloff.inputs(Batch(2, length))
    leveloff.step(step)
""",
    )
    assert [line.get("input_shapes") for line in result.lines] == [1, 2, None, 3]


def test_nothing_is_counted_twice():
    compilers = Compilers()
    assert compilers.facts() == {} == compilers.facts()
