"""Processes of a benchmark: the workloads that are watched, and the recorder that watches them."""

import contextlib
import csv
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

HERE = pathlib.Path(__file__).parent


@dataclass
class Tools:
    """What is measured, and with what."""

    leveloff: str
    tick_cost: str
    sysinfo_cost: str
    quick: bool


@contextlib.contextmanager
def workload(*arguments):
    """A workload whose memory is in place. Ends with its standard input."""
    command = [sys.executable, str(HERE / "workload.py"), *map(str, arguments)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        if process.stdout.readline() != "ready\n":
            raise RuntimeError(f"workload {arguments} did not get ready")
        yield process
    finally:
        process.stdin.close()
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Recording:
    """`leveloff record` on a process, from its first sample on until it is stopped."""

    def __init__(self, tools, pid, interval="1s"):
        self.leveloff = tools.leveloff
        self.directory = tempfile.TemporaryDirectory()
        self.file = pathlib.Path(self.directory.name) / "run.jsonl"
        self.started = time.monotonic()
        command = [tools.leveloff, "record", "--pid", str(pid), "-o", self.file]
        command += ["--interval", interval]
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        while not self.has_sample():
            if self.process.poll() is not None:
                raise RuntimeError(f"the recorder ended: {self.process.stderr.read()}")
            time.sleep(0.005)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGCONT)
            self.stop()
        self.process.stderr.close()
        self.directory.cleanup()

    def has_sample(self):
        return self.file.exists() and b'\n{"s":' in self.file.read_bytes()

    def peak_rss(self):
        """From the kernel. `ru_maxrss` would count what we were before the recorder's exec."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return field(status, "VmHWM:") * 1024

    def stop(self):
        """Ends the recording. Returns the CPU seconds of all its threads, and the seconds it ran."""
        # `send_signal` would reap a recorder that has ended with its target, and its usage with it.
        os.kill(self.process.pid, signal.SIGINT)
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return usage.ru_utime + usage.ru_stime, time.monotonic() - self.started

    def lines(self):
        """Every line with what it is and how long it is."""
        for line in self.file.read_bytes().splitlines(keepends=True):
            ((kind, row),) = json.loads(line).items()
            yield kind, row, len(line)

    def tree_rows(self):
        command = [self.leveloff, "export", self.file, "--scope", "tree", "-o", "-"]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return list(csv.DictReader(io.StringIO(text)))


def cost(command, pid, samples, interval_ms=0, *extra):
    """What one of the programs that print a cost prints."""
    command = [*command, str(pid), str(samples), str(interval_ms), *map(str, extra)]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def field(text, name):
    """The first number of the line that starts with `name`."""
    for line in text.splitlines():
        if line.startswith(name):
            return int(line.split()[1])
    return 0
