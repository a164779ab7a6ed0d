"""A storm of threads, forks, pools and executed programs in Python, drawn from a seed; ends with a code that the seed decides."""

import multiprocessing
import os
import random
import subprocess
import sys
import threading


def allocate(seed):
    """Keeps, copies and drops objects of all sizes; the sum of what remains."""
    draw = random.Random(seed)
    kept = {}
    for _ in range(draw.randrange(200, 2000)):
        place = draw.randrange(60)
        way = draw.randrange(6)
        if way == 0:
            kept[place] = bytearray(draw.randrange(200_000))
        elif way == 1:
            kept[place] = [{"n": n} for n in range(draw.randrange(40))]
        elif way == 2:
            kept[place] = "x" * draw.randrange(5_000)
        elif way == 3:
            kept[place] = list(range(draw.randrange(500)))
            kept[place].extend(kept[place])
        elif way == 4:
            kept.pop(place, None)
        else:
            kept[place] = sorted(draw.random() for _ in range(30))
    return sum(len(value) for value in kept.values()) % 1000


def main():
    seed = int(sys.argv[1])
    draw = random.Random(-seed)
    if len(sys.argv) > 2:
        allocate(seed)
        return seed % 100
    sums = {}
    threads = [
        threading.Thread(target=lambda n=n: sums.__setitem__(n, allocate(seed * 100 + n))) for n in range(draw.randrange(8))
    ]
    for thread in threads:
        thread.start()
    codes = []
    for n in range(draw.randrange(4)):
        way = draw.randrange(4)
        if way == 0:
            codes.append(subprocess.run([sys.executable, __file__, str(n), "child"]).returncode)
        elif way == 1:
            codes.append(subprocess.run(["sh", "-c", f"exit {n}"]).returncode)
        elif way == 2 and not threads:
            with multiprocessing.get_context("fork").Pool(2) as pool:
                codes.append(sum(pool.map(allocate, range(4))))
        else:
            child = os.fork() if not threads else os.posix_spawn("/bin/sh", ["sh", "-c", f"exit {n}"], os.environ)
            if child == 0:
                allocate(n)
                os._exit(n)
            codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    for thread in threads:
        thread.join()
    print(seed, sorted(sums.items()), codes)
    return seed % 50


if __name__ == "__main__":
    sys.exit(main())
