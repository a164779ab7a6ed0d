"""Asking the built program for verdicts, and its answers in the words of the score."""

import json
import pathlib
import subprocess
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

from score import Look, Prediction

LOOKS = 40
MEGABYTE = 1e6
PROCESSES = 2
# A command line has room for some thousand paths; fewer keep both cores busy until the end.
FILES_PER_PROCESS = 100
# Level, leak, not decided. Anything else is not an answer.
ANSWERS = (0, 1, 3)


class JudgeProgram:
    """The program under test, with what it costs to ask it."""

    def __init__(self, program, with_facts=True, looks=LOOKS):
        self.program, self.with_facts, self.looks = program, with_facts, looks

    def runs(self, directory, labels):
        """What it says of each labelled run, by name."""
        files = {
            directory / f"{label.name}.csv": flags(label) if self.with_facts else ()
            for label in labels.values()
        }
        answers = self.answers(files)
        return {path.stem: prediction(answer) for path, answer in answers.items()}

    def answers(self, files):
        """The JSON object for each file, judged with the flags that belong to it."""
        with ThreadPoolExecutor(PROCESSES) as pool:
            parts = pool.map(lambda batch: self.ask(*batch), batches(files))
            return {path: answer for part in parts for path, answer in part.items()}

    def ask(self, flags, paths):
        command = [self.program, "judge", "--format", "json", "--looks", str(self.looks)]
        done = subprocess.run([*command, *flags, *map(str, paths)], capture_output=True, text=True)
        if done.returncode not in ANSWERS:
            raise SystemExit(f"{' '.join(command)} … ended with {done.returncode}: {done.stderr}")
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        return {pathlib.Path(answer["input"]): answer for answer in answers}


def flags(label):
    """What is known of a run beforehand."""
    options = {"limit_mb": "--limit", "planned_steps": "--planned-steps"}
    options |= {"epoch_steps": "--epoch-steps"}
    units = {"limit_mb": "MB"}
    return tuple(
        f"{option}={label.facts[fact]}{units.get(fact, '')}"
        for fact, option in options.items()
        if fact in label.facts
    )


def batches(files):
    """Files that are judged with the same flags, some at a time."""
    groups = defaultdict(list)
    for path, its_flags in files.items():
        groups[its_flags].append(path)
    for its_flags, paths in groups.items():
        for begin in range(0, len(paths), FILES_PER_PROCESS):
            yield its_flags, paths[begin : begin + FILES_PER_PROCESS]


def prediction(answer):
    looks = [Look(look["x"], word(look), look["grade"] or "") for look in answer["trajectory"]]
    rate = answer["rate_bytes"]
    return Prediction(looks, None if rate is None else rate / MEGABYTE)


def word(look):
    """The score's word for a verdict and its shape."""
    verdict, shape = look["verdict"], look["shape"]
    if look["grade"] == "suspected":
        return "suspected"
    if verdict == "leak":
        return "step" if shape == "staircase" else "leak"
    if shape == "shrinking":
        return "shrinking"
    if verdict == "level":
        return "sawtooth" if shape == "sawtooth" else "stable"
    return {"warming_up": "warming_up", "undecided": "inconclusive"}[verdict]
