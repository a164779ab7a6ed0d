"""The recorded memory of a tree against a sum of our own over smaps_rollup."""

import time

from process_table import start_of

TOLERANCE = 0.03
SETTLE_TIMEOUT_S = 90  # Reading 22 processes on half a percent of a core takes its time.
COUNTED = {"Pss_Anon": 1, "Pss_Shmem": 1, "SwapPss": 1, "LazyFree": -1}


def misses(training):
    """Compares at one moment, when every process has been read; returns misses and a note."""
    if not training.case.memory:
        return [], ""
    recorded, before, after = at_one_moment(training)
    total, rss = int(recorded["memory_bytes"]), int(recorded["rss_bytes"])
    low, high = sorted((before, after))
    off = max(low - total, total - high, 0) / low
    note = f"total {total >> 20} MiB, own sum {before >> 20} ({off:.1%} off), RSS sum {rss / total:.1f} times"
    found = []
    if int(recorded["estimated_processes"]):
        found.append(f"{recorded['estimated_processes']} processes were not read within {SETTLE_TIMEOUT_S} s")
    if off > TOLERANCE:
        found.append(f"memory of the tree: {note}")
    if rss < training.case.overcount * total:
        found.append(f"RSS does not over-count as it has to here: {note}")
    return found, note


def at_one_moment(training):
    """A recorded sample, and our own sums right before and after it."""
    deadline = time.monotonic() + SETTLE_TIMEOUT_S
    rows = training.recording.tree()
    while not is_settled(rows[-1], training) and time.monotonic() < deadline:
        time.sleep(1)
        rows = training.recording.tree()
    known, before = len(rows), own_sum(training)
    while len(rows) == known:
        time.sleep(0.05)
        rows = training.recording.tree()
    return rows[-1], before, own_sum(training)


def is_settled(row, training):
    """Everybody is there and has been read."""
    return int(row["processes"]) >= len(training.truth) and row["estimated_processes"] == "0"


def own_sum(training):
    return sum(memory_of(pid) for pid, start in training.truth if start_of(pid) == start)


def memory_of(pid):
    with open(f"/proc/{pid}/smaps_rollup") as file:
        fields = (line.split() for line in file)
        amounts = {words[0].rstrip(":"): int(words[1]) * 1024 for words in fields if words[-1] == "kB"}
    return sum(sign * amounts[name] for name, sign in COUNTED.items())
