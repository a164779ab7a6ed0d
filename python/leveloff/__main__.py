"""``python -m leveloff ARGS`` runs the program."""

import os
import signal
import sys
from typing import NoReturn

from ._binary import BinaryNotFound, find

TOOL_ERROR = 2
"""The program's own exit code for a usage or tool error."""


def main() -> NoReturn:
    """Becomes the program: signals, terminal and exit code are its own from here on."""
    try:
        program = find()
        _restore_signals()
        os.execv(program, [program, *sys.argv[1:]])
    except BinaryNotFound as error:
        sys.exit(_complaint(str(error)))
    except OSError as error:
        sys.exit(_complaint(f"cannot run {program}: {error.strerror}"))


def _restore_signals() -> None:
    """Python ignores these signals, and the program would inherit that, down to the training under ``run``."""
    for name in ("SIGPIPE", "SIGXFSZ"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)


def _complaint(text: str) -> int:
    print(f"leveloff: {text}", file=sys.stderr)
    return TOOL_ERROR


if __name__ == "__main__":
    main()
