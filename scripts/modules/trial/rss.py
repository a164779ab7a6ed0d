"""Whether a planted cause is one, without leveloff: python rss.py CAUSE [NAME=VALUE...]

Runs the training of trainings.py with these variables, and prints how much memory it has by its own steps, from the kernel's
smaps_rollup: of the training and its children, shared pages counted once.
"""

import os
import re
import subprocess
import sys

TRAININGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "trainings.py")
EVERY, LAST = 50, 350


def main():
    cause, variables = sys.argv[1], dict(pair.split("=", 1) for pair in sys.argv[2:])
    training = subprocess.Popen(
        [sys.executable, TRAININGS, cause], env={**os.environ, **variables}, stdout=subprocess.PIPE, text=True
    )
    readings = []
    try:
        for line in training.stdout:
            step = re.match(r"step (\d+)", line)
            if step and int(step[1]) % EVERY == 0:
                readings.append((int(step[1]), mib(training.pid)))
                if int(step[1]) >= LAST:
                    break
    finally:
        training.kill()
        training.wait()
    growth = (readings[-1][1] - readings[1][1]) / (readings[-1][0] - readings[1][0])
    shown = " ".join(f"{step}: {memory:.0f}" for step, memory in readings)
    print(f"{cause} {' '.join(sys.argv[2:])}: {growth:+.2f} MiB per step behind step {readings[1][0]} ({shown} MiB)", flush=True)


def mib(pid):
    """The memory of a process and its descendants. Pages of files are left out: other programs may share them."""
    with open(f"/proc/{pid}/smaps_rollup") as file:
        own = sum(int(line.split()[1]) for line in file if line.startswith(("Pss_Anon:", "Pss_Shmem:", "SwapPss:"))) / 1024
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        children = file.read().split()
    return own + sum(mib(int(child)) for child in children)


if __name__ == "__main__":
    main()
