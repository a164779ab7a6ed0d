"""A command with what it cost."""

import os
import pathlib
import subprocess
import threading
import time


def run(command):
    """Its exit code, what it printed, seconds, seconds of CPU and peak MiB."""
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    peak = Peak(process.pid)
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    took = time.monotonic() - began
    return process.returncode, printed, took, usage.ru_utime + usage.ru_stime, peak.mib()


class Peak(threading.Thread):
    """The peak memory of a process, polled while it lives. The value of wait4 includes this process, which
    forked it and holds more."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.status, self.kib = pathlib.Path(f"/proc/{pid}/status"), 0
        self.start()

    def run(self):
        while (kib := self.look()) is not None:
            self.kib = max(self.kib, kib)
            time.sleep(0.005)

    def look(self):
        try:
            lines = self.status.read_text().splitlines()
        except OSError:
            return None
        # Before it has become the command, it is a copy of us; when it ends, it holds nothing.
        if lines[0].split()[1].startswith("python"):
            return 0
        return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), None)

    def mib(self):
        self.join()
        return self.kib / 1024
