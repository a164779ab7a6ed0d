"""Where the program is that this package belongs to."""

import os
import shutil
import sysconfig
from pathlib import Path
from typing import Iterator

VARIABLE = "LEVELOFF_BIN"
"""Names the program, and then nothing else counts."""

NAME = "leveloff"


class BinaryNotFound(Exception):
    """There is no program; the text says where it was looked for and what to do."""


def find() -> str:
    """The program: what ``$LEVELOFF_BIN`` names, else what came with this package, else what is on PATH."""
    named = os.environ.get(VARIABLE)
    if named:
        return _named(named)
    for directory in _script_directories():
        program = os.path.join(directory, NAME)
        if _is_program(program):
            return program
    on_path = shutil.which(NAME)
    if on_path is None:
        raise BinaryNotFound(_not_found())
    return on_path


def _named(path: str) -> str:
    if not _is_program(path):
        raise BinaryNotFound(
            f"there is no program {path}, which {VARIABLE} names; correct the variable or unset it"
        )
    return os.path.abspath(path)


def _script_directories() -> Iterator[str]:
    """Where pip puts programs: of the installation that this package is part of first."""
    home = str(Path(__file__).resolve().parent.parent)
    installations = [sysconfig.get_paths()]
    if "posix_user" in sysconfig.get_scheme_names():
        installations.append(sysconfig.get_paths("posix_user"))
    installations.sort(key=lambda paths: os.path.realpath(paths["purelib"]) != home)
    for paths in installations:
        yield paths["scripts"]
    # `pip install --target DIR` has its programs in DIR/bin.
    yield os.path.join(home, "bin")


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _not_found() -> str:
    directories = ", ".join(_script_directories())
    return (
        f"the program leveloff is not there: neither in {directories} nor on PATH; "
        f"install the wheel (pip install leveloff) or the crate (cargo install leveloff), "
        f"or name the program in {VARIABLE}"
    )
