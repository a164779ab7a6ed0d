"""The package against the fixtures that all sides of the marks protocol share."""

import json
from pathlib import Path
from typing import Any, Dict, List

import pytest
from training_process import train

from leveloff import _paths, _stop

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "marks"


def lines_of(name: str) -> List[Dict[str, Any]]:
    return [json.loads(line) for line in (FIXTURES / name).read_text().splitlines()]


def without_time(lines: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
    return [{name: value for name, value in line.items() if name != "t"} for line in lines]


def test_marks_are_written_as_the_fixtures_have_them(tmp_path):
    result = train(
        tmp_path,
        """
        leveloff.configure(tensors=False)
        leveloff._session.current()._counters.look = lambda calls, now: {}
        leveloff.step(1, epoch=0.5, planned_steps=400, epoch_steps=20)
        leveloff.should_stop()
        time.sleep(0.12)
        leveloff.step(2, loss=2.5, tensors=114, tensor_bytes=4096, cuda_bytes=8192)
        with leveloff.phase("eval"):
            leveloff.mark("checkpoint", path="/ckpt/step-2", saved_bytes=7000000)
        """,
    )
    assert result.err == ""
    header, *expected = lines_of("written.jsonl")
    assert result.headers[0].keys() == header.keys()
    assert all(type(line["t"]) is float for line in result.lines)
    # The package marks obeys_stop on a line without a step; readers accept both.
    expected[1].pop("step")
    assert without_time(result.lines)[: len(expected)] == without_time(expected)


def test_a_rotated_file_repeats_what_still_holds(tmp_path):
    result = train(
        tmp_path,
        """
        import leveloff._writer
        leveloff.configure(tensors=False)
        leveloff._session.current()._counters.look = lambda calls, now: {}
        leveloff.step(40, planned_steps=4000, epoch_steps=200)
        leveloff.should_stop()
        leveloff._writer.ROTATE_AT = 1
        time.sleep(0.12)
        leveloff.step(41)
        leveloff._writer.ROTATE_AT = 1 << 20
        time.sleep(0.12)
        leveloff.step(42)
        """,
    )
    assert result.err == ""
    header, *expected = lines_of("rotated.jsonl")
    assert [line.keys() for line in result.headers] == [header.keys()]
    assert without_time(result.lines) == without_time(expected)


@pytest.mark.parametrize("case", json.loads((FIXTURES / "stop-requests.json").read_text()))
def test_a_request_is_read_as_the_fixtures_have_it(tmp_path, case):
    path = tmp_path / "17.stop"
    path.write_text(case["text"])
    watch = _stop.StopWatch(str(path), path.stat().st_uid, None)
    assert watch.is_requested()
    assert watch._reason() == ("" if case["reason"] is None else f": {case['reason']}")


@pytest.mark.parametrize("name", ["fields", "hostile", "torn", "rotated", "written"])
def test_the_header_is_read(name):
    """By this line a process knows whether a file is its own."""
    header = _paths._first_line(str(FIXTURES / f"{name}.jsonl"))
    expected = json.loads((FIXTURES / f"{name}.expected.json").read_text())[0]["header"]
    assert header == {"leveloff_marks": expected["version"], "pid": expected["pid"], "start": expected["start"]}
