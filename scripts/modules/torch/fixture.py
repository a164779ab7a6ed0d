"""Saves the tree of a run, and the truth beside it, for the tests of the rules."""

import csv
import os
import subprocess

from places import HERE, SCRIPTS


def save(training, directory):
    target = os.path.join(directory, training.case.name)
    home = os.path.expanduser("~")
    replace = [f"{training.truth_directory}=/home/user/truth", f"{os.path.dirname(training.binaries)}=/opt/venv",
               f"{HERE}=/home/user/project", f"{home}=/home/user"]
    pids = sorted(pid for pid, _ in training.truth)
    subprocess.run(
        [f"{SCRIPTS}/make/proc-tree", *(f"--replace={pair}" for pair in replace), *map(str, pids), target],
        check=True,
    )
    with open(os.path.join(target, "roles.csv"), "w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["pid", "role", "rank"])
        for (pid, _), one in sorted(training.truth.items()):
            rows.writerow([pid, one["role"], "" if one["rank"] is None else one["rank"]])
    print(f"{training.case.name}: {len(pids)} processes saved")
