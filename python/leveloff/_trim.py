"""A probe: how much of the growth is memory that was freed, and that malloc keeps?"""

import time
from typing import Any, Dict, Optional

from ._malloc import Malloc, anonymous_bytes

SUSPICIOUS = 64 << 20
"""Bytes of growth that native code does not hold, from which a probe is worth its cost."""


class TrimProbe:
    """Calls `malloc_trim` once. Memory that it returns was no leak."""

    def __init__(self) -> None:
        self._first_memory: Optional[int] = None
        self._first_used = 0
        self._is_done = False

    def look(self, malloc: Malloc, facts: Dict[str, Any]) -> Dict[str, Any]:
        """Nothing, or once the event `trim` with what came back."""
        memory = None if self._is_done else anonymous_bytes()
        if memory is None:
            return {}
        used, free = facts["malloc_used_bytes"], facts["malloc_free_bytes"]
        if self._first_memory is None:
            self._first_memory, self._first_used = memory, used
            return {}
        growth = memory - self._first_memory
        unexplained = growth - max(used - self._first_used, 0)
        if unexplained < SUSPICIOUS or free < growth / 2:
            return {}
        self._is_done = True
        return _trim(malloc, memory)


def _trim(malloc: Malloc, before: int) -> Dict[str, Any]:
    began = time.perf_counter()
    malloc.trim()
    took = time.perf_counter() - began
    after = anonymous_bytes()
    if after is None:
        return {}
    return {"event": "trim", "trimmed_bytes": max(before - after, 0), "trim_ms": round(took * 1e3, 3)}
