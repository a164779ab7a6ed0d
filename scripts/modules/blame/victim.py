"""What the victims share: a loop that prints its steps, and a container that keeps everything, or little if healthy.

SECONDS_TO_RUN ends the loop by time; STEPS_TO_RUN by steps, without pauses, to compare the cost of tools.
"""

import collections
import os
import time

HEALTHY = os.environ.get("HEALTHY") == "1"
SECONDS = float(os.environ.get("SECONDS_TO_RUN", "24"))
STEPS = int(os.environ.get("STEPS_TO_RUN", "0"))
PAUSE = 0.02


def container():
    """A list that grows without end; in a healthy run it forgets all but the newest items."""
    return collections.deque(maxlen=64) if HEALTHY else []


def goes_on(began, number):
    return number < STEPS if STEPS else time.monotonic() - began < SECONDS


def run(step):
    began = time.monotonic()
    number = 0
    while goes_on(began, number):
        step(number)
        number += 1
        print(f"step {number} loss 0.5", flush=True)
        if not STEPS:
            time.sleep(PAUSE)
