"""Watches the process that this runs in: `leveloff record` while something happens, then `leveloff check`."""

import json
import os
import subprocess
import tempfile
import time
from typing import IO, Any, Dict, List, NamedTuple, Optional, Sequence

PATIENCE = 30.0
"""Seconds. A recorder without a sample by then has met something that does not go away."""

LOOK_EVERY = 0.005
"""Seconds between checks for the first sample, which takes some ten milliseconds."""

LAST_LOOK = 2.0
"""Seconds that the last steps may take to be seen."""

CHECK_PATIENCE = 120.0
"""Seconds. A recording is judged in milliseconds; a check that takes this long hangs."""

PSS_BUDGET = "2"
"""CPU for reading shared memory, in percent of one core, as `leveloff check` takes it for a command: what is
usual for runs of hours would hardly pay for one reading here."""


class RecordingFailed(Exception):
    """The recorder did not begin, or the check could not be made; the text says why."""


class OwnRecording:
    """A recorder that watches this process and what comes from it. It leaves itself out."""

    def __init__(self, program: str, file: str, flags: Sequence[str]) -> None:
        self.file = file
        self._said: IO[bytes] = tempfile.TemporaryFile()
        command = [program, "record", "--no-config", "--pid", str(os.getpid()), "-o", file]
        try:
            self._recorder = subprocess.Popen(
                [*command, "--pss-budget", PSS_BUDGET, *flags],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._said,
                # What other tests of this process did says nothing about this one.
                env={**os.environ, "LEVELOFF_HISTORY": "0"},
            )
        except OSError as error:
            self._said.close()
            raise RecordingFailed(f"cannot run {program}: {error.strerror}") from error

    def wait_for_first_sample(self) -> None:
        """Returns once it records, so that nothing of what comes is missed."""
        until = time.monotonic() + PATIENCE
        while not _has_sample(self.file):
            if self._recorder.poll() is not None:
                raise RecordingFailed(f"the recorder did not begin: {self._last_words()}")
            if time.monotonic() > until:
                raise RecordingFailed(
                    f"the recorder has no sample after {PATIENCE:.0f} s; "
                    "`leveloff doctor` shows what can be measured here"
                )
            time.sleep(LOOK_EVERY)

    def wait_for_another_sample(self) -> None:
        """Returns once it has looked again, so that the last steps are known; soon, if it does not."""
        until = time.monotonic() + LAST_LOOK
        for _ in range(2):  # It may have looked before, and write only now.
            size = _size(self.file)
            while _size(self.file) <= size and self._recorder.poll() is None and time.monotonic() < until:
                time.sleep(LOOK_EVERY)

    def end(self) -> Optional[str]:
        """Ends the recorder; returns how it ended if it had ended by itself."""
        code = self._recorder.poll()
        trouble = None if code is None else f"the recorder ended early {_way_out(code)}: {self._last_words()}"
        self._recorder.terminate()
        try:
            self._recorder.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._recorder.kill()
            self._recorder.wait()
        self._said.close()
        return trouble

    def _last_words(self) -> str:
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").splitlines()
        return " ".join(line.strip() for line in lines if line.strip()) or "it said nothing"


class Answer(NamedTuple):
    """What `leveloff check` says of a recording."""

    outcome: str
    """passed, failed or undecided"""
    headline: str
    """What is so, and why, in a line."""
    evidence: str
    """The whole text."""
    has_steps: bool
    """Whether the run counts steps, and not only time."""


def check(program: str, file: str, flags: Sequence[str]) -> Answer:
    """Has a recording checked."""
    try:
        facts: Dict[str, Any] = json.loads(_ask(program, file, [*flags, "--format=json"]))
        # The caller decides what undecided counts as, so the text need not explain it.
        text = _ask(program, file, [*flags, "--undecided=pass"])
        return _answer(facts, text)
    except (OSError, subprocess.SubprocessError, LookupError, ValueError) as error:
        raise RecordingFailed(f"the check could not be made: {error!r}") from error


def _answer(facts: Dict[str, Any], text: str) -> Answer:
    runs: List[Dict[str, Any]] = facts["runs"]
    outcome: str = facts["outcome"]
    reasons = [gate["text"] for run in runs for gate in run["gates"] if gate["outcome"] == outcome]
    return Answer(
        outcome=outcome,
        headline=": ".join([facts["text"], *reasons[:1]]),
        evidence=text.partition("\n\n")[2].rstrip(),
        has_steps=any(run["x_unit"] == "step" for run in runs),
    )


def _ask(program: str, file: str, flags: Sequence[str]) -> str:
    directory, name = os.path.split(file)
    done = subprocess.run(
        [program, "check", "--no-config", *flags, name],
        cwd=directory,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=CHECK_PATIENCE,
    )
    # 1 is a check that failed and 3 one that is undecided: answers. Anything else is none.
    if done.returncode not in (0, 1, 3):
        said = done.stderr.decode(errors="replace").strip() or f"it ended {_way_out(done.returncode)}"
        raise RecordingFailed(f"the check could not be made: {said}")
    return done.stdout.decode(errors="replace")


def _size(file: str) -> int:
    try:
        return os.path.getsize(file)
    except OSError:
        return 0


def _has_sample(file: str) -> bool:
    try:
        with open(file, "rb") as recording:
            lines = recording.read().splitlines(keepends=True)
    except OSError:
        return False
    return any(line.startswith(b'{"s":') and line.endswith(b"\n") for line in lines)


def _way_out(code: int) -> str:
    return f"with code {code}" if code >= 0 else f"by signal {-code}"
