"""The kernel's process table, read without any of leveloff's code."""

import os
import threading
import time
from dataclasses import dataclass

TICKS = os.sysconf("SC_CLK_TCK")
LOOK_EVERY_S = 0.2


@dataclass
class Seen:
    """A process of the run, as seen by looking at it now and again."""

    pid: int
    start: int
    comm: str
    last_seen_s: float  # On the clock that counts from boot, as `start` does in ticks.

    @property
    def lived_s(self):
        return self.last_seen_s - self.start / TICKS


def stat(pid):
    """(comm, state, parent, start), or None when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read()
    except OSError:
        return None
    comm = text[text.index(b"(") + 1 : text.rindex(b")")].decode(errors="replace")
    rest = text[text.rindex(b")") + 2 :].split()
    return comm, rest[0].decode(), int(rest[1]), int(rest[19])


def start_of(pid):
    row = stat(pid)
    return row and row[3]


class Observer(threading.Thread):
    """Looks for all descendants of a process, until it is stopped. Members stay members,
    whichever process adopts them; an orphan that was never seen with its parent is missed."""

    def __init__(self, root):
        super().__init__(daemon=True)
        self.root, self.seen, self.done = root, {}, threading.Event()
        self.start()

    def run(self):
        while not self.done.is_set():
            self.look()
            self.done.wait(LOOK_EVERY_S)

    def stop(self):
        """Ends the watch; returns every process that was seen, by (pid, start)."""
        self.done.set()
        self.join()
        return self.seen

    def look(self):
        now = time.clock_gettime(time.CLOCK_BOOTTIME)
        rows = {int(name): stat(name) for name in os.listdir("/proc") if name.isdigit()}
        for pid, row in rows.items():
            if row and row[1] != "Z" and self.belongs(pid, rows):
                comm, _, _, start = row
                self.seen[pid, start] = Seen(pid, start, comm, now)

    def belongs(self, pid, rows):
        while pid and rows.get(pid):
            if pid == self.root or (pid, rows[pid][3]) in self.seen:
                return True
            pid = rows[pid][2]
        return False
