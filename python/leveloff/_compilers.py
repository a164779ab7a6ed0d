"""How often graphs were compiled, and why again: torch.compile (dynamo), TorchScript and JAX.

Compilers keep what they compile, so a training that compiles again and again grows. Each of them counts for itself; that
is read here where it is already imported. These are internals of other packages: what is not there, or not as expected,
is left out.
"""

import re
import sys
from collections import Counter
from contextlib import suppress
from typing import Any, Dict, List, Set, Tuple

from ._guard import switch

MOST_REASONS = 4
"""Reasons that are reported."""

MOST_KINDS = 256
"""Reasons that are counted separately."""

MOST_READ = 256
"""Failed guards that are read at a time. Each recompilation adds one for every graph compiled before, the oldest last."""

MOST_NAMES = 4096
"""Names of JAX's functions that are remembered."""

LONGEST = 64
"""Bytes of a reason."""

_SIZE = re.compile(r"tensor '(.+?)' (?:size|stride) mismatch at index (\d+)")
_RANK = re.compile(r"tensor '(.+?)' rank mismatch")
_TENSOR = re.compile(r"tensor '(.+?)' (\w+) mismatch")
_SYMBOL = re.compile(r"([\w.\[\]']+)\.size\(\)\[(\d+)\]")
_IDENTITY = re.compile(r"___check_(obj|type)_id\((.+?),")
_UNSAFE = re.compile(r"[^A-Za-z0-9_.,:\[\] ]+")
_LONG_NUMBER = re.compile(r"\d{5,}")

JAX_COMPILED = "/jax/core/compile/backend_compile_duration"
"""JAX's event for each compilation."""


class Compilers:
    """Counts that only rise, also when a compiler forgets its own."""

    def __init__(self) -> None:
        self._frames = Rising()
        self._again = Rising()
        self._scripted = Rising()
        self._reasons = Reasons()
        self._last: Dict[str, Any] = {}

    def facts(self) -> Dict[str, Any]:
        """The counts, if they have changed. Empty where nothing was compiled."""
        found: Dict[str, Any] = {}
        with suppress(Exception):
            self._read(found)
        if found == self._last:
            return {}
        self._last = found
        return found

    def _read(self, found: Dict[str, Any]) -> None:
        frames, again = self._dynamo()
        compilations = frames + self._torchscript() + _jax.compilations
        if not compilations:
            return
        found["compilations"] = compilations
        found["recompilations"] = again + _jax.again
        reasons = self._reasons.most(again)
        if reasons:
            found["recompile_reasons"] = reasons

    def _dynamo(self) -> Tuple[int, int]:
        """How many frames it compiled, and how many of these again."""
        convert = sys.modules.get("torch._dynamo.convert_frame")
        counter = getattr(convert, "FRAME_COMPILE_COUNTER", None)
        if counter is None:
            return 0, 0
        compiled = list(counter.values())  # At once: another thread may compile.
        return self._frames.now(sum(compiled)), self._again.now(sum(compiled) - len(compiled))

    def _torchscript(self) -> int:
        state = sys.modules.get("torch.jit._state")
        unit = getattr(state, "_python_cu", None)
        return 0 if unit is None else self._scripted.now(len(unit.get_functions()))


class Rising:
    """A count that goes on where it was when its source starts again from zero."""

    def __init__(self) -> None:
        self._before = self._newest = 0

    def now(self, count: int) -> int:
        """The whole count so far."""
        if count < self._newest:
            self._before += self._newest
        self._newest = count
        return self._before + count


class Reasons:
    """Why dynamo compiled again: the guards that failed, which it keeps for each function."""

    def __init__(self) -> None:
        self._counts: "Counter[Tuple[str, str]]" = Counter()
        self._read: Dict[int, int] = {}
        self._known = 0

    def most(self, recompilations: int) -> List[Tuple[str, str, int]]:
        """What failed most often: `("size", "x, dimension 1", 41)`. Reads only if there were more recompilations."""
        if recompilations != self._known:
            self._known = recompilations
            self._take(getattr(sys.modules.get("torch._dynamo.utils"), "guard_failures", None) or {})
        rows = sorted(self._counts.items(), key=lambda row: row[1], reverse=True)
        return [(kind, what, count) for (kind, what), count in rows[:MOST_REASONS]]

    def _take(self, failures: Any) -> None:
        for code, failed in list(failures.items()):
            read = self._read.get(id(code), 0)
            begin = max(read if read <= len(failed) else 0, len(failed) - MOST_READ)
            self._read[id(code)] = len(failed)
            # Once for each recompilation: by the guard of the function's first graph.
            for text in map(str, failed[begin:]):
                graph, _, reason = text.partition(": ")
                if graph.endswith("/0"):
                    self._count(reason)

    def _count(self, reason: str) -> None:
        row = classified(reason)
        if row in self._counts or len(self._counts) < MOST_KINDS:
            self._counts[row] += 1


def classified(reason: str) -> Tuple[str, str]:
    """The kind of a failed guard and what it is about: `size`, `type`, `object`, `value` or `other`."""
    reason = re.split(r"\s+#|\n", reason, maxsplit=1)[0].strip()
    size = _SIZE.match(reason) or _SYMBOL.search(reason)
    if size:
        return "size", _plain(f"{size[1]}, dimension {size[2]}")
    rank = _RANK.match(reason)
    if rank:
        return "size", _plain(f"{rank[1]}, number of dimensions")
    tensor = _TENSOR.match(reason)
    if tensor:
        return "type", _plain(f"{tensor[2]} of {tensor[1]}")
    identity = _IDENTITY.match(reason)
    if identity:
        return ("object" if identity[1] == "obj" else "type"), _plain(identity[2])
    value = re.match(r"([\w.\[\]']+) (?:==|is) ", reason)
    if value:
        return "value", _plain(value[1])
    return "other", _plain(reason)


def _plain(text: str) -> str:
    """What is safe to print, without numbers that differ each time."""
    text = _LONG_NUMBER.sub("N", text.replace("'", "").replace('"', ""))
    return " ".join(_UNSAFE.sub(" ", text).split())[:LONGEST].strip() or "unknown"


class Jax:
    """Counts JAX's compilations through its own events. They come for as long as the process lives."""

    def __init__(self) -> None:
        self.compilations = 0
        self.again = 0
        self._names: Set[str] = set()
        self._listens = False

    def listen(self) -> None:
        """Once JAX is imported."""
        monitoring = None if self._listens else sys.modules.get("jax.monitoring")
        register = getattr(monitoring, "register_event_duration_secs_listener", None)
        if register is not None:
            self._listens = True
            with suppress(Exception):
                register(self._heard)

    def _heard(self, event: str, _duration: float, **facts: Any) -> None:
        if event != JAX_COMPILED or switch.is_off:
            return
        with suppress(Exception):
            self.compilations += 1
            name = facts.get("fun_name")  # Not in old versions.
            if name in self._names:
                self.again += 1
            elif isinstance(name, str) and len(self._names) < MOST_NAMES:
                self._names.add(name)


_jax = Jax()
listen_to_jax = _jax.listen
