"""The recorded steps against those that the training script printed."""

BAR_TOTAL = 100_000  # As in train.py, which cannot be imported without torch.
LATE_S = 0.05  # Clocks are rounded, and a tick takes a moment.


def misses(training):
    """Each sample has a step that was printed by then, and no older one than was printed an interval before."""
    if not training.case.steps:
        return [], ""
    printed, samples = training.printed_steps(), training.recording.samples
    found = misplaced(printed, samples)
    if training.case.steps == "bar" and training.recording.planned_steps != BAR_TOTAL:
        found.append(f"{training.recording.planned_steps} steps are planned, the bar says {BAR_TOTAL}")
    known = sum(step is not None for _, step in samples)
    return found, f"{printed[-1][1]} steps printed, {known} of {len(samples)} samples have one"


def misplaced(printed, samples, done=None, late_s=LATE_S):
    """Samples whose step is none that could be known then, and a last step that is not the last printed. `done`:
    when each step was printed for certain, where printing takes time."""
    found = []
    for (previous, _), (now, step) in zip(samples, samples[1:]):
        least, most = newest_step_at(done or printed, previous), newest_step_at(printed, now + late_s)
        if not least <= (step or 0) <= most:
            found.append(f"step {step} is recorded when between {least} and {most} had been printed")
    last = samples[-1][1]
    if last != printed[-1][1]:
        found.append(f"the last step is {last}, the last printed {printed[-1][1]}")
    return found


def newest_step_at(printed, moment):
    return max((step for seconds, step in printed if seconds <= moment), default=0)
