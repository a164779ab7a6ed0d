"""Tells leveloff what only the inside of a training knows: the step, the phase, how many tensors live.

    import leveloff

    for n, batch in enumerate(loader, start=1):
        train(batch)
        leveloff.step(n)
        if leveloff.should_stop():   # asked by leveloff's guard
            save()
            break

Nothing here ever raises into the training: what goes wrong is said in one warning, and leveloff
switches itself off. `LEVELOFF_DISABLE=1` switches it off from outside.
"""

import atexit
import os
from contextlib import ContextDecorator
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from . import _numbers, _session
from ._guard import Cost, guarded, switch

if TYPE_CHECKING:
    from .huggingface import LeveloffCallback

__all__ = ["Cost", "configure", "cost", "mark", "phase", "should_stop", "step"]


@guarded(None)
def step(n: int, phase: str = "train", **facts: float) -> None:
    """Tells that step `n` is done, counted over all epochs. Call it once a step.

    Facts are numbers: `epoch=1.5`, `planned_steps=4000`, `epoch_steps=200` are understood, others are
    kept with the step's event or phase. A tensor is not taken, because reading it would wait for the
    device: pass `loss.item()` where you read it anyway. Within `with leveloff.phase(...)` the block's
    phase holds, whatever `phase` says.

    Every few steps, memory is looked at from the inside, too: see `configure`.
    """
    _session.current().step(n, phase, facts)


class phase(ContextDecorator):  # noqa: N801: used like a function
    """A part of the training that is not plain training: `with leveloff.phase("eval"): evaluate()`.

    Memory that rises at each evaluation is then told from memory that rises with the steps. Names with
    a meaning are `train`, `eval` and `checkpoint`; any other word of up to 64 bytes will do. Blocks can
    be nested, and `@leveloff.phase("eval")` makes a function such a block. Facts are numbers, as for `step`.
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
    """Tells that something happened just now: `leveloff.mark("checkpoint", path="out/step-100.pt")`.

    `checkpoint` has a meaning; other names are yours. `path` is where it was saved, which is told when a run was
    stopped. Facts are numbers, kept with the event.
    """
    _session.current().mark(event, facts, path)


@guarded(False)
def should_stop(agree: Optional[Callable[[bool], bool]] = None) -> bool:
    """Whether leveloff asks this training to save and stop, now. Call it once a step, on every rank.

    With `torch.distributed`, all ranks are told at the same step, without a collective. For other
    frameworks, `agree` is called with what this rank knows and must say whether any rank knows of a
    request (an `any` over all ranks). Once true, it stays true.
    """
    return _session.current().should_stop(agree)


@guarded(None)
def configure(**options: Any) -> None:
    """Changes what is looked at inside, and how often.

    - `every` (10): steps between two looks, at least
    - `budget` (0.0015): the share of the time that looking may take
    - `tensors` (None): whether tensors are counted; `None`: in one process of each machine
    - `shapes` (False): tell which shapes of tensors grew most
    - `trim_probe` (False): when malloc seems to keep much that was freed, ask it once to give that back,
      and tell how much came (`malloc_trim`)
    """
    _session.configure(**options)


def cost() -> Cost:
    """What leveloff took of this process so far."""
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
