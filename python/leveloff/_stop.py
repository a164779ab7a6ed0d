"""The stop request: a file `<pid>.stop` beside the marks asks the training to save and stop."""

import json
import os
import stat
import time
from typing import Any, Callable, Optional

from ._agreement import Ranks, has_ranks
from ._guard import say, switch

LONGEST_REQUEST = 4096
"""Bytes of a request that are read."""


LOOK_EVERY = 0.5
"""Seconds between two looks: many steps are shorter, and a guard leaves more time than that."""


class StopWatch:
    """Watches for the request."""

    def __init__(self, path: str, uid: int, session: Any) -> None:
        self._path = path
        self._uid = uid
        self._session = session
        self._ranks = Ranks()
        self.is_stopping = False
        self._is_stopped = False
        self._next_look = float("-inf")
        self._was_requested = False
        self._path_saved: Optional[str] = None

    def is_quiet(self) -> bool:
        """Whether there is nothing to look for yet. Ranks count their calls, so that with others it never is."""
        return time.monotonic() < self._next_look and not self.is_stopping and not has_ranks()

    def look(self, agree: Optional[Callable[[bool], bool]]) -> bool:
        """Whether to stop now: once true, it stays true until another training begins."""
        if self.is_stopping:
            return True
        requested = self.is_requested()
        stops = self._ranks.should_stop(requested) if agree is None else bool(agree(requested))
        if stops:
            self._stop()
        elif self._ranks.gave_up:
            self._dismiss()
            self._session.mark("not_stopping", {})
        return stops

    def is_requested(self) -> bool:
        """Whether there is a request, as of the last look."""
        now = time.monotonic()
        if now >= self._next_look:
            self._next_look = now + LOOK_EVERY
            self._was_requested = self._is_there()
        return self._was_requested

    def _is_there(self) -> bool:
        """A regular file of our own user or root."""
        try:
            status = os.lstat(self._path)
        except OSError:
            return False
        return stat.S_ISREG(status.st_mode) and status.st_uid in (self._uid, 0)

    def stopped(self) -> None:
        """The training has saved and stopped."""
        if self.is_stopping and not self._is_stopped:
            self._is_stopped = True
            self._session.mark("stopped", {}, self._path_saved)

    def saved(self, path: str) -> None:
        """Where the checkpoint of the stop is."""
        self._path_saved = path

    def begin(self) -> None:
        """A training begins: a request to an earlier one in this process is over."""
        self._path_saved = None
        self.is_stopping = self._is_stopped = False
        self._ranks.begin()

    def finish(self) -> None:
        """The process ends in order."""
        self.stopped()

    def _stop(self) -> None:
        """Prints why, and removes the request. All ranks have agreed, so no error may keep this one from stopping."""
        self.is_stopping = True
        try:
            reason = self._reason() if self._is_there() else ", as another rank was"
            self._dismiss()
            say(f"leveloff: asked to stop{reason}; saving and stopping")
            self._session.mark("stopping", {})
        except Exception as error:
            switch.turn_off(error)

    def _dismiss(self) -> None:
        self._was_requested = False
        try:
            os.unlink(self._path)
        except OSError:
            pass

    def _reason(self) -> str:
        text = _read(self._path)
        try:
            request = json.loads(text or "")
        except ValueError:
            return ""
        reason = request.get("reason") if isinstance(request, dict) else None
        if not isinstance(reason, str):
            return ""
        # It is printed, and must not contain control sequences.
        return ": " + "".join(c for c in reason if c.isprintable())[:500]


def _read(path: str) -> Optional[str]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        return os.read(descriptor, LONGEST_REQUEST).decode("utf-8", "replace")
    except OSError:
        return None
    finally:
        os.close(descriptor)
