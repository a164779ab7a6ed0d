"""Whatever happens to the file, the training goes on, with one warning."""

import os

import subprocess


import pytest
from training_process import train

LOOP = """
for n in range(1, 200):
    leveloff.step(n); leveloff.mark("x")
    with leveloff.phase("eval"): pass
    assert leveloff.should_stop() is False
print("trained to the end")
"""


def check(result, reason):
    assert (result.code, result.out) == (0, "trained to the end\n"), result.err
    assert result.warnings() == 1, result.err
    assert "switched off" in result.err and reason in result.err


def test_a_file_that_may_not_grow(tmp_path):
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
    check(train(tmp_path, limit + LOOP), "LEVELOFF_MARKS")


@pytest.mark.skipif(os.getuid() != 0, reason="CANNOT RUN HERE: mounting a full disk needs root")
def test_a_full_disk(tmp_path):
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", str(tmp_path)], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip(f"CANNOT RUN HERE: {mounted.stderr!r}")
    try:
        check(train(tmp_path, LOOP), "No space left")
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def test_a_device_is_no_file(tmp_path):
    check(train(tmp_path, LOOP, LEVELOFF_MARKS="/dev/full"), "not a regular file")


def test_a_path_that_is_not_absolute(tmp_path):
    check(train(tmp_path, LOOP, LEVELOFF_MARKS="marks/"), "no absolute path")


@pytest.mark.skipif(os.getuid() != 0, reason="CANNOT RUN HERE: to become another user needs root")
@pytest.mark.parametrize("mode", [0o755, 0o500])
def test_a_directory_of_another_user(tmp_path, mode):
    for directory in tmp_path.parents[:2]:
        directory.chmod(0o755)
    theirs = tmp_path / "theirs"
    theirs.mkdir(mode=mode)
    check(train(tmp_path, "os.setuid(12345)\n" + LOOP, LEVELOFF_MARKS=f"{theirs}/"), "ermission denied")


def test_a_directory_that_is_gone_cannot_be_made(tmp_path):
    check(train(tmp_path, LOOP, LEVELOFF_MARKS="/proc/nothing/here/"), "/proc/nothing")


def test_a_planted_link_is_replaced_and_not_followed(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("keep me")
    marks = tmp_path / "marks"
    marks.mkdir()
    check(
        train(marks, f"os.symlink({str(precious)!r}, f'{marks}/{{os.getpid()}}.jsonl')\n" + LOOP),
        "not a regular file",
    )
    assert precious.read_text() == "keep me"


def test_a_file_that_holds_something_else_is_kept(tmp_path):
    precious = tmp_path / "thesis.txt"
    precious.write_text("Chapter one\n")
    check(train(tmp_path, LOOP, LEVELOFF_MARKS=str(precious)), "holds no marks")
    assert precious.read_text() == "Chapter one\n"


def test_marks_that_are_removed_meanwhile_are_begun_again(tmp_path):
    result = train(
        tmp_path,
        """
        import shutil, leveloff._writer as writer
        writer.LOOK_EVERY = 0
        leveloff.should_stop()
        leveloff.step(1)
        shutil.rmtree(os.environ["LEVELOFF_MARKS"])
        leveloff.mark("gone")
        leveloff.mark("again")
        """,
    )
    assert result.err == ""
    assert result.events() == ["again"] and result.lines[0]["phase"] == "train" and result.lines[0]["obeys_stop"] is True


def test_warnings_that_are_errors_do_not_reach_the_training(tmp_path):
    result = train(tmp_path, LOOP, "-W", "error", LEVELOFF_MARKS="/dev/full")
    assert result.out == "trained to the end\n", result.err
    assert result.err.count("switched off") == 1


def test_no_stderr_at_all(tmp_path):
    result = train(tmp_path, "import sys; sys.stderr = None; os.close(2)\n" + LOOP, "-W", "error", LEVELOFF_MARKS="/dev/full")
    assert result.out == "trained to the end\n"


def test_an_error_of_our_own_is_ours(tmp_path):
    check(train(tmp_path, "import leveloff._session as s; s.Session._put = lambda *_, **__: 1 / 0\n" + LOOP), "please report")


def test_it_can_be_switched_off(tmp_path):
    result = train(tmp_path, LOOP, LEVELOFF_DISABLE="1")
    assert (result.out, result.err, result.headers) == ("trained to the end\n", "", [])
    assert train(tmp_path, "leveloff.step(1)", LEVELOFF_DISABLE="0").steps() == [1]


def test_a_mistake_in_an_option_costs_that_option(tmp_path):
    result = train(tmp_path, "leveloff.configure(shape=True, every='x', budget=-1, shapes=True)\n" + LOOP)
    assert result.out == "trained to the end\n" and result.steps()[-1] == 199
    assert "there is no option shape; there are every, tensors" in result.err
    assert "every='x' is not a number of steps" in result.err and "budget=-1 is not" in result.err
    assert result.warnings() == 3 and "shapes=" not in result.err


def test_an_interrupt_in_the_first_call_is_not_the_end(tmp_path):
    result = train(
        tmp_path,
        """
        import leveloff._session as s
        real = s.MarksFile
        def interrupted(*_): raise KeyboardInterrupt
        s.MarksFile = interrupted
        try: leveloff.step(1)
        except KeyboardInterrupt: pass
        s.MarksFile = real
        leveloff.step(2)
        """,
    )
    assert result.steps() == [2], result.err


class TestTheDefaultPlace:
    """Under a /tmp of the test's own: the functions take the directory."""

    def test_a_directory_is_made_for_us_alone(self, tmp_path):
        from leveloff._paths import prepare

        ours = tmp_path / "ours"
        assert prepare(str(ours), os.getuid()) is None
        assert ours.stat().st_mode & 0o777 == 0o700
        ours.chmod(0o777)
        assert "others may write" in (prepare(str(ours), os.getuid()) or "")
        ours.chmod(0o700)
        assert "belongs to user" in (prepare(str(ours), os.getuid() + 1) or "")

    def test_a_link_in_its_place_is_not_used(self, tmp_path):
        from leveloff._paths import prepare

        (tmp_path / "link").symlink_to(tmp_path)
        assert "no directory" in (prepare(str(tmp_path / "link"), os.getuid()) or "")

    def test_files_of_the_dead_are_swept_after_a_day(self, tmp_path):
        from leveloff._paths import sweep

        gone = subprocess.Popen(["true"])
        gone.wait()
        names = [f"{gone.pid}.jsonl", f"{gone.pid}.stop", f"{os.getpid()}.jsonl", "notes.txt"]
        for name in names:
            (tmp_path / name).write_text("")
        sweep(str(tmp_path), os.getuid())
        assert len(list(tmp_path.iterdir())) == 4, "not yet a day old"
        sweep(str(tmp_path), os.getuid(), now=4e9)
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names[2:])

    def test_the_runtime_directory_comes_second(self, tmp_path, monkeypatch):
        from leveloff import _paths

        tried = []
        monkeypatch.setattr(_paths, "prepare", lambda directory, uid: tried.append(directory) or "no")
        with pytest.raises(_paths.Trouble, match="LEVELOFF_MARKS"):
            _paths.choose(7, 1000, {"XDG_RUNTIME_DIR": "/x"})
        assert tried == ["/tmp/leveloff-1000", "/x/leveloff"]


