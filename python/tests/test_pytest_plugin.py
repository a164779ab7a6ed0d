"""The pytest plugin, by real tests that really leak, against the real program ($LEVELOFF_BIN)."""

import os
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Iterator, List

import pytest

from leveloff import _binary
from leveloff._pytest_demands import Demands, file_name

pytest_plugins = ["pytester"]

PACKAGE = Path(_binary.__file__).resolve().parent.parent

# 200 steps of 10 ms, and a sample every 50 ms: what a verdict needs, in two seconds.
PRELUDE = """
import time
import pytest

KEPT = []

def train(leveloff, kept_bytes, steps=200):
    for n in range(steps):
        KEPT.append(bytearray(b"x") * kept_bytes)
        leveloff.step(n)
        time.sleep(0.01)
"""

LEAK = """
@pytest.mark.leveloff(interval="50ms")
def test_leak(leveloff):
    train(leveloff, 200_000)
"""

HEALTHY = """
@pytest.mark.leveloff(interval="50ms")
def test_healthy(leveloff):
    # Thirty points are needed to rule out growth, also on a busy machine.
    train(leveloff, 1, steps=500)
"""

# A test that does nothing of note: its verdict is of no interest.
MOMENT = "undecided='pass', interval='10ms'"


@pytest.fixture
def inner(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.Pytester]:
    """A place for tests in which the plugin is installed, as the wheel would do it."""
    try:
        _binary.find()
    except _binary.BinaryNotFound as error:
        pytest.skip(f"NOT TESTED: {error}")
    installed = pytester.mkdir("installed") / "leveloff-0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: leveloff\nVersion: 0\n")
    (installed / "entry_points.txt").write_text("[pytest11]\nleveloff = leveloff.pytest_plugin\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(PACKAGE), str(installed.parent)]))
    monkeypatch.delenv("LEVELOFF_DISABLE", raising=False)
    monkeypatch.setenv("LEVELOFF_MARKS", f"{pytester.mkdir('marks')}/")
    monkeypatch.setenv("TMPDIR", str(pytester.mkdir("scratch")))
    yield pytester


def outcome(inner: pytest.Pytester, tests: str, *arguments: str) -> pytest.RunResult:
    inner.makepyfile(test_it=PRELUDE + tests)
    return inner.runpytest_subprocess("--strict-markers", "-p", "no:cacheprovider", *arguments, timeout=120)


def left_over(inner: pytest.Pytester) -> List[str]:
    return sorted(path.name for path in (inner.path / "scratch").rglob("*.jsonl"))


def test_a_leak_fails_with_the_verdict_and_health_passes(inner: pytest.Pytester) -> None:
    # In this order: the steps of the one are no steps of the other.
    result = outcome(inner, LEAK + HEALTHY, "-rA", "--junit-xml=junit.xml")
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(
        [
            "leveloff: memory leaks: LEAK (confirmed) since step * KiB per step *",
            "  ✗ leak *",
            "  who        trainer *anonymous memory",
            "  recording  *test_it.py-test_leak-*.jsonl",
            "*→ leveloff report *.jsonl -o memory.html",
            "*Captured leveloff call*",
            "memory levels off: LEVEL *",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    assert left_over(inner) == [file_name("test_it.py::test_leak")]
    outcomes = [one.get("value") for one in ElementTree.parse(inner.path / "junit.xml").iter("property")]
    assert outcomes == ["failed", "passed"]


def test_xdist_workers_watch_themselves(inner: pytest.Pytester) -> None:
    result = outcome(inner, LEAK + HEALTHY, "-n2", "--leveloff-dir=kept", "-v")
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["*FAILED*test_leak*", "leveloff: memory leaks: *"])
    assert [path.name for path in (inner.path / "kept").iterdir()] == [file_name("test_it.py::test_leak")]
    assert left_over(inner) == [] and not list((inner.path / "scratch").glob("leveloff-pytest-*"))


def test_steps_of_one_test_are_no_steps_of_the_next(inner: pytest.Pytester) -> None:
    tests = f"""
pytestmark = pytest.mark.leveloff({MOMENT}, keep="kept")

def test_first(leveloff): train(leveloff, 1, steps=20)

def test_second(): time.sleep(0.3)
"""
    outcome(inner, tests).assert_outcomes(passed=2)
    first, second = ((inner.path / "kept" / file_name(f"test_it.py::test_{name}")) for name in ("first", "second"))
    assert '"step":' in first.read_text(), "otherwise this test proves nothing"
    assert '"step":' not in second.read_text()
    assert second.read_text().count('{"process":') == 1, "the recorder is a child of the test, and no part of it"


def test_the_fixture_alone_asks_for_the_usual_check(inner: pytest.Pytester) -> None:
    result = outcome(inner, "def test_alone(leveloff): train(leveloff, 300_000, steps=400)")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["leveloff: memory leaks: *"])


def test_bounds_are_required(inner: pytest.Pytester) -> None:
    tests = "@pytest.mark.leveloff(max_peak='1MiB', limit='8GiB', keep='kept')\ndef test_it(): time.sleep(0.2)"
    result = outcome(inner, tests)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["leveloff: peak too high: *", "  steps      the test reported none: *"])
    recording = (inner.path / "kept" / file_name("test_it.py::test_it")).read_text()
    assert '"limit"' in recording.splitlines()[0], "a later report should know what was stated"


def test_what_is_stated_in_steps_is_undecided_without_any(inner: pytest.Pytester) -> None:
    tests = "@pytest.mark.leveloff(level_by=10, interval='10ms')\ndef test_it(): time.sleep(1)"
    result = outcome(inner, tests)
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*LeveloffWarning: *undecided*", "*the test reported none: *"])


def test_the_last_steps_of_a_short_test_are_recorded(inner: pytest.Pytester) -> None:
    outcome(inner, f"@pytest.mark.leveloff({MOMENT}, keep='kept')\ndef test_it(leveloff): train(leveloff, 1, steps=7)")
    recording = (inner.path / "kept" / file_name("test_it.py::test_it")).read_text()
    assert '"step":6' in recording


def test_a_recording_that_cannot_be_kept_there_stays(inner: pytest.Pytester) -> None:
    (inner.path / "taken").write_text("")
    result = outcome(inner, f"@pytest.mark.leveloff({MOMENT}, keep='taken')\ndef test_it(): pass")
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*the recording cannot be kept in *taken: *; it stays at *"])
    assert left_over(inner) == [file_name("test_it.py::test_it")]


UNDECIDED = "def test_short(leveloff): train(leveloff, 100_000, steps=20)"


def test_undecided_is_a_warning(inner: pytest.Pytester) -> None:
    result = outcome(inner, UNDECIDED)
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*LeveloffWarning: *undecided*", "*recording  *", '*undecided="fail"*'])


@pytest.mark.parametrize(("demand", "arguments", "passed"), [("fail", (), 0), ("pass", (), 1), ("warn", ("-Werror",), 0)])
def test_undecided_is_what_the_marker_says(
    inner: pytest.Pytester, demand: str, arguments: "tuple[str, ...]", passed: int
) -> None:
    result = outcome(inner, f"@pytest.mark.leveloff(undecided={demand!r})\n{UNDECIDED}", *arguments)
    result.assert_outcomes(passed=passed, failed=1 - passed)
    result.stdout.no_fnmatch_line("*INTERNALERROR*")


def test_a_tests_own_failure_wins(inner: pytest.Pytester) -> None:
    tests = "@pytest.mark.leveloff(max_peak='1MiB')\ndef test_it(leveloff): train(leveloff, 1, 5); assert 1 == 2"
    result = outcome(inner, tests)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *assert 1 == 2", "*Captured leveloff call*", "peak too high: *"])


def test_a_skipped_test_is_not_judged(inner: pytest.Pytester) -> None:
    result = outcome(inner, "def test_it(leveloff): pytest.skip('no')")
    result.assert_outcomes(skipped=1, warnings=0)
    assert left_over(inner) == []


def test_marks_of_class_and_module_add_up(inner: pytest.Pytester) -> None:
    tests = f"""
pytestmark = pytest.mark.leveloff({MOMENT}, max_peak="1MiB")

@pytest.mark.leveloff(max_peak="1TiB")
class TestAll:
    @pytest.mark.parametrize("n", [1, 2])
    def test_class(self, n): pass

    @pytest.mark.leveloff(max_peak="1MiB")
    def test_own(self): pass

def test_module(): pass
"""
    outcome(inner, tests).assert_outcomes(passed=2, failed=2)


def test_unittests_can_be_marked(inner: pytest.Pytester) -> None:
    tests = f"""
import unittest

class Test(unittest.TestCase):
    @pytest.mark.leveloff({MOMENT}, max_peak="1MiB")
    def test_it(self): pass

    @pytest.mark.leveloff({MOMENT}, max_peak="1MiB")
    def test_wrong(self): self.assertEqual(1, 2)
"""
    result = outcome(inner, tests)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["leveloff: peak too high*", "E *AssertionError: 1 != 2"])


def test_output_is_the_tests_own(inner: pytest.Pytester) -> None:
    tests = f"@pytest.mark.leveloff({MOMENT})\ndef test_it(leveloff): print('HERE'); leveloff.mark('x')"
    result = outcome(inner, tests, "-s")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*HERE"])
    result.stdout.no_fnmatch_line("*leveloff: *")
    assert result.stderr.str() == ""


def test_a_recorder_that_dies_costs_a_warning(inner: pytest.Pytester) -> None:
    tests = """
import os, signal

def test_it(leveloff):
    (recorder,) = open(f"/proc/self/task/{os.getpid()}/children").read().split()
    os.kill(int(recorder), signal.SIGKILL)
    os.waitid(os.P_PID, int(recorder), os.WEXITED | os.WNOWAIT)
"""
    result = outcome(inner, tests)
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*memory was not checked: the recorder ended early by signal 9*"])


def test_a_recorder_that_does_not_begin_is_an_error(inner: pytest.Pytester) -> None:
    result = outcome(inner, "@pytest.mark.leveloff(interval='often')\ndef test_it(): pass")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["leveloff: the recorder did not begin: *often*"])


def test_a_bound_that_is_none_is_an_error(inner: pytest.Pytester) -> None:
    result = outcome(inner, "@pytest.mark.leveloff(max_growth='1')\ndef test_it(): pass")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["leveloff: the check could not be made: *'1' has no unit*"])


@pytest.mark.parametrize(
    ("marker", "words"),
    [
        ("90", "*named arguments only*"),
        ("levelby=90", "*knows no levelby; it takes level_by, *"),
        ("undecided='maybe'", "*undecided='maybe': write one of warn, fail, pass*"),
    ],
)
def test_a_wrong_marker_is_said_before_the_test_runs(inner: pytest.Pytester, marker: str, words: str) -> None:
    result = outcome(inner, f"@pytest.mark.leveloff({marker})\ndef test_it(): print('RAN')")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([words])
    result.stdout.no_fnmatch_line("*RAN*")


def test_a_missing_program_is_said(inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(_binary.VARIABLE, "/nowhere/leveloff")
    result = outcome(inner, HEALTHY)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["leveloff: there is no program /nowhere/leveloff, which LEVELOFF_BIN names*"])


def test_it_can_be_switched_off(inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    result = outcome(inner, UNDECIDED, "--no-leveloff")
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*memory is not watched, because of --no-leveloff*"])
    monkeypatch.setenv("LEVELOFF_DISABLE", "1")
    result = outcome(inner, UNDECIDED)
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*because of LEVELOFF_DISABLE*"])


def test_without_the_plugin_nothing_of_it_is_left(inner: pytest.Pytester) -> None:
    result = outcome(inner, "def test_it(leveloff): pass", "-p", "no:leveloff")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*fixture 'leveloff' not found*"])


def test_other_tests_are_left_alone(inner: pytest.Pytester) -> None:
    children = "open(f'/proc/self/task/{os.getpid()}/children').read()"
    outcome(inner, f"import os\ndef test_it(): assert {children} == ''").assert_outcomes(passed=1)
    assert not list((inner.path / "scratch").glob("leveloff-pytest-*"))


def test_names_of_recordings_are_names_of_files() -> None:
    one, other = file_name("a/test_x.py::test[a/b]"), file_name("a/test_x.py::test[a-b]")
    assert one != other and "/" not in one + other
    assert len(file_name("test_x.py::" + "long" * 100)) < 150


@pytest.mark.filterwarnings("ignore::pytest.PytestUnknownMarkWarning")
def test_flags_keep_a_value_that_looks_like_one() -> None:
    marker = pytest.mark.leveloff(level_by=-1, max_peak="--force").mark
    assert Demands.of([marker]).check_flags == ["--level-by=-1", "--max-peak=--force"]
