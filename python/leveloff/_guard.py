"""Errors of ours never reach the training: one guard around every public entry."""

import errno
import functools
import os
import sys
import time
import warnings
from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator, NamedTuple, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


class Trouble(Exception):
    """Something that leveloff cannot work with; the message names it and what to do."""


class Cost(NamedTuple):
    """The time that leveloff has used in this process."""

    steps: int
    """Steps that were reported."""
    seconds: float
    """Time spent in leveloff on all threads."""
    counting_seconds: float
    """Of these, counting tensors and reading allocators."""
    worst_seconds: float
    """The longest call."""
    counts: int
    """How often tensors were counted."""
    cpu_seconds: float
    """Of `seconds`, what was spent working: on a busy machine the rest was waiting for a core."""


class Switch:
    """Whether leveloff works in this process, and what it has cost."""

    def __init__(self) -> None:
        self.is_off = os.environ.get("LEVELOFF_DISABLE", "") not in ("", "0")
        self.steps = 0
        self.seconds = 0.0
        self.counting_seconds = 0.0
        self.worst_seconds = 0.0
        self.counts = 0
        self.waited_seconds = 0.0
        self._said: Dict[str, bool] = {}

    def turn_off(self, error: BaseException) -> None:
        """Switches leveloff off and warns once. The training goes on."""
        if self.is_off:
            return
        self.is_off = True
        self.warn_once(
            "off",
            f"leveloff is switched off in process {os.getpid()}, the training goes on: {_words(error)}",
        )

    def warn_once(self, key: str, text: str) -> None:
        """Warns, once for each key in the life of the process."""
        if self._said.setdefault(key, False):
            return
        self._said[key] = True
        try:
            warnings.warn(text, RuntimeWarning, stacklevel=_depth_of_the_caller())
        except Warning:
            # Warnings are errors here (-W error). Ours must not become one in a training.
            say(text)

    def forget_costs(self) -> None:
        """A fork's child has cost nothing yet."""
        self.steps = self.counts = 0
        self.seconds = self.counting_seconds = self.worst_seconds = self.waited_seconds = 0.0

    def cost(self) -> Cost:
        """The costs so far."""
        worked = max(self.seconds - self.waited_seconds, 0.0)
        return Cost(self.steps, self.seconds, self.counting_seconds, self.worst_seconds, self.counts, worked)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Around long work: measures how much of it was CPU time. Around short work, reading the CPU clock would take
        longer than the work."""
        began, cpu_began = time.perf_counter(), time.thread_time()
        try:
            yield
        finally:
            waited = time.perf_counter() - began - (time.thread_time() - cpu_began)
            self.waited_seconds += max(waited, 0.0)


switch = Switch()


def guarded(fallback: Any) -> Callable[[F], F]:
    """Makes a function that returns `fallback` when leveloff is off, and that turns it off
    instead of raising. What it takes is added to the cost. A call for which no stack is left is lost."""

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if switch.is_off:
                return fallback
            try:
                began = time.perf_counter()
                try:
                    return function(*args, **kwargs)
                finally:
                    took = time.perf_counter() - began
                    switch.seconds += took
                    if took > switch.worst_seconds:
                        switch.worst_seconds = took
            except RecursionError:
                # The caller has used up the stack, in a recursion of its own or in signal handlers that interrupt each other.
                return fallback
            except Exception as error:
                switch.turn_off(error)
                return fallback

        return cast(F, call)

    return decorate


def say(text: str) -> None:
    """Prints to stderr, if there is one."""
    try:
        if sys.stderr is not None:  # print() would turn to stdout
            print(text, file=sys.stderr)
    except (OSError, ValueError, AttributeError):
        pass  # It is closed.


def _words(error: BaseException) -> str:
    if isinstance(error, Trouble):
        return str(error)
    if isinstance(error, OSError):
        name = f"{error.filename}: " if error.filename else ""
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        cure = "Free space there, or set" if is_full else "Set"
        return f"{name}{error.strerror or error}. {cure} LEVELOFF_MARKS to a directory that can be written"
    return f"{type(error).__name__}: {error}. This is an error in leveloff; please report it"


def _depth_of_the_caller() -> int:
    """How far up the first frame is that is not ours, so that the warning points at it."""
    ours = os.path.dirname(__file__)
    depth = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == ours:
        frame = frame.f_back
        depth += 1
    return depth
