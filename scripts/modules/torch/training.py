"""A training run from its start to its end, recorded all the while, and the truth about it."""

import fcntl
import json
import os
import pty
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

from places import LEVELOFF, TRAIN
from process_table import TICKS, Observer, start_of
from recording import Recording

READY_TIMEOUT_S = 240  # Two cores that compile a model and import torch nine times over.
END_TIMEOUT_S = 30
END_OF_FILE = b"\x04"  # What a terminal makes of Ctrl-D.
RELAY = "output-relay"  # What `leveloff run` leaves between the command and its terminal.
SHOWN_S = 3  # The recorder looks once a second; whatever is true for this long, it has to know.


class Training:
    """Use it with `with`; what it holds below `directory` is gone afterwards."""

    def __init__(self, case, binaries, while_starting=lambda pid: None):
        self.case, self.binaries, self.while_starting = case, binaries, while_starting
        self.directory = tempfile.mkdtemp(prefix="leveloff-torch-")
        self.truth_directory = os.path.join(self.directory, "truth")
        os.mkdir(self.truth_directory)
        self.recording = Recording(os.path.join(self.directory, "run.jsonl"))
        self.log = open(os.path.join(self.directory, "log"), "wb")
        self.notices = open(os.path.join(self.directory, "notices"), "wb")
        self.process = self.recorder = self.terminal = self.observer = None
        self.truth, self.seen = {}, {}

    def __enter__(self):
        try:
            self.start()
            self.wait_until_ready()
            self.read_truth()
            self.check_roles()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.end()
        self.end_leftovers()
        self.log.close()
        self.notices.close()
        shutil.rmtree(self.directory)

    def start(self):
        command = [part.format(bin=self.binaries) for part in self.case.launcher] or [f"{self.binaries}/python"]
        command += [TRAIN, "--truth", self.truth_directory, *self.case.arguments]
        if self.case.steps:
            command += [f"--steps={self.case.steps}"]
        if self.case.under_run:
            command = [LEVELOFF, "run", "-o", self.recording.path, "--", *command]
        environment = {**os.environ, **self.case.environment}
        if self.case.fresh_cache:
            environment["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(self.directory, "compiled")
        if self.case.under_run == "terminal":
            self.process = self.start_on_terminal(command, environment)
        else:
            self.process = subprocess.Popen(
                command, env=environment, stdin=subprocess.PIPE, stdout=self.log, stderr=self.log,
                start_new_session=True,
            )
        if not self.case.under_run:
            self.recorder = subprocess.Popen(
                [LEVELOFF, "record", "--pid", str(self.process.pid), "-o", self.recording.path], stderr=self.notices
            )
        self.observer = Observer(self.process.pid)

    def start_on_terminal(self, command, environment):
        self.terminal, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
        process = subprocess.Popen(
            command, env=environment, stdin=inner, stdout=inner, stderr=inner, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(inner)
        threading.Thread(target=self.drain, daemon=True).start()
        return process

    def drain(self):
        """A terminal that is not read blocks the processes that print on it."""
        try:
            while output := os.read(self.terminal, 65536):
                self.log.write(output)
        except (OSError, ValueError):
            pass

    def wait_until_ready(self):
        deadline = time.monotonic() + READY_TIMEOUT_S
        while sum(name.startswith("ready-") for name in os.listdir(self.truth_directory)) < self.case.ready:
            if self.process.poll() is not None:
                self.fail(f"ended with {self.process.returncode}")
            if time.monotonic() > deadline:
                self.fail(f"not ready after {READY_TIMEOUT_S} s")
            self.while_starting(self.process.pid)
            time.sleep(0.1)
        time.sleep(self.case.settle_s)

    def end(self):
        """Lets the run end by itself, and the recorder with it. Once."""
        if self.observer is None:
            return
        time.sleep(SHOWN_S)
        if self.case.killed:
            self.process.kill()
        elif self.terminal:
            os.write(self.terminal, END_OF_FILE)
        else:
            self.process.stdin.close()
        self.exit_code = ended(self.process)
        if self.recorder:
            self.recorder_code = ended(self.recorder, signal.SIGTERM)
        self.seen = {key: one for key, one in self.observer.stop().items() if not self.is_ours(one)}
        self.observer = None
        self.read_truth()
        self.recording.load()

    def is_ours(self, seen):
        return bool(self.case.under_run) and (seen.pid == self.process.pid or seen.comm == RELAY)

    def read_truth(self):
        """The roles by (pid, start), as far as the processes have reported them."""
        for name in os.listdir(self.truth_directory):
            if name.endswith(".json"):
                with open(os.path.join(self.truth_directory, name)) as file:
                    one = json.load(file)
                self.truth[one["pid"], one["start"]] = one
        if self.case.launcher and self.process.poll() is None:
            pid, start = self.process.pid, start_of(self.process.pid)
            row = {"pid": pid, "start": start, "role": "launcher", "rank": None, "reported_s": start / TICKS}
            self.truth[pid, start] = row

    def printed_steps(self):
        """When each step was printed, in seconds since 1970: [(seconds, step)]."""
        with open(os.path.join(self.truth_directory, "steps")) as file:
            return [(float(seconds), int(step)) for seconds, step in map(str.split, file)]

    def check_roles(self):
        for role, count in self.case.roles.items():
            there = sum(one["role"] == role for one in self.truth.values())
            if there != count:
                self.fail(f"has {there} processes of role {role}, {count} expected")

    def end_leftovers(self):
        """Ranks have sessions of their own. Only processes that reported their role are ended."""
        for pid, start in self.truth:
            if start_of(pid) == start:
                os.kill(pid, signal.SIGKILL)

    def fail(self, what):
        sys.exit(f"{self.case.name}: {what}\n{self.output()}")

    def output(self):
        text = ""
        for file in (self.log, self.notices):
            file.flush()
            with open(file.name, errors="replace") as written:
                text += written.read()
        return text


def ended(process, first=None):
    """Its exit code. A process that does not exit by itself gets a signal, then SIGKILL."""
    for request in (first, signal.SIGKILL, None):
        try:
            return process.wait(END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            if request:
                process.send_signal(request)
    return None
