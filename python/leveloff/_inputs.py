"""Distinct shapes of the inputs that the training sees."""

from contextlib import suppress
from typing import Any, Iterator, Set, Tuple

MOST_SHAPES = 4096
"""The most shapes that are distinguished: a training that always has new ones must not fill memory with our notes."""

MOST_PARTS = 16
"""Tensors of a batch that are looked at."""

MOST_DEPTH = 3
"""How deep a batch is looked into: a list of dicts of tensors."""


class InputShapes:
    """Remembers a number for each shape of a batch, and nothing of the batch itself."""

    def __init__(self) -> None:
        self._seen: Set[int] = set()

    def note(self, batch: Any) -> None:
        """A batch was handed to the model."""
        if len(self._seen) == MOST_SHAPES:
            return
        with suppress(Exception):  # A batch of a kind that is not known: its shapes are left out.
            shapes = tuple(shape for shape, _ in zip(_shapes(batch, MOST_DEPTH), range(MOST_PARTS)))
            if shapes:
                self._seen.add(hash(shapes))

    def __len__(self) -> int:
        return len(self._seen)


def _shapes(batch: Any, depth: int) -> Iterator[Tuple[int, ...]]:
    if isinstance(batch, dict) or hasattr(type(batch), "keys"):
        parts: Any = batch.values() if depth else ()
    elif isinstance(batch, (list, tuple)):
        parts = batch if depth else ()
    else:
        shape = getattr(batch, "shape", None)
        if shape is not None:
            yield tuple(shape)
        return
    for part, _ in zip(parts, range(MOST_PARTS)):
        yield from _shapes(part, depth - 1)
