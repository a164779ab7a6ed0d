#!/usr/bin/env python3
"""Writes labelled runs: what a training's memory looks like, and what it really was.

    simulate.py --seed 1 --n 600 --out DIR

DIR gets a CSV for each run (step,t_seconds,rss_mb) and labels.csv. A run depends on its seed and
number alone. Any program with these options and these columns of labels can take its place.
"""

import argparse
import csv
import pathlib

import numpy as np
from scipy.signal import lfilter

import shapes

COLUMNS = [
    "name", "shape", "truth", "acceptable", "decidable", "onset_step", "plateau_step",
    "rate_mb_per_step", "base_mb", "n", "total_steps", "limit_mb", "planned_steps", "epoch_steps",
]  # fmt: skip


def main(make):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--n", type=int, default=600)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    with open(arguments.out / "labels.csv", "w", newline="") as file:
        labels = csv.DictWriter(file, COLUMNS)
        labels.writeheader()
        for number in range(arguments.n):
            label, rows = make(arguments.seed, number)
            labels.writerow(label)
            (arguments.out / f"{label['name']}.csv").write_text(rows)


def run(seed, number):
    """One run: its row of labels, and its file's text."""
    dice = np.random.default_rng([seed, number, 77])
    shape = shapes.SHAPES[number % len(shapes.SHAPES)]
    steps, total = sampled_steps(dice, shape)
    setting = shapes.Setting(dice, steps, total, base=float(np.exp(dice.uniform(7.3, 10.6))))
    plan = shape(setting)
    memory = textured(dice, shape, plan, setting.base)
    pace = np.exp(dice.uniform(np.log(0.1), np.log(10)))
    label = labelled(dice, plan, memory, setting)
    label |= {"name": f"r{seed}_{number:05d}_{shape.__name__}", "shape": shape.__name__}
    rows = [f"{step:.0f},{step * pace:.3f},{mb:.3f}\n" for step, mb in zip(steps, memory)]
    return label, "step,t_seconds,rss_mb\n" + "".join(rows)


def sampled_steps(dice, shape):
    """Steps at which memory was read: every so many, with jitter, lost samples and gaps."""
    if shape is shapes.warm_reference:
        points, stride = int(dice.integers(20, 120)), 10
    else:
        points = int(np.exp(dice.uniform(np.log(50), np.log(18_000))))
        choices = [1, 5, 10, 25] if points < 200 else [1, 2, 10] if points < 1500 else [1, 2]
        stride = int(dice.choice(choices))
    steps = np.arange(1, points + 1) * stride
    if stride > 2 and dice.random() < 0.3:
        steps = steps + dice.integers(-(stride // 3), stride // 3 + 1, points)
    kept = np.ones(points, dtype=bool)
    if dice.random() < 0.25:
        kept &= dice.random(points) > dice.uniform(0.01, 0.15)
    if dice.random() < 0.1:
        begin = int(points * dice.uniform(0.25, 0.75))
        kept[begin : begin + points // 20] = False
    kept[-1] = True
    return np.unique(steps[kept]).astype(float), float(points * stride)


def textured(dice, shape, plan, base):
    """The curve as it would be read: with noise, outliers, rounding and the end of the run."""
    typical = float(np.median(plan.curve))
    memory = plan.curve + noise(dice, shape, typical, len(plan.curve))
    if dice.random() < 0.25:
        struck = dice.random(len(memory)) < dice.uniform(0.001, 0.01)
        memory = memory + struck * typical * dice.uniform(-0.25, 0.5, len(memory))
    if plan.limit is not None:
        memory = np.minimum(memory, plan.limit)
    if dice.random() < 0.2:
        memory[-1] *= 1 - dice.uniform(0.03, 0.46)  # torn down before the last reading
    page_or_rounding = dice.choice([0.004096, 1.0, 10.0, 100.0], p=[0.45, 0.3, 0.15, 0.1])
    quantum = min(float(page_or_rounding), base * 0.01)
    return np.maximum(np.round(memory / quantum) * quantum, 1.0)


def noise(dice, shape, typical, points):
    """First-order autoregressive noise; of most runs little, of one shape nearly a random walk."""
    memory_of_it = dice.choice([0.0, dice.uniform(0.2, 0.7), dice.uniform(0.7, 0.95)])
    scale = typical * np.exp(dice.uniform(np.log(3e-4), np.log(0.012)))
    if shape is shapes.level_wander:
        memory_of_it, scale = dice.uniform(0.95, 0.995), typical * dice.uniform(0.002, 0.015)
    if shape is shapes.pool_creep:
        scale = typical * dice.uniform(3e-4, 3e-3)
    shocks = dice.standard_normal(points) * scale
    shocks[1:] *= np.sqrt(1 - memory_of_it**2)
    return lfilter([1.0], [1.0, -memory_of_it], shocks)


def labelled(dice, plan, memory, setting):
    room = np.median(memory) * np.exp(dice.uniform(np.log(1.5), np.log(8)))
    planned = setting.total * dice.uniform(1, 5) if dice.random() < 0.6 else None
    return {
        "truth": plan.truth,
        "acceptable": plan.acceptable,
        "decidable": int(plan.decidable),
        "onset_step": rounded(plan.onset, 1),
        "plateau_step": rounded(plan.plateau, 1),
        "rate_mb_per_step": plan.rate,
        "base_mb": rounded(setting.base, 2),
        "n": len(memory),
        "total_steps": int(setting.total),
        "limit_mb": rounded(plan.limit or max(room, memory.max() * 1.1), 1),
        "planned_steps": rounded(planned, 0),
        "epoch_steps": rounded(plan.epoch, 0),
    }


def rounded(number, digits):
    """As the table has it: empty when there is none."""
    if number is None:
        return ""
    return int(round(number)) if digits == 0 else round(float(number), digits)


if __name__ == "__main__":
    main(run)
