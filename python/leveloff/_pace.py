"""When something that costs time is due again."""

LONGEST_GAP = 60.0
"""Seconds after which a slow training is looked at, though it has not done its steps."""

FIRST_SHARE = 1.5
"""The first look may come when it costs this many budgets, so that short runs have one: 0.18 % by default,
with the share that tensors have."""


class Pace:
    """Lets something happen every so many steps, as long as it costs no more than a share of the time."""

    def __init__(self, every: int, share: float, longest_gap: float = LONGEST_GAP) -> None:
        self._every = max(every, 1)
        self._share = max(share, 1e-9)
        self._longest_gap = longest_gap
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
        self._longest_until = now + self._longest_gap


class EarlyPace:
    """Lets something happen at the steps 1, 2, 4, 8 … and when there is a reason, as long as it costs no more than a share
    of the time, beside a credit at the beginning.

    Growth is explained by counts before and during it, so the first ones must not wait until they are a small share of
    the time. Nor may fast steps use up the credit within a second: what is on credit comes after 2, 4, 8 … seconds."""

    def __init__(self, share: float, credit: float) -> None:
        self._share = max(share, 1e-9)
        self._credit = credit
        self._began = float("inf")
        self._spent = 0.0
        self._looks = 0
        self._expected = 0.0
        self._next_step = 1
        self._last = float("inf")

    def begin(self, now: float, expected_cost: float) -> None:
        """Time counts from here on; the first look may cost this much."""
        self._began = self._last = now
        self._expected = expected_cost

    def is_due(self, steps: int, now: float, has_reason: bool) -> bool:
        """Whether it is time, after so many steps. The first look is always taken; a later one must be affordable."""
        wanted = has_reason or steps >= self._next_step or now - self._last >= LONGEST_GAP
        return wanted and now >= self.quiet_until

    @property
    def quiet_until(self) -> float:
        """It is not due before this, however many steps come and whatever the reason."""
        if not self._spent:
            return self._began
        needed = self._spent + self._expected
        earned = needed / self._share
        on_credit = max((needed - self._credit) / self._share, 2.0 ** min(self._looks, 64))
        return self._began + min(earned, on_credit)

    def done(self, steps: int, now: float, cost: float) -> None:
        """It happened after so many steps, and took `cost` seconds."""
        self._last = now
        self._looks += 1
        self._spent += max(cost, 1e-9)
        self._expected = cost
        while self._next_step <= steps:
            self._next_step *= 2
