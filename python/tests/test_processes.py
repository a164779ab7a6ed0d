"""Forks, threads, ranks, and ends without goodbye."""

from training_process import read, train


def test_a_forked_child_begins_a_file_of_its_own(tmp_path):
    result = train(
        tmp_path,
        """
        leveloff.step(1); leveloff.step(2)   # 2 is held back
        if os.fork() == 0:
            leveloff.step(100)
            raise SystemExit  # also runs the exit handlers that it has from its parent
        os.wait()
        time.sleep(0.03)
        leveloff.step(3)
        print(os.getpid())
        """,
    )
    files = {int(path.stem): [line.get("step") for line in read(path)[1:]] for path in tmp_path.glob("*.jsonl")}
    parent = int(result.out)
    assert files.pop(parent) == [1, 3] and list(files.values()) == [[100]], result.err


def test_a_forked_child_that_tells_nothing_writes_nothing(tmp_path):
    result = train(
        tmp_path,
        """
        leveloff.step(1); leveloff.step(2)
        if os.fork() == 0: raise SystemExit
        os.wait()
        """,
    )
    assert result.steps() == [1, 2] and len(result.headers) == 1


def test_a_fork_while_a_thread_writes_does_not_hang(tmp_path):
    result = train(
        tmp_path,
        """
        import threading
        is_over = False
        def work():
            n = 0
            while not is_over: n += 1; leveloff.mark("busy", n=n)
        thread = threading.Thread(target=work); thread.start()
        for _ in range(50):
            if os.fork() == 0:
                leveloff.mark("child")
                os._exit(0)
            assert os.wait()[1] == 0
        is_over = True; thread.join()
        print("done")
        """,
    )
    assert result.out == "done\n", result.err
    assert result.events().count("child") == 50 and len(result.headers) == 51


def test_threads_write_whole_lines(tmp_path):
    result = train(
        tmp_path,
        """
        import threading
        def work(k):
            for n in range(500): leveloff.mark(f"thread{k}", n=n)
        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        """,
    )
    assert len(result.headers) == 1
    for k in range(8):
        assert [line["n"] for line in result.lines if line.get("event") == f"thread{k}"] == list(range(500))


def test_a_signal_handler_may_mark(tmp_path):
    result = train(
        tmp_path,
        """
        import signal
        signal.signal(signal.SIGALRM, lambda *_: leveloff.mark("alarm"))
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.0005)
        end = time.monotonic() + 0.5
        while time.monotonic() < end: leveloff.mark("plain")
        signal.setitimer(signal.ITIMER_REAL, 0)
        """,
    )
    assert result.code == 0 and result.err == ""
    assert "alarm" in result.events()


def test_a_mark_for_which_no_stack_is_left_is_lost_and_the_next_one_is_not(tmp_path):
    result = train(
        tmp_path,
        """
        def deeper():
            leveloff.mark("deep")
            deeper()
        try:
            deeper()
        except RecursionError:
            leveloff.mark("after")
        """,
    )
    assert result.code == 0 and result.err == ""
    assert result.events()[-1] == "after"


def test_an_end_without_goodbye_loses_only_what_was_held_back(tmp_path):
    result = train(
        tmp_path,
        """
        for n in range(1, 4):
            leveloff.step(n); time.sleep(0.12)
        os._exit(3)
        """,
    )
    assert result.code == 3 and result.steps() == [1, 2, 3]


def test_a_child_program_does_not_inherit_the_file(tmp_path):
    result = train(
        tmp_path,
        """
        import subprocess, sys
        leveloff.step(1)
        print(subprocess.run("ls -l /proc/self/fd", shell=True, close_fds=False, capture_output=True, text=True).stdout)
        """,
    )
    assert ".jsonl" not in result.out


def test_of_several_ranks_with_one_file_only_the_first_writes(tmp_path):
    file = str(tmp_path / "one.jsonl")
    first = train(tmp_path, "leveloff.step(1)", LEVELOFF_MARKS=file, RANK="0")
    second = train(tmp_path, "leveloff.step(2)\nleveloff.step(3)", LEVELOFF_MARKS=file, RANK="1")
    assert first.steps() == [1] and second.steps() == [1]
    assert second.warnings() == 1 and "Set it to a directory" in second.err


def test_a_file_that_a_living_process_writes_is_left_to_it(tmp_path):
    result = train(
        tmp_path,
        """
        leveloff.step(1)
        if os.fork() == 0:
            leveloff.step(2)
            os._exit(0)
        os.wait()
        leveloff.mark("mine")
        """,
        LEVELOFF_MARKS=str(tmp_path / "one.jsonl"),
    )
    assert result.events() == ["mine"] and result.steps() == [1, 1]
    assert "several processes need a directory" in result.err


def test_a_child_of_multiprocessing_tells_its_last_step(tmp_path):
    result = train(
        tmp_path,
        """
        import multiprocessing
        def run():
            for n in range(1, 26): leveloff.step(n)
        leveloff.step(1)
        child = multiprocessing.get_context("fork").Process(target=run)
        child.start(); child.join()
        """,
    )
    assert result.err == ""
    assert 25 in result.steps()
