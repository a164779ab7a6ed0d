"""The paths of this process's marks, and whether their directory can be trusted. docs/MARKS.md has the rules."""

import json
import os
import stat
import time
from typing import List, Mapping, NamedTuple, Optional

from ._guard import Trouble

WRITABLE_BY_OTHERS = 0o022

MOST_LEFT_OVER = 100
"""How many files of exited processes are checked when a file is created."""

LEFT_OVER_AFTER = 24 * 3600.0
"""Seconds after which files of an exited process are removed."""


class MarksPaths(NamedTuple):
    """One process's files."""

    marks: str
    stop: str
    is_default: bool
    """LEVELOFF_MARKS is not set, so the directory must be ours alone."""


def choose(pid: int, uid: int, environ: Mapping[str, str]) -> MarksPaths:
    """The paths for a process; creates the directory. Raises `Trouble` when there is none that can be used."""
    stated = environ.get("LEVELOFF_MARKS", "")
    if stated:
        return _stated(stated, pid)
    reasons: List[str] = []
    runtime = environ.get("XDG_RUNTIME_DIR") or f"/run/user/{uid}"
    for directory in (f"/tmp/leveloff-{uid}", os.path.join(runtime, "leveloff")):
        why = prepare(directory, uid)
        if why is None:
            return _in(directory, pid, is_default=True)
        reasons.append(why)
    raise Trouble(f"marks cannot be written: {'; '.join(reasons)}. Set LEVELOFF_MARKS to a directory of your own")


def prepare(directory: str, uid: int) -> Optional[str]:
    """Creates a directory, or returns why it cannot be used: any user may have created it."""
    try:
        os.mkdir(directory, 0o700)
    except FileExistsError:
        pass
    except OSError as error:
        return f"{directory}: {error.strerror}"
    status = os.lstat(directory)
    if not stat.S_ISDIR(status.st_mode):
        return f"{directory} is no directory"
    if status.st_uid != uid:
        return f"{directory} belongs to user {status.st_uid}"
    if status.st_mode & WRITABLE_BY_OTHERS:
        return f"others may write to {directory} (chmod 700 it)"
    return None


def why_not_replace(marks: str, pid: int, start: Optional[int]) -> Optional[str]:
    """Why an existing file must stay: it is not a marks file, or another process writes it now."""
    try:
        status = os.lstat(marks)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        return f"{marks} exists and is not a regular file"
    if status.st_size == 0:
        return None
    first = _first_line(marks)
    if first is None:
        return f"{marks} exists and holds no marks"
    writer, its_start = first.get("pid"), first.get("start")
    is_mine = writer == pid and (start is None or its_start == start)
    if is_mine or type(writer) is not int or its_start is None or start_of(writer) != its_start:
        return None
    return f"process {writer} writes its marks to {marks}: several processes need a directory"


def start_of(pid: int) -> Optional[int]:
    """When a process started, in ticks since boot: with the pid it is an identity."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name is in parentheses and may hold anything; field 22 is the 20th after it.
            return int(file.read().rpartition(b")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return None


def sweep(directory: str, uid: int, now: Optional[float] = None) -> None:
    """Removes files that our exited processes left in the default directory more than a day ago."""
    before = (time.time() if now is None else now) - LEFT_OVER_AFTER
    with os.scandir(directory) as entries:
        for _, entry in zip(range(MOST_LEFT_OVER), entries):
            pid, _, ending = entry.name.partition(".")
            if not pid.isdigit() or ending not in ("jsonl", "stop", "jsonl.new"):
                continue
            try:
                status = entry.stat(follow_symlinks=False)
                is_old = status.st_uid == uid and status.st_mtime < before
                if is_old and not os.path.exists(f"/proc/{pid}"):
                    os.unlink(entry.path)
            except OSError:
                pass  # Another process sweeps as well.


def _stated(stated: str, pid: int) -> MarksPaths:
    if not os.path.isabs(stated):
        raise Trouble(f"LEVELOFF_MARKS={stated} is no absolute path, and leveloff would not find it; give one")
    if stated.endswith("/") or os.path.isdir(stated):
        os.makedirs(stated, 0o700, exist_ok=True)
        return _in(stated, pid, is_default=False)
    return MarksPaths(stated, os.path.join(os.path.dirname(stated), f"{pid}.stop"), is_default=False)


def _in(directory: str, pid: int, is_default: bool) -> MarksPaths:
    path = os.path.join(directory, str(pid))
    return MarksPaths(path + ".jsonl", path + ".stop", is_default)


def _first_line(path: str) -> Optional[Mapping[str, object]]:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        line = os.read(descriptor, 4096).partition(b"\n")[0]
    finally:
        os.close(descriptor)
    try:
        fields = json.loads(line)
    except ValueError:
        return None
    return fields if isinstance(fields, dict) else None
