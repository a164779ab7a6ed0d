"""Labelled runs: made, judged by leveloff and by trend tests, and scored."""

import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np

import baselines
from asking import PROCESSES
from score import VERDICTS, is_acceptable, quantile, read_labels, score
from tables import holds, percent, table

OURS = "leveloff"


@dataclass
class Measure:
    """A row of the table: how to read it off a score, and what must be reached."""

    name: str
    value: object
    wanted: str
    reached: object
    digits: int = 1


MEASURES = [
    Measure(
        "acceptable final verdicts", lambda s: s.acceptable.percent, "≥ 98.5 %", lambda v: v >= 98.5
    ),
    Measure("recall on decidable leaks", lambda s: s.recall.percent, "≥ 97 %", lambda v: v >= 97),
    Measure("… early or confirmed", lambda s: s.recall_of_alarms.percent, "", None),
    Measure("all leaks: leak or suspected at the end", lambda s: s.seen.percent, "", None),
    Measure("final false leak", lambda s: s.false_leak.percent, "≤ 0.2 %", lambda v: v <= 0.2, 2),
    Measure(
        "healthy run ever called leak", lambda s: s.ever_leak.percent, "≤ 4 %", lambda v: v <= 4, 2
    ),
    Measure("… or ever a leak in jumps", lambda s: s.ever_alarm.percent, "", None),
    Measure(
        "… or ever suspected", lambda s: s.ever_suspected.percent, "≤ 8 %", lambda v: v <= 8, 2
    ),
    Measure(
        "healthy, leak or suspected at the end",
        lambda s: s.finally_suspected.percent,
        "≤ 1 %",
        lambda v: v <= 1,
        2,
    ),
    Measure(
        '"level (confirmed)" said of a leak at the end',
        lambda s: s.confirmed_fine_of_leak.percent,
        "",
        None,
        2,
    ),
    Measure('"fine" said of a leak', lambda s: s.fine_of_leak.percent, "≤ 1 %", lambda v: v <= 1),
    Measure(
        "looks during a healthy warmup called leak",
        lambda s: s.warmup_looks.percent,
        "≤ 1.5 %",
        lambda v: v <= 1.5,
        2,
    ),
    Measure(
        "leak rate error, p50",
        lambda s: quantile(s.rate_errors, 0.5),
        "≤ 0.5 %",
        lambda v: v <= 0.5,
        2,
    ),
    Measure(
        "leak rate error, p90", lambda s: quantile(s.rate_errors, 0.9), "≤ 5 %", lambda v: v <= 5
    ),
    Measure(
        "precision of an early leak, 12 % leaking", lambda s: 100 * s.precision("early"), "", None
    ),
    Measure(
        "precision of a confirmed leak, 12 % leaking",
        lambda s: 100 * s.precision("confirmed"),
        "",
        None,
    ),
]


def make(simulator, seeds, count, directory):
    """Has the simulator write the runs of each seed; the directory of each."""
    directories = {seed: directory / f"seed-{seed}" for seed in seeds}
    for begin in range(0, len(seeds), PROCESSES):
        together = [
            subprocess.Popen(
                [sys.executable, simulator, f"--seed={seed}", f"--n={count}"]
                + [f"--out={directories[seed]}"],
                stdout=subprocess.DEVNULL,
            )
            for seed in seeds[begin : begin + PROCESSES]
        ]
        if any([process.wait() for process in together]):
            raise SystemExit(f"{simulator} failed")
    return directories


def judged(judge, directories, with_baselines):
    """Labels, and what each judge says of each run."""
    labels, predictions = {}, {OURS: {}}
    for directory in directories.values():
        here = read_labels(directory / "labels.csv")
        labels |= here
        predictions[OURS] |= judge.runs(directory, here)
        if with_baselines:
            for name, predictions_here in predictions_of_baselines(directory, here, predictions[OURS]).items():
                predictions.setdefault(name, {}).update(predictions_here)
    return labels, predictions


def predictions_of_baselines(directory, labels, ours):
    work = [(directory / f"{name}.csv", looked_at(ours[name])) for name in labels]
    with ProcessPoolExecutor(PROCESSES) as pool:
        each = list(pool.map(all_tests, work, chunksize=8))
    return {test: dict(zip(labels, (one[test] for one in each))) for test in baselines.TESTS}


def looked_at(prediction):
    return [look.step for look in prediction.looks]


def all_tests(work):
    path, steps = work
    x, y = read_run(path)
    return {name: baselines.prediction_of(test, x, y, steps) for name, test in baselines.TESTS.items()}


def read_run(path):
    rows = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    return rows[:, 0], rows[:, -1]


def summary(labels, predictions):
    """The table of all measures, leveloff beside the trend tests."""
    scores = {name: score(labels, of_judge) for name, of_judge in predictions.items()}
    others = [name for name in scores if name != OURS]
    rows = []
    for measure in MEASURES:
        value = measure.value(scores[OURS])
        cells = [percent(measure.value(scores[name]), measure.digits) for name in others]
        verdict = holds(value, measure.reached) if measure.reached else ""
        rows.append([measure.name, *cells, percent(value, measure.digits), measure.wanted, verdict])
    return table(["", *others, OURS, "must reach", "reached"], rows)


def by_seed(labels, predictions, directories):
    """How much the figures differ from seed to seed."""
    scores = {}
    for seed, directory in directories.items():
        here = {name: labels[name] for name in read_labels(directory / "labels.csv")}
        scores[seed] = score(here, predictions[OURS])
    rows = []
    for measure in MEASURES:
        values = [measure.value(one) for one in scores.values()]
        mean = sum(values) / len(values)
        cells = [percent(value, measure.digits) for value in (*values, mean)]
        verdict = holds(mean, measure.reached) if measure.reached else ""
        rows.append([measure.name, *cells, measure.wanted, verdict])
    return table(["", *(f"seed {seed}" for seed in scores), "mean", "must reach", "reached"], rows)


def by_shape(labels, predictions):
    """What each shape is called in the end, how soon, and how often a healthy one was a leak."""
    result = score(labels, predictions[OURS])
    rows = []
    for shape, share in result.by_shape.items():
        delays = result.delays[shape]
        rows.append(
            [
                shape,
                share.of,
                percent(share.percent, 0),
                percent(result.ever_by_shape[shape].percent, 0),
                *(steps(quantile(delays, part)) for part in (0.5, 0.9)),
            ]
        )
    header = ["shape", "runs", "acceptable", "ever leak", "settled after p50", "p90"]
    return table(header, rows)


def steps(number):
    return "–" if number != number else f"{number:,.0f} steps"


def confusion(labels, predictions):
    counts = score(labels, predictions[OURS]).confusion
    truths = dict.fromkeys(label.truth for label in labels.values())
    rows = [[truth, *(counts[truth, verdict] or "·" for verdict in VERDICTS)] for truth in truths]
    return table(["truth", *VERDICTS], rows)


def wrong(labels, predictions):
    """Every run with a verdict that is not acceptable, or an alarm on the way to a right one."""
    rows = []
    for label, said in score(labels, predictions[OURS]).wrong:
        alarms = [look for look in said.looks if look.verdict in ("leak", "step", "suspected")]
        seen = f"{len(alarms)}, first at {alarms[0].step:,.0f}" if alarms else "none"
        right = "right in the end" if is_acceptable(said.verdict, label) else "WRONG"
        rows.append([label.name, label.truth, said.verdict, right, seen])
    return table(["run", "truth", "verdict", "", "alarms"], rows)
