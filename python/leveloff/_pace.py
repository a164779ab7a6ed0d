"""When something that costs time is due again."""

LONGEST_GAP = 60.0
"""Seconds after which a slow training is looked at, though it has not done its steps."""

FIRST_SHARE = 1.5
"""The first look may come when it costs this many budgets, so that short runs have one: 0.18 % by default,
with the share that tensors have."""


class Pace:
    """Lets something happen every so many steps, as long as it costs no more than a share of the time."""

    def __init__(self, every: int, share: float) -> None:
        self._every = max(every, 1)
        self._share = max(share, 1e-9)
        self._steps = 0
        self._not_before = float("inf")
        self._longest_until = float("inf")

    def begin(self, steps: int, now: float, expected_cost: float) -> None:
        """The first look is due a while after this."""
        self._plan(steps, now, expected_cost / (self._share * FIRST_SHARE))

    def is_due(self, steps: int, now: float) -> bool:
        """Whether it is time."""
        if now < self._not_before:
            return False
        return steps - self._steps >= self._every or now >= self._longest_until

    @property
    def quiet_until(self) -> float:
        """It is not due before this, however many steps come."""
        return self._not_before

    def done(self, steps: int, now: float, cost: float) -> None:
        """It happened, and took `cost` seconds: the next is due when that is a small share of the time."""
        self._plan(steps, now, cost / self._share)

    def _plan(self, steps: int, now: float, pause: float) -> None:
        self._steps = steps
        self._not_before = now + pause
        self._longest_until = now + LONGEST_GAP
