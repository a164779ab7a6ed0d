"""How long large inputs take to judge, and how much memory."""

import os
import pathlib
import subprocess
import tempfile
import time
from dataclasses import dataclass

import numpy as np

from tables import table

ROUNDS = 3
# The high-water mark of a process that ends between two looks is a little too low.
POLL_SECONDS = 0.01
MANY_FILES, POINTS_OF_EACH = 10_000, 500


def report(program):
    with tempfile.TemporaryDirectory(prefix="leveloff-speed-") as name:
        directory = pathlib.Path(name)
        rows = [one_file(program, directory), many_files(program, directory)]
        rows.append(memory(program, directory))
    return table(["input", "measured", "must reach", "reached"], rows)


def one_file(program, directory):
    path = written(directory / "million.csv", 1_000_000)
    cost = best([program, "judge", "--format=json", path.name], directory)
    return ["CSV of 1,000,000 points", cost, "< 0.5 s", yes(cost.seconds < 0.5)]


def many_files(program, directory):
    inside = directory / "many"
    inside.mkdir()
    text = written(directory / "small.csv", POINTS_OF_EACH).read_text()
    names = [f"{number:05d}.csv" for number in range(MANY_FILES)]
    for name in names:
        (inside / name).write_text(text)
    cost = best([program, "judge", "--format=json", *names], inside)
    what = f"{MANY_FILES:,} CSV files of {POINTS_OF_EACH} points"
    return [what, cost, "< 10 s", yes(cost.seconds < 10)]


def memory(program, directory):
    """The high-water mark must not know how long a series is."""
    costs = {}
    for points in (100_000, 10_000_000):
        path = written(directory / "long.csv", points)
        costs[points] = best([program, "judge", "--format=json", path.name], directory, 1)
        path.unlink()
    short, long = costs.values()
    flat = long.peak < short.peak + (2 << 20)
    measured = f"{mib(long.peak)} (100,000 points: {mib(short.peak)}), {long}"
    return ["peak RSS at 10,000,000 points", measured, "flat", yes(flat)]


def written(path, points):
    """A warmup with noise, as long as wanted."""
    dice = np.random.default_rng(1)
    with open(path, "w") as file:
        file.write("step,t_seconds,rss_mb\n")
        for begin in range(0, points, 100_000):
            steps = np.arange(begin, min(begin + 100_000, points)) + 1
            memory = 4000 + 3000 * (1 - np.exp(-steps / 300)) + dice.normal(0, 20, len(steps))
            file.writelines(
                f"{step},{step * 0.5:.3f},{mb:.3f}\n" for step, mb in zip(steps, memory)
            )
    return path


@dataclass
class Cost:
    """What one command took. On a busy machine, CPU time says more than the clock does."""

    seconds: float
    cpu_seconds: float
    peak: int

    def __str__(self):
        return f"{self.seconds:.2f} s ({self.cpu_seconds:.2f} s of CPU)"


def best(command, directory, rounds=ROUNDS):
    """The shortest of some rounds, and the largest high-water mark."""
    costs = [once(command, directory) for _ in range(rounds)]
    return Cost(
        min(cost.seconds for cost in costs),
        min(cost.cpu_seconds for cost in costs),
        max(cost.peak for cost in costs),
    )


def once(command, directory):
    began, peak, ended = time.perf_counter(), 0, 0
    process = subprocess.Popen(command, cwd=directory, stdout=subprocess.DEVNULL)
    while not ended:
        peak = max(peak, high_water_mark(process.pid))
        time.sleep(POLL_SECONDS)
        ended, status, usage = os.wait4(process.pid, os.WNOHANG)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - began
    return Cost(seconds, usage.ru_utime + usage.ru_stime, peak)


def high_water_mark(pid):
    """`ru_maxrss` would count what we were before the program's exec."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    marks = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(marks[0].split()[1]) * 1024 if marks else 0


def mib(size):
    return f"{size / (1 << 20):.1f} MiB"


def yes(holds):
    return "yes" if holds else "NO"
