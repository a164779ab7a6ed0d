"""Shapes that the memory of a training run takes, each with what may be said of it at its end.

A shape is a function of a `Setting` (steps at which memory was read, level, dice) that gives a
`Plan`: the curve without noise, and the truth about it. Amounts are MB, positions are steps.
"""

from dataclasses import dataclass

import numpy as np

# Younger growth than this cannot be distinguished from a warmup: it is right to leave it open.
DECIDABLE_AGE = 500


@dataclass
class Setting:
    """Where a run was read, and how large it is."""

    dice: np.random.Generator
    steps: np.ndarray
    total: float
    base: float

    def between(self, low, high):
        return float(self.dice.uniform(low, high))

    def ratio(self, low, high):
        """Between low and high, every factor as likely."""
        return float(np.exp(self.dice.uniform(np.log(low), np.log(high))))

    def warmup_length(self, most):
        """How long warmups last, with the tail that makes the question hard."""
        return float(np.clip(self.dice.lognormal(np.log(60), 0.9), 8, most))

    def warmup(self, most):
        """A warmup of some kind that is over after `most` of the run: its curve and its end."""
        amount = self.base * self.ratio(0.1, 2.0)
        length = self.warmup_length(most * self.total)
        if self.dice.random() < 0.5:
            return amount * np.minimum(self.steps / length, 1), length
        return amount * (1 - np.exp(-4 * self.steps / length)), length

    def flat(self):
        return np.full(len(self.steps), self.base)


@dataclass
class Plan:
    """A curve and the truth about it. Without `plateau` it never levels off."""

    curve: np.ndarray
    truth: str = "stable"
    acceptable: str = "stable"
    plateau: float | None = None
    onset: float | None = None
    rate: float = 0.0
    epoch: float | None = None
    limit: float | None = None
    decidable: bool = True


def level_plain(run):
    return Plan(run.flat(), plateau=0)


def level_wander(run):
    """The noise of this one is nearly a random walk; see `simulate.noise`."""
    return Plan(run.flat(), acceptable="stable|inconclusive|sawtooth", plateau=0)


def one_jump(run):
    at = run.between(0.15, 0.75) * run.total
    return Plan(run.flat() + run.base * run.ratio(0.05, 0.6) * (run.steps >= at), plateau=at)


def warm_saturating(run):
    """Two pools that fill at paces of their own."""
    amount, slow = run.base * run.ratio(0.1, 3), run.total * run.ratio(0.01, 0.12)
    mix, fast = run.between(0.3, 1.0), slow * run.between(0.05, 0.5)
    rest = mix * np.exp(-run.steps / slow) + (1 - mix) * np.exp(-run.steps / fast)
    visible = amount * mix / (0.02 * (run.base + amount))
    return Plan(run.flat() + amount * (1 - rest), plateau=slow * max(1.0, np.log(visible)))


def warm_straight(run):
    length = run.warmup_length(0.6 * run.total)
    amount = run.base * run.ratio(0.1, 2.5)
    return Plan(run.flat() + amount * np.minimum(run.steps / length, 1), plateau=length)


def warm_reference(run):
    """Straight and steep for some ninety steps, as fine-tunes of vision models do it."""
    rate, knee, run.base = run.between(110, 220), run.between(65, 125), run.between(3000, 6000)
    return Plan(run.flat() + rate * np.minimum(run.steps, knee), plateau=knee)


def warm_cache(run):
    """A dataset that is kept in memory as it is read: straight growth for one epoch."""
    epoch = min(run.ratio(100, 5000), 0.5 * run.total)
    amount = run.base * run.ratio(0.3, 3)
    known = epoch if run.dice.random() < 0.7 else None
    curve = run.flat() + amount * np.minimum(run.steps / epoch, 1)
    return Plan(curve, plateau=epoch, epoch=known)


def warm_jumps(run):
    """Buffers that are made once each: by the first batch, evaluation, checkpoint, epoch."""
    ends = np.sort(run.between(0.1, 0.35) * run.total * run.dice.random(run.dice.integers(3, 7)))
    curve = run.flat()
    for end in ends:
        curve = curve + run.base * run.ratio(0.04, 0.4) * (run.steps >= end)
    return Plan(curve, plateau=ends[-1])


def warm_twice(run):
    """A second warmup long after the first: a longer sequence, an unfrozen layer."""
    first, _ = run.warmup(0.2)
    begin, length = run.between(0.3, 0.6) * run.total, run.warmup_length(0.2 * run.total)
    second = run.base * run.ratio(0.05, 0.5) * np.clip((run.steps - begin) / length, 0, 1)
    return Plan(run.flat() + first + second, plateau=begin + length)


def warm_chunks(run):
    """A warmup that the allocator takes from the system in arenas of equal size."""
    warmup, end = run.warmup(0.35)
    chunk = max(warmup.max() / run.dice.integers(4, 12), 1)
    return Plan(run.flat() + np.ceil(warmup / chunk) * chunk, plateau=end)


def pool_creep(run):
    """Level, but the pool goes on to take a few percent more, ever more slowly."""
    warmup, end = run.warmup(0.25)
    plateau = run.base + warmup.max()
    progress = np.clip((run.steps - end) / (run.total - end), 0, 1)
    creep = plateau * run.between(0.02, 0.05) * progress ** run.between(0.3, 0.8)
    accepted = "stable|warming_up|inconclusive"
    return Plan(run.flat() + warmup + creep, acceptable=accepted, plateau=end)


def warm_open(run):
    """Bends, but is far from done."""
    amount, pace = run.base * run.ratio(0.3, 3), run.total * run.between(0.4, 1.2)
    curve = run.flat() + amount * (1 - np.exp(-run.steps / pace))
    return Plan(curve, "warming_up", "warming_up|inconclusive")


def warm_log(run):
    """Fragmentation: each doubling of the time costs the same again."""
    amount, pace = run.base * run.ratio(0.05, 0.3), run.total * run.ratio(0.002, 0.05)
    curve = run.flat() + amount * np.log1p(run.steps / pace)
    return Plan(curve, "warming_up", "warming_up|stable|inconclusive")


def grow_sqrt(run):
    """Neither healthy nor a leak for sure; level it is not."""
    amount = run.base * run.ratio(0.2, 2)
    curve = run.flat() + amount * np.sqrt(run.steps / run.total)
    return Plan(curve, "ambiguous", "warming_up|inconclusive|leak")


def ceiling(run):
    """A leak that reached the container's limit, where reclaim holds it."""
    at, limit = run.between(0.3, 0.8) * run.total, run.base * run.between(1.3, 4)
    curve = run.base + (limit - run.base) * np.minimum(run.steps / at, 1)
    return Plan(curve, "ambiguous", "leak|inconclusive|warming_up", limit=limit * 1.005)


def gc_regular(run):
    return cyclic(run, run.flat(), spread=0.15)


def gc_irregular(run):
    """The collector runs when it likes: teeth of any width and height."""
    return cyclic(run, run.flat(), spread=0.6)


def warm_gc(run):
    warmup, end = run.warmup(0.25)
    return cyclic(run, run.flat() + warmup, spread=0.2, plateau=end)


def cyclic(run, curve, spread, plateau=0.0):
    curve = curve + teeth(run, spread)
    return Plan(curve, "sawtooth", "sawtooth|stable", plateau=plateau)


def eval_spikes(run):
    """Evaluations that need more, and give it back."""
    events = evenly(run)
    curve = run.flat() + spikes(run, events)
    return Plan(curve, "sawtooth", "sawtooth|stable", plateau=0)


def leak_straight(run):
    return leaking(run, run.flat(), onset=0)


def leak_late(run):
    """Healthy at first; then something begins to pile up."""
    warmup, _ = run.warmup(0.1)
    return leaking(run, run.flat() + warmup, onset=run.between(0.2, 0.6) * run.total)


def leak_on_warmup(run):
    """A leak from the first step on, hidden under a warmup."""
    warmup, _ = run.warmup(0.15)
    return leaking(run, run.flat() + warmup, onset=0)


def leak_under_gc(run):
    """The teeth are healthy, what they return to is not."""
    return leaking(run, run.flat() + teeth(run, 0.3), onset=0)


def leak_chunks(run):
    """A leak of small blocks, seen through an allocator that takes arenas."""
    plan = leaking(run, run.flat(), onset=0)
    grown = plan.curve - run.base
    chunk = max(grown.max() / run.dice.integers(8, 40), 1)
    plan.curve = run.base + np.ceil(grown / chunk) * chunk
    plan.acceptable += "|step"
    return plan


def leak_small(run):
    """A small program that loses little: no floor in MB may hide it."""
    run.base = run.ratio(30, 200)
    return leaking(run, run.flat(), onset=0, growth=(0.15, 1.0))


def leaking(run, curve, onset, growth=(0.1, 3.0)):
    rate = run.base * run.ratio(*growth) / (run.total - onset)
    young = run.total - onset < DECIDABLE_AGE
    curve = curve + rate * np.clip(run.steps - onset, 0, None)
    acceptable = "leak|warming_up" if young else "leak"
    return Plan(curve, "leak", acceptable, onset=onset, rate=rate, decidable=not young)


def eval_keeps(run):
    """Every evaluation leaves something behind."""
    return stepping(run, evenly(run), run.flat())


def eval_spikes_keep(run):
    """Every evaluation needs more, and does not give all of it back."""
    events = evenly(run)
    return stepping(run, events, run.flat() + spikes(run, events))


def stepping(run, events, curve):
    jump = run.base * run.ratio(0.02, 0.15)
    for event in events:
        curve = curve + jump * run.between(0.7, 1.3) * (run.steps >= event)
    young = run.total < DECIDABLE_AGE
    acceptable = "step|leak|warming_up" if young else "step|leak"
    rate = jump / (events[1] - events[0])
    return Plan(curve, "step", acceptable, onset=events[0], rate=rate, decidable=not young)


def shrink(run):
    amount = run.base * run.between(0.1, 0.6)
    curve = run.flat() - amount * run.steps / run.total
    return Plan(curve, "shrinking", "shrinking", rate=-amount / run.total)


def teeth(run, spread):
    """Rises that fall back at once, their widths and heights as uneven as `spread` says."""
    count = run.ratio(6, max(8, min(300, len(run.steps) / 6)))
    widths = run.dice.uniform(1 - spread, 1 + spread, int(count * 2.5) + 4) * run.total / count
    edges = np.cumsum(widths) - widths[0] * run.between(0, 1)
    edges = np.concatenate([[edges[0] - widths[0]], edges])
    tooth = np.clip(np.searchsorted(edges, run.steps, side="right") - 1, 0, len(widths) - 1)
    heights = run.dice.uniform(1 - spread / 2, 1 + spread / 2, len(widths))
    risen = (run.steps - edges[tooth]) / widths[tooth]
    return run.base * run.between(0.02, 0.3) * heights[tooth] * risen


def evenly(run):
    """Steps of evaluations."""
    count = int(run.dice.integers(5, max(6, min(21, len(run.steps) // 12 + 2))))
    return (np.arange(count) + 0.7) * run.total / (count + 0.5)


def spikes(run, events):
    width = (events[1] - events[0]) * run.between(0.04, 0.2)
    inside = sum((run.steps >= at) & (run.steps < at + width) for at in events)
    return run.base * run.between(0.1, 0.4) * inside


SHAPES = [
    level_plain, level_wander, one_jump, warm_saturating, warm_straight, warm_reference,
    warm_cache, warm_jumps, warm_twice, warm_chunks, pool_creep, warm_open, warm_log, grow_sqrt,
    ceiling, gc_regular, gc_irregular, warm_gc, eval_spikes, leak_straight, leak_late,
    leak_on_warmup, leak_under_gc, leak_chunks, leak_small, eval_keeps, eval_spikes_keep, shrink,
]  # fmt: skip
