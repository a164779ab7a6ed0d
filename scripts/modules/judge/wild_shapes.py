"""Shapes that runs in the wild have and `shapes` does not: each with what may be said of it at its end.

A shape is a function of a `shapes.Setting`. Where `Wild.by_time` is set, the run reports no steps and x is seconds.
"""

from dataclasses import dataclass

import numpy as np

from shapes import Plan

# Growth over time that is younger than this is right to be left open.
DECIDABLE_SECONDS = 900
OPEN_LEAK = "leak|suspected|warming_up"
NOISES = (0.05, 0.33)


@dataclass
class Wild:
    """A plan, and what else is special about the run."""

    plan: Plan
    by_time: bool = False
    # The noise around it as a share of the level; the usual one if not set.
    noise: float | None = None
    # How many steps are planned, as a share of the run's length.
    planned: float | None = None
    # Steps that had passed when the recording began.
    attached_at: float = 0.0


def leaked(run, amount, onset=0.0):
    """A leak that adds this share of the level by the end."""
    return run.base * amount * np.clip(run.steps - onset, 0, None) / (run.total - onset)


def leak(run, curve, amount, onset=0.0, decidable=True, acceptable="leak"):
    rate = run.base * amount / (run.total - onset)
    curve = curve + leaked(run, amount, onset)
    if not decidable:
        acceptable = OPEN_LEAK
    return Plan(curve, "leak", acceptable, onset=onset, rate=rate, decidable=decidable)


def old_enough(run):
    return run.total >= 500


def one_epoch_leak(run):
    """Language models train for one epoch: its length is the plan, and no cache pays."""
    plan = leak(run, run.flat(), run.ratio(0.1, 2), decidable=old_enough(run))
    plan.epoch = run.total * run.between(1.0, 1.6)
    return Wild(plan, planned=plan.epoch / run.total)


def one_epoch_level(run):
    warmup, end = run.warmup(0.25)
    plan = Plan(run.flat() + warmup, plateau=end, epoch=run.total * run.between(1.0, 1.6))
    return Wild(plan, planned=plan.epoch / run.total)


def loading(run):
    """Importing and loading the model: steep, in a few steps, over before a quarter of the time."""
    end = min(run.between(5, 40), 0.25 * run.total)
    parts = np.sort(run.dice.uniform(0, end, 4))
    sizes = run.base * run.dice.uniform(0.05, 0.3, 4)
    curve = sum(size * np.clip((run.steps - at) / (end - at + 1), 0, 1) for at, size in zip(parts, sizes))
    return 0.1 * run.base + curve, end


def startup_level(run):
    """Seconds, no steps: the model loads, then memory is level."""
    curve, end = loading(run)
    return Wild(Plan(curve, plateau=end), by_time=True)


def startup_warm(run):
    """Seconds, no steps: the model loads, and the pools fill more slowly after it."""
    curve, end = loading(run)
    length = run.warmup_length(0.3 * run.total)
    pool = run.base * run.ratio(0.1, 1.0) * (1 - np.exp(-4 * np.clip(run.steps - end, 0, None) / length))
    return Wild(Plan(curve + pool, plateau=end + length), by_time=True)


def startup_leak(run):
    """Seconds, no steps: the model loads, then it leaks."""
    curve, end = loading(run)
    decidable = run.total - end >= DECIDABLE_SECONDS
    plan = leak(run, curve, run.ratio(0.1, 2), onset=end, decidable=decidable)
    return Wild(plan, by_time=True)


def paused_leak(run):
    """Seconds, no steps: leaks while it trains, and stands still while it evaluates or waits."""
    decidable = run.total >= DECIDABLE_SECONDS
    period, share = run.total / run.between(4, 12), run.between(0.1, 0.4)
    whole, part = np.divmod(run.steps, period)
    worked = whole * (1 - share) + np.minimum(part / period, 1 - share)
    grown = run.base * run.ratio(0.2, 2) * worked / worked[-1]
    rate = float(grown[-1] / run.total)
    accepted = "leak|step" if decidable else OPEN_LEAK + "|step|inconclusive"
    return Wild(Plan(run.flat() + grown, "step", accepted, onset=0, rate=rate, decidable=decidable), by_time=True)


def paused_level(run):
    """Seconds, no steps: a warmup that pauses, then level."""
    at, length = 0.1 * run.total, run.warmup_length(0.2 * run.total)
    worked = np.minimum(run.steps, at) + np.clip(run.steps - at - run.between(0.05, 0.1) * run.total, 0, None)
    amount = run.base * run.ratio(0.1, 1)
    plan = Plan(run.flat() + amount * np.minimum(worked / length, 1), plateau=0.2 * run.total + length)
    return Wild(plan, by_time=True)


def attached_leak(run):
    """leveloff attaches when the run has leaked for a while."""
    plan = leak(run, run.flat(), run.ratio(0.1, 2), decidable=old_enough(run))
    return Wild(plan, attached_at=run.between(150, 2000))


def attached_level(run):
    """leveloff attaches when warmup is over, or nearly so."""
    rest = run.base * run.ratio(0.02, 0.3) * np.exp(-4 * run.steps / run.warmup_length(0.3 * run.total))
    return Wild(Plan(run.flat() - rest, plateau=0.3 * run.total), attached_at=run.between(150, 2000))


def warm_reservation(run):
    """A replay buffer of a fixed size is filled: straight, and for long; then it is full."""
    full = run.between(0.1, 0.5) * run.total
    amount = run.base * run.ratio(0.1, 1.5)
    return Wild(Plan(run.flat() + amount * np.minimum(run.steps / full, 1), plateau=full))


def creeping_pool(run):
    """Level, and the pool takes two percent more, ever more slowly."""
    warmup, end = run.warmup(0.2)
    progress = np.clip((run.steps - end) / (run.total - end), 0, 1)
    creep = (run.base + warmup.max()) * run.between(0.003, 0.02) * progress ** run.between(0.3, 0.7)
    accepted = "stable|warming_up|inconclusive"
    return Wild(Plan(run.flat() + warmup + creep, acceptable=accepted, plateau=end), noise=run.ratio(2e-4, 2e-3))


def creeping_leak(run):
    """Certain and small: it matters over the plan, which is much longer than what was seen."""
    amount = run.between(0.02, 0.06)
    plan = leak(run, run.flat(), amount, decidable=False)
    return Wild(plan, noise=run.ratio(2e-4, 2e-3), planned=run.between(10, 50))


def restarted_level(run):
    """It ends and is started again: memory falls, and the warmup comes again."""
    length, at = run.warmup_length(0.15 * run.total), run.between(0.3, 0.6) * run.total
    amount = run.base * run.ratio(0.2, 2)
    since = np.where(run.steps < at, run.steps, run.steps - at)
    curve = run.flat() + amount * np.minimum(since / length, 1)
    return Wild(Plan(curve, acceptable="stable|inconclusive|sawtooth", plateau=at + length))


def restarted_leak(run):
    """It leaks, is started again, and leaks again."""
    at = run.between(0.2, 0.45) * run.total
    since = np.where(run.steps < at, run.steps, run.steps - at)
    rate = run.base * run.ratio(0.3, 2) / run.total
    young = run.total - at < 500
    accepted = OPEN_LEAK + "|inconclusive" if young else "leak"
    return Wild(Plan(run.flat() + rate * since, "leak", accepted, onset=at, rate=rate, decidable=not young))


def noisy_level(run):
    accepted = "stable|inconclusive|sawtooth"
    return Wild(Plan(run.flat(), acceptable=accepted, plateau=0), noise=run.ratio(*NOISES))


def noisy_warm(run):
    warmup, end = run.warmup(0.3)
    accepted = "stable|inconclusive|sawtooth|warming_up"
    return Wild(Plan(run.flat() + warmup, acceptable=accepted, plateau=end), noise=run.ratio(*NOISES))


def noisy_leak(run):
    """A leak that its noise hides for a while. To say that it is level is wrong, to leave it open is not."""
    plan = leak(run, run.flat(), run.ratio(0.3, 2), decidable=False)
    plan.acceptable += "|inconclusive"
    return Wild(plan, noise=run.ratio(*NOISES))


SHAPES = [
    one_epoch_leak, one_epoch_level, startup_level, startup_warm, startup_leak, paused_leak,
    paused_level, attached_leak, attached_level, warm_reservation, creeping_pool, creeping_leak,
    restarted_level, restarted_leak, noisy_level, noisy_warm, noisy_leak,
]  # fmt: skip
