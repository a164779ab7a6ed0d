"""Reports to leveloff what only the training knows: the step, the phase, the number of live tensors.

    import leveloff

    for n, batch in enumerate(loader, start=1):
        train(batch)
        leveloff.step(n)
        if leveloff.should_stop():   # requested by leveloff's guard
            save()
            break

Nothing here ever raises into the training: an error becomes one warning, and leveloff switches itself
off. `LEVELOFF_DISABLE=1` switches it off from outside.
"""

import atexit
import os
from contextlib import ContextDecorator
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from . import _compilers, _numbers, _session
from ._guard import Cost, guarded, switch

if TYPE_CHECKING:
    from .huggingface import LeveloffCallback

__all__ = ["Cost", "configure", "cost", "inputs", "mark", "phase", "should_stop", "step"]


@guarded(None)
def step(n: int, phase: str = "train", **facts: float) -> None:
    """Reports that step `n` is done, counted over all epochs. Call it once a step.

    Facts are numbers. `epoch=1.5`, `planned_steps=4000` and `epoch_steps=200` have a meaning; others are
    kept with the step's event or phase. A tensor is refused, because reading it would wait for the
    device: pass `loss.item()` where you read it anyway. Within `with leveloff.phase(...)` the block's
    phase overrides `phase`.

    Every few steps the counters of the training are read, too: see `configure`.
    """
    _session.current().step(n, phase, facts)


class phase(ContextDecorator):  # noqa: N801: used like a function
    """A part of the training that is not plain training: `with leveloff.phase("eval"): evaluate()`.

    leveloff then distinguishes memory that rises at each evaluation from memory that rises with the steps. `train`,
    `eval` and `checkpoint` have a meaning; any other name of up to 64 bytes is allowed. Blocks can be nested, and
    `@leveloff.phase("eval")` makes a function such a block. Facts are numbers, as for `step`.
    """

    def __init__(self, name: str, **facts: float) -> None:
        self._name = name
        self._facts = facts

    def __enter__(self) -> "phase":
        _enter(self._name, self._facts)
        return self

    def __exit__(self, *_: object) -> None:
        _leave(self._name)


@guarded(None)
def mark(event: str, path: Union[None, str, "os.PathLike[str]"] = None, **facts: float) -> None:
    """Reports that something happened just now: `leveloff.mark("checkpoint", path="out/step-100.pt")`.

    `checkpoint` has a meaning; other names are free. `path` is where it was saved; the guard prints it when it stops a
    run. Facts are numbers, kept with the event.
    """
    _session.current().mark(event, facts, path)


@guarded(None)
def inputs(batch: Any) -> None:
    """Notes the shapes of a batch, as a tensor, list or dict: shapes that are ever new fill the caches of compilers and
    kernels. Nothing of the batch is kept. Lightning's callback does it; call it outside of what is compiled.
    """
    _session.current().inputs(batch)


@guarded(False)
def should_stop(agree: Optional[Callable[[bool], bool]] = None) -> bool:
    """Whether leveloff asks this training to save and stop, now. Call it once a step, on every rank.

    With `torch.distributed`, it becomes true at the same step on all ranks, without a collective. For other
    frameworks, `agree` is called with whether this rank has a request, and must return whether any rank has one.
    Once true, it stays true.
    """
    return _session.current().should_stop(agree)


@guarded(None)
def configure(**options: Any) -> None:
    """Changes which counters are read, and how often.

    - `every` (10): steps between two readings, at least; of slow steps, as many twentieths of a second
    - `budget` (0.003): the share of the time that readings may take
    - `tensors` (None): whether tensors are counted; `None`: in one process of each machine
    - `shapes` (True): report which shapes of tensors grew most
    - `objects` (False): count Python's objects by their class, with the tensors, and report which became more
    - `trim_probe` (False): when malloc seems to keep much freed memory, call `malloc_trim` once and report how
      much it returned to the system
    """
    _session.configure(**options)


def cost() -> Cost:
    """The time that leveloff has used in this process."""
    return switch.cost()


@guarded(None)
def _enter(name: str, facts: Any) -> None:
    valid = _numbers.name(name, "phase")
    if valid is not None:
        _session.current().enter(valid, facts)


@guarded(None)
def _leave(name: str) -> None:
    _session.current().leave(name)


atexit.register(guarded(None)(_session.finish))
guarded(None)(_compilers.listen_to_jax)()  # Where it is imported already, from its first compilation on.


def __getattr__(name: str) -> Any:
    if name == "LeveloffCallback":
        from . import _frameworks

        return _frameworks.callback()
    if name == "__version__":
        from importlib import metadata

        try:
            return metadata.version("leveloff")
        except metadata.PackageNotFoundError:
            return "0+unknown"  # Used from a source tree.
    raise AttributeError(f"module 'leveloff' has no attribute {name!r}")
