"""The stop request: who may ask, what is said, and that it is over afterwards."""

import os
import pathlib
import tempfile

import pytest
from training_process import train

ASK = """
def ask(text="", pid=None):
    with open(f"{os.environ['LEVELOFF_MARKS']}/{pid or os.getpid()}.stop", "w") as file: file.write(text)
"""


def test_a_request_is_obeyed_once_and_taken_away(tmp_path):
    result = train(
        tmp_path,
        ASK
        + """
for n in range(1, 100):
    leveloff.step(n)
    if n == 5: ask('{"reason": "28 of 32 GB\\\\u001b[2J\\\\nused"}')
    if leveloff.should_stop(): break
assert leveloff.should_stop(), "for the loop around the loop"
print(n)
""",
    )
    assert result.out == "5\n", result.err
    assert result.err == "leveloff: asked to stop: 28 of 32 GB[2Jused; saving and stopping\n"
    assert result.events() == ["stopping", "stopped"]
    assert result.lines[1]["obeys_stop"] is True
    assert not list(tmp_path.glob("*.stop"))


@pytest.mark.parametrize("text", ["", "no json", "[1]", '{"reason": 7}', "\\xff" * 9000])
def test_any_text_will_do(tmp_path, text):
    result = train(tmp_path, ASK + f"leveloff.step(1); ask({text!r}); assert leveloff.should_stop()")
    assert result.code == 0 and result.err == "leveloff: asked to stop; saving and stopping\n"


def test_it_is_looked_for_now_and_then(tmp_path):
    result = train(
        tmp_path,
        ASK
        + """
leveloff._stop.LOOK_EVERY = 0.3
leveloff.step(1); assert not leveloff.should_stop(); ask()
assert not leveloff.should_stop(), "not looked for yet"
time.sleep(0.35)
assert leveloff.should_stop() and leveloff.should_stop()
""",
    )
    assert result.code == 0, result.err


def test_a_request_to_an_earlier_process_is_not_obeyed(tmp_path):
    result = train(tmp_path, ASK + "ask(); leveloff.step(1); assert not leveloff.should_stop()")
    assert result.code == 0, result.err
    assert not list(tmp_path.glob("*.stop"))


@pytest.mark.parametrize("thing", ["os.mkdir(stop)", "os.symlink('/etc/passwd', stop)", "os.mkfifo(stop)"])
def test_what_is_no_file_asks_for_nothing(tmp_path, thing):
    result = train(
        tmp_path,
        f"""
        stop = f"{{os.environ['LEVELOFF_MARKS']}}/{{os.getpid()}}.stop"
        leveloff.step(1); {thing}; assert not leveloff.should_stop()
        """,
    )
    assert result.code == 0, result.err


@pytest.mark.skipif(os.getuid() != 0, reason="CANNOT RUN HERE: to become another user needs root")
def test_a_stranger_may_not_ask_and_root_may():
    # pytest's own directory is closed to the user that the training becomes.
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        os.chmod(directory, 0o777)
        result = train(pathlib.Path(directory), ASK + """
os.setresuid(12345, 12345, 0)
leveloff.step(1)
os.setresuid(12345, 0, 0); ask()
stop = f"{os.environ['LEVELOFF_MARKS']}/{os.getpid()}.stop"
os.chown(stop, 54321, 54321); os.setresuid(12345, 12345, 0)
assert not leveloff.should_stop(), "a file of another user"
os.setresuid(12345, 0, 0); os.chown(stop, 0, 0); os.setresuid(12345, 12345, 0)
assert leveloff.should_stop(), "root's"
print("checked", flush=True)
os._exit(0)
""")
    assert (result.code, result.out) == (0, "checked\n"), result.err


def test_others_can_agree_in_their_own_way(tmp_path):
    result = train(
        tmp_path,
        ASK
        + """
requests = []
def agree(here): requests.append(here); return len(requests) == 3
answers = []
for n in range(3):
    answers.append(leveloff.should_stop(agree=agree))
    if n == 0: ask()
print(requests, answers)
""",
    )
    assert result.out == "[False, True, True] [False, False, True]\n", result.err


def test_a_request_that_not_all_ranks_can_obey_is_dropped(tmp_path):
    result = train(
        tmp_path,
        ASK
        + """
from types import SimpleNamespace as Ranks
leveloff.step(1); assert not leveloff.should_stop(); ask()
watch = leveloff._session.current().stop_watch()
watch._ranks = Ranks(should_stop=lambda requested: False, gave_up=True)
watch._next_look = 0.0
assert not watch.look(None) and not os.path.exists(watch._path)
""",
    )
    assert result.code == 0, result.err
    assert result.events() == ["not_stopping"]


def test_a_full_disk_does_not_keep_a_rank_from_stopping(tmp_path):
    result = train(
        tmp_path,
        ASK
        + """
import resource
leveloff.step(1); assert not leveloff.should_stop(); ask()
resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1))
assert leveloff.should_stop()
""",
    )
    assert result.code == 0 and "switched off" in result.err
