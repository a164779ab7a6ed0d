"""How many tensors live, how big they are, and which shapes became more.

Python's collector knows every tensor that Python code can reach; those that only C++ holds (saved for
a backward pass, buffers of native code) it does not know, and neither does this count.
"""

import contextlib
import sys
from itertools import compress
from typing import Any, Dict, FrozenSet, List, NamedTuple, Optional, Set, Tuple

NOT_MEMORY = frozenset(("FakeTensor", "FunctionalTensor"))
"""Tensors that a compiler makes up to trace with."""

MOST_SHAPES = 8
"""Shapes that are reported."""

MOST_KINDS = 4096
"""Shapes that are counted separately: a training with a new shape each step must not fill memory with our counts."""

LONGEST_SHAPE = 64
"""Bytes of a shape's name."""

SECONDS_PER_BLOCK = 70e-9
"""What a count takes for each block that Python holds, measured on a slow machine with torch and
transformers (1.45 million blocks, 0.10 s). Only used before the first count; from then on its own time counts."""

Shapes = Dict[str, Tuple[int, int]]
"""For each `float32[64, 1024] cpu`: how many tensors, how many bytes."""


class Count(NamedTuple):
    """What one count found."""

    tensors: int
    tensor_bytes: int
    device_tensors: int
    device_tensor_bytes: int
    gc_objects: int
    shapes: Optional[Shapes]


def has_torch() -> bool:
    """Whether there can be tensors at all. Torch is never imported for it."""
    return hasattr(sys.modules.get("torch"), "Tensor")


def expected_seconds() -> float:
    """About what the first count will take."""
    return sys.getallocatedblocks() * SECONDS_PER_BLOCK


def count(objects: List[Any], with_shapes: bool) -> Count:
    """Counts among all objects, whose list is emptied. This takes tens of nanoseconds for each of them."""
    torch = sys.modules["torch"]
    kinds = _kinds(torch.Tensor)
    # All in C, and by type(): isinstance asks an object's __class__, and lazy proxies then import things.
    tensors = list(compress(objects, map(kinds.__contains__, map(type, objects))))
    gc_objects = len(objects)
    objects.clear()
    without_hooks = getattr(torch._C, "DisableTorchFunctionSubclass", contextlib.nullcontext)
    with without_hooks():
        return _measure(tensors, gc_objects, with_shapes, _plain(torch))


def by_storage(objects: List[Any]) -> Dict[int, List[int]]:
    """The addresses of tensors in host memory by the address of their storage's structure. The data's own address is not asked for: a
    copy-on-write tensor would copy."""
    torch = sys.modules["torch"]
    kinds = _kinds(torch.Tensor)
    found: Dict[int, List[int]] = {}
    without_hooks = getattr(torch._C, "DisableTorchFunctionSubclass", contextlib.nullcontext)
    with without_hooks():
        for tensor in compress(objects, map(kinds.__contains__, map(type, objects))):
            try:
                if tensor.is_cpu:
                    found.setdefault(tensor.untyped_storage()._cdata, []).append(id(tensor))
            except Exception:
                continue  # A tensor half made, or a subclass of odd habits.
    return found


def grown(first: Shapes, now: Shapes) -> List[Tuple[str, int, int]]:
    """What became more since the first count, most bytes first."""
    more = []
    for what, (tensors, size) in now.items():
        old_tensors, old_size = first.get(what, (0, 0))
        if tensors > old_tensors and size >= old_size:
            more.append((what, tensors - old_tensors, size - old_size))
    more.sort(key=lambda row: (row[2], row[1]), reverse=True)
    return more[:MOST_SHAPES]


def _kinds(root: Any) -> FrozenSet[type]:
    """Tensor and its subclasses, but for those that are not memory."""
    found: Set[type] = set()
    todo = [root]
    while todo:
        kind = todo.pop()
        if kind not in found and kind.__name__ not in NOT_MEMORY:
            found.add(kind)
            todo.extend(type.__subclasses__(kind))
    return frozenset(found)


def _plain(torch: Any) -> FrozenSet[type]:
    """Kinds whose storage is what it says. Others may wrap: a storage that is as big as all shards of a
    tensor, and none of it here."""
    return frozenset((torch.Tensor, torch.nn.Parameter, getattr(torch.nn, "Buffer", torch.nn.Parameter)))


def _measure(tensors: List[Any], gc_objects: int, with_shapes: bool, plain: FrozenSet[type]) -> Count:
    seen: Set[int] = set()
    host = device = device_tensors = living = 0
    shapes: Optional[Shapes] = {} if with_shapes else None
    for tensor in tensors:
        try:
            is_host = tensor.is_cpu
            if not is_host and tensor.is_meta:
                continue
            living += 1
            device_tensors += not is_host
            size = _new_bytes(tensor, seen, type(tensor) in plain)
        except Exception:
            continue  # A tensor half made, or a subclass of odd habits: counted, if it got so far.
        if is_host:
            host += size
        else:
            device += size
        if shapes is not None:
            _add_shape(shapes, tensor, size)
    return Count(living, host + device, device_tensors, device, gc_objects, shapes)


def _new_bytes(tensor: Any, seen: Set[int], is_plain: bool) -> int:
    """Bytes of the tensor's storage, if no earlier tensor shares it. Not identified by data_ptr(), which
    would make a copy-on-write tensor copy."""
    storage = tensor.untyped_storage()
    identity = storage._cdata
    if identity in seen:
        return 0
    seen.add(identity)
    if not is_plain and not storage.data_ptr():
        return 0
    return int(storage.nbytes())


def _add_shape(shapes: Shapes, tensor: Any, size: int) -> None:
    try:
        dtype = str(tensor.dtype).rpartition(".")[2]
        what = f"{dtype}{list(tensor.shape)} {tensor.device}"[:LONGEST_SHAPE]
    except Exception:
        return
    if what in shapes or len(shapes) < MOST_KINDS:
        tensors, total = shapes.get(what, (0, 0))
        shapes[what] = (tensors + 1, total + size)
