"""What can be seen: straight leaks of every size, under noise of every size, after so many steps."""

import pathlib
import tempfile

import numpy as np

from asking import JudgeProgram
from tables import percent, table

LEVEL_MB = 1000.0
# Percent of the level for each 100 steps.
LEAKS = (0.02, 0.05, 0.2, 0.5, 1.0, 2.0)
NOISES = (1, 5, 10, 33)
STEPS = (60, 100, 200, 500, 1000, 2000)
SEEDS = 20
# A gate passes on level (confirmed) only, and has a horizon of its own.
CHECK = ("--level-by", "90")
# Growth below this share of the level is not reported.
MATERIAL = 0.02


def report(judge):
    """For each noise a table: the share of seeds called leak, left open, called level (confirmed), in percent."""
    with tempfile.TemporaryDirectory(prefix="leveloff-power-") as name:
        directory = pathlib.Path(name)
        cells = {
            (noise, leak, steps): [written(directory, noise, leak, steps, seed) for seed in range(SEEDS)]
            for noise in NOISES
            for leak in LEAKS
            for steps in STEPS
        }
        paths = [path for cell in cells.values() for path in cell]
        program = JudgeProgram(judge.program, looks=1)
        plain, checked = (program.answers(dict.fromkeys(paths, flags)) for flags in ((), CHECK))
    words, gated = ({cell: [word(said[path]) for path in paths] for cell, paths in cells.items()} for said in (plain, checked))
    rows = [["`judge`", *worst(words)], [f"as `check` judges, `{' '.join(CHECK)}`", *worst(gated)]]
    header = ["level (confirmed) of a leak that is material by the horizon", "worst cell", "where", "all such runs"]
    return "\n\n".join([*(noise_table(words, noise) for noise in NOISES), table(header, rows)])


def written(directory, noise, leak, steps, seed):
    """Uniform noise of so many percent to either side."""
    dice = np.random.default_rng([seed, steps, noise, round(leak * 100)])
    x = np.arange(1, steps + 1)
    memory = LEVEL_MB * (1 + leak / 100 * x / 100) + dice.uniform(-1, 1, steps) * LEVEL_MB * noise / 100
    path = directory / f"n{noise}-l{leak}-s{steps}-{seed}.csv"
    rows = (f"{step},{mb:.3f}\n" for step, mb in zip(x, memory))
    path.write_text("step,rss_mb\n" + "".join(rows))
    return path


def word(answer):
    if answer["verdict"] == "leak":
        return "leak"
    if answer["verdict"] == "level":
        return "level" if answer["grade"] != "early" else "early"
    return "open"


def noise_table(words, noise):
    header = [f"noise ±{noise} %, leak in 100 steps", *(f"{steps:,} steps" for steps in STEPS)]
    rows = [[f"{leak:g} %", *(cell(words[noise, leak, steps]) for steps in STEPS)] for leak in LEAKS]
    return table(header, rows)


def cell(words):
    """`leak / open / level (early) / level (confirmed)`"""
    return " / ".join(f"{100 * words.count(word) // len(words)}" for word in ("leak", "open", "early", "level"))


def worst(words):
    """The largest share of level (confirmed) among leaks that matter over what was seen and as long again, and of all of them."""
    material = {key: cell for key, cell in words.items() if adds(key) >= MATERIAL}
    share, (noise, leak, steps) = max((cell.count("level") / len(cell), key) for key, cell in material.items())
    where = f"noise ±{noise} %, {leak:g} % in 100 steps, {steps:,} steps"
    all_words = [word for cell in material.values() for word in cell]
    return [percent(100 * share), where, f"{all_words.count('level')} of {len(all_words)}"]


def adds(key):
    """What the leak adds from the end to the horizon, which is as far again, as a share of the level there."""
    _, leak, steps = key
    grown = leak / 100 * steps / 100
    return grown / (1 + grown)
