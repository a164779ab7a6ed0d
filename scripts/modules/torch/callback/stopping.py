"""A stop request, by hand or by the guard, stops a training with a checkpoint; a second training resumes from it."""

import glob
import json
import os
import re
import subprocess

from places import LEVELOFF

from callback.job import Job

GROWTH = 60_000_000  # Bytes that a run may grow by under the guard: fifty steps of one that leaks.
STOPPED_BY_GUARD = 75

CHECKPOINTS = ("checkpoint-{step}", "step-{step}.pt", "*step={step}*.ckpt")  # By HF, the plain loop, Lightning.


def request(job):
    """As the guard does it: a file beside the marks of one process, the last rank's."""
    pid = job.notes()[-1].pid
    path = os.path.join(job.marks, f"{pid}.stop")
    with open(path, "x") as file:
        json.dump({"reason": "a test asks for it"}, file)
    return path


class Guard:
    """`leveloff guard` on a training that leaks, with a limit a little above what it holds now."""

    def __init__(self, job):
        notes = job.notes()
        self.path = os.path.join(job.marks, f"{notes[0].pid}.stop")
        self.bundle = os.path.join(job.directory, "bundle")
        # Of several ranks, the process that started them: the job is guarded, not a rank.
        pid = notes[0].pid if len(notes) == 1 else parent(notes[0].pid)
        holders = {one.pid for one in notes} | {pid}
        limit = sum(map(anonymous, holders)) + GROWTH * len(notes)
        command = [LEVELOFF, "guard", "--pid", str(pid), "--limit", f"{limit}B", "--bundle", self.bundle]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def misses(self):
        said = self.process.communicate(timeout=60)[1]
        if self.process.returncode != STOPPED_BY_GUARD:
            return [f"the guard ended with {self.process.returncode}: {said[-1000:]}"]
        with open(os.path.join(self.bundle, "stop.json")) as file:
            facts = json.load(file)
        stages = [stage["stage"] for stage in facts["stages"]]
        found = [] if stages == ["request"] else [f"the guard went through {stages}"]
        saved = (facts["checkpoint"] or {}).get("path")
        if not saved or not os.path.exists(saved) or saved not in said:
            found.append(f"the guard names the checkpoint {saved}")
        if facts["used_bytes"] < facts["limit_bytes"]:
            found.append(f"stopped at {facts['used_bytes']} of {facts['limit_bytes']}")
        return found


def parent(pid):
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[1])


def anonymous(pid):
    with open(f"/proc/{pid}/smaps_rollup") as file:
        return 1024 * int(re.search(r"^Pss_Anon:\s+(\d+)", file.read(), re.M)[1])


def misses(job, path, code):
    """How it ended: in good order, all ranks at the same step, before its time, with a checkpoint."""
    notes = job.notes()
    found = [] if code == 0 else [f"ended with {code}: {job.printed()}"]
    last = {one.last_step for one in notes}
    if len(last) > 1:
        found.append(f"ranks ended at the steps {sorted(last)}")
    if max(last) >= notes[0].fact("planned_steps"):
        found.append("was not stopped")
    if os.path.exists(path):
        found.append("the request is still there")
    if not checkpoint(job, max(last)):
        found.append(f"no checkpoint of step {max(last)}: {os.listdir(job.output)}")
    for one in notes:
        if '"stopped"' not in marks_of(job, one.pid):
            found.append(f"rank {one.rank} did not mark that it stopped")
    return found


def marks_of(job, pid):
    path = os.path.join(job.marks, f"{pid}.jsonl")
    if not os.path.exists(path):
        return ""
    with open(path) as file:
        return file.read()


def checkpoint(job, step):
    paths = [path for name in CHECKPOINTS for path in glob.glob(os.path.join(job.output, "**", name.format(step=step)),
                                                                 recursive=True)]
    return paths[0] if paths else None


def misses_of_resuming(job):
    """A second training goes on where the first was stopped, and comes to its end."""
    stopped = job.notes()[0].last_step
    path = checkpoint(job, stopped)
    if not path:
        return ["nothing to resume from"], ""
    with Job(job.case, job.binaries) as second:
        second.start("--resume", path)
        code = second.wait()
        if code:
            return [f"the resumed one ended with {code}: {second.printed()}"], ""
        notes = second.notes()[0]
        first, last, planned = notes.steps[0][1], notes.last_step, notes.fact("planned_steps")
    found = [] if (first, last) == (stopped + 1, planned) else [f"resumed from {stopped}: steps {first} to {last}"]
    return found, f"stopped at {stopped}, resumed {first} to {last}"
