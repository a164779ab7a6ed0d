"""What a sample of a process tree costs with psutil: the tree's members and the memory of each.

    psutil_cost.py PID SAMPLES [INTERVAL_MS]

prints one line of JSON; CPU times in microseconds a sample, like the example `tick_cost`.
"""

import json
import statistics
import sys
import time

import psutil


def sample(root):
    processes = [root, *root.children(recursive=True)]
    for process in processes:
        process.memory_info()
    return len(processes)


def main():
    pid, samples, interval_ms = (int(n) for n in (*sys.argv[1:], 0)[:3])
    root = psutil.Process(pid)
    processes = sample(root)
    costs = []
    for _ in range(samples):
        time.sleep(interval_ms / 1000)
        before = time.thread_time_ns()
        sample(root)
        costs.append((time.thread_time_ns() - before) / 1000)
    result = {
        "processes": processes,
        "tick_us": round(statistics.median(costs), 2),
        "mean_us": round(statistics.fmean(costs), 2),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
