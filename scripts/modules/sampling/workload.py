"""Processes with known memory, for the benchmarks and for trying leveloff by hand.

    workload.py tree N            one busy process and N idle ones that it forked
    workload.py shared N MB OWN   N forked children that share MB and own OWN MB each
    workload.py pages GIB         GIB of 4 KiB pages, touched once
    workload.py faults ROUNDS     for each line of its input: maps, touches and unmaps 64 MiB, ROUNDS
                                  times; prints the seconds that this took, and those of CPU time
    workload.py train SECONDS     looks like a small training run: prints steps, warms up, levels off

Each prints "ready" on a line of its own when its memory is in place, and lives until its standard
input ends (train: until its work is done).
"""

import mmap
import os
import signal
import sys
import time

MIB = 1 << 20
PAGE = mmap.PAGESIZE


def touched(size, huge=False):
    """Anonymous memory with every page resident."""
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if not huge:
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    memory[::PAGE] = bytes(len(range(0, size, PAGE)))
    return memory


def ready():
    print("ready", flush=True)


def until_stdin_ends(work=lambda: time.sleep(0.05)):
    import select

    while True:
        work()
        if select.select([0], [], [], 0)[0] and not os.read(0, 4096):
            return


def forked(count, body):
    """Children that do `body`, confirm that they are done, and wait; a pipe ends them with this process."""
    done_reader, done_writer = os.pipe()
    life_reader, life_writer = os.pipe()
    for number in range(count):
        if os.fork() == 0:
            os.close(life_writer)
            kept = body(number)
            os.write(done_writer, b".")
            os.read(life_reader, 1)
            del kept
            os._exit(0)
    os.close(life_reader)
    arrived = 0
    while arrived < count:
        arrived += len(os.read(done_reader, count))


def tree(count):
    forked(count, lambda number: None)
    ready()
    kept = []

    def work():
        kept.append(touched(256 << 10))
        del kept[:-64]
        sum(range(20_000))
        time.sleep(0.02)

    until_stdin_ends(work)


def shared(count, mb, own):
    memory = touched(mb * MIB)
    forked(count, lambda number: touched(own * MIB))
    ready()
    until_stdin_ends()
    del memory


def pages(gib):
    memory = touched(int(gib * 1024) * MIB)
    ready()
    until_stdin_ends()
    del memory


def faults(rounds):
    # Something to walk while we fault: the recorder's reading must find work to do.
    memory = touched(2048 * MIB)
    ready()
    for _line in sys.stdin:
        start, cpu = time.perf_counter(), time.process_time()
        for _ in range(rounds):
            touched(64 * MIB).close()
        print(time.perf_counter() - start, time.process_time() - cpu, flush=True)
    del memory


def train(seconds):
    """Grows by 2 MiB a step until step 90, then stays; two forked workers share its data."""
    data = touched(100 * MIB)
    forked(2, lambda number: touched(3 * MIB))
    kept = []
    steps = 150
    for step in range(1, steps + 1):
        if step <= 90:
            kept.append(touched(2 * MIB))
        if step % 10 == 0:
            print(f"step {step}/{steps} loss {3.0 / step:.3f}", flush=True)
        time.sleep(seconds / steps)
    del data


def main():
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    kind, *numbers = sys.argv[1:] or ["help"]
    kinds = {"tree": tree, "shared": shared, "pages": pages, "faults": faults, "train": train}
    if kind not in kinds:
        sys.exit(__doc__)
    kinds[kind](*(float(n) if "." in n else int(n) for n in numbers))


if __name__ == "__main__":
    main()
