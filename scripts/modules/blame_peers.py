"""Other memory profilers on the victims of `scripts/suites/blame`: do they name the line, and what do they cost?

Each victim makes the same number of steps without pauses: alone, under leveloff, memray (default and --native) and
heaptrack. The cost is the CPU time of the program and of what the tool runs beside it, as a multiple of the victim's
own. A tool names the line if that line, or a line that it is called from within the same file, is first by leaked bytes.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

# A helper that runs in the victim's Python, which has memray.
LEAKED_LINES = """
import json, sys
from collections import Counter
from memray import FileReader

def is_library(file):
    return file.startswith("<") or any(it in file for it in ("/site-packages/", "/lib/python3", "/dist-packages/"))

lines = Counter()
for file in sys.argv[1:]:
    for record in FileReader(file).get_leaked_allocation_records(merge_threads=True):
        try:
            stack = record.stack_trace()
        except NotImplementedError:
            continue
        own = next((frame for frame in stack if not is_library(frame[1])), None)
        lines[f"{own[1].rsplit('/', 1)[-1]}:{own[2]}" if own else "elsewhere"] += record.size
print(json.dumps(lines.most_common(5)))
"""

CPU_TIMES = re.compile(r"(\d+)m([\d.]+)s")


def cpu_seconds(command, environment, place):
    """Runs a command; the CPU time of it and all that it waited for. None if it failed."""
    times = pathlib.Path(place) / f"times-{os.urandom(4).hex()}"
    script = f'"$@"; code=$?; times > {times}; exit $code'
    run = subprocess.run(
        ["sh", "-c", script, "sh", *command], capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL
    )
    if run.returncode != 0:
        return None
    children = times.read_text().splitlines()[1]
    return sum(60 * int(minutes) + float(seconds) for minutes, seconds in CPU_TIMES.findall(children))


def leveloff(program, command, environment, place):
    recording = pathlib.Path(place) / f"peer-{os.urandom(4).hex()}.jsonl"
    times = pathlib.Path(place) / f"times-{os.urandom(4).hex()}"
    inner = ["sh", "-c", f'"$@"; times > {times}', "sh", *command]
    run = subprocess.run(
        [program, "run", "--blame", "-o", recording, "--", *inner],
        capture_output=True,
        env=environment,
        stdin=subprocess.DEVNULL,
    )
    if run.returncode != 0:
        return None
    children = times.read_text().splitlines()[1]
    own = [json.loads(line)["s"]["c"][0] for line in recording.read_text().splitlines() if line.startswith('{"s"')]
    program_time = sum(60 * int(minutes) + float(seconds) for minutes, seconds in CPU_TIMES.findall(children))
    return program_time, own[-1] / 1000 if own else 0.0


def memray(python, command, environment, place, true_lines, options):
    """CPU time, and the share of the leaked bytes on the true lines if one of them is first."""
    out = pathlib.Path(place) / f"memray-{os.urandom(4).hex()}.bin"
    seconds = cpu_seconds(
        [python, "-m", "memray", "run", "-q", "--follow-fork", *options, "-o", str(out), *command[1:]], environment, place
    )
    if seconds is None:
        return None
    files = [str(file) for file in out.parent.glob(out.name + "*")]
    found = subprocess.run([python, "-c", LEAKED_LINES, *files], capture_output=True, text=True, check=True)
    for file in files:
        os.remove(file)
    return seconds, first_share(json.loads(found.stdout), true_lines)


def heaptrack(command, environment, place, true_lines):
    out = pathlib.Path(place) / f"heaptrack-{os.urandom(4).hex()}"
    seconds = cpu_seconds(["heaptrack", "-o", str(out), *command], environment, place)
    file = next(out.parent.glob(out.name + ".*"), None)
    if seconds is None or file is None:
        return None
    printed = subprocess.run(
        ["heaptrack_print", "-f", str(file), "-l", "0", "-p", "1", "-a", "0", "-T", "0", "-n", "20", "-s", "4"],
        capture_output=True,
        text=True,
    )
    os.remove(file)
    # What held most at the peak: a global of C++ is freed at the end, and no leak then.
    consumers = printed.stdout.partition("PEAK MEMORY CONSUMERS")[2]
    # The function that allocated, then its callers.
    first = consumers.strip().split("\n\n")[0]
    places = re.findall(r"at (\S+:\d+)", first)
    return seconds, 1.0 if any(pathlib.Path(it).name in true_lines for it in places) else 0.0


def first_share(lines, true_lines):
    total = sum(size for _, size in lines)
    if not lines or lines[0][0] not in true_lines:
        return 0.0
    return sum(size for line, size in lines if line in true_lines) / total


def compared(program, python, command, environment, place, true_lines):
    """A row of the table: for each tool its cost and whether it names the line."""
    alone = cpu_seconds(command, environment, place)
    if not alone:
        return "does not run alone"
    cells = [f"alone {alone:5.1f} s"]
    ours = leveloff(program, command, environment, place)
    if ours:
        cells.append(f"leveloff {ours[0] / alone:.2f}× (+{ours[1] / alone:.0%} recorder)")
    tools = []
    if command[0] == python:
        tools += [
            ("memray", lambda: memray(python, command, environment, place, true_lines, [])),
            ("memray --native", lambda: memray(python, command, environment, place, true_lines, ["--native"])),
        ]
    if shutil.which("heaptrack"):
        tools.append(("heaptrack", lambda: heaptrack(command, environment, place, true_lines)))
    for name, run in tools:
        try:
            found = run()
        except (subprocess.CalledProcessError, OSError) as error:
            print(error, file=sys.stderr)
            found = None
        if found is None:
            cells.append(f"{name} failed")
        else:
            named = f"names it ({found[1]:.0%})" if found[1] else "does not name it"
            cells.append(f"{name} {found[0] / alone:.2f}× {named}")
    return "  ".join(cells)
