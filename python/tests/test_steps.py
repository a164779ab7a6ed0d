"""Steps, phases and events reach the file as the protocol has them."""

import os

from training_process import train


def test_a_loop_tells_its_steps_phases_and_events(tmp_path):
    result = train(
        tmp_path,
        """
        for n in range(1, 4):
            leveloff.step(n, epoch=n / 2, planned_steps=3)
            time.sleep(0.12)
        with leveloff.phase("eval", batches=7):
            pass
        leveloff.mark("checkpoint", saved_bytes=10)
        """,
    )
    assert result.err == ""
    assert result.headers[0]["leveloff_marks"] == 1 and result.headers[0]["start"] > 0
    first = result.lines[0]
    assert (first["step"], first["phase"], first["epoch"], first["planned_steps"]) == (1, "train", 0.5, 3)
    assert "phase" not in result.lines[1], "only where it changes"
    assert result.phases() == ["train", "eval", "train"]
    assert result.lines[3]["batches"] == 7
    assert result.lines[-1]["event"] == "checkpoint" and result.lines[-1]["saved_bytes"] == 10 and result.lines[-1]["step"] == 3


def test_a_step_that_was_held_back_is_written_with_its_own_time_before_the_next_line(tmp_path):
    result = train(
        tmp_path,
        """
        leveloff.step(1, lr=0.5)
        for n in range(2, 6): leveloff.step(n, lr=n / 10)
        print(time.time()); time.sleep(0.05)
        leveloff.mark("checkpoint")
        for n in range(6, 9): leveloff.step(n)
        """,
    )
    assert result.err == ""
    assert result.steps() == [1, 5, 5, 8], "the newest of those passed over, also at the end"
    passed_over = result.lines[1]
    assert passed_over["lr"] == 0.5 and passed_over["t"] <= float(result.out) + 1e-4


def test_what_is_passed_over_keeps_nothing_of_the_training_alive(tmp_path):
    result = train(
        tmp_path,
        """
        import weakref
        class Graph: pass
        leveloff.step(1, loss=0.5)
        graph = Graph(); kept = weakref.ref(graph)
        leveloff.step(2, loss=graph)
        del graph
        assert kept() is None
        """,
    )
    assert result.code == 0, result.err


def test_the_file_is_private(tmp_path):
    train(tmp_path, "leveloff.step(1)")
    (file,) = tmp_path.glob("*.jsonl")
    assert file.stat().st_mode & 0o777 == 0o600


def test_fast_steps_are_held_back_and_the_newest_is_never_lost(tmp_path):
    result = train(tmp_path, "for n in range(1, 20001): leveloff.step(n, loss=0.5)")
    assert result.steps()[-1] == 20000
    assert len(result.lines) < 5000
    assert result.steps() == sorted(result.steps())


def test_an_event_finds_the_steps_before_it_written(tmp_path):
    result = train(
        tmp_path,
        """
        for n in range(1, 6): leveloff.step(n)
        leveloff.mark("checkpoint")
        os._exit(0)
        """,
    )
    assert result.lines[-2]["step"] == 5 and result.events() == ["checkpoint"]


def test_blocks_nest_and_steps_within_are_theirs(tmp_path):
    result = train(
        tmp_path,
        """
        leveloff.step(1)
        with leveloff.phase("eval"):
            leveloff.step(1)
            with leveloff.phase("checkpoint"):
                pass
        @leveloff.phase("generate")
        def generate(): return 7
        assert generate() == 7
        try:
            with leveloff.phase("eval"): raise KeyError("theirs")
        except KeyError:
            leveloff.step(2)
        """,
    )
    assert result.code == 0, result.err
    assert result.phases() == ["train", "eval", "checkpoint", "eval", "train", "generate", "train", "eval", "train"]


def test_what_is_no_number_is_left_out_with_one_warning(tmp_path):
    result = train(
        tmp_path,
        """
        class Tensor:
            def item(self): raise SystemExit("this would have waited for the device")
            __int__ = __float__ = __index__ = item
        for n in range(3):
            leveloff.step(n, loss=Tensor(), lr=0.1)
            time.sleep(0.12)
        leveloff.step("four")
        leveloff.step(-1)
        leveloff.step(Tensor())
        leveloff.step(3, event="x", **{"n" * 65: 1}, huge=10**400, nan=float("nan"), none=None, yes=True)
        leveloff.phase(7).__enter__()
        leveloff.mark("a\\x1b[2J")
        leveloff.step(5, **{f"f{i}": i for i in range(100)})
        """,
    )
    assert result.code == 0, result.err
    assert "pass value.item()" in result.err and "switched off" not in result.err
    assert all("loss" not in line and "nan" not in line and "huge" not in line for line in result.lines)
    assert result.lines[0]["lr"] == 0.1 and result.steps()[-1] == 5
    assert result.err.count("loss is no number") == 1
    assert max(len(line) for line in result.lines) <= 66


def test_numpy_numbers_are_numbers(tmp_path):
    result = train(
        tmp_path,
        """
        import numbers
        class Int64:  # what numpy does
            def __init__(self, n): self.n = n
            def __int__(self): return self.n
            def __float__(self): return float(self.n)
        numbers.Integral.register(Int64)
        leveloff.step(Int64(3))
        """,
    )
    assert result.steps() == [3]


def test_a_long_file_says_again_how_things_stand(tmp_path):
    result = train(
        tmp_path,
        """
        import leveloff._writer as writer
        writer.SHORTEST_GAP = 0
        leveloff.should_stop()
        for n in range(2000): leveloff.step(n, planned_steps=5000)
        """,
    )
    size = os.stat(next(tmp_path.glob("*.jsonl"))).st_size
    said = [line for line in result.lines if line.get("phase") == "train" and line.get("obeys_stop") is True]
    assert len(said) >= size // (40 << 10) > 0


def test_a_file_that_grew_long_is_replaced(tmp_path):
    result = train(
        tmp_path,
        """
        import leveloff._writer as writer
        writer.SHORTEST_GAP, writer.ROTATE_AT = 0, 10_000
        leveloff.should_stop()
        for n in range(1, 1001): leveloff.step(n)
        """,
    )
    (file,) = tmp_path.iterdir()
    assert file.stat().st_size < 10_200
    assert len(result.headers) == 1 and result.steps()[-1] == 1000
    assert result.lines[0]["phase"] == "train" and result.lines[0]["obeys_stop"] is True


def test_the_callback_of_no_framework_is_an_import_error_that_helps(tmp_path):
    result = train(
        tmp_path,
        """
        try: leveloff.LeveloffCallback
        except ImportError as error: print(error)
        print(leveloff.__version__)
        """,
    )
    assert "leveloff.huggingface" in result.out and "leveloff.lightning" in result.out


def test_a_mark_may_say_where(tmp_path):
    result = train(
        tmp_path,
        """
        from pathlib import Path
        os.chdir("/tmp")
        leveloff.mark("checkpoint", path=Path("out") / "a.pt", saved_bytes=3)
        leveloff.mark("checkpoint", path="x" * 2000)
        leveloff.mark("checkpoint", path=7)
        """,
    )
    where = [line.get("path") for line in result.lines if line.get("event") == "checkpoint"]
    assert where == ["/tmp/out/a.pt", None, None]
    assert result.warnings() == 1 and "is no path" in result.err
