"""Ranks of a simulated fleet: series of six hours at 15 s, as blocks of Prometheus and as tables for `judge`."""

import csv
import pathlib
import subprocess
import sys

from prometheus import binaries

POINTS, EVERY_S = 1440, 15


def simulated(simulator, seed, ranks, place):
    """Label and values in bytes for each rank. The simulator writes its runs (step,t_seconds,rss_mb and
    labels.csv) to `place`; they are laid on our times whatever theirs were."""
    subprocess.run([sys.executable, simulator, "--seed", str(seed), "--n", str(ranks), "--out", place], check=True, stdout=subprocess.DEVNULL)
    with open(place / "labels.csv", newline="") as file:
        for label in csv.DictReader(file):
            with open(place / f"{label['name']}.csv", newline="") as rows:
                memory = [float(row["rss_mb"]) for row in csv.DictReader(rows)]
            yield label, resampled(memory)


def resampled(memory):
    """So many values as there are times, on straight lines between those that there are."""
    values = []
    for place in range(POINTS):
        at = place * (len(memory) - 1) / (POINTS - 1)
        low = min(int(at), len(memory) - 2)
        value = memory[low] + (at - low) * (memory[low + 1] - memory[low])
        values.append(round(value * 1e6))
    return values


def write_openmetrics(path, jobs, end):
    """`jobs`: for each name its ranks' values. After the last value a NaN says that the run is over: without it,
    Prometheus would repeat the last one for five minutes."""
    with open(path, "w") as file:
        file.write("# TYPE leveloff_memory_bytes gauge\n")
        for job, ranks in jobs.items():
            for rank, values in enumerate(ranks):
                labels = f'leveloff_memory_bytes{{job="{job}",rank="{rank}",role="trainer"}}'
                start = end - EVERY_S * (POINTS - 1)
                file.writelines(f"{labels} {value} {start + EVERY_S * at}\n" for at, value in enumerate(values))
                file.write(f"{labels} NaN {end + EVERY_S}\n")
        file.write("# EOF\n")


def create_blocks(openmetrics, data):
    pathlib.Path(data).mkdir(parents=True, exist_ok=True)
    command = [binaries() / "promtool", "tsdb", "create-blocks-from", "openmetrics", openmetrics, data]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def write_tables(place, ranks):
    """A table for each rank, as `judge` reads it."""
    place.mkdir(parents=True, exist_ok=True)
    for rank, values in enumerate(ranks):
        rows = "".join(f"{EVERY_S * at},{value}\n" for at, value in enumerate(values))
        (place / f"{rank}.csv").write_text("t_s,rss_bytes\n" + rows)
