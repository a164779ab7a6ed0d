"""The reference story: it grows for ninety steps, straight as a leak, then levels off for good."""

import pathlib
import random
import tempfile

from asking import MEGABYTE, JudgeProgram, word
from tables import table

STRIDE = 10
WARMUP_MB = (5552, 7159, 8851, 10375, 12000, 13757, 15559, 17412)
# What production logs showed from step 90 on, in MB.
PLATEAU_MB = (17_000, 17_700)
PLATEAU_VARIANTS = 20
LAST_STEP = 300
LEAK_RATE, LEAK_STEPS = 165.0, 400
# A little longer, to show by when it is said if that is later.
LAST_LEAK_STEP = 500
# More looks than there are points: every prefix is judged.
EVERY_PREFIX = 1000
LEVEL_BY = 130


def report(judge):
    """Rows of what must hold, at every prefix."""
    judge = JudgeProgram(judge.program, looks=EVERY_PREFIX)
    with tempfile.TemporaryDirectory(prefix="leveloff-story-") as name:
        directory = pathlib.Path(name)
        levelling = [written(directory, f"level-{seed}", plateau(seed)) for seed in variants()]
        leaking = [written(directory, f"leak-{seed}", straight(seed)) for seed in variants()]
        answers = judge.answers(dict.fromkeys([*levelling, *leaking], ()))
    rows = levelling_rows([answers[path] for path in levelling])
    rows += leaking_rows([answers[path] for path in leaking])
    return table(["the story", "measured", "must reach", "reached"], rows)


def levelling_rows(answers):
    alarmed = sum(ever_leak(answer) for answer in answers)
    level_from = [level_since_look(answer) for answer in answers]
    first = [first_level(answer) for answer in answers]
    settled = [step for step in level_from if step is not None]
    latest = f"{max(settled):.0f}" if len(settled) == len(answers) else "not all"
    soon = sum(step <= LEVEL_BY for step in settled)
    in_time = soon == len(answers)
    return [
        ["levels off: called leak at any prefix", of(alarmed, answers), "none", yes(not alarmed)],
        ["levels off: first level at step", f"{max(first):.0f} at the latest", "", ""],
        ["levels off: level for good from step", f"{latest} at the latest", "130", yes(in_time)],
        [f"levels off: level for good by step {LEVEL_BY}", of(soon, answers), "all", yes(in_time)],
    ]


def leaking_rows(answers):
    in_time = [answer for answer in answers if leak_at(answer, LEAK_STEPS)]
    rates = [answer["rate_bytes"] for answer in answers if answer["verdict"] == "leak"]
    errors = [100 * abs(rate / MEGABYTE / LEAK_RATE - 1) for rate in rates]
    worst = f"{max(errors):.2f} % off at worst" if errors else "–"
    first = [step for answer in answers if (step := first_leak(answer)) is not None]
    latest = f"{max(first):.0f} at the latest" if len(first) == len(answers) else "not all"
    missed, right = len(answers) - len(in_time), bool(errors) and max(errors) <= 1
    return [
        [f"goes on: leak at step {LEAK_STEPS}", of(len(in_time), answers), "all", yes(not missed)],
        ["goes on: first called leak at step", latest, "", ""],
        [f"goes on: {LEAK_RATE:.0f} MB per step", worst, "within 1 %", yes(right)],
    ]


def variants():
    return range(PLATEAU_VARIANTS)


def plateau(seed):
    dice = random.Random(seed)
    beyond = LAST_STEP // STRIDE - len(WARMUP_MB)
    return [*WARMUP_MB, *(dice.uniform(*PLATEAU_MB) for _ in range(beyond))]


def straight(seed):
    """The same start and slope, as noisy as the story's own warmup."""
    dice = random.Random(seed)
    points = LAST_LEAK_STEP // STRIDE
    return [WARMUP_MB[0] + LEAK_RATE * STRIDE * k + dice.gauss(0, 60) for k in range(points)]


def written(directory, name, memory):
    path = directory / f"{name}.csv"
    rows = (f"{STRIDE * (k + 1)},{mb:.0f}\n" for k, mb in enumerate(memory))
    path.write_text("step,rss_mb\n" + "".join(rows))
    return path


def ever_leak(answer):
    return first_leak(answer) is not None


def first_leak(answer):
    return next((look["x"] for look in answer["trajectory"] if look["verdict"] == "leak"), None)


def leak_at(answer, step):
    return any(look["x"] == step and look["verdict"] == "leak" for look in answer["trajectory"])


def first_level(answer):
    looks = (look for look in answer["trajectory"] if word(look) in ("stable", "sawtooth"))
    return next((look["x"] for look in looks), LAST_STEP)


def level_since_look(answer):
    """The first prefix from which on it was always level."""
    since = None
    for look in reversed(answer["trajectory"]):
        if word(look) not in ("stable", "sawtooth"):
            return since
        since = look["x"]
    return since


def of(count, answers):
    return f"{count} of {len(answers)}"


def yes(holds):
    return "yes" if holds else "NO"
