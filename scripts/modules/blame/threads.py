"""Sixteen threads, one of which keeps what it makes."""
import threading
import time

import victim

kept = victim.container()


def keeper():
    while True:
        kept.append(bytes(40_000))  # LEAK
        time.sleep(0.02)


def churner():
    while True:
        [bytes(40_000) for _ in range(10)]
        time.sleep(0.05)


for target in [keeper] + [churner] * 15:
    threading.Thread(target=target, daemon=True).start()
victim.run(lambda _: None)
