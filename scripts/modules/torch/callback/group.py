"""Runs the trainings with the callback, one after the other, and prints the outcome of each."""

import os
import shutil
import statistics
import time
from dataclasses import replace

from answers import ask_both
from places import LEVELOFF, version
from tables import table

from callback import checks, stopping
from callback.job import Job, NotEnded
from callback.outcome import HEADER, Outcome, columns


def run(cases, binaries, keep):
    """Ends with a table; answers whether anything was missed."""
    outcomes = [printed(timed(case, binaries, keep)) for case in cases]
    print("\n" + table(HEADER, [one.row() for one in outcomes]), flush=True)
    misses = sum(len(one.misses) for one in outcomes)
    print(f"{misses} missed" if misses else "the recordings agree with everything that the trainings noted")
    return misses > 0


def timed(case, binaries, keep):
    lacking = [name for name in case.needs if not version(binaries, name)]
    if lacking:
        return Outcome(case.name, note=f"NOT RUN: {', '.join(lacking)} is not installed", run=False)
    began = time.monotonic()
    outcome = Outcome(case.name)
    with Job(case, binaries) as job:
        try:
            test(job, outcome)
        except NotEnded as error:
            outcome.misses.append(str(error))
        if keep and os.path.exists(job.recording.path):
            shutil.copy(job.recording.path, os.path.join(keep, f"{case.name}.jsonl"))
    outcome.seen["time"] = f"{time.monotonic() - began:.0f} s"
    return outcome


def test(job, outcome):
    job.start()
    path = guard = None
    if job.case.stop_at:
        job.wait_for_step(job.case.stop_at)
        guard = stopping.Guard(job) if job.case.guarded else None
        path = guard.path if guard else stopping.request(job)
    code = job.wait()
    notes = job.notes()
    if code or not notes or notes[0].fact("train_s") is None:
        outcome.misses.append(f"ended with {code}: {job.printed()}")
    elif job.case.compares:
        outcome.note = with_and_without(notes[0].fact("medians"))
    else:
        look(job, notes, outcome)
    if guard:
        outcome.misses += guard.misses()
    if path:
        outcome.misses += stopping.misses(job, path, code)
        found, outcome.note = stopping.misses_of_resuming(job)
        outcome.misses += found


def look(job, notes, outcome):
    """Everything that the recording says."""
    case, recording, lowest = job.case, job.recording, notes[0]
    plain, stated = ask_both(LEVELOFF, recording.path)
    outcome.seen = columns(recording, lowest, plain, stated)
    counts = stated if plain["verdict"] != "leak" and stated["verdict"] == "leak" else plain
    outcome.misses += [
        *checks.steps(recording, lowest), *checks.phases(recording, lowest),
        *checks.events(recording, lowest, [*case.events, *(["stopped"] if case.stop_at else [])]),
        *checks.tensors(recording, lowest, 0 if case.stop_at else case.counts),
        *checks.roles(recording, expected_roles(case, lowest), notes), *checks.lowest_rank_marks(recording, notes),
        *checks.verdict(case, plain, stated), *checks.reasons(expected_reasons(case, lowest), counts),
        *checks.grown(case, recording), *checks.cost(case, lowest, is_busy()),
    ]


def is_busy():
    """Whether others use this machine as well; a training here keeps one core busy at most."""
    return os.getloadavg()[0] > os.cpu_count()


def expected_roles(case, notes):
    return {**case.roles, **(notes.fact("roles") or {})} if case.notes_workers else case.roles


def expected_reasons(case, notes):
    """Idle workers are counted too often by RSS, if there are any."""
    if case.notes_workers and notes.fact("roles")["compile-worker"]:
        return replace(case, findings=(*case.findings, "worker-overcount"))
    return case


def with_and_without(medians):
    ratios = [one / other for one, other in zip(medians["with"], medians["without"])]
    times = {manner: " ".join(f"{1000 * one:.2f}" for one in values) for manner, values in medians.items()}
    return (f"step {statistics.median(ratios) - 1:+.2%} with the callback (pairs "
            f"{' '.join(f'{one - 1:+.2%}' for one in ratios)}); with {times['with']} ms, without {times['without']} ms")


def printed(outcome):
    said = "not run" if not outcome.run else f"{len(outcome.misses)} missed" if outcome.misses else "right"
    print(f"{outcome.case}: {'; '.join(filter(None, [said, outcome.seen.get('verdict'), outcome.note]))}", flush=True)
    for miss in outcome.misses:
        print(f"    {miss}", flush=True)
    return outcome
