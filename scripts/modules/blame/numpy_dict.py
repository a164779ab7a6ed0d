"""A dictionary of arrays beside a cache that fills and stays."""
import collections

import numpy as np
import victim

index = {}
cache = collections.OrderedDict()


def zeros(count):
    return np.zeros(count, dtype=np.float32)


def cached(key):
    cache[key] = zeros(16_384) + 0.5
    if len(cache) > 200:
        cache.popitem(last=False)


def step(number):
    for _ in range(8):
        zeros(8_192)
    index[number % 64 if victim.HEALTHY else number] = zeros(16_384) + 1  # LEAK
    cached(number)


victim.run(step)
