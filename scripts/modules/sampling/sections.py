"""What is claimed of the sampler, each claim measured. A section yields rows of the table."""

import os
import pathlib
import signal
import statistics
import sys
import time
from dataclasses import dataclass

from running import HERE, Recording, cost, field, workload

MIB = 1 << 20


@dataclass
class Row:
    """A claim and what was measured. Without `holds` it is printed, not judged."""

    claim: str
    measured: str
    wanted: str = ""
    holds: bool | None = None


def tick(tools):
    """Fast tick of 21 processes against psutil, sysinfo and the raw descriptor floor."""
    rounds, ours, theirs = (3, 500, 50) if tools.quick else (7, 2000, 200)
    with workload("tree", 20) as busy:
        costs = interleaved(tools, busy.pid, rounds, ours, theirs, 0)
        yield from tick_rows(costs, "as fast as it can", judged=True)
    paced_rounds, samples = (1, 20) if tools.quick else (2, 40)
    with workload("tree", 20) as busy:
        costs = interleaved(tools, busy.pid, paced_rounds, samples, samples, 1000, warmup=60)
        pace = "one a second after the first minute"
        yield from tick_rows(costs, pace, judged=True, least=25, least_mean=15)


def interleaved(tools, pid, rounds, ours, theirs, interval_ms, warmup=0):
    """Medians over rounds in which every program is measured in turn, on the same tree. Ours alone has a
    warmup: it examines a process when it is young."""
    contenders = {
        "leveloff": ([tools.tick_cost], ours),
        "psutil": ([sys.executable, str(HERE / "psutil_cost.py")], theirs),
        "sysinfo": ([tools.sysinfo_cost], theirs),
    }
    costs = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, (command, samples) in contenders.items():
            extra = [warmup] if name == "leveloff" and warmup else []
            costs[name].append(cost(command, pid, samples, interval_ms, *extra))
    medians = {
        (name, key): statistics.median(result[key] for result in results)
        for name, results in costs.items()
        for key in results[0]
    }
    assert medians["leveloff", "processes"] == medians["psutil", "processes"], costs
    return medians


def tick_rows(costs, pace, judged, least=20, least_mean=None):
    ours, floor = costs["leveloff", "tick_us"], costs["leveloff", "floor_us"]
    psutil, sysinfo = costs["psutil", "tick_us"], costs["sysinfo", "tick_us"]
    processes = f"{costs['leveloff', 'processes']:.0f} processes, {pace}"
    holds = (lambda it: it) if judged else (lambda it: None)
    want = (lambda it: it) if judged else (lambda it: "")
    yield Row(
        f"tick: {processes}: CPU of psutil's sample over ours",
        f"{psutil:.0f} µs / {ours:.1f} µs = {psutil / ours:.0f}×",
        want(f"≥ {least}×"),
        holds(psutil >= least * ours),
    )
    yield Row(
        f"tick: {processes}: ours over one raw read of each statm",
        f"{ours:.1f} µs / {floor:.1f} µs = {ours / floor:.2f}×",
        want("≤ 3×"),
        holds(ours <= 3 * floor),
    )
    mean, their_mean = costs["leveloff", "mean_us"], costs["psutil", "mean_us"]
    yield Row(
        f"tick: {processes}: the same by means, rare work included",
        f"{their_mean:.0f} µs / {mean:.1f} µs = {their_mean / mean:.0f}×",
        f"≥ {least_mean}×" if least_mean else "",
        their_mean >= least_mean * mean if least_mean else None,
    )
    yield Row(
        f"tick: {processes}: CPU of the sysinfo crate's sample over ours",
        f"{sysinfo:.0f} µs / {ours:.1f} µs = {sysinfo / ours:.0f}×",
    )


def scale(tools):
    """Cost per process at 1,000 processes against 21."""
    rounds, ticks = (1, 300) if tools.quick else (5, 600)
    with workload("tree", 20) as few, workload("tree", 999) as many:
        for pace, caches in (("cold", "as at one tick a second"), ("0", "tick after tick")):
            pairs = [
                [cost([tools.tick_cost], tree.pid, ticks, pace) for tree in (few, many)]
                for _ in range(rounds)
            ]
            yield scale_row(pairs, caches)


def scale_row(pairs, caches):
    def per_process(which, key):
        return statistics.median(pair[which][key] / pair[which]["processes"] for pair in pairs)

    (small, large), floors = (
        [per_process(which, key) for which in (0, 1)] for key in ("tick_us", "floor_us")
    )
    return Row(
        f"scale: a process of 1,000 over one of 21, caches {caches}",
        f"{large:.2f} µs / {small:.2f} µs = {large / small:.2f}× "
        f"(raw reads {floors[1] / floors[0]:.2f}×)",
        "≤ 1.3×",
        large <= 1.3 * small,
    )


def budget(tools):
    """The whole recorder beside 8 GiB of 4 KiB pages."""
    gib, seconds = (2, 30) if tools.quick else (8, 120)
    with workload("pages", gib) as target, Recording(tools, target.pid) as recording:
        time.sleep(seconds - (time.monotonic() - recording.started))
        peak = recording.peak_rss()
        cpu, wall = recording.stop()
        walks = sum(kind == "pss" for kind, _, _ in recording.lines())
    share = 100 * cpu / wall
    yield Row(
        f"budget: CPU of the recorder, {gib} GiB of 4 KiB pages, {wall:.0f} s at 1 s",
        f"{share:.2f} % of one core ({cpu * 1000:.0f} ms, {walks} PSS readings)",
        "< 1 %",
        share < 1,
    )
    yield Row("budget: its peak RSS", mib(peak), "< 16 MiB", peak < 16 * MIB)


def slowdown(tools):
    """A target that does nothing but fault pages in, while the recorder runs and stands still."""
    pairs, rounds = (4, 50) if tools.quick else (30, 150)
    with workload("faults", rounds) as target, Recording(tools, target.pid) as recording:
        favour(target.pid)
        alone, watched = [], []
        for number in range(2 * pairs + 1):
            seen = number % 2 == 1
            recording.process.send_signal(signal.SIGCONT if seen else signal.SIGSTOP)
            (watched if seen else alone).append(fault_away(target))
        recording.process.send_signal(signal.SIGCONT)
        recorders_cpu, _ = recording.stop()
        walks = sum(kind == "pss" for kind, _, _ in recording.lines())
    # A stretch that is watched is compared with those on both sides, so that drift cancels out.
    wall, cpu = (
        [against_both_sides(*three, which) for three in zip(alone, watched, alone[1:])]
        for which in (0, 1)
    )
    control = [against_both_sides(*three, 0) for three in zip(alone, alone[1:], alone[2:])]
    yield Row(
        f"slowdown: time of a page-faulting target, {pairs} stretches of {alone[0][0]:.0f} s, "
        f"{walks} PSS readings",
        f"{spread(wall)}, mean {percent(statistics.fmean(wall))}",
        "< +1 %",
        statistics.median(wall) < 1.01,
    )
    yield Row("slowdown: the same for stretches without a watcher: the noise", spread(control))
    yield Row("slowdown: CPU time of the target", spread(cpu))
    # The target waits for nothing of ours but the lock that is held while its pages are walked.
    bound = 100 * recorders_cpu / sum(seconds for seconds, _ in watched)
    yield Row(
        "slowdown: at most, were the target held up by all that the recorder does",
        f"{bound:.2f} %",
        "< 1 %",
        bound < 1,
    )


def against_both_sides(before, middle, after, which):
    return middle[which] / statistics.mean((before[which], after[which]))


def favour(pid):
    """What else the machine does must not decide; needs root, and does without."""
    try:
        os.setpriority(os.PRIO_PROCESS, pid, -20)
    except PermissionError:
        print("  not root: the target has no priority over others", file=sys.stderr)


def fault_away(target):
    """Wall and CPU seconds of one stretch of faults."""
    target.stdin.write("go\n")
    target.stdin.flush()
    return [float(number) for number in target.stdout.readline().split()]


def truth(tools):
    """The tree's memory against a sum over smaps_rollup that shares no code with leveloff."""
    with workload("shared", 20, 200, 5) as target, Recording(tools, target.pid) as recording:
        time.sleep(10)
        pids = [target.pid, *children(target.pid)]
        summed = sum(map(memory_of, pids))
        recording.stop()
        last = recording.tree_rows()[-1]
    memory, rss = int(last["memory_bytes"]), int(last["rss_bytes"])
    off = 100 * (memory - summed) / summed
    yield Row(
        f"truth: memory of {last['processes']} processes, 200 MB shared, 5 MB own, over Σ smaps_rollup",
        f"{mib(memory)} / {mib(summed)}: {off:+.2f} %",
        "within 1 %",
        abs(off) <= 1,
    )
    yield Row("truth: Σ RSS of the same tree", f"{mib(rss)}, {rss / summed:.1f}× too much")


def children(pid):
    text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(word) for word in text.split()]


def memory_of(pid):
    text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    counted = ("Pss_Anon:", "Pss_Shmem:", "SwapPss:")
    return 1024 * (sum(field(text, name) for name in counted) - field(text, "LazyFree:"))


def size(tools):
    """Bytes a sample, and whether the recorder grows."""
    with workload("tree", 20) as target:
        with Recording(tools, target.pid) as recording:
            time.sleep(20 if tools.quick else 120)
            recording.stop()
            lines = list(recording.lines())
        yield from size_rows(lines)
        with Recording(tools, target.pid, "10ms") as recording:
            time.sleep(10 if tools.quick else 102)
            peak = recording.peak_rss()
            recording.stop()
            lines = list(recording.lines())
    own = [row["c"][1] for kind, row, _ in lines if kind == "s"]
    early, late = own[len(own) // 10], own[-1]
    yield Row(
        f"size: peak RSS of the recorder over {len(own):,} samples at 10 ms",
        f"{mib(peak)} ({mib(early)} after a tenth, {mib(late)} at the end)",
        "< 16 MiB, flat",
        peak < 16 * MIB and late - early < MIB // 2,
    )


def size_rows(lines):
    samples = sum(kind == "s" for kind, _, _ in lines)
    by_kind = {}
    for kind, _, length in lines:
        by_kind[kind] = by_kind.get(kind, 0) + length
    total = sum(by_kind.values())
    parts = ", ".join(f"{kind} {length / samples:.0f}" for kind, length in by_kind.items())
    yield Row(
        f"size: bytes a sample, one active and 20 idle, {samples} samples at 1 s, everything counted",
        f"{total / samples:.0f} ({parts})",
        "≤ 200",
        total <= 200 * samples,
    )
    own = [row["c"][1] for kind, row, _ in lines if kind == "s"]
    yield Row(
        "size: RSS of that recorder, first and last sample",
        f"{mib(own[0])}, {mib(own[-1])}",
        "< 16 MiB",
        max(own) < 16 * MIB,
    )


def mib(amount):
    return f"{amount / MIB:.1f} MiB"


def spread(ratios):
    low, middle, high = map(percent, statistics.quantiles(ratios, n=4))
    return f"{middle} (quartiles {low}, {high})"


def percent(ratio):
    return f"{100 * (ratio - 1):+.2f} %"


SECTIONS = {f.__name__: f for f in (tick, scale, budget, slowdown, truth, size)}
