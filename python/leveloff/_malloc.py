"""The counters of glibc's malloc: bytes in use by native code, and bytes freed but kept."""

import ctypes
import os
import sys
from typing import Any, Dict, Optional

_PAGE = os.sysconf("SC_PAGE_SIZE")


class _MallInfo2(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
        )
    ]  # fmt: skip


class Malloc:
    """The process's malloc, if its counters can be read."""

    def __init__(self, libc: Any) -> None:
        self._mallinfo2 = libc.mallinfo2
        self._mallinfo2.argtypes = []
        self._mallinfo2.restype = _MallInfo2
        self._malloc_trim = libc.malloc_trim
        self._malloc_trim.argtypes = [ctypes.c_size_t]

    @staticmethod
    def find() -> Optional["Malloc"]:
        """`None` when another allocator was preloaded (jemalloc, tcmalloc: glibc's counters would be
        zero), when there is no glibc, or when it is older than 2.33: its numbers overflow at 4 GiB."""
        if not sys.platform.startswith("linux"):
            return None
        try:
            libc = ctypes.CDLL("libc.so.6")
            is_glibcs = _address(ctypes.CDLL(None).malloc) == _address(libc.malloc)
            return Malloc(libc) if is_glibcs else None
        except (OSError, AttributeError):
            return None

    def facts(self) -> Dict[str, int]:
        """All arenas together. It walks the lists of free blocks: microseconds, or more when there are many."""
        info = self._mallinfo2()
        return {"malloc_used_bytes": info.uordblks + info.hblkhd, "malloc_free_bytes": info.fordblks}

    def trim(self) -> None:
        """Gives back to the system what is free."""
        self._malloc_trim(0)


def anonymous_bytes() -> Optional[int]:
    """What this process has in memory that is neither file nor shared; `None` where it cannot be read."""
    try:
        with open("/proc/self/statm", "rb") as file:
            fields = file.read().split()
        return (int(fields[1]) - int(fields[2])) * _PAGE
    except (OSError, ValueError, IndexError):
        return None


def _address(function: Any) -> Optional[int]:
    return ctypes.cast(function, ctypes.c_void_p).value
