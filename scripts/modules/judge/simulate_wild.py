#!/usr/bin/env python3
"""Writes labelled runs of the shapes that were missed in the wild; options and labels as simulate.py has them.

    simulate_wild.py --seed 1 --n 600 --out DIR
"""

import numpy as np

import shapes
import simulate
import wild_shapes


def run(seed, number):
    """One run: its row of labels, and its file's text."""
    dice = np.random.default_rng([seed, number, 78])
    shape = wild_shapes.SHAPES[number % len(wild_shapes.SHAPES)]
    steps, total = sampled_steps(dice)
    setting = shapes.Setting(dice, steps, total, base=float(np.exp(dice.uniform(6.5, 10))))
    wild = shape(setting)
    memory = textured(dice, shape, wild, setting.base)
    label = simulate.labelled(dice, wild.plan, memory, setting)
    label |= {"name": f"w{seed}_{number:05d}_{shape.__name__}", "shape": shape.__name__}
    if wild.planned is not None:
        label["planned_steps"] = round(wild.planned * total + wild.attached_at)
    if wild.by_time:
        label |= {"planned_steps": "", "epoch_steps": ""}
    for place in ("onset_step", "plateau_step"):
        if label[place] != "":
            label[place] = round(label[place] + wild.attached_at, 1)
    return label, text(dice, wild, steps, memory)


def sampled_steps(dice):
    """From a minute's run to a long one, read at every step or second, or at every few."""
    points = int(np.exp(dice.uniform(np.log(80), np.log(6_000))))
    stride = int(dice.choice([1, 1, 2, 5] if points < 1500 else [1, 2]))
    steps = np.arange(1, points + 1, dtype=float) * stride
    return steps, float(points * stride)


def textured(dice, shape, wild, base):
    if wild.noise is None:
        return simulate.textured(dice, shape, wild.plan, base)
    level = float(np.median(wild.plan.curve))
    # Uniform noise of so many percent to either side, as alternating batch sizes make it.
    noise = dice.uniform(-1, 1, len(wild.plan.curve)) * wild.noise * level
    return np.maximum(wild.plan.curve + noise, 1.0)


def text(dice, wild, steps, memory):
    if wild.by_time:
        rows = [f"{second:.3f},{mb:.3f}\n" for second, mb in zip(steps, memory)]
        return "t_seconds,rss_mb\n" + "".join(rows)
    pace = np.exp(dice.uniform(np.log(0.1), np.log(10)))
    rows = [
        f"{step + round(wild.attached_at):.0f},{step * pace:.3f},{mb:.3f}\n" for step, mb in zip(steps, memory)
    ]
    return "step,t_seconds,rss_mb\n" + "".join(rows)


if __name__ == "__main__":
    simulate.main(run)
