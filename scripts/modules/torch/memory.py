"""The recorded memory of a tree against a sum of our own over smaps_rollup."""

import time
from dataclasses import dataclass

from process_table import start_of

TOLERANCE = 0.03
IN_A_ROW = 3  # One right sample may be luck.
SETTLE_TIMEOUT_S = 60  # Reading 22 processes on half a percent of a core takes its time.
COUNTED = {"Pss_Anon": 1, "Pss_Shmem": 1, "SwapPss": 1, "LazyFree": -1}


@dataclass
class Moment:
    """A recorded sample, and our own sums right before and after it."""

    total: int
    rss: int
    low: int
    high: int

    @property
    def off(self):
        return max(self.low - self.total, self.total - self.high, 0) / self.low

    def __str__(self):
        return f"total {self.total >> 20} MiB, own sum {self.low >> 20}, RSS sum {self.rss / self.total:.1f} times"


def misses(training):
    """Compares sample by sample until the total is right and stays so; returns misses and a note."""
    if not training.case.memory:
        return [], ""
    started, worst, in_a_row = time.monotonic(), 0, 0
    while in_a_row < IN_A_ROW and time.monotonic() - started < SETTLE_TIMEOUT_S:
        moment = next_moment(training)
        worst = max(worst, moment.off)
        in_a_row = in_a_row + 1 if moment.off <= TOLERANCE else 0
    settled_s = time.monotonic() - started
    note = f"{moment}, {moment.off:.1%} off (at most {worst:.0%}) {settled_s:.0f} s after it was ready"
    found = [] if in_a_row == IN_A_ROW else [f"memory of the tree: {note}"]
    if moment.rss < training.case.overcount * moment.total:
        found.append(f"RSS does not over-count as it has to here: {note}")
    return found, note


def next_moment(training):
    rows = training.recording.tree()
    known, before = len(rows), own_sum(training)
    while len(rows) == known:
        time.sleep(0.05)
        rows = training.recording.tree()
    low, high = sorted((before, own_sum(training)))
    return Moment(int(rows[-1]["memory_bytes"]), int(rows[-1]["rss_bytes"]), low, high)


def own_sum(training):
    return sum(memory_of(pid) for pid, start in training.truth if start_of(pid) == start)


def memory_of(pid):
    with open(f"/proc/{pid}/smaps_rollup") as file:
        fields = (line.split() for line in file)
        amounts = {words[0].rstrip(":"): int(words[1]) * 1024 for words in fields if words[-1] == "kB"}
    return sum(sign * amounts[name] for name, sign in COUNTED.items())
