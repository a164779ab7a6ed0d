"""Where the program is found, and that `python -m leveloff` becomes it."""

import os
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from leveloff import _binary

PACKAGE = Path(_binary.__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def nothing_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(_binary.VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))


def program(path: Path, body: str = "exit 0") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def scripts_are(monkeypatch: pytest.MonkeyPatch, own: Path, users: Path, purelib_of_users: Path) -> None:
    def get_paths(scheme: str = "own") -> "dict[str, str]":
        if scheme == "posix_user":
            return {"scripts": str(users), "purelib": str(purelib_of_users)}
        return {"scripts": str(own), "purelib": "/nowhere"}

    monkeypatch.setattr(sysconfig, "get_paths", get_paths)


def test_the_variable_goes_before_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program(tmp_path / "scripts" / "leveloff")
    scripts_are(monkeypatch, tmp_path / "scripts", tmp_path / "users", tmp_path)
    named = program(tmp_path / "mine")
    monkeypatch.setenv(_binary.VARIABLE, str(named))
    assert _binary.find() == str(named)


def test_a_variable_that_names_nothing_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program(tmp_path / "scripts" / "leveloff")
    scripts_are(monkeypatch, tmp_path / "scripts", tmp_path / "users", tmp_path)
    monkeypatch.setenv(_binary.VARIABLE, str(tmp_path / "gone"))
    with pytest.raises(_binary.BinaryNotFound, match="gone, which LEVELOFF_BIN names"):
        _binary.find()


def test_what_came_with_the_package_goes_before_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(program(tmp_path / "path" / "leveloff").parent))
    scripts_are(monkeypatch, tmp_path / "scripts", tmp_path / "users", tmp_path)
    assert _binary.find() == str(tmp_path / "path" / "leveloff")
    users = program(tmp_path / "users" / "leveloff")
    assert _binary.find() == str(users)
    own = program(tmp_path / "scripts" / "leveloff")
    assert _binary.find() == str(own)


def test_a_users_package_has_the_users_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program(tmp_path / "scripts" / "leveloff")
    users = program(tmp_path / "users" / "leveloff")
    scripts_are(monkeypatch, tmp_path / "scripts", tmp_path / "users", PACKAGE)
    assert _binary.find() == str(users)


def test_a_file_that_cannot_be_run_is_no_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program(tmp_path / "scripts" / "leveloff").chmod(0o644)
    scripts_are(monkeypatch, tmp_path / "scripts", tmp_path / "users", tmp_path)
    with pytest.raises(_binary.BinaryNotFound, match="pip install leveloff"):
        _binary.find()


def run_module(binary: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE), _binary.VARIABLE: str(binary)}
    command = [sys.executable, "-m", "leveloff", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


def test_the_module_becomes_the_program(tmp_path: Path) -> None:
    binary = program(tmp_path / "leveloff", 'echo "$@"; exit 75')
    done = run_module(binary, "judge", "a file.jsonl", "--help")
    assert (done.returncode, done.stdout) == (75, "judge a file.jsonl --help\n")


def test_signals_are_as_a_shell_leaves_them(tmp_path: Path) -> None:
    binary = program(tmp_path / "leveloff", 'while read -r line; do case $line in SigIgn*) echo "$line";; esac; done < /proc/$$/status')
    ignored = int(run_module(binary).stdout.split()[1], 16)
    assert not ignored & 1 << (signal.SIGPIPE - 1)


def test_without_a_program_it_says_what_to_do(tmp_path: Path) -> None:
    done = run_module(tmp_path / "gone")
    assert done.returncode == 2
    assert done.stderr.startswith("leveloff: there is no program") and done.stderr.count("\n") == 1


def test_a_program_of_another_machine_is_said(tmp_path: Path) -> None:
    binary = program(tmp_path / "leveloff")
    binary.write_bytes(b"\x7fELF of something else")
    done = run_module(binary)
    assert (done.returncode, done.stderr) == (2, f"leveloff: cannot run {binary}: Exec format error\n")
