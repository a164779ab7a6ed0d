"""What CUDA's allocators hold in this process: numbers that torch has at hand, without waiting for the device."""

import sys
from typing import Any, Dict


def facts() -> Dict[str, int]:
    """Empty where this process uses no CUDA. Nothing is initialised for it."""
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    if cuda is None or not cuda.is_initialized():
        return {}
    reserved = allocated = 0
    for device in range(cuda.device_count()):
        stats = cuda.memory_stats_as_nested_dict(device)
        reserved += _current(stats.get("reserved_bytes", {}).get("all"))
        allocated += _current(stats.get("allocated_bytes", {}).get("all"))
    found = {"cuda_bytes": reserved, "cuda_allocated_bytes": allocated}
    if hasattr(cuda, "host_memory_stats_as_nested_dict"):
        host = cuda.host_memory_stats_as_nested_dict()
        # The pool's size is "reserved" in older versions, and "allocated" in those that call used blocks "active".
        found["pinned_bytes"] = _current(host.get("reserved_bytes") or host.get("allocated_bytes"))
    return found


def _current(stat: Any) -> int:
    return int(stat["current"]) if stat else 0
