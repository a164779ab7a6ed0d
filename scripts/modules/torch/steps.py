"""The recorded steps against those that the training script says it told."""

BAR_TOTAL = 100_000  # As in train.py, which cannot be imported without torch.
LATE_S = 0.05  # Clocks are rounded, and a tick takes a moment.


def misses(training):
    """Each sample has a step that had been told by then, and knows what was told an interval ago."""
    if not training.case.steps:
        return [], ""
    told, samples = training.steps_told(), training.recording.samples
    found = misplaced(told, samples)
    if training.case.steps == "bar" and training.recording.planned_steps != BAR_TOTAL:
        found.append(f"{training.recording.planned_steps} steps are planned, the bar says {BAR_TOTAL}")
    known = sum(step is not None for _, step in samples)
    return found, f"{told[-1][1]} steps told, {known} of {len(samples)} samples have one"


def misplaced(told, samples, done=None, late_s=LATE_S):
    """Samples whose step is none that could be known then, and a last step that is not the last told. `done`:
    when each step had been told for certain, where telling takes its time."""
    found = []
    for (previous, _), (now, step) in zip(samples, samples[1:]):
        least, most = told_by(done or told, previous), told_by(told, now + late_s)
        if not least <= (step or 0) <= most:
            found.append(f"step {step} is recorded when between {least} and {most} had been told")
    last = samples[-1][1]
    if last != told[-1][1]:
        found.append(f"the last step is {last}, the last told {told[-1][1]}")
    return found


def told_by(told, moment):
    return max((step for seconds, step in told if seconds <= moment), default=0)
