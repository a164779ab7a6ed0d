"""Ways of asking leveloff who is who; each answers with a miss for every process it got wrong."""

import json
import subprocess

from places import LEVELOFF
from process_table import start_of

COMPILERS = {"g++", "gcc", "c++", "cc1plus", "as", "collect2", "ld"}
MUST_BE_SEEN_S = 2  # Twice the recorder's interval: who lives for this long cannot slip through.


def find(arguments):
    """The runs that `leveloff find` lists."""
    answer = subprocess.run([LEVELOFF, "find", "--format", "json", *arguments], stdout=subprocess.PIPE, check=False)
    return json.loads(answer.stdout or b"[]")


def misses_of_find(training):
    """Of the run that holds our trainer. Others may train here, too."""
    pids = {pid for pid, start in training.truth if start_of(pid) == start}
    runs = [run for run in find([]) if any(one["pid"] in pids for one in run["processes"])]
    misses = [f"one job is listed as {len(runs)} runs"] if len(runs) > 1 else []
    return misses + misnamed(training, runs)


def misses_of_find_pid(training):
    """By the number of the process that looks least like a trainer."""
    workers = [pid for (pid, _), one in training.truth.items() if one["role"].endswith("worker")]
    trainers = [pid for (pid, _), one in training.truth.items() if one["role"] == "trainer"]
    return misnamed(training, find(["--pid", str((workers or trainers)[-1])]))


def misnamed(training, runs):
    said = {one["pid"]: one for run in runs for one in run["processes"]}
    misses = []
    for (pid, _), true in sorted(training.truth.items()):
        answer = said.get(pid, {"role": "missing", "rank": None, "why": ""})
        if answer["role"] != true["role"] or is_other_rank(answer["rank"], true["rank"]):
            misses.append(wrong(pid, answer["role"], answer["rank"], true, answer["why"]))
    return misses


class Beginning:
    """Looks at a run while it starts. Before a process has shown what it is, `other` is the truth;
    another role never is."""

    def __init__(self):
        self.looks = []

    def look(self, pid):
        self.looks.append(find(["--pid", str(pid)]))

    def misses(self, training):
        truth = {pid: one for (pid, _), one in training.truth.items()}
        misses = set()
        for one in (one for runs in self.looks for run in runs for one in run["processes"]):
            true = truth.get(one["pid"])
            if true and one["role"] not in ("other", true["role"]):
                misses.add(wrong(one["pid"], one["role"], one["rank"], true, one["why"]))
        return sorted(misses)


def recordable(training):
    """Processes that reported their role and lived for long enough to be recorded for sure."""
    return {key: one for key, one in training.truth.items() if lived_long(training, key)}


def misses_of_record(training):
    """What the recording says in the end, against the truth."""
    recorded = training.recording.processes
    misses = []
    for key, true in sorted(recordable(training).items()):
        one = recorded.get(key)
        if one is None:
            misses.append(wrong(key[0], "missing", None, true, "not in the recording"))
        elif one.role == "other" and shown_s(training, key) < MUST_BE_SEEN_S:
            pass  # It had only just begun to look like what it is.
        elif one.role != true["role"] or is_other_rank(one.rank, true["rank"]):
            misses.append(wrong(key[0], " then ".join(one.roles), one.rank, true, one.why))
    return misses


def misses_of_others(training):
    """Processes without a reported role: each one seen is recorded, and none gets a role of torch."""
    recorded = training.recording.processes
    misses = []
    for key, seen in sorted(training.seen.items()):
        if key not in recorded and key not in training.truth and lived_long(training, key):
            misses.append(f"{seen.pid}: {seen.comm} lived {seen.lived_s:.1f} s, is not in the recording")
    for key, one in sorted(recorded.items()):
        expected = "compiler" if compiles(one) else "other"
        if key not in training.truth and one.role != expected:
            misses.append(f"{one.pid}: {one.role}, in truth {expected}; {one.why}; {one.command}")
    return misses


def compiles(one):
    """By name, or because torch.compile has it try a library."""
    return bool(one.names & COMPILERS) or "cdll.LoadLibrary(" in one.command


def learned_late(training):
    """Recorded processes of the truth whose first role was another than their last."""
    recorded = (training.recording.processes.get(key) for key in training.truth)
    return [one for one in recorded if one and len(one.roles) > 1]


def lived_long(training, key):
    return key in training.seen and training.seen[key].lived_s >= MUST_BE_SEEN_S


def shown_s(training, key):
    """For how long it has had its reported role."""
    return training.seen[key].last_seen_s - training.truth[key]["reported_s"]


def is_other_rank(said, true):
    return said is not None and true is not None and said != true


def wrong(pid, role, rank, true, why):
    return f"{pid}: {role} {rank}, in truth {true['role']} {true['rank']}; {why}"
