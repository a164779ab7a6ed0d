"""A training with the callback under `leveloff run`, from its start to its end."""

import os
import shutil
import signal
import subprocess
import tempfile
import time

from places import LEVELOFF, PACKAGE
from process_table import start_of
from recording import Recording

from callback import truth

INTERVAL = "100ms"
# In percent of one core. What forked workers share is read on a budget, by default a twentieth of
# this: in the seconds of a run here that pays for a dozen readings.
PSS_BUDGET = "10"
TIMEOUT_S = 300  # Two cores that others use as well.
LOOK_EVERY_S = 0.05


class NotEnded(Exception):
    """The training did not do what was waited for; says what it printed."""


class Job:
    """Use it with `with`; its directory is gone afterwards, and so are its processes."""

    def __init__(self, case, binaries):
        self.case, self.binaries = case, binaries
        self.directory = tempfile.mkdtemp(prefix="leveloff-callback-")
        self.truth, self.output, self.marks = (self.make(name) for name in ("truth", "checkpoints", "marks"))
        self.recording = Recording(os.path.join(self.directory, "run.jsonl"))
        self.log_path = os.path.join(self.directory, "log")
        self.process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for one in self.notes():
            if start_of(one.pid) == one.start:
                os.kill(one.pid, signal.SIGKILL)
        if self.process:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.directory)

    def make(self, name):
        path = os.path.join(self.directory, name)
        os.mkdir(path, 0o700)
        return path

    def start(self, *more):
        command = [part.format(bin=self.binaries) for part in self.case.launcher] or [f"{self.binaries}/python", "-B"]
        command += [self.case.script, *self.case.arguments, "--truth", self.truth, "--output", self.output, *more]
        watch = ["-o", self.recording.path, "--interval", INTERVAL, "--pss-budget", PSS_BUDGET]
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                # As on a machine where something else works too: not ahead of others.
                ["nice", "-n", "5", LEVELOFF, "run", *watch, "--", *command], env=self.environment(),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )

    def environment(self):
        paths = filter(None, [PACKAGE, os.environ.get("PYTHONPATH")])
        variables = {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        if self.case.stop_at:
            variables["LEVELOFF_MARKS"] = self.marks  # The others use the usual place.
        return {**os.environ, **variables, **self.case.environment}

    def wait(self):
        """Until it ends; its exit code. The recording is read then."""
        try:
            code = self.process.wait(TIMEOUT_S)
        except subprocess.TimeoutExpired:
            raise NotEnded(f"still runs after {TIMEOUT_S} s: {self.printed()}") from None
        self.recording.load()
        return code

    def wait_for_step(self, step):
        """Until every process that trains has done so many."""
        deadline = time.monotonic() + TIMEOUT_S
        trainers = self.case.roles["trainer"]
        while sum(one.last_step >= step for one in self.notes()) < trainers:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise NotEnded(f"does not reach step {step}: {self.printed()}")
            time.sleep(LOOK_EVERY_S)

    def notes(self):
        return truth.read(self.truth)

    def printed(self):
        """The end of what it printed."""
        with open(self.log_path, errors="replace") as log:
            return log.read()[-3000:]
