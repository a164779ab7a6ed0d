"""Ranks agree on the step at which all of them stop, without a collective.

A collective that one rank does not join hangs the job, so ranks talk through the key-value store that
torch.distributed was started with, which does not block:

1. Every rank looks into the store at the same positions (every 8th step).
2. A rank with a stop request writes the position at which all should: so far ahead that each looks
   once more before it.
3. At that position each rank says that it has arrived, and waits for the others. Whether all stop is
   settled by one key that can be set only once: `stop` by a rank that sees all there, `later` by a rank that sees
   that a rank was past the position already and wrote a later one, `never` by a rank that waited too long.
   All obey it, so no rank is ever left alone.
"""

import sys
import time
from typing import Any, Optional

from ._guard import switch

LOOK_EVERY = 8
"""Positions between two looks: a look costs a round trip to the store's host, about 0.1 ms."""

SHORTEST_PATIENCE = 10.0
"""Seconds that a rank waits for the others at least."""

LONGEST_PATIENCE = 60.0
"""Seconds that it waits at most, when steps are slow: a process group gives up on its ranks, too, after minutes."""

PATIENCE_IN_STEPS = 4
"""How many of its longest steps a rank waits for the others."""

LOOK_AGAIN = 0.02
"""Seconds between two looks while waiting."""


class Agreement:
    """One rank's side of it."""

    def __init__(self, store: Any, world: int) -> None:
        self._store = store
        self._world = world
        # A launcher's store outlives a process group, and what an earlier group agreed on is in it.
        self._group = (store.add("leveloff/joined", 1) - 1) // world
        self._generation = 0
        self._target: Optional[int] = None
        self._last_call: Optional[float] = None
        self._longest_step = 0.0
        self.gave_up = False
        """The last meeting came to nothing: the request is to be forgotten."""

    def should_stop(self, position: int, is_requested: bool) -> bool:
        """Whether all ranks stop at this position. `position` rises by one with each call, alike on all ranks."""
        self._note_step()
        self.gave_up = False
        if is_requested and self._target is None:
            self._propose(position)
        elif position % LOOK_EVERY == 0:
            self._read()
        if self._target is None or position < self._target:
            return False
        if position > self._target:
            # This rank was further than the proposal: the ranks that wait there will see a later one.
            self._propose(position)
            return False
        return self._meet(position)

    def _note_step(self) -> None:
        now = time.monotonic()
        if self._last_call is not None:
            self._longest_step = max(self._longest_step, now - self._last_call)
        self._last_call = now

    def _propose(self, position: int) -> None:
        self._read()
        if self._target is None or self._target < position:
            self._target = _after(position)
            self._store.set(self._key("stop"), str(self._target))

    def _read(self) -> None:
        current = self._get("stop")
        if current is not None:
            self._target = int(current)

    def _meet(self, position: int) -> bool:
        """Waits for the others; what is settled holds for all."""
        arrived = f"at/{position}"
        self._store.add(self._key(arrived), 1)
        until = time.monotonic() + self._patience()
        settled = self._get(f"settled/{position}")
        while settled is None:
            settled = self._settle(position, arrived, until)
        if settled == "later":
            self._read()
            return False
        came = self._store.add(self._key(arrived), 0)
        self._generation += 1
        self._target = None
        if settled == "never":
            self.gave_up = True
            switch.warn_once(
                "agreement",
                f"leveloff: asked to stop, but only {came} of {self._world} ranks came to the same step in time; the "
                "request is dropped and the training goes on. should_stop(), or the callback, belongs on every rank",
            )
        return settled == "stop"

    def _settle(self, position: int, arrived: str, until: float) -> Optional[str]:
        wish: Optional[str] = None
        if self._store.add(self._key(arrived), 0) >= self._world:
            wish = "stop"
        elif int(self._get("stop") or position) > position:
            wish = "later"
        elif time.monotonic() > until:
            wish = "never"
        if wish is None:
            time.sleep(LOOK_AGAIN)
            return self._get(f"settled/{position}")
        # Only the first call sets it; every rank gets the value that was set.
        return _text(self._store.compare_set(self._key(f"settled/{position}"), "", wish))

    def _patience(self) -> float:
        return min(max(SHORTEST_PATIENCE, PATIENCE_IN_STEPS * self._longest_step), LONGEST_PATIENCE)

    def _get(self, name: str) -> Optional[str]:
        key = self._key(name)
        # get() of a key that is not there would wait for it.
        return _text(self._store.get(key)) if self._store.check([key]) else None

    def _key(self, name: str) -> str:
        return f"leveloff/{self._group}/{self._generation}/{name}"


class Ranks:
    """Finds out whether there are other ranks, and keeps the agreement with them."""

    def __init__(self) -> None:
        self._group: Any = None
        self._agreement: Optional[Agreement] = None
        self._calls = 0
        self._is_broken = False

    def begin(self) -> None:
        """A training begins, on all ranks alike."""
        self._calls = 0

    def should_stop(self, is_requested: bool) -> bool:
        """Whether all ranks stop now; for a single process, whether it has a request. Positions are calls, counted
        from the start of a training or of the process group."""
        try:
            if self._is_broken:
                return False
            agreement = self._find()
            if agreement is None:
                return is_requested
            self._calls += 1
            return agreement.should_stop(self._calls, is_requested)
        except Exception as error:
            # The store is gone, or knows too little. To stop alone would leave the others waiting.
            self._is_broken = True
            switch.warn_once("ranks", f"leveloff: ranks cannot agree on a stop, none is obeyed any more: {error}")
            return False

    @property
    def gave_up(self) -> bool:
        """Whether the ranks did not come together just now."""
        return self._agreement is not None and self._agreement.gave_up

    def _find(self) -> Optional[Agreement]:
        distributed = getattr(sys.modules.get("torch"), "distributed", None)
        if distributed is None or not distributed.is_available() or not distributed.is_initialized():
            self._group = self._agreement = None
            return None
        group = distributed.group.WORLD
        if group is not self._group:
            self._group, self._calls = group, 0
            world = distributed.get_world_size()
            store = distributed.distributed_c10d._get_default_store() if world > 1 else None
            self._agreement = None if store is None else Agreement(store, world)
        return self._agreement


def has_ranks() -> bool:
    """Whether torch.distributed has been started."""
    distributed = sys.modules.get("torch.distributed")
    return distributed is not None and distributed.is_available() and bool(distributed.is_initialized())


def _after(position: int) -> int:
    """The first position that every rank reaches only after another look."""
    return (position // LOOK_EVERY + 2) * LOOK_EVERY


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
