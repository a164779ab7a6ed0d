"""Runs a small training as a real process and reads its marks."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, Dict, List, NamedTuple

PACKAGE = Path(__file__).resolve().parents[1]


class TrainingResult(NamedTuple):
    """The output and the marks of a training."""

    code: int
    out: str
    err: str
    lines: List[Dict[str, Any]]
    """Its marks, without the header."""
    headers: List[Dict[str, Any]]

    def steps(self) -> List[int]:
        return [line["step"] for line in self.lines if "step" in line]

    def events(self) -> List[str]:
        return [line["event"] for line in self.lines if "event" in line]

    def phases(self) -> List[str]:
        return [line["phase"] for line in self.lines if "phase" in line]

    def warnings(self) -> int:
        return self.err.count("RuntimeWarning")


def train(directory: Path, script: str, *arguments: str, **environ: str) -> TrainingResult:
    """Runs a script to its end, with marks in `directory`. It looks for the stop request at each step, not as seldom
    as it usually does."""
    begin = "import os, time, leveloff, leveloff._stop\nleveloff._stop.LOOK_EVERY = 0\n"
    python = [sys.executable, *arguments, "-c", begin + textwrap.dedent(script)]
    done = subprocess.run(python, env=environment(directory, environ), capture_output=True, text=True, timeout=120)
    marks = [entry for path in sorted(directory.glob("*.jsonl")) for entry in read(path)]
    headers = [line for line in marks if "leveloff_marks" in line]
    return TrainingResult(done.returncode, done.stdout, done.stderr, [line for line in marks if line not in headers], headers)


def environment(directory: Path, more: Dict[str, str]) -> Dict[str, str]:
    """Ours, but with nothing in it that leads to other marks."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LEVELOFF", "RANK", "LOCAL_"))}
    return {**kept, "PYTHONPATH": str(PACKAGE), "LEVELOFF_MARKS": f"{directory}/", **more}


def read(path: Path) -> List[Dict[str, Any]]:
    """The whole lines of a marks file."""
    return [json.loads(line) for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]
