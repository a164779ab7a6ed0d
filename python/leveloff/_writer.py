"""One process's marks file: a header, then one `write` for each line."""

import errno
import json
import math
import os
import time
from typing import Any, Dict, Optional

from ._guard import Trouble
from ._paths import MarksPaths, prepare, start_of, sweep, why_not_replace

SHORTEST_GAP = 0.1
"""Seconds between plain steps that are written: more than ten lines a second are of no use, and writing a line takes ten
times as long as holding it back."""

ROTATE_AT = 16 << 20
"""Bytes after which a new file replaces the old one: weeks of steps must not fill a tmpfs."""

RESTATE_AFTER = 32 << 10
"""Bytes after which the standing facts are repeated. A watcher that starts late reads the last 64 KiB."""

LOOK_EVERY = 5.0
"""Seconds between looks whether the file is still where it was put."""

Line = Dict[str, Any]

_encode_anything = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_quoted = json.encoder.encode_basestring_ascii


def _encode(line: Line) -> str:
    """As JSON. Lines with only numbers are formatted here: json makes an encoder for every line, which takes longer than
    all the rest of a step."""
    kinds = set(map(type, line.values()))
    if kinds <= {int} or kinds <= {int, float} and all(map(math.isfinite, line.values())):
        return "{" + ",".join([f"{_quoted(name)}:{value!r}" for name, value in line.items()]) + "}"
    return _encode_anything(line)


class MarksFile:
    """Writes lines. Errors are raised: the guard around the public functions switches leveloff off."""

    def __init__(self, paths: MarksPaths, pid: int, uid: int) -> None:
        self._paths = paths
        self._pid = pid
        self._uid = uid
        self._descriptor = -1
        self._size = 0
        self._said_at = 0
        self._standing: Line = {}
        self._held: Optional[Line] = None
        self._last_line = float("-inf")
        self._last_look = time.monotonic()
        self._begin()
        try:
            _remove(paths.stop)  # It was meant for another process.
        except OSError:
            pass  # It is not ours, so it is not obeyed.

    @property
    def quiet_until(self) -> float:
        """A plain step before this would be held back."""
        return self._last_line + SHORTEST_GAP

    def put(self, line: Line, now: float, may_wait: bool) -> None:
        """Writes a line, or holds it back when it comes too soon and has only a step."""
        line.setdefault("t", round(time.time(), 4))
        if may_wait and now - self._last_line < SHORTEST_GAP:
            self.hold(line)
            return
        if self._held is not None:
            held, self._held = self._held, None
            if may_wait:
                line = {**held, **line}
            else:
                self._write(held)
        self._write(line)
        self._last_line = now
        if now - self._last_look > LOOK_EVERY:
            self._last_look = now
            self._begin_again_if_gone()

    def hold(self, line: Line) -> None:
        """Holds a step back. A later step replaces it; its facts are kept unless they are renewed."""
        self._held = {**self._held, **line} if self._held else line

    def state(self, **facts: Any) -> Line:
        """Remembers facts that hold from now on, to repeat them later; returns them."""
        self._standing.update(facts)
        return facts

    def flush(self) -> None:
        """Writes what was held back."""
        if self._held is not None:
            held, self._held = self._held, None
            self._write(held)

    def close(self) -> None:
        """Closes the file without writing. Also for a fork's child: the file is its parent's."""
        self._held = None
        self._close_descriptor()

    def _write(self, line: Line) -> None:
        if self._size > ROTATE_AT:
            self._rotate()
        if self._size - self._said_at > RESTATE_AFTER:
            line = {**self._standing, **line}
            self._said_at = self._size
        self._append(line)

    def _append(self, line: Line) -> None:
        data = (_encode(line) + "\n").encode("ascii")
        try:
            written = os.write(self._descriptor, data)
        except OSError as error:
            error.filename = self._paths.marks
            raise
        self._size += written
        if written < len(data):
            # A disk that fills up takes the first part of a line, and refuses the next one.
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self._paths.marks)

    def _begin(self) -> None:
        marks = self._paths.marks
        why = why_not_replace(marks, self._pid, start_of(self._pid))
        if why is not None:
            raise Trouble(f"{why}. Set LEVELOFF_MARKS to a directory")
        if self._paths.is_default:
            sweep(os.path.dirname(marks), self._uid)
        _remove(marks)
        self._open(marks)

    def _open(self, path: str) -> None:
        """Creates a new file, never an existing one, and writes the header."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(path, flags, 0o600)
        self._close_descriptor()
        self._descriptor = descriptor
        self._size = 0
        header: Line = {"leveloff_marks": 1, "pid": self._pid}
        start = start_of(self._pid)
        if start is not None:
            header["start"] = start
        self._append(header)
        self._said_at = -RESTATE_AFTER - 1  # The first line has all standing facts.

    def _close_descriptor(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _rotate(self) -> None:
        fresh = self._paths.marks + ".new"
        _remove(fresh)
        self._open(fresh)
        os.rename(fresh, self._paths.marks)

    def _begin_again_if_gone(self) -> None:
        """If /tmp was emptied, nothing would find the open file: creates another."""
        if os.fstat(self._descriptor).st_nlink > 0:
            return
        directory = os.path.dirname(self._paths.marks)
        why = prepare(directory, self._uid)
        if why is not None and self._paths.is_default:
            raise Trouble(f"marks were removed and cannot be begun again: {why}. Set LEVELOFF_MARKS to a directory")
        self._begin()


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
