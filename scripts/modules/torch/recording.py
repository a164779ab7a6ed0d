"""A recording, read by its documented format alone (docs/RECORDING_FORMAT.md)."""

import csv
import io
import json
import subprocess
from dataclasses import dataclass, field

from places import LEVELOFF

NOT_PROGRESS = {"t", "p", "alive", "m", "g", "ceiling", "c"}  # Fields of a sample that are not progress.


@dataclass
class Recorded:
    """A process in the recording."""

    pid: int
    start: int
    appeared_s: float = 0
    known_s: float = 0  # When its role became what it was to the end.
    roles: list = field(default_factory=list)  # One after the other; the last is what counts.
    names: set = field(default_factory=set)
    command: str = ""
    rank: int | None = None
    why: str = ""
    exited: bool = False

    @property
    def role(self):
        return self.roles[-1]


class Recording:
    def __init__(self, path):
        self.path = path
        self.processes = {}  # By (pid, start).
        self.samples = []  # (seconds since 1970, step or None)
        self.progress = []  # What was known of the training at each sample: fields of its progress.
        self.marks = []  # (the process, the row of the mark)
        self.planned_steps = None
        self.end = None

    def load(self):
        by_number, pending, step, progress = {}, [], None, {}
        for kind, row in self.rows():
            if kind == "header":
                started = row["started_unix"]
            elif kind == "end":
                self.end = row["reason"]
            elif kind != "s":
                pending.append((kind, row))
            else:
                for kind_before, row_before in pending:
                    self.take(by_number, kind_before, row_before, row["t"])
                pending, step = [], row.get("step", step)
                self.planned_steps = row.get("planned_steps", self.planned_steps)
                self.samples.append((started + row["t"], step))
                progress.update((name, value) for name, value in row.items() if name not in NOT_PROGRESS)
                self.progress.append(dict(progress))

    def rows(self):
        with open(self.path) as file:
            for line in file:
                if not line.endswith("\n"):
                    return  # A line that is being written.
                ((kind, row),) = json.loads(line).items()
                yield kind, row

    def take(self, by_number, kind, row, t):
        if kind in ("process", "changed"):
            one = by_number.setdefault(row["n"], Recorded(row["pid"], row["start"], appeared_s=t, known_s=t))
            self.processes[one.pid, one.start] = one
            if not one.roles or one.role != row["role"]:
                one.roles.append(row["role"])
                one.known_s = t
            one.names.add(row["comm"])
            one.rank, one.why, one.command = row.get("rank"), row["why"], " ".join(row["cmd"])
        elif kind == "exit":
            by_number[row["n"]].exited = True
        elif kind == "mark":
            self.marks.append((by_number[row["n"]], row))

    def tree(self):
        """The rows of `export --scope tree`, as far as the recording goes now."""
        command = [LEVELOFF, "export", self.path, "--scope", "tree", "-o", "-"]
        text = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        return list(csv.DictReader(io.StringIO(text)))
