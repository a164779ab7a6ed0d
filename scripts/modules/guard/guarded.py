"""A run of the reference trainer under a guard, and what became of it."""

import json
import os
import re
import subprocess
import threading
import time
from dataclasses import dataclass, field

from programs import program

MIB = 1 << 20


@dataclass
class Programs:
    """The programs under test."""

    leveloff: str
    trainer: str

    @staticmethod
    def of(directory):
        return Programs(program(directory, "leveloff"), program(directory, "leveloff-trainer"))


@dataclass
class Guarded:
    """How a guarded run ended."""

    code: int
    said: str
    facts: dict
    left: list = field(default_factory=list)
    peak: int = 0
    fastest: float = 0.0

    def stages(self):
        return [stage["stage"] for stage in self.facts.get("stages", [])]

    def checkpoint(self):
        return self.facts.get("checkpoint") or {}


def guard(programs, directory, limit, trainer, flags=(), timeout=300):
    """Runs the trainer under `leveloff run --limit`, in `directory`."""
    command = [programs.leveloff, "run", "-o", "run.jsonl", "--limit", limit, "--bundle", "bundle", *flags]
    command += ["--", programs.trainer, "--quiet", *trainer]
    with subprocess.Popen(
        command, cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        witness = Witness(process.pid, programs.trainer)
        try:
            said = process.communicate(timeout=timeout)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            said = process.communicate()[0] or ""
        witness.stop()
    return Guarded(
        process.returncode, said, facts_in(directory), trainers_in(directory), witness.peak, witness.fastest
    )


def facts_in(directory):
    """What the bundle says for programs."""
    try:
        with open(os.path.join(directory, "bundle", "stop.json"), encoding="utf-8") as file:
            return json.load(file) or {}
    except FileNotFoundError:
        return {}


def trainers_in(directory):
    """Processes that still run in this directory."""
    left = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            same = os.path.samefile(f"/proc/{pid}/cwd", directory)
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                state = file.read().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if same and state not in "ZX" and "trainer" in name(pid):
            left.append(int(pid))
    return left


def name(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().decode(errors="replace").replace("\0", " ")
    except OSError:
        return ""


class Witness:
    """Looks at the trainer on its own, by what the kernel says of one process, not through leveloff."""

    EVERY = 0.01

    def __init__(self, front, program):
        self.front, self.program = front, program
        self.peak, self.fastest = 0, 0.0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()

    def stop(self):
        self.ended.set()
        self.thread.join()

    def look(self):
        page = os.sysconf("SC_PAGE_SIZE")
        pid, before = None, []
        while not self.ended.wait(self.EVERY):
            pid = pid or self.find()
            if pid is None:
                continue
            try:
                with open(f"/proc/{pid}/statm", encoding="ascii") as file:
                    fields = file.read().split()
            except OSError:
                pid = None
                continue
            anonymous = (int(fields[1]) - int(fields[2])) * page
            now = time.monotonic()
            self.peak = max(self.peak, anonymous)
            before.append((now, anonymous))
            # Growth over a second: what one sample interval may add.
            while now - before[0][0] > 1.0:
                self.fastest = max(self.fastest, anonymous - before[0][1])
                before.pop(0)

    def find(self):
        """The trainer below the front, by its parents."""
        parents = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                    parents[int(pid)] = int(file.read().rpartition(")")[2].split()[1])
            except OSError:
                pass
        for pid in parents:
            at, depth = pid, 0
            while at in parents and at != self.front and depth < 20:
                at, depth = parents[at], depth + 1
            if at == self.front and name(pid).startswith(self.program):
                return pid
        return None


def steps_of(recording):
    """The first and the last step in a recording."""
    steps = []
    with open(recording, encoding="utf-8") as file:
        for line in file:
            steps += [int(step) for step in re.findall(r'"step":(\d+)', line)]
    return (min(steps), max(steps)) if steps else (None, None)
