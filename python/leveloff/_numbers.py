"""What users hand over, made into numbers and names that the protocol knows."""

import math
import numbers
import os
from typing import Any, Dict, Mapping, Optional, Union

from ._guard import switch

Number = Union[int, float]

LARGEST = 9e15
"""Whole numbers of the protocol stay below this: a double holds them exactly."""

MOST_FACTS = 64
"""More facts in a line are not read."""

LONGEST_PATH = 1024
"""Bytes in a path."""

LONGEST_NAME = 64
"""Bytes in the name of a fact, an event or a phase."""

RESERVED = frozenset(("t", "step", "phase", "event", "path", "leveloff_marks"))
"""Fields that have an argument of their own."""


def whole(value: Any, what: str) -> Optional[int]:
    """A count, or `None` with a warning."""
    found = _number(value, what)
    if found is None:
        return None
    if not (0 <= found < LARGEST and found == int(found)):
        switch.warn_once(f"whole {what}", f"leveloff: {what}={value!r} is no whole number from 0 to 9e15; left out")
        return None
    return int(found)


def facts(given: Mapping[str, Any]) -> Dict[str, Number]:
    """The facts that can be written. What is NaN or infinite is left out without a word: losses diverge."""
    kept: Dict[str, Number] = {}
    for name, value in given.items():
        if name in RESERVED or len(name.encode("utf-8", "replace")) > LONGEST_NAME:
            switch.warn_once(f"name {name[:LONGEST_NAME]}", f"leveloff: no fact can be called {name[:80]!r}; left out")
            continue
        if len(kept) == MOST_FACTS:
            switch.warn_once("facts", f"leveloff: more than {MOST_FACTS} facts in one call; the others are left out")
            break
        found = _number(value, name)
        if found is not None:
            kept[name] = found
    return kept


def name(value: Any, what: str) -> Optional[str]:
    """A phase or an event, or `None` with a warning."""
    if type(value) is str and value and len(value.encode("utf-8", "replace")) <= LONGEST_NAME and value.isprintable():
        return value
    switch.warn_once(what, f"leveloff: {what} {str(value)[:80]!r} is no text of 1 to {LONGEST_NAME} bytes; left out")
    return None


def path(value: Any) -> Optional[str]:
    """Where something was saved, seen from anywhere, or `None` with a warning."""
    try:
        found = os.path.abspath(os.fsdecode(value))
    except TypeError:
        found = ""
    if found and len(found.encode("utf-8", "replace")) <= LONGEST_PATH and found.isprintable():
        return found
    switch.warn_once("path", f"leveloff: {str(value)[:80]!r} is no path of at most {LONGEST_PATH} bytes; left out")
    return None


def _number(value: Any, what: str) -> Optional[Number]:
    kind = type(value)
    if kind is int or kind is float:
        found: Number = value
    elif isinstance(value, numbers.Integral):  # bool and numpy's integers
        found = int(value)
    elif isinstance(value, numbers.Real):
        found = float(value)
    elif value is None:
        return None
    else:
        # Not int(value): for a tensor on a GPU it would wait for everything that is queued there.
        hint = "; pass value.item() where you wait for the device anyway" if hasattr(kind, "item") else ""
        switch.warn_once(f"number {what}", f"leveloff: {what} is no number but a {kind.__name__}; left out{hint}")
        return None
    # A float beyond 1e308 and an endless integer alike cannot be read back.
    return found if -1e300 < found < 1e300 and not math.isnan(found) else None
