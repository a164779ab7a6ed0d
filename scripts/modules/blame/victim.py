"""What the victims share: a loop that prints its steps, and a container that keeps everything, or little if healthy."""

import collections
import os
import time

HEALTHY = os.environ.get("HEALTHY") == "1"
SECONDS = float(os.environ.get("SECONDS_TO_RUN", "24"))
PAUSE = 0.02


def container():
    """A list that grows without end; in a healthy run it forgets all but the newest items."""
    return collections.deque(maxlen=64) if HEALTHY else []


def run(step):
    began = time.monotonic()
    number = 0
    while time.monotonic() - began < SECONDS:
        step(number)
        number += 1
        print(f"step {number} loss 0.5", flush=True)
        time.sleep(PAUSE)
