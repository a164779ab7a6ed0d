#!/usr/bin/env python3
"""Scores verdicts on labelled runs.

    score.py LABELS.csv PREDICTIONS.csv [--trajectory TRAJECTORY.csv]

PREDICTIONS.csv has name,verdict,rate_mb_per_step,decided_at_step, TRAJECTORY.csv name,step,verdict
for every look. Verdicts are stable, sawtooth, warming_up, inconclusive, suspected, step, leak, shrinking;
`step` is a leak in jumps, `suspected` a leak of the lowest grade, which is not an alarm.
"""

import argparse
import csv
import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field

VERDICTS = ["stable", "sawtooth", "warming_up", "inconclusive", "suspected", "step", "leak", "shrinking"]
FINE = {"stable", "sawtooth"}
ALARMS = {"leak", "step"}
SUSPICIONS = ALARMS | {"suspected"}
# The share of leaks among the runs that users examine: a precision depends on it.
LEAKING_SHARE = 0.12


@dataclass(frozen=True)
class Label:
    """The truth about a run, and the facts that may be stated beforehand."""

    name: str
    shape: str
    truth: str
    acceptable: frozenset
    decidable: bool
    onset: float | None
    plateau: float | None
    rate: float | None
    facts: dict = field(hash=False)

    @property
    def leaks(self):
        return self.truth == "leak"

    @property
    def healthy(self):
        return self.truth not in ("leak", "step", "ambiguous")

    def warming_at(self, step):
        warms = self.shape.startswith("warm") or self.shape == "two_stage"
        return self.healthy and warms and (self.plateau is None or step <= self.plateau)


@dataclass
class Look:
    """What was said when a run had come to a step."""

    step: float
    verdict: str
    grade: str = ""


@dataclass
class Prediction:
    """All that was said of a run; the last look is the verdict."""

    looks: list
    rate: float | None = None

    @property
    def verdict(self):
        return self.looks[-1].verdict

    @property
    def grade(self):
        return self.looks[-1].grade

    @property
    def decided_at(self):
        """The first look from which the verdict did not change any more."""
        at = self.looks[-1].step
        for look in reversed(self.looks):
            if look.verdict != self.verdict:
                break
            at = look.step
        return at

    def ever(self, verdicts, grade=None):
        return any(look.verdict in verdicts and grade in (None, look.grade) for look in self.looks)


@dataclass
class Share:
    """So many of so many."""

    hits: int = 0
    of: int = 0

    def count(self, hit):
        self.hits += bool(hit)
        self.of += 1

    @property
    def percent(self):
        return 100 * self.hits / self.of if self.of else math.nan


class Score:
    """What the verdicts on labelled runs are worth."""

    def __init__(self):
        self.acceptable, self.recall, self.false_leak, self.fine_of_leak = (
            Share() for _ in range(4)
        )
        self.ever_leak, self.ever_alarm, self.warmup_looks = (Share() for _ in range(3))
        self.seen, self.ever_suspected, self.finally_suspected = (Share() for _ in range(3))
        self.confirmed_fine_of_leak, self.recall_of_alarms = Share(), Share()
        self.graded = {(grade, leaks): Share() for grade in GRADES for leaks in (True, False)}
        self.rate_errors = []
        self.confusion = Counter()
        self.by_shape = defaultdict(Share)
        self.ever_by_shape = defaultdict(Share)
        self.delays = defaultdict(list)
        self.wrong = []

    def add(self, label, prediction):
        verdict, right = prediction.verdict, is_acceptable(prediction.verdict, label)
        self.confusion[label.truth, verdict] += 1
        self.acceptable.count(right)
        self.by_shape[label.shape].count(right)
        if label.leaks:
            self.add_leak(label, prediction)
        if label.healthy:
            self.add_healthy(label, prediction)
        if label.truth != "ambiguous":
            for grade in GRADES:
                self.graded[grade, not label.healthy].count(prediction.ever(ALARMS, grade))
        if right:
            self.add_delay(label, prediction.decided_at)
        if not right or (label.healthy and prediction.ever(ALARMS)):
            self.wrong.append((label, prediction))

    def add_leak(self, label, prediction):
        self.fine_of_leak.count(prediction.verdict in FINE)
        self.confirmed_fine_of_leak.count(prediction.verdict in FINE and prediction.grade == "confirmed")
        self.seen.count(prediction.verdict in SUSPICIONS)
        if label.decidable:
            self.recall.count(prediction.verdict in SUSPICIONS & (label.acceptable | {"suspected"}))
            self.recall_of_alarms.count(prediction.verdict in ALARMS & label.acceptable)
        if prediction.verdict == "leak" and prediction.rate is not None:
            self.rate_errors.append(100 * abs(prediction.rate - label.rate) / label.rate)

    def add_healthy(self, label, prediction):
        self.false_leak.count(prediction.verdict == "leak")
        self.ever_suspected.count(prediction.ever(SUSPICIONS))
        self.finally_suspected.count(prediction.verdict in SUSPICIONS)
        self.ever_leak.count(prediction.ever({"leak"}))
        self.ever_alarm.count(prediction.ever(ALARMS))
        self.ever_by_shape[label.shape].count(prediction.ever({"leak"}))
        for look in prediction.looks:
            if label.warming_at(look.step):
                self.warmup_looks.count(look.verdict == "leak")

    def add_delay(self, label, decided_at):
        if label.onset is not None:
            self.delays[label.shape].append(decided_at - label.onset)
        elif label.plateau is not None:
            self.delays[label.shape].append(max(0.0, decided_at - label.plateau))

    def precision(self, grade):
        """Of runs that are ever given this grade: how many leak, were so many to leak at all."""
        leaking, healthy = self.graded[grade, True], self.graded[grade, False]
        if not leaking.hits or not healthy.of:
            return math.nan
        true = LEAKING_SHARE * leaking.hits / leaking.of
        false = (1 - LEAKING_SHARE) * healthy.hits / healthy.of
        return true / (true + false)


GRADES = ("early", "confirmed")


def is_acceptable(verdict, label):
    """A suspicion is a leak of the lowest grade."""
    return verdict in label.acceptable or (verdict == "suspected" and bool(ALARMS & label.acceptable))


def quantile(values, share):
    """Linear between order statistics."""
    if not values:
        return math.nan
    values = sorted(values)
    position = (len(values) - 1) * share
    low = int(position)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (position - low)


def read_labels(path):
    with open(path, newline="") as file:
        return {row["name"]: label(row) for row in csv.DictReader(file)}


def label(row):
    known = ("limit_mb", "planned_steps", "epoch_steps")
    return Label(
        row["name"],
        row["shape"],
        row["truth"],
        frozenset(row["acceptable"].split("|")),
        row["decidable"] == "1",
        number(row["onset_step"]),
        number(row["plateau_step"]),
        number(row["rate_mb_per_step"]),
        {fact: row[fact] for fact in known if row.get(fact)},
    )


def number(text):
    return float(text) if text else None


def score(labels, predictions):
    """The score of the predictions, by run. A run without a prediction counts as inconclusive."""
    result = Score()
    for name, its_label in labels.items():
        result.add(its_label, predictions.get(name) or Prediction([Look(math.nan, "inconclusive")]))
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("labels")
    parser.add_argument("predictions")
    parser.add_argument("--trajectory")
    arguments = parser.parse_args()
    predictions = read_predictions(arguments.predictions, arguments.trajectory)
    result = score(read_labels(arguments.labels), predictions)
    print(f"acceptable            {result.acceptable.percent:.1f} %")
    print(f"recall (decidable)    {result.recall.percent:.1f} %")
    print(f"false leak, final     {result.false_leak.percent:.1f} %")
    print(f"fine said of a leak   {result.fine_of_leak.percent:.1f} %")
    p50, p90 = (quantile(result.rate_errors, share) for share in (0.5, 0.9))
    print(f"rate error p50 / p90  {p50:.1f} % / {p90:.1f} %")
    print(f"ever called leak      {result.ever_leak.percent:.1f} %")
    print(f"warmup looks, leak    {result.warmup_looks.percent:.2f} %")
    for shape, share in sorted(result.by_shape.items()):
        delays = [quantile(result.delays[shape], share) for share in (0.5, 0.9)]
        ever = result.ever_by_shape[shape].percent
        print(f"{shape:16}{share.percent:7.1f}{delays[0]:9.0f}{delays[1]:9.0f}{ever:7.1f}")


def read_predictions(predictions, trajectory=None):
    looks = defaultdict(list)
    if trajectory:
        with open(trajectory, newline="") as file:
            for row in csv.DictReader(file):
                look = Look(float(row["step"]), row["verdict"], row.get("grade", ""))
                looks[row["name"]].append(look)
    with open(predictions, newline="") as file:
        return {row["name"]: prediction(row, looks[row["name"]]) for row in csv.DictReader(file)}


def prediction(row, looks):
    if not looks:
        looks = [Look(number(row["decided_at_step"]) or math.nan, row["verdict"])]
    return Prediction(looks, number(row["rate_mb_per_step"]))


if __name__ == "__main__":
    main()
