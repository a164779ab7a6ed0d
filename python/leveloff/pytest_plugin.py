"""The pytest plugin: a test fails when the memory of its own process leaks.

    @pytest.mark.leveloff(level_by=90, max_growth="1MiB/step")
    def test_training(leveloff):
        for n in range(300):
            train_one_step()
            leveloff.step(n)

The marker or the fixture has the process watched while the test runs. See docs/PYTEST.md.
"""

import os
import shutil
import tempfile
from typing import Any, Generator, List, NamedTuple, Optional

import pytest

import leveloff as package

from . import _session
from ._binary import BinaryNotFound, find
from ._guard import guarded, switch
from ._own_recording import Answer, OwnRecording, RecordingFailed, check
from ._pytest_demands import KNOWN, Demands, file_name

MARKER = (
    "leveloff(level_by=90, max_growth='1MiB/step', ...): fail when the memory of the test's own process leaks "
    f"or passes a bound; takes {', '.join(KNOWN)}"
)

TEST_BUDGET = 0.02
"""The share of a test's time that reading counters may take: a test is short, and its tensors should be counted."""

STEPS_NOT_RECORDED = """\
  steps      the test reported {steps}, and none was recorded: too short, LEVELOFF_MARKS
             was changed within pytest, or leveloff had switched itself off (a warning
             says so); options in steps cannot be decided"""

NO_STEPS = """\
  steps      the test reported none: seconds are counted, and options in steps
             (level_by, growth per step) cannot be decided
             → call leveloff.step(n) in the loop"""

WHAT_UNDECIDED_IS = """\
  undecided  a warning; undecided="fail" or "pass" in the marker changes that"""


class LeveloffWarning(pytest.PytestWarning):
    """A test's memory was not watched, or its verdict is undecided."""


class Leveloff:
    """The fixture: the package's own functions, with which a test reports its progress."""

    step = staticmethod(package.step)
    phase = staticmethod(package.phase)
    mark = staticmethod(package.mark)
    should_stop = staticmethod(package.should_stop)
    configure = staticmethod(package.configure)
    cost = staticmethod(package.cost)


@pytest.fixture
def leveloff() -> Leveloff:
    """Watches the test's own process for leaks; leveloff.step(n) reports the step."""
    return Leveloff()


class Watch(NamedTuple):
    """A test that is going to be watched."""

    program: str
    demands: Demands


_WATCH = pytest.StashKey[Watch]()
_SCRATCH = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds our options."""
    group = parser.getgroup("leveloff", "memory leaks (leveloff)")
    group.addoption("--leveloff-dir", metavar="DIR", help="keep recordings of tests that did not pass in DIR")
    group.addoption("--no-leveloff", action="store_true", help="watch no test: marker and fixture only warn")


def pytest_configure(config: pytest.Config) -> None:
    """Makes the marker known, for --strict-markers and --markers."""
    config.addinivalue_line("markers", MARKER)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Removes all recordings that no message has named."""
    scratch = config.stash.get(_SCRATCH, None)
    if scratch is not None and not os.listdir(scratch):
        os.rmdir(scratch)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Says what is wrong before the test has taken its time."""
    if "leveloff" not in getattr(item, "fixturenames", ()) and item.get_closest_marker("leveloff") is None:
        return
    off = _who_switched_off(item.config)
    if off is not None:
        item.warn(LeveloffWarning(f"memory is not watched, because of {off}"))
        return
    try:
        item.stash[_WATCH] = Watch(find(), Demands.of(list(item.iter_markers("leveloff"))))
    except (BinaryNotFound, ValueError) as error:
        pytest.fail(f"leveloff: {error}", pytrace=False)


# An old-style wrapper, because pytest 7 knows no other. Outermost, so that nothing of the test is missed.
@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    """Watches the test; its own failure goes before ours."""
    watch = item.stash.get(_WATCH, None)
    if watch is None:
        yield
        return
    recording = _begin(item, watch)
    try:
        outcome = yield
    finally:
        guarded(None)(_session.finish)()  # Steps that were held back are steps of the test.
        recording.wait_for_another_sample()
        trouble = recording.end()
    own_failure: Optional[BaseException] = outcome.excinfo and outcome.excinfo[1]
    if own_failure is not None and not _is_failure(own_failure):
        os.remove(recording.file)
        return
    ours = _conclude(item, watch, recording.file, trouble, own_failure is not None)
    if ours is not None and own_failure is None:
        outcome.force_exception(ours)


def _who_switched_off(config: pytest.Config) -> Optional[str]:
    if config.getoption("--no-leveloff"):
        return "--no-leveloff"
    is_disabled = os.environ.get("LEVELOFF_DISABLE", "") not in ("", "0")
    return "LEVELOFF_DISABLE" if is_disabled else None


def _is_failure(error: BaseException) -> bool:
    """A test that was skipped, or interrupted, says nothing about memory."""
    is_skip = isinstance(error, pytest.skip.Exception)
    return isinstance(error, (Exception, pytest.fail.Exception)) and not is_skip


def _begin(item: pytest.Item, watch: Watch) -> OwnRecording:
    file = os.path.join(_scratch(item.config), file_name(item.nodeid))
    if os.path.exists(file):
        os.remove(file)  # The same test again: some plugins repeat those that failed.
    # Steps of the test before would be taken for this one's.
    _session._begin_anew()
    switch.forget_costs()
    _session.configure(budget=max(TEST_BUDGET, _session.options().budget))
    try:
        recording = OwnRecording(watch.program, file, watch.demands.recorder_flags)
    except RecordingFailed as error:
        pytest.fail(f"leveloff: {error}", pytrace=False)
    try:
        recording.wait_for_first_sample()
    except BaseException as error:
        recording.end()
        if isinstance(error, RecordingFailed):
            pytest.fail(f"leveloff: {error}", pytrace=False)
        raise
    return recording


def _conclude(
    item: pytest.Item, watch: Watch, file: str, trouble: Optional[str], has_failed: bool
) -> Optional[BaseException]:
    """Says what is to be said of the recording; returns what the test is to fail with, if it is."""
    demands = watch.demands
    if trouble is not None:
        return _warned(item, f"memory was not checked: {trouble}")
    try:
        answer = check(watch.program, file, demands.check_flags)
    except RecordingFailed as error:
        return pytest.fail.Exception(f"leveloff: {error}\n\n  recording  {file}", pytrace=False)
    if demands.states_steps and not answer.has_steps and answer.outcome == "passed":
        answer = answer._replace(outcome="undecided", headline="undecided: options in steps need steps")
    item.user_properties.append(("leveloff", answer.outcome))
    kept = _kept(item, demands, file, has_failed or answer.outcome != "passed")
    text = "\n\n".join([answer.headline, answer.evidence, *_hints(answer, kept)])
    if not has_failed and demands.is_failed_by(answer.outcome):
        return pytest.fail.Exception(f"leveloff: {text}", pytrace=False)
    item.add_report_section("call", "leveloff", text)
    if demands.is_warned_of(answer.outcome):
        return _warned(item, "\n".join([answer.headline, *_hints(answer, kept), WHAT_UNDECIDED_IS]))
    return None


def _hints(answer: Answer, kept: Optional[str]) -> List[str]:
    steps = switch.steps
    hints = [] if answer.has_steps else [STEPS_NOT_RECORDED.format(steps=steps) if steps else NO_STEPS]
    if kept is not None:
        hints.append(f"  recording  {kept}\n             → leveloff report {kept} -o memory.html")
    return hints


def _warned(item: pytest.Item, text: str) -> Optional[BaseException]:
    """Warns; where warnings are errors (-W error), that is what the test fails with."""
    try:
        item.warn(LeveloffWarning(text))
    except LeveloffWarning as error:
        return error
    return None


def _kept(item: pytest.Item, demands: Demands, file: str, is_wanted: bool) -> Optional[str]:
    """Puts the recording where it is kept, or removes it."""
    root = str(item.config.rootpath)
    stated: Optional[str] = demands.keep or item.config.getoption("--leveloff-dir")
    if not is_wanted and demands.keep is None:
        os.remove(file)
        return None
    if stated is None:
        return file
    directory = os.path.join(root if demands.keep else str(item.config.invocation_params.dir), stated)
    try:
        os.makedirs(directory, exist_ok=True)
        return str(shutil.move(file, os.path.join(directory, os.path.basename(file))))
    except OSError as error:
        _warned(item, f"the recording cannot be kept in {directory}: {error.strerror}; it stays at {file}")
        return file


def _scratch(config: pytest.Config) -> str:
    """Where recordings are while a test runs, and where those of tests that did not pass stay."""
    if _SCRATCH not in config.stash:
        config.stash[_SCRATCH] = tempfile.mkdtemp(prefix="leveloff-pytest-")
    return config.stash[_SCRATCH]
