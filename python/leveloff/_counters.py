"""Counters that only the training can read, at a bounded and measured cost."""

import gc
import os
import sys
import time
import traceback
from typing import Any, Callable, Dict, List, NamedTuple, Optional

from . import _compilers, _cuda, _objects, _tensors
from ._guard import switch
from ._holders import Holders
from ._inputs import InputShapes
from ._malloc import Malloc, anonymous_bytes
from ._pace import LONGEST_GAP, EarlyPace, Pace
from ._trim import TrimProbe


class Options(NamedTuple):
    """What `leveloff.configure` can change."""

    every: int = 10
    """Steps between two readings, at least; of slow steps, as many times `SECONDS_FOR_A_STEP`."""
    tensors: Optional[bool] = None
    """Whether tensors are counted; `None`: in one process of each machine, and not in a fork's child."""
    shapes: bool = True
    """Report which shapes grew."""
    objects: bool = False
    """Count objects by their class, with the tensors."""
    trim_probe: bool = False
    """Call `malloc_trim` once, when malloc seems to keep much."""
    budget: float = 0.003
    """The share of the time that readings may take."""


ALLOCATORS_SHARE = 0.15
"""Of the budget: they are quick to answer."""

BOUNDARIES_SHARE = 0.05
"""Of the budget: malloc alone, some microseconds where phases begin and end, so that what stays of them is known."""

SECONDS_FOR_A_STEP = 0.05
"""Allocators are read after `every` steps, or after so many times this: slow steps grow as much between two of them. By
default that is half a second; samples are rarely taken more often."""

COMPILERS_SHARE = 0.05
"""Of the budget: some microseconds at each step that is written, so that a compilation is known by the step it came with."""

TENSORS_SHARE = 1 - ALLOCATORS_SHARE - BOUNDARIES_SHARE - COMPILERS_SHARE
"""Of the budget: the rest."""

TENSORS_CREDIT = 0.3
"""Seconds of CPU time that the first counts of tensors may take beside their share of the budget: three or four counts."""

HOLDERS_SHARE = 0.001
"""Share of the time that the search for holders may take, beside the budget: it is asked for (`--blame=holders`)."""

HOLDERS_CREDIT = 0.5
"""Seconds of CPU time that its first searches may take beside that."""

MATERIAL_SHARE, MATERIAL_BYTES = 0.02, 16 << 20
"""Tensors are counted when memory has risen by this share of itself, and by this much, since the last count."""


class Counters:
    """The counters of this process."""

    def __init__(self, options: Options, is_fork_child: bool, inputs: InputShapes) -> None:
        self._options = options
        self._counts_tensors = _counts_here(is_fork_child) if options.tensors is None else bool(options.tensors)
        self._counts_objects = options.objects and _counts_here(is_fork_child)
        self._tensors_pace = EarlyPace(options.budget * TENSORS_SHARE, TENSORS_CREDIT)
        self._memory_at_count: Optional[int] = None
        longest = min(options.every * SECONDS_FOR_A_STEP, LONGEST_GAP)
        self._allocators_pace = Pace(options.every, options.budget * ALLOCATORS_SHARE, longest)
        self._holders_pace = EarlyPace(HOLDERS_SHARE, HOLDERS_CREDIT)
        self._holders: Optional[Holders] = None
        self._may_search = _counts_here(is_fork_child)
        self._boundaries_pace = Pace(1, options.budget * BOUNDARIES_SHARE)
        self._compilers_pace = Pace(1, options.budget * COMPILERS_SHARE)
        self._compilers = _compilers.Compilers()
        self._inputs = inputs
        self._known_inputs = 0
        self._has_begun = False
        self._calls_before = 0
        self._malloc: Optional[Malloc] = None
        self._trim = TrimProbe() if options.trim_probe else None
        self._first_shapes: Optional[_tensors.Shapes] = None
        self._first_classes: Optional[_objects.Classes] = None

    def look(self, calls: int, now: float) -> Dict[str, Any]:
        """The counters to report with this step: mostly none."""
        if not self._has_begun:
            self._begin(calls, now)
        found: Dict[str, Any] = {}
        if self._allocators_pace.is_due(calls, now):
            self._allocators_pace.done(calls, now, _timed(self._ask_allocators, found))
        if self._compilers_pace.is_due(calls, now):
            self._compilers_pace.done(calls, now, _timed(self._ask_compilers, found))
        steps = calls - self._calls_before
        if self._walks and now >= self._tensors_pace.quiet_until:
            self._look_at_tensors(steps, now, found)
        if self._holders is not None and self._holders_pace.is_due(steps, now, False):
            self._holders_pace.done(steps, now, _timed(self._look_for_holders, found))
        return found

    def at_boundary(self, now: float) -> Dict[str, Any]:
        """What malloc has in use where a phase begins or ends, or something happened. Nothing before the first step."""
        found: Dict[str, Any] = {}
        if self._malloc is not None and now >= self._boundaries_pace.quiet_until:
            self._boundaries_pace.done(0, now, _timed(self._ask_malloc, found))
        return found

    def _look_at_tensors(self, steps: int, now: float, found: Dict[str, Any]) -> None:
        memory = anonymous_bytes()
        if self._tensors_pace.is_due(steps, now, _has_risen(self._memory_at_count, memory)):
            self._tensors_pace.done(steps, now, _timed(self._walk, found))
            self._memory_at_count = memory

    @property
    def quiet_until(self) -> float:
        """No reading is due before this."""
        earliest = min(self._allocators_pace.quiet_until, self._compilers_pace.quiet_until)
        if self._walks:
            earliest = min(earliest, self._tensors_pace.quiet_until)
        return earliest if self._holders is None else min(earliest, self._holders_pace.quiet_until)

    @property
    def _walks(self) -> bool:
        """Whether the collector's objects are visited at all."""
        return self._counts_tensors or self._counts_objects

    def _begin(self, calls: int, now: float) -> None:
        self._has_begun = True
        self._malloc = Malloc.find()
        self._allocators_pace.begin(calls - 1, now, 0.0)
        self._compilers_pace.begin(calls - 1, now, 0.0)
        self._boundaries_pace.begin(0, now, 0.0)
        self._tensors_pace.begin(now, _tensors.expected_seconds())
        self._calls_before = calls - 1
        if self._may_search:
            self._holders = Holders.find()
            self._holders_pace.begin(now, _tensors.expected_seconds())

    def _ask_allocators(self, found: Dict[str, Any]) -> None:
        found["python_blocks"] = sys.getallocatedblocks()
        found.update(_cuda.facts())
        found.update(_objects.open_figures())
        self._ask_malloc(found)
        if self._malloc is not None and self._trim is not None:
            found.update(self._trim.look(self._malloc, found))

    def _ask_malloc(self, found: Dict[str, Any]) -> None:
        if self._malloc is not None:
            found.update(self._malloc.facts())

    def _look_for_holders(self, found: Dict[str, Any]) -> None:
        try:
            rows = self._holders.look() if self._holders is not None else None
        except Exception:
            self._holders = None  # All else goes on without it.
            switch.warn_once("holders", "leveloff: what keeps the memory is not looked for any more: " + traceback.format_exc(limit=-1))
            return
        if rows is not None:
            found["holders"] = rows

    def _ask_compilers(self, found: Dict[str, Any]) -> None:
        _compilers.listen_to_jax()
        found.update(self._compilers.facts())
        if len(self._inputs) != self._known_inputs:
            found["input_shapes"] = self._known_inputs = len(self._inputs)

    def _walk(self, found: Dict[str, Any]) -> None:
        """One list of all objects serves tensors and classes."""
        has_tensors = self._counts_tensors and _tensors.has_torch()
        if not has_tensors and not self._counts_objects:
            return
        objects = gc.get_objects()
        switch.counts += 1
        if self._counts_objects:
            self._count_classes(objects, found)
        if has_tensors:
            self._count_tensors(objects, found)

    def _count_classes(self, objects: List[Any], found: Dict[str, Any]) -> None:
        classes = _objects.count(objects)
        if self._first_classes is None:
            self._first_classes = _objects.bounded(classes)
        found["objects_grown"] = _objects.grown(self._first_classes, classes)

    def _count_tensors(self, objects: List[Any], found: Dict[str, Any]) -> None:
        count = _tensors.count(objects, self._options.shapes)
        found["tensors"] = count.tensors
        found["tensor_bytes"] = count.tensor_bytes
        found["gc_objects"] = count.gc_objects
        if count.device_tensors:
            found["device_tensors"] = count.device_tensors
            found["device_tensor_bytes"] = count.device_tensor_bytes
        if count.shapes is not None:
            if self._first_shapes is None:
                self._first_shapes = count.shapes
            found["tensors_grown"] = _tensors.grown(self._first_shapes, count.shapes)


def _has_risen(before: Optional[int], now: Optional[int]) -> bool:
    """Whether memory has risen by an amount that tensors should be counted for."""
    if before is None or now is None:
        return False
    return now - before >= max(MATERIAL_BYTES, MATERIAL_SHARE * before)


def _counts_here(is_fork_child: bool) -> bool:
    """leveloff reads the lowest rank, and ranks that pause at different times delay each other. A forked child shares its
    parent's objects: counting would touch, and so copy, all of them."""
    return not is_fork_child and os.environ.get("LOCAL_RANK", "0") in ("", "0")


def _timed(ask: Callable[[Dict[str, Any]], None], found: Dict[str, Any]) -> float:
    """The cost in seconds of CPU time: on a busy machine, wall time would make readings ever rarer, though they cost the
    training no more."""
    began, cpu_began = time.perf_counter(), time.thread_time()
    ask(found)
    switch.counting_seconds += time.perf_counter() - began
    return time.thread_time() - cpu_began
