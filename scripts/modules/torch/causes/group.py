"""Runs every cause and its healthy twin with the Python package, and compares what leveloff says with the truth.

The cause named must be the true one, or none: never a wrong one. The role with most of the growth must be the right one,
and shares are from 0 to 100 %.
"""

import glob
import json
import os
import subprocess
import tempfile
from dataclasses import dataclass, field

from answers import ask_both, blame, is_leak, verdict
from places import LEVELOFF, PACKAGE, version
from tables import table

TRAININGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "trainings.py")
INTERVAL = "100ms"
PSS_BUDGET = "10"  # In percent of one core: a dozen readings in the seconds of a run here.
TIMEOUT_S = 600
HEADER = ["cause", "twin", "verdict", "blamed", "findings", "cause named", "misses"]
# Findings that name no cause: who it is, what a number means, what piles up beside memory.
NO_CAUSE = {"one-process", "worker-overcount", "fd-growth", "outlier-rank"}
RIGHT, NOT_KNOWN, WRONG = "right", "not known", "WRONG"


@dataclass
class Outcome:
    """What was said of one run."""

    name: str
    is_healthy: bool
    answer: dict
    cause: str = ""
    misses: list = field(default_factory=list)

    def row(self):
        findings = ", ".join(one["name"] for one in self.answer["findings"]) or "none"
        twin = "healthy" if self.is_healthy else "leak"
        return [self.name, twin, verdict(self.answer), blame(self.answer), findings, self.cause, "; ".join(self.misses)]


def listed(binaries):
    """Every cause with its facts."""
    command = [f"{binaries}/python", "-B", TRAININGS, "--list"]
    done = subprocess.run(command, env=environment(), stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def names():
    """The names of the causes, read from the file: this Python need not have torch."""
    with open(TRAININGS) as file:
        lines = file.read().splitlines()
    pairs = zip(lines, lines[1:])
    return [after[len("def ") : after.index("(")] for before, after in pairs if before.startswith("@cause(")]


def run(chosen, binaries, keep):
    """Ends with a table; answers whether anything was missed."""
    causes = listed(binaries)
    outcomes = []
    for name in chosen:
        needs = causes[name]["needs"]
        if needs and not version(binaries, needs):
            print(f"{name}: NOT RUN: {needs} is not installed", flush=True)
            continue
        outcomes += [printed(test(name, causes[name], healthy, binaries, keep)) for healthy in (False, True)]
    print("\n" + table(HEADER, [one.row() for one in outcomes]), flush=True)
    leaks = [one for one in outcomes if not one.is_healthy]
    right = sum(one.cause == RIGHT for one in leaks)
    wrong = sum(one.cause == WRONG for one in outcomes)
    print(f"cause right in {right} of {len(leaks)} leaks, wrong in {wrong} of {len(outcomes)} runs; "
          f"{sum(len(one.misses) for one in outcomes)} missed")
    return any(one.misses for one in outcomes)


def test(name, facts, is_healthy, binaries, keep):
    with tempfile.TemporaryDirectory(prefix="leveloff-causes-") as scratch:
        place = keep or scratch
        recording = os.path.join(place, f"{name}-{'healthy' if is_healthy else 'leak'}.jsonl")
        command = [f"{binaries}/python", "-B", TRAININGS, name, *(["--healthy"] if is_healthy else [])]
        if os.path.exists(recording):
            os.unlink(recording)  # Of an earlier run with the same --keep.
        record = ["nice", "-n", "5", LEVELOFF, "run", "-o", recording, "--interval", INTERVAL,
                  "--pss-budget", PSS_BUDGET, "--"]
        try:
            done = subprocess.run(record + command, env=environment(), capture_output=True, timeout=TIMEOUT_S)
        finally:
            for path in glob.glob("/dev/shm/leveloff-causes_*"):
                os.unlink(path)
        if done.returncode:
            raise SystemExit(f"{name} ended with {done.returncode}: {done.stderr.decode(errors='replace')[-2000:]}")
        plain, stated = ask_both(LEVELOFF, recording)
    return judged(name, facts, is_healthy, plain, stated)


def environment():
    paths = filter(None, [PACKAGE, os.environ.get("PYTHONPATH")])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def judged(name, facts, is_healthy, plain, stated):
    """Of a leak it is enough that it is called with a stated horizon."""
    answer = stated if not is_healthy and is_leak(stated) and not is_leak(plain) else plain
    outcome = Outcome(name, is_healthy, answer)
    found = {one["name"] for one in answer["findings"]} - NO_CAUSE
    wrong = found if is_healthy else found - set(facts["findings"])
    outcome.cause = WRONG if wrong else RIGHT if found else NOT_KNOWN
    if wrong:
        outcome.misses.append(f"wrong cause: {', '.join(sorted(wrong))}")
    if is_healthy:
        outcome.cause = "" if not wrong else WRONG
        if is_leak(plain):
            outcome.misses.append("is called a leak")
        return outcome
    if not is_leak(answer):
        outcome.misses.append(f"is called {answer['verdict']}")
    outcome.misses += misses_of_blame(facts, answer)
    return outcome


def misses_of_blame(facts, answer):
    shares = [one["share"] for one in answer["blame"]]
    found = []
    if any(not 0 <= share <= 1 for share in shares) or sum(shares) > 1.0001:
        found.append(f"shares {shares}")
    if shares and facts["role"] and answer["blame"][0]["role"] != facts["role"]:
        found.append(f"blames {answer['blame'][0]['role']}, not {facts['role']}")
    return found


def printed(outcome):
    twin = "healthy" if outcome.is_healthy else "leak"
    said = "; ".join(outcome.misses) or "right"
    print(f"{outcome.name} ({twin}): {verdict(outcome.answer)}; {outcome.cause or '–'}; {said}", flush=True)
    return outcome
