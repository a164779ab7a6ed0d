"""A logging handler whose buffer is never flushed."""
import logging
import logging.handlers

import victim

handler = logging.handlers.MemoryHandler(64 if victim.HEALTHY else 10**9, flushLevel=100)
log = logging.getLogger("training")
log.addHandler(handler)
log.setLevel(logging.INFO)
log.propagate = False


def step(number):
    for n in range(60):
        log.info("step %d, sample %d, loss %f", number, n, n / 7)  # LEAK


victim.run(step)
