"""A training is asked to stop by hand, stops with a checkpoint, and goes on from it."""

import glob
import json
import os

from callback.job import Job

CHECKPOINTS = ("checkpoint-{step}", "step-{step}.pt", "*step={step}*.ckpt")  # By HF, the plain loop, Lightning.


def request(job):
    """As the guard does it: a file beside the marks of one process, the last rank's."""
    pid = job.told()[-1].pid
    path = os.path.join(job.marks, f"{pid}.stop")
    with open(path, "x") as file:
        json.dump({"reason": "a test asks for it"}, file)
    return path


def misses(job, path, code):
    """How it ended: in good order, all ranks at the same step, before its time, with a checkpoint."""
    told = job.told()
    found = [] if code == 0 else [f"ended with {code}: {job.printed()}"]
    last = {one.last_step for one in told}
    if len(last) > 1:
        found.append(f"ranks ended at the steps {sorted(last)}")
    if max(last) >= told[0].fact("planned_steps"):
        found.append("was not stopped")
    if os.path.exists(path):
        found.append("the request is still there")
    if not checkpoint(job, max(last)):
        found.append(f"no checkpoint of step {max(last)}: {os.listdir(job.output)}")
    for one in told:
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
    stopped = job.told()[0].last_step
    path = checkpoint(job, stopped)
    if not path:
        return ["nothing to resume from"], ""
    with Job(job.case, job.binaries) as second:
        second.start("--resume", path)
        code = second.wait()
        if code:
            return [f"the resumed one ended with {code}: {second.printed()}"], ""
        told = second.told()[0]
        first, last, planned = told.steps[0][1], told.last_step, told.fact("planned_steps")
    found = [] if (first, last) == (stopped + 1, planned) else [f"resumed from {stopped}: steps {first} to {last}"]
    return found, f"stopped at {stopped}, resumed {first} to {last}"
