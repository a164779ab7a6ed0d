"""Which Python objects pile up: figures that are never closed, and, if asked for, classes by their number."""

import re
import sys
from collections import Counter
from contextlib import suppress
from itertools import compress
from typing import Any, Dict, List, Tuple

MOST_CLASSES = 8
"""Classes that are reported."""

MOST_COUNTED = 16384
"""Classes that are remembered from the first count."""

MOST_QUEUES = 256
"""Queues whose length is added up."""

LONGEST = 64
"""Bytes of a class's name."""

LEADERS = (
    "matplotlib.figure.Figure",
    "torch.utils.data.dataloader.",
    "torch.utils.tensorboard.",
    "tensorboard.",
    "wandb.",
    "PIL.Image.",
    "pandas.core.frame.DataFrame",
    "threading.Thread",
)
"""Objects that hold many others: these are named before those that they hold."""

QUEUES = (("queue", "Queue"), ("queue", "LifoQueue"), ("queue", "PriorityQueue"))
"""Loggers hand over what they write through these."""

ITEMS = "items in queue.Queue"

_UNSAFE = re.compile(r"[^A-Za-z0-9_.,:\[\] ]+")

Classes = Dict[str, int]


def open_figures() -> Dict[str, int]:
    """Figures that pyplot keeps until they are closed. Nothing is imported for it, and nothing visited."""
    figures = getattr(getattr(sys.modules.get("matplotlib._pylab_helpers"), "Gcf", None), "figs", None)
    return {} if figures is None else {"open_figures": len(figures)}


def count(objects: List[Any]) -> Classes:
    """How many objects of each class there are. By type(): to ask an object for its __class__ may wake lazy ones."""
    kinds = Counter(map(type, objects))
    classes: Classes = {}
    for kind, number in kinds.items():
        with suppress(Exception):  # A metaclass of odd habits.
            if kind.__module__ != "builtins":
                name = _name(kind)
                classes[name] = classes.get(name, 0) + number
    items = _queued(objects, kinds)
    if items:
        classes[ITEMS] = items
    return classes


def grown(first: Classes, now: Classes) -> List[Tuple[str, int]]:
    """Classes that became more since the first count, what holds others first."""
    more = [(name, number - first.get(name, 0)) for name, number in now.items()]
    more = [row for row in more if row[1] > 0]
    more.sort(key=lambda row: (_rank(row[0]), -row[1], row[0]))
    return more[:MOST_CLASSES]


def bounded(classes: Classes) -> Classes:
    """What is kept of the first count."""
    return dict(sorted(classes.items(), key=lambda row: -row[1])[:MOST_COUNTED])


def _rank(name: str) -> int:
    return 0 if name == ITEMS or name.startswith(LEADERS) else 1


def _name(kind: type) -> str:
    return _UNSAFE.sub(" ", f"{kind.__module__}.{kind.__qualname__}")[:LONGEST].strip()


def _queued(objects: List[Any], kinds: "Counter[type]") -> int:
    module = sys.modules.get("queue")
    queues = {getattr(module, name, None) for _, name in QUEUES} & set(kinds)
    if not queues:
        return 0
    found = compress(objects, map(queues.__contains__, map(type, objects)))
    return sum(len(one.queue) for one, _ in zip(found, range(MOST_QUEUES)))
