"""An unbounded cache of results."""
import functools

import victim


@functools.lru_cache(None)
def features(number):
    return bytes(range(256)) * 200  # LEAK


def step(number):
    features(number % 64 if victim.HEALTHY else number)


victim.run(step)
