"""What the processes of a training noted of themselves."""

import json
import os
from dataclasses import dataclass, field


@dataclass
class ProcessNotes:
    """The notes of one process, in the order in which they were made."""

    pid: int
    start: int
    rank: int | None
    rows: list = field(default_factory=list)

    @property
    def steps(self):
        """[(seconds since 1970, step)]"""
        return [(row["t"], row["step"]) for row in self.rows if "step" in row]

    @property
    def steps_done(self):
        """The same, with the time when the callback had marked it."""
        return [(row["done"], row["step"]) for row in self.rows if "step" in row]

    @property
    def last_step(self):
        return max((step for _, step in self.steps), default=0)

    @property
    def phases(self):
        return [(row["at"], row["phase"]) for row in self.rows if "phase" in row]

    @property
    def events(self):
        return [(row["at"], row["event"]) for row in self.rows if "event" in row]

    @property
    def counts(self):
        return [row for row in self.rows if "tensors" in row]

    def fact(self, name):
        """The newest of that name, or None."""
        return next((row[name] for row in reversed(self.rows) if name in row), None)


def read(directory):
    """Every process that noted something, the lowest rank first."""
    notes = [read_one(os.path.join(directory, name)) for name in os.listdir(directory)]
    return sorted((one for one in notes if one), key=lambda one: (one.rank or 0, one.pid))


def read_one(path):
    with open(path) as file:
        rows = [json.loads(line) for line in file if line.endswith("\n")]
    if not rows:
        return None
    return ProcessNotes(rows[0]["pid"], rows[0]["start"], rows[0]["rank"], rows[1:])
